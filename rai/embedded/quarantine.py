"""The quarantine: passages of the store of record that the screen's verdicts leave out, and people's decisions on them, in a file or in PostgreSQL."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from grounding.database.schema import SchemaPart, Step
from grounding.database.tables import KeptTable
from grounding.errors import StoreError
from grounding.ports import Library
from grounding.store.dialects import forms
from grounding.store.side import Kept, Place, SideRows, side_at
from rai.embedded.verdict_file import Chunks, Titled, VerdictFile
from rai.ports import PromptScreen
from rai.screening.decision import as_data
from rai.screening.quarantine import Decided, Decision, Quarantined, passage_key
from rai.screening.retriever import verdict_key

LOG = logging.getLogger("attest")
_FORGET_NOTES = """
BEGIN
    RETURN QUERY UPDATE quarantine_decisions d SET note = '' WHERE d.key = ANY (keys) AND d.note <> '' RETURNING d.key;
    IF FOUND THEN
        -- the table anew, without what stood there
        ALTER TABLE quarantine_decisions ALTER COLUMN note TYPE text USING note || '';
    END IF;
END
"""
PART = SchemaPart(
    "quarantine",
    (
        Step(
            (
                """
CREATE TABLE quarantine_decisions (
    key text COLLATE "C" PRIMARY KEY,
    decision text COLLATE "C" NOT NULL,
    at text COLLATE "C" NOT NULL,
    note text NOT NULL)""",
                # no samples of what people wrote: they would keep it in the catalogue when it is erased
                "ALTER TABLE quarantine_decisions ALTER COLUMN note SET STATISTICS 0",
                f"""
CREATE FUNCTION attest_forget_notes(keys text[]) RETURNS SETOF text LANGUAGE plpgsql SECURITY DEFINER
    SET lock_timeout = '2s' SET search_path = {{schema}}, pg_temp AS $of${_FORGET_NOTES}$of$""",
                "REVOKE ALL ON FUNCTION attest_forget_notes FROM PUBLIC",
            ),
            oldest=1,
        ),
    ),
    rights=(
        "GRANT SELECT, INSERT, UPDATE ON quarantine_decisions TO {worker}",
        "GRANT EXECUTE ON FUNCTION attest_forget_notes TO {worker}",
    ),
    tables=(KeptTable("quarantine_decisions", "key decision at note", "key", "decision"),),
)
"""People's decisions, in PostgreSQL."""
KEPT = Kept(
    "the decisions on the quarantine",
    """
PRAGMA secure_delete=ON;
CREATE TABLE IF NOT EXISTS decision (key TEXT PRIMARY KEY, decision TEXT NOT NULL, at TEXT NOT NULL, note TEXT NOT NULL) WITHOUT ROWID;
""",
    PART,
    mend="nothing was changed",
    rewritten=("quarantine_decisions",),
)
_forms = partial(forms, shared={"decision": "quarantine_decisions"})
_OF_KEYS = _forms("SELECT key, decision, at, note FROM {decision} WHERE key IN (SELECT value FROM {texts})")
_NOTES = _forms("SELECT key, note FROM {decision} WHERE note <> ''")
_KEEP = _forms(
    "INSERT INTO {decision} (key, decision, at, note) VALUES ({param}, {param}, {param}, {param}) "
    "ON CONFLICT (key) DO UPDATE SET decision = excluded.decision, at = excluded.at, note = excluded.note"
)
_FORGET = {
    "sqlite": "UPDATE decision SET note = '' WHERE key IN (SELECT value FROM json_each(?)) AND note <> '' RETURNING key",
    "postgresql": "SELECT attest_forget_notes(CAST(%s AS text[]))",
}
"""Empties notes, and finds a row for each that was not empty."""
_DOCUMENTS = 50
"""Most documents whose chunks are read at a time."""
_SCREENED = 64
"""Most passages that are screened in one call."""


class DecisionFile:
    """People's decisions on passages of the quarantine, in one SQLite file, or a PostgreSQL; safe for many readers and writers in several processes.

    It is made by people and not derived from the knowledge base, so a file of it does not lie among the indexes.
    """

    def __init__(self, place: Place) -> None:
        self._side = side_at(place, KEPT)

    def released(self, keys: Sequence[str]) -> frozenset[str]:
        """The `keys` of passages that were released. Never raises: nothing is let through because a decision cannot be read."""
        try:
            return frozenset(key for key, said in self.decided(keys).items() if said.decision == "released")
        except StoreError as error:
            LOG.warning("%s; nothing is released", error)
            return frozenset()

    def decided(self, keys: Sequence[str]) -> dict[str, Decided]:
        """The decision on each passage of `keys` that has one. Raises StoreError."""
        if not keys or not self._side.is_made:
            return {}
        rows = self._side.look(lambda db: db.rows(_OF_KEYS, list(keys)))
        return {key: Decided(decision, when, note) for key, decision, when, note in rows}

    def keep(self, key: str, said: Decided) -> None:
        """Writes the decision on a passage; the newest counts, and of the note that it replaces nothing is left. Raises StoreError."""

        def work(db: SideRows) -> None:
            db.rows(_FORGET, [key])  # once it is replaced, no erasure would find it
            db.rows(_KEEP, key, said.decision, said.at, said.note)

        self._side.write(work)

    def notes(self) -> dict[str, str]:
        """Every note that was left, by the key of its passage. Raises StoreError."""
        return dict(self._side.look(lambda db: db.rows(_NOTES))) if self._side.is_made else {}

    def forget(self, keys: Sequence[str]) -> int:
        """Empties the notes on these passages, so that nothing of them is left in the file or the tables; the decisions stay. How many there were. Raises StoreError."""
        if not keys or not self._side.is_made:
            return 0
        return len(self._side.write(lambda db: db.rows(_FORGET, list(keys))))


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
        except StoreError as error:
            LOG.warning("%s", error)
            return {}


def _verdict_key(row: Titled) -> str:
    return verdict_key(row.chunk.chunk_id, row.title, row.chunk.text)


def _quarantined(row: Titled, rule: str, score: float) -> Quarantined:
    chunk = row.chunk
    key = passage_key(chunk.doc_id, row.title, chunk.text)
    return Quarantined(key, chunk.doc_id, row.title, chunk.chunk_id, chunk.locator, chunk.text, rule, round(score, 4))
