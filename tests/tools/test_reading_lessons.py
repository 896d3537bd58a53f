"""What teaches the reader: questions whose answers stand in the pages, and how a quoted line is known in the blocks of a page."""

from __future__ import annotations

from collections import Counter

import pytest

from tools.fitting.lessons import LESSONS, asks, companies, is_of


def test_every_quoted_line_stands_in_its_page() -> None:
    """A line that is not there would teach that every block is wrong."""
    for company in companies():
        pages = {path.name: path.read_text("utf-8") for path in (company / "kb").glob("*.md")}
        for ask in asks(company):
            assert bool(ask.page) == bool(ask.quotes), (company.name, ask.question)
            assert all(line in pages[ask.page] for line in ask.quotes), (company.name, ask.question)


def test_lessons_are_by_many_hands_and_ask_what_no_page_answers_too() -> None:
    found = [(company, asks(company)) for company in companies()]
    authors = {company.relative_to(LESSONS).parts[0] for company, _ in found}
    every = [ask for _, group in found for ask in group]
    langs = Counter(ask.lang for ask in every)
    assert len(authors) >= 36
    assert len(every) > 9000
    assert sum(not ask.page for ask in every) > len(every) / 10
    assert all(langs[lang] > 50 for lang in ("de", "fr", "es", "it", "nl", "pl", "pt"))
    for company, group in found:
        assert len({ask.question for ask in group}) == len(group), company.name


@pytest.mark.parametrize(
    ("line", "block"),
    [
        (
            "We can hold dates for 48 hours without payment, by phone only.",
            "We can hold dates for 48 hours without payment, by phone only.",
        ),
        ("- **Pets**: two dogs at most, on a lead.", "- Pets: two dogs at most, on a lead."),
        ("| Fibre 300 | £31.00 | £39.00 |", "Plan: Fibre 300 | Monthly: £31.00 | Without contract: £39.00"),
        (
            "Cancel within 14 days of delivery and it costs nothing. After that the fee is half the price of the visit that was booked.",
            "After that the fee is half the price of the visit that was booked.",
        ),
    ],
)
def test_a_line_is_known_in_a_block(line: str, block: str) -> None:
    assert is_of(line, block)


@pytest.mark.parametrize(
    ("line", "block"),
    [
        ("| Fibre 300 | £31.00 | £39.00 |", "Plan: Fibre 900 | Monthly: £42.00 | Without contract: £51.00"),
        ("The fee is half the price of the visit.", "The fee."),
        ("Returns are free for 30 days.", "Exchanges are free for 60 days, in every shop, with the receipt."),
    ],
)
def test_another_line_is_not(line: str, block: str) -> None:
    assert not is_of(line, block)
