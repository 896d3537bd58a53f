"""All claims of a text: every finder, overlaps resolved, statements beside them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache

from grounding.text import caseless, sentences
from rai.claims.amounts import money
from rai.claims.contacts import addresses, links, phones
from rai.claims.contacts.phones import REGIONS
from rai.claims.found import Found
from rai.claims.names import codes, names
from rai.claims.numbers import numbers
from rai.claims.times import dates, relative, times
from rai.records import Claim


def find_claims(text: str, regions: tuple[str, ...] = REGIONS) -> tuple[Claim, ...]:
    """Finds the claims of `text`, unchecked, by start; a statement comes before the values inside it.

    Values do not overlap each other: a phone number is not three numbers as well. Statements overlap all by design.
    """
    return claims_of(text, find_values(text, regions))


def claims_of(text: str, values: Sequence[Found]) -> tuple[Claim, ...]:
    """The unchecked claims of a text: `values` and every sentence, by start."""
    found = [*values, *find_statements(text)]
    found.sort(key=lambda f: (f.start, f.kind != "statement", f.end))
    return tuple(Claim(f.kind, text[f.start : f.end], f.start, f.end, _value(f), f.entity) for f in found)


def _value(found: Found) -> str | None:
    return None if found.kind == "statement" else found.value


def find_statements(text: str) -> list[Found]:
    """Finds every sentence of `text` as a statement."""
    return [Found("statement", s.start, s.end, caseless(s.text)) for s in sentences(text)]


@lru_cache(maxsize=256)
def find_values(text: str, regions: tuple[str, ...] = REGIONS) -> tuple[Found, ...]:
    """Finds everything but statements: ascending, not overlapping; the more telling reading of a place wins."""
    by_rank = (
        links.find_email(text),
        links.find_url(text),
        addresses.find(text),
        relative.find(text),
        dates.find(text),
        times.find(text),
        phones.find(text, regions),
        money.find(text),
        numbers.find_percent(text),
        codes.find(text),
        numbers.find_quantity(text),
        names.find(text),
        numbers.find_number(text),
    )
    taken: list[tuple[int, int]] = []
    kept: list[Found] = []
    for group in by_rank:
        fresh = []
        last_end = -1
        for found in sorted(group, key=lambda f: (f.start, -f.end)):
            if found.start >= last_end and _free(taken, found.start, found.end):
                fresh.append(found)
                last_end = found.end
        kept.extend(fresh)
        taken = sorted(taken + [(f.start, f.end) for f in fresh])
    return tuple(sorted(kept, key=lambda f: f.start))


def _free(taken: list[tuple[int, int]], start: int, end: int) -> bool:
    at = bisect_left(taken, (start, start))
    if at < len(taken) and taken[at][0] < end:
        return False
    return at == 0 or taken[at - 1][1] <= start
