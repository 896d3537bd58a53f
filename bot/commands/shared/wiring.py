"""The functions that a command builds the system, the ingester and the history of the knowledge base with.

The makers come with the context, so that a test hands in its own and nothing is patched, and a command that needs
neither (`settings`, any `--help`) does not pay for importing them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import typer

from bot.commands.shared.startup import make_home, settings_of
from bot.settings.settings import Settings
from bot.system import OpenLedger, System
from grounding.ingest.history import History, OnChange
from grounding.records import IngestPlan, IngestReport, OnProgress
from rai.ports import Ledger


class Ingester(Protocol):
    """Takes documents in; closed once, by whoever opened it."""

    async def run(
        self,
        paths: Sequence[Path],
        *,
        acl: Path | None,
        lexical_only: bool,
        on_progress: OnProgress,
        on_change: OnChange = ...,
    ) -> IngestReport:
        """Make the knowledge base hold what stands under `paths`. Raises InputError or StoreError."""
        ...

    async def plan(
        self,
        paths: Sequence[Path],
        *,
        acl: Path | None,
        lexical_only: bool,
        on_progress: OnProgress,
        root: str | None = None,
    ) -> IngestPlan:
        """What `run` of the same arguments would do, or `take_part` in the run of `root`; the knowledge base stays as it is. Raises InputError or StoreError."""
        ...

    async def take_part(
        self, root: str, path: Path, *, acl: Path | None, lexical_only: bool, on_progress: OnProgress
    ) -> IngestReport:
        """Take part in the planned run of the root of this name; the report of the whole run. Raises InputError, StoreError, ServiceError."""
        ...

    def rebuild(self, on_progress: OnProgress, /) -> Awaitable[None]:
        """Make again from the documents in store what is derived from them. Raises StoreError, ServiceError."""
        ...

    def restore(self, doc_id: str) -> Awaitable[bool]:
        """Bring a removed document back; False if there is none. Raises StoreError."""
        ...

    def close(self) -> Awaitable[None]:
        """Close stores and services."""
        ...


class LedgerOpener(Protocol):
    """Opens the ledger without a system, and closes it at the end; with `writes`, so that entries can be added."""

    def __call__(self, settings: Settings, /, *, writes: bool = False) -> AbstractAsyncContextManager[OpenLedger]:
        """Raises UserError or StoreError."""
        ...


@dataclass(frozen=True, slots=True)
class Wiring:
    """How a command gets a system, an ingester, the history of the knowledge base, the record to read alone, and the ledger to prove it by or write to.

    Each may raise UserError or StoreError.
    """

    compose: Callable[[Settings], Awaitable[System]]
    open_ingester: Callable[[Settings], Awaitable[Ingester]]
    open_history: Callable[[Settings], History]
    open_record: Callable[[Settings], AbstractAsyncContextManager[Ledger]]
    open_ledger: LedgerOpener


def wiring_of(context: typer.Context) -> Wiring:
    """The wiring of this run of the program, as `main` was given it."""
    made = context.obj()
    assert isinstance(made, Wiring)
    return made


@asynccontextmanager
async def opened_ingester(context: typer.Context, settings: Settings) -> AsyncIterator[Ingester]:
    """Make the home, open an ingester over it, and close that at the end. Raises UserError, StoreError."""
    make_home(settings)
    ingester = await wiring_of(context).open_ingester(settings)
    try:
        yield ingester
    finally:
        await ingester.close()


@asynccontextmanager
async def opened(context: typer.Context, settings: Settings | None = None) -> AsyncIterator[System]:
    """Build the system, and close it at the end. `settings`: None reads them. Raises UserError, StoreError."""
    settings = settings or settings_of()
    make_home(settings)
    system = await wiring_of(context).compose(settings)
    try:
        yield system
    finally:
        await system.close()


@asynccontextmanager
async def opened_record(context: typer.Context) -> AsyncIterator[Ledger]:
    """Open the ledger to read it alone, without a system, and close it at the end. Raises UserError, StoreError."""
    async with wiring_of(context).open_record(settings_of()) as ledger:
        yield ledger


@asynccontextmanager
async def opened_ledger(context: typer.Context, *, writes: bool = False) -> AsyncIterator[OpenLedger]:
    """Open the ledger with its keys and the place of its checkpoints, and close it at the end. Raises UserError, StoreError."""
    async with wiring_of(context).open_ledger(settings_of(), writes=writes) as found:
        yield found
