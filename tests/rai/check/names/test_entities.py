"""Names of an answer against sources: status and evidence, each case with its near miss."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from rai.check.match import check_claims
from rai.records import Claim, EntityType, Source
from tests.tables import Tables

TABLES = Tables(__file__)


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


@TABLES.each("names")
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
