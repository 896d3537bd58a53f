"""What is quoted: the best block of each part, what belongs to it, no siblings, and only the columns that are asked about."""

from collections.abc import Sequence

import pytest

from grounding.quoting.choose import AMPLE, SHORT, choose, numbered, outdone, procedures_together, room, shown
from grounding.quoting.features import BlockCandidate, candidates
from grounding.quoting.question_parts import read
from grounding.quoting.siblings import fitted_tables
from grounding.quoting.weighed import Weighed
from grounding.records import Passage


def passages(*texts: str, doc: str = "d") -> list[Passage]:
    return [Passage(f"c{n}", doc, "Help", text) for n, text in enumerate(texts)]


def chosen(question: str, found: Sequence[Passage], best: str, *, near: Sequence[str] = ()) -> list[str]:
    """The texts quoted when the block that holds `best` scores 0.9, those that hold one of `near` 0.6 and all others 0.1."""
    blocks = candidates(found)
    scores = [0.9 if best in c.block.text else 0.6 if any(n in c.block.text for n in near) else 0.1 for c in blocks]
    reading = read(question)
    fitted = fitted_tables(reading, blocks, found)
    told = [scores] * len(reading.parts)
    return [blocks[i].block.text for i in choose(Weighed(reading, blocks, found, fitted, told, told))]


STEPS = "How to pair it\n\n1. Open the app.\n2. Hold the key.\n3. Wait for the light."


def test_a_procedure_is_quoted_whole() -> None:
    assert chosen("how do I pair it", passages(STEPS), "Hold the key") == [
        "1. Open the app.",
        "2. Hold the key.",
        "3. Wait for the light.",
    ]


def test_a_procedure_of_which_several_steps_answer_is_told_whole_whatever_was_asked() -> None:
    """With a step left out it would be another procedure; a value in one step is told alone."""
    whole = ["1. Open the app.", "2. Hold the key.", "3. Wait for the light."]
    assert chosen("the lamp is red and F19 shows", passages(STEPS), "Open the app", near=["Wait"]) == whole
    assert chosen("which key is held", passages(STEPS), "Hold the key") == ["2. Hold the key."]


def test_a_procedure_without_the_value_that_is_asked_for_is_not_told_whole() -> None:
    """ "How long do refunds take?" is not answered by how something is returned, though two of its steps speak of refunds."""
    steps = "1. Pack the router.\n2. Print the label.\n3. The label is deducted from the refund."
    refund = "A refund takes 5 days until the amount shows."
    both = passages(f"{steps}\n\n{refund}")
    assert chosen("how long does a refund take", both, "5 days", near=["label"]) == [refund]
    assert chosen("how long does a refund take", passages(steps), "deducted", near=["Print"]) == steps.split("\n")[1:]


def test_of_blocks_about_as_likely_the_one_with_the_value_comes_first() -> None:
    found = passages("The label is deducted from the refund.\n\nA refund takes 5 days until the amount shows.")
    blocks, reading = candidates(found), read("how long does a refund take")
    for other, first in ((0.85, 1), (0.6, 0)):
        told = [[0.9, other]]
        assert choose(Weighed(reading, blocks, found, (), told, told))[0] == first


def test_a_second_value_is_quoted_only_where_it_is_nearly_as_likely() -> None:
    found = passages(
        "Quotes hold for 45 days.\n\nQuotes of 2023 held for 30 days.\n\nQuotes are written by the estimator."
    )
    blocks, reading = candidates(found), read("how many days does a quote hold")
    for other, told in ((0.6, [0, 2]), (0.8, [0, 1, 2])):
        scores = [[0.9, other, 0.6]]
        assert choose(Weighed(reading, blocks, found, (), scores, scores)) == told
    scores = [[0.9, 0.6, 0.6]]
    assert choose(Weighed(read("what about quotes"), blocks, found, (), scores, scores)) == [0, 1, 2]


def test_a_procedure_that_does_not_fit_is_not_completed() -> None:
    long = "\n".join(f"{n}. Turn the key numbered {n} {'very ' * 40}slowly." for n in range(1, 9))
    told = chosen("F19 shows", passages(long), "numbered 1 ", near=["numbered 3 "])
    assert [line[0] for line in told] == ["1", "3"]


def test_beside_steps_only_what_scores_nearly_as_well_is_quoted() -> None:
    text = f"{STEPS}\n\nThe colour of the light tells the state."
    assert len(chosen("how do I pair it", passages(text), "Hold the key", near=["colour"])) == 3
    assert len(chosen("what tells the state", passages(text), "Hold the key", near=["colour"])) == 2


def test_where_steps_are_asked_for_a_procedure_is_as_likely_as_one_of_its_steps() -> None:
    found = passages(f"{STEPS}\n\nThe price is $99.00.")
    blocks, reading = candidates(found), read("how do I pair it")
    told = procedures_together([[0.5, 0.5, 0.0, 0.6]], reading, blocks, found)
    assert told == [[0.75, 0.75, 0.0, 0.6]]
    assert procedures_together([[0.5, 0.5, 0.5, 0.6]], read("what does it cost"), blocks, found) == [
        [0.5, 0.5, 0.5, 0.6]
    ]


def test_a_long_procedure_beside_the_point_is_no_likelier_for_its_length() -> None:
    found = passages("\n".join(f"{n}. Turn key {n}." for n in range(1, 13)))
    blocks = candidates(found)
    [told] = procedures_together([[0.1] * 12], read("how do I pair it"), blocks, found)
    assert max(told) < 0.4


def test_steps_of_something_else_are_no_likelier_than_a_row_that_says_more() -> None:
    start = "Start a Wren X1\n\n1. Plug the Wren X1 in.\n2. Wait for the light.\n3. Connect the modem."
    found = [*passages(start), *passages("Device: Wren X1 | How to reset: press the pin", doc="e")]
    blocks = candidates(found)
    steps = [0.5 if c.block.kind == "step" else 0.9 for c in blocks]
    [told] = procedures_together([steps], read("how to reset a Wren X1"), blocks, found)
    assert told == steps, "the row is about resetting, the steps are not"
    [told] = procedures_together([steps], read("how to start a Wren X1"), blocks, found)
    assert max(told[:3]) > 0.8


def test_no_step_or_item_of_something_else_stands_beside_a_procedure() -> None:
    found = [*passages(STEPS), *passages("Closing\n\n1. Turn the light off.\n2. Pull the plug.", doc="e")]
    assert chosen("how do I pair it", found, "Hold the key", near=["light off"]) == [
        "1. Open the app.",
        "2. Hold the key.",
        "3. Wait for the light.",
    ]


def test_steps_keep_their_numbers_and_one_alone_has_none() -> None:
    found = passages(STEPS)
    blocks = candidates(found)
    assert [c.block.text for c in blocks] == ["1. Open the app.", "2. Hold the key.", "3. Wait for the light."]
    assert numbered([0, 2], blocks, found) == {0: 1, 2: 3}
    assert numbered([1], blocks, found) == {}


def test_the_procedure_is_read_before_what_stands_beside_it() -> None:
    found = [*passages("The colour of the light tells the state of the key."), *passages(STEPS, doc="e")]
    said = chosen("how do I pair it", found, "Hold the key", near=[])
    assert said[0] == "1. Open the app."


def test_a_step_alone_answers_what_is_no_procedure() -> None:
    assert chosen("which key is held", passages(STEPS), "Hold the key") == ["2. Hold the key."]


def test_steps_go_on_in_the_next_passage_of_the_document() -> None:
    text = "1. Open the app.\n2. Hold the key."
    assert len(chosen("how do I pair it", passages(text, "3. Wait for the light."), "Hold")) == 3


def test_a_lead_in_takes_its_list_along() -> None:
    text = "You need these papers:\n- the receipt\n- an identity card"
    assert len(chosen("what must she bring", passages(text), "You need")) == 3


ROWS = "Country: Belgium | Fee: $5\nCountry: Germany | Fee: $6\nCountry: France | Fee: $7"


def test_rows_of_other_subjects_are_left_out() -> None:
    assert chosen("fee for Germany", passages(ROWS), "Germany", near=["Belgium", "France"]) == [
        "Country: Germany | Fee: $6"
    ]


def test_a_list_of_rows_is_what_a_list_asks_for() -> None:
    assert len(chosen("which countries have a fee", passages(ROWS), "Germany", near=["Belgium", "France"])) == 3


def test_a_comparison_keeps_the_rows_that_it_names() -> None:
    quoted = chosen("fee Germany vs Belgium", passages(ROWS), "Germany", near=["Belgium", "France"])
    assert quoted == ["Country: Belgium | Fee: $5", "Country: Germany | Fee: $6"]


def test_a_comparison_sets_the_likeliest_other_row_beside_the_best() -> None:
    """ "Someone who sleeps over against someone awake" names neither row in its own words."""
    blocks, found = candidates(passages(ROWS)), passages(ROWS)
    reading = read("fee of the one up north vs the southern one")
    scores = [[0.2, 0.9, 0.3]]
    fitted = fitted_tables(reading, blocks, found)
    assert choose(Weighed(reading, blocks, found, fitted, scores, scores)) == [1, 2]


def test_what_was_asked_last_tells_the_row() -> None:
    first, second, _ = candidates(passages(ROWS))
    asked = read("fee for Belgium same but for Germany", "same but for Germany")
    assert outdone(first, second, asked, passages(ROWS))
    assert not outdone(second, first, asked, passages(ROWS))


def test_the_best_block_is_read_first_and_at_most_four_follow_a_value() -> None:
    facts = [f"Fact {n} about the fee." for n in range(6)]
    quoted = chosen("what is the fee", passages("\n\n".join(facts)), "Fact 4", near=["Fact"])
    assert quoted == [facts[4], facts[0], facts[1], facts[2]]


def test_what_belongs_together_is_read_as_it_stands() -> None:
    first = "A note on the fee."
    papers = "You need these papers for the fee:\n- the receipt\n- an identity card"
    quoted = chosen("what is the fee", passages(f"{first}\n\n{papers}"), "You need", near=["note"])
    assert quoted == ["You need these papers for the fee:", "- the receipt", "- an identity card", first]
    paragraph = " ".join(f"Sentence {n} of this paragraph about the fee has exactly eleven words." for n in range(5))
    read_on = chosen("what is the fee", passages(f"{first}\n\n{paragraph}"), "Sentence 2", near=["Sentence 1", "note"])
    assert [text.split()[1] for text in read_on] == ["1", "2", "note"]


def test_the_answer_keeps_to_its_room() -> None:
    long = "\n\n".join(
        f"Fact {n} about the fee says in somewhat more than thirty words what it costs and when it is due to be paid, and to whom, and that it is paid once alone."
        for n in range(40)
    )
    words = sum(len(t.split()) for t in chosen("what is the fee", passages(long), "Fact 3 ", near=["Fact"]))
    assert 60 < words <= SHORT == room(read("what is the fee"))
    assert room(read("how do I pay the fee")) == AMPLE


def row(text: str) -> BlockCandidate:
    return candidates(passages(text))[0]


@pytest.mark.parametrize(
    ("question", "quoted"),
    [
        ("rate of the Easy Saver 30", "Rate | Easy Saver 30: 1.65 %"),
        ("rate on the 30 day saver", "Rate | Easy Saver 30: 1.65 %"),
        ("rate of Easy Saver", "Rate | Easy Saver: 1.10 %"),
        ("Easy Saver or Fixed 12, rate?", "Rate | Easy Saver: 1.10 % | Fixed 12: 2.30 %"),
        (
            "rate of the plain saver against Fixed 12",
            "Rate | Easy Saver: 1.10 % | Easy Saver 30: 1.65 % | Fixed 12: 2.30 %",
        ),
        ("what rates are there", "Rate | Easy Saver: 1.10 % | Easy Saver 30: 1.65 % | Fixed 12: 2.30 %"),
    ],
)
def test_of_things_side_by_side_only_those_asked_about_are_quoted(question: str, quoted: str) -> None:
    text = "Rate | Easy Saver: 1.10 % | Easy Saver 30: 1.65 % | Fixed 12: 2.30 %"
    assert shown(row(text), read(question)) == quoted


LONG_ROW = (
    "Plan: Fern | Rhythm: every week on a fixed weekday with an arrival time of 60 minutes | In every visit: kitchen surfaces, hob and sink, bathroom with taps, dusting,"
    " vacuuming of all floors, emptying of bins | Not in the plan: the inside of oven and fridge, windows, ironing | Notice: 4 weeks | Pauses: up to 6 weeks a year"
)


@pytest.mark.parametrize(
    ("question", "quoted"),
    [
        ("how long is the notice of fern", "Plan: Fern | Notice: 4 weeks"),
        (
            "can a fern be paused, and what is the notice?",
            "Plan: Fern | Notice: 4 weeks | Pauses: up to 6 weeks a year",
        ),
        ("does fern do windows", "Plan: Fern | Not in the plan: the inside of oven and fridge, windows, ironing"),
        ("what about the fern", LONG_ROW),
    ],
)
def test_of_a_row_as_long_as_a_paragraph_the_cells_that_are_asked_about_are_quoted(question: str, quoted: str) -> None:
    assert shown(row(LONG_ROW), read(question)) == quoted


def test_a_row_about_one_thing_is_quoted_whole() -> None:
    text = "Model: S1 | Price: $20 | Weight: 2 kg"
    assert shown(row(text), read("price of the S1")) == text


def test_a_question_in_a_row_is_never_quoted_without_its_answer() -> None:
    answer = "From 1 May it may weigh 10 kg at most, for the sake of our drivers' backs. " * 4
    text = f"Nr: 101 | Question: How heavy may a soil bag be? | Answer: {answer.strip()} | Owner: desk"
    quoted = shown(row(text), read("how heavy can a bag be"))
    assert "10 kg at most" in quoted
    assert "Owner" not in quoted


def test_of_prices_in_several_countries_only_the_one_that_is_asked_is_shown() -> None:
    text = "Product: Wren | USA: $219 | Germany: €235 | France: €239"
    assert shown(row(text), read("what is the wren in germany")) == "Product: Wren | Germany: €235"
    assert shown(row(text), read("what does the wren cost a french customer")) == "Product: Wren | France: €239"


@pytest.mark.parametrize("nothing", ["–", "-", "n/a"])
def test_a_column_of_countries_is_one_whatever_stands_in_it(nothing: str) -> None:
    text = f"Fee: Theft | Germany: €150 | UK: £120 | Denmark: 1,100 kr | Canada: {nothing}"
    assert shown(row(text), read("theft fee for a british rider")) == "Fee: Theft | UK: £120"
    assert shown(row(text), read("theft fee")) == text


def test_beside_columns_of_other_countries_what_is_of_none_is_shown_too() -> None:
    text = "art: E-01 | item: ear mould | IE EUR: 80.00 | AT EUR: 82.00 | remark: hard"
    assert (
        shown(row(text), read("ear mould price austria"))
        == "art: E-01 | item: ear mould | AT EUR: 82.00 | remark: hard"
    )
    assert shown(row(text), read("ear mould price belgium")) == text


def test_of_several_numbers_the_one_that_is_named_is_shown() -> None:
    text = "country: UK | customer line: +44 117 496 0410 | breakdown line: +44 117 496 0499 | e-mail: a@b.example"
    assert shown(row(text), read("breakdown line uk")) == "country: UK | breakdown line: +44 117 496 0499"
    assert shown(row(text), read("phone number uk")) == text
    one = "country: UK | customer line: +44 117 496 0410 | opens: 9:00"
    assert shown(row(one), read("customer line uk")) == one
    apart = "Plan: Wren | Price: $219 | Deposit: $50 | Germany: €239"
    assert shown(row(apart), read("what is the wren in germany")) == apart


def test_things_side_by_side_are_known_by_the_name_of_their_first_column_too() -> None:
    text = "Property: Wi-Fi | X1: Wi-Fi 6 | X2: Wi-Fi 7"
    assert shown(row(text), read("wifi of the x2")) == "Property: Wi-Fi | X2: Wi-Fi 7"


def test_rows_of_a_table_that_the_evidence_cut_apart_stand_as_in_their_document() -> None:
    late, early = "Colour | X1: red | X2: blue", "Weight | X1: 2 kg | X2: 3 kg"
    found = [
        Passage("c2", "d", "Comparison", f"Property: {late}", start=400),
        Passage("c1", "d", "Comparison", f"Property: {early}", start=10),
    ]
    assert chosen("X1 vs X2", found, "Colour", near=["Weight"]) == [f"Property: {early}", f"Property: {late}"]
