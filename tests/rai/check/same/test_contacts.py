"""When two contacts are the same, what is near, and whose a contact is: each with its near miss."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rai.check.reading.owners import anothers, clauses, owner
from rai.check.reading.sources import Place, prepare
from rai.check.same.contacts import agree, near
from rai.claims.find import find_values
from rai.claims.found import Found
from rai.records import Source

REGIONS = ("US", "GB", "DE", "FR")


def contact(text: str) -> Found:
    """The one contact or number of a text."""
    (found,) = [
        f for f in find_values(text, REGIONS) if f.kind in ("phone", "url", "email", "number") or f.entity == "address"
    ]
    return found


SAME = [
    # claim, source
    ("call (415) 555-0132", "call +1 415 555 0132"), ("call +1 415 555 0132", "(415) 555-0132"), ("415.555.0132", "415-555-0132"),
    ("call 020 7946 0958", "+44 (0)20 7946 0958"), ("0044 20 7946 0958", "020 7946 0958"), ("030 23125 410", "+49 30 23125410"),
    ("+49 30 23125 410", "Tel. 030 23125 410"), ("call 1-800-FLOWERS", "1-800-356-9377"), ("call 1-800-356-9377", "1-800-FLOWERS"),
    ("415-555-0132 x7", "(415) 555-0132, ext. 7"), ("dial 911", "call 911 at once, or 0"[:8]), ("call ４１５ ５５５ ０１３２", "415 555 0132"),
    ("call 555-0132", "(415) 555-0132"), ("call 7946 0958", "call 020 7946 0958"),
    ("call four one five five five five oh one three two", "(415) 555-0132"), ("call 0800 123 4567", "+49 800 1234567"),
    ("call 4155552671", "4155552671"), ("text STOP to 12345", "Our phone short code 12345"),
    ("https://www.contoso.com/help/", "http://contoso.com/help"), ("contoso.com", "https://contoso.com/help"),
    ("https://contoso.com/a#top", "https://contoso.com/a"), ("https://contoso.com/a?utm_source=x", "https://contoso.com/a"),
    ("https://bücher.example/a", "https://xn--bcher-kva.example/a"), ("contoso dot com", "https://contoso.com"),
    ("HELP@contoso.com", "mailto:help@contoso.com"), ("mail help (at) contoso.com", "help@contoso.com"),
    ("466 Bush St", "466 Bush Street, San Francisco, CA 94108"), ("466 Bush Street, San Francisco", "466 Bush St., San Francisco, CA 94108"),
]  # fmt: skip


@pytest.mark.parametrize(("claim", "source"), SAME)
def test_same(claim: str, source: str) -> None:
    """Other characters, the same end."""
    assert agree(contact(claim), contact(source), source) is not None


OTHER = [
    ("call (415) 555-0132", "(415) 555-0133"), ("call (415) 555-0132", "(415) 555-0123"), ("call (415) 555-013", "(415) 555-0132"),
    ("call 15) 555-0132"[:5] + "15 555 0132", "(415) 555-0132"), ("call 55-0132 99", "(415) 555-0132"), ("call 555-0133", "(415) 555-0132"),
    ("call (415) 555-0132 x7", "(415) 555-0132"), ("call (415) 555-0132", "(415) 555-0132 x7"), ("415-555-0132 x7", "415-555-0132 x8"),
    ("+44 415 555 0132", "+1 415 555 0132"), ("+44 30 2312 5410", "Tel. 030 23125 410"), ("+33 20 7946 0958", "020 7946 0958"),
    ("call 1-800-FLOWERY", "1-800-356-9377"), ("call 911", "call 112"), ("dial *611", "dial 611"), ("text STOP to 12345", "text STOP to 12354"),
    ("text STOP to 12345", "We have 12345 members"), ("call +49 800 1234567", "call us on 0800 123 4567"),
    ("(510) 555-0132", "call 555-0132"), ("https://contoso.com/help", "https://contoso.com/help/more"), ("https://contoso.com/help/more", "https://contoso.com/help"),
    ("https://contoso.com/help?id=1", "https://contoso.com/help?id=2"), ("https://shop.contoso.com/a", "https://contoso.com/a"),
    ("https://contoso.com#/a", "https://contoso.com#/b"), ("https://contoso.com@evil.com", "https://contoso.com"), ("https://evil.com", "https://contoso.com@evil.com"),
    ("ftp://contoso.com/a", "https://contoso.com/a"), ("https://contoso.com:8443/a", "https://contoso.com/a"),
    ("javascript:alert(1)", "javascript:alert(1)"), ("data:text/html,x", "data:text/html,x"), ("https://a.com%40evil.com/", "https://a.com%40evil.com/"),
    ("maria+vip@contoso.com", "maria@contoso.com"), ("sales@contoso.com", "help@contoso.com"), ("help@mail.contoso.com", "help@contoso.com"),
    ("468 Bush St", "466 Bush Street, San Francisco"), ("466 Push St", "466 Bush Street"), ("466 Bush St, Berlin", "466 Bush Street, San Francisco"),
    ("466 Bush Street, San Francisco, CA 94109", "466 Bush St., San Francisco, CA 94108"), ("466 Bush Street, Suite 3", "466 Bush Street, Suite 4"),
]  # fmt: skip


@pytest.mark.parametrize(("claim", "source"), OTHER)
def test_other(claim: str, source: str) -> None:
    """What leads to somebody else, however alike it looks."""
    assert agree(contact(claim), contact(source), source) is None


def test_digits_of_an_order_are_no_number_to_call() -> None:
    """Bare digits support a telephone number unless their line says that they identify something else."""
    claim = contact("Call 0800 555 1234")
    digits = Found("number", 0, 11, "8005551234", ("8005551234",), ("8005551234",))
    assert agree(claim, digits, "Your order has the number 08005551234.") is None
    assert agree(claim, digits, "Orders by phone: 08005551234") is not None


def test_what_stands_beside_an_address_completes_it() -> None:
    """The town may stand in the title, but must stand somewhere in the line that is given."""
    claim, source = contact("at 466 Bush St, San Francisco"), contact("at 466 Bush Street")
    assert agree(claim, source, "San Francisco office\nat 466 Bush Street")
    assert agree(claim, source, "Oakland office\nat 466 Bush Street") is None


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 9), st.integers(0, 8), st.sampled_from(["one", "lost", "swapped", "more"]))
def test_a_slip_is_never_the_same(digit: int, at: int, slip: str) -> None:
    """One digit other, lost, swapped or more: never supported, in any of the forms of the source."""
    right = "4155552671"
    wrong = {
        "one": right[:at] + str(digit) + right[at + 1 :],
        "lost": right[:at] + right[at + 1 :],
        "swapped": right[:at] + right[at + 1] + right[at] + right[at + 2 :],
        "more": right[:at] + str(digit) + right[at:],
    }[slip]
    for source in ("(415) 555-2671", "+1 415 555 2671", "phone 4155552671"):
        for form in (wrong, f"{wrong[:3]} {wrong[3:6]} {wrong[6:]}", f"+1 {wrong}"):
            for claim in [f for f in find_values(f"call {form}", REGIONS) if f.kind == "phone"]:
                same = agree(claim, contact(source), source) is not None
                assert same == (wrong.removeprefix("1") == right)  # 1 is the trunk prefix


NEAR = [
    ("call (415) 555-0132", "(415) 555-0133", "another digit"), ("call (415) 555-0132", "(415) 555-0123", "two digits are swapped"),
    ("call (415) 555-013", "(415) 555-0132", "a digit is missing"), ("call (415) 555-0132", "(415) 555-0132 x7", "without its extension"),
    ("415-555-0132 x8", "(415) 555-0132 x7", "another extension"), ("415-555-0132 x8", "(415) 555-0132", "an extension more"),
    ("+44 2079460958", "+49 2079460958", "another country code"), ("https://contoso.com/help", "https://contoso.com/help/more", "a shorter path"),
    ("https://contoso.com/help/more", "https://contoso.com/help", "a longer path"), ("https://contoso.com/a?id=1", "https://contoso.com/a?id=2", "another query"),
    ("https://contoso.com/b", "https://contoso.com/a", "another path"), ("https://shop.contoso.com/a", "https://contoso.com/a", "another host of the same domain"),
    ("https://contoso.com@evil.com/", "https://contoso.com/", "it leads to evil.com, whatever stands before the @"),
    ("helb@contoso.com", "help@contoso.com", "another spelling"), ("sales@contoso.com", "help@contoso.com", "another mailbox"),
    ("help@fabrikam.com", "help@contoso.com", "another host"), ("468 Bush Street", "466 Bush Street", "another house number"),
]  # fmt: skip


@pytest.mark.parametrize(("claim", "source", "why"), NEAR)
def test_near(claim: str, source: str, why: str) -> None:
    """The nearest contact of the source, and in what it differs."""
    known = [p.found for p in prepare(Source("s", source), REGIONS).places if p.found.kind != "number"]
    found = near(contact(claim), known)
    assert found is not None
    assert found[1] == why


def test_nothing_is_near() -> None:
    """Other numbers are simply others."""
    known = [p.found for p in prepare(Source("s", "Call (415) 555-0132 or see contoso.com."), REGIONS).places]
    assert near(contact("call (212) 867-5309"), known) is None
    assert near(contact("https://fabrikam.com/a"), known) is None


A, B, C = "(415) 555-0132", "(415) 555-0187", "(415) 555-0199"
MARIA, JOHN = "maria@contoso.com", "john@contoso.com"
WHOSE = [
    # source, the claim's clause, value given, value whose owner is named (None: its own)
    (f"Phone: {A}, Fax: {B}", f"Phone: {B}", B, A),
    (f"Phone: {A}, Fax: {B}", f"Fax: {A}", A, B),
    (f"Phone: {A}, Fax: {B}", f"Fax: {B}", B, None),
    (f"Phone: {A}, Fax: {B}", f"Phone: {A}", A, None),
    (f"Support: {A}, Billing: {B}", f"For support call {B}", B, A),
    (f"Support: {A}, Billing: {B}", f"For support call {A}", A, None),
    (f"Support: {A}, Billing: {B}", f"Questions about an invoice? Call {A}", A, B),
    (f"Support: {A}, Billing: {B}", f"For technical help call {B}", B, A),
    (f"Support: {A}, Billing: {B}", f"Call us on {B}", B, None),
    (f"For returns call {A}; for sales call {B}.", f"To return an item call {B}", B, A),
    (f"For returns call {A}; for sales call {B}.", f"To return an item call {A}", A, None),
    (f"Call {A} for returns and {B} for sales.", f"For sales call {A}", A, B),
    (f"Call {A} for returns and {B} for sales.", f"For sales call {B}", B, None),
    (f"{A} (support) or {B} (billing)", f"Billing: {A}", A, B),
    (f"{A} (support) or {B} (billing)", f"Billing: {B}", B, None),
    (f"For billing, call {A}, and for sales, call {B}", f"For sales call {A}", A, B),
    (f"For billing, call {A}, and for sales, call {B}", f"For sales call {B}", B, None),
    (f"Maria Lopez ({MARIA}), John Okafor ({JOHN})", f"Write to John at {MARIA}", MARIA, JOHN),
    (f"Maria Lopez ({MARIA}), John Okafor ({JOHN})", f"Write to Maria Lopez at {MARIA}", MARIA, None),
    (f"Okafor, John ({JOHN}), Lopez, Maria ({MARIA})", f"Ms Lopez: {JOHN}", JOHN, MARIA),
    (f"Okafor, John ({JOHN}), Lopez, Maria ({MARIA})", f"Ms Lopez: {MARIA}", MARIA, None),
    (f"## Berlin\nPhone: {A}\n## London\nPhone: {B}", f"Our Berlin office: {B}", B, A),
    (f"## Berlin\nPhone: {A}\n## London\nPhone: {B}", f"Our Berlin office: {A}", A, None),
    (f"Berlin:\n{A}\nLondon:\n{B}", f"Call London on {A}", A, B),
    (f"Berlin:\n{A}\nLondon:\n{B}", f"Call London on {B}", B, None),
    (f"Support in the UK: {A}\nSupport in Germany: {B}", f"Support in Britain: {B}", B, A),
    (f"Support in the UK: {A}\nSupport in Germany: {B}", f"Support in Britain: {A}", A, None),
    (f"| Line | Phone |\n|---|---|\n| Support | {A} |\n| Billing | {B} |", f"Billing: {A}", A, B),
    (f"| Line | Phone |\n|---|---|\n| Support | {A} |\n| Billing | {B} |", f"Billing: {B}", B, None),
    (f"Phone: {A}, fax: {B}", f"Send a fax to {A}", A, B),
    (f"Phone: {A}, fax: {B}", f"Send a fax to {B}", B, None),
    (f"Customer service: {A}. Sales: {B}.", f"Customer service is on {B}", B, A),
    (f"Customer service: {A}. Technical desk: {B}.", f"As a customer, call {B} for technical help", B, None),
    (f"Call {A} to speak with an agent. Emergencies: {B}", f"In an emergency call {A}", A, B),
    (f"Call {A} to speak with an agent. Emergencies: {B}", f"To talk to an agent call {A}", A, None),
    ("Returns: https://contoso.com/r, careers: https://contoso.com/j", "Apply for a job at https://contoso.com/r", "https://contoso.com/r", "https://contoso.com/j"),
    ("Returns: https://contoso.com/r, careers: https://contoso.com/j", "Return it at https://contoso.com/r", "https://contoso.com/r", None),
    (f"Support: {A}, Billing: {B}, Sales: {C}", f"Sales and more: {C}", C, None),
]  # fmt: skip


def places(source: str) -> list[Place]:
    """Contacts of a source."""
    return [p for p in prepare(Source("s", source), REGIONS).places if p.found.kind in ("phone", "email", "url")]


@pytest.mark.parametrize(("source", "clause", "value", "whose"), WHOSE)
def test_whose_it_is(source: str, clause: str, value: str, whose: str | None) -> None:
    """The right contact in the wrong role is another's, in prose, lists, headings and tables."""
    every = places(source)
    (place,) = [p for p in every if p.span().text == value]
    rivals = [p for p in every if p is not place]
    other = anothers(clause, clause, "", place, rivals)
    assert (other.span().text if other else None) == whose


def test_the_question_tells_whose_is_asked_for() -> None:
    """ "Call …" after a question about billing."""
    support, billing = places(f"Support: {A}, Billing: {B}")
    assert anothers(f"Call {A}", f"Call {A}.", "What is the number for billing?", support, [billing]) is billing
    assert anothers(f"Call {B}", f"Call {B}.", "What is the number for billing?", billing, [support]) is None
    assert anothers(f"Support: {A}", f"Support: {A}", "What is the number for billing?", support, [billing]) is None


def test_each_clause_names_its_own() -> None:
    """Two numbers in one sentence, each beside its owner; then each beside the other's."""
    support, billing = places(f"Support: {A}, Billing: {B}")
    right, wrong = f"Support is on {A} and billing on {B}.", f"Support is on {B} and billing on {A}."
    assert anothers(f"Support is on {A}", right, "", support, [billing]) is None
    assert anothers(f"billing on {B}", right, "", billing, [support]) is None
    assert anothers(f"Support is on {B}", wrong, "", billing, [support]) is support
    assert anothers(f"billing on {A}", wrong, "", support, [billing]) is billing


def test_titles_tell_offices_apart() -> None:
    """Two sources of one kind: the office that each title names owns its number."""
    (berlin,) = [
        p for p in prepare(Source("a", f"Call {A}.", "Berlin office"), REGIONS).places if p.found.kind == "phone"
    ]
    (london,) = [
        p for p in prepare(Source("b", f"Call {B}.", "London office"), REGIONS).places if p.found.kind == "phone"
    ]
    assert anothers(f"The London office: {A}", "", "", berlin, [london]) is london
    assert anothers(f"The Berlin office: {A}", "", "", berlin, [london]) is None


def test_owner_words() -> None:
    """The words of the clause and the heading, without the figures and the word "phone"."""
    place = places(f"## Berlin\nPhone for returns: {A}, for sales: {B}")[0]
    assert {"berlin", "class:return"} <= owner(place)
    assert not {"phone", "class:sale"} & owner(place)


@settings(max_examples=80, deadline=None)
@given(
    st.lists(
        st.sampled_from([A, MARIA, "Support", ", ", "; ", " and ", " | ", "(", ")", ": ", "for sales", "\n", "é"]),
        max_size=12,
    ).map("".join)
)
def test_clauses_cover_without_overlap(line: str) -> None:
    """Clauses ascend, lie in the line and do not overlap."""
    spans = clauses(line)
    assert all(0 <= a <= b <= len(line) for a, b in spans)
    assert all(b <= c for (_, b), (c, _) in itertools.pairwise(spans))
