"""What an answer changed in what it quotes: near misses refused, honest rewording kept."""

from __future__ import annotations

from string import ascii_lowercase

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rai.check.match import check_claims
from rai.check.quoted.align import align, tokens_of
from rai.records import Claim, Source
from tests.tables import Tables

TABLES = Tables(__file__)

QUOTED = TABLES.texts("quoted")
PRICES = QUOTED[0]

GAP = pytest.mark.xfail(strict=True, reason="rules alone do not tell: the value stands in the line, for something else")


def _claims(answer: str, source: str) -> tuple[Claim, ...]:
    return check_claims(answer, [Source("s1", source, "Price list 2026")])


@TABLES.each("changed", gap=GAP)
def test_what_was_changed_in_a_quotation_is_refused(source: str, answer: str, bad: str) -> None:
    """The claim that holds the change is unsupported, though most of these values stand in the source."""
    refused = [c.text for c in _claims(answer, source) if c.unsupported]
    assert any(bad in text for text in refused), refused


@TABLES.each("kept")
def test_honest_rewording_is_kept(source: str, answer: str) -> None:
    """The same values in other forms, order or number are no changes."""
    assert [(c.text, c.status, c.why) for c in _claims(answer, source) if c.unsupported] == []


def test_the_reason_names_both_values_and_shows_the_place() -> None:
    """Evidence is the source's own characters in this place."""
    answer = "Product: Wren X2 | USA: $219.00 | Germany: €235.00 | France: €139.00"
    (bad,) = [c for c in _claims(answer, PRICES) if c.unsupported]
    (span,) = bad.evidence
    assert (bad.status, span.text, PRICES[span.start : span.end]) == ("wrong_role", "€239.00", "€239.00")
    assert bad.why == "The source says €239.00 here, not €139.00."


def test_every_digit_is_a_claim_but_marks() -> None:
    """Tokens that no grammar knows are claims; list, step and citation marks are none."""
    claims = check_claims("1. Use 1080p and 720p [2].", [Source("s1", "Use 1080p.")])
    found = [(c.text, c.status) for c in claims if c.kind != "statement"]
    assert ("1080p", "exact") in found
    assert ("720p", "absent") in found
    assert len(found) == 2


TEXT = st.text(alphabet=ascii_lowercase + "  019€|:,.[]\nÄ’–", max_size=120)


@given(TEXT, TEXT)
@settings(max_examples=120, deadline=None)
def test_offsets_hold(answer: str, source: str) -> None:
    """Tokens, alignments and claims index into the texts they name."""
    for token in tokens_of(answer, 0, len(answer)):
        assert len(token.text) == token.end - token.start
    for alignment in align(answer, 0, len(answer), (Source("s", source),)):
        assert alignment.segment.text == source[alignment.segment.start : alignment.segment.end]
    for claim in check_claims(answer, [Source("s", source)]):
        assert answer[claim.start : claim.end] == claim.text
        for span in claim.evidence:
            assert source[span.start : span.end] == span.text


@given(
    st.lists(
        st.sampled_from([line for text in QUOTED for line in text.splitlines()]),
        min_size=1,
        max_size=4,
    )
)
@settings(max_examples=60, deadline=None)
def test_a_verbatim_quotation_is_never_refused(quoted: list[str]) -> None:
    """Whatever is quoted, in whatever order, stands."""
    sources = [Source(str(n), text) for n, text in enumerate(QUOTED)]
    assert not [c for c in check_claims("\n".join(quoted), sources) if c.unsupported]
