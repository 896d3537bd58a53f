"""The quarantine on this machine: passages of the store of record that the screen's verdicts leave out, and a file of people's decisions."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from grounding.errors import StoreError
from grounding.ports import Library
from grounding.store.side_file import opened, read_only
from rai.embedded.verdict_file import Chunks, Titled, VerdictFile
from rai.ports import PromptScreen
from rai.screening.decision import as_data
from rai.screening.quarantine import Decided, Decision, Quarantined, passage_key
from rai.screening.retriever import verdict_key

LOG = logging.getLogger("attest")
_TABLES = """
CREATE TABLE IF NOT EXISTS decision (key TEXT PRIMARY KEY, decision TEXT NOT NULL, at TEXT NOT NULL, note TEXT NOT NULL) WITHOUT ROWID;
"""
_DOCUMENTS = 50
"""Most documents whose chunks are read at a time."""
_SCREENED = 64
"""Most passages that are screened in one call."""


class DecisionFile:
    """People's decisions on passages of the quarantine, in one SQLite file; safe for many readers and writers in several processes.

    It is made by people and not derived from the knowledge base, so it does not lie among the indexes.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def released(self, keys: Sequence[str]) -> frozenset[str]:
        """The `keys` of passages that were released. Never raises: nothing is let through because a file cannot be read."""
        try:
            return frozenset(key for key, said in self.decided(keys).items() if said.decision == "released")
        except sqlite3.Error as error:
            LOG.warning("decisions on the quarantine cannot be read (%s); nothing is released", type(error).__name__)
            return frozenset()

    def decided(self, keys: Sequence[str]) -> dict[str, Decided]:
        """The decision on each passage of `keys` that has one. Raises sqlite3.Error."""
        if not keys or not self._path.exists():
            return {}
        found: dict[str, Decided] = {}
        with read_only(self._path) as db:
            for at in range(0, len(keys), 500):
                part = list(keys[at : at + 500])
                marks = ",".join("?" * len(part))
                rows = db.execute(f"SELECT key, decision, at, note FROM decision WHERE key IN ({marks})", part)  # noqa: S608 - question marks
                found |= {key: Decided(decision, when, note) for key, decision, when, note in rows}
        return found

    def keep(self, key: str, said: Decided) -> None:
        """Writes the decision on a passage; the newest counts. Raises StoreError."""
        what = "the file of decisions on the quarantine"
        with opened(self._path, _TABLES, what, mend="nothing was decided") as db:
            db.execute("INSERT OR REPLACE INTO decision VALUES (?, ?, ?, ?)", (key, said.decision, said.at, said.note))

    def notes(self) -> dict[str, str]:
        """Every note that was left, by the key of its passage. Raises StoreError."""
        if not self._path.exists():
            return {}
        try:
            with read_only(self._path) as db:
                return dict(db.execute("SELECT key, note FROM decision WHERE note <> ''"))
        except sqlite3.Error as error:
            raise StoreError(f"decisions on the quarantine cannot be read ({type(error).__name__})") from None

    def forget(self, keys: Sequence[str]) -> int:
        """Empties the notes on these passages, so that nothing of them is left in the file; the decisions stay. How many there were. Raises StoreError."""
        if not keys or not self._path.exists():
            return 0
        with opened(self._path, _TABLES, "the file of decisions on the quarantine", mend="nothing was erased") as db:
            db.execute("PRAGMA secure_delete=ON")
            wanted = "UPDATE decision SET note = '' WHERE key = ? AND note <> ''"
            return sum(db.execute(wanted, (key,)).rowcount for key in keys)


class EmbeddedQuarantine:
    """A `rai.screening.quarantine.Quarantine`: the passages that `verdicts` leave out, scored by `screen`, with people's `decisions` on them."""

    def __init__(
        self, library: Library, chunks: Chunks, screen: PromptScreen, verdicts: VerdictFile, decisions: DecisionFile
    ) -> None:
        self._library = library
        self._chunks = chunks
        self._screen = screen
        self._verdicts = verdicts
        self._decisions = decisions

    async def passages(self) -> tuple[Quarantined, ...]:
        """Every passage in the quarantine, by document; what was not judged at ingest is judged now."""
        await self._verdicts.follow(self._library, self._chunks, self._screen)
        rules = await asyncio.to_thread(self._verdicts.left_out)
        rows = await self._rows(rules) if rules else []
        found = [await self._scored(rows[at : at + _SCREENED], rules) for at in range(0, len(rows), _SCREENED)]
        passages = [passage for part in found for passage in part]
        decided = await asyncio.to_thread(self._decided, [p.key for p in passages])
        return tuple(replace(p, decided=decided.get(p.key)) for p in passages)

    async def decide(self, passage: Quarantined, decision: Decision, note: str = "") -> Decided:
        """Keeps a decision on a passage, with the time. Raises StoreError."""
        said = Decided(decision, datetime.now(UTC).isoformat(timespec="seconds"), note)
        await asyncio.to_thread(self._decisions.keep, passage.key, said)
        return said

    async def _rows(self, rules: Mapping[str, str]) -> list[Titled]:
        """The live chunks that are left out, by document and offset. `rules`: those that leave them out, by key of the verdict."""
        ids = [info.doc_id for info in await self._library.documents()]
        out: list[Titled] = []
        for at in range(0, len(ids), _DOCUMENTS):
            rows = await asyncio.to_thread(self._chunks.chunks_of, ids[at : at + _DOCUMENTS])
            out += [row for row in rows if _verdict_key(row) in rules]
        return sorted(out, key=lambda row: (row.chunk.doc_id, row.chunk.start))

    async def _scored(self, rows: Sequence[Titled], rules: Mapping[str, str]) -> list[Quarantined]:
        screening = await self._screen.screen("", [as_data(row.title, row.chunk.text) for row in rows])
        scores = {document.index: document.score for document in screening.documents}
        return [_quarantined(row, rules[_verdict_key(row)], scores.get(n, 0.0)) for n, row in enumerate(rows)]

    def _decided(self, keys: Sequence[str]) -> dict[str, Decided]:
        try:
            return self._decisions.decided(keys)
        except sqlite3.Error as error:
            LOG.warning("decisions on the quarantine cannot be read (%s)", type(error).__name__)
            return {}


def _verdict_key(row: Titled) -> str:
    return verdict_key(row.chunk.chunk_id, row.title, row.chunk.text)


def _quarantined(row: Titled, rule: str, score: float) -> Quarantined:
    chunk = row.chunk
    key = passage_key(chunk.doc_id, row.title, chunk.text)
    return Quarantined(key, chunk.doc_id, row.title, chunk.chunk_id, chunk.locator, chunk.text, rule, round(score, 4))
