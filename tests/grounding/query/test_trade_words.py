"""English for the trade's words of a question in another language."""

import pytest

from grounding.embedded.vectors.embedder import MiniLM
from grounding.query.trade_words import english_words, language_of_trade


@pytest.mark.parametrize(
    ("language", "question", "english"),
    [
        ("de", "Was kostet eine neue Sohle für den Torve Mid WP?", ("cost", "new", "sole")),
        ("de", "mietpreis zelt, und wie lange", ("how", "long", "rental", "rent", "hire", "price", "cost", "tent")),
        ("fr", "frais de port vers l'Autriche ?", ("fee", "charge", "shipping", "postage", "austria")),
        ("es", "¿Cuánto cuesta el envío?", ("how", "much", "cost", "price", "shipping", "delivery")),
        ("nl", "lidmaatschap, wat kost dat", ("cost", "price")),
        ("de", "Was ist der Torve Mid WP?", ()),
        ("de", "wie setze ich die Kamera zurück", ("reset",)),
        ("de", "ich schicke es zurück", ("return", "send", "back")),
        ("de", "zurück zur Kamera, setze fort", ()),
        ("en", "what does the sole cost", ()),
        ("sv", "vad kostar det", ()),
    ],
)
def test_known_words_are_told_in_english_each_once(language: str, question: str, english: tuple[str, ...]) -> None:
    assert english_words(question, language) == english


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("preis perch d1", "de"),
        ("durata garanzia wren x2", "it"),
        ("garantie perch c1 hoelang", "nl"),
        ("precio wren", "es"),
        ("Livraison et prix", "fr"),
        ("garantie", ""),  # German, French and Dutch
        ("precious metals warranty", ""),
        ("termination fee, container shipping, location", ""),
        ("warranty perch c1", ""),
        ("", ""),
    ],
)
def test_a_question_without_function_words_tells_its_language_by_its_trade(question: str, language: str) -> None:
    assert language_of_trade(question) == language


def test_no_english_word_tells_another_language(minilm: MiniLM) -> None:
    """Of the words that the embedding model knows, apart from the few of other languages that it knows too."""
    foreign = {"porto", "laden", "zimmer", "montag"}
    english = [word for word, _ in minilm.vocabulary.ranked if word not in foreign]
    assert len(english) > 20_000
    told = [word for word in english if language_of_trade(word)]
    assert told == []


def test_a_word_that_the_question_says_in_english_is_not_said_again() -> None:
    assert english_words("compte silver, frais for the account", "fr") == ("fee", "charge")
