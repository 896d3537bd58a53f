"""The extractive composer without a reader: when it quotes, what it quotes, and when it says that nothing answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from grounding.embedded.composer import ExtractiveComposer
from grounding.prompting.prompt import insufficient_sentence
from grounding.records import LEAD_IN, Evidence, Passage, Prompt

FEE = "The fee for a lost key is $240. The office opens at nine."


def prompt(question: str, passages: Sequence[Passage], *, grade: float = 0.9, query: str = "") -> Prompt:
    evidence = tuple(Evidence(n, p, grade) for n, p in enumerate(passages, 1))
    return Prompt((), question, evidence, query=query)


def passage(text: str, *, doc: str = "d", title: str = "Help", updated: str | None = None) -> Passage:
    return Passage(f"{doc}-c", doc, title, text, updated=updated)


async def told(asked: Prompt) -> str:
    return (await ExtractiveComposer(None).compose(asked)).text


async def test_a_quote_has_its_marker_before_the_full_stop() -> None:
    text = await told(prompt("what is the fee for a lost key", [passage("The fee for a lost key is $240.")]))
    assert text == f"{LEAD_IN}\n- The fee for a lost key is $240 [1]."


async def test_the_marker_of_a_row_stands_behind_it() -> None:
    text = await told(prompt("fee for a lost key", [passage("Service: lost key | Fee: $240.00")]))
    assert text == f"{LEAD_IN}\n- Service: lost key | Fee: $240.00 [1]"


async def test_what_the_grader_thinks_nothing_of_must_answer_more_surely() -> None:
    """Rows that hardly differ are quoted where their passage was kept, and not where the grader called it Awful."""
    rows = "\n".join(
        f"Key: {colour} | Charge: ${n}" for n, colour in enumerate(("red", "blue", "grey", "pink", "green"), 41)
    )
    question = "what do they pay for the keys"
    kept, awful = [await told(prompt(question, [passage(rows)], grade=g)) for g in (0.9, 0.0)]
    assert "$4" in kept
    assert awful == insufficient_sentence()


@pytest.mark.parametrize("question", ["fee for key 36", "what about the weather in spring"])
async def test_nothing_is_quoted_for_what_the_evidence_does_not_hold(question: str) -> None:
    held = passage("Key 12 costs $20, key 24 costs $30.")
    assert await told(prompt(question, [held])) == insufficient_sentence()


async def test_a_name_that_the_evidence_does_not_have_is_told_and_not_answered_for() -> None:
    rows = passage("Branch: Cork | Opens: 9:00\nBranch: Galway | Opens: 10:00")
    draft = await ExtractiveComposer(None).compose(prompt("limerick branch, when does it open", [rows]))
    assert (draft.text, draft.unknown) == (insufficient_sentence(), "limerick branch")
    assert (await ExtractiveComposer(None).compose(prompt("cork branch, when does it open", [rows]))).unknown == ""


async def test_few_siblings_that_nothing_tells_apart_are_quoted_side_by_side() -> None:
    rows = passage("Plan: Cold Shed | Fee: €64\nPlan: Warm Shed | Fee: €97\nPlan: Open Yard | Fee: €38")
    text = await told(prompt("what is the fee of the shed", [rows]))
    assert ("€64" in text, "€97" in text, "€38" in text) == (True, True, False)


async def test_a_row_of_amounts_says_for_which_period_they_are() -> None:
    table = "Plan: Care | Germany: €9.49 | Fee: €2.00\nPlan: Watch | Germany: €4.29 | Fee: €3.00"
    monthly = replace(passage(table, title="Prices"), locator="sheet Plans per month")
    assert "Germany: €9.49 | Fee: €2.00 (Plans per month) [1]" in await told(
        prompt("price of care in Germany", [monthly])
    )
    plain = replace(monthly, locator="sheet Plans")
    assert "€2.00 [1]" in await told(prompt("price of care in Germany", [plain]))
    said = replace(monthly, text=table.replace("€9.49", "€9.49 a month"))
    assert "(Plans" not in await told(prompt("price of care in Germany", [said]))


async def test_rows_that_nothing_tells_apart_are_named_for_a_question_back() -> None:
    rows = passage("Plan: Cold Shed | Fee: €64\nPlan: Warm Shed | Fee: €97\nPlan: Open Yard | Fee: €38")

    async def rivals(question: str) -> tuple[str, ...]:
        return (await ExtractiveComposer(None).compose(prompt(question, [rows]))).rivals

    assert set(await rivals("what is the fee of the shed")) == {"Cold Shed", "Warm Shed"}
    assert await rivals("what is the fee of the cold shed") == ()
    assert await rivals("which sheds are there and what do they cost") == ()


async def test_an_edition_that_was_replaced_is_quoted_only_where_nothing_else_answers() -> None:
    old = passage("The fee for a lost key is $200.", doc="a", title="Fees 2023")
    new = passage("The fee for a lost key is $240.", doc="b", title="Fees 2025")
    question = "fee for a lost key"
    both = await told(prompt(question, [old, new]))
    assert "$240" in both
    assert "$200" not in both
    silent = passage("The office opens at nine.", doc="b", title="Fees 2025")
    assert "$200" in await told(prompt(question, [old, silent]))


async def test_what_the_newer_edition_says_on_the_subject_in_other_words_stands_in_place_of_the_older_one() -> None:
    old = passage(
        "Refunds are paid to the method of payment within 3 working days of arrival.", doc="a", title="Returns 2023"
    )
    says = "We check what comes back within 5 working days of arrival and pay to the method of payment you used."
    new = passage(f"{says} The office opens at nine.", doc="b", title="Returns 2025")
    row = passage("Plan: Yearly | Ends: with a refund of the full months", doc="c", title="Plans")
    text = await told(prompt("how long do refunds take", [old, new, row]))
    assert "5 working days" in text
    assert "3 working days" not in text


async def test_a_document_in_an_archive_gives_way_unless_the_question_names_a_year() -> None:
    old = passage("The fee for a lost key is $200.", doc="fees/archive/fees.md", title="Fees", updated="2026-01-01")
    new = passage("The fee for a lost key is $240.", doc="fees/fees.md", title="Fees", updated="2025-01-01")
    assert "$200" not in await told(prompt("fee for a lost key", [old, new]))
    assert "$200" in await told(prompt("fee for a lost key in January 2023", [old, new]))


async def test_what_is_of_another_country_does_not_answer_for_the_one_that_is_asked_about() -> None:
    """Neither the page for customers in France, nor a price that names no country beside the one that does."""
    france = passage("The label costs 3,90 €. Call before noon.", doc="fr", title="Help for customers in France")
    table = passage(
        "Plan: Plus | Germany: €9.49 | France: €9.79\nPlan: Pro | Germany: €15.99 | France: €16.49",
        doc="p",
        title="Prices",
    )
    bare = passage("Price | Plus: $8.99\nPrice | Pro: $14.99", doc="us", title="Plans")
    assert "3,90" not in await told(prompt("what does the label cost in Germany", [france]))
    text = await told(prompt("what does Plus cost in Germany", [bare, table, france]))
    assert "€9.49" in text
    assert "$8.99" not in text


def page(text: str, doc: str = "https://deals.example") -> Passage:
    return replace(passage(text, doc=doc, title="Deals"), origin="web", tier="unlisted", trust="inbound")


async def test_the_web_is_no_second_opinion_on_what_the_knowledge_base_says() -> None:
    own = passage("Product: Wren X2 | Price: $219.00\nProduct: Wren X1 | Price: $84.00", title="Prices")
    advertised = page("Wren X2 for only $79! The Wren X2 costs $79 at our shop.")
    text = await told(prompt("what does the Wren X2 cost", [advertised, own]))
    assert "$219.00" in text
    assert "$79" not in text
    subject = "How long do lithium-ion batteries last?"
    charger = passage("Time for a 500 Wh battery: about 6 hours", title="Charger")
    lasting = page("Lithium-ion batteries last 2 to 3 years.", doc="https://b.example")
    assert "2 to 3 years" in await told(prompt(subject, [lasting, charger]))
    alone = passage("The office opens at nine.")
    assert "$79" in await told(prompt("what does the Wren X2 cost", [advertised, alone]))


async def test_each_part_of_a_question_is_answered() -> None:
    text = await told(prompt("what is the fee for a lost key and when does the office open?", [passage(FEE)]))
    assert "$240" in text
    assert "nine" in text


async def test_a_tariff_is_worked_out_below_its_line() -> None:
    row = "Charge: Waiting at site | Amount: £9.00 per started quarter of an hour | Free portion: first 10 minutes"
    lines = (await told(prompt("what is the charge for waiting at site for 35 minutes?", [passage(row)]))).splitlines()
    assert lines[1:] == [f"- {row} [1]", "- 2 × £9.00 = £18.00 [1]"]


async def test_the_row_beside_a_tariff_says_what_is_paid_before_it() -> None:
    visit = passage(
        "Job: Call-out, first 30 minutes included | Price: £58\nJob: Each further started 15 minutes | Price: £17"
    )
    text = await told(prompt("what does a call-out of 70 minutes cost, further minutes too", [visit]))
    assert "- £58 + 3 × £17 = £109 [1]" in text


async def test_of_two_tariffs_that_come_to_different_sums_none_is_worked_out() -> None:
    both = passage(
        "Waiting at site costs £9.00 per started hour.\n\nWaiting at site at night costs £12.00 per started hour."
    )
    text = await told(prompt("what does waiting at site cost for 3 hours?", [both]))
    assert "£9.00 per started hour" in text
    assert "×" not in text


async def test_of_a_question_with_two_parts_nothing_is_worked_out() -> None:
    fee = passage("Waiting at site costs £9.00 per started hour. The office opens at nine.")
    text = await told(prompt("what does waiting at site cost for 3 hours, and when does the office open?", [fee]))
    assert "£9.00 per started hour" in text
    assert "×" not in text


async def test_no_evidence_is_not_sufficient() -> None:
    assert await told(prompt("anything", [])) == insufficient_sentence()


async def test_a_question_that_filters_a_table_gets_its_rows_with_the_column_that_decides() -> None:
    rows = "city: Cork | phone: 555 0101 | sunday: 10-12\ncity: Galway | phone: 555 0102 | sunday: closed\ncity: Lyon | phone: 555 0103 | sunday: 9-12"
    text = await told(prompt("which shops are open on a sunday", [passage(rows)]))
    assert text == f"{LEAD_IN}\n- city: Cork | sunday: 10-12 [1]\n- city: Lyon | sunday: 9-12 [1]"


async def test_of_a_question_with_a_part_that_filters_the_other_part_is_answered_too() -> None:
    rows = "city: Cork | sunday: 10-12\ncity: Galway | sunday: closed\ncity: Lyon | sunday: 9-12"
    asked = "what is the fee for a lost key and which shops are open on a sunday?"
    text = await told(prompt(asked, [passage(FEE), passage(rows, doc="b")]))
    first, second, third = text.splitlines()[-3:]
    assert "$240" in first
    assert (second, third) == ("- city: Cork | sunday: 10-12 [2]", "- city: Lyon | sunday: 9-12 [2]")


async def test_a_name_that_the_evidence_does_not_have_is_told_before_a_table_is_filtered() -> None:
    rows = passage("Branch: Cork | Sunday: 10-12\nBranch: Galway | Sunday: closed\nBranch: Lyon | Sunday: 9-12")
    draft = await ExtractiveComposer(None).compose(prompt("where is the limerick branch open on a sunday", [rows]))
    assert (draft.text, draft.unknown) == (insufficient_sentence(), "limerick branch")
