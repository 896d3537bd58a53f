"""What is found in a text, with which normal form, and what is not: tables with near misses."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rai.claims.contacts.links import parse
from rai.claims.find import find_claims, find_values
from rai.claims.names import codes, names
from rai.claims.numbers.read_digits import canonical, numerals
from tests.tables import Tables

TABLES = Tables(__file__)


@TABLES.each("found")
def test_found(text: str, kind: str, span: str, value: str) -> None:
    """The kind is found with exactly this span and normal form."""
    assert (span, value) in [(text[f.start : f.end], f.value) for f in find_values(text) if f.kind == kind]


@TABLES.each("not_found")
def test_not_found(text: str, kind: str) -> None:
    """A near miss is not of that kind."""
    assert [text[f.start : f.end] for f in find_values(text) if f.kind == kind] == []


PIECES = st.sampled_from(TABLES.texts("pieces"))
TEXTS = st.one_of(
    st.lists(PIECES, max_size=25).map(" ".join), st.lists(PIECES, max_size=25).map("".join), st.text(max_size=80)
)


@settings(max_examples=50, deadline=None)
@given(TEXTS)
def test_offsets_are_exact_and_values_do_not_overlap(text: str) -> None:
    """`text[start:end]` is the claim, claims ascend, and no two values share a character."""
    claims = find_claims(text)
    assert all(text[c.start : c.end] == c.text and c.text for c in claims)
    assert [c.start for c in claims] == sorted(c.start for c in claims)
    values = [c for c in claims if c.kind != "statement"]
    assert all(a.end <= b.start for a, b in itertools.pairwise(values))


@settings(max_examples=50, deadline=None)
@given(TEXTS)
def test_forms_are_never_empty(text: str) -> None:
    """Every value has a normal form, and its first reading is that form unless the form joins all readings."""
    for found in find_values(text):
        assert found.value
        assert found.value == found.forms[0] or found.value == "|".join(found.forms)


@settings(max_examples=50, deadline=None)
@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=0, max_value=10**9, places=2))
def test_canonical_numbers_are_idempotent(number: object) -> None:
    """The normal form of a normal form is itself, and reading it back finds it."""
    from decimal import Decimal

    once = canonical(Decimal(str(number)))
    assert canonical(Decimal(once)) == once
    assert numerals(f"x {once} y")[0].readings[0] == once


@settings(max_examples=50, deadline=None)
@given(st.from_regex(r"[A-Za-z0-9–-]{1,20}", fullmatch=True))
def test_code_and_name_forms_are_idempotent(token: str) -> None:
    """Normal forms of names and identifiers are fixed points."""
    assert codes.normal(codes.normal(token)) == codes.normal(token)
    assert names.normal(names.normal(token)) == names.normal(token)


@pytest.mark.parametrize(
    "url", ["https://www.Contoso.com/A/", "contoso.com/A", "http://contoso.com:80/A", "contoso.com/A?x=1#y"]
)
def test_url_forms_are_idempotent(url: str) -> None:
    """Scheme, www., default port and final slash change nothing, once or twice."""
    first = parse(url)
    assert first is not None
    again = parse(first.value)
    assert again == first


BIG = [
    "1",
    "1.",
    "1,",
    "1-",
    "(1",
    "1:",
    "[",
    ".",
    "a@",
    "a.",
    "`a",
    "-",
    "http://",
    "one ",
    "Ab ",
    "May ",
    "1x",
    "1_",
    "$",
    "+1 ",
    "call 1",
    "\n",
]


@pytest.mark.parametrize("piece", BIG)
def test_long_runs_do_not_blow_up(piece: str) -> None:
    """30,000 characters of one kind are read; a backtracking trap would never end. Spans stay exact."""
    text = piece * (30_000 // len(piece))
    assert all(0 <= f.start < f.end <= len(text) for f in find_values(text))
