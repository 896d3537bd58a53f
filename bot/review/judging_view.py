"""What a turn's page shows of its judging: the verdicts so far, what people said, why it waits, and the form as it is filled in at first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.desk.index import Desk
from bot.desk.rows import FEEDBACK, REPORT
from bot.desk.search import REASONS
from bot.events.kinds import VERDICT
from bot.judging.verdict import SPELLINGS, Assessment
from bot.wording.verdicts import REASON_WORDS, VERDICT_MEANS, VERDICT_WORDS
from rai.ports import Ledger
from rai.records import Entry


@dataclass(frozen=True, slots=True)
class GivenVerdict:
    """A verdict that was given. `counts`: it is the newest."""

    entry_id: str
    at: str
    by: str
    word: str
    verdict: str
    comment: str
    correction: str
    facts: tuple[str, ...]
    wrong: tuple[str, ...]
    counts: bool


@dataclass(frozen=True, slots=True)
class SaidLine:
    """Something that an entry says of the turn, on one line."""

    entry_id: str
    at: str
    kind: str
    by: str
    line: str
    words: str


@dataclass(frozen=True, slots=True)
class JudgingView:
    """Everything beside the form. `first`: what the form begins with, the newest verdict; `reasons`: why the turn waits, in words; `queue`: the one that its reader came from."""

    verdicts: tuple[GivenVerdict, ...]
    said: tuple[SaidLine, ...]
    first: Mapping[str, str]
    choices: tuple[tuple[str, str, str], ...]
    reasons: tuple[str, ...]
    queue: str


async def judging_view(desk: Desk, turn: Entry, said: Sequence[Entry], queue: str) -> JudgingView:
    """The view of what entries say of a turn, the oldest of them first. Raises StoreError."""
    verdicts = [entry for entry in said if entry.kind == VERDICT]
    waits = (await desk.reasons([turn.seq])).get(turn.seq, [])
    return JudgingView(
        tuple(_given(entry, counts=entry is verdicts[-1]) for entry in reversed(verdicts)),
        tuple(_line(entry) for entry in said if entry.kind != VERDICT),
        _first(verdicts[-1].body if verdicts else {}),
        tuple((name, word, VERDICT_MEANS[name]) for name, word in VERDICT_WORDS.items()),
        tuple(REASON_WORDS[name] for name in waits),
        queue if queue in REASONS else "",
    )


async def about(ledger: Ledger, entry: Entry) -> list[tuple[str, str]]:
    """Ids of the entries that an entry of another kind is about, each with what it is to it; those that are there. Raises StoreError."""
    body = entry.body
    named = [(name, body.get(name)) for name in ("entry_id", "report", "replaces", "hold", "start")]
    many = body.get("entry_ids")
    named += [("entry", name) for name in (many[:50] if isinstance(many, list) else ())]
    words = {"entry_id": "turn", "replaces": "verdict before"}
    found = []
    for name, value in named:
        other = await ledger.get(value) if isinstance(value, str) and value else None
        if other is not None:
            found.append((words.get(name, name) if other.kind != "turn" else "turn", other.entry_id))
    return found


def _given(entry: Entry, *, counts: bool) -> GivenVerdict:
    said = Assessment.recorded(entry.body)
    verdict = str(entry.body.get("verdict") or "")
    return GivenVerdict(
        entry.entry_id,
        entry.at,
        who(entry.body),
        VERDICT_WORDS.get(verdict, verdict),
        verdict,
        said.comment if said else "",
        said.correction if said else "",
        tuple(" or ".join(fact) for fact in said.facts) if said else (),
        said.wrong if said else (),
        counts=counts,
    )


def who(body: Mapping[str, Any]) -> str:
    """Who an entry names: a person's name or id, or how else it is known who it was."""
    actor = body.get("actor")
    actor = actor if isinstance(actor, Mapping) else {}
    return str(
        actor.get("name") or actor.get("user") or body.get("user") or actor.get("authenticated_by") or "a stranger"
    )


def _line(entry: Entry) -> SaidLine:
    body = entry.body
    told = {FEEDBACK: body.get("reaction"), REPORT: "reported as wrongly refused"}.get(
        entry.kind, body.get("decision") or body.get("failed") or ("delivered" if body.get("delivered") else "")
    )
    words = next((text for name in ("text", "comment", "note") if isinstance(text := body.get(name), str) and text), "")
    return SaidLine(entry.entry_id, entry.at, entry.kind, who(body), str(told or ""), words)


def _first(body: dict[str, Any]) -> dict[str, str]:
    said = Assessment.recorded(body)
    if said is None:
        return {}
    return {
        "verdict": said.verdict,
        "comment": said.comment,
        "correction": said.correction,
        "facts": "\n".join(f" {SPELLINGS} ".join(fact) for fact in said.facts),
        "wrong": "\n".join(said.wrong),
        "documents": "\n".join(said.documents),
    }
