"""Derived values: what an answer worked out of values of the sources, and says that it did.

Each operation has its own words ("in total", "cheaper", "per cent", "a year"), which must stand by the value; its
operands are of one unit and are told apart by the answer's own words, so that few results are possible: a sum of any
numbers of a text would hold for every third number. The result must be exact, of money to the cent, of percentages and
averages to the digits written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, localcontext
from itertools import permutations

from rai.claims.found import Found
from rai.claims.numerals import canonical
from rai.records import Claim
from rai.support.amounts import number_of, spot_of
from rai.support.elapsed import worked_out_date, worked_out_span
from rai.support.operands import (
    CLOSEST,
    Desk,
    Operand,
    asked,
    evidence,
    groups,
    in_role_of,
    in_sources,
    passages,
    said_here,
)
from rai.support.rates import products
from rai.support.setting import Around, Finding, Setting
from rai.support.tally import tallied
from rai.support.words import role_terms

_NEAR = 60
_TOLD = 200
_SUM = re.compile(
    r"\b(?:total(?:s|l?ing)?|sum|altogether|together|in all|combined|overall|add(?:s|ed)? up|comes? to|both|(?-i:plus))\b",
    re.IGNORECASE,
)
_SUM_AFTER = re.compile(r"\b(?:in total|total|altogether|in all|together|combined|overall|for both)\b", re.IGNORECASE)
_COMPARED = (
    r"more|less|fewer|cheaper|dearer|extra|additional|longer|shorter|higher|lower|older|younger|faster|slower|later|earlier|"
    r"heavier|lighter|larger|smaller|bigger|apart|off|left|remaining|remains?|saved|savings?|discount|difference|over"
)
_DIFFERENCE = re.compile(
    r"\b(?:sav(?:e|es|ed|ing|ings)|difference|by|remaining|leaves|left|extra|another|additional|discount|cheaper|"
    r"cut|reduction|increase|decrease|(?:rise|drop|gap) of)\b[^;.]{0,45}$",
    re.IGNORECASE,
)
_DIFFERENCE_AFTER = re.compile(rf"^[ \u00a0](?:(?!or |and )[^\W\d_]{{1,15}} ){{0,2}}(?:{_COMPARED})\b", re.IGNORECASE)
_SHARE = re.compile(r"\b(?:share|proportion|portion|percentage|percent of)\b|^ of\b", re.IGNORECASE)
_CHANGE = re.compile(
    r"\b(?:increas|ris(?:e|es|en|ing)\b|rose|grew|grow|up by|decreas|reduc|drop|fell|fall|down by|sav|discount|off\b|cheaper|"
    r"more\b|less\b|higher|lower|longer|shorter|cut\b|by\b)",
    re.IGNORECASE,
)
_UP = re.compile(
    r"\b(?:more|higher|longer|older|larger|heavier|dearer|bigger|later|extra|additional|ris(?:e|es|en|ing)|rose|grew|grown?|grows|increas\w*|"
    r"up by|raised?)\b",
    re.IGNORECASE,
)
_DOWN = re.compile(
    r"\b(?:less|fewer|cheaper|shorter|lower|younger|smaller|lighter|earlier|sav\w+|discount\w*|off|decreas\w*|reduc\w*|drop\w*|"
    r"fell|falls?|fallen|down by|cuts?)\b",
    re.IGNORECASE,
)
_OTHER_SIDE = re.compile(r"\b(?:than|compared (?:to|with)|against|versus|vs\.?)\b", re.IGNORECASE)
_MEAN = re.compile(r"\b(?:average|averages|averaging|mean|on average)\b", re.IGNORECASE)
_LESS = re.compile(r"\b(?:off|discount|discounted|reduc\w*|sav\w*|less|after|minus|now|cheaper|only)\b", re.IGNORECASE)
_MORE = re.compile(
    r"\b(?:tax|vat|gst|surcharge|increas\w*|ris\w*|tip|service|(?-i:plus)|includ\w*|interest|on top)\b", re.IGNORECASE
)
_NAMED_RATE = re.compile(r"\b(?:discount|tax|vat|gst|deposit|tip|commission|surcharge|interest)\b", re.IGNORECASE)
_OF_MONEY = re.compile(
    r"\b(?:cheaper|price|prices|costs?|fees?|discount|sav\w+|off|expensive|rent|salary)\b", re.IGNORECASE
)
_PERCENT_OF = re.compile(r"(?:%|percent|per cent) of\b", re.IGNORECASE)
_PART = re.compile(
    r"(?:%|percent|per cent) of\b|\b(?:deposit|commission|refund\w*|sav\w*|discount|off|tax|vat|gst|tip|fee|interest|charge|surcharge)\b",
    re.IGNORECASE,
)
_TIMES = {
    "twice": Decimal(2), "double": Decimal(2), "doubled": Decimal(2), "doubles": Decimal(2), "triple": Decimal(3),
    "tripled": Decimal(3), "half": Decimal("0.5"), "halved": Decimal("0.5"), "halves": Decimal("0.5"),
    "three times": Decimal(3), "four times": Decimal(4), "five times": Decimal(5), "ten times": Decimal(10),
    "a quarter": Decimal("0.25"),
}  # fmt: skip
_MULTIPLE = re.compile(rf"\b({'|'.join(sorted(_TIMES, key=len, reverse=True))})\b(?! (?:an? )?(?:hour|day|year))", re.IGNORECASE)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Working:
    """One calculation: its result, what went in, and how it is written up to the result."""

    result: Decimal
    operands: tuple[Operand, ...]
    written: str
    exact: bool = True


def derived(claim: Claim, found: Found, around: Around, setting: Setting) -> Finding | None:
    """`derived` with its operands as evidence and the calculation as reason, or None if no admissible one gives the claim."""
    desk = Desk(found, spot_of(claim, around), around, setting)
    if found.kind == "date":
        return worked_out_date(claim, desk)
    mine = number_of(found)
    if mine is None:
        return None
    digits = _decimals(claim.text)
    with localcontext() as exactly:
        exactly.prec = 50
        for operation in _OPERATIONS:
            for working in operation(desk):
                if any(o.place for o in working.operands) and _gives(working, mine, found, digits):
                    why = f"{working.written} = {claim.text}"
                    return Finding("derived", evidence(working.operands), why)
    return worked_out_span(claim, desk) or tallied(claim, desk)


def _decimals(text: str) -> int:
    match = re.search(r"\d[.,](\d{1,2})(?!\d)", text)
    return len(match.group(1)) if match else 0


def _gives(working: Working, mine: Decimal, found: Found, digits: int) -> bool:
    if working.result <= 0 or working.result > Decimal(10) ** 18:
        return False
    if working.result == mine:
        return True
    if found.kind == "money":
        return _to(working.result, 2) == mine
    return not working.exact and _to(working.result, digits) == mine


def _to(number: Decimal, digits: int) -> Decimal:
    return number.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)


def _near(desk: Desk) -> tuple[str, str]:
    return desk.spot.before[-_NEAR:], desk.spot.after[:_NEAR]


def _sums(desk: Desk) -> Iterator[Working]:
    before, after = _near(desk)
    if desk.found.kind == "percent" or not (_SUM.search(before) or _SUM_AFTER.search(after)):
        return
    for group in (*groups(desk), *passages(desk, total=True)):
        yield Working(sum((o.amount for o in group), Decimal(0)), group, " + ".join(o.text for o in group))


def _differences(desk: Desk) -> Iterator[Working]:
    before, after = _near(desk)
    compared = _DIFFERENCE_AFTER.search(after)
    if not (compared or _DIFFERENCE.search(before)) or (desk.found.kind == "percent" and not compared):
        return
    alone = [p for g in passages(desk) if len(g) == 2 and desk.found.kind != "number" for p in permutations(g)]
    for a, b in (*_pairs(desk), *((a, b) for a, b in alone)):
        # half of 20 is 10: who says 10 says the other value over again, unless it is compared
        if _turned(desk, a, b) or (not compared and b.amount * 2 == a.amount):
            continue
        yield Working(a.amount - b.amount, (a, b), f"{a.text} - {b.text}")


def _turned(desk: Desk, larger: Operand, smaller: Operand) -> bool:
    """True if the sentence calls the larger one the cheaper: "A is $5 less than B" where A is the larger."""
    before, after = _near(desk)
    up, down = _UP.search(f"{before} | {after}"), _DOWN.search(f"{before} | {after}")
    other = _OTHER_SIDE.search(desk.spot.sentence)
    if other is None or (up is None) == (down is None):
        return False
    behind = role_terms(desk.spot.sentence[other.end() :])
    wrong = larger if up else smaller
    right = smaller if up else larger
    return bool((wrong.names - right.names) & behind) and not (right.names - wrong.names) & behind


def _means(desk: Desk) -> Iterator[Working]:
    before, after = _near(desk)
    if not (_MEAN.search(before) or _MEAN.search(after)):
        return
    for group in groups(desk):
        total = sum((o.amount for o in group), Decimal(0))
        written = f"({' + '.join(o.text for o in group)}) / {len(group)}"
        yield Working(total / len(group), group, written, exact=False)


def _pairs(desk: Desk) -> Iterator[tuple[Operand, Operand]]:
    """Two values that the answer says or names, or that alone stand together in a source."""
    for group in groups(desk, columns=False):
        if len(group) <= 3:
            yield from permutations(group, 2)


def _percentages(desk: Desk) -> Iterator[Working]:
    """A share, an increase or a decrease of two values that the sentence says or tells apart."""
    if desk.found.kind != "percent":
        return
    before, after = _near(desk)
    share = _SHARE.search(before) or _SHARE.search(after)
    change = _CHANGE.search(before) or _CHANGE.search(after)
    if not (share or change):
        return
    for a, b in _compared_pairs(desk):
        if b.amount == 0:
            continue
        if share and a.amount < b.amount:
            yield Working(a.amount / b.amount * 100, (a, b), f"{a.text} / {b.text} × 100", exact=False)
        if change and not _wrong_base(desk, a, b) and not _turned(desk, *sorted((a, b), key=_by_amount, reverse=True)):
            off = abs(a.amount - b.amount)
            yield Working(off / b.amount * 100, (a, b), f"|{a.text} - {b.text}| / {b.text} × 100", exact=False)


def _by_amount(operand: Operand) -> Decimal:
    return operand.amount


def _wrong_base(desk: Desk, end: Operand, base: Operand) -> bool:
    """A rise is reckoned on the smaller value, a fall on the larger."""
    before, after = _near(desk)
    up, down = _UP.search(f"{before} | {after}"), _DOWN.search(f"{before} | {after}")
    if (up is None) == (down is None):
        return False
    return base.amount > end.amount if up else base.amount < end.amount


def _compared_pairs(desk: Desk) -> Iterator[tuple[Operand, Operand]]:
    """For percentages: groups of money, of one unit, or of bare numbers."""
    like = dict.fromkeys(
        (o.found.kind, o.found.value.partition(" ")[2])
        for o in (*said_here(desk), *in_sources(desk, _comparable))
        if _comparable(o.found) and (o.found.kind == "money" or not _OF_MONEY.search(desk.spot.sentence))
    )
    for _, o in zip(range(CLOSEST), _first_of(desk, list(like)), strict=False):
        yield from _pairs(Desk(o, desk.spot, desk.around, desk.setting, desk.said))


def _comparable(found: Found) -> bool:
    return found.kind in ("money", "quantity", "number")


def _first_of(desk: Desk, kinds: list[tuple[str, str]]) -> Iterator[Found]:
    pool = [o.found for o in (*said_here(desk), *in_sources(desk, _comparable))]
    for kind in kinds:
        yield next(f for f in pool if (f.kind, f.value.partition(" ")[2]) == kind)


def _percent_of(desk: Desk) -> Iterator[Working]:
    """20 % off $50, $200 with 10 % tax, a deposit of 30 %."""
    sentence = desk.spot.sentence
    if not (_LESS.search(sentence) or _MORE.search(sentence) or _PART.search(sentence)):
        return
    if desk.found.kind != "money" and not (desk.found.kind in ("number", "quantity") and _PERCENT_OF.search(sentence)):
        return
    here = said_here(desk)
    rates = [o for o in (*here, *asked(desk)) if o.found.kind == "percent"]
    if not rates and _NAMED_RATE.search(sentence):
        rates = in_sources(desk, lambda f: f.kind == "percent", 1)
    bases = [o for o in (*here, *asked(desk)) if desk.like(o.found)]
    bases = bases or in_role_of(desk)[:1]
    for rate in rates[:CLOSEST]:
        for base in [o for o in bases if desk.like(o.found)][:CLOSEST]:
            part = base.amount * rate.amount / 100
            if _PART.search(sentence):
                yield Working(part, (base, rate), f"{base.text} × {rate.text}")
            if _LESS.search(sentence):
                yield Working(base.amount - part, (base, rate), f"{base.text} - {rate.text}")
            if _MORE.search(sentence):
                yield Working(base.amount + part, (base, rate), f"{base.text} + {rate.text}")


def _multiples(desk: Desk) -> Iterator[Working]:
    """Twice $14 is $28; the word stands by the value."""
    before, after = _near(desk)
    match = _MULTIPLE.search(before[-40:]) or _MULTIPLE.search(after[:40])
    if match is None:
        return
    times = _TIMES[match.group(1).lower()]
    here = [o for o in (*said_here(desk), *asked(desk)) if desk.like(o.found)]
    for operand in here[:CLOSEST] or [o for o in in_role_of(desk)[:CLOSEST] if _told_with(o, match.group(1))]:
        if desk.counts((operand,)):
            yield Working(operand.amount * times, (operand,), f"{operand.text} × {canonical(times)}")


def _told_with(operand: Operand, word: str) -> bool:
    """The source itself says that something is twice as much."""
    around = operand.context[max(0, operand.start - _TOLD) : operand.end + _TOLD]
    return re.search(rf"\b{word}\b", around, re.IGNORECASE) is not None


def _products(desk: Desk) -> Iterator[Working]:
    for result, operands, written in products(desk):
        yield Working(result, operands, written)


_OPERATIONS: tuple[Callable[[Desk], Iterator[Working]], ...] = (
    _products,
    _sums,
    _differences,
    _means,
    _percentages,
    _percent_of,
    _multiples,
)
