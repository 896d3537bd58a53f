"""Keys of values: whatever can be the same is looked up under a key that it shares."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from rai.check.comparison.lookup_keys import looked_up, stored_under
from rai.check.comparison.values import comparable_kinds, same_value
from rai.check.context import standing
from rai.check.reading.sources import prepare
from rai.claims.find import find_values
from rai.records import Source

TEXTS = (
    "5 km, 8 km, 5 miles, 3.3 lb, 1.5 kg, 20 °C, 68 °F, 20 degrees",
    "1 GB, 1000 MB, 1024 MB, 100 Mbit per second, 100 Mbps",
    "7 days, 1 week, 2 hours, 120 minutes, an hour and a half, 90 minutes, within 30 days",
    "Monday to Friday; Tuesday, 5 May; 5 May 2026; 05/06/2026; every day; on Tuesday; the 5th of May; May 2026; Q3 2026; 2026",
    "Open 24/7, 24 hours, daily. Meet at 7? at 7 pm, 19:00, 14:00 UTC, 15:00 CET, 2 pm",
    "half of them, 50%, a quarter, 25%, -5%, 5% less, $5, 5 dollars, USD 5, $1,200, 1.2k, 5",
    "110, +49 30 1234567, 030 1234567, 1234567, 0301234567, 1-800-356-9377, 020 7946 0321 ext. 12, 404, error 404",
    "https://a.example/b, www.a.example, a@b.example, 12 Mill Lane, Leeds; 12 Mill Lane; 18 and older; 18 years",
)
VALUES = [(v, text) for text in TEXTS for v in find_values(text)]


def test_values_that_are_the_same_share_a_key() -> None:
    pairs = [
        (a, b) for a, _ in VALUES for b, line in VALUES if b.kind in comparable_kinds(a) and same_value(a, b, line)
    ]
    assert len({a.kind for a, _ in pairs}) >= 9
    assert [(a, b) for a, b in pairs if looked_up(a).isdisjoint(stored_under(b))] == []


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(TEXTS), min_size=1, max_size=4), st.sampled_from(VALUES))
def test_the_places_of_a_value_are_those_of_a_search_through_all(lines: list[str], value: tuple[object, str]) -> None:
    found = next(v for v, _ in VALUES if v is value[0])
    prepared = prepare(Source("s", "\n".join(lines), "Prices and 5 km"), ("GB",))
    every = [
        place
        for kind in comparable_kinds(found)
        for place in prepared.kinds.get(kind, ())
        if same_value(found, place.found, place.unit.line)
    ]
    assert standing(found, (prepared,)) == every
