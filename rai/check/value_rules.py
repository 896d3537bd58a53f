"""The check of an answer's values and names against its sources: rules in order, and the first that decides a value has the last word.

1. Each value by itself, in the steps of `ALONE`: what stands in a source is right unless something speaks against it (`rules.places`), for that
   words are missing is no evidence; what the person said is theirs (`rules.given`).
2. What follows from other values is worked out (`working`).
3. What is left no source holds (`rules.missing`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import NamedTuple, ParamSpec

from grounding.errors import kind_and_place
from rai.check.answer import Answer
from rai.check.context import Finding, standing
from rai.check.names.entities import is_loose, match_loose
from rai.check.reading.readings import is_age, readings
from rai.check.reading.sources import Place
from rai.check.rules.closed_day import closed_day
from rai.check.rules.country import of_another_country
from rai.check.rules.edition import of_a_replaced_edition
from rai.check.rules.given import said_by_the_person
from rai.check.rules.hours import hours_apart, of_these_hours
from rai.check.rules.missing import another_rate, missing, open_date
from rai.check.rules.name_rules import named, numbered_name
from rai.check.rules.place_rules import currency_of_the_page, placed, weekday_of, year_of_the_page
from rai.check.rules.rounding import rounded
from rai.check.rules.verbatim import code_of, verbatim
from rai.check.working.beyond_chance import likely_worked_out
from rai.check.working.consistency import hold_one_another
from rai.check.working.derivation import is_told, may_follow, worked_out
from rai.check.working.operand_candidates import REACH
from rai.check.working.remainder import wrong_remainder
from rai.check.working.said_sums import is_bare_amount
from rai.claims.found import Found
from rai.records import SUPPORTED, Claim, Kind

MOST_WORKED_OUT = 40
"""Most values of one answer that are tried as worked out; no answer that a person is to read has more."""
ROUNDS = 5
"""Most rounds in which values are tried again that may follow from those of the round before."""


P = ParamSpec("P")
FAILED = "Not decided: a rule of the check failed on it."
"""The reason given for a claim whose rule raised, which is `unchecked`: one rule less, never a lost answer."""


@dataclass(slots=True)
class Checked:
    """An answer with the findings of its values so far, by their number. `failed`: the exceptions of rules that raised (`grounding.errors.kind_and_place`)."""

    answer: Answer
    claims: Mapping[int, Claim]
    findings: dict[int, Finding] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)


def check_values(
    answer: Answer, claims: Mapping[int, Claim], only: tuple[int, int] | None = None, *, names: bool = True
) -> Checked:
    """A finding for each value of `answer`. `claims`: the claim of each, by its number. A value whose rule raises is `unchecked`.

    `only`: characters of which alone the values are judged, by what their places say; nothing is worked out then. `names`: False if nobody
    asks about names, codes and addresses.
    """
    checked = Checked(answer, claims)
    for n, value in enumerate(answer.values):
        outside = only is not None and not (value.start < only[1] and only[0] < value.end)
        if outside or (not names and claims[n].kind == "entity"):
            checked.findings[n] = _NOT_ASKED
            continue
        finding = _guarded(checked, _first, n, value, checked)
        if finding is not None:
            checked.findings[n] = finding
    if only is None:
        _work_out(checked)
    left = [n for n in range(len(answer.values)) if n not in checked.findings]
    for at, n in enumerate(left):
        told = _guarded(checked, wrong_remainder, n, answer, checked.findings)
        tried = only is None and at < MOST_WORKED_OUT
        doubt = _guarded(checked, may_follow, n, answer, checked.findings) if tried else None
        found = told or doubt or _guarded(checked, missing, n, claims[n], answer)
        checked.findings[n] = found or Finding("unchecked", (), FAILED, rule="failed")
    if only is None:
        _doubt(left, checked)
    return checked


def _doubt(left: Sequence[int], checked: Checked) -> None:
    """Leaves open what no source holds but a calculation gives that gives little else; then what follows from that. Where the rule fails, what was absent stays so."""
    for _ in range(ROUNDS):
        absent = [n for n in left if checked.findings[n].rule == "no-source"]
        found = {
            n: finding
            for n in absent[:MOST_WORKED_OUT]
            if (finding := _guarded(checked, likely_worked_out, n, checked.answer, checked.findings)) is not None
            and finding.rule != "failed"
        }
        found = found or _held_together(absent, checked)
        if not found:
            return
        checked.findings.update(found)


def _held_together(absent: Sequence[int], checked: Checked) -> dict[int, Finding]:
    """As `hold_one_another`; nothing where it raises."""
    try:
        return hold_one_another(absent, checked.answer, checked.findings)
    except Exception as error:  # noqa: BLE001 - as in `_guarded`
        checked.failed.append(kind_and_place(error))
        return {}


_NOT_ASKED = Finding("unchecked", (), "Not asked about.")


def _guarded(checked: Checked, rule: Callable[P, Finding | None], *args: P.args, **kwargs: P.kwargs) -> Finding | None:
    """What `rule` says; a finding of its own if it raises."""
    try:
        return rule(*args, **kwargs)
    except Exception as error:  # noqa: BLE001 - one rule less, never a lost answer
        checked.failed.append(kind_and_place(error))
        return Finding("unchecked", (), FAILED, rule="failed")


@dataclass(frozen=True, slots=True)
class Judged:
    """One value that is judged: its number `n`, its claim, the value as found, and in each of its readings."""

    n: int
    claim: Claim
    value: Found
    readings: tuple[Found, ...]
    answer: Answer


class Step(NamedTuple):
    """One step of the check of a value. `decide` gives its finding, None if the next step may. `rules`: those of `catalogue.RULES` that it can name."""

    decide: Callable[[Judged], Finding | None]
    rules: frozenset[str]


def _first(n: int, value: Found, checked: Checked) -> Finding | None:
    """The finding of the first of `ALONE` that decides a value; None if none does."""
    answer = checked.answer
    judged = Judged(n, checked.claims[n], value, tuple(readings(value, answer.text)), answer)
    decided = next((finding for step in ALONE if (finding := step.decide(judged)) is not None), None)
    if decided and decided.status == "wrong_role" and is_bare_amount(n, answer) and not _with_cents(decided):
        return None  # 12,00 is no 12 in another's place
    return decided and (of_a_replaced_edition(n, judged.claim, value, decided, answer) or decided)


def _with_cents(finding: Finding) -> bool:
    """True if a place that a finding rests on writes an amount with its cents."""
    return any("." in span.text or "," in span.text for span in finding.evidence)


def _name(judged: Judged) -> Finding | None:
    claim = judged.claim
    return named(judged.n, claim, judged.answer) if claim.kind == "entity" and claim.entity != "address" else None


def _token(judged: Judged) -> Finding | None:
    if not is_loose(judged.value):
        return None
    return replace(match_loose(judged.claim, judged.answer.context), rule="token")


def _relative_day(judged: Judged) -> Finding | None:
    value, context = judged.value, judged.answer.context
    if not value.value.startswith("relative:") or any(p.found.kind != "date" for p in standing(value, context.sources)):
        return None
    return replace(open_date(judged.claim, value, judged.answer.around[value], context), rule="relative-day")


def _weekday(judged: Judged) -> Finding | None:
    return weekday_of(judged.n, judged.claim, judged.answer)


def _name_number(judged: Judged) -> Finding | None:
    return numbered_name(judged.claim, judged.answer)


def _code(judged: Judged) -> Finding | None:
    span = code_of(judged.claim, judged.answer)
    return None if span is None else Finding("exact", (span,), f"The end of {span.text} in {span.source}.", rule="code")


def _age(judged: Judged) -> Finding | None:
    """The finding of an age, which is the person's before it is a source's: of "my son is 7" no line on children of 7 says more."""
    return _said(judged, "number") if is_age(judged.value, judged.answer.text) else None


def _stands(judged: Judged) -> Finding | None:
    """The finding of the first reading that stands somewhere in the sources; None if none does."""
    answer = judged.answer
    for reading in judged.readings:
        if places := (
            (answer.standing(judged.n) if reading is judged.value else standing(reading, answer.context.sources))
            or currency_of_the_page(reading, answer.context)
            or year_of_the_page(reading, answer.context)
        ):
            return _standing(judged, reading, places)
    return None


def _standing(judged: Judged, reading: Found, places: Sequence[Place]) -> Finding:
    """The finding of a value that stands in a source; what the person said themselves no bound of a source turns round."""
    n, claim, answer = judged.n, judged.claim, judged.answer
    together = of_these_hours(n, places, answer)
    finding = closed_day(n, claim, reading, places, answer) or placed(n, claim, reading, places, answer)
    if finding.status in SUPPORTED:  # no table of its own says otherwise
        finding = of_another_country(n, claim, reading, together or places, answer) or finding
    if finding.status in SUPPORTED and together is not None:
        theirs = placed(n, claim, reading, together, answer) if together else None
        stands = theirs is not None and theirs.status in SUPPORTED
        finding = theirs if theirs is not None and stands else hours_apart(n, claim, finding, answer)
    if finding.rule != "bound":
        return finding
    asked = said_by_the_person(claim, reading, answer.around[judged.value], answer.context)
    return asked if asked is not None and asked.status == "given" else finding


def _verbatim(judged: Judged) -> Finding | None:
    """The finding of a value whose characters a source has, or that dials what it has within its country."""
    claim, spans = judged.claim, verbatim(judged.claim, judged.value, judged.answer)
    if not spans:
        return None
    if claim.text.strip("()") in spans[0].text:
        return Finding("exact", spans, f"Stands in the same characters in {spans[0].source}.", rule="verbatim")
    return Finding("normalised", spans, f"{spans[0].source} writes it as {spans[0].text}.", rule="verbatim")


def _address(judged: Judged) -> Finding | None:
    return named(judged.n, judged.claim, judged.answer) if judged.claim.kind == "entity" else None


def _asked(judged: Judged) -> Finding | None:
    return _said(judged)


def _said(judged: Judged, kind: Kind | None = None) -> Finding | None:
    around, context = judged.answer.around[judged.value], judged.answer.context
    said = (
        said_by_the_person(judged.claim, r, around, context) for r in judged.readings if kind is None or r.kind == kind
    )
    return next((finding for finding in said if finding), None)


def _rounded(judged: Judged) -> Finding | None:
    finding = rounded(judged.claim, judged.value, judged.answer.around[judged.value], judged.answer.context)
    return replace(finding, rule="rounded") if finding else None


def _rate(judged: Judged) -> Finding | None:
    return another_rate(judged.claim, judged.value, judged.answer.around[judged.value], judged.answer.context)


_NAMES = frozenset("name name-role name-spelling name-sibling list-item holiday no-name name-alone".split())
_PERSON = frozenset({"context", "question-rival", "question"})
_PLACES = frozenset(
    "closed-day country hours-apart verbatim bound cell-row cell-column day-line section list-item list-number band close-wording owner sources-disagree words-nearer part-row words-of-another "
    "too-many unused exchanged another-named other-row other-column other-card held held-beside".split()
)

ALONE: tuple[Step, ...] = (
    Step(_name, _NAMES),
    Step(_token, frozenset({"token"})),
    Step(_relative_day, frozenset({"relative-day"})),
    Step(_weekday, frozenset({"weekday"})),
    Step(_name_number, frozenset({"name-number"})),
    Step(_code, frozenset({"code"})),
    Step(_age, _PERSON),
    Step(_stands, _PLACES | _PERSON),
    Step(_verbatim, frozenset({"verbatim"})),
    Step(_address, _NAMES),
    Step(_asked, _PERSON),
    Step(_rounded, frozenset({"rounded"})),
    Step(_rate, frozenset({"rate"})),
)
"""The steps that are tried for each value, in this order. What none of them decides may follow from other values (`_work_out`); what is left
no source holds (`missing`)."""


def _work_out(checked: Checked) -> None:
    """Finds values that follow from supported ones, round by round; values in another's place too, if the answer says that it reckons them."""
    fresh: Collection[int] | None = None
    for _ in range(ROUNDS):
        left = (
            n for n in range(len(checked.answer.values)) if _is_open(n, checked) and _has_news(n, fresh, checked.answer)
        )
        open_ = islice(left, MOST_WORKED_OUT)
        found = {n: finding for n in open_ if (finding := worked_out(n, checked.answer, checked.findings)) is not None}
        if not found:
            return
        checked.findings.update(found)
        fresh = found


def _has_news(n: int, fresh: Collection[int] | None, answer: Answer) -> bool:
    """True if a value that may be reckoned with has been decided since the n-th was tried; None: nothing was tried yet."""
    near = answer.near(n, REACH)
    return fresh is None or any(m in near for m in fresh)


def _is_open(n: int, checked: Checked) -> bool:
    finding = checked.findings.get(n)
    if checked.claims[n].kind not in ("number", "quantity", "money", "percent", "date", "time"):
        return False
    if finding is None:
        return True
    return finding.status == "wrong_role" and finding.rule != "quoted-otherwise" and is_told(n, checked.answer)
