"""When two contacts are the same, what is near, and whose a contact is: each with its near miss."""

from __future__ import annotations

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from rai.check.comparison.contacts import agree, near
from rai.check.reading.owners import anothers, clauses, owner
from rai.check.reading.sources import Place, prepare
from rai.claims.find import find_values
from rai.claims.found import Found
from rai.records import Source
from tests.tables import Tables

TABLES = Tables(__file__)

REGIONS = ("US", "GB", "DE", "FR")


def contact(text: str) -> Found:
    """The one contact or number of a text."""
    (found,) = [
        f for f in find_values(text, REGIONS) if f.kind in ("phone", "url", "email", "number") or f.entity == "address"
    ]
    return found


@TABLES.each("same")
def test_same(claim: str, source: str) -> None:
    """Other characters, the same end."""
    assert agree(contact(claim), contact(source), source) is not None


@TABLES.each("other")
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


@TABLES.each("near")
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


A, B = "(415) 555-0132", "(415) 555-0187"
MARIA = "maria@contoso.com"


def places(source: str) -> list[Place]:
    """Contacts of a source."""
    return [p for p in prepare(Source("s", source), REGIONS).places if p.found.kind in ("phone", "email", "url")]


@TABLES.each("whose")
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
