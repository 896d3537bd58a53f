"""Replies are read whatever they are wrapped in; what is not clear in them is no opinion."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rai.check.judging.quotes import MOST_QUOTES
from rai.check.judging.reply import FORM, read
from rai.judgement import Opinion, Proposal, Quote

LABELS = {"s1": "chunk-a", "s2": "chunk-b"}


def item(claim: object = 1, verdict: object = "supported", quotes: object = (), **more: object) -> dict[str, object]:
    return {"claim": claim, "verdict": verdict, "quotes": list(quotes) if isinstance(quotes, tuple) else quotes, **more}


def reply(*items: object) -> str:
    return json.dumps({"claims": list(items)})


QUOTED = item(quotes=({"source": "S1", "text": "The lid is red."},), formula=None, unsaid=None)
RED = {1: Proposal("supported", (Quote("chunk-a", "The lid is red."),))}


@pytest.mark.parametrize(
    "text",
    [
        reply(QUOTED),
        f"```json\n{reply(QUOTED)}\n```",
        f"<think>1: wrong? {{}}</think>Here you are:\n{reply(QUOTED)}\nAnything else?",
        json.dumps([QUOTED]),
        json.dumps(QUOTED),
        json.dumps({"result": {"claims": [QUOTED]}}),
        reply(QUOTED, QUOTED),
        reply(QUOTED)[:-2] + ', {"claim": 2, "verdict": "supp',
        reply(item("1", quotes=({"source": "[s1]", "text": " The lid is red. "},))),
    ],
)
def test_the_form_is_taken_as_it_comes(text: str) -> None:
    assert read(text, 2, LABELS) == RED


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1: supported",
        reply(item(3)),
        reply(item(0)),
        reply(item(True)),
        reply(item(1.0)),
        reply(item([1])),
        reply(item(verdict="Supported, of course")),
        reply(item(verdict=None)),
        reply(item(verdict="supported"), item(verdict="wrong")),
        "[" * 5000,
        json.dumps([[[[[[[[QUOTED]]]]]]]]),
    ],
)
def test_what_is_not_clear_is_no_opinion(text: str) -> None:
    assert read(text, 2, LABELS) == {}


def test_quotes_without_a_known_place_are_left_out() -> None:
    lost = (
        {"source": "S3", "text": "a"},
        {"source": "chunk-a", "text": "a"},
        {"source": 1, "text": "a"},
        {"text": "a"},
        {"source": "S1"},
        "S1: a",
    )
    kept = ({"source": "Question", "text": "b"}, {"source": "S2", "text": "c"})
    assert read(reply(item(quotes=(*lost, *kept))), 1, LABELS)[1].quotes == (Quote(None, "b"), Quote("chunk-b", "c"))
    unread = ({"source": "S1", "text": ["a"]}, {"source": "S1", "text": "  "})
    assert read(reply(item(quotes=unread)), 1, LABELS)[1].quotes == ()
    many = [{"source": "S1", "text": str(n)} for n in range(MOST_QUOTES + 5)]
    assert len(read(reply(item(quotes=many)), 1, LABELS)[1].quotes) == MOST_QUOTES


def test_formula_and_unsaid_words_are_texts() -> None:
    said = read(
        reply(item(verdict="wrong", formula="2 * 3 = 6", unsaid="free"), item(2, formula=6, unsaid=[])), 2, LABELS
    )
    assert said == {1: Proposal("wrong", (), "2 * 3 = 6", "free"), 2: Proposal("supported")}


ANYTHING: Any = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 9)
    | st.text(max_size=8)
    | st.sampled_from(["S1", "supported", "wrong"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["claims", "claim", "verdict", "quotes", "source", "text", "formula"]), inner, max_size=5
        )
    ),
    max_leaves=20,
)


@given(ANYTHING)
def test_whatever_json_comes_back_is_of_the_form(value: object) -> None:
    for n, proposal in read(json.dumps(value), 3, LABELS).items():
        assert 1 <= n <= 3
        assert proposal.opinion in get_args(Opinion)
        assert all(q.source in {"chunk-a", "chunk-b", None} and q.text for q in proposal.quotes)
        assert all(part is None or part for part in (proposal.formula, proposal.unsaid))


@given(st.text(alphabet='{}[]",:claims1vertdupoq \n\\', max_size=120))
def test_whatever_text_comes_back_raises_nothing(text: str) -> None:
    assert set(read(text, 3, LABELS)) <= {1, 2, 3}


def test_the_form_has_a_field_for_all_that_is_read() -> None:
    assert set(FORM["properties"]["claims"]["items"]["properties"]) == {
        "claim",
        "verdict",
        "quotes",
        "formula",
        "unsaid",
    }
