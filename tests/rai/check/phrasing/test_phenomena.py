"""Phenomena of statements, each with its near miss: the status that words alone decide, and which of two is doubted more."""

from __future__ import annotations

from rai.check.context import CheckContext, Finding
from rai.check.phrasing.weigh import weigh_claims
from rai.check.reading.sources import prepare
from rai.check.statements.statement_match import match_statement
from rai.claims.contacts.phones import REGIONS
from rai.records import Claim, Source
from tests.tables import Tables

TABLES = Tables(__file__)


def _finding(answer: str, source: str) -> Finding:
    prepared = prepare(Source("s1", source), REGIONS)
    return match_statement(answer, CheckContext((prepared,), (), None, frozenset()))


def _score(answer: str, *texts: str) -> float:
    sources = [Source(f"s{n}", text) for n, text in enumerate(texts)]
    claim = Claim("statement", answer, 0, len(answer))
    score = weigh_claims([claim], sources).claims[0].score
    assert score is not None
    return score


@TABLES.each("status")
def test_status(answer: str, source: str, status: str) -> None:
    """The status, a reason, and evidence that repeats what stands in the source."""
    finding = _finding(answer, source)
    assert (finding.status, finding.why) == (status, finding.why)
    assert finding.why
    for span in finding.evidence:
        assert source[span.start : span.end] == span.text
    if status == "contradicted":
        assert finding.evidence


@TABLES.each("order")
def test_score_doubts_the_changed_more(worse: str, better: str, sources: list[str]) -> None:
    """The changed sentence is less likely supported than the honest one."""
    assert _score(worse, *sources) < _score(better, *sources)


@TABLES.each("supported")
def test_honest_rewording_is_likely(answer: str, sources: list[str]) -> None:
    """An honest rewording is more likely supported than not, and is not held back."""
    assert _score(answer, *sources) > 0.5
    claims = [Claim("statement", answer, 0, len(answer))]
    assert weigh_claims(claims, [Source(str(n), t) for n, t in enumerate(sources)]).doubt < 0.5
