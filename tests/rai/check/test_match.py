"""Claims against sources: what counts as the same value, in the right role, and what does not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rai.check.comparison.edit_distance import edit_distance
from rai.check.comparison.lookalike_host import looks_like
from rai.check.match import check_claims
from rai.records import Claim, Source
from tests.tables import Tables

TABLES = Tables(__file__)

SUPPORTED = {"exact", "normalised", "entailed"}


def _status(answer: str, source: str, kind: str, title: str = "", question: str | None = None) -> list[str]:
    claims = check_claims(answer, [Source("s1", source, title)], question)
    return [c.status for c in claims if c.kind == kind]


@TABLES.each("values")
def test_values(answer: str, source: str, kind: str, status: str) -> None:
    """One claim, one source, one status."""
    assert _status(answer, source, kind)[0] == status


@pytest.mark.row("1-12")
def test_changed_form_number_is_absent() -> None:
    """An answer with form 354-01 against a text with 354-02 is flagged."""
    (code,) = [
        c
        for c in check_claims("Please sign form 354-01.", [Source("s1", "Please sign form 354-02.")])
        if c.kind == "entity"
    ]
    assert (code.status, code.unsupported, code.text) == ("absent", True, "354-01")


PLANS = "Plan: Basic | Price: $19\nPlan: Pro | Price: $29"
TABLE = "| Plan | Price (USD) |\n|---|---|\n| Basic | 19 |\n| Pro | 29 |"

ROLES = [
    ("The Pro plan costs $19.", PLANS, "wrong_role"),
    ("The Pro plan costs $29.", PLANS, "exact"),
    ("The Basic plan costs $19.", PLANS, "exact"),
    ("Pro costs $19.", TABLE, "wrong_role"),
    ("Pro costs $29.", TABLE, "normalised"),
    ("Plans cost $19 and more.", PLANS, "exact"),
    ("Pro costs $19.", "Basic costs $19. Pro costs $29.", "wrong_role"),
    ("Pro costs $29.", "Basic costs $19. Pro costs $29.", "exact"),
    ("The pool closes for $40 today.", "Dogs: $40 deposit", "exact"),  # that words are missing is no evidence
]


@pytest.mark.parametrize("title", ["", "Overview"])
@pytest.mark.parametrize(("answer", "source", "status"), ROLES)
def test_roles(answer: str, source: str, status: str, title: str) -> None:
    """A price that stands in the row or sentence of another plan is in the wrong role."""
    assert _status(answer, source, "money", title) == [status]


def test_question_names_the_row_when_the_answer_does_not() -> None:
    """ "It costs $19." after a question about Pro is Basic's price."""
    assert _status("It costs $19.", PLANS, "money", question="How much is the Pro plan?") == ["wrong_role"]
    assert _status("It costs $29.", PLANS, "money", question="How much is the Pro plan?") == ["exact"]


def test_title_makes_the_role() -> None:
    """A bare value counts if the title of its source names what the claim is about."""
    assert _status("The warranty lasts 24 months.", "24 months from purchase", "quantity", "Warranty") == ["exact"]


def test_question_confirms_nothing() -> None:
    """What the person asked is theirs, but wrong where a source says the same of another value."""
    asked = "Is the fee $10?"
    assert _status("Yes, the fee is $10.", "The fee is $12.", "money", question=asked) == ["absent"]
    assert _status("Your bill of $10 is open.", "Bills are due in May.", "money", question=asked) == ["given"]


def test_contact_of_the_question_is_not_delivered() -> None:
    """A phone number that only the customer wrote is unchecked, and so unsupported."""
    claims = check_claims("Call (415) 555-0132.", [Source("s1", "Call us.")], "Is (415) 555-0132 your number?")
    assert [(c.status, c.unsupported) for c in claims if c.kind == "phone"] == [("unchecked", True)]


def test_given_text_may_be_repeated() -> None:
    """Agent context needs no source; its values are supported without evidence, and say so."""
    claims = check_claims("It renews on 3 June 2026.", [Source("s1", "Plans renew.")], given=["Renewal: 2026-06-03"])
    (date,) = [c for c in claims if c.kind == "date"]
    assert (date.status, date.evidence) == ("given", ())
    assert "given" in date.why


@TABLES.each("statements")
def test_statements(answer: str, source: str, status: str) -> None:
    """What words alone decide; the rest says that it is unchecked."""
    assert _status(answer, source, "statement") == [status]


@TABLES.each("hosts")
def test_lookalike_hosts(host: str, known: str, twin: str | None) -> None:
    """Near spellings, swapped signs and other endings look like the known host; itself and its subdomains do not."""
    assert looks_like(host, [known]) == twin


@settings(max_examples=50, deadline=None)
@given(st.text("abc", max_size=6), st.text("abc", max_size=6))
def test_edit_distance_is_symmetric_and_zero_only_for_equals(a: str, b: str) -> None:
    """Bounded distance behaves as a distance."""
    assert edit_distance(a, b, 2) == edit_distance(b, a, 2)
    assert (edit_distance(a, b, 2) == 0) == (a == b)


SENTENCES = TABLES.texts("sentences")


@settings(max_examples=50, deadline=None)
@given(st.permutations(SENTENCES), st.integers(0, 8))
def test_verbatim_sentence_is_never_unsupported(order: list[str], pick: int) -> None:
    """Any sentence of a source, quoted as it stands, holds no unsupported claim."""
    source = Source("s1", " ".join(order))
    claims = check_claims(order[pick], [source])
    assert [c.why for c in claims if c.unsupported] == []
    assert all(c.status == "entailed" for c in claims if c.kind == "statement")


@settings(max_examples=50, deadline=None)
@given(
    st.integers(60_001, 99_999),
    st.sampled_from(
        [
            "The Pro plan costs ${}.",
            "We ship to {} countries.",
            "It lasts {} days.",
            "It is {}% off.",
            "Form {}-02 applies.",
        ]
    ),
)
def test_value_that_no_source_holds_is_never_supported(number: int, form: str) -> None:
    """An invented number has no evidence and no supported status, whatever its kind."""
    claims = check_claims(form.format(number), [Source("s1", " ".join(SENTENCES), "Plans")])
    values = [c for c in claims if c.kind != "statement"]
    assert values
    assert not [c for c in values if c.status in SUPPORTED]


@settings(max_examples=50, deadline=None)
@given(st.permutations([Source(f"s{i}", text, f"Title {i}") for i, text in enumerate(SENTENCES)]))
def test_order_of_sources_changes_nothing(order: list[Source]) -> None:
    """The report is the same whatever the ranking was."""
    answer = "The Pro plan costs $29. Call (415) 555-0132 within 30 days. Form 354-01 is due on 5 May."
    assert check_claims(answer, order) == check_claims(answer, sorted(order, key=lambda s: s.id))


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from([*SENTENCES, "Basic is $19.", "Call 555-0199.", "\n- Item 2", "é😀"]), max_size=6))
def test_evidence_spans_are_exact(parts: list[str]) -> None:
    """Every evidence span repeats what stands in the named field of its source."""
    sources = {
        s.id: s
        for s in [
            Source("a", "😀 " + " ".join(SENTENCES), "Orchard Garden Hotel: 30 days"),
            Source("b", PLANS, "Plans"),
        ]
    }
    answer = " ".join(parts)
    for claim in check_claims(answer, list(sources.values())):
        _assert_exact(answer, claim, sources)


def _assert_exact(answer: str, claim: Claim, sources: dict[str, Source]) -> None:
    assert answer[claim.start : claim.end] == claim.text
    assert claim.why
    for span in claim.evidence:
        field = sources[span.source].text if span.field == "text" else sources[span.source].title
        assert field[span.start : span.end] == span.text
