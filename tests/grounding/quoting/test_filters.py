"""Questions that filter a table, and those that do not."""

from __future__ import annotations

import pytest

from grounding.quoting.blocks import cells
from grounding.quoting.features import candidates
from grounding.quoting.filters import MOST, filtered, shown_cells, tables_together
from grounding.quoting.question_parts import read
from grounding.quoting.siblings import fitted_tables
from grounding.records import Passage

SHOPS = """code: CRK | city: Cork | country: IE | mon_fri: 9-17 | saturday: 10:00-13:00 | sunday: closed | car_park: no | key_cutting: yes
code: GLW | city: Galway | country: IE | mon_fri: 9-17 | saturday: closed | sunday: closed | car_park: 12 spaces | key_cutting: no
code: LYN | city: Lyon | country: FR | mon_fri: 9-18 | saturday: 9-12 | sunday: closed (first Sunday of the month 10-12) | car_park: no | key_cutting: yes
code: NCE | city: Nice | country: FR | mon_fri: 9-18 | saturday: closed | sunday: closed | car_park: no¹ | key_cutting: yes"""


def kept(question: str, text: str = SHOPS) -> list[str] | None:
    passages = [Passage("c", "d", "Shops", text)]
    found, reading = candidates(passages), read(question)
    told = filtered(reading, fitted_tables(reading, found, passages))
    return None if told is None else [cells(found[i].block.text)[1].span.text.removeprefix("city: ") for i in told.rows]


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("which shops are open on a saturday", ["Cork", "Lyon"]),
        ("who is closed saturdays", ["Galway", "Nice"]),
        ("who's open saturdays in ireland", ["Cork"]),
        ("any of ours open on sunday?", ["Lyon"]),  # closed but for the hours that it says
        ("where do we have a car park", ["Galway"]),
        ("which places have no car park", ["Cork", "Lyon", "Nice"]),
        ("places that can't do key cutting", ["Galway"]),
        ("places that can’t do key cutting", ["Galway"]),
        ("which shops are not closed on a saturday", ["Cork", "Lyon"]),
        ("welche Läden haben samstags offen", ["Cork", "Lyon"]),
    ],
)
def test_each_row_that_fits_is_told_and_no_other(question: str, rows: list[str]) -> None:
    assert kept(question) == rows


def test_the_parts_of_a_table_that_is_filtered_stand_together() -> None:
    first, second = SHOPS.split("\n")[:2], SHOPS.split("\n")[2:]
    passages = [
        Passage("a", "hours", "Holidays", "Closed on Sundays that are holidays."),
        Passage("b", "shops", "Shops", "\n".join(second)),
        Passage("c", "fees", "Fees", "Fee: Key | Price: €4"),
        Passage("d", "shops", "Shops", "\n".join(first)),
    ]

    def order(question: str) -> str:
        return "".join(p.chunk_id for p in tables_together(question, passages))

    assert order("which shops are open on sunday") == "abdc"
    assert order("which fees are there") == "abcd"  # no column is asked about
    assert order("is cork open on sunday") == "abcd"


PLANS = "Plan: Care | Germany: not offered | France: not offered\nPlan: Link | Germany: €16.90 | France: no\nPlan: Watch | Germany: no | France: €9.79"


def test_a_column_of_a_country_is_asked_about_with_what_its_rows_are() -> None:
    told = [fitted(question) for question in ("which plans can I get in Germany", "who do I call in Germany")]
    assert told == [["Plan: Link"], None]


def fitted(question: str) -> list[str] | None:
    passages = [Passage("c", "d", "Plans", PLANS)]
    found, reading = candidates(passages), read(question)
    rows = filtered(reading, fitted_tables(reading, found, passages))
    return None if rows is None else [cells(found[i].block.text)[0].span.text for i in rows.rows]


@pytest.mark.parametrize(
    "question",
    [
        "when does cork open on saturday",  # nothing is listed
        "where is the cork shop, does it open saturdays",  # one row is named
        "which shops sell paint",  # no column is asked about
        "which shops are open on monday",  # all are: nothing is filtered
    ],
)
def test_other_questions_filter_nothing(question: str) -> None:
    assert kept(question) is None


def test_a_column_of_texts_is_no_yes_or_no() -> None:
    rows = "\n".join(f"city: Town {n} | manager: {name}" for n, name in enumerate(("Ann", "none", "Bob", "Cy")))
    assert kept("which shops have a manager", rows) is None


def test_what_nobody_would_read_is_not_listed() -> None:
    rows = "\n".join(f"city: Town{chr(97 + n)} | sunday: {'closed' if n == 0 else 'open'}" for n in range(MOST + 2))
    assert kept("which shops are open on sunday", rows) is None


def test_of_a_row_its_name_and_the_column_are_shown() -> None:
    row = cells("code: CRK | city: Cork | street: 4 Long Lane Cross | sunday: closed")
    assert [row[i].span.text for i in shown_cells(row, "sunday")] == ["code: CRK", "city: Cork", "sunday: closed"]
