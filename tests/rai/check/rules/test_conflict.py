"""Conflict: two sources, one role, two values; and all that only looks like it."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rai.check.context import Around, CheckContext, Finding, line_of
from rai.check.rules.conflict import conflict
from rai.check.same.values import same_value
from rai.claims.found import Found
from rai.records import Claim, Source
from tests.rai.check.judged import judged, well_founded


def judge(claim: Claim, found: Found, around: Around, context: CheckContext) -> Finding | None:
    """`conflict` with every place that holds the claim's value, as the check calls it after the roles are bound."""
    fitting = [p for s in context.sources for p in s.places if same_value(found, p.found, line_of(p))]
    return conflict(claim, found, fitting, around, context)


OLD_TABLE = "Plan: Basic | Price: $19 | Storage: 5 GB\nPlan: Pro | Price: $29 | Storage: 20 GB"
NEW_TABLE = "Plan: Basic | Price: $19 | Storage: 5 GB\nPlan: Pro | Price: $35 | Storage: 20 GB"
PIPES = "| Plan | Price |\n|---|---|\n| Basic | $19 |\n| Pro | ${} |"

ROWS = [
    # answer, (title, text), (title, text), the two values or None
    ("The premium is £31.", ("", "The premium is £31."), ("", "The premium is £34."), ("£31", "£34")),
    ("The premium is £31.", ("", "The premium is £31."), ("", "The new premium is £34."), None),
    ("The premium is £31.", ("", "The premium is £31."), ("", "It is £34."), None),
    ("In 2024 the levy was 3%.", ("", "In 2024 the levy was 3%."), ("", "In 2024 the levy was 4%."), ("3%", "4%")),
    ("In 2024 the levy was 3%.", ("", "In 2024 the levy was 3%."), ("", "In 2025 the levy was 4%."), None),
    ("The flight takes 90 minutes.", ("", "The flight takes 90 minutes."), ("", "The flight takes 2 hours."), ("90 minutes", "2 hours")),
    ("The flight takes 90 minutes.", ("", "The flight takes 90 minutes."), ("", "The flight takes 1.5 hours."), None),
    ("The late fee is $20.", ("Fees 2025", "The late fee is $20."), ("Fees 2026", "The late fee is $25."), ("$20", "$25")),
    ("The late fee is $20.", ("Fees 2025", "The late fee is $20."), ("Fees 2026", "The late fee is $20.00."), None),
    ("The late fee is $20.", ("Fees 2025", "The late fee is $20."), ("Fees 2026", "The early fee is $25."), None),
    ("The late fee is $20.", ("Fees 2025", "The late fee is $20."), ("Fees 2026", "The late fee is €25."), None),
    ("The late fee is $20.", ("Fees", "The late fee is $20."), ("Fees", "The late fee was $25 until May."), None),
    ("The late fee is $20.", ("Fees", "The late fee is $20."), ("Fees", "The late fee will be $25."), None),
    ("The late fee is $20.", ("Fees", "The late fee is $20."), ("Fees", "The late fee is $19.99."), None),
    ("The late fee is $20.", ("Fees", "The late fee is $20."), ("Fees", "The late fee is $20 to $25."), None),
    ("The late fee is $20.", ("Fees", "The late fee is $20."), ("Fees", "The late fee is at least $15."), None),
    ("The late fee is $20.", ("Fees", "The late fee is $20."), ("Fees", "The late fee is about $22."), None),
    ("The late fee is $20.", ("Fees", "The late fee is $20."), ("Fees", "The late fee is not $25."), None),
    ("The late fee is $20.", ("Fees", "The late fee is $20."), ("Fees", "The late fee for members is $25."), None),
    ("The late fee is $20.", ("Fees guide", "The late fee is $20."), ("Fees (updated)", "The late fee is now $25."), ("$20", "$25")),
    ("The late fee is $20.", ("Fees in France", "The late fee is $20."), ("Fees in Spain", "The late fee is $25."), None),
    ("The bag costs $20.", ("Red bag", "The bag costs $20."), ("Blue bag", "The bag costs $25."), None),
    ("The bag costs $20.", ("Bag 2", "The bag costs $20."), ("Bag 3", "The bag costs $25."), None),
    ("The bag costs $20.", ("Bag v2", "The bag costs $20."), ("Bag v3", "The bag costs $25."), ("$20", "$25")),
    ("The bag costs $20.", ("Bag", "The bag costs $20. It ships free."), ("Bag", "The bag is light. The price of the bag is $25."), ("$20", "$25")),
    ("The bag costs $20.", ("Bag", "The bag costs $20."), ("Bag", "The bag costs $25 and ships free."), None),
    ("It costs $20.", ("Bags", "Red is a colour. It costs $20."), ("Bags", "Blue is a colour. It costs $25."), None),
    ("Members pay $20.", ("Prices", "# Red pool\nMembers pay $20."), ("Prices", "# Blue pool\nMembers pay $25."), None),
    ("Members pay $20.", ("Prices", "# Red pool\nMembers pay $20."), ("Prices", "# Red pool\nMembers pay $25."), ("$20", "$25")),
    ("The Pro plan costs $29.", ("Plans 2025", OLD_TABLE), ("Plans 2026", NEW_TABLE), ("$29", "$35")),
    ("The Basic plan costs $19.", ("Plans 2025", OLD_TABLE), ("Plans 2026", NEW_TABLE), None),
    ("The Pro plan costs $29.", ("Watch plans", OLD_TABLE), ("Cloud plans", NEW_TABLE), None),
    ("The Pro plan costs $29.", ("Plans", PIPES.format(29)), ("Plans", PIPES.format(35)), ("$29", "$35")),
    ("The Pro plan costs $29.", ("Plans", PIPES.format(29)), ("Plans", PIPES.format(29)), None),
    ("Pro costs $29.", ("Plans", "Plan: Pro | Term: monthly | Price: $29"), ("Plans", "Plan: Pro | Term: yearly | Price: $35"), None),
    ("Returns take 30 days.", ("Returns", "Returns take 30 days."), ("Returns", "Returns take 14 days."), ("30 days", "14 days")),
    ("Returns take 30 days.", ("Returns", "Returns take 30 days."), ("Returns", "Returns take 14 business days."), None),
    ("Returns take 30 days.", ("Returns", "Returns take 30 days."), ("Returns", "Returns take 30 days. Returns take 14 days."), None),
    ("The pool opens at 8:00 on Monday.", ("Pool", "The pool opens at 8:00 on Monday."), ("Pool", "The pool opens at 9:00 on Tuesday."), None),
    ("The pool opens at 8:00 on Monday.", ("Pool", "The pool opens at 8:00 on Monday."), ("Pool", "The pool opens at 9:00 on Monday."), ("8:00", "9:00")),
    ("The pool opens at 8:00.", ("Pool", "The pool opens at 8:00."), ("Pool", "The pool closes at 20:00."), None),
    ("The pool is open from 8:00 to 18:00.", ("Pool", "The pool is open from 8:00 to 18:00."), ("Pool", "The pool is open from 8:00 to 20:00."), ("18:00", "20:00")),
    ("The sale ends on 5 May.", ("Sale", "The sale ends on 5 May."), ("Sale", "The sale ends on 5 May 2026."), None),
    ("The sale ends on 5 May.", ("Sale", "The sale ends on 5 May."), ("Sale", "The sale ends on 9 May."), ("5 May", "9 May")),
    ("Call support at 020 7946 0958.", ("Contact", "Call support at 020 7946 0958."), ("Contact", "Call support at 020 7946 0321."), ("020 7946 0958", "020 7946 0321")),
    ("Call support at 020 7946 0958.", ("Contact", "Call support at 020 7946 0958."), ("Contact", "Call support at +1 206-555-0142."), None),
    ("Call support at 020 7946 0958.", ("Contact", "Call support at 020 7946 0958."), ("Contact", "Call billing at 020 7946 0321."), None),
    ("The town has 2 million people.", ("Town", "The town has 2 million people."), ("Town", "The town has 1,976,000 people."), None),
    ("The town has 2 million people.", ("Town", "The town has 2 million people."), ("Town", "The town has 3 million people."), ("2 million", "3 million")),
    ("The rate is 4 %.", ("Rates 2025", "The interest rate is 4 %."), ("Rates 2026", "The interest rate is 5 %."), ("4 %", "5 %")),
    ("The rate was 4 % in 2025.", ("Rates", "The rate was 4 % in 2025."), ("Rates", "The rate was 5 % in 2026."), None),
]  # fmt: skip


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize(("answer", "first", "second", "values"), ROWS)
def test_conflict(
    answer: str, first: tuple[str, str], second: tuple[str, str], values: tuple[str, str] | None, *, swapped: bool
) -> None:
    """The claimed value comes first in the evidence, in whichever order the sources come."""
    sources = [Source("a", first[1], first[0]), Source("b", second[1], second[0])]
    findings = [f for _, f in judged(judge, answer, sources[::-1] if swapped else sources) if f]
    if values is None:
        assert findings == []
        return
    (finding,) = findings
    assert finding.status == "conflict"
    assert tuple(e.text for e in finding.evidence) == values
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
