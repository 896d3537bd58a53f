"""The demo generator: it plants what it says it plants, always something, and says what it is."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from grounding.embedded.composer import ExtractiveComposer
from grounding.embedded.demo import MAX_PLANTED, DemoComposer, Planted, plant
from grounding.ports import Composer
from grounding.prompting.prompt import insufficient_sentence
from grounding.records import LEAD_IN, Draft, Evidence, Passage, Prompt

TEXT = (
    "- Call us on +1 (555) 010-4477 or write to help@contoso.example before 2024-03-12, 14:30 [1]\n"
    "2. The WH-1000XM4 costs $349.99 and is not refundable after 30 days: https://www.contoso.example/returns [2]"
)


def restored(text: str, planted: tuple[Planted, ...]) -> str:
    for error in reversed(planted):
        text = text[: error.span.start] + error.before + text[error.span.end :]
    return text


@pytest.mark.parametrize(
    ("text", "kind", "form"),
    [
        ("Call +1 (555) 010-4477.", "phone", r"Call \+1 \(555\) 01\d-\d{4}\."),
        ("Call 0800 123 4567.", "phone", r"Call 0800 123 \d{4}\."),
        ("It costs $349.99.", "money", r"It costs \$[1-9]\d\d\.99\."),
        ("It costs 1,299 EUR.", "money", r"It costs [1-9],299 EUR\."),
        ("Back by 2024-03-12.", "date", r"Back by 2024-03-[0-2]\d\."),
        ("Back by March 12.", "date", r"Back by March \d\d\."),
        ("Back by 3 Dec.", "date", r"Back by \d+ Dec\."),
        ("Back by 03/04/2024.", "date", r"Back by 03/04/202[5-7]\."),
        ("We close at 18:00.", "time", r"We close at \d\d:00\."),
        ("See https://contoso.example/a?b=1.", "url", r"See https://[a-z-]+\.example/a\?b=1\."),
        ("See www.contoso.co.uk/help.", "url", r"See www\.[a-z-]+\.co\.uk/help\."),
        ("Write to a.b@contoso.example.", "email", r"Write to a\.b@[a-z-]+\.example\."),
        ("Order WH-1000XM4.", "part", r"Order WH-\d{4}XM\d\."),
        ("Fill in form 354-01.", "part", r"Fill in form \d{3}-\d\d\."),
        ("Within 30 days.", "number", r"Within [1-9]\d days\."),
        ("It is refundable.", "negation", r"It is not refundable\."),
        ("It is not refundable.", "negation", r"It is refundable\."),
        ("You cannot return it.", "negation", r"You can return it\."),
    ],
)
def test_each_kind_of_value_is_changed_into_one_of_its_form(text: str, kind: str, form: str) -> None:
    for seed in range(30):
        changed, planted = plant(text, seed)
        assert kind in [p.kind for p in planted]
        assert changed != text
        assert re.fullmatch(form, changed), changed


@pytest.mark.parametrize("text", ["", "Good morning [1].", "1. Hello\n2. Goodbye [2]", "[1][2] [12]"])
def test_markers_and_list_numbers_are_no_values(text: str) -> None:
    assert plant(text, 0) == (text, ())


def test_every_kind_is_planted_by_some_question() -> None:
    kinds = {p.kind for seed in range(200) for p in plant(TEXT, seed)[1]}
    assert kinds == {"phone", "email", "date", "time", "part", "money", "negation", "number", "url"}


def test_a_new_value_is_not_one_that_the_evidence_holds() -> None:
    evidence = " ".join(f"{n} days" for n in range(10, 100) if n != 47)
    for seed in range(20):
        changed, planted = plant("Within 40 days.", seed, avoid=evidence)
        assert changed == "Within 47 days."
        assert planted[0].before == "40"


WORDS = st.sampled_from(
    [
        *TEXT.split(),
        "€5",
        "12 March",
        "3.5",
        "7",
        "cannot",
        "must not",
        "[3]",
        "1.",
        "http://x",
        "www.a.b",
        "a@b.c",
        "1:2",
    ]
)
TEXTS = st.one_of(st.text(max_size=80), st.lists(WORDS, max_size=14).map(" ".join), st.lists(WORDS).map("\n".join))


@given(TEXTS, st.integers(0, 5))
@example("ab-" * 30 + "1", 0)
@example("5-" * 30 + "a", 0)
def test_what_is_planted_is_exactly_what_differs(text: str, seed: int) -> None:
    changed, planted = plant(text, seed)
    assert restored(changed, planted) == text
    assert len(planted) <= MAX_PLANTED
    assert [p.span.start for p in planted] == sorted(p.span.start for p in planted)
    for error in planted:
        assert changed[error.span.start : error.span.end] == error.span.text != error.before
    assert plant(text, seed) == (changed, planted)
    assert re.findall(r"\[\d{1,3}\]", changed) == re.findall(r"\[\d{1,3}\]", text)


@given(
    st.lists(WORDS, max_size=8), st.sampled_from(["$12", "2024-03-12", "18:00", "30", "0800 123 456"]), st.integers()
)
def test_a_text_with_a_value_gets_at_least_one_error_in_a_value(words: list[str], value: str, seed: int) -> None:
    _changed, planted = plant(" ".join([*words, "for", value]), seed)
    assert any(p.kind != "negation" for p in planted)


class Fixed:
    """A composer that always drafts the same."""

    name = "fixed"

    def __init__(self, text: str) -> None:
        self._draft = Draft(text, self.name, {"prompt_tokens": 2})

    async def compose(self, prompt: Prompt) -> Draft:
        return self._draft


def prompt(question: str, text: str = TEXT) -> Prompt:
    return Prompt(parts=(), question=question, evidence=(Evidence(1, Passage("c", "d", "Help", text), 0.9),))


async def test_the_demo_says_what_it_is_and_claims_to_quote_nothing() -> None:
    demo: Composer = DemoComposer(Fixed(f"{LEAD_IN}\n- It costs $349.99 [1]"))
    draft = await demo.compose(prompt("What does it cost?"))
    assert (demo.name, draft.generator, draft.usage) == ("demo", "demo (plants errors)", {"prompt_tokens": 2})
    assert re.fullmatch(r"- It costs \$[1-9]\d\d\.99 \[1\]", draft.text)
    assert "349.99" not in draft.text


async def test_the_question_and_the_seed_decide() -> None:
    async def texts(seed: int) -> list[str]:
        demo = DemoComposer(Fixed(TEXT), seed)
        return [(await demo.compose(prompt(f"Question {n}?"))).text for n in range(12)]

    first = await texts(0)
    assert await texts(0) == first
    assert await texts(1) != first
    assert len(set(first)) > 6


async def test_a_question_that_is_tried_again_gets_other_errors() -> None:
    async def tries() -> list[str]:
        demo = DemoComposer(Fixed(TEXT))
        return [(await demo.compose(prompt("What does it cost?"))).text for _ in range(6)]

    first = await tries()
    assert len(set(first)) > 3
    assert await tries() == first


async def test_not_knowing_stays_not_knowing() -> None:
    draft = await DemoComposer(Fixed(insufficient_sentence())).compose(prompt("?"))
    assert draft.text == insufficient_sentence()


async def test_over_the_extractive_composer_every_answer_with_a_value_comes_out_wrong() -> None:
    evidence = "A kettle may be returned within 30 days. The kettle costs $40."
    for question in ("How long may I return a kettle?", "What does the kettle cost?"):
        asked = prompt(question, evidence)
        told = (await ExtractiveComposer(None).compose(asked)).text.removeprefix(LEAD_IN).strip()
        draft = (await DemoComposer(ExtractiveComposer(None)).compose(asked)).text
        assert draft != told
        assert re.sub(r"\d", "0", draft.replace(" not", "")) == re.sub(r"\d", "0", told)
