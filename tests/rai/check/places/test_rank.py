"""Which of several values an answer asks for: the words that a place stands by, and what its score is made of."""

from __future__ import annotations

import json
from math import isfinite

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rai.check.answer import Answer
from rai.check.match import context_of
from rai.check.places.labels import labels_of
from rai.check.places.place_features import FEATURES, features, weighed_words
from rai.check.places.rank import MODEL, model, ranked
from rai.check.reading.sources import Place, prepare
from rai.claims.find import find_values
from rai.records import Source

REGIONS = ("US", "GB")
GRID = "## Lockers\n\n| Size | Per day | Per week |\n|---|---|---|\n| Small | $4 | $19 |\n| Large | $7 | $33 |\n"
CARDS = (
    "Phone: 020 7946 0321, Fax: 020 7946 0388\nBookings: bookings@quayside.example\nRefunds: refunds@quayside.example"
)


def places(text: str) -> dict[str, Place]:
    return {p.span().text: p for p in prepare(Source("s", text), REGIONS).places}


def read(answer: str, text: str, question: str = "") -> Answer:
    context = context_of([Source("s", text)], question or None, (), REGIONS, None)
    return Answer.read(answer, sorted(find_values(answer, REGIONS), key=lambda f: (f.start, f.end)), context)


def test_a_cell_stands_by_its_row_its_column_and_its_heading() -> None:
    names = labels_of(places(GRID)["$33"])
    assert ("larg" in names.label or "large" in names.label, "week" in names.column, "locker" in names.above) == (
        True,
    ) * 3
    assert not names.label & names.line


def test_of_two_labels_in_a_line_the_nearer_is_a_values_own() -> None:
    found = places(CARDS)
    assert "fax" in labels_of(found["020 7946 0388"]).label
    assert "fax" not in labels_of(found["020 7946 0321"]).label


def test_an_address_may_say_itself_what_it_is_for() -> None:
    assert labels_of(places(CARDS)["refunds@quayside.example"]).says_itself
    assert not labels_of(places("Refunds: team7@quayside.example")["team7@quayside.example"]).says_itself


@pytest.mark.parametrize(
    ("answer", "right", "wrong"),
    [
        ("A large locker for a week comes to $33.", "$33", ["$4", "$19", "$7"]),
        ("A large locker for a week comes to $19.", "$33", ["$4", "$7"]),
        ("For the small one you pay $4 a day.", "$4", ["$19", "$33", "$7"]),
    ],
)
def test_the_value_that_the_words_ask_for_has_the_highest_score(answer: str, right: str, wrong: list[str]) -> None:
    found, told = places(GRID), read(answer, GRID)
    for other in wrong:
        assert (
            ranked(0, [found[right]], [found[other]], told).margin
            < 0
            < ranked(0, [found[other]], [found[right]], told).margin
        )


def test_the_share_of_a_value_falls_with_its_rivals_and_their_order_does_not_count() -> None:
    found, told = places(GRID), read("A large locker for a week comes to $33.", GRID)
    alone = ranked(0, [found["$33"]], [found["$4"]], told)
    rivals = [found[text] for text in ("$4", "$19", "$7")]
    many, turned = ranked(0, [found["$33"]], rivals, told), ranked(0, [found["$33"]], rivals[::-1], told)
    assert 0 < many.p < alone.p < 1
    assert many.margin == pytest.approx(turned.margin)
    assert many.rival is turned.rival


def test_a_value_that_stands_twice_is_no_likelier_by_that() -> None:
    twice = "Blue ticket: $5\n\nRed ticket: $8\n\nBlue ticket: $5"
    every = [p for p in prepare(Source("s", twice), REGIONS).places if p.found.kind == "money"]
    told = read("The red ticket is $8.", twice)
    one = ranked(0, [every[1]], [every[0]], told).margin
    both = ranked(0, [every[1]], [every[0], every[2]], told).margin
    assert abs(one - both) < 1.5


def test_the_stored_model_has_a_weight_for_each_feature_and_no_other() -> None:
    assert set(json.loads(MODEL.read_text("utf-8"))["weights"]) == set(FEATURES)
    assert 0 < model().contact_doubt_from < model().contact_from


@given(st.text(alphabet="ab $4719|:\n-.Large small week", max_size=200), st.text(max_size=80))
def test_any_text_has_finite_features(source: str, question: str) -> None:
    text = f"{source}\nFare: $4\nFine: $7"
    found = [p for p in prepare(Source("s", text), REGIONS).places if p.found.kind == "money"]
    told = read("The fare is $4.", text, question)
    around = weighed_words(0, told, found)
    for place in found:
        row = features(place, around)
        assert len(row) == len(FEATURES)
        assert all(map(isfinite, row))
