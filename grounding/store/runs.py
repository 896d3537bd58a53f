"""Tables of planned runs (`grounding.ingest.runs`), beside the store, so that a lease is looked at in the transaction that writes under it."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any, TypeVar

import sqlalchemy as sa

from grounding.database.text import AnyText, storable
from grounding.ingest.runs import LEASE_S, WHOLE, Begun, Lease, LeaseLost, PlannedItem, RunState
from grounding.store.databases.form import StoreDatabase
from grounding.store.tables import METADATA

T = TypeVar("T")
RUNS = sa.Table(
    "ingest_runs",
    METADATA,
    sa.Column("run", AnyText, primary_key=True),
    sa.Column("root", AnyText, nullable=False),
    sa.Column("state", AnyText, nullable=False),  # planning, running, done, ended
    sa.Column("told", AnyText, nullable=False),
    sa.Column("begun_by", AnyText, nullable=False),
    sa.Column("began", sa.Double, nullable=False),  # seconds since the epoch, by the database; so are all times here
    sa.Column("ended", sa.Double),
    sa.Column("report", AnyText),  # of whoever ended it, as JSON
    sa.Index("ingest_runs_open", "root", unique=True, sqlite_where=sa.text("ended IS NULL")),
)
BATCHES = sa.Table(
    "ingest_batches",
    METADATA,
    sa.Column("run", AnyText, primary_key=True),
    sa.Column("batch", sa.Integer, primary_key=True),
    sa.Column("documents", sa.Integer, nullable=False),
    sa.Column("fence", sa.Integer, nullable=False),
    sa.Column("until", sa.Double, nullable=False),
    sa.Column("leased_by", AnyText),
    sa.Column("done", sa.Double),
    sa.Column("result", AnyText),
    sa.Index("ingest_batches_open", "run", "batch", sqlite_where=sa.text("done IS NULL")),
)
ITEMS = sa.Table(
    "ingest_items",
    METADATA,
    sa.Column("run", AnyText, primary_key=True),
    sa.Column("batch", sa.Integer, primary_key=True),
    sa.Column("n", sa.Integer, primary_key=True),
    sa.Column("doc_id", AnyText, nullable=False),
    sa.Column("stamp", AnyText, nullable=False),
    sa.Column("place", sa.BigInteger, nullable=False),
)
GONE = sa.Table(
    "ingest_gone",
    METADATA,
    sa.Column("run", AnyText, primary_key=True),
    sa.Column("doc_id", AnyText, primary_key=True),
)
TABLES = (
    """
CREATE TABLE ingest_runs (
    run text COLLATE "C" PRIMARY KEY,
    root text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL,
    told text COLLATE "C" NOT NULL,
    begun_by text COLLATE "C" NOT NULL,
    began double precision NOT NULL,
    ended double precision,
    report text COLLATE "C")""",
    "CREATE UNIQUE INDEX ingest_runs_open ON ingest_runs (root) WHERE ended IS NULL",
    """
CREATE TABLE ingest_batches (
    run text COLLATE "C",
    batch integer,
    documents integer NOT NULL,
    fence integer NOT NULL,
    until double precision NOT NULL,
    leased_by text COLLATE "C",
    done double precision,
    result text COLLATE "C",
    PRIMARY KEY (run, batch))""",
    "CREATE INDEX ingest_batches_open ON ingest_batches (run, batch) WHERE done IS NULL",
    """
CREATE TABLE ingest_items (
    run text COLLATE "C",
    batch integer,
    n integer,
    doc_id text COLLATE "C" NOT NULL,
    stamp text COLLATE "C" NOT NULL,
    place bigint NOT NULL,
    PRIMARY KEY (run, batch, n))""",
    'CREATE TABLE ingest_gone (run text COLLATE "C", doc_id text COLLATE "C", PRIMARY KEY (run, doc_id))',
)
"""The same in PostgreSQL."""
FILE_TABLES = (RUNS, BATCHES, ITEMS, GONE)
RIGHTS = ("GRANT SELECT, INSERT, UPDATE, DELETE ON ingest_runs, ingest_batches, ingest_items, ingest_gone TO {worker}",)
KEPT = 20
"""Runs that are over of which it is kept that they were."""
_PUT_GONE = sa.text("INSERT INTO ingest_gone (run, doc_id) VALUES (:run, :doc_id) ON CONFLICT (run, doc_id) DO NOTHING")
_RATE_S = 600.0
_SAMPLE = 20
_NOW = {
    "sqlite": sa.literal_column("((julianday('now') - 2440587.5) * 86400.0)", sa.Double),
    "postgresql": sa.literal_column("CAST(extract(epoch FROM clock_timestamp()) AS double precision)", sa.Double),
}


def require(db: sa.Connection, lease: Lease) -> None:
    """Raises LeaseLost unless the lease is the newest of its batch, in the transaction that writes under it."""
    query = sa.select(BATCHES.c.fence).where(*_of(lease), BATCHES.c.done.is_(None))
    if db.execute(query).scalar() != lease.fence:
        raise LeaseLost(
            f"what this process was at work on (run {lease.run}) was taken over or ended; it wrote nothing more of it"
        )


def note_result(db: sa.Connection, lease: Lease, result: str) -> None:
    """Keep what becomes of the documents of a batch with the documents; whoever takes the batch over finds them as they are by then."""
    where = (*_of(lease), BATCHES.c.result.is_(None))
    db.execute(BATCHES.update().where(*where).values(result=storable(result)))


class SharedRuns:
    """The planned runs beside the store in `database`, as a `grounding.ingest.runs.RunBook`. `lease_s`: seconds that a lease holds."""

    def __init__(self, database: StoreDatabase, lease_s: float = LEASE_S) -> None:
        self._database, self.lease_s = database, lease_s

    def begin(self, root: str, told: str, by: str) -> Begun:
        """The run of this root that is not ended, or a new one."""

        def work(db: sa.Connection) -> Begun:
            query = sa.select(RUNS).where(RUNS.c.root == root, RUNS.c.ended.is_(None))
            if (found := db.execute(query).one_or_none()) is None:
                _forget_old(db)
                run = uuid.uuid4().hex[:8]
                row = {"run": run, "root": root, "state": "planning", "told": told, "begun_by": by}
                db.execute(RUNS.insert().values(**row, began=_now(db)))
                whole = {"run": run, "batch": WHOLE, "documents": 0, "fence": 0, "until": 0.0}
                db.execute(BATCHES.insert().values(whole))
                found = db.execute(query).one()
            is_planned = found.state != "planning"
            lease = None if is_planned else self._taken(db, found.run, by, BATCHES.c.batch == WHOLE)
            if lease is not None:  # of one who died over it nothing is left
                mine = RUNS.update().where(RUNS.c.run == found.run).values(told=told, begun_by=by)
                db.execute(mine)
                for table in (ITEMS, BATCHES):
                    db.execute(table.delete().where(table.c.run == found.run, table.c.batch != WHOLE))
                return Begun(found.run, told, by, found.began, is_planned, lease)
            return Begun(found.run, found.told, found.begun_by, found.began, is_planned, None)

        return self._database.write(work)

    def add(self, lease: Lease, batches: Sequence[Sequence[PlannedItem]], first: int) -> None:
        """Write down batches of a plan, numbered from `first`."""
        rows = [
            {"run": lease.run, "batch": n, "documents": len(b), "fence": 0, "until": 0.0}
            for n, b in enumerate(batches, first)
        ]
        items = [
            {"run": lease.run, "batch": number, "n": n, "doc_id": storable(doc_id), "stamp": stamp, "place": place}
            for number, batch in enumerate(batches, first)
            for n, (doc_id, stamp, place) in enumerate(batch)
        ]

        def work(db: sa.Connection) -> None:
            require(db, lease)
            db.execute(BATCHES.insert(), rows)
            db.execute(ITEMS.insert(), items)

        self._database.write(work)

    def planned(self, lease: Lease, result: str, gone: Sequence[str]) -> None:
        """The plan is whole."""

        def work(db: sa.Connection) -> None:
            require(db, lease)
            note_result(db, lease, result)
            _note_gone(db, lease, gone)
            db.execute(BATCHES.update().where(*_of(lease)).values(until=0.0))
            db.execute(RUNS.update().where(RUNS.c.run == lease.run).values(state="running"))

        self._database.write(work)

    def sample(self, run: str) -> list[PlannedItem]:
        """Some documents of the plan, spread over it: the first of some batches."""

        def look(db: sa.Connection) -> list[PlannedItem]:
            last = int(db.execute(sa.select(sa.func.max(BATCHES.c.batch)).where(BATCHES.c.run == run)).scalar() or 0)
            among = {last * n // _SAMPLE for n in range(_SAMPLE + 1)}
            query = sa.select(ITEMS.c.doc_id, ITEMS.c.stamp, ITEMS.c.place)
            rows = db.execute(query.where(ITEMS.c.run == run, ITEMS.c.batch.in_(among), ITEMS.c.n == 0))
            return [PlannedItem(*row) for row in rows]

        return self._database.read(look)

    def lease(self, run: str, by: str) -> Lease | None:
        """A batch to be worked on, or the run to be ended; None if there is nothing to do now."""

        def work(db: sa.Connection) -> Lease | None:
            is_open = (BATCHES.c.run == run, BATCHES.c.batch != WHOLE, BATCHES.c.done.is_(None))
            open_ = db.execute(sa.select(BATCHES.c.batch).where(*is_open).limit(1)).scalar()
            if _state(db, run) != "running":
                return None
            return self._taken(db, run, by, BATCHES.c.batch == WHOLE if open_ is None else BATCHES.c.batch != WHOLE)

        return self._database.write(work)

    def items(self, lease: Lease) -> list[PlannedItem]:
        """The documents of a batch, in their order."""
        query = sa.select(ITEMS.c.doc_id, ITEMS.c.stamp, ITEMS.c.place)
        query = query.where(ITEMS.c.run == lease.run, ITEMS.c.batch == lease.batch).order_by(ITEMS.c.n)
        return self._database.read(lambda db: [PlannedItem(*row) for row in db.execute(query)])

    def renew(self, lease: Lease) -> bool:
        """Hold a lease for its full time again; False where it was lost."""
        where = (*_of(lease), BATCHES.c.fence == lease.fence, BATCHES.c.done.is_(None))

        def work(db: sa.Connection) -> bool:
            return db.execute(BATCHES.update().where(*where).values(until=_now(db) + self.lease_s)).rowcount > 0

        return self._database.write(work)

    def give_back(self, lease: Lease) -> None:
        """Let others have the batch at once."""
        where = (*_of(lease), BATCHES.c.fence == lease.fence)
        self._database.write(lambda db: db.execute(BATCHES.update().where(*where).values(until=0.0)))

    def done(self, lease: Lease, result: str, gone: Sequence[str]) -> None:
        """A batch is done."""

        def work(db: sa.Connection) -> None:
            require(db, lease)
            note_result(db, lease, result)
            _note_gone(db, lease, gone)
            db.execute(BATCHES.update().where(*_of(lease)).values(done=_now(db)))

        self._database.write(work)

    def gone(self, run: str) -> list[str]:
        """Documents to be deleted at the end."""
        query = sa.select(GONE.c.doc_id).where(GONE.c.run == run).order_by(GONE.c.doc_id)
        return self._database.read(lambda db: list(db.execute(query).scalars()))

    def results(self, run: str) -> list[str]:
        """A result of the plan, and of each batch."""
        query = sa.select(BATCHES.c.result).where(BATCHES.c.run == run, BATCHES.c.result.is_not(None))
        return self._database.read(lambda db: list(db.execute(query.order_by(BATCHES.c.batch)).scalars()))

    def end(self, lease: Lease, report: str) -> None:
        """The run is done."""

        def work(db: sa.Connection) -> None:
            require(db, lease)
            _close(db, lease.run, "done", report)

        self._database.write(work)

    def break_off(self, root: str) -> str | None:
        """End the run of this root as it stands: nobody writes anything of it any more. Its id; None if there is none."""

        def work(db: sa.Connection) -> str | None:
            query = sa.select(RUNS.c.run).where(RUNS.c.root == root, RUNS.c.ended.is_(None))
            run: str | None = db.execute(query).scalar()
            if run is not None:
                _close(db, run, "ended")
            return run

        return self._database.write(work)

    def is_ended(self, run: str) -> bool:
        """True if the run is done, or was ended."""
        return self._database.read(lambda db: _state(db, run) in (None, "done", "ended"))

    def is_planned(self, run: str) -> bool:
        """True if the plan is whole."""
        return self._database.read(lambda db: _state(db, run) != "planning")

    def report(self, run: str) -> str | None:
        """What whoever ended the run reported, as JSON; None where it was broken off."""
        query = sa.select(RUNS.c.report).where(RUNS.c.run == run)
        return self._database.read(lambda db: db.execute(query).scalar())

    def age(self, run: str) -> float:
        """Seconds since the run began."""

        def look(db: sa.Connection) -> float:
            return float(db.execute(sa.select(_now(db) - RUNS.c.began).where(RUNS.c.run == run)).scalar() or 0.0)

        return self._database.read(look)

    def counts(self, run: str) -> tuple[int, int]:
        """Documents that are done, and those of the plan."""
        done = sa.func.sum(sa.case((BATCHES.c.done.is_not(None), BATCHES.c.documents), else_=0))
        query = sa.select(done, sa.func.sum(BATCHES.c.documents)).where(BATCHES.c.run == run)
        row = self._database.read(lambda db: db.execute(query).one())
        return int(row[0] or 0), int(row[1] or 0)

    def states(self) -> list[RunState]:
        """All runs of which it is kept that they were, the newest first."""

        def look(db: sa.Connection) -> list[RunState]:
            now = float(db.execute(sa.select(_now(db))).scalar_one())
            rows = db.execute(sa.select(RUNS).order_by(RUNS.c.began.desc()))
            return [_run_state(db, row, now) for row in rows.all()]

        return self._database.read(look)

    def _taken(self, db: sa.Connection, run: str, by: str, which: sa.ColumnElement[bool]) -> Lease | None:
        """The first such batch whose lease is over, leased; None if there is none."""
        is_free = (BATCHES.c.run == run, which, BATCHES.c.done.is_(None), BATCHES.c.until <= _now(db))
        query = sa.select(BATCHES.c.batch, BATCHES.c.fence).where(*is_free).order_by(BATCHES.c.batch).limit(1)
        found = db.execute(query).one_or_none()
        if found is None:
            return None
        lease = Lease(run, found.batch, found.fence + 1)
        held = {"fence": lease.fence, "until": _now(db) + self.lease_s, "leased_by": by}
        db.execute(BATCHES.update().where(*_of(lease)).values(**held))
        return lease


def _of(lease: Lease) -> tuple[sa.ColumnElement[bool], ...]:
    return BATCHES.c.run == lease.run, BATCHES.c.batch == lease.batch


def _now(db: sa.Connection) -> sa.ColumnElement[Any]:
    return _NOW[db.dialect.name]


def _state(db: sa.Connection, run: str) -> str | None:
    state: str | None = db.execute(sa.select(RUNS.c.state).where(RUNS.c.run == run)).scalar()
    return state


def _note_gone(db: sa.Connection, lease: Lease, gone: Sequence[str]) -> None:
    if gone:
        db.execute(_PUT_GONE, [{"run": lease.run, "doc_id": storable(doc_id)} for doc_id in gone])


def _close(db: sa.Connection, run: str, state: str, report: str | None = None) -> None:
    """End a run: its counts stay, its plan goes, and every lease of it is outbid."""
    db.execute(RUNS.update().where(RUNS.c.run == run).values(state=state, ended=_now(db), report=report))
    db.execute(BATCHES.update().where(BATCHES.c.run == run).values(fence=BATCHES.c.fence + 1, until=0.0))
    for table in (ITEMS, GONE):
        db.execute(table.delete().where(table.c.run == run))


def _forget_old(db: sa.Connection) -> None:
    """Forget all but the newest runs that are over."""
    over = sa.select(RUNS.c.run).where(RUNS.c.ended.is_not(None)).order_by(RUNS.c.ended.desc())
    for run in db.execute(over).scalars().all()[KEPT:]:
        db.execute(BATCHES.delete().where(BATCHES.c.run == run))
        db.execute(RUNS.delete().where(RUNS.c.run == run))


def _run_state(db: sa.Connection, row: Any, now: float) -> RunState:
    b = BATCHES.c
    until = row.ended or now
    recent = min(max(until - row.began, 1.0), _RATE_S)
    query = sa.select(
        sa.func.sum(b.documents),
        sa.func.sum(sa.case((b.done.is_not(None), b.documents), else_=0)),
        sa.func.sum(sa.case((b.done > until - recent, b.documents), else_=0)),
        sa.func.count(sa.case((sa.and_(b.done.is_(None), b.until > now), 1))),
    ).where(b.run == row.run)
    total, done, lately, workers = (int(value or 0) for value in db.execute(query).one())
    rate = lately / recent
    left = (total - done) / rate if rate and row.ended is None else None
    return RunState(row.run, row.root, row.state, row.begun_by, row.began, row.ended, total, done, workers, rate, left)
