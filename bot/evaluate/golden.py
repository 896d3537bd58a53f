"""Whole turns against what a person expects of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.commands import fields
from bot.commands.forms import history
from bot.evaluate import metrics
from bot.evaluate.bench import Bench, Row, SetResult, SuiteResult, WrongRow
from bot.records import Ask, Reply
from grounding.errors import InputError
from grounding.text import caseless
from rai.records import Outcome

OUTCOMES = tuple(outcome.value for outcome in Outcome)


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


async def golden(bench: Bench, path: Path) -> SuiteResult:
    """Share of rows that are right in everything, and in outcome, citation, `must` and `must_not`; per split."""
    judged = [await _judge_row(bench, path, row) for row in bench.track("golden", bench.rows(path))]
    splits = sorted({row.split for row in judged})
    sets = [_measure(split, [row for row in judged if row.split == split]) for split in splits]
    wrong = tuple(WrongRow(row.id, row.split, row.got, row.why) for row in judged if not row.right)
    return SuiteResult("golden", tuple(sets), wrong)


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


async def _judge_row(bench: Bench, path: Path, row: Row) -> Judgement:
    try:
        turns = history(row)
        asked = Ask(
            question=turns[-1].text,
            history=turns[:-1],
            context=fields.optional_text(row, "context"),
            product=fields.optional_text(row, "product"),
            user=fields.optional_text(row, "as"),
            policy=bench.system.settings.policy,
            channel="eval",
        )
        expect, split = expectation(row), fields.optional_text(row, "split") or "all"
    except InputError as error:
        raise InputError(f"{path}, row {row['id']}: {error}", code=error.code) from None
    return judge(str(row["id"]), split, expect, await bench.system.answer(asked, None))


def _measure(name: str, rows: Sequence[Judgement]) -> SetResult:
    def over(part: str) -> float | None:
        return metrics.share([met for row in rows if (met := getattr(row, part)) is not None])

    measured = metrics.defined(
        right=metrics.share([row.right for row in rows]),
        outcome=over("outcome"),
        cite=over("cite"),
        must=over("must"),
        must_not=over("must_not"),
    )
    return SetResult(name, len(rows), measured)
