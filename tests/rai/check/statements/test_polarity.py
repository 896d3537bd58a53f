"""Words that are denied, and what they are denied by."""

from __future__ import annotations

from rai.check.statements.polarity import heads


def test_a_negation_right_before_a_word_denies_it_and_one_that_sets_another_apart_does_not() -> None:
    def denied(text: str) -> set[str]:
        return {head.word.word.lower() for head in heads(text, "en") if head.denied}

    assert "older" in denied("The pass is no older than two years.")
    assert "burton" not in denied("Lessons are in Derby, not Burton.")
