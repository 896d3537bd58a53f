"""Dates: every form with the near miss that looks like it."""

from __future__ import annotations

import itertools
from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rai.check.same.times import same_date
from rai.claims.found import Found
from rai.claims.times import dates, weekdays

FOUND = [
    ("holidays (25/12, 28/12 and 01/01)", [("25/12", "--12-25"), ("28/12", "--12-28"), ("01/01", "--01-01")]),
    ("Summer, 16/06–31/08\n 9 to 5", [("16/06", "--06-16"), ("31/08", "--08-31")]),
    ("on 2026-05-05 at", [("2026-05-05", "2026-05-05")]),
    ("2026/05/06", [("2026/05/06", "2026-05-06")]),
    ("on 5 May 2026", [("5 May 2026", "2026-05-05")]),
    ("May 5th", [("May 5th", "--05-05")]),
    ("the 5th of May", [("5th of May", "--05-05")]),
    ("am 5.5.2026", [("5.5.2026", "2026-05-05")]),
    ("am 5.5. noch", [("5.5.", "--05-05")]),
    ("05/06/2026", [("05/06/2026", "2026-05-06|2026-06-05")]),
    ("5/6/26", [("5/6/26", "2026-05-06|2026-06-05")]),
    ("on 5/6 we", [("5/6", "--05-06|--06-05")]),
    ("5-May-26", [("5-May-26", "2026-05-05")]),
    ("May 2026", [("May 2026", "2026-05")]),
    ("in May we", [("May", "--05")]),
    ("from April to October", [("April", "--04"), ("October", "--10")]),
    ("April–October 2026", [("April", "2026-04"), ("October 2026", "2026-10")]),
    # periods
    ("spring 2026", [("spring 2026", "2026-spring")]),
    ("Q3 2026", [("Q3 2026", "2026-Q3")]),
    ("2026 Q3", [("2026 Q3", "2026-Q3")]),
    ("in Q3", [("Q3", "--Q3")]),
    ("the third quarter of 2026", [("third quarter of 2026", "2026-Q3")]),
    ("H1 2026", [("H1 2026", "2026-H1")]),
    ("the 1990s", [("1990s", "199X")]),
    ("the '90s", [("'90s", "199X")]),
    ("the nineties", [("nineties", "199X")]),
    ("week 19 of 2026", [("week 19 of 2026", "2026-W19")]),
    ("KW 19/2026", [("KW 19/2026", "2026-W19")]),
    ("from 2015 to 2018", [("2015", "2015"), ("2018", "2018")]),
    # ranges
    ("5–8 May 2026", [("5", "2026-05-05"), ("8 May 2026", "2026-05-08")]),
    ("May 5-8", [("May 5", "--05-05"), ("8", "--05-08")]),
    ("May 5-8, 2026", [("May 5", "2026-05-05"), ("8, 2026", "2026-05-08")]),
    ("from 28 April to 3 May", [("28 April", "--04-28"), ("3 May", "--05-03")]),
    ("28 April – 3 May 2026", [("28 April", "2026-04-28"), ("3 May 2026", "2026-05-03")]),
    ("December 28 - January 3, 2027", [("December 28", "2026-12-28"), ("January 3, 2027", "2027-01-03")]),
    # a weekday beside a date
    ("Tuesday, 5 May 2026", [("Tuesday, 5 May 2026", "2026-05-05")]),
    ("5 May 2026 (Tuesday)", [("5 May 2026 (Tuesday)", "2026-05-05")]),
    ("Monday, 5 May 2026", [("Monday", "-W-1"), ("5 May 2026", "2026-05-05")]),
    ("Tue 5 May", [("Tue 5 May", "--05-05-W-2")]),
    ("Friday, 05/06/2026", [("Friday, 05/06/2026", "2026-06-05")]),
    # days of the week
    ("Monday to Friday", [("Monday to Friday", "-W-1/-W-5")]),
    ("Mon-Fri", [("Mon-Fri", "-W-1/-W-5")]),
    ("on weekdays", [("weekdays", "-W-1/-W-5")]),
    ("on weekends", [("weekends", "-W-6/-W-7")]),
    ("open daily.", [("daily", "-W-1/-W-7")]),
    ("daily housekeeping", [("daily", "-W-1/-W-7")]),
    ("Sunday to Saturday", [("Sunday to Saturday", "-W-1/-W-7")]),
    ("7 days a week", [("7 days a week", "-W-1/-W-7")]),
    ("Fri–Mon", [("Fri–Mon", "-W-5/-W-1")]),
    ("Sat & Sun", [("Sat", "-W-6"), ("Sun", "-W-7")]),
    # other languages
    ("am 3. März 2026", [("3. März 2026", "2026-03-03")]),
    ("le 5 mai", [("5 mai", "--05-05")]),
    ("le 1er mars", [("1er mars", "--03-01")]),
    ("el 5 de mayo de 2026", [("5 de mayo de 2026", "2026-05-05")]),
    ("8 marzo 2026", [("8 marzo 2026", "2026-03-08")]),
    ("5 de outubro", [("5 de outubro", "--10-05")]),
    ("5 set 2026", [("5 set 2026", "2026-09-05")]),
    ("Mo–Fr", [("Mo–Fr", "-W-1/-W-5")]),
    ("du lundi au vendredi", [("lundi au vendredi", "-W-1/-W-5")]),
    ("de lunes a viernes", [("lunes a viernes", "-W-1/-W-5")]),
    ("dal lunedì al sabato", [("lunedì al sabato", "-W-1/-W-6")]),
    ("segunda a sexta-feira", [("segunda a sexta-feira", "-W-1/-W-5")]),
]  # fmt: skip

NOT_FOUND = [
    "he may 5 times", "we march 5 miles", "32 May 2026", "2026-13-01", "13/13/2026", "5 out of 10", "5 set up", "Set 5", "3rd Gen 2020",
    "Mars 2020", "a mars bar", "iOS 10.4.11", "1/2 cup", "fiscal year 2026", "Q3 FY26", "Q1. How do I pay?", "spring 5.3", "in the 90s °F",
    "of 2000 users", "a daily limit", "Have a great weekend!", "Black Friday", "the sun - a star", "Sat down", "mon ami", "So 5 came",
    "terça parte", "in march", "May I help", "week 3", "sábana",
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), FOUND)
def test_found(text: str, expected: list[tuple[str, str]]) -> None:
    """Exactly these dates, by span and normal form."""
    assert [(text[f.start : f.end], f.value) for f in dates.find(text)] == expected


@pytest.mark.parametrize("text", NOT_FOUND)
def test_not_found(text: str) -> None:
    """What only looks like a date is none."""
    assert dates.find(text) == []


def _one(text: str) -> Found:
    (found,) = dates.find(text)
    return found


@pytest.mark.parametrize(
    ("claim", "source", "same"),
    [
        ("weekdays", "Monday to Friday", True), ("Mon-Fri", "weekdays", True), ("on Tuesday", "Monday to Friday", True),
        ("on Saturday", "Mon–Fri", False), ("Mon-Thu", "Mon-Fri", False), ("on weekends", "open daily.", True), ("open daily.", "on weekends", False),
        ("5 May 2026", "Tuesday, 5 May 2026", True), ("Tuesday, 5 May", "5 May 2026", True), ("Monday, 5 May", "5 May 2026", False),
        ("in May we", "5 May 2026", True), ("5 May 2026", "in May we", False), ("Q2 2026", "5 May 2026", True), ("Q3 2026", "5 May 2026", False),
        ("the 1990s", "since 1995", True), ("since 1995", "the 1990s", False), ("2026-W19", "5 May 2026", True), ("2026-W20", "5 May 2026", False),
        ("05/06/2026", "5 June 2026", True), ("05/06/2026", "5 July 2026", False), ("on Tuesday", "5 May 2026", False),
        ("on Tuesday", "Tuesday, 5 May 2026", True), ("5 May 2026", "5 May", False),
    ],
)  # fmt: skip
def test_same_date(claim: str, source: str, same: bool) -> None:
    """A source's date holds what it says in other words or more exactly, and nothing else."""
    assert same_date(_one(claim), _one(source), source) is same


def test_days_listed_one_by_one_hold_their_range() -> None:
    """Saturday and Sunday are the weekend, Saturday alone is not."""
    line = "Open Saturday and Sunday."
    assert all(same_date(_one("on weekends"), day, line) for day in dates.find(line))
    assert not same_date(_one("on weekends"), _one("Open Saturday."), "Open Saturday.")


DAYS = st.dates(min_value=date(1900, 1, 1), max_value=date(2069, 12, 31))


@settings(max_examples=60, deadline=None)
@given(
    DAYS,
    st.sampled_from(
        ["{0:%d %B %Y}", "{0:%B %d, %Y}", "{0:%Y-%m-%d}", "{0:%d.%m.%Y}", "{0:%A, %d %B %Y}", "{0:%b %d, %Y}"]
    ),
)
def test_every_day_is_read(day: date, form: str) -> None:
    """Each form of a day reads as that day, whole."""
    text = form.format(day)
    assert [(f.start, f.end, f.value) for f in dates.find(text)] == [(0, len(text), day.isoformat())]


@settings(max_examples=60, deadline=None)
@given(DAYS, st.integers(1, 6))
def test_a_wrong_weekday_stands_for_itself(day: date, off: int) -> None:
    """The weekday of another day is not swallowed by the date."""
    other = day + timedelta(days=off)
    text = f"{other:%A}, {day:%d %B %Y}"
    assert [f.value for f in dates.find(text)] == [f"-W-{other.isoweekday()}", day.isoformat()]


PIECES = st.sampled_from(
    ["5", "May", " ", "-", "–", "/", ".", "2026", "th", "Monday", "Mon", "to", "and", "of", "de", "Q3", "'90s", "1990s", "weekdays", "daily", ",",
     "H1", "mars", "12", "week", "spring", "28", "in", "(", ")"]
)  # fmt: skip


@settings(max_examples=120, deadline=None)
@given(st.lists(PIECES, max_size=16).map("".join) | st.lists(PIECES, max_size=16).map(" ".join))
def test_spans_are_apart_and_forms_are_fixed_points(text: str) -> None:
    """Spans ascend without touching twice a character, and a normal form read again is itself."""
    found = dates.find(text)
    assert all(0 <= f.start < f.end <= len(text) for f in found)
    assert all(a.end <= b.start for a, b in itertools.pairwise(found))
    for form in {form for f in found for form in (f.value, *f.forms)}:
        assert [(f.start, f.end, f.value) for f in dates.find(form)] == [(0, len(form), form)]


def test_sets_of_days_wrap_around() -> None:
    """Friday to Monday are four days, every day is seven."""
    assert weekdays.days_of("-W-5/-W-1") == {5, 6, 7, 1}
    assert weekdays.days_of(weekdays.EVERY_DAY) == set(range(1, 8))
    assert weekdays.days_of("2026-05-05") == set()


@pytest.mark.parametrize("piece", ["May 5-", "Mon-", "1/1/", "5. ", "Q1 ", "to ", "'9", "2026-", "daily ", "week "])
def test_long_runs_are_read(piece: str) -> None:
    """100,000 characters of one kind end; a backtracking trap would not."""
    text = piece * (100_000 // len(piece))
    assert all(f.end <= len(text) for f in dates.find(text))
