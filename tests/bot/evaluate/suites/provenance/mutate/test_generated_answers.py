"""Generated answers are said by their pages."""

from __future__ import annotations

from bot.evaluate.suites.provenance.mutate.generated_answers import generated


def test_values_of_generated_answers_stand_where_they_are_said_to_stand() -> None:
    for answer in generated(60, seed=7):
        kinds = [s.kind for s in answer.slots]
        assert all(answer.answer[s.start : s.end].strip() == answer.answer[s.start : s.end] for s in answer.slots), (
            answer
        )
        assert kinds or answer.form.split(", ")[1] == "fact"
        if "verbatim" in answer.form:
            for slot in answer.slots:
                assert answer.answer[slot.start : slot.end] in answer.sources[0].text
