"""What is searched for, from an address and back."""

from __future__ import annotations

from urllib.parse import parse_qsl

import pytest

from bot.desk.search import NAMED, SHOWN, DeskSearch, day_after, misread


def test_an_address_leads_to_the_search_that_made_it() -> None:
    wanted = DeskSearch(words='"ten days" refund*', since="2026-11-01", user="ada", status="unsupported", struck="yes")
    assert DeskSearch.of(dict(parse_qsl(wanted.address()))) == wanted
    assert DeskSearch.of(dict(parse_qsl(wanted.older(17)))).before == 17
    assert "before" not in DeskSearch(before=9).address()


@pytest.mark.parametrize(
    "query",
    [
        {"outcome": "nonsense"},
        {"kind": "content"},
        {"since": "yesterday"},
        {"until": "20261125"},
        {"before": "x"},
        {"before": "-1"},
        {"before": "9" * 17},
        {"claim": "x", "status": "y", "feedback": "z", "use": "q", "struck": "1", "arrived": "maybe"},
        {"nothing": "x"},
    ],
)
def test_what_is_not_known_narrows_nothing(query: dict[str, str]) -> None:
    assert DeskSearch.of(query) == DeskSearch()


def test_a_value_is_cut_before_it_is_searched_for() -> None:
    found = DeskSearch.of({"words": "x" * 5000, "user": "u" * 5000})
    assert (len(found.words), len(found.user)) == (2_000, 200)


def test_some_conditions_hold_of_turns_alone() -> None:
    assert DeskSearch(document="kb/x.md").about_turns
    assert not DeskSearch(words="x", user="ada", since="2026-11-01").about_turns


@pytest.mark.parametrize(
    ("words", "phrases"),
    [
        ("refund days", (("refund", False), ("days", False))),
        ('"ten days" refund', (("ten days", False), ("refund", False))),
        ("refund*", (("refund", True),)),
        ("“ten days”", (("ten days", False),)),
        ('a" OR "b', (("a", False), ("OR", False), ("b", False))),
        ("* - ()", ()),
        ('""', ()),
    ],
)
def test_words_are_words_and_phrases_and_no_language_of_queries(
    words: str, phrases: tuple[tuple[str, bool], ...]
) -> None:
    assert DeskSearch(words=words).phrases() == phrases


def test_every_name_can_be_searched_for_by_an_address() -> None:
    assert "words" in NAMED
    assert "before" not in NAMED


def test_the_day_after() -> None:
    assert day_after("2026-12-31") == "2027-01-01"
    assert day_after("9999-12-31") == "9999-12-31"


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ({"since": "yesterday"}, ["“yesterday” is no day: it was left out. Allowed: a day as 2026-11-25"]),
        ({"until": "2026-13-45"}, ["“2026-13-45” is no day: it was left out. Allowed: a day as 2026-11-25"]),
        ({"struck": "maybe"}, ["“maybe” is no struck: it was left out. Allowed: yes"]),
        ({"words": "a " * 1_500}, ["only the first 2000 characters of words were searched for"]),
        ({"user": "u" * 201}, ["only the first 200 characters of user were searched for"]),
        (
            {"since": "2026-11-20", "until": "2026-11-19"},
            ["nothing lies between 2026-11-20 and 2026-11-19: the first day is after the last"],
        ),
        ({"struck": "x" * 90}, ["“" + "x" * SHOWN + "…” is no struck: it was left out. Allowed: yes"]),
        ({"since": "2026-11-19", "until": "2026-11-20", "outcome": "answered", "words": "a b"}, []),
        ({"colour": "red", "before": "x"}, ["“colour” was left out: nothing here is called so"]),
        ({"colour": " ", "before": "x"}, []),
        ({"version": "abc"}, ["version was left out: it narrows a document, and none is named"]),
        ({"use": "evidence"}, ["use was left out: it narrows a document, and none is named"]),
        ({"version": "abc", "document": "a.md", "use": "evidence"}, []),
    ],
)
def test_what_a_search_leaves_out_is_told(query: dict[str, str], says: list[str]) -> None:
    assert list(misread(query)) == says
