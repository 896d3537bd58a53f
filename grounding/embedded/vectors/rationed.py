"""An embedder that keeps within a ceiling: in one run, and in all runs of a day, each batch reserved in a file or a database before it is sent.

What is reserved stays counted whatever becomes of the call, so a run that is killed has counted some batches too many and never one too few. Tokens are those
of the model on this machine (`grounding.tokens`); a service counts somewhat otherwise.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta

from grounding.database.schema import SchemaPart, Step
from grounding.database.tables import KeptTable
from grounding.ports import Embedder, Vectors
from grounding.services.ceiling import Ceiling, CeilingReached
from grounding.services.embedding_jobs import EmbeddingJobs
from grounding.store.dialects import forms
from grounding.store.side import Kept, Place, SideRows, side_at
from grounding.tokens import count_tokens

KEPT_DAYS = 92
"""Days of which it is known what was embedded; those before are forgotten."""
_RUN_TABLE = (
    'CREATE TABLE run_tokens (run text COLLATE "C" PRIMARY KEY, day text COLLATE "C" NOT NULL, tokens bigint NOT NULL)'
)
PART = SchemaPart(
    "spending",
    (
        Step(('CREATE TABLE embedded_tokens (day text COLLATE "C" PRIMARY KEY, tokens bigint NOT NULL)',), oldest=1),
        Step((_RUN_TABLE,), oldest=1),
    ),
    rights=("GRANT SELECT, INSERT, UPDATE, DELETE ON embedded_tokens, run_tokens TO {worker}",),
    tables=(KeptTable("embedded_tokens", "day tokens", "day", "spent"),),
)
"""What was embedded, in PostgreSQL."""
KEPT = Kept(
    "the record of what was embedded",
    "CREATE TABLE IF NOT EXISTS spent (day TEXT PRIMARY KEY, tokens INTEGER NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS run_spent (run TEXT PRIMARY KEY, day TEXT NOT NULL, tokens INTEGER NOT NULL) WITHOUT ROWID",
    PART,
    mend="delete it; what was embedded today is then not known",
)
_TABLES = {"spent": "embedded_tokens", "run_spent": "run_tokens"}
_OF_DAY = forms("SELECT tokens FROM {spent} WHERE day = {param}", _TABLES)
_COUNT = forms(
    "INSERT INTO {spent} (day, tokens) VALUES ({param}, {param}) ON CONFLICT (day) DO UPDATE SET tokens = excluded.tokens",
    _TABLES,
)
_FORGET = forms("DELETE FROM {spent} WHERE day < {param}", _TABLES)
_OF_RUN = forms("SELECT tokens FROM {run_spent} WHERE run = {param}", _TABLES)
_COUNT_RUN = forms(
    "INSERT INTO {run_spent} (run, day, tokens) VALUES ({param}, {param}, {param}) ON CONFLICT (run) DO UPDATE SET tokens = excluded.tokens",
    _TABLES,
)
_FORGET_RUNS = forms("DELETE FROM {run_spent} WHERE day < {param}", _TABLES)


class Spending:
    """What was embedded, by day, in the file or database at `place`; safe for several processes. `today`: the day in ISO 8601."""

    def __init__(self, place: Place, today: Callable[[], str] = lambda: datetime.now(UTC).date().isoformat()) -> None:
        self._side, self._today = side_at(place, KEPT), today

    def today(self) -> int:
        """Tokens that were reserved today; 0 before anything was. Raises StoreError."""
        if not self._side.is_made:
            return 0
        day = self._today()
        return self._side.read(lambda db: _tokens_on(day, db))

    def of_run(self, run: str) -> int:
        """Tokens that were reserved for a run of several processes. Raises StoreError."""
        if not self._side.is_made:
            return 0
        return self._side.read(lambda db: _found(db.rows(_OF_RUN, run)))

    def reserve(self, tokens: int, most: int | None, run: str | None = None, most_of_run: int | None = None) -> bool:
        """Counts `tokens` for today, and for the run of this id where several processes share one; False, and nothing is counted, if the day would then have more than
        `most`, or the run more than `most_of_run`. Raises StoreError; they may be counted where the answer to a commit was lost.
        """
        day = self._today()
        first_kept = (date.fromisoformat(day) - timedelta(days=KEPT_DAYS)).isoformat()

        def work(db: SideRows) -> bool:
            total = tokens + _tokens_on(day, db)
            of_run = 0 if run is None else tokens + _found(db.rows(_OF_RUN, run))
            if (most is not None and total > most) or (most_of_run is not None and of_run > most_of_run):
                return False
            if run is not None:
                db.rows(_COUNT_RUN, run, day, of_run)
                db.rows(_FORGET_RUNS, first_kept)
            db.rows(_COUNT, day, total)
            db.rows(_FORGET, first_kept)
            return True

        return self._side.write(work)  # the writer from its first look on: two runs never see the same rest


def _tokens_on(day: str, db: SideRows) -> int:
    return _found(db.rows(_OF_DAY, day))


def _found(rows: Sequence[tuple[object, ...]]) -> int:
    return int(str(rows[0][0])) if rows else 0


class RationedEmbedder:
    """An embedder that sends no more than a ceiling lets it. Made anew for each run, or told of the one that it shares with others."""

    def __init__(self, embedder: Embedder, ceiling: Ceiling, spending: Spending) -> None:
        self._embedder, self._ceiling, self._spending = embedder, ceiling, spending
        self._run = 0
        self._shared_run: str | None = None
        self._reserving = asyncio.Lock()

    def share(self, run: str) -> None:
        """From now on what other processes have embedded for the run of this id counts as well."""
        self._shared_run = run

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
        await self.reserve(texts)
        return await self._embedder.embed(texts)

    async def reserve(self, texts: Sequence[str]) -> None:
        """Count texts that are about to be sent. Raises CeilingReached, and nothing is counted, StoreError."""
        tokens = await asyncio.to_thread(_tokens_of, texts)
        async with self._reserving:
            await self._reserve(tokens)

    async def _reserve(self, tokens: int) -> None:
        ceiling = self._ceiling
        run, spending = self._shared_run, self._spending
        over = CeilingReached("embedding", f"this run may take {ceiling.run or 0:,} tokens ({ceiling.run_set_by})")
        if ceiling.run is not None and self._run + tokens > ceiling.run:
            raise over
        most = None if run is None else ceiling.run
        if not await asyncio.to_thread(spending.reserve, tokens, ceiling.day, run, most):
            if (
                run is not None
                and ceiling.run is not None
                and await asyncio.to_thread(spending.of_run, run) + tokens > ceiling.run
            ):
                raise over
            raise CeilingReached(
                "embedding",
                f"a day may take {ceiling.day or 0:,} tokens ({ceiling.day_set_by}); the next begins at 00:00 UTC",
            )
        self._run += tokens


class RationedJobs:
    """Jobs that are handed in within the ceiling of `embedder`: `grounding.services.embedding_jobs.EmbeddingJobs`."""

    def __init__(self, jobs: EmbeddingJobs, embedder: RationedEmbedder) -> None:
        self._jobs, self._embedder = jobs, embedder
        self.state, self.vectors, self.forget = jobs.state, jobs.vectors, jobs.forget

    async def submit(self, texts: Sequence[tuple[str, str]], token: str) -> str:
        """As the service's. Raises CeilingReached before anything is sent."""
        await self._embedder.reserve([text for _, text in texts])
        return await self._jobs.submit(texts, token)


def _tokens_of(texts: Sequence[str]) -> int:
    return sum(map(count_tokens, texts))
