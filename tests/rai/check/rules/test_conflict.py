"""Conflict: two sources, one role, two values; and all that only looks like it."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rai.check.comparison.values import same_value
from rai.check.context import Around, CheckContext, Finding
from rai.check.rules.conflict import conflict
from rai.claims.found import Found
from rai.records import Claim, Source
from tests.rai.check.judged import judged, well_founded
from tests.tables import Tables

TABLES = Tables(__file__)


def judge(claim: Claim, found: Found, around: Around, context: CheckContext) -> Finding | None:
    """`conflict` with every place that holds the claim's value, as the check calls it after the roles are bound."""
    fitting = [p for s in context.sources for p in s.places if same_value(found, p.found, p.line())]
    return conflict(claim, found, fitting, around, context)


@pytest.mark.parametrize("swapped", [False, True])
@TABLES.each("conflicts")
def test_conflict(
    answer: str, first: dict[str, str], second: dict[str, str], values: list[str] | None, *, swapped: bool
) -> None:
    """The claimed value comes first in the evidence, in whichever order the sources come."""
    sources = [Source("a", **first), Source("b", **second)]
    findings = [f for _, f in judged(judge, answer, sources[::-1] if swapped else sources) if f]
    if values is None:
        assert findings == []
        return
    (finding,) = findings
    assert finding.status == "conflict"
    assert [e.text for e in finding.evidence] == values
    assert [e.source for e in finding.evidence] == ["a", "b"]
    assert well_founded(finding, sources)


NEWER = [
    # title and date of the claimed value's document, of the other, what the reason says
    ("Fees", "2025-01-01", "Fees", "2026-01-01", "An older document, a (Fees), says $20; the newer b (Fees) says $25."),
    ("Fees", "2026-01-01", "Fees", "2025-01-01", "The newer document a (Fees) says $20"),
    ("Fees 2025", None, "Fees 2026", None, "An older document, a (Fees 2025)"),
    ("Fees", None, "Fees", None, "which is newer is not known"),
    ("Fees", "2026-01-01", "Fees", None, "which is newer is not known"),
    ("Fees", "2026-01-01", "Fees", "2026-01-01", "which is newer is not known"),
    ("Fees v2.9", None, "Fees v2.10", None, "An older document, a"),
    ("Fees (updated 3 March 2026)", None, "Fees (updated 1 April 2026)", None, "An older document, a"),
    ("Fees 2026", None, "Fees (updated 1 April 2026)", None, "which is newer is not known"),
]


@pytest.mark.parametrize(("mine", "mine_at", "other", "other_at", "why"), NEWER)
def test_the_newer_document_is_named(
    mine: str, mine_at: str | None, other: str, other_at: str | None, why: str
) -> None:
    sources = [Source("a", "The late fee is $20.", mine, mine_at), Source("b", "The late fee is $25.", other, other_at)]
    ((_, finding),) = judged(judge, "The late fee is $20.", sources)
    assert finding is not None
    assert why in finding.why


def test_a_line_in_the_text_dates_a_document() -> None:
    sources = [
        Source("a", "Updated: 3 March 2025\nThe late fee is $20.", "Fees"),
        Source("b", "Updated: 4 March 2026\nThe late fee is $25.", "Fees"),
    ]
    finding = next(f for _, f in judged(judge, "The late fee is $20.", sources) if f)
    assert finding.why.startswith("An older document")


def test_several_sources_that_disagree_are_all_shown() -> None:
    """Whatever the order of the sources, the finding is the same."""
    sources = [Source(i, f"The late fee is ${n}.", "Fees") for i, n in (("a", 20), ("b", 25), ("c", 30))]
    found = {tuple(f for _, f in judged(judge, "The late fee is $20.", order)) for order in permutations(sources)}
    ((finding,),) = found
    assert finding is not None
    assert [e.text for e in finding.evidence] == ["$20", "$25", "$30"]


WORDS = st.lists(
    st.sampled_from("red blue pool room fee late early guest".split()), min_size=1, max_size=3, unique=True
)


@settings(max_examples=150)
@given(WORDS, WORDS, st.integers(1, 50), st.integers(1, 50))
def test_only_the_same_words_and_another_value_conflict(mine: list[str], other: list[str], a: int, b: int) -> None:
    """Sentences that differ in a word, or agree in the value, never conflict."""
    sources = [
        Source("a", f"The {' '.join(mine)} price is ${a}.", "T"),
        Source("b", f"The {' '.join(other)} price is ${b}.", "T"),
    ]
    findings = [f for _, f in judged(judge, sources[0].text, sources) if f]
    if a == b or {w if w != "fee" else "price" for w in mine} != {w if w != "fee" else "price" for w in other}:
        assert {*mine, "price"} - {"fee"} == {*other, "price"} - {"fee"} or findings == []
    if a == b:
        assert findings == []
