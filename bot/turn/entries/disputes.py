"""Refusals that people call wrong: their reports, the reviewers' decisions, and the queue of what is open.

The ledger only ever grows, so each is an entry of its own that names the turn; what is shown is read from them. Reporting twice, or deciding
the same again, changes nothing.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

from bot.records import Actor
from grounding.errors import InputError
from grounding.records import plain
from rai.entry_schema import NAME, SCHEMA
from rai.ports import Ledger
from rai.records import Entry, Outcome

REPORT, DECISION = "refusal_report", "refusal_decision"
Decision = Literal["right", "wrong"]
"""The refusal was right, or it was wrong: then the question is an example for whoever tunes the screen."""
State = Literal["open", "right", "wrong"]
STATES = get_args(State)
WORDS_MAX = 2_000
SCAN_MAX = 20_000
"""Entries looked at, newest first; what is older than these is left out, and said so."""
_WITHOUT_CONVERSATION = frozenset({"cli", "http"})
NOT_YOURS = "no refused question of yours has this id"


@dataclass(frozen=True, slots=True)
class Reporter:
    """Who reports, as the channel knows them: the same person, in the same conversation where the channel has conversations.

    `actor`: who it was and how that is known, for the record alone; None: nothing beside `user`.
    """

    user: str | None
    channel: str
    conversation: str | None = None
    actor: Actor | None = None


@dataclass(frozen=True, slots=True)
class Dispute:
    """A refused turn, its first report, and the newest decision on it."""

    turn: Entry | None
    report: Entry
    decision: Entry | None = None

    @property
    def entry_id(self) -> str:
        return str(self.report.body["entry_id"])

    @property
    def state(self) -> State:
        said = self.decision.body.get("decision") if self.decision else None
        return cast("State", said) if said in get_args(Decision) else "open"

    @property
    def question(self) -> str:
        """As the ledger keeps it: personal data is masked; "" if the turn was erased."""
        ask = self.turn.body.get("ask") if self.turn else None
        return str(ask.get("question", "")) if isinstance(ask, dict) else ""

    @property
    def screening(self) -> dict[str, Any]:
        """What blocked: category, rule, score, threshold, by; empty if the turn was erased or a service's own filter blocked it."""
        screenings = self.turn.body.get("screenings") or () if self.turn else ()
        return next((s for s in reversed(screenings) if s.get("verdict") == "block" and s.get("what") != "draft"), {})

    def as_json(self) -> dict[str, Any]:
        """The form of `attest refusals list --json`."""
        names = ("category", "rule", "score", "threshold", "by")
        return {
            "entry_id": self.entry_id,
            "state": self.state,
            "question": self.question,
            **{name: self.screening.get(name) for name in names},
            "asked_at": self.turn.at if self.turn else None,
            "reported_at": self.report.at,
            "reported_by": self.report.body.get("user"),
            "channel": self.report.body.get("channel"),
            "comment": self.report.body.get("comment", ""),
            "note": self.decision.body.get("note", "") if self.decision else "",
        }


@dataclass(frozen=True, slots=True)
class Queue:
    """Disputes, the newest report first. `cut`: older entries were not looked at."""

    disputes: tuple[Dispute, ...]
    cut: bool = False


async def report(ledger: Ledger, entry_id: str, who: Reporter, comment: str = "") -> tuple[Entry, bool]:
    """The entry of the report, and True if it is new. Raises InputError if this is no refused turn of theirs, StoreError."""
    turn = await ledger.get(entry_id[:100])
    if turn is None or not _refused(turn) or not _theirs(turn, who):
        raise InputError(NOT_YOURS, code="not_found")
    async for entry in _about(ledger, turn):
        if entry.kind == REPORT:
            return entry, False
    body = {
        NAME: SCHEMA,
        "entry_id": turn.entry_id,
        "user": who.user,
        "actor": plain(who.actor or Actor(who.user)),
        "channel": who.channel,
        "comment": comment.strip()[:WORDS_MAX],
    }
    return await ledger.append(REPORT, body), True


async def decide(
    ledger: Ledger, entry_id: str, decision: Decision, note: str = "", *, channel: str, by: Actor
) -> Entry:
    """Record what a reviewer says of a reported refusal, and who it is; the newest decision counts. Raises InputError, StoreError."""
    turn = await ledger.get(entry_id[:100])
    found = await dispute_of(ledger, turn) if turn is not None else None
    if found is None:
        raise InputError("nobody reported this entry as a wrong refusal", code="not_found")
    body = {
        NAME: SCHEMA,
        "entry_id": found.entry_id,
        "report": found.report.entry_id,
        "decision": decision,
        "note": note.strip()[:WORDS_MAX],
    }
    said = found.decision.body if found.decision else {}
    if found.decision is not None and (said.get("decision"), said.get("note")) == (decision, body["note"]):
        return found.decision
    return await ledger.append(DECISION, {**body, "channel": channel, "actor": plain(by)})


async def dispute_of(ledger: Ledger, turn: Entry) -> Dispute | None:
    """The dispute about `turn`, None if nobody reported it."""
    report, decision = None, None
    async for entry in _about(ledger, turn):
        report = entry if entry.kind == REPORT and report is None else report
        decision = entry if entry.kind == DECISION else decision
    return Dispute(turn, report, decision) if report else None


async def queue(ledger: Ledger, *, scan: int = SCAN_MAX) -> Queue:
    """Every dispute that the newest `scan` reports and decisions tell of."""
    reports: dict[str, Entry] = {}
    decisions: dict[str, Entry] = {}
    seen = 0
    async for entry in ledger.entries(newest_first=True, limit=scan, kinds=(REPORT, DECISION)):
        seen += 1
        about = str(entry.body.get("entry_id", ""))
        if entry.kind == DECISION and about:
            decisions.setdefault(about, entry)
        elif about:
            reports[about] = entry
    newest = sorted(reports.items(), key=lambda item: -item[1].seq)
    found = [Dispute(await ledger.get(about), report, decisions.get(about)) for about, report in newest]
    return Queue(tuple(found), cut=seen >= scan)


async def _about(ledger: Ledger, turn: Entry) -> AsyncIterator[Entry]:
    async for entry in ledger.entries(after=turn.seq, limit=SCAN_MAX, kinds=(REPORT, DECISION)):
        if entry.body.get("entry_id") == turn.entry_id:
            yield entry


def _refused(turn: Entry) -> bool:
    reply = turn.body.get("reply")
    return turn.kind == "turn" and isinstance(reply, dict) and reply.get("outcome") == Outcome.BLOCKED.value


def _theirs(turn: Entry, who: Reporter) -> bool:
    """In a group everyone who saw the refusal may report it; elsewhere whoever asked."""
    ask = turn.body.get("ask")
    if not isinstance(ask, dict):
        return False
    user, channel, conversation = ask.get("user"), ask.get("channel"), ask.get("conversation")
    if channel in _WITHOUT_CONVERSATION:
        return who.channel in _WITHOUT_CONVERSATION and bool(user == who.user)
    return (channel, conversation) == (who.channel, who.conversation) and user in (None, who.user)
