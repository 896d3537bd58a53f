"""The dialog of a checked message: below each value the line of a source that says whose it is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.teams.extension.checked import MAX_LINE, ROWS, checked, found_of
from bot.teams.shown.message_limits import check_card
from bot.wording.conversation.card import CardWords
from bot.wording.conversation.extension import ExtensionWords
from grounding.records import Passage
from rai.check.match import check_claims
from rai.records import SUPPORTED, Claim, EvidenceSpan, Report, Source

WORDS = ExtensionWords("en")
PLANS = Passage("c1", "plans.md", "Plans", "Clips are kept for | Watch Plus: 30 days | Watch Pro: 60 days")
LAW = Passage("c2", "law.md", "Terms", "- Write to us within 60 days if a part of a month was lost.\n- We answer soon.")


def lines(message: str, *passages: Passage) -> list[str]:
    """The lines of sources in the dialog of a checked message."""
    sources = [Source(p.chunk_id, p.text, p.title) for p in passages]
    report = Report("supported", 0.0, check_claims(message, sources))
    card = checked(message, report, passages, ExtensionWords("en"), CardWords("en"))["task"]["value"]["card"]["content"]
    assert check_card(card) == []
    texts = ["".join(run["text"] for run in item.get("inlines", ())) for item in card["body"]]
    return [t.strip("“”") for t in texts if t.startswith("“")]


def test_below_a_value_stands_the_line_that_has_most_words_of_the_message() -> None:
    assert lines("With Watch Pro a clip is kept for 60 days.", LAW, PLANS) == [PLANS.text]


def test_below_a_wrong_value_stands_what_the_source_says_instead() -> None:
    law = Passage("c2", "law.md", "Terms", "The hub is $75 and the siren is $39.")
    assert lines("Watch Plus keeps what it filmed 60 days.", PLANS, law) == [PLANS.text]


PLUS = Passage("c3", "plus.md", "Watch Plus", "Watch Plus costs $8.99 a month.")
SPARE = Passage(
    "c4", "spare.md", "Spare parts", "We stock a lot. A new battery for an old grey doorbell is sold in shops alone."
)


def test_of_a_value_that_stands_elsewhere_the_sources_own_line_is_shown_and_it_is_not_called_the_same() -> None:
    message = "A new battery for the old grey doorbell will be yours for $8.99 then."
    assert statuses(message, PLUS, SPARE)["$8.99"] == WORDS("apart")
    assert lines(message, PLUS, SPARE) == [PLUS.text, "A new battery for an old grey doorbell is sold in shops alone."]
    assert lines(message, PLUS) == [PLUS.text], "nothing is said of what the sentence is about"
    assert statuses("Watch Plus costs $8.99 a month.", PLUS, SPARE)["$8.99"] == CardWords("en").status("exact")


def statuses(message: str, *passages: Passage) -> dict[str, str]:
    """What the dialog says of each value."""
    report = Report("supported", 0.0, check_claims(message, [Source(p.chunk_id, p.text, p.title) for p in passages]))
    card = checked(message, report, passages, WORDS, CardWords("en"))["task"]["value"]["card"]["content"]
    rows = [[c["items"][0]["inlines"][0]["text"] for c in i["columns"]] for i in card["body"] if "columns" in i]
    return {title: status for title, status, *_ in rows}


def test_a_line_of_a_list_has_no_mark_and_a_name_has_no_line() -> None:
    assert lines("Write within 60 days if part of a month was lost, says the Acme Office.", LAW) == [
        "Write to us within 60 days if a part of a month was lost."
    ]


@pytest.mark.parametrize("before", ["", "so " * 200])
@pytest.mark.parametrize("after", ["", " and" * 200])
def test_of_a_long_line_the_part_around_the_value_is_shown(before: str, after: str) -> None:
    [line] = lines("It is $4.50.", Passage("c", "d", "Prices", f"{before}it is $4.50{after}"))
    assert "$4.50" in line
    assert len(line) <= 2 * MAX_LINE + len("$4.50") + 2
    assert (line[0] == "…", line[-1] == "…") == (bool(before), bool(after))


@pytest.mark.parametrize("between", range(MAX_LINE - 20, MAX_LINE))
def test_a_number_beside_it_is_shown_whole_or_not_at_all(between: int) -> None:
    apart = f" {'w' * between} "
    source = f"so +49 30 12345678{apart}it is $4.50{apart}+49 30 87654321 {'so ' * 40}"
    [line] = lines("It is $4.50.", Passage("c", "d", "Prices", source))
    assert line.count("+49 30 12345678") + line.count("+49 30 87654321") == line.count("30 ") == line.count("+49")
    assert "8 w" not in line or "+49 30 12345678" in line


def test_a_message_of_many_values_stays_within_the_limits_of_a_card() -> None:
    text = " ".join(
        f"Item {n} costs ${n}.50 and is sold in every shop of the town, on every day of the week." for n in range(30)
    )
    assert len(lines(text, Passage("c", "d", "Prices", text))) == ROWS


def header_of(message: str, source: str) -> str:
    """The line of the dialog that counts what was found."""
    report = Report("supported", 1.0, check_claims(message, [Source("c", source)]), None)
    dialog = checked(message, report, [Passage("c", "d", "Prices", source)], WORDS, CardWords("en"))
    card = dialog["task"]["value"]["card"]["content"]
    return "".join(run["text"] for run in card["body"][1]["inlines"])


def test_all_is_well_only_where_each_sentence_is_confirmed_as_a_whole() -> None:
    source = "Watch Plus costs $8.99 a month. A power adapter has 12 V."
    assert WORDS("all_supported") in header_of("Watch Plus costs $8.99 a month.", source)
    moved = header_of("A new battery for the old grey doorbell will be yours for $8.99 then.", source)
    assert WORDS("all_supported") not in moved
    assert WORDS.count("open", 1) in moved
    assert WORDS("all_supported") not in header_of("lunch at 12?", source)


DEVICES = (
    Passage("x2", "x2.md", "Wren X2 router", "The Wren X2 has Wi-Fi 7.\nPrice | Wren X2: $219.00"),
    Passage("x1", "x1.md", "Wren X1 router", "Price | Wren X1: $129.00"),
    Passage("roost", "roost.md", "Roost router", "Sensor: Keypad | Price: $35.00"),
    Passage("back", "back.md", "Return an order", "You can return any device within 45 days of delivery."),
)


@pytest.mark.parametrize(
    ("message", "value", "said"),
    [
        ("The Wren X2 costs $149.", "$149", ["“Price | Wren X2: $219.00”"]),
        ("The Wren X2 costs $149 and the Wren X1 is $99.", "$149", ["“Price | Wren X2: $219.00”"]),
        ("The Wren X2 costs $149 and the Wren X1 is $99.", "$99", ["“Price | Wren X1: $129.00”"]),
        (
            "You can return a device within 60 days.",
            "60 days",
            ["“You can return any device within 45 days of delivery.”"],
        ),
        ("The Kestrel 9 costs $149.", "$149", []),
        ("The Roost router costs $149.", "$149", []),
    ],
)
def test_beside_a_value_that_no_source_has_stands_what_they_say_of_the_same_thing(
    message: str, value: str, said: list[str]
) -> None:
    report = Report("unsupported", 1.0, check_claims(message, [Source(p.chunk_id, p.text, p.title) for p in DEVICES]))
    words = CardWords("en")
    found = found_of(message, report, DEVICES, WORDS, words)
    [row] = [row for row in found.rows if row.told.claim.text == value]
    assert row.told.claim.status not in SUPPORTED
    assert [f"“{line}”" for line in row.lines] == said


def test_below_a_sentence_that_nobody_confirmed_stands_the_line_that_it_was_held_against() -> None:
    line = "Opened cards and worn-out batteries cannot be returned."
    report = Report(
        claims=(
            Claim(
                "statement",
                "Opened cards can be returned.",
                0,
                29,
                evidence=(EvidenceSpan("c", "text", 0, len(line), line),),
            ),
        ),
        verdict="unchecked",
        score=0.0,
    )
    found = found_of("Opened cards can be returned.", report, [Passage("c", "d", "T", line)], WORDS, CardWords("en"))
    assert [row.lines for row in found.rows] == [(line,)]
    heading = [Passage("c", "d", "T", "## Opened cards")]
    short = replace(
        report, claims=(replace(report.claims[0], evidence=(EvidenceSpan("c", "text", 3, 15, "Opened cards"),)),)
    )
    assert [
        row.lines for row in found_of("Opened cards can be returned.", short, heading, WORDS, CardWords("en")).rows
    ] == [()]
