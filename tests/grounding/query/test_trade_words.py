"""English for the trade's words of a question in another language."""

import pytest

from grounding.query.trade_words import english_words


@pytest.mark.parametrize(
    ("language", "question", "english"),
    [
        ("de", "Was kostet eine neue Sohle für den Torve Mid WP?", ("cost", "new", "sole")),
        ("de", "mietpreis zelt, und wie lange", ("how", "long", "rental", "rent", "hire", "price", "cost", "tent")),
        ("fr", "frais de port vers l'Autriche ?", ("fee", "charge", "shipping", "postage", "austria")),
        ("es", "¿Cuánto cuesta el envío?", ("how", "much", "cost", "price", "shipping", "delivery")),
        ("nl", "lidmaatschap, wat kost dat", ("cost", "price")),
        ("de", "Was ist der Torve Mid WP?", ()),
        ("en", "what does the sole cost", ()),
        ("sv", "vad kostar det", ()),
    ],
)
def test_known_words_are_told_in_english_each_once(language: str, question: str, english: tuple[str, ...]) -> None:
    assert english_words(question, language) == english


def test_a_word_that_the_question_says_in_english_is_not_said_again() -> None:
    assert english_words("compte silver, frais for the account", "fr") == ("fee", "charge")
