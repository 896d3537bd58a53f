"""The values and names of an answer against its sources: rules in order, the first that decides a value has the last word.

1. What stands in a source is right unless something speaks against it (`rules.places`): that words are missing is no evidence.
2. What the person said is theirs (`rules.said`), what follows from values that are bound to it is worked out (`working`).
3. What is left no source holds (`rules.missing`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import ParamSpec

from grounding.mishap import kind_and_place
from rai.check.answer import Answer
from rai.check.reading.readings import is_age, readings
from rai.check.rules.missing import another_rate, missing, open_date
from rai.check.rules.names import named, numbered_name
from rai.check.rules.places import currency_of_the_page, placed, weekday_of, year_of_the_page
from rai.check.rules.said import said_by_the_person
from rai.check.rules.shut import shut_then
from rai.check.rules.verbatim import verbatim
from rai.check.working.bound import REACH
from rai.check.working.find import is_told, may_follow, worked_out
from rai.check.working.remainder import wrong_remainder
from rai.claims.found import Found
from rai.records import Claim, EvidenceSpan
from rai.support.entities import is_loose, match_loose
from rai.support.rounding import rounded
from rai.support.setting import Finding, standing
from rai.support.sources import Place

MOST_WORKED_OUT = 40
"""Values of one answer that are tried as worked out; one of more is none that a person is to read."""
ROUNDS = 5
"""How often values are tried again that follow from others which follow from others."""


P = ParamSpec("P")
FAILED = "Not decided: a rule of the check failed on it."
"""Why a claim is `unchecked` whose rule raised: one rule less, never a lost answer."""


@dataclass(slots=True)
class Checked:
    """An answer and the findings of its values so far, by their number. `failed`: the rules that raised (`grounding.mishap`)."""

    answer: Answer
    claims: Mapping[int, Claim]
    findings: dict[int, Finding] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)


def check_values(answer: Answer, claims: Mapping[int, Claim], only: tuple[int, int] | None = None) -> Checked:
    """A finding for each value of `answer`. `claims`: the claim of each, by its number. A value whose rule raises is `unchecked`.

    `only`: characters of which alone the values are judged, by what their places say; nothing is worked out then.
    """
    checked = Checked(answer, claims)
    for n, value in enumerate(answer.values):
        if only is not None and not (value.start < only[1] and only[0] < value.end):
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
    return checked


_NOT_ASKED = Finding("unchecked", (), "Not asked about.")


def _guarded(checked: Checked, rule: Callable[P, Finding | None], *args: P.args, **kwargs: P.kwargs) -> Finding | None:
    """What `rule` says; a finding of its own if it raises."""
    try:
        return rule(*args, **kwargs)
    except Exception as error:  # noqa: BLE001 - one rule less, never a lost answer
        checked.failed.append(kind_and_place(error))
        return Finding("unchecked", (), FAILED, rule="failed")


def _first(n: int, value: Found, checked: Checked) -> Finding | None:
    """What can be said of a value without the others."""
    answer, claim = checked.answer, checked.claims[n]
    setting = answer.setting
    if claim.kind == "entity" and claim.entity != "address":
        return named(n, claim, answer)
    if is_loose(value):
        return replace(match_loose(claim, setting), rule="token")
    if value.value.startswith("relative:") and all(p.found.kind == "date" for p in standing(value, setting.sources)):
        return replace(open_date(claim, value, answer.around[value], setting), rule="relative-day")
    return weekday_of(n, claim, answer) or numbered_name(claim, answer) or _held(n, claim, value, answer)


def _held(n: int, claim: Claim, value: Found, answer: Answer) -> Finding | None:
    """What a source or the person says of a value, in any reading of its characters."""
    around, setting = answer.around[value], answer.setting
    every = readings(value, answer.text)
    if is_age(value, answer.text):
        for reading in every:
            if reading.kind == "number" and (finding := said_by_the_person(claim, reading, around, setting)):
                return finding
    for reading in every:
        if places := (
            (answer.standing(n) if reading is value else standing(reading, setting.sources))
            or currency_of_the_page(reading, setting)
            or year_of_the_page(reading, setting)
        ):
            return _standing(n, claim, reading, places, answer)
    if spans := verbatim(claim, value, answer):
        return _as_characters(claim, spans)
    if claim.kind == "entity":
        return named(n, claim, answer)
    for reading in every:
        if finding := said_by_the_person(claim, reading, around, setting):
            return finding
    finding = rounded(claim, value, around, setting)
    return replace(finding, rule="rounded") if finding else another_rate(claim, value, around, setting)


def _as_characters(claim: Claim, spans: tuple[EvidenceSpan, ...]) -> Finding:
    """Of a value whose characters a source has, or that dials what it has within its country."""
    if claim.text.strip("()") in spans[0].text:
        return Finding("exact", spans, f"Stands in the same characters in {spans[0].source}.", rule="verbatim")
    return Finding("normalised", spans, f"{spans[0].source} writes it as {spans[0].text}.", rule="verbatim")


def _standing(n: int, claim: Claim, reading: Found, places: Sequence[Place], answer: Answer) -> Finding:
    """Of a value that stands in a source; what the person said themselves no bound of a source turns round."""
    finding = shut_then(n, claim, reading, places, answer) or placed(n, claim, reading, places, answer)
    if finding.rule != "bound":
        return finding
    asked = said_by_the_person(claim, reading, answer.around[answer.values[n]], answer.setting)
    return asked if asked is not None and asked.status == "given" else finding


def _work_out(checked: Checked) -> None:
    """Values that follow from values that are held; those again serve the next. Also those that stand for something else, if the text says so."""
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
