"""Bodies split into contents and what is their own, and put together again: the same for every body, told where it is not."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rai.entry_schema import KINDS, ONCE, STORED, Leaf, texts
from rai.ledger import attest_verify
from rai.ledger.chain import canonical
from rai.ledger.contents import (
    UNREADABLE,
    content_body,
    from_base_85,
    is_split,
    join,
    named_in,
    numbers_in,
    sha256_of,
    split,
    words,
)
from tests.fakes.recorded_turn import QUESTION, recorded_turn

TURN = recorded_turn()


def stored(body: Mapping[str, Any], kind: str = "turn") -> tuple[dict[str, Any], dict[int, Any]]:
    """A body as it is stored, and its contents by number."""
    parts = split(json.loads(canonical(dict(body))), kind)
    assert parts is not None
    numbers = {named: number for number, named in enumerate(parts.contents, start=11)}
    kept = json.loads(canonical(parts.referring(numbers)))
    return kept, {numbers[named]: value for named, value in parts.contents.items()}


def test_a_turn_comes_back_to_the_letter() -> None:
    kept, values = stored(TURN)
    assert json.dumps(join(kept, "turn", values)) == json.dumps(json.loads(canonical(TURN)))


def test_what_is_the_same_in_each_turn_is_a_content() -> None:
    kept, values = stored(TURN)
    assert values[kept[STORED]["policy"]] == TURN["policy"]
    assert values[kept[STORED]["versions"]] == TURN["versions"]
    assert values[kept[STORED]["reply.mode"]] == TURN["reply"]["mode"]
    first = values[kept[STORED]["evidence"][0]]
    assert first["text"] == TURN["evidence"][0]["text"]
    assert "score" not in first
    assert "n" not in first
    assert [values[n]["chunk_id"] for n in kept[STORED]["passages"]] == [p["chunk_id"] for p in TURN["passages"]]
    assert sorted(set(numbers_in(kept))) == sorted(values)


def test_another_question_over_the_same_passages_adds_no_content() -> None:
    asked = deepcopy(TURN)
    asked["ask"]["question"] = "And on Sundays?"
    asked["prompt"]["marker"] = "f" * 16
    for part in asked["prompt"]["parts"]:
        part["text"] = part["text"].replace(TURN["prompt"]["marker"], "f" * 16)
    assert stored(asked)[1] == stored(TURN)[1]


def test_it_is_smaller_by_far() -> None:
    assert len(canonical(stored(TURN)[0])) < 0.4 * len(canonical(TURN))


def test_who_asked_what_and_how_it_ended_stand_in_the_clear() -> None:
    kept, _ = stored(TURN)
    assert kept["ask"]["question"] == QUESTION
    assert kept["actor"]["user"] == "ada"
    assert {name: kept["reply"][name] for name in ("outcome", "answer")} == {
        name: TURN["reply"][name] for name in ("outcome", "answer")
    }


def test_nothing_that_somebody_gave_is_a_content() -> None:
    """Also not where the prompt quotes it, and where nothing was masked."""
    _, values = stored(TURN)
    said = json.dumps(list(values.values()))
    for given_text in (QUESTION, "Zebedea", "history told", "context told", "unfit told"):
        assert given_text in canonical(TURN)
        assert given_text not in said


def test_without_a_marker_no_part_of_the_prompt_is_a_content() -> None:
    """Nobody could tell where the quotation of somebody's words begins."""
    bare = deepcopy(TURN)
    bare["prompt"]["marker"] = ""
    kept, values = stored(bare)
    assert kept[STORED]["prompt"] == []
    assert join(kept, "turn", values) == bare


def test_what_was_masked_is_no_content() -> None:
    """Beside the text as it is elsewhere, the place of the mask would tell what it hides, also once the turn is erased."""
    masked = deepcopy(TURN)
    masked["evidence"][0]["title"] = masked["passages"][0]["title"] = "███████ of the shop"
    masked["prompt"]["parts"][0]["text"] = masked["prompt"]["parts"][0]["text"].replace("customer", "████████")
    kept, values = stored(masked)
    assert "█" not in json.dumps(list(values.values()), ensure_ascii=False)
    assert kept[STORED]["evidence"][0] is None
    assert join(kept, "turn", values) == masked


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("turn", {name: value for name, value in TURN.items() if name != "schema"}),
        ("ingest", {**TURN}),
        ("turn", {"schema": 2, "reply": {"outcome": "failed"}}),
    ],
)
def test_what_is_stored_as_it_is(kind: str, body: dict[str, Any]) -> None:
    """Entries of older programs, other kinds, and what is small."""
    assert split(body, kind) is None
    assert join(body, kind, {}) == body
    assert not is_split(body, kind)


ODD: list[dict[str, Any]] = [
    {**TURN, STORED: {"form": 1, "policy": 12, "rest": "", "sha256": "0" * 64}},
    {"schema": 2, STORED: {"$content": 12}},
    {**TURN, UNREADABLE: "no"},
    {**TURN, "policy": {"$content": 12}},
    {**TURN, "policy": None, "evidence": None, "prompt": None, "reply": None},
    {**TURN, "evidence": [1, "x", None] * 500},
    {**TURN, "prompt": {"marker": "m", "parts": 5}, "reply": {"claims": [{}]}},
    {**TURN, "calls": [{"|": {"a": [1, 2]}}]},
    {**TURN, "actor": "ada", "ask": [1], "reply": "no"},
    {**TURN, "passages": [{**TURN["passages"][0], "start": True}, {**TURN["passages"][0], "start": 1}]},
    {**TURN, "reply": {**TURN["reply"], "grades": [{"id": 0, "extract": {"start": 0, "end": 1}}]}},
    {**TURN, "versions": {}, "reply": {**TURN["reply"], "mode": {}}},
]


@pytest.mark.parametrize("body", ODD)
def test_a_body_of_any_shape_comes_back(body: dict[str, Any]) -> None:
    """Also one that looks as if it were split already."""
    kept, values = stored(body)
    assert canonical(join(kept, "turn", values)) == canonical(body)
    assert canonical(attest_verify.joined(kept, values)) == canonical(body)


LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
NAMES = st.sampled_from([*TURN, *TURN["reply"], STORED, "rest", "$content", "|", "text", "█"])
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4), max_leaves=15
)
BIG = {"searched": "x" * 1_000}


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.dictionaries(NAMES, VALUES, max_size=6))
def test_any_body_comes_back(changes: dict[str, Any]) -> None:
    """Of nothing but arbitrary values, and a turn in which some are arbitrary; by the auditor's own program too."""
    for base in (BIG, TURN, {**TURN, "reply": {**TURN["reply"], **changes}}):
        body = {**base, **changes, "schema": 2}
        kept, values = stored(body)
        assert canonical(join(kept, "turn", values)) == canonical(body)
        assert canonical(attest_verify.joined(kept, values)) == canonical(body)


def test_what_is_read_in_part_leaves_the_stored_body_as_it_was() -> None:
    kept, values = stored(TURN)
    before = deepcopy(kept)
    for gone in values:
        left = join(kept, "turn", {n: value for n, value in values.items() if n != gone})
        assert UNREADABLE in left
        assert QUESTION in texts(left, "turn")[Leaf.GIVEN]  # the schema knows what is left: it can be searched
        assert kept == before


def test_a_content_that_is_gone_is_told_and_the_rest_is_read() -> None:
    kept, values = stored(TURN)
    gone = kept[STORED]["evidence"][0]
    left = join(kept, "turn", {n: v for n, v in values.items() if n != gone})
    assert left[UNREADABLE] == f"the content in entry {gone} that this entry refers to is gone"
    assert left["ask"]["question"] == QUESTION
    assert left["policy"] == TURN["policy"]
    assert left["reply"]["mode"] == TURN["reply"]["mode"]
    assert len(left["evidence"]) == len(TURN["evidence"]) - 1


@pytest.mark.parametrize("place", ["policy", "versions", "words", "evidence", "prompt", "passages"])
def test_a_content_that_is_another_is_told(place: str) -> None:
    """The table that finds a content is not trusted: what is put back must be what was recorded."""
    kept, values = stored(TURN)
    at = kept[STORED][place]
    number = at if isinstance(at, int) else at[-1]
    others: list[Any] = [{"name": "forged", "chunk_id": "c1"}, "forged", None, 5, []]
    for other in others:
        left = join(kept, "turn", {**values, number: other})
        assert left[UNREADABLE].startswith("what this entry refers to is not what was recorded")
        assert left["ask"]["question"] == QUESTION


CHANGED: list[dict[str, Any]] = [
    {"rest": "AAAA"},
    {"rest": "no base 85"},
    {"rest": 5},
    {"sha256": "0" * 64},
    {"form": 2},
    {"policy": "12"},
    {"policy": [12]},
    {"evidence": 12},
    {"evidence": [[12]]},
    {"words": None},
]


@pytest.mark.parametrize("change", CHANGED)
def test_a_reference_that_was_changed_is_told(change: dict[str, Any]) -> None:
    kept, values = stored(TURN)
    left = join({**kept, STORED: {**kept[STORED], **change}}, "turn", values)
    assert UNREADABLE in left
    assert left["ask"]["question"] == QUESTION


@pytest.mark.parametrize("held", [5, None, {}, [], "x"])
def test_what_stands_for_the_references_may_be_anything(held: Any) -> None:
    left = join({"schema": 2, "ask": {"question": QUESTION}, STORED: held}, "turn", {})
    assert left["ask"]["question"] == QUESTION
    assert UNREADABLE in left
    assert list(numbers_in({STORED: held})) == []


def test_the_clear_part_is_bound_too() -> None:
    kept, values = stored(TURN)
    kept["reply"]["outcome"] = "withheld"
    assert UNREADABLE in join(kept, "turn", values)


def test_a_rest_beyond_all_bounds_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    kept, values = stored(TURN)
    monkeypatch.setattr("rai.ledger.contents.REST_MAX", 100)
    assert UNREADABLE in join(kept, "turn", values)


def test_only_what_nobody_gave_is_marked_as_stored_once() -> None:
    """Of free text the titles of passages, which are the company's and are masked alone where they name a customer."""
    turn: Any = KINDS["turn"]
    for path, names in ONCE["turn"].rows.items():
        for name in names:
            leaf = turn[path][0][name]
            assert leaf in (Leaf.STRUCTURE, Leaf.PASSAGE, Leaf.OWN) or (name, leaf) == ("title", Leaf.TEXT), (
                path,
                name,
            )
    for path in ONCE["turn"].whole:
        node = turn
        for step in path.split("."):
            node = node[step]
        leaves = list(node.values()) if isinstance(node, Mapping) else [node]
        flat = [each for leaf in leaves for each in (leaf.values() if isinstance(leaf, Mapping) else [leaf])]
        assert set(flat) <= {Leaf.STRUCTURE, Leaf.TREE}, path


def test_the_body_of_a_content_names_it() -> None:
    assert content_body({"a": 1}) == {"schema": 2, "sha256": sha256_of({"a": 1}), "value": {"a": 1}}
    assert words().isascii()


@pytest.mark.parametrize("value", ["a", {"text": "é", "n": 1.5}, [1, None], '"value":'])
def test_a_content_is_known_by_its_text_as_it_is_stored(value: Any) -> None:
    text = canonical(content_body(value))
    assert named_in(text) == sha256_of(value)
    for changed in (
        text[:-1],
        text + " ",
        text.replace("schema", "scheme"),
        text.replace(":2,", ":3,"),
        text[:-2] + "x}",
    ):
        assert named_in(changed) is None
    assert named_in(None) is named_in(text.encode()) is named_in("{}") is None


@given(st.binary(max_size=300))
def test_base_85_is_read_as_the_library_reads_it(raw: bytes) -> None:
    text = base64.b85encode(raw).decode()
    assert from_base_85(text) == raw == base64.b85decode(text)


@pytest.mark.parametrize("text", ['abc"d', "ä", "~~~~~", "|NsC0|NsC1", "a b"])
def test_what_is_no_base_85_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"base 85|ascii"):
        from_base_85(text)
    with pytest.raises(ValueError, match=r"base85|ASCII"):
        base64.b85decode(text)


def test_a_spelling_that_is_kept_is_used() -> None:
    kept, values = stored(TURN)
    asked = list[int]()

    def spelled(number: int) -> str:
        asked.append(number)
        return canonical(values[number])

    assert join(kept, "turn", values, spelled) == join(kept, "turn", values)
    assert asked == kept[STORED]["evidence"]
