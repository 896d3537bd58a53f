"""Values that follow from others: the cheapest calculation that gives one, and whether its sentence allows one so dear.

The cost of a calculation says how likely it is to give the value by chance: it grows with the number of operands and with how far from the
value they are said (`terms.FormulaTerm`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import cache
from itertools import product

from rai.check.answer import Answer
from rai.check.context import Finding
from rai.check.lexicon.load import pattern
from rai.check.operands import Operand, amount_of, spans_of
from rai.check.reading.readings import readings
from rai.check.rules.amounts import Spot
from rai.check.rules.rounding import hedge_of
from rai.check.working.calendar import RANKED, DaySentence, Reckoned, day_ways, span_ways, time_ways
from rai.check.working.formulas import calculations
from rai.check.working.measures import measured_ways, tolerance_ways
from rai.check.working.operand_candidates import REACH, operand_candidates
from rai.check.working.orders import order_ways
from rai.check.working.plausibility import (
    is_against_its_words,
    of_one_line,
    says_that_it_reckons,
    takes_off_unsaid,
    takes_the_place_of_one,
)
from rai.check.working.recurring import recurring_ways, timetable_ways
from rai.check.working.said_sums import by_what_is_said, is_bare_amount, said_sum, times_the_rival
from rai.check.working.series import day_of_month, series_of
from rai.check.working.tariffs import lines_ways, tariff_ways, usage_ways
from rai.check.working.terms import SAID, Wanted, scaled
from rai.check.working.written_formula import written_out
from rai.claims.found import Found
from rai.records import SUPPORTED

TOLD = 3.25
"""Highest cost of a calculation that explains a value whose sentence says that it was worked out."""
UNTOLD = 1.0
"""Highest cost where the sentence does not: two values of the question, or of the same and the next sentence."""
UNTOLD_NUMBER = 0.8
"""Highest cost for a bare number in a sentence that says nothing of reckoning: only what is said beside it explains it."""
_LARGE, _UNTOLD_LARGE = 1000, 1.5
"""A number from the first on, and the highest cost for it there: it is seldom the product of two others by chance."""
UNRECKONED = 2.0
"""Highest cost for a bare number in a sentence that reckons, and for a quantity or percentage in one that does not."""
FAR = 4.0
"""Highest cost of a calculation of a time that is worth a doubt: both operands out of the sources alone."""
MOST_AGAINST = 2
"""Most operands of a calculation for a value that a source has for something else: of three some combination comes to nearly anything."""
TOLD_DAY, UNTOLD_DAY = 2.25, 1.75
"""Highest costs for a day or time whose sentence says that it was worked out, or does not: two named days seldom lie just a named span apart
by chance."""
_CUE = re.compile(
    r"[=+×]|\d ?[x*] ?\d|\b(?:total(?:s|l?ing)?|sum|altogether|together|in all|all in|combined|overall|add(?:s|ed|ing)?(?: up)?|comes? (?:out )?to|comes? out at|"
    r"came to|works? out|makes?|making|made|leav(?:e|es|ing)|left|remain\w*|so|takes?|knocks?|which|that['’]?s|that is|that would|which is|which means|meaning|means|therefore|thus|hence|"
    r"i\.e\.|namely|difference|sav(?:e|es|ed|ing|ings)|cheaper|dearer|faster|slower|longer|shorter|older|younger|higher|lower|larger|smaller|heavier|lighter|apart|between|more|less|fewer|extra|additional|another|on top|plus|minus|instead|rather than|"
    r"half|third|quarter|tenth|twice|double|each|apiece|second|worth|equals|reduction|discount|off|up|down|by|back|pay(?:s|ing)?|owe[sd]?|keep|deduct\w*|refund\w*|credit\w*|spread|in full|"
    r"until|through|till|ends?|ended|due|arriv\w*|gets? in|latest|last day|later|earlier|before|after|runs?|expir\w*|would|"
    r"insgesamt|zusammen|macht|zweite\w*|entspricht|rabatt|nachlass|ergibt|also|somit|bleib\w*|gesamt\w*|summe|ersparnis|spar\w*|mehr|weniger|zuzüglich|abzüglich|hälfte|bis|"
    r"en tout|au total|soit|comptez|second|deuxième|remise|réduction|donc|reste\w*|ensemble|économ\w*|de plus|de moins|moitié|jusqu\w*|"
    r"en total|segund[oa]|descuento|suma\w*|queda\w*|es decir|por tanto|ahorr\w*|más|menos|mitad|hasta|saldr\w*|"
    r"in tutto|secondo|sconto|totale|quindi|rest\w*|risparmi\w*|cioè|metà|fino|arriva\w*|"
    r"no total|desconto|ao todo|soma\w*|portanto|economi\w*|ou seja|metade|até|sai\w*|"
    r"in totaal|tweede|korting|samen|dus|bespa\w*|blijft|meer|minder|helft|tot|"
    r"baiss\w*|augment\w*|diminu\w*|monté\w*|pris|gestiegen|gesunken|teurer|billiger|günstiger|sube\w*|baja\w*|subi\w*|serían?|aument\w*|droższ\w*|tańsz\w*|wychodzi|wyjdzie|"
    r"łącznie|razem|drugi\w*|zniżk\w*|czyli|więc|zostaje|suma|taniej|drożej|połow\w*|do)\b",
    re.IGNORECASE,
)
"""Words and signs by which a sentence says that a value in it was worked out."""
_ROUNDING = {"about": (1, 1), "near_below": (0, 1), "near_above": (1, 0), "above": (1, 0), "below": (0, 1)}
"""Whether what is rounded lies above or below what is said: just over €43 is 43.20."""
_BESIDE = re.compile(
    r"\b(?:day (?:before|after|later|earlier)|next|following|preceding|previous|eve|last|prior|earlier|before|after|tag(?:s)? (?:davor|danach|zuvor|darauf)|folge\w*|vortag|"
    r"lendemain|veille|suivant|précédent|anterior|siguiente|víspera|previo|prima|dopo|vigilia|giorno|seguinte|véspera|volgende|vorige|poprzedni\w*|następn\w*|nächste\w*|sera)\b",
    re.IGNORECASE,
)
_ENDS = re.compile(
    r"\b(?:end|ends|ending|last|close|final|calendar month|ende|letzte\w*|fin|dernier|final|último|ultimo|fine|eind\w*|koniec|końca|first|beginning|start|anfang|début|inicio|inizio)\b",
    re.IGNORECASE,
)
_COUNTED = re.compile(
    r" (?:for|in|over|across|on) (?:the |all |both |your )?(?:\w+ )?(?:two|three|four|five|six|seven|eight|nine|ten|twelve|both|\d{1,3})\b",
    re.IGNORECASE,
)
_OPENS = re.compile(r"[(=:≈][ *]{0,3}$")
_BEFORE = 90
_AFTER = 60


def worked_out(n: int, answer: Answer, findings: Mapping[int, Finding]) -> Finding | None:
    """`derived` for the n-th value if a calculation explains it, with the places of its operands and the formula; else None.

    `absent` if the answer writes a calculation out that comes to something else. `findings`: of the values that are decided.
    """
    if (shown := written_out(n, answer)) is not None:
        return shown
    if (told := said_sum(n, answer)) is not None:
        finding = by_what_is_said(n, told, answer, findings)
        if finding is not None or any(m not in findings for m in told.values):
            return finding  # what gives it may be decided in the next round
    if (before := _said_with_its_unit(n, answer, findings)) is not None:
        return before
    if n in findings and (counted := times_the_rival(n, answer, findings[n])) is not None:
        return counted
    most = UNTOLD if n in findings else _dearest(n, answer, findings)
    ways = (
        w
        for w in _ways(n, answer, findings)
        if w.cost <= most
        and not (n in findings and len(w.operands) > MOST_AGAINST)
        and not _is_itself(answer.values[n], w)
        and not _is_far_sum(answer.values[n], w)
        and not takes_the_place_of_one(n, w, answer)
        and not is_against_its_words(n, w, answer)
        and not takes_off_unsaid(n, w, answer)
    )
    best = min(ways, key=_dearness, default=None)
    if best is None:
        return None
    formula = f"{best.written} = {answer.written(n)}"
    return Finding("derived", spans_of(best.operands), formula, rule="worked-out", formula=formula)


def _said_with_its_unit(n: int, answer: Answer, findings: Mapping[int, Finding]) -> Finding | None:
    """`derived` for a bare number that the answer says with a unit beside it, and a source or the person too: the 7 of "7 × 29,50", of 7 nights."""
    value = answer.values[n]
    if value.kind != "number" or not answer.written(n).isdigit():
        return None
    for m in answer.near(n, REACH):
        finding, other = findings.get(m), answer.values[m]
        if (
            finding is not None
            and finding.status in SUPPORTED
            and other.kind == "quantity"
            and amount_of(other) == amount_of(value)
        ):
            formula = f"{answer.written(m)} = {answer.written(n)}"
            return Finding("derived", finding.evidence, formula, rule="worked-out", formula=formula)
    return None


def may_follow(n: int, answer: Answer, findings: Mapping[int, Finding]) -> Finding | None:
    """`unchecked` for the n-th value if it would follow from values that nothing in the answer names; else None.

    These are two amounts of one line of a source; or a time and a span, of which a source says that something is due so long before or after:
    "be back by 1:55 p.m.", 20 minutes before departure.
    """
    if answer.values[n].kind in ("money", "quantity"):
        return of_one_line(n, answer) if says_that_it_reckons(n, answer) else None
    if answer.values[n].kind != "time":
        return None
    ways = (
        w for w in _ways(n, answer, findings) if w.cost <= FAR and any(_leads_there(o, w, answer) for o in w.operands)
    )
    best = min(ways, key=_dearness, default=None)
    if best is None:
        return None
    return Finding(
        "unchecked", spans_of(best.operands), f"It may be {best.written}; nothing says so.", rule="may-follow"
    )


def _leads_there(operand: Operand, way: Reckoned, answer: Answer) -> bool:
    """True of a span that a source counts in the direction in which `way` does: 2 h before departure."""
    if operand.found.kind != "quantity":
        return False
    sign = "before" if f"- {operand.text}" in way.written else "after"
    told = answer.in_texts(operand.evidence[:2])
    return any(_FROM_THERE[sign].match(text[span.end : span.end + 16]) for text, span in told)


_FROM_THERE = {
    "before": re.compile(
        r"\s(?:before|prior|ahead|in advance|earlier|vor|avant|antes|prima|voor|przed)\b", re.IGNORECASE
    ),
    "after": re.compile(r"\s(?:after|later|nach|après|después|dopo|depois|na|po)\b", re.IGNORECASE),
}


_ARTICLE = r"(?: (?:the|dem|den|der|le|la|el|il|o|de|del|dal|al|zum|midnight on|end of|including))*[ ,]{0,2}$"
_BETWEEN = re.compile(r"\b(?:between|zwischen|entre|tra|fra|tussen|między)\b[^.;]{0,30}$", re.IGNORECASE)


@cache
def _bounding(keys: tuple[str, ...]) -> re.Pattern[str]:
    """Finds a bound of these keys of the lexicon right before what it bounds; a day of the week may stand between."""
    phrases = "|".join(pattern("bounds", key).pattern.removeprefix("\\b") for key in keys)
    return re.compile(rf"\b(?:{phrases})(?: \w{{3,10}},?)?{_ARTICLE}", re.IGNORECASE)


def _next_to(day: Found, answer: Answer, operands: tuple[Operand, ...]) -> frozenset[Operand]:
    """The days that `day` may lie next to: both bound a stretch of days, or a source says that something is due before one of them."""
    dates = [o for o in operands if o.found.kind == "date"]
    excluded = {o for o in dates if _is_excluded(o, answer)}
    if _is_edge(answer, day.start):
        excluded |= {o for o in dates if o.far < _SAID_NEAR and _is_edge(answer, o.found.start)}
    return frozenset(excluded)


_SAID_NEAR = 0.3
"""An operand that is less far is said in the sentence of the value or next to it."""
_EDGE = 48
"""Characters before a day in which it may be called the edge of a stretch of days."""


def _is_edge(answer: Answer, at: int) -> bool:
    """True if the day at an offset bounds a stretch of days: until 6 September, from the 7th."""
    before = answer.text[max(0, at - _EDGE) : at]
    bounded = _bounding(("from", "until", "before", "after")).search(before) is not None or bool(
        _BETWEEN.search(before)
    )
    return bounded or pattern("reckoning", "lasting", parts=True).search(before[-_EDGE // 2 :]) is not None


def _is_excluded(operand: Operand, answer: Answer) -> bool:
    """True of a day that a source says something is due before or begins after: the last day is the one before."""
    for span in operand.evidence[:2]:
        for text in answer.context.sources:
            if text.source.id == span.source and span.field == "text":
                before = text.source.text[max(0, span.start - 32) : span.start]
                if _bounding(("before", "after")).search(before):
                    return True
    return False


def _recurs(operand: Operand, answer: Answer) -> bool:
    """True of a span of which a source says that something happens every so long."""
    if operand.found.kind != "quantity":
        return False
    told = answer.in_texts(operand.evidence[:2])
    return any(_EVERY.search(text[max(0, span.start - 24) : span.start]) for text, span in told)


_EVERY = re.compile(
    r"\b(?:every|each|all|alle|jede|im|toutes les|tous les|cada|ogni|a cada|om de|elke|iedere|co) $", re.IGNORECASE
)


def _is_itself(value: Found, way: Reckoned) -> bool:
    """True if an operand is the value: $24 of $48 - $24, which explains nothing."""
    return value.kind == "money" and any(o.found.shares_form(value) for o in way.operands)


def _is_far_sum(value: Found, way: Reckoned) -> bool:
    """True of two quantities of which the sentence speaks of one at most: 12 hours and 2 hours of another line are no 14 hours."""
    pair = value.kind == "quantity" and len(way.operands) == 2 and re.search(r" [+-] ", way.written) is not None
    return (
        pair and all(o.found.kind == "quantity" for o in way.operands) and any(o.far >= _NO_LINE for o in way.operands)
    )


_NO_LINE = 1.4
"""Operands as far as this, or farther, stand in no passage that the sentence speaks of first."""


def _dearest(n: int, answer: Answer, findings: Mapping[int, Finding]) -> float:
    """The highest cost of a calculation that explains the n-th value: less for a bare number, which has no unit that would bind it, and for a day."""
    most = TOLD if is_told(n, answer) or _is_one_of_several(n, answer, findings) else UNTOLD
    reckoned = _RECKONED.search(answer.sentence(n)) is not None
    if as_meant(n, answer).kind == "number":
        large = (amount_of(answer.values[n]) or 0) >= _LARGE
        return min(most, UNRECKONED) if reckoned else _UNTOLD_LARGE if large else UNTOLD_NUMBER
    if answer.values[n].kind in ("date", "time"):
        return UNTOLD_DAY if most == UNTOLD else TOLD_DAY
    return min(most, UNRECKONED) if answer.values[n].kind in ("quantity", "percent") and not reckoned else most


def _is_one_of_several(n: int, answer: Answer, findings: Mapping[int, Finding]) -> bool:
    """True if another value of this kind in the sentence was worked out: 30 % of either price."""
    return any(
        finding.rule == "worked-out" and answer.values[m].kind == answer.values[n].kind
        for m in answer.near(n, 0)
        if m != n and (finding := findings.get(m)) is not None
    )


_RECKONED = re.compile(
    r"[=+×]|\b(?:total|altogether|together|in all|combined|left|remain\w*|more|fewer|less|difference|half|third|quarter|tenth|twice|double|times|each|makes?|so|faster|slower|longer|shorter|cheaper|dearer|apart|between|rest|that['’]?s|sum|only|to go|"
    r"insgesamt|zusammen|bleib\w*|mehr|weniger|hälfte|reste\w*|total|quedan?|más|menos|rimangono|restano|più|meno|totaal|samen|razem|łącznie|zostaje)\b",
    re.IGNORECASE,
)
"""Words of a sentence that has worked out a bare number."""


def is_told(n: int, answer: Answer) -> bool:
    """True if the words around the n-th value say that it was worked out."""
    value, text = answer.values[n], answer.text
    sentence = answer.sentences[answer.at[n]] if answer.at[n] >= 0 else None
    start = max(sentence.start if sentence else 0, value.start - _BEFORE)
    end = min(sentence.end if sentence else len(text), value.end + _AFTER)
    before, after = text[start : value.start], text[value.end : end]
    return bool(_OPENS.search(before) or _COUNTED.match(after) or _CUE.search(before) or _CUE.search(after))


def _dearness(way: Reckoned) -> tuple[bool, float, int, str]:
    """What the answer and the person say explains a value better than what only a source does, however near that lies."""
    return any(o.far >= SAID for o in way.operands), way.cost, len(way.written), way.written


def _ways(n: int, answer: Answer, findings: Mapping[int, Finding]) -> Iterator[Reckoned]:
    value = answer.values[n]
    operands = operand_candidates(n, answer, findings)
    if value.kind == "date":
        yield from _days(n, value, answer, operands)
    elif value.kind == "time":
        yield from time_ways(value, operands)
        yield from timetable_ways(value, operands, [o for o in operands if _recurs(o, answer)])
    else:
        yield from _amounts(n, answer, operands)
        if value.kind == "number":
            for other in readings(value, answer.text):
                if other.kind == "date":
                    yield from _days(n, other, answer, operands)


def _days(n: int, day: Found, answer: Answer, operands: tuple[Operand, ...]) -> Iterator[Reckoned]:
    sentence = answer.sentence(n)
    told = DaySentence(
        beside=_BESIDE.search(sentence) is not None,
        ends=_ENDS.search(answer.text, max(0, day.start - 40), day.start) is not None,
        lasts=pattern("reckoning", "lasting", parts=True).search(sentence) is not None,
        next_to=_next_to(day, answer, operands),
    )
    ranked = tuple(_ranked_days(answer, operands))
    at = {each.found.start for each in ranked}
    operands = tuple(o for o in operands if o.found.kind != "date" or o.found.start not in at or not _stands(o, answer))
    yield from day_ways(day, (*operands, *ranked), told)
    yield from recurring_ways(day, operands, tuple(series_of(n, answer, operands)))
    yield from day_of_month(n, day, answer)


def _ranked_days(answer: Answer, operands: Sequence[Operand]) -> Iterator[Operand]:
    """What the answer counts in days by a rank: "the seventh day before arrival" is seven days before it."""
    for each in operands:
        said_here = each.found.kind == "number" and each.far < SAID and _stands(each, answer)
        ranked = _RANKED.match(answer.text, each.found.end) if said_here else None
        if ranked:
            unit = f"{RANKED}business day" if ranked["works"] else "day"
            said = ranked["ordinal"] or ""
            found = replace(each.found, kind="quantity", value=f"{each.amount} {unit}")
            yield replace(each, found=found, text=f"{each.text}{said} {ranked['unit']}")


_RANKED = re.compile(
    r"(?P<ordinal>st|nd|rd|th|\.|er|e|ème|º|ª)?\s+(?P<unit>(?:calendar\s+)?day(?=\s+(?:before|prior|ahead|after|following|from))|tag(?=\s+(?:vor|nach))|jour(?=\s+(?:avant|après))"
    r"|(?P<works>(?:business|working)\s+day|werktag|arbeitstag|jour\s+ouvr(?:é|able)|día\s+(?:hábil|laborable)|dia\s+útil|giorno\s+lavorativo|werkdag|dzień\s+roboczy))\b",
    re.IGNORECASE,
)


def _per_money(wanted: Wanted, answer: Answer, operands: Sequence[Operand]) -> Iterator[Reckoned]:
    """A number of things for each dollar, times an amount: 10 points for each US dollar, so $240 earn 2,400 points."""
    rates = [o for o in operands if o.found.kind == "number" and o.far < SAID and _stands(o, answer)]
    sums = [o for o in operands if o.found.kind == "money" and o.far < SAID]
    for rate, paid in product((r for r in rates if _FOR_MONEY.match(answer.text, r.found.end)), sums):
        if wanted.takes(scaled((rate.amount or Decimal(0)) * (paid.amount or Decimal(0)))):
            yield Reckoned((rate, paid), f"{rate.text} × {paid.text}", _PER_MONEY)


_PER_MONEY = 0.5
"""The cost of such a product (`terms.FormulaTerm`): the words say that the two go together."""
_FOR_MONEY = re.compile(
    r"\s*(?:[^\W\d_]+\s+){0,2}?(?:for (?:each|every)|per|each|every|an?|pro|je|par|por|al|cada)\s+(?:US\s+|full\s+)?(?:dollars?|euros?|pounds?|francs?|[$€£])",
    re.IGNORECASE,
)


def _stands(operand: Operand, answer: Answer) -> bool:
    """True if the operand is one of the answer's own characters."""
    return answer.text[operand.found.start : operand.found.end] == operand.text


def _amounts(n: int, answer: Answer, operands: tuple[Operand, ...]) -> Iterator[Reckoned]:
    wanted = _wanted(n, answer)
    if wanted is None:
        return
    wanted = replace(wanted, found=as_meant(n, answer))
    for term in calculations(wanted, operands):
        yield Reckoned(term.operands, term.written, term.cost)
    if wanted.found.kind == "quantity":
        yield from span_ways(wanted.found, operands)
    if wanted.found.kind == "money":
        yield from tariff_ways(wanted, answer, operands)
        yield from usage_ways(wanted, answer, operands)
        yield from lines_ways(n, wanted, answer)
        yield from order_ways(n, wanted, answer)
    else:
        yield from measured_ways(wanted, answer, operands)
        yield from tolerance_ways(wanted, answer)
        yield from _per_money(wanted, answer, operands)


def as_meant(n: int, answer: Answer) -> Found:
    """The value as it is reckoned with: "5 ×" is a number, a bare 22,40 an amount where the answer has amounts of one currency."""
    value = answer.values[n]
    if value.kind == "quantity" and value.value.endswith(" times"):
        return replace(value, kind="number", value=value.value.partition(" ")[0])
    if is_bare_amount(n, answer):
        codes = {v.value.partition(" ")[2] for v in answer.values if v.kind == "money"}
        if len(codes) == 1:
            return replace(value, kind="money", value=f"{value.value} {codes.pop()}")
    return value


def _wanted(n: int, answer: Answer) -> Wanted | None:
    """The numbers that the n-th value may stand for: where it is hedged ("just over €43") all that round to it; None if it is no positive number."""
    value = answer.values[n]
    amount = amount_of(value)
    if amount is None or amount <= 0:
        return None
    number = scaled(amount)
    around, written = answer.around[value], answer.written(n)
    before = len(around.preceding)
    spot = Spot(f"{around.preceding}{written}{around.following}", before, before + len(written))
    step = scaled(amount_step(written))
    under, over = _ROUNDING.get(hedge_of(spot) or "", (0, 0))
    return Wanted(value, number - over * (step - 1), number + under * (step - 1))


def amount_step(written: str) -> Decimal:
    """One unit of the last digit that is written: 1 of "€43", 0.01 of "4.25"."""
    decimals = re.search(r"\d[.,](\d{1,2})(?!\d)", written)
    return Decimal(1).scaleb(-len(decimals[1])) if decimals else Decimal(1)
