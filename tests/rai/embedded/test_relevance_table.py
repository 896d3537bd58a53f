"""What is an answer to a question, and the near miss that is none, with the model's features and by words alone."""

from __future__ import annotations

import pytest

from rai.embedded.relevance import EmbeddedRelevance, scales
from rai.embedded.relevance_features import (
    CLASHES,
    FEATURES,
    FITS,
    MEANING,
    OPEN,
    apart,
    read_question,
    told_sentences,
    word_features,
)

AT = 0.3
WORDS = EmbeddedRelevance()

RIGHT_AND_WRONG = [
    # a few words, judged by kind
    ("Are pets allowed?", "Yes.", True),
    ("Are pets allowed?", "No!", True),
    ("Is breakfast included?", "Certainly.", True),
    ("What time is check-in?", "Yes.", False),
    ("How much is the Pro plan?", "No.", False),
    ("How much does the Pro plan cost?", "$19.", True),
    ("How much does the Pro plan cost?", "Free of charge.", True),
    ("How much does the Pro plan cost?", "In Lyon.", False),
    ("What time is check-out?", "11:00.", True),
    ("What time is check-out?", "$19.", False),
    ("When does the shop open on Monday?", "At 9 am.", True),
    ("What is your phone number?", "+44 20 7946 0388", True),
    ("What is your phone number?", "Yes.", False),
    ("Which e-mail address do I write to?", "help@example.com", True),
    ("Which e-mail address do I write to?", "Tuesday.", False),
    ("What percentage is refunded?", "80 %.", True),
    ("What percentage is refunded?", "Tomorrow.", False),
    ("Who is the contact person?", "Anna Berg.", True),
    ("Where is the head office?", "In Lyon.", True),
    ("Is it waterproof?", "Waterproof.", True),
    # nothing told
    ("Are pets allowed?", "Would you like to book?", False),
    ("Are pets allowed?", "I don't know.", False),
    ("Are pets allowed?", "Hello! Have a nice day.", False),
    ("Are pets allowed?", "", False),
    # the same words, inflected, misspelt, written as one, or a synonym
    ("Do you have vegeterian dishes?", "There are three vegetarian dishes.", True),
    ("Are highchairs provided?", "High chairs stand ready in the restaurant.", True),
    ("Can I cancel my subscription?", "Subscriptions are cancelled in the account settings.", True),
    # the question leans on what was said before
    ("And how long is it?", "The warranty is two years long.", True),
    ("When was it built?", "It was built in 1889 by Eiffel's company.", True),
    # two questions at once
    ("What does it cost and when does it arrive?", "It costs $12 and arrives within three days.", True),
    ("Is there a pool? And what are its hours?", "The pool is open from 9 am to 8 pm.", True),
    ("What does the pool cost and when does it open?", "Our rooms have a minibar and a kettle.", False),
    # another question of the same house
    ("What time is check-in at the Grand Hotel?", "Breakfast is served in the garden.", False),
    ("Is there parking at the Grand Hotel?", "The Grand Hotel has parking behind the house.", True),
]


@pytest.mark.parametrize(("question", "answer", "right"), RIGHT_AND_WRONG)
async def test_by_words_alone(question: str, answer: str, right: bool) -> None:
    """Above the threshold if and only if it answers."""
    assert (await WORDS.relevance(question, answer) >= AT) is right


async def test_the_point_may_stand_at_the_end_of_a_long_answer() -> None:
    """Forty sentences about other things do not hide the one that answers; without it there is no answer."""
    filler = " ".join(f"Chapter {n} tells of mountains, rivers and castles." for n in range(40))
    question = "How do I reset the router password?"
    with_point = f"{filler} Reset the router password with the button at its back."
    assert await WORDS.relevance(question, with_point) >= AT
    assert await WORDS.relevance(question, with_point) > await WORDS.relevance(question, filler)


@pytest.mark.parametrize(
    ("question", "answer", "score"),
    [("Is it free?", "Yes.", FITS), ("What does it cost?", "Yes.", CLASHES), ("Where is the office?", "Lyon.", OPEN)],
)
async def test_brief_answers_have_one_of_three_scores(question: str, answer: str, score: float) -> None:
    """Of the kind asked for, of another, or of a kind that cannot be told."""
    assert await WORDS.relevance(question, answer) == score


def test_names_are_left_out_to_see_what_is_said_of_them() -> None:
    """Whatever their case; a question without names changes nothing."""
    asked = read_question("Does the Golden Gate Inn offer parking?")
    assert apart(asked, ["Parking at the golden gate inn is free."]) == ["Parking at it is free."]
    assert apart(read_question("is there parking?"), ["Parking is free."]) == ["Parking is free."]


def test_a_question_is_cut_into_what_it_asks_for() -> None:
    """At sentences, and at "and" before a question word; not at other "and"s."""
    assert read_question("What does it cost and when does it arrive?").parts == (
        "What does it cost",
        "when does it arrive?",
    )
    assert read_question("Are cats and dogs allowed?").parts == ("Are cats and dogs allowed?",)


def test_what_is_said_about_a_kind_of_value() -> None:
    """`missing` only where a value is asked for, not where a yes would do."""
    kinds = FEATURES[MEANING:]

    def of(question: str, answer: str) -> dict[str, float]:
        return dict(zip(kinds, word_features(read_question(question), answer, told_sentences(answer)), strict=True))

    assert of("What is the fee?", "The fee is $5 for guests.")["held"] == 1.0
    assert of("What is the fee?", "The fee is paid by guests.")["missing"] == 1.0
    assert of("Is there a fee?", "The fee is paid by guests.")["missing"] == 0.0


def test_weights_are_explained() -> None:
    """Every weight names a feature and has the sign that its meaning asks for; by words alone none needs vectors."""
    against = {"unnamed", "missing", "stray_yes", "silent", "length"}
    for scale in scales().values():
        assert set(scale.weights) <= set(FEATURES)
        assert all((weight < 0) == (name in against) for name, weight in scale.weights.items())
    assert not set(scales()["words"].weights) & set(FEATURES[:MEANING])
