"""Contacts and amounts of a text that was made of an answer stand where the answer has them."""

from __future__ import annotations

import pytest

from bot.turn.draft.moved_values import moves_values

A, B = "0800 111 2222", "0800 333 4444"
PROSE = "For a return call {0} [1]; for a late delivery call {1} [2]."
ONE_SENTENCE = "For a return call {0} and for a late delivery call {1} [1]."
LIST = "- Returns desk: {0} [1]\n- Shipping desk: {1} [1]"
UNDER_HEADINGS = "Returns\n- Telephone: {0} [1]\n\nShipping\n- Telephone: {1} [2]"
ROWS = "Desk: Returns | Telephone: {0} [1]\nDesk: Shipping | Telephone: {1} [1]"
GERMAN = {
    PROSE: "Für eine Rücksendung rufen Sie {0} an [1]. Bei einer verspäteten Lieferung rufen Sie {1} an [2].",
    ONE_SENTENCE: "Für eine Rücksendung rufen Sie {0} an und bei einer verspäteten Lieferung {1} [1].",
    LIST: "- Rücksendungen: {0} [1]\n- Versand: {1} [1]",
    UNDER_HEADINGS: "Rücksendungen\n- Telefon: {0} [1]\n\nVersand\n- Telefon: {1} [2]",
    ROWS: "Abteilung: Rücksendungen | Telefon: {0} [1]\nAbteilung: Versand | Telefon: {1} [1]",
}
ENGLISH = {
    PROSE: "Returns go through {0} [1]. With a late delivery it is {1} [2].",
    LIST: "For returns you can ring the desk on {0}, and the shipping desk on {1} [1].",
    UNDER_HEADINGS: "Returns: {0} [1]. Shipping: {1} [2].",
    ROWS: "- Returns: call {0} [1]\n- Shipping: call {1} [1]",
}
VALUES = [
    (A, B),
    ("020 7946 0018", "020 7946 0019"),
    ("returns@contoso.com", "shipping@contoso.com"),
    ("https://contoso.com/returns", "https://contoso.com/late"),
    ("DE89 3704 0044 0532 0130 00", "GB29 NWBK 6016 1331 9268 19"),
    ("$5", "$10"),
    (A, "shipping@contoso.com"),
    ("08001112222", "08003334444"),
]


@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("answer", GERMAN)
def test_a_translation_has_each_value_where_the_answer_has_it(answer: str, values: tuple[str, str]) -> None:
    before, german = answer.format(*values), GERMAN[answer]
    assert not moves_values(before, german.format(*values), translated=True)
    assert moves_values(before, german.format(*reversed(values)), translated=True)


@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("answer", ENGLISH)
def test_a_text_in_the_same_language_has_each_value_where_the_answer_has_it(
    answer: str, values: tuple[str, str]
) -> None:
    before, english = answer.format(*values), ENGLISH[answer]
    assert not moves_values(before, english.format(*values), translated=False)
    assert moves_values(before, english.format(*reversed(values)), translated=False)


@pytest.mark.parametrize(
    ("answer", "made"),
    [
        (PROSE, "With a late delivery it is {1} [2]. Returns go through {0} [1]."),
        (LIST, "- Shipping: {1} [1]\n- Returns: {0} [1]"),
        (ROWS, "The shipping desk has {1} [1]. The desk for returns has {0} [1]."),
    ],
)
@pytest.mark.parametrize("values", VALUES)
def test_another_order_in_the_same_language_is_fine_where_words_tell_each_value(
    answer: str, made: str, values: tuple[str, str]
) -> None:
    assert not moves_values(answer.format(*values), made.format(*values), translated=False)
    assert moves_values(answer.format(*values), made.format(*reversed(values)), translated=False)


def test_another_order_in_which_no_word_tells_the_values_is_not_used() -> None:
    assert moves_values(UNDER_HEADINGS.format(A, B), f"Telephone: {B}. Telephone: {A}.", translated=False)
    assert moves_values(ONE_SENTENCE.format(A, B), f"Late delivery: {B}. Return: {A}.", translated=False)


def test_of_two_values_one_alone_is_the_one_that_its_words_are_of() -> None:
    german = GERMAN[PROSE].format(A, B)
    for value, moved in ((A, False), (B, True)):
        assert moves_values(german, f"Für eine Rücksendung: {value}.", translated=False) is moved
    assert moves_values(PROSE.format(A, B), f"Für eine Rücksendung: {B}.", translated=True)
    assert not moves_values(PROSE.format(A, B), "Rufen Sie uns an.", translated=True)


def test_a_value_that_the_answer_does_not_have_is_not_used_and_another_form_of_one_is_none() -> None:
    before = "A return costs $5 [1]. Call +44 20 7946 0018 [1]."
    assert moves_values(before, "A return costs $5, a late one $10 [1]. Call 020 7946 0018 [1].", translated=False)
    assert moves_values(before, "Die Rücksendung kostet 10 $. Rufen Sie 020 7946 0018 an.", translated=True)
    assert not moves_values(before, "Die Rücksendung kostet 5,00 $. Rufen Sie 020 7946 0018 an.", translated=True)
    assert not moves_values(before, "Call 020 7946 0018: a return is 5 USD.", translated=False)


def test_a_value_that_is_said_of_two_things_is_not_taken_for_a_third_one_s_in_a_translation() -> None:
    before = "Plus costs $5 [1]. Pro costs $10 [1]. Max costs $5 [1]."
    assert not moves_values(before, "Plus kostet 5 $. Pro kostet 10 $. Max kostet 5 $.", translated=True)
    assert moves_values(before, "Plus kostet 5 $. Pro kostet 5 $. Max kostet 10 $.", translated=True)
