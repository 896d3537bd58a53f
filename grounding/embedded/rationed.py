"""An embedder that keeps within a ceiling: in one run, and in all runs of a day, each batch reserved in a file before it is sent.

What is reserved stays counted whatever becomes of the call, so a run that is killed has counted some batches too many and never one too few. Tokens are those
of the model on this machine (`grounding.tokens`); a service counts somewhat otherwise.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from grounding.ports import Embedder, Vectors
from grounding.services.ceiling import Ceiling, CeilingReached
from grounding.store.side_file import opened
from grounding.tokens import count_tokens

_TABLES = "CREATE TABLE IF NOT EXISTS spent (day TEXT PRIMARY KEY, tokens INTEGER NOT NULL) WITHOUT ROWID"
_WHAT = "the file of what was embedded"
KEPT_DAYS = 92
"""Days of which it is known what was embedded; those before are forgotten."""
_MEND = "delete it; what was embedded today is then not known"


class Spending:
    """What was embedded, by day, in the file at `path`; safe for several processes. `today`: the day in ISO 8601."""

    def __init__(self, path: Path, today: Callable[[], str] = lambda: datetime.now(UTC).date().isoformat()) -> None:
        self._path, self._today = path, today

    def today(self) -> int:
        """Tokens that were reserved today; 0 before anything was. Raises StoreError."""
        if not self._path.exists():
            return 0
        with opened(self._path, _TABLES, _WHAT, _MEND) as db:
            row = db.execute("SELECT tokens FROM spent WHERE day = ?", (self._today(),)).fetchone()
        return int(row[0]) if row else 0

    def reserve(self, tokens: int, most: int | None) -> bool:
        """Counts `tokens` for today; False, and nothing is counted, if the day would then have more than `most`. Raises StoreError."""
        day = self._today()
        with opened(self._path, _TABLES, _WHAT, _MEND) as db:
            db.execute("BEGIN IMMEDIATE")  # the writer from its first look on: two runs never see the same rest
            row = db.execute("SELECT tokens FROM spent WHERE day = ?", (day,)).fetchone()
            total = tokens + (int(row[0]) if row else 0)
            fits = most is None or total <= most
            if fits:
                db.execute(
                    "INSERT INTO spent VALUES (?, ?) ON CONFLICT (day) DO UPDATE SET tokens = ?", (day, total, total)
                )
                db.execute("DELETE FROM spent WHERE day < date(?, ?)", (day, f"-{KEPT_DAYS} days"))
            db.execute("COMMIT")
        return fits


class RationedEmbedder:
    """An embedder that sends no more than a ceiling lets it. Made anew for each run."""

    def __init__(self, embedder: Embedder, ceiling: Ceiling, spending: Spending) -> None:
        self._embedder, self._ceiling, self._spending = embedder, ceiling, spending
        self._run = 0
        self._reserving = asyncio.Lock()

    @property
    def fingerprint(self) -> str:
        """That of the embedder's vectors."""
        return self._embedder.fingerprint

    @property
    def width(self) -> int:
        """Dimensions of a vector."""
        return self._embedder.width

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """As the embedder's. Raises CeilingReached before anything is sent, ServiceError, StoreError."""
        tokens = await asyncio.to_thread(_tokens_of, texts)
        async with self._reserving:
            await self._reserve(tokens)
        return await self._embedder.embed(texts)

    async def _reserve(self, tokens: int) -> None:
        ceiling = self._ceiling
        if ceiling.run is not None and self._run + tokens > ceiling.run:
            raise CeilingReached("embedding", f"this run may take {ceiling.run:,} tokens ({ceiling.run_set_by})")
        if not await asyncio.to_thread(self._spending.reserve, tokens, ceiling.day):
            raise CeilingReached(
                "embedding",
                f"a day may take {ceiling.day or 0:,} tokens ({ceiling.day_set_by}); the next begins at 00:00 UTC",
            )
        self._run += tokens


def _tokens_of(texts: Sequence[str]) -> int:
    return sum(map(count_tokens, texts))
