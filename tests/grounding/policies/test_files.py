"""Policies from files: the product's own as the documents have them, and a company's, refused with one clear line."""

from __future__ import annotations

from pathlib import Path

import pytest

from grounding.errors import InputError, SettingsError
from grounding.policies.files import ORDER, built_in, policy_named, read_policies
from grounding.policy import DEFAULT_POLICY, Policy


def test_the_product_brings_six_and_the_default_comes_first() -> None:
    assert tuple(built_in()) == ORDER == ("attest", "hybrid-crag", "superrag", "graph-crag", "agentic-crag", "dynamics")
    assert next(iter(read_policies())) == DEFAULT_POLICY


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param(
            "hybrid-crag",
            {"correct_at": 0.8, "keep_at": 0.4, "style": "score", "file_names": True},
            marks=pytest.mark.row("0-16"),
        ),
        pytest.param(
            "superrag",
            {"retrieve_k": 50, "grade_k": 50, "evidence_k": 5, "evidence": "extracts", "style": "confidence"},
            marks=pytest.mark.row("1-01"),
        ),
        pytest.param(
            "graph-crag",
            {"retrieve_k": 4, "rule": "irrelevant_over_70", "web_k": 3, "answer_sentences": 3, "style": "binary"},
            marks=pytest.mark.row("2-03"),
        ),
        pytest.param(
            "agentic-crag",
            {"retrieve_k": 3, "search": "meaning", "keep_at": 0.7, "correct_at": 0.7, "rewrites": 5, "web_k": 3},
            marks=pytest.mark.row("3-03"),
        ),
        pytest.param(
            "dynamics",
            {"search": "words", "answer": "five-part", "style": "none", "corrective": ()},
            marks=pytest.mark.row("4-11"),
        ),
    ],
)
def test_each_has_the_numbers_of_its_document(name: str, expected: dict[str, object]) -> None:
    policy = built_in()[name]
    assert {field: getattr(policy, field) for field in expected} == expected


@pytest.mark.row("3-06")
def test_labels_are_the_workshops_numbers_and_may_be_changed(tmp_path: Path) -> None:
    assert built_in()["agentic-crag"].labels == {"Awful": 0.0, "Poor": 0.3, "Good": 0.7, "Perfect": 1.0}
    (tmp_path / "shop.yaml").write_text("base: agentic-crag\nlabels: {Awful: 0, Poor: 0.33, Good: 0.67, Perfect: 1}\n")
    assert read_policies(tmp_path)["shop"].labels["Good"] == 0.67


def test_a_companys_own_takes_what_it_does_not_name_from_its_base(tmp_path: Path) -> None:
    (tmp_path / "strict.yaml").write_text("base: hybrid-crag\ncorrect_at: 0.9\nabout: Ours.\n")
    strict = read_policies(tmp_path)["strict"]
    assert (strict.name, strict.about) == ("strict", "Ours.")
    assert (strict.correct_at, strict.keep_at, strict.file_names) == (0.9, 0.4, True)


def test_a_policy_says_by_kind_what_becomes_of_doubt(tmp_path: Path) -> None:
    (tmp_path / "careful.yaml").write_text("doubt: {date: struck, time: conflict}\n")
    assert read_policies(tmp_path)["careful"].doubt == {"date": "struck", "time": "conflict"}
    assert all(not policy.doubt for policy in built_in().values())


@pytest.mark.parametrize(
    ("file", "text", "part"),
    [
        ("mine", "doubt: {dates: struck}", "doubt.dates"),
        ("mine", "doubt: {date: gone}", "Input should be 'struck', 'conflict' or 'marked'"),
        ("attest", "correct_at: 0.5", "attest is a policy of the product"),
        ("Strict", "correct_at: 0.5", "lower-case letters"),
        ("mine", "correct_at: 1.4", "correct_at: Input should be less than or equal to 1"),
        ("mine", "correct_at: .nan", "correct_at"),
        ("mine", "correct: 0.4", "correct is no field of a policy; allowed: about, query"),
        ("mine", "style: stars", "style: Input should be 'score', 'label'"),
        ("mine", "base: crag", "base is 'crag'; allowed: attest, hybrid-crag"),
        ("mine", "keep_at: 0.9", "keep_at is above correct_at"),
        ("mine", "rule: irrelevant_over_70", "counts yes and no"),
        ("mine", "style: none", "its rule can only be top_k"),
        ("mine", "retrieve_k: 0", "retrieve_k"),
        ("mine", "corrective: [web, web]", "names a step twice"),
        ("mine", "corrective: [google]", "corrective"),
        ("mine", "- a\n- b", "a list of names and values"),
        ("mine", "a: [", "not YAML"),
        ("mine", "base: [attest]", "base is ['attest']; allowed: attest"),
        ("mine", "style: label\nlabels: {Good: 0.7}", "labels: all of Awful, Poor, Good, Perfect"),
        ("mine", "labels: {Awful: 1, Poor: 0.7, Good: 0.3, Perfect: 0}", "in ascending order"),
        ("mine", "base: graph-crag\nkeep_at: 0", "keep_at is 0, which keeps every no"),
        ("mine", "base: graph-crag\ncertain_at: 0.9", "certain_at goes with max_score"),
        ("all", "keep_at: 0.3", "all means every policy"),
        ("mine", "keep_at: 0.3\nkeep_at: 0.2", "keep_at stands there twice"),
        ("mine", "corrective: web", "corrective: a list, such as [web]"),
    ],
)
def test_what_is_wrong_is_named_with_file_and_what_is_allowed(tmp_path: Path, file: str, text: str, part: str) -> None:
    (tmp_path / f"{file}.yaml").write_text(text)
    with pytest.raises(SettingsError) as error:
        read_policies(tmp_path)
    assert part in str(error.value)
    assert f"{file}.yaml" in str(error.value)


def test_a_file_of_another_ending_is_not_silently_left_out(tmp_path: Path) -> None:
    (tmp_path / "mine.yml").write_text("keep_at: 0.3")
    with pytest.raises(SettingsError, match="rename it"):
        read_policies(tmp_path)


def test_an_unknown_name_lists_what_there_is() -> None:
    with pytest.raises(InputError, match="'strict' is not known; allowed: attest, hybrid-crag"):
        policy_named("strict")


@pytest.mark.row("2-23")
def test_any_policy_can_run_without_grading_and_correction_to_compare() -> None:
    plain, crag = policy_named("graph-crag:plain"), policy_named("graph-crag")
    assert (plain.name, plain.style, plain.rule, plain.corrective) == ("graph-crag:plain", "none", "top_k", ())
    assert (plain.retrieve_k, plain.search, plain.answer) == (crag.retrieve_k, crag.search, crag.answer)


def test_every_field_goes_into_the_record() -> None:
    assert set(Policy().as_json()) >= {"name", "style", "rule", "correct_at", "corrective", "labels", "nodes"}
