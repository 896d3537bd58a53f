"""Changed answers are wrong for certain, and as many as are wanted."""

from __future__ import annotations

from collections import Counter

import pytest

from bot.evaluate.suites.provenance.mutate.collected_answers import sample
from bot.evaluate.suites.provenance.mutate.generated_answers import generated
from bot.evaluate.suites.provenance.mutate.mutants import build
from bot.evaluate.suites.provenance.mutate.records import KINDS, Mutant, Supported


@pytest.fixture(scope="module")
def answers() -> list[Supported]:
    return [*sample(), *generated(160)]


@pytest.fixture(scope="module")
def mutants(answers: list[Supported]) -> tuple[Mutant, ...]:
    return build(answers, 60).mutants


def test_the_same_seed_makes_the_same_mutants_and_another_seed_others(answers: list[Supported]) -> None:
    first, again, other = (build(answers, 5, seed).mutants for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_every_kind_is_made_in_the_number_wanted_and_half_as_often_aside(mutants: tuple[Mutant, ...]) -> None:
    made = Counter((m.edit.kind, m.supported.kept_aside) for m in mutants)
    for kind in set(KINDS) - {"name_of_source"}:
        assert (made[kind, False], made[kind, True]) == (60, 30)


def test_a_mutant_differs_from_its_original_in_its_span_alone(mutants: tuple[Mutant, ...]) -> None:
    for mutant in mutants:
        before, edit = mutant.supported.answer, mutant.edit
        assert mutant.answer != before
        assert mutant.answer[: edit.start] == before[: edit.start]
        assert mutant.answer.endswith(before[edit.end :])
        start, end = mutant.span
        assert mutant.answer[start:end].startswith(edit.now)


def test_a_foreign_value_stands_in_no_text_that_the_answer_leans_on(mutants: tuple[Mutant, ...]) -> None:
    for mutant in mutants:
        edit, texts = mutant.edit, mutant.supported.texts
        if edit.kind in ("digit", "phone", "host", "name") and edit.how != "another of the source":
            assert not any(f" {edit.now} " in f" {text} " for text in texts), mutant


def test_a_sibling_stands_in_its_source_and_not_in_its_own_row(mutants: tuple[Mutant, ...]) -> None:
    """Of generated pages: the row or sentence of the subject, which holds the original value, does not hold the other."""
    siblings = [m for m in mutants if m.edit.kind in ("sibling", "plan") and m.supported.slots]
    assert siblings
    for mutant in siblings:
        slot = next(s for s in mutant.supported.slots if s.start == mutant.edit.start)
        assert mutant.edit.now in slot.siblings
        assert mutant.supported.answer[slot.start : slot.end] not in slot.siblings
