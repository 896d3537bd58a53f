"""Changed answers are wrong for certain, and the originals are said by their pages."""

from __future__ import annotations

import random
from collections import Counter
from decimal import Decimal

import pytest

from bot.evaluate.suites.provenance.mutate import holds
from bot.evaluate.suites.provenance.mutate.build import build
from bot.evaluate.suites.provenance.mutate.contacts import host, phone
from bot.evaluate.suites.provenance.mutate.figures import digit, shifted, unit
from bot.evaluate.suites.provenance.mutate.gather import sample
from bot.evaluate.suites.provenance.mutate.generate import generated
from bot.evaluate.suites.provenance.mutate.records import KINDS, Mutant, Supported
from bot.evaluate.suites.provenance.mutate.surfaces import surfaces
from bot.evaluate.suites.provenance.mutate.wording import names, negated, telling
from rai.records import Source


@pytest.fixture(scope="module")
def answers() -> list[Supported]:
    return [*sample(), *generated(160)]


@pytest.fixture(scope="module")
def mutants(answers: list[Supported]) -> tuple[Mutant, ...]:
    return build(answers, 60).mutants


def supported(answer: str, *texts: str, question: str | None = None) -> Supported:
    sources = tuple(Source(f"s{n}", text) for n, text in enumerate(texts))
    return Supported("x", answer, sources, question, (), "test")


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


@pytest.mark.parametrize(
    ("value", "text", "held"),
    [
        ("49", "It costs $49.", True),
        ("49", "It costs $349.", False),
        ("1200", "1,234 people", True),
        ("1235", "1,234 people", False),
        ("24", "twenty-four hours", True),
        ("3", "the third floor", True),
        ("1.5", "1,5 Liter", True),
        ("2000", "2 thousand", True),
        ("2500", "2.5 million", True),
        ("26", "between 20 and 30", False),
        ("30", "24 or 36", False),
        ("30", "about 33", True),
        ("12", "a dozen", True),
    ],
)
def test_numbers_that_a_text_holds_or_rounds_to(value: str, text: str, *, held: bool) -> None:
    assert holds.holds_number(Decimal(value), [text]) is held


@pytest.mark.parametrize(
    ("surface", "text", "held"),
    [
        ("2 pm", "open at 14:00", True),
        ("2 pm", "open at 2 am", False),
        ("2:30 pm", "from 2:30", True),
        ("12:00", "at noon", True),
    ],
)
def test_clock_times_that_a_text_holds(surface: str, text: str, *, held: bool) -> None:
    assert holds.holds_time(surface, [text]) is held


@pytest.mark.parametrize(
    ("name", "text", "held"),
    [
        ("Tuesday", "Monday to Friday", True),
        ("Tuesday", "open daily", True),
        ("Tuesday", "on Tues.", True),
        ("Tuesday", "on Monday and Friday", False),
    ],
)
def test_weekdays_that_a_text_holds(name: str, text: str, *, held: bool) -> None:
    assert holds.holds_weekday(name, [text]) is held


@pytest.mark.parametrize(
    ("day", "month", "text", "held"),
    [
        (3, 5, "on 3 May", True),
        (3, 5, "May 3rd", True),
        (3, 5, "03.05.2026", True),
        (3, 5, "05/03/26", True),
        (3, 5, "13 May", False),
        (3, 5, "3 June", False),
    ],
)
def test_days_that_a_text_holds(day: int, month: int, text: str, *, held: bool) -> None:
    assert holds.holds_day(day, month, [text]) is held


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("It costs $1,200.50 or 30 EUR.", ["money", "money"]),
        ("20 GB, 30-day and 5%", ["quantity", "quantity", "percent"]),
        ("Call 020 7946 0321 or +1 206-555-0142.", ["phone", "phone"]),
        ("On 12 March 2026, March 3 or 2026-01-02 and Friday", ["date"] * 4),
        ("from 3:30pm to 9 p.m.", ["time", "time"]),
        ("1. Open it [2], see step 3", []),
        ("See https://a.example/b or write to c@d.example.", ["url", "email"]),
        ("Model AB-200, v1.2.3, 7/8", []),
    ],
)
def test_values_as_they_look(text: str, kinds: list[str]) -> None:
    assert [s.kind for s in surfaces(text)] == kinds


def test_a_digit_is_not_changed_into_an_admissible_rounding() -> None:
    for seed in range(40):
        edit = digit(
            supported("It has 1,230 seats.", "1,234 seats"), surfaces("It has 1,230 seats.")[0], random.Random(seed)
        )
        assert edit is None or edit.now not in ("1,230", "1,234")


@pytest.mark.parametrize(
    ("answer", "source", "changed"),
    [
        ("It takes 14 days.", "It takes 14 days and 14 hours.", {"weeks", "months"}),
        ("It takes 2 weeks.", "It takes 2 weeks.", {"days", "months"}),
        ("It costs $5.", "It costs $5.", {"€", "£"}),
        ("It costs $5.", "It costs $5 or €4.", {"£"}),
        ("It has 3 GB.", "It has 3 GB.", {"MB", "TB"}),
    ],
)
def test_units(answer: str, source: str, changed: set[str]) -> None:
    made = [unit(supported(answer, source), surfaces(answer)[0], random.Random(seed)) for seed in range(20)]
    assert {edit.now for edit in made if edit} == changed


@pytest.mark.parametrize(
    "text", ["12 March 2026", "March 12, 2026", "12th March", "2026-03-12", "31 Jan 2026", "Monday", "March 2nd, 2026"]
)
def test_a_shifted_date_is_another_date_written_alike(text: str) -> None:
    for seed in range(30):
        edit = shifted(
            supported(f"It ends on {text}.", f"It ends on {text}."),
            surfaces(f"It ends on {text}.")[0],
            random.Random(seed),
        )
        if edit is not None:
            assert edit.now != text
            assert [s.kind for s in surfaces(f"It ends on {edit.now}.")] == ["date"]
            assert edit.end - edit.start == len(text)


def test_a_changed_phone_number_keeps_its_form_and_its_first_digits() -> None:
    answer = "Call 020 7946 0321."
    for seed in range(30):
        edit = phone(supported(answer, answer), surfaces(answer)[0], random.Random(seed))
        assert edit is not None
        assert [c.isdigit() for c in edit.now] == [c.isdigit() for c in "020 7946 0321"]
        assert edit.now[:2] == "02"
        assert edit.now != "020 7946 0321"


def test_a_lookalike_host_leaves_the_rest_of_the_address() -> None:
    answer = "See https://help.shop.example/a?b=1."
    made = {host(supported(answer, answer), surfaces(answer)[0], random.Random(seed)) for seed in range(60)}
    changed = {answer[: e.start] + e.now + answer[e.end :] for e in made if e}
    assert len(changed) > 8
    assert all(a.startswith("See https://") and a.endswith("/a?b=1.") for a in changed)


@pytest.mark.parametrize(
    ("answer", "after"),
    [
        ("Parking is free for guests.", "Parking is not free for guests."),
        ("Parking is not free for guests.", "Parking is free for guests."),
        ("Guests don't need parking permits.", "Guests do need parking permits."),
        ("Guests cannot bring parking permits.", "Guests can bring parking permits."),
    ],
)
def test_negation(answer: str, after: str) -> None:
    base = supported(answer, answer)
    (span,) = telling(base)
    edits = [negated(base, span, random.Random(seed)) for seed in range(9)]
    assert after in {answer[: e.start] + e.now + answer[e.end :] for e in edits if e}


@pytest.mark.parametrize(
    "answer",
    [
        "Is there anything else I can help you with?",
        "Would parking be free for guests?",
        "Enjoy your stay at the hotel.",
    ],
)
def test_courtesies_and_questions_are_not_negated(answer: str) -> None:
    assert list(telling(supported(answer, answer))) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Please ask Anna Brandt about the Harbour View Hotel.", ["Anna Brandt", "Harbour View Hotel"]),
        ("The Hotel is on Monday.", []),
        ("You Can call.", []),
    ],
)
def test_names(text: str, found: list[str]) -> None:
    assert [text[a:b] for a, b, _ in names(text)] == found
