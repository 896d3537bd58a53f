"""The list of the ledger: newest first, filtered, a page at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from bot.events.kinds import EVERY, NAMES, listed, shows, weight
from bot.turn.delivery import Arrival, Arrivals
from rai.entry_schema import NAME
from rai.ports import Ledger
from rai.records import Entry, Outcome

PAGE = 25
SCAN_MAX = 20_000
"""Entries looked at for one page; a filter that matches less than this holds ends with a note, not with a long wait."""
OUTCOMES = tuple(o.value for o in Outcome)
KINDS = (EVERY, *NAMES)
UNDELIVERED = "no"
"""The value of the filter `arrived` for turns whose reply is not known to have arrived."""


@dataclass(frozen=True, slots=True)
class Filter:
    """What the list shows. `kind`: "" is all but the quiet kinds. `before`: only entries with a smaller `seq`; 0 begins at the newest.
    `arrived`: "" or UNDELIVERED.
    """

    outcome: str = ""
    kind: str = ""
    entry: str = ""
    before: int = 0
    arrived: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Filter:
        """From a query string; what is not known there is no filter."""
        before = query.get("before", "")
        return cls(
            outcome=query.get("outcome", "") if query.get("outcome", "") in OUTCOMES else "",
            kind=query.get("kind", "") if query.get("kind", "") in KINDS else "",
            entry=query.get("entry", "").strip()[:100],
            before=int(before) if before.isascii() and before.isdigit() and len(before) < 16 else 0,
            arrived=UNDELIVERED if query.get("arrived") == UNDELIVERED else "",
        )

    def matches(self, entry: Entry, arrival: Arrival | None = None) -> bool:
        """Whether it shows an entry, of which is known how far its reply came."""
        if self.arrived and (arrival is None or arrival.mark == "delivered"):
            return False
        if self.outcome and outcome(entry) != self.outcome:
            return False
        if not shows(entry.kind, self.kind):
            return False
        return self.entry.lower() in entry.entry_id.lower()

    def older(self, seq: int) -> str:
        """Query string of the page that follows the entry `seq`."""
        values = {
            "outcome": self.outcome,
            "kind": self.kind,
            "entry": self.entry,
            "arrived": self.arrived,
            "before": seq,
        }
        return urlencode({name: value for name, value in values.items() if value})


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
    """A page of rows; `older` is the query string of the next page, None on the last. `cut`: the scan ended early."""

    rows: tuple[ListedEntry, ...]
    older: str | None
    cut: bool


async def listing(ledger: Ledger, wanted: Filter) -> Listing:
    """The page of `wanted`. Stops at the first entry beyond the page."""
    rows: list[ListedEntry] = []
    seen = 0.0
    arrivals = Arrivals()
    about_turns = "turn" if wanted.outcome or wanted.arrived else wanted.kind
    async for entry in ledger.entries(newest_first=True, kinds=listed(about_turns)):
        arrival = arrivals.of(entry)
        if wanted.before and entry.seq >= wanted.before:
            continue
        seen += weight(entry)
        if wanted.matches(entry, arrival):
            if len(rows) == PAGE:
                return Listing(tuple(rows), wanted.older(rows[-1].seq), cut=False)
            rows.append(row(entry, arrival))
        if seen >= SCAN_MAX:
            return Listing(tuple(rows), wanted.older(entry.seq), cut=True)
    return Listing(tuple(rows), None, cut=False)


def outcome(entry: Entry) -> str:
    """How the turn ended, "" for other kinds."""
    reply = entry.body.get("reply")
    return str(reply.get("outcome", "")) if isinstance(reply, dict) else ""


def row(entry: Entry, arrival: Arrival | None = None) -> ListedEntry:
    """The line of `entry`: for a turn its question and how far its reply came, otherwise its first telling value."""
    body = entry.body
    ask = body.get("ask")
    if entry.kind == "turn" and isinstance(ask, dict):
        who = f"as {ask['user']}" if ask.get("user") else "as a stranger"
        came = f" · {arrival.word}" if arrival else ""
        return _row(entry, str(ask.get("question", "")), f"{ask.get('channel') or ''} {who}{came}".strip())
    told = ((k, v) for k, v in body.items() if k != NAME and isinstance(v, str | int | float) and v != "")
    telling = next((f"{k}: {v}" for k, v in told), "")
    return _row(entry, telling or entry.kind, "")


def _row(entry: Entry, title: str, note: str) -> ListedEntry:
    return ListedEntry(entry.entry_id, entry.seq, entry.at, entry.kind, outcome(entry), title[:240], note)
