"""The list of names learnt from the documents (gazetteer), kept: what each document taught, and the list that they make together.

`follow` compares the documents that were learnt from with those of the library and reads only what changed, so an
ingest, a removal and a killed run all end in the same list. A running server sees a new list at its next look-up; it
reads one number to know, and the list itself only when that changed. A file of it lies beside the store, in a folder that
only its owner may read, because restricted documents taught it (see `rai.claims.names.gazetteer` for what may leave it).
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from grounding.database.schema import SchemaPart, Step
from grounding.database.tables import KeptTable
from grounding.database.text import storable
from grounding.errors import StoreError
from grounding.ports import Library
from grounding.records import Document, DocumentInfo
from grounding.store.dialects import forms
from grounding.store.side import Kept, Place, SideRows, side_at
from rai.claims.names.gazetteer import Learnt, combine, read_document
from rai.records import EntityType

LOG = logging.getLogger("attest")
FORM = 1
"""The version of the rules that learn; where the file has another, everything is learnt again."""
PART = SchemaPart(
    "names",
    (
        Step(
            (
                'CREATE TABLE names_by_document (doc_id text COLLATE "C" PRIMARY KEY, version text COLLATE "C" NOT NULL, body text NOT NULL)',
                "CREATE TABLE known_names (form integer NOT NULL, number bigint NOT NULL, names text NOT NULL)",
                # no question asks by these, and samples would keep names whose document is gone
                "ALTER TABLE names_by_document ALTER COLUMN body SET STATISTICS 0",
                "ALTER TABLE known_names ALTER COLUMN names SET STATISTICS 0",
            ),
            oldest=1,
        ),
    ),
    rights=(
        "GRANT SELECT, INSERT, UPDATE, DELETE ON names_by_document TO {worker}",
        "GRANT SELECT, INSERT, DELETE ON known_names TO {worker}",
    ),
    tables=(
        KeptTable("names_by_document", "doc_id version body", "doc_id", "learnt"),
        KeptTable("known_names", "form number names", "form number", "list"),
    ),
)
"""The learnt names, in PostgreSQL."""
KEPT = Kept(
    "the list of names",
    """
CREATE TABLE IF NOT EXISTS learnt (doc_id TEXT PRIMARY KEY, version TEXT NOT NULL, body TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS list (form INTEGER NOT NULL, number INTEGER NOT NULL, names TEXT NOT NULL);
""",
    PART,
)
_forms = partial(forms, shared={"learnt": "names_by_document", "list": "known_names"})
_ANY = _forms("SELECT 1 FROM {list}")
_NUMBER = _forms("SELECT number FROM {list} WHERE form = {param}")
_LIST = _forms("SELECT number, names FROM {list} WHERE form = {param}")
_VERSIONS = _forms("SELECT doc_id, version FROM {learnt}")
_FORGET_ALL = _forms("DELETE FROM {learnt}")
_FORGET = _forms("DELETE FROM {learnt} WHERE doc_id = {param}")
_LEARN = _forms(
    "INSERT INTO {learnt} (doc_id, version, body) VALUES ({param}, {param}, {param}) "
    "ON CONFLICT (doc_id) DO UPDATE SET version = excluded.version, body = excluded.body"
)
_BODIES = _forms("SELECT body FROM {learnt}")
_LAST = _forms("SELECT max(number) FROM {list}")
_DROP_LIST = _forms("DELETE FROM {list}")
_PUT_LIST = _forms("INSERT INTO {list} (form, number, names) VALUES ({param}, {param}, {param})")
SHARED_S = 5.0
"""Seconds for which a list in PostgreSQL is taken to be the newest, and one that could not be read is left alone: each text of a turn asks for it."""
_BATCH = 200
"""Most documents read at a time."""


@dataclass(slots=True)
class _Change:
    """Documents to learn from and documents to forget."""

    fresh: list[tuple[str, str, Learnt]] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)


class NameFile:
    """The learnt names in one SQLite file, or a PostgreSQL; safe for many readers and writers in several processes.

    `shared_s`: seconds for which a list in PostgreSQL is not looked at again; `clock`: in seconds.
    """

    def __init__(
        self, place: Place, *, shared_s: float = SHARED_S, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._side = side_at(place, KEPT)
        self._every_s = shared_s if self._side.is_shared else 0.0
        self._clock = clock
        self._looked = -math.inf
        self._lock = threading.Lock()
        self._number = -1
        self._names: Mapping[str, EntityType] = {}

    @property
    def exists(self) -> bool:
        """True if there is a file, or in PostgreSQL a list, of whatever age. Raises StoreError for a database that cannot be used."""
        return self._side.is_made and (not self._side.is_shared or bool(self._side.read(lambda db: db.rows(_ANY))))

    def current(self) -> Mapping[str, EntityType]:
        """The type of each name by its normal form, as the newest `follow` of any process left it; empty before the first. Of a PostgreSQL at most `shared_s` old.

        Never raises: a list that cannot be read makes no name known.
        """
        with self._lock:
            if not self._every_s or self._clock() - self._looked >= self._every_s:
                try:
                    self._refresh()
                except StoreError as error:
                    LOG.warning("%s; names go by their shape alone", error)
                self._looked = self._clock()
            return self._names

    def _refresh(self) -> None:
        if not self._side.is_made:
            return
        if found := self._side.look(self._newer):
            self._names, self._number = json.loads(found[1]), found[0]

    def _newer(self, db: SideRows) -> tuple[int, str] | None:
        """Number and names of the list, if it is another than the one that is known."""
        number = db.rows(_NUMBER, FORM)
        if not number or number[0][0] == self._number:
            return None
        ((last, names),) = db.rows(_LIST, FORM)
        return last, names

    async def follow(self, library: Library, *, anew: bool = False) -> int:
        """Learns the names of new and changed documents of `library` and forgets those that are gone; returns how many documents that were. `anew`: of all documents.

        A list that cannot be written is told in the log and stops nothing: names then go by their shape, and the next
        call does what this one could not.
        """
        try:
            return await self._follow(library, anew)
        except StoreError as error:
            LOG.warning("%s", error)
            return 0

    async def learn_anew(self, library: Library) -> int:
        """Forgets everything and learns it again; as `follow` otherwise."""
        await asyncio.to_thread(self._side.discard)
        return await self.follow(library, anew=True)

    async def _follow(self, library: Library, anew: bool) -> int:
        known = None if anew else await asyncio.to_thread(self._known)
        infos = {storable(info.doc_id): info for info in await library.documents()}
        change = _Change(gone=[doc_id for doc_id in known or {} if doc_id not in infos])
        changed = [i for doc_id, i in infos.items() if (known or {}).get(doc_id) != storable(i.version)]
        for at in range(0, len(changed), _BATCH):
            read = [(i, await library.document(i.doc_id, i.version)) for i in changed[at : at + _BATCH]]
            change.fresh += await asyncio.to_thread(_learn, read)
        if known is None or change.fresh or change.gone:
            await asyncio.to_thread(self._write, change, known is None)
        return len(change.fresh) + len(change.gone)

    def _known(self) -> dict[str, str] | None:
        """The version, by id, of each document that was learnt from; None if there is no list of this `FORM`."""
        if not self._side.is_made:
            return None
        return self._side.read(lambda db: dict(db.rows(_VERSIONS)) if db.rows(_NUMBER, FORM) else None)

    def _write(self, change: _Change, anew: bool) -> None:
        def work(db: SideRows) -> None:
            if anew:
                db.rows(_FORGET_ALL)
            db.each(_FORGET, [(doc_id,) for doc_id in change.gone])
            db.each(_LEARN, [(doc_id, version, _body(learnt)) for doc_id, version, learnt in change.fresh])
            names = combine(_learnt(body) for (body,) in db.stream(_BODIES))
            last = db.rows(_LAST)[0][0] or 0
            db.rows(_DROP_LIST)
            db.rows(_PUT_LIST, FORM, last + 1, json.dumps(names))

        self._side.write(work)
        with self._lock:
            self._looked = -math.inf


def _learn(read: list[tuple[DocumentInfo, Document | None]]) -> list[tuple[str, str, Learnt]]:
    return [(i.doc_id, i.version, read_document(d.title, d.text)) for i, d in read if d is not None]


def _body(learnt: Learnt) -> str:
    return json.dumps([sorted(learnt.names), " ".join(sorted(learnt.lower)), " ".join(sorted(learnt.inside))])


def _learnt(body: str) -> Learnt:
    names, lower, inside = json.loads(body)
    return Learnt(frozenset((n, k, s) for n, k, s in names), frozenset(lower.split()), frozenset(inside.split()))
