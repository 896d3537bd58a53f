"""A passage as blocks: rows, steps, items under their lead-in, sentences."""

from hypothesis import given
from hypothesis import strategies as st

from grounding.quoting.blocks import LONG, blocks, cells, says_something

PASSAGE = """# Stoves

Which one?

Model: S1 | Price: $20
Model: S2 | Price: $30

How to clean it

1. Let it cool.
2. Take it apart.

What you need:
- a cloth
- soap and water

It is safe. Never leave it alone."""


def test_every_line_has_its_kind_heading_and_lead_in() -> None:
    found = blocks(PASSAGE)
    kinds = [(b.kind, b.text, b.lead) for b in found]
    assert ("row", "Model: S1 | Price: $20", "Which one?") in kinds
    assert ("step", "1. Let it cool.", "How to clean it") in kinds
    assert ("item", "- a cloth", "What you need:") in kinds
    assert {b.heading for b in found} == {"Stoves"}


CASES = """# Late

Ada P.: "My phone rings 8 seconds late. Why?"

Answer: It was in battery saver.

It is quick now.

# Other

Bo: "Where is it?"

# Next

Light: "on" means that it is on."""


def test_what_somebody_is_quoted_to_have_asked_leads_to_its_answer_and_is_none() -> None:
    assert [(b.text, b.lead) for b in blocks(CASES)] == [
        ("Answer: It was in battery saver.", 'Ada P.: "My phone rings 8 seconds late. Why?"'),
        ("It is quick now.", ""),
        ('Light: "on" means that it is on.', ""),
    ]


def test_blocks_of_one_table_or_list_share_a_run() -> None:
    runs = {b.text: b.run for b in blocks(PASSAGE)}
    assert runs["Model: S1 | Price: $20"] == runs["Model: S2 | Price: $30"]
    assert runs["1. Let it cool."] == runs["2. Take it apart."]
    assert len({runs["1. Let it cool."], runs["- a cloth"], runs["Model: S1 | Price: $20"]}) == 3


def test_a_long_paragraph_is_its_sentences_and_a_broken_line_goes_on() -> None:
    long = " ".join(["The first sentence says one thing about it.", "The second says another."] * (LONG // 8))
    assert all(b.text.count(".") == 1 for b in blocks(long))
    broken = "A line that the page broke in the middle because it was too wide for\nthe column of the page."
    assert [b.text for b in blocks(broken)] == [broken]


def test_lines_of_a_table_in_plain_text_stay_apart() -> None:
    text = "Blue, cash              600            1,200             2,500 in the branch\nBlue, online   2,500            5,000            10,000"
    assert [b.kind for b in blocks(text)] == ["row", "row"]
    priced = "R-2210   wheel set ... 34.00\nR-2212   wheel set ..... 41.00"
    assert [b.kind for b in blocks(priced)][1] == "row"


def test_cells_name_their_columns_and_stand_in_the_row() -> None:
    row = "Rate | Easy Saver: 1.10 % | Fixed 12: 2.30 %"
    found = cells(row)
    assert [c.header for c in found] == ["", "Easy Saver", "Fixed 12"]
    assert all(row[c.span.start : c.span.end] == c.span.text for c in found)


def test_a_block_without_a_term_says_nothing() -> None:
    assert [says_something(b) for b in blocks("- of the\n- price\n- 42")] == [False, True, True]
    assert [says_something(b) for b in blocks("Price\n\nPrices:\n\nPrice list\n\n42\n\nPRICE LIST")] == [
        False,
        True,
        True,
        True,
        False,
    ]


TEXTS = st.lists(
    st.sampled_from(["# Head", "a | b: c", "1. step", "- item", "Some words here.", "", "Lead:", "  x  ", "é ü 😀"]),
    max_size=12,
).map("\n".join)


@given(TEXTS | st.text(max_size=200))
def test_blocks_stand_in_the_text_in_order_and_apart(text: str) -> None:
    at = 0
    for block in blocks(text):
        assert text[block.start : block.end] == block.text
        assert at <= block.start < block.end
        at = block.end
