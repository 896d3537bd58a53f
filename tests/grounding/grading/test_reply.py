"""Replies of graders as models write them: what is read, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grounding.grading.prompt import STYLES, Style
from grounding.grading.reply import read_reply
from grounding.model_calls.loose_json import json_values
from tests.tables import Tables

TABLES = Tables(__file__)


def values(reply: str, count: int, style: Style) -> dict[int, Any]:
    return {i: said.value for i, said in read_reply(reply, count, style).items()}


@pytest.mark.row("0-11")
@TABLES.each("scores", "reply")
def test_a_score_is_read(reply: str) -> None:
    assert values(reply, 1, "score") == {1: pytest.approx(0.8)}


@pytest.mark.row("0-08")
@TABLES.each("no_scores", "reply", more=[pytest.param('{"score": 1' + "0" * 5000 + "}", id="endless-number")])
def test_what_is_no_score_is_refused(reply: str) -> None:
    assert values(reply, 1, "score") == {}


@pytest.mark.row("2-08")
@TABLES.each("binary")
def test_only_yes_and_no_are_accepted(reply: str, value: str | None) -> None:
    assert values(reply, 1, "binary") == ({} if value is None else {1: value})


@pytest.mark.row("3-05")
@pytest.mark.row("3-07")
@TABLES.each("labels")
def test_only_the_four_labels_are_accepted(reply: str, value: str | None) -> None:
    said = read_reply(reply, 1, "label")
    assert {i: s.value for i, s in said.items()} == ({} if value is None else {1: value})
    assert all(s.justification == ("It says so." if "It says" in reply else "") for s in said.values())


@pytest.mark.row("1-04")
@pytest.mark.row("1-11")
def test_both_spellings_of_the_extract_are_read() -> None:
    """The output of the source document spells it `relevent_text`."""
    reply = '{"answers":[{"id":1,"confidence":0.1,"relevent_text":"a"},{"id":2,"confidence":0.9,"relevant_text":"b"},{"id":3,"confidence":0,"relevant_text":""}]}'
    said = read_reply(reply, 3, "confidence")
    assert [(said[i].value, said[i].extract) for i in (1, 2, 3)] == [(0.1, "a"), (0.9, "b"), (0.0, None)]


@pytest.mark.row("1-11")
@pytest.mark.row("3-26")
@TABLES.each(
    "several",
    more=[
        pytest.param("[" * 100_000, {}, id="brackets-without-end"),
        pytest.param('{"a":' * 50_000, {}, id="objects-without-end"),
        pytest.param("[" * 900 + '{"id":1,"score":0.1}' + "]" * 900, {}, id="a-grade-deep-inside"),
    ],
)
def test_ids_of_several(reply: str, found: dict[int, float]) -> None:
    """Unknown, doubled and missing ids, half replies, bare lists, nesting, prose with brackets."""
    assert values(reply, 3, "score") == found


def test_a_comma_inside_a_string_stays() -> None:
    assert list(json_values('{"a": "x,]", "b": [1, 2, ],}')) == [{"a": "x,]", "b": [1, 2]}]


@given(st.text(max_size=300), st.sampled_from(STYLES), st.integers(1, 5))
def test_no_reply_is_too_strange(reply: str, style: Style, count: int) -> None:
    for i, said in read_reply(reply, count, style).items():
        assert 1 <= i <= count
        assert not isinstance(said.value, float) or 0 <= said.value <= 1


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.floats()
    | st.integers()
    | st.text(max_size=8)
    | st.sampled_from(["yes", "Good", "0.5"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["id", "score", "1", "grades", "binary_score", "ScoreLabel", "confidence", "x"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(_JSON, st.sampled_from(STYLES), st.integers(1, 5))
def test_no_json_is_too_strange(value: object, style: Style, count: int) -> None:
    for i, said in read_reply(json.dumps(value), count, style).items():
        assert 1 <= i <= count
        assert not isinstance(said.value, float) or 0 <= said.value <= 1


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=12), st.text(alphabet="abc .,:\n", max_size=40), st.integers(0, 12)
)
def test_what_is_whole_of_a_cut_reply_is_read_as_it_was_said(scores: list[float], prose: str, cut: int) -> None:
    whole = json.dumps({"grades": [{"id": i, "score": s} for i, s in enumerate(scores, 1)]})
    assert values(f"{prose}\n```json\n{whole}\n```\n{prose}", len(scores), "score") == dict(enumerate(scores, 1))
    for i, value in values(whole[: len(whole) - cut], len(scores), "score").items():
        assert value == scores[i - 1]
