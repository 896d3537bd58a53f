"""What the desk's index holds of an entry: what a reviewer narrows a list to, and the words. It is read from the entry as it is stored, so what was masked there is masked here.

The records are named tuples, for a million of them are made in other processes: as bare tuples they are sent in a tenth of the time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache, partial
from typing import Any, NamedTuple

from bot.desk.titles import TITLE_MAX, title_of
from bot.events.kinds import DELIVERY, QUIET, SAMPLE, VERDICT
from bot.privacy.facts import is_erased
from bot.turn.entries.delivery import FOLLOWS
from rai.entry_schema import FREE, UnknownFieldError, texts
from rai.ledger.chain import ERASE
from rai.records import UNSUPPORTED, Entry, Outcome

SCREEN = "screen"
"""The kind under which the rule of a refusal stands among the claims' rules."""
REVIEW_MARK = "review "
"""How `authenticated_by` of a reviewer without a name begins, before the mark of their session."""
KEPT_OUT = "passage"
"""The kind under which the rule stands that kept a passage out of a turn as a planted order."""
REPORT, DECISION, DECIDED = "refusal_report", "refusal_decision", "quarantine_decision"
REPORTED = "reported"
"""What is known of a refusal that was called wrong and not yet decided on."""
ARRIVED, FEEDBACK, REFUSAL, SAMPLED = "arrived", "feedback", "refusal", "sampled"
TOLD = (ARRIVED, FEEDBACK, REFUSAL, VERDICT, SAMPLED)
"""What later entries say of a turn; each stands beside it as it was said last. Those of feedback and verdict are named as their kinds."""


class ClaimFacts(NamedTuple):
    """A claim without its words. `struck`: it was not delivered."""

    kind: str
    status: str
    rule: str
    struck: bool = False


_Told = tuple[str, str, str, bool]
"""Fields of a `ClaimFacts`, before those that are told twice are left out: an answer has dozens of claims, of a few sorts."""


@lru_cache(maxsize=1_000)
def _facts(told: _Told) -> ClaimFacts:
    return ClaimFacts(*told)


class DocumentFacts(NamedTuple):
    """A document that stood in the evidence. `quoted`: the answer cites it; `web`: it is a page of the web, of which no version is kept."""

    doc_id: str
    version: str
    quoted: bool
    web: bool = False


_document = partial(tuple.__new__, DocumentFacts)
"""A document of its bare fields: what `_make` does, without a step in Python for each of the dozen of a turn."""


class Words(NamedTuple):
    """The free text of an entry: what was asked, what was answered, and all else that people wrote or read."""

    asked: str = ""
    answered: str = ""
    beside: str = ""

    def __bool__(self) -> bool:
        return any(self)


class Said(NamedTuple):
    """What an entry says of the turn `turn`: `what`, one of `TOLD`, is `value`."""

    turn: str
    what: str
    value: str


class DeskRow(NamedTuple):
    """An entry in the index. Texts are "" where the entry does not tell. `subject`: what an unanswered turn was about; `ms`: how long a turn took, 0 where that is not known; `erases`: ids of the entries whose text it records as gone; `waits`: a turn of
    which a delivery is to follow; `kept_out`: passages that were kept out of a turn; `decides`: names of the one that a decision is on.
    """

    seq: int
    entry_id: str
    at: str
    kind: str
    mac: str
    erased: bool = False
    outcome: str = ""
    code: str = ""
    channel: str = ""
    user: str = ""
    product: str = ""
    title: str = ""
    subject: str = ""
    waits: bool = False
    ms: float = 0.0
    documents: tuple[DocumentFacts, ...] = ()
    claims: tuple[ClaimFacts, ...] = ()
    words: Words = Words()
    said: tuple[Said, ...] = ()
    kept_out: tuple[str, ...] = ()
    decides: tuple[str, ...] = ()
    erases: tuple[str, ...] = ()


Packed = tuple[Any, ...]
"""A row as bare tuples, as it is sent from one process to another; the first is its number."""


def row_of(entry: Entry) -> DeskRow:
    """The row of an entry; of one whose body is gone, its place, time and kind alone. A body of a shape that nobody knows has what can be read of it."""
    body = entry.body
    fixed = (entry.seq, entry.entry_id, entry.at, entry.kind, entry.mac)
    if is_erased(entry):
        return DeskRow(*fixed, erased=True)
    if entry.kind == "turn":
        return _turn(fixed, body)
    actor = _object(body.get("actor"))
    return DeskRow(
        *fixed,
        channel=_text(body.get("channel")),
        user=_text(actor.get("user")) or _text(body.get("user")) or (_mark(actor) if entry.kind == VERDICT else ""),
        title=title_of(entry),
        words=Words() if entry.kind in QUIET else Words(beside=_free(entry)),
        said=tuple(_said(entry)),
        decides=_decided(_object(body.get("passage"))) if entry.kind == DECIDED else (),
        erases=tuple(map(str, body.get("entry_ids") or [body.get("entry_id")])) if entry.kind == ERASE else (),
    )


def packed_row_of(entry: Entry) -> Packed:
    """The row of an entry as bare tuples, to be sent to another process."""
    row = row_of(entry)
    bare: dict[str, Any] = {name: tuple(map(tuple, getattr(row, name))) for name in ("documents", "claims", "said")}
    return tuple(row._replace(**bare, words=tuple(row.words)))  # type: ignore[arg-type]


def unpacked(packed: Packed) -> DeskRow:
    """The row that was packed."""
    row = DeskRow._make(packed)
    return row._replace(
        documents=tuple(map(_document, row.documents)),
        claims=tuple(map(_facts, row.claims)),
        words=Words._make(row.words),
        said=tuple(map(Said._make, row.said)),
    )


def _turn(fixed: tuple[int, str, str, str, str], body: Mapping[str, Any]) -> DeskRow:
    ask, reply, actor = (_object(body.get(name)) for name in ("ask", "reply", "actor"))
    question = _text(ask.get("question"))
    draft = _object(reply.get("draft"))
    beside = (
        *(_text(turn.get("text")) for turn in _objects(ask.get("history"))),
        _text(ask.get("context")),
        _text(draft.get("text")),
        *(text for text in body.get("unfit") or () if isinstance(text, str)),
    )
    return DeskRow(
        *fixed,
        outcome=_text(reply.get("outcome")),
        code=_text(reply.get("code")),
        channel=_text(ask.get("channel")),
        user=_text(actor.get("user")) or _text(ask.get("user")),
        product=_text(ask.get("product")),
        title=question[:TITLE_MAX],
        subject=_unanswered(body, question),
        waits=body.get("delivery") == FOLLOWS,
        ms=_took(body, reply),
        documents=tuple(_documents(body, reply)),
        claims=tuple(map(_facts, dict.fromkeys((*_claims(reply), *_refused(body), *_kept_out(body))))),
        kept_out=tuple(_kept(p) for p in _objects(body.get("passages")) if _text(p.get("screened"))),
        words=Words(question, _text(reply.get("answer")), "\n".join(filter(None, beside))),
    )


def _documents(body: Mapping[str, Any], reply: Mapping[str, Any]) -> Iterator[DocumentFacts]:
    quoted = {_text(c.get("chunk_id")) for c in _objects(reply.get("citations"))}
    found: dict[tuple[str, str], tuple[bool, bool]] = {}
    for item in _objects(body.get("evidence")):
        key = (_text(item.get("doc_id")), _text(item.get("version")))
        before = found.get(key)
        if before is None or not before[0]:
            found[key] = (_text(item.get("chunk_id")) in quoted, item.get("origin") == "web")
    yield from (DocumentFacts(*key, *told) for key, told in found.items() if key[0])


def _claims(reply: Mapping[str, Any]) -> Iterator[_Told]:
    """Those of the answer, and of the draft before it those that were not delivered."""
    yield from ((*told, False) for told in _sorts(_objects(reply.get("claims"))))
    drafted = _objects(_object(reply.get("draft")).get("claims"))
    lost = [c for c in drafted if c.get("struck") is True or _text(c.get("status")) in UNSUPPORTED]
    yield from ((*told, True) for told in _sorts(lost))


def _sorts(claims: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str, str]]:
    told: Iterable[tuple[object, object, object]] = [(c.get("kind"), c.get("status"), c.get("rule")) for c in claims]
    with suppress(TypeError):  # a list stands where a text should
        told = dict.fromkeys(told)
    yield from ((_text(kind), _text(status), _text(rule)) for kind, status, rule in told)


def _refused(body: Mapping[str, Any]) -> Iterator[_Told]:
    for screening in _objects(body.get("screenings")):
        if screening.get("verdict") == "block":
            yield SCREEN, "block", _text(screening.get("rule")), False


def _took(body: Mapping[str, Any], reply: Mapping[str, Any]) -> float:
    """Milliseconds of a turn: as it says, else of its stages together."""
    said = _object(reply.get("timings_ms")).get("total")
    if isinstance(said, int | float) and said > 0:
        return float(said)
    return float(sum(ms for s in _objects(body.get("stages")) if isinstance(ms := s.get("ms"), int | float) and ms > 0))


def _kept(passage: Mapping[str, Any]) -> str:
    """The name that a decision on a passage is kept by, that of its words wherever they stand; older entries have the chunk's alone."""
    return _text(passage.get("quarantine")) or _text(passage.get("chunk_id"))


def _decided(passage: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(filter(None, (_text(passage.get("id")), _text(passage.get("chunk_id")))))


def _kept_out(body: Mapping[str, Any]) -> Iterator[_Told]:
    for passage in _objects(body.get("passages")):
        if rule := _text(passage.get("screened")):
            yield KEPT_OUT, "block", rule, False


def _unanswered(body: Mapping[str, Any], question: str) -> str:
    """What a turn was about that the documents do not answer: what was searched for, else the question. "" where it was answered, or asked back."""
    reply = _object(body.get("reply"))
    if reply.get("outcome") != Outcome.INSUFFICIENT.value or reply.get("clarification"):
        return ""
    return (_text(reply.get("query")).strip() or question.strip())[:TITLE_MAX]


def _said(entry: Entry) -> Iterator[Said]:
    body, turn = entry.body, _text(entry.body.get("entry_id"))
    if entry.kind == SAMPLE:
        named = body.get("entry_ids")
        for each in dict.fromkeys(map(_text, named) if isinstance(named, list) else ()):
            yield Said(each, SAMPLED, "yes")
        return
    if not turn:
        return
    if entry.kind == DELIVERY:
        why = _text(body.get("failed"))
        came = "delivered" if body.get("delivered") else f"failed {why}" if why else "handed over"
        yield Said(turn, ARRIVED, came if came != "handed over" or body.get("handed_over") else "recorded")
    elif entry.kind == FEEDBACK and _text(body.get("reaction")):
        yield Said(turn, FEEDBACK, _text(body.get("reaction")))
    elif entry.kind == REPORT:
        yield Said(turn, REFUSAL, REPORTED)
    elif entry.kind == DECISION and _text(body.get("decision")):
        yield Said(turn, REFUSAL, _text(body.get("decision")))
    elif entry.kind == VERDICT and _text(body.get("verdict")):
        yield Said(turn, VERDICT, _text(body.get("verdict")))


def _mark(actor: Mapping[str, Any]) -> str:
    """The mark of a session without a name ("review 921d6b52"), by which what it did is told from what others did."""
    by = _text(actor.get("authenticated_by"))
    return by.removeprefix(REVIEW_MARK) if by.startswith(REVIEW_MARK) else ""


def _free(entry: Entry) -> str:
    """All free text of an entry that is no turn."""
    try:
        stands = texts(entry.body, entry.kind)
    except UnknownFieldError:  # of a program newer than this one
        return ""
    return "\n".join(text for leaf in FREE for text in stands[leaf])


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _objects(value: object) -> list[Mapping[str, Any]]:
    # what was read from JSON is a dict: to ask for a Mapping, of which there are dozens in a turn, is ten times as slow
    return [m for m in value if type(m) is dict or isinstance(m, Mapping)] if isinstance(value, list | tuple) else []


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
