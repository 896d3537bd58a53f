"""The list of the ledger as the page shows it: newest first, narrowed, a page at a time, out of the desk's index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.desk.index import Counts, Desk, Reach
from bot.desk.rows import REPORTED
from bot.desk.search import YES, DeskSearch
from bot.desk.sql import FoundEntry
from bot.http.errors import Refused
from bot.wording.reviewing.verdicts import VERDICT_WORDS
from grounding.errors import StoreError
from rai.ports import Ledger
from rai.records import Entry

FOLLOW_S = 0.1
"""Seconds that a page goes on with an index that is not whole; the server does the rest."""


ALIKE = 5
"""Ids that are offered in place of one that nobody has."""
QUEUES = (
    ("a value was struck", DeskSearch(struck=YES)),
    ("withheld", DeskSearch(outcome="withheld")),
    ("thumbs down", DeskSearch(feedback="dislike")),
    ("refusals called wrong", DeskSearch(feedback=REPORTED)),
    ("unanswered questions", DeskSearch(outcome="insufficient")),
    ("failed", DeskSearch(outcome="failed")),
)
"""Reasons to look at turns, each with the search that finds them."""


@dataclass(frozen=True, slots=True)
class ListedEntry:
    """A line of the list."""

    entry_id: str
    seq: int
    at: str
    kind: str
    outcome: str
    title: str
    note: str


@dataclass(frozen=True, slots=True)
class Listing:
    """A page of rows; `older` is the query string of the next page, None on the last; `reach`: how far the index goes. Where nothing was found, `began`: the time of
    the first entry, `similar`: documents whose ids hold what was looked for as one, and `people`: ids of those who asked or acted that hold it.
    """

    rows: tuple[ListedEntry, ...]
    older: str | None
    counts: Counts
    reach: Reach
    began: str = ""
    similar: tuple[str, ...] = ()
    people: tuple[str, ...] = ()


async def listing(desk: Desk, ledger: Ledger, wanted: DeskSearch) -> Listing:
    """The page of `wanted`. Raises StoreError."""
    reach = await reached(desk, ledger)
    found = await desk.find(wanted)
    rows = tuple(line(row, found.documents.get(row.seq, [])) for row in found.rows)
    older = wanted.older(found.rows[-1].seq) if found.older else None
    if rows:
        return Listing(rows, older, await desk.count(wanted), reach)
    # ids of documents tell nothing to who may see the turns of some people alone
    similar = await desk.similar_documents(wanted.document) if wanted.document and wanted.among is None else []
    people = await _alike(desk, wanted.user) if wanted.user and wanted.among is None else ()
    return Listing(rows, older, await desk.count(wanted), reach, await desk.began(), tuple(similar), people)


async def _alike(desk: Desk, part: str) -> tuple[str, ...]:
    """Ids of people that hold these characters, whatever their case; none where somebody has just this id."""
    sought = part.casefold()
    found = [name for name in await desk.people() if sought in name.strip().casefold()]
    return () if any(name.strip().casefold() == sought for name in found) else tuple(found[:ALIKE])


async def reached(desk: Desk, ledger: Ledger) -> Reach:
    """How far the index goes, a little further than before; as it is where another process holds it, as one that erases does."""
    try:
        return await desk.follow(ledger, FOLLOW_S)
    except StoreError:
        return await desk.reached(ledger)


def line(row: FoundEntry, documents: list[str]) -> ListedEntry:
    """The line of an entry: of a turn its question, who asked, how far its reply came and what it quotes; else what its entry is of."""
    title = row.title or ("(erased)" if row.erased else "")
    note = ""
    if row.kind == "turn" and not row.erased:
        who = f"as {row.user}" if row.user else "as a stranger"
        quotes = f"quotes {', '.join(documents[:3])}{' …' if len(documents) > 3 else ''}" if documents else ""
        verdict = f"judged: {VERDICT_WORDS.get(row.verdict, row.verdict).lower()}" if row.verdict else ""
        told = (f"{row.channel} {who}".strip(), row.arrived, "struck" if row.struck else "", verdict, quotes)
        note = " · ".join(part for part in told if part)
    elif row.user:
        note = f"by {row.user}"
    return ListedEntry(row.entry_id, row.seq, row.at, row.kind, row.outcome, title, note)


def refuse(told: Sequence[str]) -> None:
    """Refuses a file of a search of which something was left out: no line stands above it that could say so. Raises Refused."""
    if told:
        raise Refused(
            400, "bad_search", f"There is no such file: {'; '.join(told)}.", title="This was not searched for"
        )


def outcome(entry: Entry) -> str:
    """How the turn ended, "" for other kinds."""
    reply = entry.body.get("reply")
    return str(reply.get("outcome", "")) if isinstance(reply, dict) else ""
