"""The suite `golden`: whole turns against expected outcome, citations and texts of the answer, per policy and split."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.evaluate import answerability
from bot.evaluate.bench import Bench
from bot.evaluate.compare import over_first
from bot.evaluate.hits import K, documents, hits_of, sought_of, titles_of
from bot.evaluate.questions import Question, Where
from bot.evaluate.results import SetResult, SuiteResult, WrongRow
from bot.evaluate.rows import Row, RowErrors, tags_of
from bot.evaluate.statistics import metrics
from bot.records import Ask, Reply
from bot.rows import fields
from bot.rows.forms import access_of, history
from bot.system import System
from bot.view.reply import DELIVERED
from grounding.errors import InputError
from grounding.policy import DEFAULT_POLICY
from grounding.records import Action, Passage, Query, Turn
from grounding.text import caseless
from rai.records import Outcome

OUTCOMES = tuple(outcome.value for outcome in Outcome)
PARTS = ("outcome", "cite", "must", "must_not")
COSTS = ("evidence_recall", "corrected", "model_calls", "model_tokens")


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a row expects: any of `outcomes`; any of `cite` among the citations; every `must`, no `must_not`."""

    outcomes: tuple[str, ...]
    cite: tuple[str, ...]
    must: tuple[str, ...]
    must_not: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Judgement:
    """How a reply met each expectation; None where the row expects nothing of the kind."""

    id: str
    split: str
    got: str
    outcome: bool
    cite: bool | None
    must: bool | None
    must_not: bool | None
    why: tuple[str, ...]

    @property
    def right(self) -> bool:
        return not self.why


@dataclass(frozen=True, slots=True)
class _Turn:
    """A row that was asked: what it expects, the reply, and how they meet; `made` and `found` where they are to be read."""

    row: Row
    said: tuple[Turn, ...]
    made: Query
    found: tuple[Passage, ...]
    expect: Expectation
    reply: Reply
    judged: Judgement
    evidence: tuple[str, ...]

    @property
    def costs(self) -> dict[str, float]:
        """What the turn did beside answering, as figures of one question."""
        usage, wanted = self.reply.record.usage, set(self.expect.cite)
        held = {"evidence_recall": float(not wanted.isdisjoint(self.evidence))} if wanted else {}
        action = self.reply.record.found.first.action if self.reply.record.found.first else None
        corrected = {"corrected": float(action is not Action.CORRECT)} if action else {}
        tokens = sum(int(usage.get(name, 0)) for name in ("prompt_tokens", "completion_tokens"))
        return held | corrected | {"model_calls": float(usage.get("calls", 0)), "model_tokens": float(tokens)}


async def golden(bench: Bench, path: Path) -> SuiteResult:
    """Share of rows that are right in everything, and in outcome, citation, `must` and `must_not`; per policy and split.

    Also how often an answer was given though none was expected and the other way round, how often the evidence held a document
    that was to be cited, how often passages were not enough, and calls of a chat model with their tokens, means of a turn.
    """
    policies = bench.policies or (bench.system.settings.answering.policy,)
    rows, sets, wrong = bench.rows(path), list[SetResult](), list[WrongRow]()
    titles = await titles_of(bench.system)
    for policy in policies:
        name = "golden" if len(policies) == 1 else policy
        turns = [await _asked(bench, path, row, policy) for row in bench.track(name, rows)]
        for split in sorted({turn.judged.split for turn in turns}):
            label = split if len(policies) == 1 else f"{policy}:{split}"
            sets.append(_measure(label, [t for t in turns if t.judged.split == split], titles, policy))
        wrong += [
            WrongRow(
                t.judged.id,
                t.judged.split if len(policies) == 1 else f"{policy}:{t.judged.split}",
                t.judged.got,
                t.judged.why,
            )
            for t in turns
            if t.judged.why
        ]
    return SuiteResult("golden", tuple(over_first(sets)), tuple(wrong))


def ask_of(row: Row, *, policy: str = DEFAULT_POLICY, channel: str = "eval") -> Ask:
    """The turn of a golden row: the last of its `history` is the question. Raises InputError that names the field."""
    turns = history(row)
    return Ask(
        question=turns[-1].text,
        history=turns[:-1],
        context=fields.optional_text(row, "context"),
        product=fields.optional_text(row, "product"),
        user=fields.optional_text(row, "as"),
        policy=policy,
        channel=channel,
    )


def expectation(row: Row) -> Expectation:
    """The field `expect`. Raises InputError."""
    expect = row.get("expect")
    if not isinstance(expect, dict):
        raise fields.wrong("expect", "an object", expect)
    outcome = expect.get("outcome")
    outcomes = (outcome,) if isinstance(outcome, str) else fields.texts(expect, "outcome")
    unknown = [name for name in outcomes if name not in OUTCOMES]
    if unknown:
        raise InputError(f"field 'expect.outcome' is {unknown[0]!r}; allowed: {', '.join(OUTCOMES)}")
    return Expectation(
        outcomes, fields.texts(expect, "cite"), fields.texts(expect, "must"), fields.texts(expect, "must_not")
    )


def judge(row_id: str, split: str, expect: Expectation, reply: Reply) -> Judgement:
    """Compare a reply with what was expected. Texts are compared without case, accents and kinds of dash."""
    got = reply.outcome.value
    said = caseless(reply.answer)
    cited = {citation.doc_id for citation in reply.citations}
    missing = [text for text in expect.must if caseless(text) not in said]
    forbidden = [text for text in expect.must_not if caseless(text) in said]
    outcome_ok = not expect.outcomes or got in expect.outcomes
    cite_ok = not cited.isdisjoint(expect.cite) if expect.cite else None
    why = [] if outcome_ok else [f"outcome {got}, expected {' or '.join(expect.outcomes)}"]
    if cite_ok is False:
        why.append(f"cites {', '.join(sorted(cited)) or 'nothing'}, expected {' or '.join(expect.cite)}")
    why += [f"does not say {text!r}" for text in missing] + [f"says {text!r}" for text in forbidden]
    return Judgement(
        id=row_id,
        split=split,
        got=got,
        outcome=outcome_ok,
        cite=cite_ok,
        must=not missing if expect.must else None,
        must_not=not forbidden if expect.must_not else None,
        why=tuple(why),
    )


async def _asked(bench: Bench, path: Path, row: Row, policy: str) -> _Turn:
    with RowErrors(path, row):
        turns, asked = history(row), ask_of(row, policy=policy)
        expect, split = expectation(row), fields.optional_text(row, "split") or "all"
        tags_of(row)
    reply = await bench.system.answer(asked, None)
    made, found = (
        await _looked_up(bench.system, turns, asked, reply) if bench.details else (Query(reply.record.query.text), ())
    )
    judged = judge(str(row["id"]), split, expect, reply)
    return _Turn(row, turns, made, found, expect, reply, judged, await _evidence_of(bench.system, reply))


async def _evidence_of(system: System, reply: Reply) -> tuple[str, ...]:
    """Documents of the turn's evidence, as the ledger has them: a reply tells only those that were cited."""
    entry = await system.ledger.get(reply.entry_id) if reply.entry_id else None
    return tuple(str(item.get("doc_id")) for item in (entry.body.get("evidence") or ())) if entry else ()


async def _looked_up(
    system: System, turns: tuple[Turn, ...], asked: Ask, reply: Reply
) -> tuple[Query, tuple[Passage, ...]]:
    """How the query of the turn was made, and what it finds: the reply holds only its words and what was cited."""
    if not reply.record.query.text:
        return Query(""), ()
    access = await access_of(system, asked.user, asked.product)
    made = await system.queries.build(turns, access)
    query = made if made.text == reply.record.query.text else Query(reply.record.query.text)
    return query, (await system.retriever.retrieve(query, access, K)).passages


def _measure(name: str, turns: Sequence[_Turn], titles: Mapping[str, str], policy: str) -> SetResult:
    questions = tuple(_question(turn, titles) for turn in turns)
    rows = [turn.judged for turn in turns]

    def over(part: str) -> float | None:
        return metrics.share([met for row in rows if (met := getattr(row, part)) is not None])

    costs = [turn.costs for turn in turns]
    told = {name: metrics.mean([c[name] for c in costs if name in c]) for name in COSTS}
    shares = {part: over(part) for part in PARTS}
    measured = metrics.defined(right=metrics.share([row.right for row in rows]), **shares, **told)
    return SetResult(
        name,
        len(rows),
        measured | answerability.measures(questions),
        questions,
        notes=_notes(name, questions, titles),
        system=policy,
    )


def _question(turn: _Turn, titles: Mapping[str, str]) -> Question:
    row, reply, judged = turn.row, turn.reply, turn.judged
    met = {"right": judged.right} | {part: getattr(judged, part) for part in PARTS}
    cited = list(dict.fromkeys(citation.doc_id for citation in reply.citations))
    ranked = documents(turn.found)
    return Question(
        id=judged.id,
        turns=turn.said,
        query=turn.made,
        metrics={name: float(value) for name, value in met.items() if value is not None},
        tags=tags_of(row),
        sought=sought_of(turn.expect.cite, ranked, titles, cited=cited),
        hits=hits_of(turn.found, turn.expect.cite, {g.chunk_id: g.score for g in reply.record.found.grades}, cited),
        kind=" or ".join(turn.expect.outcomes) or None,
        where=_where(turn.expect),
        action=judged.got,
        answered=None if judged.got == Outcome.FAILED else judged.got in DELIVERED,
        answer=reply.answer,
        why=judged.why,
    )


def _where(expect: Expectation) -> Where | None:
    """Present if only an answer will do, absent if `insufficient` will and an answer will not."""
    if expect.outcomes and DELIVERED.issuperset(expect.outcomes):
        return "present"
    return "absent" if Outcome.INSUFFICIENT in expect.outcomes and DELIVERED.isdisjoint(expect.outcomes) else None


def _notes(name: str, questions: Sequence[Question], titles: Mapping[str, str]) -> tuple[str, ...]:
    """A row whose every `cite` is unknown can never be right."""
    never = [q for q in questions if q.sought and not any(s.known for s in q.sought)]
    if not titles:
        return (f"{name}: the knowledge base is empty; fill it with `attest ingest` first",)
    if not never:
        return ()
    first = ", ".join(dict.fromkeys(s.doc_id for q in never[:5] for s in q.sought))
    return (
        f"{name}: {len(never)} of {len(questions)} rows cite only doc_ids that are not in the knowledge base: {first}",
    )
