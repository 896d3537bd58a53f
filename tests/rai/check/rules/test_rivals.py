"""Whose row, section or line a value stands in, and what an answer must say to name another."""

from __future__ import annotations

import pytest

from rai.check.match import check_claims
from rai.records import Claim, Source

COVER = (
    "| Cover | Basic | Full |\n|---|---|---|\n| Water damage, burst pipes | $5,000 | $20,000 |\n"
    "| Excess for water damage | $400 | $150 |\n| Excess for theft | $700 | $300 |"
)
COUNTER = "| Day | Open | Order by |\n|---|---|---|\n| Mon–Thu | 7:00–21:00 | 23:00 |\n| Sat | 8:00–20:00 | 19:00 |"
LABS = "Level 2 (mechanical)\nPrice: $420 flat · Place: Norwick Labs\n\nLevel 3 (electrical: sparks, fire)\nPrice: $950 · Place: Almer Labs"
ROSTER = "Cancelled lessons: Petra Nowak, ext. 17\nLost property and keys: Ruud Bakker, ext. 22\nParking: Ines Duarte, ext. 31"


def judged(answer: str, source: str, text: str, question: str | None = None) -> Claim:
    claims = check_claims(answer, [Source("s1", source)], question)
    return next(c for c in claims if c.text == text and c.kind != "statement")


@pytest.mark.parametrize(
    ("answer", "source", "text", "rule"),
    [
        ("Full covers water damage. The excess in this case is $300.", COVER, "$300", "cell-row"),
        ("Saturday orders have to be in by 23:00.", COUNTER, "23:00", "cell-row"),
        ("A Level 3 repair is done at Norwick Labs.", LABS, "Norwick Labs", "section"),
        ("About lost keys please ask Petra Nowak.", ROSTER, "Petra Nowak", "list-item"),
    ],
)
def test_another_key_that_the_answer_names_speaks_against_a_value(
    answer: str, source: str, text: str, rule: str
) -> None:
    claim = judged(answer, source, text)
    assert (claim.status, claim.rule) == ("wrong_role", rule)


@pytest.mark.parametrize(
    ("answer", "source", "text"),
    [
        ("Full covers water damage. The excess in this case is $150.", COVER, "$150"),
        ("Saturday orders have to be in by 19:00.", COUNTER, "19:00"),
        ("Orders on Tuesday have to be in by 23:00.", COUNTER, "23:00"),
        ("A Level 3 repair is done at Almer Labs.", LABS, "Almer Labs"),
        ("About lost keys please ask Ruud Bakker.", ROSTER, "Ruud Bakker"),
        ("Extension 31 is for parking; about anything else ask Petra Nowak.", ROSTER, "Petra Nowak"),
    ],
)
def test_the_value_of_the_key_that_is_named_is_spared(answer: str, source: str, text: str) -> None:
    assert judged(answer, source, text).status in ("exact", "normalised")


ROOMS = (
    "house: Filature | room: Canette | seats: 12 | hour: €43\nhouse: Filature | room: Indigo | seats: 8 | hour: €31",
    "house: Alte Färberei | room: Krapp | seats: 14 | hour: €49 | remark: ground floor",
)


@pytest.mark.parametrize(("titles", "status"), [(("Rooms", "Rooms"), "wrong_role"), (("Rooms", "Old rooms"), "exact")])
def test_the_row_that_is_named_may_stand_in_another_passage_of_the_document(
    titles: tuple[str, str], status: str
) -> None:
    sources = [Source(f"s{n}", text, title) for n, (text, title) in enumerate(zip(ROOMS, titles, strict=True), 1)]
    claims = check_claims("Krapp is yours for €43 an hour.", sources)
    claim = next(c for c in claims if c.text == "€43")
    assert claim.status == status
    if claim.instead:
        assert (claim.rule, claim.instead.source, claim.instead.text) == ("cell-row", "s2", "€49")


def test_of_hours_the_end_is_told_for_an_end() -> None:
    claim = judged("On Fridays until 8pm.", "branch: Row | mon: 07:30-20:00 | fri: 07:30-19:00", "8pm")
    assert claim.instead
    assert claim.instead.text == "19:00"


def test_what_a_key_says_is_told_and_not_what_a_sentence_of_like_words_has_there() -> None:
    source = (
        "Plan: Backup Link 5 | Price: $7.50\nPlan: Backup Link 20 | Price: $16.50\n\n"
        "A hub uses Backup Link only for alerts, at most about 40 MB a month."
    )
    claim = judged("Backup Link 5 costs $16.50 a month.", source, "$16.50")
    assert (claim.status, claim.rule) == ("wrong_role", "cell-row")
    assert claim.instead
    assert claim.instead.text == "$7.50"
