"""Names of an answer against sources: status and evidence, each case with its near miss."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from rai.check.match import check_claims
from rai.records import Claim, EntityType, Source


def _claims(
    answer: str,
    *texts: str,
    question: str | None = None,
    given: Sequence[str] = (),
    tags: Sequence[tuple[str, EntityType]] = (),
) -> list[Claim]:
    sources = [Source(f"s{i}", text) for i, text in enumerate(texts, 1)]
    spans = [(answer.index(name), answer.index(name) + len(name), kind) for name, kind in tags]
    claims = check_claims(answer, sources, question, given=given, tags=spans)
    by_id = {s.id: s for s in sources}
    for claim in claims:
        assert answer[claim.start : claim.end] == claim.text
        assert all(getattr(by_id[e.source], e.field)[e.start : e.end] == e.text for e in claim.evidence)
    return [c for c in claims if c.kind == "entity" and c.entity != "code"]


LOPEZ = "For refunds write to Maria Lopez, head of billing. Maria Lopez is in Leeds."


@pytest.mark.parametrize(
    ("answer", "source", "status", "evidence"),
    [
        # persons
        ("Please ask Maria Lopez.", LOPEZ, "exact", "Maria Lopez"),
        ("Please ask Dr. Maria Lopez.", LOPEZ, "exact", "Maria Lopez"),
        ("Please ask Ms Lopez.", LOPEZ, "exact", "Lopez"),
        ("Please ask María López.", LOPEZ, "normalised", "Maria Lopez"),
        ("Please ask Maria Lopez.", "Ask Maria T. Lopez about it.", "normalised", "Maria T. Lopez"),
        ("Please ask Jane Lopez.", LOPEZ, "absent", None),
        ("Please ask Maria Lopes.", LOPEZ, "absent", None),
        ("Please ask Ms Gomez.", LOPEZ, "absent", None),
        ("Please ask Maria Smith.", "Maria Lopez leads billing, John Smith leads sales.", "absent", "Maria Lopez"),
        # organisations
        ("It is sold by Kestrelby Home Ltd.", "Sold by Kestrelby Home.", "normalised", "Kestrelby Home"),
        ("It is sold by Kestrelby Home Ltd.", "Sold by Falconby Home.", "absent", None),
        ("Stay at the Orchard Hotel.", "We are the Orchard Inn.", "unchecked", None),
        ("Stay at the Orchard Garden Hotel.", "Our garden is near the orchard of the hotel.", "unchecked", None),
        ("Go to Marks and Spencer Leeds.", "Go to Marks & Spencer Leeds.", "normalised", "Marks & Spencer Leeds"),
        ("Eat at Roster & Rice.", "We serve at Rooster & Rice.", "unchecked", None),
        # places
        ("We ship from Leeds.", LOPEZ, "exact", "Leeds"),
        ("We ship from Bradford.", LOPEZ, "unchecked", None),
        ("We ship to Russia.", "A parcel to the Russian coast.", "unchecked", None),
        ("We ship to Poland.", "Polite staff at the pole.", "unchecked", None),
        # acronyms and what they stand for
        ("We told U.S. customers.", "For customers in the United States.", "normalised", "United States"),
        ("We told U.S. customers.", "They told us so.", "unchecked", None),
        ("Ask the Food and Drug Administration.", "The FDA decides.", "normalised", "FDA"),
        ("Ask the Food and Drug Administration.", "The FAA decides.", "absent", None),
        ("we told NASA about it", "The National Aeronautics and Space Administration knows.", "normalised", None),
        ("we told NASA about it", "The Nautical Administration knows.", "unchecked", None),
        ("Pay with your Amex card.", "We take American Express.", "normalised", "American Express"),
        # products
        ("Take the Wren X2.", "Wren X2: white, 129 euro.", "exact", "Wren"),
        ("Take the Sparrow.", "Wren X2: white, 129 euro.", "unchecked", None),
        ("We sell Wrens.", "A Wren costs 129 euro.", "normalised", "Wren"),
        ("This is the Motel 6.", "This is the Motel 8.", "absent", None),
    ],
)  # fmt: skip
def test_status_and_evidence(answer: str, source: str, status: str, evidence: str | None) -> None:
    claim = _claims(answer, source)[-1]
    assert claim.status == status, claim
    if evidence:
        assert evidence in [e.text for e in claim.evidence]


def test_a_name_of_the_question_or_context_is_no_invention() -> None:
    """Elsewhere the same name is one."""
    source = "The shop is open."
    assert _claims("We ship from Bradford.", source)[0].status == "unchecked"
    assert _claims("We ship from Bradford.", source, question="Do you ship from Bradford?")[0].status == "normalised"
    assert _claims("We ship from Bradford.", source, given=["Customer lives in bradford."])[0].status == "normalised"


def test_a_listed_product_counts_in_lower_case() -> None:
    """wren pro is the Wren Pro of the source; the sparrow pro of the list stands in no source of this answer."""
    source = "The Wren Pro is white. A pro may use it, says the sparrow."
    (wren,) = _claims("take the wren pro now", source, tags=[("wren pro", "product")])
    assert (wren.status, wren.evidence[0].text) == ("normalised", "Wren Pro")
    (sparrow,) = _claims("take the sparrow pro now", source, tags=[("sparrow pro", "product")])
    assert sparrow.status == "absent"


def test_a_reason_names_nothing_but_answer_and_sources() -> None:
    """What the list knows besides never shows: the tag carries a type and no name."""
    (claim,) = _claims("take the sparrow now", "A Wren is white.", tags=[("sparrow", "product")])
    assert claim.why == "No source names sparrow."


@pytest.mark.parametrize("unit", ["Ab Cd ", "U.S. ", "a-", "Lopez, "])
def test_a_long_source_is_read(unit: str) -> None:
    assert _claims("Please ask Maria Lopez.", unit * 500)
