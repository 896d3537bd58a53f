"""Every seam on a service: stand-ins on loopback that answer from the embedded engine, each behind a gate that can fail.

`async with azure_stack(home, model) as stack`: a home with a knowledge base in, settings out. `SERVICES` names the gates.
"""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_DNS, uuid5

import pytest
import yaml

from bot.compose.ingest import open_ingester
from bot.settings.settings import Settings
from grounding.embedded.reader import E5Reader
from grounding.embedded.vectors.embedder import MiniLM
from rai.embedded.name_file import NameFile
from rai.model_files import READER, READER_TOKENIZER
from rai.records import EntityType
from rai.screening.by_model import REQUEST
from tests.e2e.processes import settings_over
from tests.fakes.ai_search_server import KEY as SEARCH_KEY
from tests.fakes.content_safety_server import KEY as SAFETY_KEY
from tests.fakes.content_safety_server import ContentSafetyServer
from tests.fakes.embeddings_server import KEY as EMBEDDING_KEY
from tests.fakes.engine import Engine, EngineChat, EngineEmbeddings, EngineSearch
from tests.fakes.gate import Gate
from tests.fakes.graph_server import GraphServer
from tests.fakes.identity_server import IdentityServer
from tests.fakes.language_server import LanguageServer
from tests.fakes.search_servers import KEY as WEB_KEY
from tests.fakes.search_servers import TavilyServer

_CATEGORIES: Mapping[EntityType, tuple[str, str | None]] = {
    "person": ("Person", None),
    "organisation": ("Organization", None),
    "address": ("Address", None),
    "product": ("Product", None),
}


PARTS: Mapping[str, tuple[str, Callable[[str, bytes], bool]]] = {
    "grading": ("model", lambda _path, body: b"Retrieved Document" in body),
    "screening": ("model", lambda _path, body: REQUEST.encode() in body),
    "names": ("language", lambda _path, body: b'"EntityRecognition"' in body),
    "summaries": ("language", lambda path, _body: "/jobs" in path),
    "personal data": ("language", lambda _path, body: b"PiiEntityRecognition" in body),
}
"""Gates of a part of a service, behind that of the whole: what of it they hold up."""


@dataclass(frozen=True, slots=True)
class Stack:
    """The gates by service, the engine behind them, and what settings lead there."""

    home: Path
    model: Path
    engine: Engine
    gates: Mapping[str, Gate]
    options: Mapping[str, Any]

    def settings(self, **more: Any) -> Settings:
        """Settings of a system whose every seam is a service; `more` on top."""
        return settings_over(self.home, self.model, **{**self.options, **more})

    async def ingest(self, **more: Any) -> None:
        """Bring what the store holds into the index."""
        ingester = await open_ingester(self.settings(**more))
        try:
            await ingester.rebuild(lambda _: None)
        finally:
            await ingester.close()


@asynccontextmanager
async def azure_stack(home: Path, model: Path, folder: Path) -> AsyncIterator[Stack]:
    """The services over the knowledge base in `home`, which is copied into `folder`."""
    own = folder / "azure"
    shutil.copytree(home / "index", own / "index")
    shutil.copyfile(home / "directory.yaml", own / "directory.yaml")
    shutil.copytree(home / "index", folder / "engine" / "index")
    reader = model.with_name(READER), model.with_name(READER_TOKENIZER)
    engine = Engine(folder / "engine", MiniLM(model), E5Reader(*reader) if reader[0].exists() else None)
    names = NameFile(own / "index" / "names.db").current()
    async with AsyncExitStack() as opened:
        opened.callback(engine.close)
        enter = opened.enter_async_context
        search, chat = await enter(EngineSearch(engine)), await enter(EngineChat(engine))
        safety = await enter(ContentSafetyServer(words={}))
        listed = {name: _CATEGORIES[kind] for name, kind in list(names.items())[:40]}
        language = await enter(LanguageServer(listed, personal={"Zebedea": ("Person", None)}))
        pages, embeddings = await enter(TavilyServer()), await enter(EngineEmbeddings(engine))
        people = yaml.safe_load((own / "directory.yaml").read_text("utf-8"))["users"]
        graph = await enter(
            GraphServer({object_id(user): [object_id(g) for g in groups] for user, groups in people.items()})
        )
        named = {object_id(group): group for groups in people.values() for group in groups}
        (own / "groups.yaml").write_text(yaml.safe_dump({"groups": named}), "utf-8")
        opened.enter_context(_as_this_machine(await enter(IdentityServer())))
        behind = {
            "search": search,
            "model": chat,
            "safety": safety,
            "language": language,
            "web": pages,
            "embeddings": embeddings,
            "directory": graph,
        }
        gates = await _gates(opened, {name: server.root for name, server in behind.items()})
        options = _options(gates, own, engine.embedder.width)
        stack = Stack(own, model, engine, gates, options)
        await stack.ingest()
        yield stack


async def _gates(opened: AsyncExitStack, roots: Mapping[str, str]) -> dict[str, Gate]:
    """A gate before each service, and behind it one for each of its parts."""
    gates: dict[str, Gate] = {}
    for whole, root in roots.items():
        behind = root
        for part, (_, wanted) in ((p, of) for p, of in PARTS.items() if of[0] == whole):
            gates[part] = await opened.enter_async_context(Gate(behind, wanted))
            behind = gates[part].root
        gates[whole] = await opened.enter_async_context(Gate(behind))
    return gates


def _options(gates: Mapping[str, Gate], own: Path, width: int) -> dict[str, Any]:
    """Settings that lead to the gates."""
    return {
        "search": "azure",
        "search_endpoint": gates["search"].root,
        "search_key": SEARCH_KEY,
        "generator": "openai",
        "grader": "model",
        "openai_base_url": f"{gates['model'].root}/v1",
        "openai_api_key": "canary-openai-key-0123456789",
        "screen": "content_safety",
        "content_safety_endpoint": gates["safety"].root,
        "content_safety_key": SAFETY_KEY,
        "language_endpoint": gates["language"].root,
        "language_key": "canary-language-key-0123456789",
        "summarizer": "language",
        "pii": "language",
        "embedder": "openai",
        "embedding_base_url": f"{gates['embeddings'].root}/v1",
        "embedding_api_key": EMBEDDING_KEY,
        "embedding_model": "minilm",
        "embedding_width": width,
        "directory": "graph",
        "graph_endpoint": gates["directory"].root,
        "graph_groups_file": own / "groups.yaml",
        "web": "tavily",
        "tavily_base_url": gates["web"].root,
        "tavily_key": WEB_KEY,
    }


def object_id(name: str) -> str:
    """How Microsoft Graph, and Teams, name a person or a group of the directory file."""
    return str(uuid5(NAMESPACE_DNS, name))


@contextmanager
def _as_this_machine(server: IdentityServer) -> Iterator[None]:
    """Make a loopback server the managed identity of this process."""
    with pytest.MonkeyPatch.context() as patch:
        server.install(patch)
        yield
