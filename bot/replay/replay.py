"""A recorded turn replayed: its answer checked again on what was recorded, and the whole of it run again over the knowledge base as it is now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bot.records import Actor, Ask, Rerun, Rework, claim_json
from bot.replay.compare import Compartment, answers, claims, compared
from bot.system import CheckRequest, System
from bot.turn.conversation.transcript import turns_from_json
from bot.turn.draft.citations import without_markers
from bot.turn.draft.sources import as_sources
from bot.turn.rerun import NOT_ASKED
from bot.turn.rework import messages
from bot.wording.conversation.email import email_body
from grounding.errors import InputError
from grounding.policy import DEFAULT_POLICY
from grounding.records import Passage
from rai.ledger.contents import MASK, UNREADABLE
from rai.records import Entry, Report, Source


@dataclass(frozen=True, slots=True)
class Replayed:
    """What a replay came to, stage by stage. `notes`: what could not be as it was, and why."""

    entry: Entry
    stages: tuple[Compartment, ...]
    notes: tuple[str, ...]
    report: Report | None
    today: Mapping[str, Any]

    @property
    def differing(self) -> tuple[str, ...]:
        """Names of the stages that came to something else."""
        return tuple(stage.name for stage in self.stages if stage.differs)

    @property
    def is_same(self) -> bool:
        """True if the answer and what is found of it are as they were, whatever led there."""
        return not {"check", "reply"} & set(self.differing)

    def as_json(self) -> dict[str, Any]:
        """The form of `attest ledger replay --json`."""
        reply = self.today.get("reply") or {}
        return {
            "entry_id": self.entry.entry_id,
            "at": self.entry.at,
            "same": self.is_same,
            "differing": list(self.differing),
            "notes": list(self.notes),
            "stages": [stage.as_json() for stage in self.stages],
            "check": None
            if self.report is None
            else {"verdict": self.report.verdict, "claims": [claim_json(c) for c in self.report.claims]},
            "today": {
                name: reply.get(name)
                for name in ("outcome", "code", "answer", "citations", "claims", "decision", "query")
            },
        }


async def replay(system: System, entry: Entry, *, asks_model: bool = False) -> Replayed:
    """Replay a turn. Raises InputError for an entry that is none or cannot be read, StoreError, ServiceError."""
    body = turn_of(entry)
    now = await system.rerun(_rerun(body, asks_model=asks_model))
    report = await recheck(system, body, drafted_text(body), sources_of(body))
    drafted = _generator(body)
    stages = [*compared(body, now)]
    if report is not None:
        told = "What was drafted, checked again on the recorded evidence, by rules alone: the record and this program."
        stages.append(claims(recorded_claims(body), [claim_json(c) for c in report.claims], told))
    how = (
        "A model was asked again."
        if asks_model
        else "The recorded draft, on what was found now: a model is not asked again."
        if drafted.startswith("model:")
        else "Drafted and checked again on what was found now."
    )
    stages.append(answers(body, now, how))
    return Replayed(entry, tuple(stages), tuple(_notes(body, now)), report, now)


def turn_of(entry: Entry) -> Mapping[str, Any]:
    """The body of a turn that can be read. Raises InputError for any other entry."""
    body = entry.body
    if entry.kind != "turn":
        raise InputError(f"entry {entry.entry_id} is of the kind {entry.kind}: only turns are replayed")
    if UNREADABLE in body:
        raise InputError(f"entry {entry.entry_id} cannot be read whole, so it is not replayed: {body[UNREADABLE]}")
    ask = body.get("ask")
    if not isinstance(ask, dict) or not ask.get("question") or not isinstance(body.get("reply"), dict):
        raise InputError(f"entry {entry.entry_id} does not say what was asked: it was erased, or failed before that")
    return body


async def recheck(system: System, body: Mapping[str, Any], text: str, sources: tuple[Source, ...]) -> Report | None:
    """A text of a turn checked on `sources`, by rules alone; None where there is none."""
    if not text:
        return None
    ask = body["ask"]
    made = _rework(body)
    history = [t for t in ask.get("history") or () if not (made and t.get("role") == "assistant")]
    given = (
        [ask["question"], *(str(turn.get("text") or "") for turn in history)] if made.get("how") != "summary" else []
    )
    given += [ask["context"]] if ask.get("context") else []
    query = body.get("query") or {}
    question = query.get("text") or ("" if made else ask["question"])
    request = CheckRequest(text, sources, question, tuple(given), _time(ask.get("at")))
    return await system.recheck(request, _policy(body))


def drafted_text(body: Mapping[str, Any]) -> str:
    """What was drafted, with its marks: the draft before it was repaired or withheld, or the answer. "" for a notice."""
    reply = body["reply"]
    draft = reply.get("draft")
    if isinstance(draft, dict) and draft.get("text"):
        return str(draft["text"])
    if reply.get("outcome") not in ("answered", "repaired") or not reply.get("claims"):
        return ""
    answer = str(reply.get("answer") or "")
    return email_body(answer) if _rework(body).get("how") == "email" else answer


def recorded_claims(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What was found of the claims in that text."""
    reply = body["reply"]
    draft = reply.get("draft")
    return list((draft if isinstance(draft, dict) and draft.get("text") else reply).get("claims") or ())


def sources_of(body: Mapping[str, Any]) -> tuple[Source, ...]:
    """The evidence as it was recorded; of a summary the messages of the conversation."""
    if _rework(body).get("how") == "summary":
        turns = turns_from_json(body["ask"].get("history") or [], "ask.history")
        said = messages([turn for turn in turns if turn.text.strip()])
        return tuple(Source(e.passage.chunk_id, e.passage.text, e.passage.title) for e in said)
    evidence = body.get("evidence") or ()
    return as_sources(
        [
            Passage(
                e["chunk_id"],
                e.get("doc_id") or "",
                e.get("title") or "",
                e.get("text") or "",
                updated=e.get("updated"),
            )
            for e in evidence
        ]
    )


def _rework(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the turn made of an earlier answer, as it was recorded; empty for every other."""
    made = (body.get("ask") or {}).get("rework")
    return made if isinstance(made, Mapping) else {}


def _rerun(body: Mapping[str, Any], *, asks_model: bool) -> Rerun:
    said, access = body["ask"], body.get("access") or {}
    ask = Ask(
        said["question"],
        history=turns_from_json(said.get("history") or [], "ask.history"),
        context=said.get("context"),
        product=said.get("product"),
        user=said.get("user"),
        policy=_policy(body),
        channel=str(said.get("channel") or ""),
        conversation=said.get("conversation"),
        actor=_actor(body),
        at=_time(said.get("at")),
        locale=said.get("locale"),
        excluded=tuple(said.get("excluded") or ()),
        rework=Rework(**_rework(body)) if _rework(body) else None,
    )
    text = without_markers(drafted_text(body)) or None
    return Rerun(ask, frozenset(access.get("groups") or ()), text, _generator(body), asks_model)


def _actor(body: Mapping[str, Any]) -> Actor:
    """Who asked, for what an answer that was reworked is theirs by."""
    who = body.get("actor") or {}
    return Actor(who.get("user"), who.get("authenticated_by"))


def _notes(body: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    said = body["ask"]
    texts = [said["question"], *(str(t.get("text")) for t in said.get("history") or ()), said.get("context") or ""]
    reply = now.get("reply") or {}
    notes = []
    if any(MASK in text for text in texts):
        notes.append(
            "what was masked in the record is masked in the replay too: it was searched for then and is not now"
        )
    if "text" not in (body.get("query") or {}):
        notes.append(
            "this entry is of an older program, which recorded less: what it does not tell counts as different"
        )
    if any(e.get("origin") == "web" for e in body.get("evidence") or ()):
        notes.append("the web is not searched again: pages that were found then are missing now")
    if any(NOT_ASKED in str(note) for note in reply.get("notes") or ()):
        notes.append("nothing was drafted then, and a model would draft now: it is not asked")
    elif reply.get("code"):
        notes.append(f"the replay itself ended early: {reply['code']}")
    return notes


def _policy(body: Mapping[str, Any]) -> str:
    return str((body.get("policy") or {}).get("name") or body["ask"].get("policy") or DEFAULT_POLICY)


def _generator(body: Mapping[str, Any]) -> str:
    return str((body["reply"].get("mode") or {}).get("generator") or "")


def _time(value: object) -> datetime | None:
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
