"""What a turn's page shows of its judging: the verdicts so far, what people said, why it waits, and the form as it is filled in at first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from bot.desk.index import Desk
from bot.desk.rows import FEEDBACK, REPORT
from bot.desk.search import REASONS
from bot.events.kinds import DELIVERY, VERDICT
from bot.judging.fit import fitting
from bot.judging.verdict import SPELLINGS, Assessment
from bot.wording.reviewing.verdicts import REASON_WORDS, VERDICT_MEANS, VERDICT_WORDS
from rai.ports import Ledger
from rai.records import Entry

ID_MAX = 100
"""Characters of an entry's id."""


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
    documents: tuple[str, ...]
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
class SavedVerdict:
    """A verdict that was saved on the page before this one, as the address of this one has it: the verdict, a dot, the turn."""

    verdict: str
    turn: str

    @classmethod
    def of(cls, text: str) -> Self | None:
        """From an address; None where it does not say so."""
        verdict, _, turn = text.partition(".")
        well_formed = verdict in VERDICT_WORDS and turn.isascii() and turn.isalnum() and len(turn) <= ID_MAX
        return cls(verdict, turn) if well_formed else None

    def __str__(self) -> str:
        return f"{self.verdict}.{self.turn}"

    @property
    def word(self) -> str:
        """The verdict for people."""
        return VERDICT_WORDS[self.verdict]

    @property
    def short(self) -> str:
        """The end of the id: its beginning is the time, which turns of one hour share."""
        return f"…{self.turn[-6:]}"


@dataclass(frozen=True, slots=True)
class JudgingView:
    """Everything beside the form.

    `first`: what the form begins with, the newest verdict or what was sent and not taken; `choices`: the verdicts that fit the turn; `reasons`: why the turn waits, in words;
    `queue`: the one that its reader came from; `saved`: what they saved there; `problem`: why what was sent was not taken.
    """

    verdicts: tuple[GivenVerdict, ...]
    said: tuple[SaidLine, ...]
    first: Mapping[str, str]
    choices: tuple[tuple[str, str, str], ...]
    reasons: tuple[str, ...]
    queue: str
    saved: SavedVerdict | None = None
    problem: str = ""


async def judging_view(desk: Desk, turn: Entry, said: Sequence[Entry], queue: str) -> JudgingView:
    """The view of what entries say of a turn, the oldest of them first. `queue`: the reason for which its reader came, and after a dot what they saved on the page before. Raises StoreError."""
    reason, _, saved = queue.partition(".")
    verdicts = [entry for entry in said if entry.kind == VERDICT]
    waits = (await desk.reasons([turn.seq])).get(turn.seq, [])
    return JudgingView(
        tuple(_given(entry, counts=entry is verdicts[-1]) for entry in reversed(verdicts)),
        tuple(_line(entry) for entry in said if entry.kind != VERDICT),
        _first(verdicts[-1].body if verdicts else {}),
        tuple((name, VERDICT_WORDS[name], VERDICT_MEANS[name]) for name in fitting(turn)),
        tuple(REASON_WORDS[name] for name in waits),
        reason if reason in REASONS else "",
        SavedVerdict.of(saved),
    )


def sent_again(view: JudgingView, fields: Mapping[str, str], problem: str) -> JudgingView:
    """The view with a form as it was sent, which was not taken because of `problem`."""
    typed = {name: fields.get(name, "") for name in ("correction", "facts", "wrong", "documents")}
    sent = {"verdict": fields.get("decision", ""), "comment": fields.get("note", ""), **typed}
    return replace(view, first=sent, problem=problem)


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
        said.documents if said else (),
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
    # of a delivery the channel tells, and nobody says it
    by = "" if entry.kind == DELIVERY else who(body)
    return SaidLine(entry.entry_id, entry.at, entry.kind, by, str(told or ""), words)


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
