"""A knowledge base for a test: documents taken in as `attest ingest` does, and a system over them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bot.compose.ingest import open_ingester
from bot.compose.system import compose
from bot.settings.settings import Settings
from bot.system import System
from grounding.records import IngestReport

PAGE = "# Watch plans\n\nWatch Plus costs $9.99 a month and covers 5 cameras.\n\n# Support\n\nCall 020 7946 0018 for help.\n"


async def take_in(
    settings: Settings, *paths: Path, acl: Path | None = None, lexical_only: bool = False
) -> IngestReport:
    """Take in what stands under `paths`."""
    ingester = await open_ingester(settings)
    try:
        return await ingester.run(paths, acl=acl, lexical_only=lexical_only, on_progress=lambda _: None)
    finally:
        await ingester.close()


async def take_in_page(
    settings: Settings, folder: Path, text: str = PAGE, *, acl: Path | None = None, lexical_only: bool = False
) -> IngestReport:
    """Write `text` into `folder` as plans.md, and take the folder in."""
    folder.mkdir(exist_ok=True)
    (folder / "plans.md").write_text(text, "utf-8")
    return await take_in(settings, folder, acl=acl, lexical_only=lexical_only)


@asynccontextmanager
async def running(settings: Settings) -> AsyncIterator[System]:
    """The system of `settings`, closed at the end."""
    system = await compose(settings)
    try:
        yield system
    finally:
        await system.close()


@asynccontextmanager
async def over_one_page(
    settings: Settings, folder: Path, page: str, *, lexical_only: bool = False
) -> AsyncIterator[System]:
    """The system of `settings` over `page`, written below `folder` as kb/plans.md."""
    await take_in_page(settings, folder / "kb", page, lexical_only=lexical_only)
    async with running(settings) as system:
        yield system
