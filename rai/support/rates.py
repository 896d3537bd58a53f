"""Rates: a price per month, night, person or item times how many of them, and a price shared out among them.

The rate says what it is for ("$14 a month", "Price per night: $90"); the count has that word ("3 nights", "4 guests") or
the claim names the longer time ("a year"), and a year has twelve months.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal

from rai.claims.find import find_values
from rai.claims.rates import counted_as
from rai.support.operands import CLOSEST, Desk, Operand, asked, column_of, following, in_role_of, in_sources, said_here
from rai.support.words import role_terms

Product = tuple[Decimal, tuple[Operand, ...], str]

_PER = re.compile(
    r"^[ \u00a0]?(?:\([^)]{0,20}\) )?(?:/ ?|per |an? |each |every |for each |for every |pro |par )([^\W\d_]{1,20})",
    re.IGNORECASE,
)
_AGAIN = re.compile(r"^,? ?(?:and )?(?:/ ?|per |an? |each |every )([^\W\d_]{1,20})", re.IGNORECASE)
_LABEL = re.compile(r"(?:\bper |/ ?|\beach |\ban? )([^\W\d_]{1,20})", re.IGNORECASE)
_EACH = re.compile(r"^[ \u00a0](?:each|apiece)\b", re.IGNORECASE)
_TOTALS = re.compile(r"\b(?:total|in all|altogether|together|combined|overall)\b", re.IGNORECASE)
_SHARED = re.compile(r"^[ \u00a0]?(?:each|apiece|per|an?|every|/)\b|^/", re.IGNORECASE)
_ADVERB = re.compile(r"\b(hourly|daily|nightly|weekly|monthly|quarterly|yearly|annually|annual)\b", re.IGNORECASE)
_ADVERBS = {
    "hourly": "hour", "daily": "day", "nightly": "night", "weekly": "week", "monthly": "month", "quarterly": "quarter",
    "yearly": "year", "annually": "year", "annual": "year",
}  # fmt: skip
_IN = {
    ("month", "year"): 12, ("week", "year"): 52, ("quarter", "year"): 4, ("month", "quarter"): 3, ("day", "week"): 7,
    ("night", "week"): 7,
}  # fmt: skip
_SHORT = {"mo": "month", "yr": "year", "pers": "person", "hr": "hour", "wk": "week"}
_NEAR = 45
_TIME = r"(?:hour|day|night|week|month|quarter|year)"
_LONGER = re.compile(
    rf"\b(?:per|an?|each|every|one|whole|full|entire|for the|/) ?(?:whole |full |entire )?({_TIME})\b", re.IGNORECASE
)


def products(desk: Desk) -> Iterator[Product]:
    """Every rate times its count, and every amount shared out, that the claim's sentence speaks of; few."""
    if desk.found.kind not in ("money", "quantity"):
        return
    counts = [o for o in (*said_here(desk), *asked(desk)) if o.found.kind in ("number", "quantity")]
    counts = counts or _own_counts(desk)
    if not counts and not _times_named(desk) and not _SHARED.search(desk.spot.after[:_NEAR]):
        return
    amounts = _meant(desk)
    for rate in amounts:
        nouns = rate_nouns(rate)
        if len(nouns) == 1:
            yield from _over_time(desk, rate, nouns[0], counts)
        if nouns:
            yield from _times(rate, nouns, counts)
    yield from _shared_out(desk, amounts, counts)


def _own_counts(desk: Desk) -> list[Operand]:
    """Numbers that only the answer says, where it also says that it totals: "For 4 people the total is $48"."""
    spot = desk.spot
    if not _TOTALS.search(spot.sentence):
        return []
    every = [v for v in find_values(spot.sentence) if v.end <= spot.start or v.start >= spot.end]
    return [
        Operand(v, spot.sentence[v.start : v.end], spot.sentence, v.start, v.end, None, frozenset())
        for v in every
        if v.kind in ("number", "quantity")
    ][:CLOSEST]


def _meant(desk: Desk) -> list[Operand]:
    """Amounts of the claim's measure that the sentence says, else those of the sources that stand in its role."""
    here = [o for o in said_here(desk) if desk.like(o.found)]
    return here[:CLOSEST] or in_role_of(desk)[:CLOSEST] or _only_one(desk)


def _only_one(desk: Desk) -> list[Operand]:
    """The only rate of the claim's measure in all sources: a claim of other words can mean no other."""
    every = [p for s in desk.setting.sources for p in s.kinds.get(desk.found.kind, ()) if desk.like(p.found)]
    if len(every) != 1 or not every[0].found.per:
        return []
    place = every[0]
    return [
        Operand(place.found, place.span().text, place.text(), place.found.start, place.found.end, place, frozenset())
    ]


def rate_nouns(operand: Operand) -> list[str]:
    """What an amount is for: ["person", "night"] of "$40 per person per night"; "" of "$5 each"; empty if it is no rate."""
    after = operand.context[operand.end : operand.end + 60]
    if _EACH.match(after) and not _PER.match(after):
        return [""]
    first = _PER.match(after)
    if first:
        second = _AGAIN.match(after[first.end() :])
        return [_noun(m.group(1)) for m in (first, second) if m]
    label = column_of(operand.place) if operand.place else ""
    adverb = _ADVERB.search(label) or _ADVERB.search(after[:15])
    if adverb:
        return [_ADVERBS[adverb.group(1).lower()]]
    return [_noun(m.group(1)) for m in _LABEL.finditer(label)][:2]


def _noun(word: str) -> str:
    lower = word.lower()
    return _SHORT.get(lower, lower)


def _over_time(desk: Desk, rate: Operand, noun: str, counts: Sequence[Operand]) -> Iterator[Product]:
    """$14 a month is $168 a year, $336 for two years; $168 a year is $14 a month."""
    for longer in _times_named(desk):
        factor = _IN.get((noun, longer), 0)
        if factor:
            yield rate.amount * factor, (rate,), f"{rate.text} × {factor} ({longer}: {factor} {noun}s)"
        back = _IN.get((longer, noun), 0)
        if back:
            yield rate.amount / back, (rate,), f"{rate.text} / {back} ({noun}: {back} {longer}s)"
    for count in counts:
        factor = _IN.get((noun, count.found.value.partition(" ")[2]), 0)
        if factor:
            yield rate.amount * factor * count.amount, (rate, count), f"{rate.text} × {factor} × {count.text}"


def _times_named(desk: Desk) -> list[str]:
    """The stretch of time that stands by the value: "a year", "annually"."""
    near = f"{desk.spot.before[-_NEAR:]} {desk.spot.after[:_NEAR]}"
    named = [m.group(1).lower() for m in _LONGER.finditer(near)]
    return list(dict.fromkeys([*named, *(_ADVERBS[m.group(1).lower()] for m in _ADVERB.finditer(near))]))


def _times(rate: Operand, nouns: Sequence[str], counts: Sequence[Operand]) -> Iterator[Product]:
    """A count for each of the nouns of the rate."""
    chosen = [next((c for c in counts if _counts(c, noun)), None) for noun in nouns]
    found = [c for c in chosen if c is not None]
    if len(found) == len(nouns):
        result = rate.amount
        for count in found:
            result *= count.amount
        yield result, (rate, *found), " × ".join(o.text for o in (rate, *found))


def _counts(count: Operand, noun: str) -> bool:
    """True if `count` is a number of such things: "3 nights", "4 adult guests" of a price per person."""
    if count.found.kind == "quantity":
        return bool(noun) and count.found.value.partition(" ")[2] == noun
    if not noun or role_terms(noun) & following(count.context, count.end):
        return True
    words = re.findall(r"[^\W\d_]+", count.context[count.end : count.end + 40])[:2]
    return counted_as(noun) in {counted_as(w) for w in words} - {""}


def _shared_out(desk: Desk, amounts: Sequence[Operand], counts: Sequence[Operand]) -> Iterator[Product]:
    """$60 for 4 people is $15 each; 6 bottles at $18 are $3 a bottle."""
    spot = desk.spot
    nouns = rate_nouns(Operand(desk.found, "", spot.sentence, spot.start, spot.end, None, frozenset()))
    if len(nouns) != 1 or desk.found.kind != "money":
        return
    for whole in amounts:
        if rate_nouns(whole):
            continue
        beside = _beside(desk, whole)
        for count in (*counts, *beside):
            if count.amount > 1 and _counts(count, nouns[0]):
                yield whole.amount / count.amount, (whole, count), f"{whole.text} / {count.text}"


def _beside(desk: Desk, whole: Operand) -> list[Operand]:
    """Counts in the sentence or row of a source in which the amount stands."""
    unit = whole.place.unit if whole.place else None
    near = in_sources(desk, lambda f: f.kind in ("number", "quantity"))
    return [
        o for o in near if o.place and whole.place and o.place.source == whole.place.source and o.place.unit is unit
    ]
