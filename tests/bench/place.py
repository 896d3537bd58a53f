"""The place where benchmarks run: a temporary home with the sample knowledge base, the embedding model, and the public sets if they are given."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from bot.commands.ingest.sample import place_sample_directory
from bot.compose.ingest import open_ingester
from bot.evaluate.rows import load
from bot.evaluate.suites.golden import ask_of
from bot.records import Ask, Reply
from bot.settings.load import SAMPLE, load_settings
from bot.settings.settings import Settings
from bot.system import System
from grounding.embedded.recipes.build_model import build, build_changed
from rai.embedded.classifier import CHANGES, FILE
from tests.e2e.processes import environment_of, settings_over


@dataclass(frozen=True, slots=True)
class Place:
    """`home` holds the sample knowledge base; `data` is None without --data; `scratch` is removed at the end, `work` stays."""

    scratch: Path
    home: Path
    model: Path
    data: Path | None
    work: Path | None = None
    sizes: tuple[int, ...] = ()

    @property
    def settings(self) -> Settings:
        return settings_over(self.home, self.model, rate_per_minute=100_000)

    @property
    def environment(self) -> dict[str, str]:
        return environment_of(self.home, self.model, ATTEST_RATE_PER_MINUTE="100000")

    def set_file(self, name: str) -> Path | None:
        """A file of the public sets, if it is there."""
        path = self.data / name if self.data else None
        return path if path and path.is_file() else None


@contextmanager
def prepared(data: Path | None, work: Path | None = None, sizes: tuple[int, ...] = ()) -> Iterator[Place]:
    """A place with the sample ingested."""
    with TemporaryDirectory(prefix="attest-bench-") as name:
        scratch = Path(name)
        yield Place(scratch, scratch / "home", _model(scratch), data, work, sizes)


async def fill(place: Place) -> None:
    """Ingest the sample knowledge base with vectors."""
    place_sample_directory(place.settings)
    ingester = await open_ingester(place.settings)
    try:
        await ingester.run([SAMPLE / "kb"], acl=None, lexical_only=False, on_progress=lambda _: None)
    finally:
        await ingester.close()


def golden_asks() -> list[Ask]:
    """The turns of the golden set, in their order."""
    return [ask_of(row, channel="bench") for row in load(SAMPLE / "golden.jsonl")]


def plain_asks() -> list[Ask]:
    """Those of them that are one turn by a stranger about no product, as a command line or an HTTP call asks them."""
    return [a for a in golden_asks() if not a.history and a.user is None and a.product is None]


def answering(system: System) -> Callable[[Ask], Awaitable[Reply]]:
    """What answers a turn, with nobody told how far it is."""
    return lambda ask: system.answer(ask, None)


def _model(scratch: Path) -> Path:
    """The model that set-up built on this machine, or one built now."""
    there = load_settings().files.model_path
    if there.exists():
        return there
    target = scratch / "model" / "minilm-int8.onnx"
    target.parent.mkdir()
    build_changed(build(target).with_name(FILE), CHANGES)
    return target
