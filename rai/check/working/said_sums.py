"""Sums that an answer says in so many words: an amount that is paid in equal parts, and the total below a list of amounts.

What such a value has to be is said, so nothing else explains it: of the numbers of two pages some calculation comes to nearly anything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from rai.check.answer import Answer
from rai.check.context import Finding
from rai.check.operands import BARE_AMOUNT, amount_of, unit_of
from rai.claims.find import find_values
from rai.claims.found import Found
from rai.records import SUPPORTED

_CENT = Decimal("0.01")
_IN_SENTENCE = 160
"""Most characters between an amount and its parts."""
_IN_PARTS = re.compile(
    r"(?:[^\W\d_]+(?:['’][^\W\d_]+)?,? ){0,6}?(?:in|over|into|by|auf|en|em|w|na) (?:the )?\**(?:\d{1,3}|[^\W\d_]{3,12})\** (?:(?:equal|monthly|further|even|same|consecutive|interest-free|gleiche[nr]?|monatliche[nr]?|égales|iguales|mensuales|uguali|mensili|iguais|mensais|gelijke|maandelijkse|równych) ){0,2}"
    r"(?:instal+ments|payments|rates|raten|monatsraten|mensualités|versements|plazos|cuotas|mensualidades|rate|prestações|termijnen|rat|raty) (?:of|at|von|zu|je|de|da|van|po) \**(?:[^\d\s]{1,3} ?)?",
    re.IGNORECASE,
)
_LESS = re.compile(
    r"\b(?:less|minus|abzüglich|moins|menos|meno|verminderd met|odjąć)\s+(?:(?:the|a|an|your|our|her|his|their|die|den|der|la|le|el|il|o|de)\s+)?$",
    re.IGNORECASE,
)
_OFF = re.compile(
    r"\s+(?:(?:[^\W\d_]+\s+){0,2}?(?:off|reduction|discount|deduction|rebate|credit)\b|\w*(?:nachlass|rabatt|abzug)\b|de (?:remise|réduction|descuento|desconto)\b|di sconto\b|korting\b|zniżki\b)",
    re.IGNORECASE,
)
_ITEM = re.compile(r"\s*(?:[-*•+]|\d{1,2}[.)])\s")
_TOTAL = re.compile(
    r"\b(?:total|totals|altogether|together|both|in all|sum|insgesamt|zusammen|gesamt\w*|summe|au total|en tout|ensemble|en total|suma|totale|in tutto|no total|totaal|samen|razem|łącznie|suma)\b",
    re.IGNORECASE,
)
_FEWEST_LINES = 2
_COUNTS = ("number", "quantity", "percent")


@dataclass(frozen=True, slots=True)
class SaidSum:
    """What a value has to be by the answer's own words. `values`: the numbers of the values that give it; `amount`: what it comes to; `written`: how."""

    values: tuple[int, ...]
    amount: Decimal
    written: str


def said_sum(n: int, answer: Answer) -> SaidSum | None:
    """What the n-th value has to be where the answer says how it comes about; None where it does not."""
    if answer.values[n].kind != "money":
        return None
    return _one_of_equal_parts(n, answer) or _total_of_lines(n, answer)


def by_what_is_said(n: int, told: SaidSum, answer: Answer, findings: Mapping[int, Finding]) -> Finding | None:
    """`derived` where the n-th value is what the answer's words make it, else `absent` with what it should be; None while what gives it is undecided or not supported."""
    held = [findings.get(m) for m in told.values]
    if any(finding is None or finding.status not in SUPPORTED for finding in held):
        return None
    mine = amount_of(answer.values[n]) or Decimal(0)
    spans = tuple(dict.fromkeys(span for finding in held if finding for span in finding.evidence[:1]))
    if abs(told.amount - mine) < _CENT:
        formula = f"{told.written} = {answer.written(n)}"
        return Finding("derived", spans, formula, rule="written-formula", formula=formula)
    formula = f"{told.written} = {told.amount.quantize(_CENT)}".removesuffix(".00")
    return Finding("absent", spans, f"{formula}, not {answer.written(n)}.", rule="written-formula", formula=formula)


def _one_of_equal_parts(n: int, answer: Answer) -> SaidSum | None:
    """The amount before the value, divided: "the remaining $3,240 is paid in twelve equal instalments of $270"."""
    value = answer.values[n]
    near = sorted(m for m in answer.near(n, 0) if m < n)
    whole = next((m for m in reversed(near) if answer.values[m].kind == "money"), None)
    if whole is None or unit_of(answer.values[whole]) != unit_of(value):
        return None
    between = answer.text[answer.values[whole].end : value.start]
    counted = [m for m in near if m > whole and answer.values[m].kind in ("number", "quantity")]
    if (
        _AT_LEAST.match(between)
        or len(between) > _IN_SENTENCE
        or len(counted) != 1
        or not _IN_PARTS.fullmatch(between.lstrip(" *"))
    ):
        return None
    total, parts = amount_of(answer.values[whole]), amount_of(answer.values[counted[0]])
    if not total or not parts:
        return None
    return SaidSum((whole, counted[0]), total / parts, f"{answer.written(whole)} / {answer.written(counted[0])}")


_AT_LEAST = re.compile(
    r"\**,? ?(?:or (?:more|over|above)|and (?:more|over|up)|oder (?:mehr|darüber)|ou plus|o (?:más|più)|ou mais|of meer|lub więcej)\b",
    re.IGNORECASE,
)
"""Behind an amount from which something holds: it is not what is paid in parts."""


def _total_of_lines(n: int, answer: Answer) -> SaidSum | None:
    """The total right below a list whose lines have an amount each, of which some is taken off again perhaps: "$525, less the $40 reduction"; or right above one.

    What stands above a list may be the total of something else, so a sum that does not come to it says nothing.
    """
    value, text = answer.values[n], answer.text
    start = text.rfind("\n", 0, value.start) + 1
    end = text.find("\n", value.end)
    if _TOTAL.search(text[start : value.start]) and (below := _sum_of(_lines_above(text, start), value, answer)):
        return below
    if end < 0 or not _TOTAL.search(text[start:end]) or not _LEADS_IN.search(text[value.end : end]):
        return None
    told = _sum_of(_lines_below(text, end), value, answer)
    return told if told is not None and told.amount == amount_of(value) else None


_LEADS_IN = re.compile(r":\**\s*$")
"""The end of a line above a list."""


def _sum_of(lines: Sequence[tuple[int, int]], total: Found, answer: Answer) -> SaidSum | None:
    """What the amounts of lines come to, in the order of the text; None where it is not said which of them count, or fewer lines than two have one."""
    taken: list[tuple[int, Decimal]] = []
    for begin, end in sorted(lines):
        every = [m for m, v in enumerate(answer.values) if begin <= v.start < end]
        result = _result_of(every, answer)
        inside = [result] if result is not None else [m for m in every if _is_amount(m, answer)]
        signed = _signed(inside, answer)
        of_another = (answer.values[m] for m in inside if answer.values[m].kind == "money")
        if signed is None or any(unit_of(v) != unit_of(total) for v in of_another):
            return None
        each = any(answer.values[m].per for m in inside) or any(answer.values[m].kind in _COUNTS for m in every)
        if each and result is None and any(m not in inside for m in every):
            return None  # three at £25 each
        taken += signed
    if len(lines) < _FEWEST_LINES:
        return None
    written = "".join(f"{' + ' if amount > 0 else ' - '}{answer.written(m)}" for m, amount in taken)
    return SaidSum(tuple(m for m, _ in taken), sum((a for _, a in taken), Decimal(0)), written.removeprefix(" + "))


def _result_of(inside: Sequence[int], answer: Answer) -> int | None:
    """Of the values of a line the amount behind its last "=", if it has one: 206,50 of "7 × 29,50 = 206,50"."""
    behind = [
        m for m in inside if _EQUALS.search(answer.text[: answer.values[m].start]) is not None and _is_amount(m, answer)
    ]
    return behind[-1] if behind else None


_EQUALS = re.compile(r"= ?\**(?:[^\d\s]{1,3} ?)?$")


def _is_amount(m: int, answer: Answer) -> bool:
    """True of an amount of money, and of a bare number with cents."""
    return answer.values[m].kind == "money" or is_bare_amount(m, answer)


def is_bare_amount(m: int, answer: Answer) -> bool:
    """True of a bare number with two decimals: beside amounts it is one."""
    return answer.values[m].kind == "number" and BARE_AMOUNT.fullmatch(answer.written(m)) is not None


def _lines_below(text: str, end: int) -> list[tuple[int, int]]:
    """The lines of the list that begins right below the line that ends at `end`."""
    found: list[tuple[int, int]] = []
    for match in _LINE.finditer(text, end):
        if match[0].strip() == "":
            if found:
                break
        elif _ITEM.match(match[0]):
            found.append(match.span())
        else:
            break
    return found


_LINE = re.compile(r"(?<=\n)[^\n]*")


def _lines_above(text: str, start: int) -> list[tuple[int, int]]:
    """The lines of the list that ends right above `start`, the nearest first."""
    found: list[tuple[int, int]] = []
    end = start - 1
    while end > 0:
        begin = text.rfind("\n", 0, end) + 1
        line = text[begin:end]
        if not _ITEM.match(line):
            if line.strip() or found:
                break
        else:
            found.append((begin, end))
        end = begin - 1
    return found


def _signed(inside: Sequence[int], answer: Answer) -> list[tuple[int, Decimal]] | None:
    """The amounts of a line with their sign; None where more than one would be added: which of them counts is not said."""
    out: list[tuple[int, Decimal]] = []
    for m in inside:
        amount = amount_of(answer.values[m])
        if amount is None:
            return None
        out.append((m, -amount if is_taken_off(m, answer) else amount))
    return out if sum(amount > 0 for _, amount in out) == 1 else None


def is_taken_off(m: int, answer: Answer) -> bool:
    """True of a value that the answer takes off: "less the $40", "$40 off"."""
    text, value = answer.text, answer.values[m]
    return bool(_LESS.search(text, max(0, value.start - 24), value.start) or _OFF.match(text, value.end))


def times_the_rival(n: int, answer: Answer, finding: Finding) -> Finding | None:
    """`derived` for an amount that is condemned beside another of its row and is so many times that, as its clause says: "three pairs of shoes (12.00 €)" at 4.00 € a pair."""
    value = answer.values[n]
    mine = amount_of(value)
    other = (
        next((f for f in find_values(finding.instead.text) if f.kind in ("money", "number")), None)
        if finding.instead
        else None
    )
    theirs = amount_of(other) if other else None
    if value.kind != "money" or finding.instead is None or not mine or not theirs or mine % theirs:
        return None
    times = mine / theirs
    for m in answer.near(n, 0):
        counted = answer.values[m]
        if 0 < value.start - counted.end <= _CLAUSE and counted.kind == "number" and amount_of(counted) == times > 1:
            formula = f"{answer.written(m)} × {finding.instead.text} = {answer.written(n)}"
            return Finding("derived", (finding.instead,), formula, rule="worked-out", formula=formula)
    return None


_CLAUSE = 60
"""Most characters between a count and what so many come to."""
