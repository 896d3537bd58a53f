"""A system over a knowledge base of one page."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bot.compose.ingest import open_ingester
from bot.compose.system import compose
from bot.settings.settings import Settings
from bot.system import System


@asynccontextmanager
async def over_one_page(
    settings: Settings, folder: Path, page: str, *, lexical_only: bool = False
) -> AsyncIterator[System]:
    """The system of `settings` over `page`, written below `folder` as plans.md."""
    (folder / "kb").mkdir(exist_ok=True)
    (folder / "kb" / "plans.md").write_text(page, "utf-8")
    ingester = await open_ingester(settings)
    await ingester.run([folder / "kb"], acl=None, lexical_only=lexical_only, on_progress=lambda _: None)
    await ingester.close()
    system = await compose(settings)
    try:
        yield system
    finally:
        await system.close()
