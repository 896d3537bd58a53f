"""Statements: rows that fire each rule and rows that it must spare, what is held, and what no rule may condemn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from rai.check.context import CheckContext, Finding
from rai.check.match import check_claims
from rai.check.reading.sources import prepare
from rai.check.statements.statement_match import COVERED, match_statement
from rai.check.statements.statement_rules import RULES
from rai.claims.contacts.phones import REGIONS
from rai.records import Source

ROWS: list[dict[str, Any]] = yaml.load(
    Path(__file__).with_name("statement_rules.yaml").read_text("utf-8"), Loader=yaml.CSafeLoader
)
FIRES = [(row["rule"], row["source"], answer) for row in ROWS for answer in row["fires"]]
SPARES = [(row["source"], answer) for row in ROWS for answer in row["spares"]]
CONDEMNED = {"contradicted", "absent"}


def finding(answer: str, *sources: str, question: str = "") -> Finding:
    prepared = tuple(prepare(Source(f"s{n}", text), REGIONS) for n, text in enumerate(sources, 1))
    asked = prepare(Source("question", question), REGIONS) if question else None
    return match_statement(answer, CheckContext(prepared, (), asked, frozenset()))


@pytest.mark.parametrize(("rule", "source", "answer"), FIRES)
def test_a_rule_fires(rule: str, source: str, answer: str) -> None:
    found = finding(answer, source)
    assert (found.status, found.rule) == ("contradicted", rule)
    assert found.evidence
    assert found.why


@pytest.mark.parametrize(("source", "answer"), SPARES)
def test_a_rule_spares(source: str, answer: str) -> None:
    assert finding(answer, source).status not in CONDEMNED


def test_every_rule_has_rows_that_fire_it_and_rows_that_it_spares() -> None:
    assert {row["rule"] for row in ROWS if row["fires"]} == {rule.id for rule in RULES}
    assert {row["rule"] for row in ROWS if row["spares"]} == {rule.id for rule in RULES}


GUIDE = (
    "## Early return\n\nThe car may be returned early at any of our stations without a fee. Unused days are refunded to the card "
    "within 10 working days. The fuel tank has to be full on return, else refuelling is charged at $4 per litre."
)


@pytest.mark.parametrize(
    "answer",
    [
        "Unused days are refunded to your card within 10 working days.",
        "The fuel tank has to be full on return; else refuelling is charged at $4 per litre.",
    ],
)
def test_what_a_source_says_in_nearly_these_words_is_held(answer: str) -> None:
    found = finding(answer, GUIDE)
    assert found.status == "entailed"
    assert found.p is None or found.p > 0.5


@pytest.mark.parametrize(
    "answer",
    [
        "Unused days are not refunded to your card within 10 working days.",
        "All customers get unused days refunded to any card within 10 working days, whatever the reason.",
        "The driver has to wash and polish the car by hand on return.",
        "Guests love the bright sunny terrace upstairs on weekends.",
    ],
)
def test_what_a_source_does_not_say_is_not_held(answer: str) -> None:
    assert finding(answer, GUIDE).status != "entailed"


def test_lack_of_overlap_condemns_nothing() -> None:
    """Free wording shares no word with its place: that is no evidence against it."""
    found = finding("Guests love the bright sunny terrace upstairs.", "Invoices are sent by post each quarter.")
    assert (found.status, found.rule) == ("unchecked", None)


@pytest.mark.parametrize("answer", ["Happy to help!", "Anything else?", "Here is how it works:"])
def test_courtesy_and_questions_are_no_claims(answer: str) -> None:
    assert finding(answer, GUIDE) == Finding("unchecked", (), "A question, a courtesy or a lead-in claims nothing.")


def test_a_newer_source_that_agrees_spares_the_answer() -> None:
    old, new = "The gateway is included in this price.", "From May the gateway is not included in this price."
    assert finding("From May the gateway is not included in this price any more.", old, new).status not in CONDEMNED


def test_a_held_sentence_with_a_value_that_no_source_has_is_open() -> None:
    answer = "The fuel tank has to be full on return; else refuelling is charged at $7 per litre."
    claims = check_claims(answer, [Source("s1", GUIDE)])
    (statement,) = (c for c in claims if c.kind == "statement")
    assert statement.status == "unchecked"
    assert statement.rule != COVERED


def test_the_rule_and_the_chance_stand_in_the_claim() -> None:
    claims = check_claims(
        "The cap covers paper tickets too.", [Source("s1", "The cap does not apply to paper tickets.")]
    )
    (statement,) = (c for c in claims if c.kind == "statement")
    assert (statement.status, statement.rule) == ("contradicted", "statement-negated")


def test_an_endless_sentence_stays_open() -> None:
    assert finding("word " * 2000, GUIDE).status == "unchecked"


CHARGER = "The Swift E2 charges batteries of 48 V within three hours and shows the time left on its display."


def test_what_is_said_of_a_sibling_supports_nothing_of_this_one() -> None:
    assert finding(CHARGER.replace("shows", "also shows"), CHARGER).rule == COVERED
    assert finding(CHARGER.replace("E2", "E1").replace("shows", "also shows"), CHARGER).status == "unchecked"


def test_the_nearest_sentence_that_denies_it_supports_nothing() -> None:
    denied = (
        "The Swift E1 does not recognise batteries of 48 V and will not charge them within the warranty of the charger."
    )
    said = "The Swift E1 recognises batteries of 48 V, and charges them within the warranty of the charger."
    assert finding(said, denied).status != "entailed"


def test_a_number_of_a_name_that_its_sentence_has_otherwise_is_in_doubt() -> None:
    sources = [
        Source("s1", "Wi-Fi | Wren X1: Wi-Fi 6, dual band, AX3000"),
        Source("s2", "The mesh of Wi-Fi 7 routers has up to six nodes."),
    ]
    for number, status in (("7", "unchecked"), ("6", "exact")):
        answer = f"The Wren X1 AX3000 supports dual band Wi-Fi {number}."
        [claim] = [c for c in check_claims(answer, sources) if c.text == number]
        assert claim.status == status
