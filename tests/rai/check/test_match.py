"""Claims against sources: what counts as the same value, in the right role, and what does not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rai.check.match import check_claims
from rai.check.same.lookalike import edit_distance, looks_like
from rai.records import Claim, Source

SUPPORTED = {"exact", "normalised", "entailed"}


def _status(answer: str, source: str, kind: str, title: str = "", question: str | None = None) -> list[str]:
    claims = check_claims(answer, [Source("s1", source, title)], question)
    return [c.status for c in claims if c.kind == kind]


VALUES = [
    # answer, source, kind, status of the first claim of that kind
    ("The kit has 49 parts.", "The kit has 49 parts inside.", "number", "exact"),
    ("The kit has 49 parts.", "The kit has 349 parts inside.", "number", "absent"),
    ("The kit has 49 parts.", "The kit has 4.9 parts inside.", "number", "absent"),
    ("The kit has 49 parts.", "The kit SKU-49 has parts.", "number", "absent"),
    ("The kit has 12 parts.", "The kit has twelve parts.", "number", "normalised"),
    ("The kit has twelve parts.", "The kit has 12 parts.", "number", "normalised"),
    ("It seats 1200 guests.", "It seats 1,200 guests.", "number", "normalised"),
    ("It seats 1200 guests.", "It seats 12 guests.", "number", "absent"),
    ("It has 2.5 million users.", "It has 2,500,000 users.", "number", "normalised"),
    ("Returns take 30 days.", "Returns take thirty days.", "quantity", "normalised"),
    ("Returns take 30 days.", "Returns take 30 weeks.", "quantity", "absent"),
    ("Returns take 30 days.", "Returns take 30 business days.", "quantity", "absent"),
    ("Returns take 30 days.", "Returns, in days: 30", "quantity", "normalised"),
    ("Returns take 30 days.", "Returns cost 30 if late.", "quantity", "absent"),
    ("The desk is staffed 24 hours.", "The desk is staffed 24/7.", "quantity", "normalised"),
    ("You must be 18 years old to check in.", "Guests must be 18 or older to check in.", "quantity", "normalised"),
    ("The plan costs $1,200.", "The plan costs 1200 USD.", "money", "normalised"),
    ("The plan costs $1,200.", "The plan costs $1,200 a year.", "money", "exact"),
    ("The plan costs $1,200.", "The plan costs €1,200.", "money", "absent"),
    ("The plan costs $1,200.", "The plan costs 1,200 AUD.", "money", "absent"),
    ("The plan costs $34.", "The plan costs $34.20.", "money", "absent"),
    ("The plan costs $19.00.", "The plan costs $19.", "money", "normalised"),
    ("The plan costs $19.", "The plan has 19 seats.", "money", "absent"),
    ("The plan costs 10 GBP.", "The plan costs £10.", "money", "normalised"),
    ("Children get a 50% discount.", "Children get 50 per cent discount.", "percent", "normalised"),
    ("Children get a 50% discount.", "Children get 5% discount.", "percent", "absent"),
    ("Children get a 50% discount.", "Children get a discount at 50.", "percent", "absent"),
    ("The sale ends on 5 May.", "The sale ends on 2026-05-05.", "date", "normalised"),
    ("The sale ends on 5 May 2026.", "The sale ends on May 5, 2026.", "date", "normalised"),
    ("The sale ends on 5 May 2026.", "The sale ends on May 5.", "date", "absent"),
    ("The sale ends on 5 May 2026.", "The sale ends on May 6, 2026.", "date", "absent"),
    ("The sale ends on 05/06/2026.", "The sale ends on 5 June 2026.", "date", "normalised"),
    ("The sale ends on 05/06/2026.", "The sale ends on 5 July 2026.", "date", "absent"),
    ("The sale was in May 2026.", "The sale was on 5 May 2026.", "date", "exact"),
    ("The sale was in 2025.", "The sale was on 5 May 2026.", "date", "absent"),
    ("We open on Sunday.", "We open on Sundays.", "date", "normalised"),
    ("We open on Sunday.", "We open on Saturday.", "date", "absent"),
    ("We open on Tuesday.", "We open Monday to Friday.", "date", "normalised"),
    ("Check-in is at 2 PM.", "Check-in is at 14:00.", "time", "normalised"),
    ("Check-in is at 2 PM.", "Check-in is at 2 AM.", "time", "absent"),
    ("Check-in is at 2 PM.", "Check-in is at 2:30 PM.", "time", "absent"),
    ("Check-in is at noon.", "Check-in is at 12 p.m.", "time", "normalised"),
    ("Check-in is at 9 a.m.", "Check-in is open 9-5 pm.", "time", "normalised"),
    ("Check-in ends at midnight.", "Check-in ends at 12 PM.", "time", "absent"),
    ("Call +1 415 555 0132 for help.", "For help call (415) 555-0132.", "phone", "normalised"),
    ("Call (415) 555-0132 for help.", "For help call (415) 555-0132.", "phone", "exact"),
    ("Call (415) 555-0132 for help.", "For help call (415) 555-0133.", "phone", "absent"),
    ("Call (415) 555-0132 for help.", "For help call (415) 555-0132 ext. 7.", "phone", "absent"),
    ("Call 020 7946 0958 for help.", "For help call +44 20 7946 0958.", "phone", "normalised"),
    ("See https://contoso.com/help for help.", "For help see contoso.com/help.", "url", "normalised"),
    ("See https://contoso.com/help for help.", "For help see https://contoso.com/help.", "url", "exact"),
    ("See https://contoso.com/help2 for help.", "For help see https://contoso.com/help.", "url", "absent"),
    ("See contoso.com for help.", "For help see https://contoso.com/help.", "url", "normalised"),
    ("See https://contoso.co/help for help.", "For help see https://contoso.com/help.", "url", "lookalike"),
    ("See https://c0ntoso.com/help for help.", "For help see https://contoso.com/help.", "url", "lookalike"),
    ("See https://contosso.com for help.", "For help see https://contoso.com.", "url", "lookalike"),
    ("See https://cоntoso.com for help.", "For help see https://contoso.com.", "url", "lookalike"),  # Cyrillic о
    ("See https://fabrikam.org for help.", "For help see https://contoso.com.", "url", "absent"),
    ("Mail HELP@contoso.com for help.", "For help mail help@contoso.com.", "email", "normalised"),
    ("Mail help@contoso.net for help.", "For help mail help@contoso.com.", "email", "lookalike"),
    ("Mail sales@contoso.com for help.", "For help mail help@contoso.com.", "email", "absent"),
    ("Use –force-deletion to delete it.", "To delete it use --force-deletion.", "entity", "normalised"),
    ("Use –force-deletion to delete it.", "To delete it use -force-deletion.", "entity", "normalised"),
    ("Use –force-deletion to delete it.", "To delete it use -ForceDeletion.", "entity", "absent"),
    ("Use version 2.3.1 to print.", "To print use version 2.3.1.4.", "entity", "absent"),
    ("Use version 2.3.1 to print.", "To print use version 2.3.1.", "entity", "exact"),
    ("Stay at the Orchard Garden Hotel.", "ORCHARD GARDEN HOTEL: stay with us", "entity", "normalised"),
    ("Stay at the Orchard Garden Hotel.", "Stay at the Orchard Garden Hotel.", "entity", "exact"),
    ("Stay at the Orchard Garden Hotel.", "Stay at the Union Square Inn.", "entity", "absent"),
    ("Stay at the Orchard Garden Hotel.", "Our garden is near the orchard of the hotel.", "entity", "unchecked"),
    ("Buy the Surface Pro 9.", "Buy the Surface Pro 8.", "entity", "absent"),
    ("We are at 466 Bush St.", "We are at 466 Bush Street, San Francisco.", "entity", "normalised"),
    ("We are at 468 Bush St.", "We are at 466 Bush Street, San Francisco.", "entity", "absent"),
]


@pytest.mark.parametrize(("answer", "source", "kind", "status"), VALUES)
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


STATEMENTS = [
    ("The pool is open to all guests.", "The pool is open to all guests. It is warm.", "entailed"),
    ("The pool – is “open” to all guests [2].", 'the pool - is "open" to all guests', "entailed"),
    ("Yes, the pool is open to all guests.", "The pool is open to all guests.", "entailed"),
    ("The pool is open to all guests.", "The pool is open to all hotel guests.", "unchecked"),
    (
        "The pool is open to guests.",
        "The pool is open to guests who are members of the health club downtown.",
        "unchecked",
    ),
    ("The pool is not open to guests.", "The pool is open to guests.", "contradicted"),
    ("The pool is open to guests.", "The pool isn't open to guests.", "contradicted"),
    ("No parking is available at the inn.", "There is no parking available at the inn.", "entailed"),
    ("The pool is open to guests.", "The pool is open to guests only if they pay.", "unchecked"),
    ("Guests love the bright sunny terrace upstairs.", "Invoices are sent by post each quarter.", "unchecked"),
    ("The dog bites the man.", "The man bites the dog.", "unchecked"),
    ("Is there anything else?", "Is there anything else?", "unchecked"),
    ("Happy to help!", "Invoices are sent.", "unchecked"),
    ("Is the pool open?", "The pool is open.", "unchecked"),
    ("The provided information is not sufficient to answer this question.", "Invoices are sent.", "unchecked"),
    ("The pool is open, is there more?", "The pool is open, is there more?", "entailed"),
]


@pytest.mark.parametrize(("answer", "source", "status"), STATEMENTS)
def test_statements(answer: str, source: str, status: str) -> None:
    """What words alone decide; the rest says that it is unchecked."""
    assert _status(answer, source, "statement") == [status]


HOSTS = [
    ("contoso.com", "contoso.com", None), ("www.contoso.com", "contoso.com", None), ("contoso.net", "contoso.com", "contoso.com"),
    ("c0ntoso.com", "contoso.com", "contoso.com"), ("cnotoso.com", "contoso.com", "contoso.com"), ("rnicrosoft.com", "microsoft.com", "microsoft.com"),
    ("con-toso.com", "contoso.com", "contoso.com"), ("ibm.com", "hbm.com", "hbm.com"), ("fabrikam.com", "contoso.com", None), ("ab.io", "cd.io", None),
]  # fmt: skip


@pytest.mark.parametrize(("host", "known", "twin"), HOSTS)
def test_lookalike_hosts(host: str, known: str, twin: str | None) -> None:
    """Near spellings, swapped signs and other endings look like the known host; itself and its subdomains do not."""
    assert looks_like(host, [known]) == twin


@settings(max_examples=50, deadline=None)
@given(st.text("abc", max_size=6), st.text("abc", max_size=6))
def test_edit_distance_is_symmetric_and_zero_only_for_equals(a: str, b: str) -> None:
    """Bounded distance behaves as a distance."""
    assert edit_distance(a, b, 2) == edit_distance(b, a, 2)
    assert (edit_distance(a, b, 2) == 0) == (a == b)


SENTENCES = [
    "The Pro plan costs $29 a month.", "Call +1 415 555 0132 from 9 a.m. to 5 p.m.", "Form 354-02 must be signed within 30 days.",
    "See https://contoso.com/help or mail help@contoso.com.", "The sale ends on 5 May 2026.", "We ship to 12 countries.",
    "Children get a 50% discount at the Orchard Garden Hotel.", "Water damage is not covered.", "Use --force-deletion with az vm delete.",
]  # fmt: skip


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
