"""The catalogue of rules: each is fired by a row and spares another, decides nothing that it does not say, and is known to the docs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml

from rai.check.answer import Answer
from rai.check.catalogue import BY_ID, RULES
from rai.check.match import check_claims, context_of
from rai.check.quoted.changed import loose_digits
from rai.check.reading.readings import readings
from rai.check.statements.statement_match import COVERED
from rai.check.statements.statement_rules import RULES as OF_SENTENCES
from rai.check.value_rules import ALONE, Judged
from rai.claims.contacts.phones import REGIONS
from rai.claims.find import claims_of, find_values
from rai.records import Claim, Source, Status

ROOT = Path(__file__).parents[3]
ROWS: list[dict[str, Any]] = yaml.load(
    Path(__file__).with_name("rules.yaml").read_text("utf-8"), Loader=yaml.CSafeLoader
)
FIRES = [(row, *fired) for row in ROWS for fired in row["fires"]]
SPARES = [(row, answer) for row in ROWS for answer in row["spares"]]


def claims(row: dict[str, Any], answer: str) -> tuple[Claim, ...]:
    return check_claims(answer, sources_of(row), row.get("question"))


def sources_of(row: dict[str, Any]) -> list[Source]:
    """The sources of a row; under `replaced` the titles of the editions that have taken the place of the first ones."""
    texts, newer = row["sources"], row.get("replaced", ())
    return [
        Source(f"s{n}", text, replaced_by=by) for n, (text, by) in enumerate(zip_longest(texts, newer, fillvalue=""), 1)
    ]


@pytest.mark.parametrize(
    ("row", "answer", "text", "status"), FIRES, ids=lambda v: v["rule"] if isinstance(v, dict) else ""
)
def test_a_rule_decides_what_it_is_for(row: dict[str, Any], answer: str, text: str, status: Status) -> None:
    (claim,) = [c for c in claims(row, answer) if c.text == text and c.kind != "statement"]
    assert (claim.rule, claim.status) == (row["rule"], status)
    assert claim.why


@pytest.mark.parametrize(("row", "answer"), SPARES, ids=lambda v: v["rule"] if isinstance(v, dict) else "")
def test_a_rule_leaves_to_others_what_it_is_not_for(row: dict[str, Any], answer: str) -> None:
    assert row["rule"] not in {c.rule for c in claims(row, answer) if c.kind != "statement"}


def test_every_rule_has_rows_that_fire_it_and_rows_that_it_spares() -> None:
    of_values = {r.id for r in RULES if r.about in ("value", "name")} - SEEN_ELSEWHERE
    assert {row["rule"] for row in ROWS if row["fires"]} == of_values
    assert {row["rule"] for row in ROWS if row["spares"]} >= of_values


SEEN_ELSEWHERE = {"context", "too-many"}
"""They need what a row does not have: tests/rai/check/test_match.py and tests/rai/test_linear.py."""


def test_every_rule_that_the_code_names_is_in_the_catalogue_and_no_other() -> None:
    code = "\n".join(p.read_text("utf-8") for p in (ROOT / "rai").rglob("*.py") if p.name != "catalogue.py")
    named = {rule.id for rule in RULES if f'"{rule.id}"' in code}
    assert named == {rule.id for rule in RULES}
    assert set(re.findall(r'rule="([a-z-]+)"', code)) <= named
    assert {rule.id for rule in OF_SENTENCES} | {COVERED} <= named


def test_ids_are_unique_and_statuses_known() -> None:
    assert len(BY_ID) == len(RULES)
    assert all(set(rule.decides) <= set(get_args(Status)) for rule in RULES)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["rule"])
def test_no_rule_decides_what_the_catalogue_does_not_say(row: dict[str, Any]) -> None:
    for answer in (*(a for a, _, _ in row["fires"]), *row["spares"]):
        for claim in claims(row, answer):
            assert claim.rule is None or claim.status in BY_ID[claim.rule].decides


def values_of(row: dict[str, Any], text: str) -> Iterator[Judged]:
    """Each value of `text` as the steps are given it."""
    context = context_of(sources_of(row), row.get("question"), (), REGIONS, None)
    found = find_values(text, REGIONS)
    values = sorted([*found, *loose_digits(text, found)], key=lambda f: (f.start, f.end))
    by_place = {(c.start, c.end, c.kind): c for c in claims_of(text, values)}
    answer = Answer.read(text, values, context)
    for n, value in enumerate(values):
        yield Judged(n, by_place[value.start, value.end, value.kind], value, tuple(readings(value, text)), answer)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["rule"])
def test_a_step_names_only_its_own_rules(row: dict[str, Any]) -> None:
    """Whoever reads the order of `value_rules.ALONE` sees which rules stand where."""
    for text in (*(a for a, _, _ in row["fires"]), *row["spares"]):
        for judged in values_of(row, text):
            for step in ALONE:
                finding = step.decide(judged)
                assert finding is None or finding.rule in step.rules


def test_steps_name_every_rule_that_decides_a_value_by_itself() -> None:
    together = {
        "quoted-otherwise",
        "replaced-edition",
        "written-formula",
        "worked-out",
        "remainder",
        "may-follow",
        "how-many",
        "lookalike",
    }
    left = {
        "only-asked",
        "asks-the-reader",
        "within-name",
        "open-year",
        "no-source",
        "perhaps-worked-out",
        "hold-one-another",
    }
    of_values = {r.id for r in RULES if r.about in ("value", "name")}
    assert frozenset().union(*(step.rules for step in ALONE)) == of_values - together - left


def test_the_docs_list_every_rule_in_this_order() -> None:
    lines = [line for line in (ROOT / "docs" / "rules.md").read_text("utf-8").splitlines() if line.startswith("| `")]
    proposed = [rule for rule in RULES if rule.about == "judge"]
    assert lines == [
        f"| `{r.id}` | {r.about} | {', '.join(r.decides)} | {r.says} | {'yes' if r.judge else 'no'} |"
        for r in RULES
        if r not in proposed
    ] + [f"| `{r.id}` | {', '.join(r.decides)} | {r.says} |" for r in proposed]
