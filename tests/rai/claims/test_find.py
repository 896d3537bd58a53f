"""What is found in a text, with which normal form, and what is not: tables with near misses."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rai.claims.contacts.links import parse
from rai.claims.find import find_claims, find_values
from rai.claims.names import codes, names
from rai.claims.numbers.numerals import canonical, numerals

FOUND = [
    # numbers
    ("The kit has 49 parts", "number", "49", "49"),
    ("It has 1,200 seats", "number", "1,200", "1200"),
    ("It has 1.200.000 seats", "number", "1.200.000", "1200000"),
    ("It rose to 4.90 today", "number", "4.90", "4.9"),
    ("Some 1 200 000 seats", "number", "1 200 000", "1200000"),
    ("Over 2.5 million users", "number", "2.5 million", "2500000"),
    ("Bring twelve copies", "number", "twelve", "12"),
    ("Two hundred and five people came", "number", "Two hundred and five", "205"),
    ("Take the 2nd exit", "number", "2", "2"),
    ("About 5 bn views", "number", "5 bn", "5000000000"),
    ("Scores of 3-1", "number", "3", "3"),
    ("From 2007–08 on", "date", "08", "2008"),
    # quantities
    ("within 30 days", "quantity", "30 days", "30 day"),
    ("a 24-hour desk", "quantity", "24-hour", "24 hour"),
    ("thirty minutes later", "quantity", "thirty minutes", "30 minute"),
    ("one day only", "quantity", "one day", "1 day"),
    ("5 business days", "quantity", "5 business days", "5 business day"),
    ("5 working days", "quantity", "5 working days", "5 business day"),
    ("it weighs 2.5kg", "quantity", "2.5kg", "2.5 kg"),
    ("a 85x60x60cm basket", "quantity", "60cm", "60 cm"),
    ("16 GB of memory", "quantity", "16 GB", "16 GB"),
    ("100 Mb a second", "quantity", "100 Mb", "100 Mbit"),
    ("3 nights", "quantity", "3 nights", "3 night"),
    ("keep at 5 °C", "quantity", "5 °C", "5 °C"),
    ("5 pounds of coffee", "number", "5", "5"),
    # money
    ("costs $19", "money", "$19", "19 USD"),
    ("costs $19.00", "money", "$19.00", "19 USD"),
    ("costs $ 160 million", "money", "$ 160 million", "160000000 USD"),
    ("costs 1200 USD", "money", "1200 USD", "1200 USD"),
    ("costs US$1,200", "money", "US$1,200", "1200 USD"),
    ("costs A$12", "money", "A$12", "12 AUD"),
    ("a fee of 10 GBP", "money", "10 GBP", "10 GBP"),
    ("a fee of 10 gbp", "money", "10 gbp", "10 GBP"),
    ("a fee of £10.50", "money", "£10.50", "10.5 GBP"),
    ("1.200,50 € im Jahr", "money", "1.200,50 €", "1200.5 EUR"),
    ("EUR 10 a month", "money", "EUR 10", "10 EUR"),
    ("thirty dollars", "money", "thirty dollars", "30 USD"),
    ("50 cents", "money", "50 cents", "0.5 USD"),
    ("¥500", "money", "¥500", "500 JPY"),
    ("sales of $4bn", "money", "$4bn", "4000000000 USD"),
    ("30k USD", "money", "30k USD", "30000 USD"),
    # percent
    ("save 50%", "percent", "50%", "50%"),
    ("save 12.5 %", "percent", "12.5 %", "12.5%"),
    ("save fifty per cent", "percent", "fifty per cent", "50%"),
    ("save 7 percent", "percent", "7 percent", "7%"),
    ("0,5% of it", "percent", "0,5%", "0.5%"),
    # dates
    ("on 2026-05-05", "date", "2026-05-05", "2026-05-05"),
    ("on 5 May 2026", "date", "5 May 2026", "2026-05-05"),
    ("on May 5, 2026", "date", "May 5, 2026", "2026-05-05"),
    ("on the 5th of May", "date", "5th of May", "--05-05"),
    ("on June 26th", "date", "June 26th", "--06-26"),
    ("on 05/06/2026", "date", "05/06/2026", "2026-05-06|2026-06-05"),
    ("on 25/12/2026", "date", "25/12/2026", "2026-12-25"),
    ("am 05.06.2026", "date", "05.06.2026", "2026-06-05"),
    ("in May 2026", "date", "May 2026", "2026-05"),
    ("since 2019", "date", "2019", "2019"),
    ("on Sundays", "date", "Sundays", "-W-7"),
    ("Mon-Fri only", "date", "Mon-Fri", "-W-1/-W-5"),
    ("am 3. März 2026", "date", "3. März 2026", "2026-03-03"),
    ("le 14 juillet 2026", "date", "14 juillet 2026", "2026-07-14"),
    ("It ends on 5 May.", "date", "5 May", "--05-05"),
    # times
    ("at 2 PM", "time", "2 PM", "14:00"),
    ("at 14:00", "time", "14:00", "14:00"),
    ("at 12 a.m. sharp", "time", "12 a.m.", "00:00"),
    ("at 12:30pm", "time", "12:30pm", "12:30"),
    ("at 3.00 PM", "time", "3.00 PM", "15:00"),
    ("at 12: 00PM", "time", "12: 00PM", "12:00"),
    ("at noon", "time", "noon", "12:00"),
    ("until midnight", "time", "midnight", "00:00"),
    ("from 7:30a on", "time", "7:30a", "07:30"),
    ("open 9-5 pm", "time", "9", "09:00"),
    ("open 9–11pm", "time", "9", "21:00"),
    ("9 a.m.–5 p.m. daily", "time", "5 p.m.", "17:00"),
    ("open 24/7", "time", "24/7", "24/7"),
    ("um 14 Uhr", "time", "14 Uhr", "14:00"),
    ("at 5 o'clock", "time", "5 o'clock", "05:00"),
    # links
    ("see contoso.com/help, then", "url", "contoso.com/help", "https://contoso.com/help"),
    ("see https://a.b.com/c_(d).", "url", "https://a.b.com/c_(d)", "https://a.b.com/c_(d)"),
    ("[docs](https://contoso.com/a)", "url", "https://contoso.com/a", "https://contoso.com/a"),
    ("www.Contoso.com!", "url", "www.Contoso.com", "https://contoso.com"),
    ("(http://contoso.com/?q=1#x)", "url", "http://contoso.com/?q=1#x", "https://contoso.com?q=1#x"),
    ("mail Help@Contoso.com.", "email", "Help@Contoso.com", "help@contoso.com"),
    ("mail a.b+c@sub.contoso.co.uk", "email", "a.b+c@sub.contoso.co.uk", "a.b+c@sub.contoso.co.uk"),
    # phones
    ("Call 415 555 2671", "phone", "415 555 2671", "+14155552671"),
    ("Call (415) 555-0132.", "phone", "(415) 555-0132", "+14155550132"),
    ("Ring +44 20 7946 0958 ext. 12", "phone", "+44 20 7946 0958 ext. 12", "+442079460958;ext=12"),
    ("Ring 020 7946 0958", "phone", "020 7946 0958", "+442079460958"),
    ("Tel. 030 901820", "phone", "030 901820", "+4930901820"),
    ("Tél. 01 42 68 53 00", "phone", "01 42 68 53 00", "+33142685300"),
    ("Dial 1-800-FLOWERS", "phone", "1-800-FLOWERS", "+18003569377"),
    ("(555) 123-4567", "phone", "(555) 123-4567", "+15551234567"),
    ("Phone 555-0132", "phone", "555-0132", "tel:5550132"),
    ("Call 4155552671", "phone", "4155552671", "+14155552671"),
    # entities
    ("Fill in form 354-01", "entity", "354-01", "354-01"),
    ("Error 0x80070005 occurs", "entity", "0x80070005", "0x80070005"),
    ("Install KB5031356 first", "entity", "KB5031356", "kb5031356"),
    ("Needs version 2.3.1 now", "entity", "2.3.1", "2.3.1"),
    ("Needs v2.3", "entity", "v2.3", "v2.3"),
    ("the part WPA-1234", "entity", "WPA-1234", "wpa-1234"),
    ("use –force-deletion here", "entity", "–force-deletion", "-force-deletion"),
    ("use --force-deletion here", "entity", "--force-deletion", "-force-deletion"),
    ("use -ForceDeletion here", "entity", "-ForceDeletion", "-forcedeletion"),
    ("run `az vm delete` now", "entity", "az vm delete", "az vm delete"),
    ("run main.py now", "entity", "main.py", "main.py"),
    ("order 4155552671 is late", "entity", "4155552671", "4155552671"),
    (
        "at 466 Bush St., San Francisco, CA 94108",
        "entity",
        "466 Bush St., San Francisco, CA 94108",
        "466 bush street san francisco ca 94108",
    ),
    ("in der Hauptstraße 12", "entity", "Hauptstraße 12", "hauptstraße 12"),
    ("at 12 rue de Rivoli", "entity", "12 rue de Rivoli", "12 rue de rivoli"),
    ("stay at the Orchard Garden Hotel", "entity", "Orchard Garden Hotel", "orchard garden hotel"),
    ("The Surface Pro 9 has it", "entity", "Surface Pro 9", "surface pro 9"),
    ("says Mr. John Smith's wife", "entity", "John Smith", "john smith"),
]

NOT_FOUND = [
    ("1. Open the lid", "number"), ("12) Open the lid", "number"), ("It is so [1].", "number"), ("So [1, 2] and [3-5]", "number"),
    ("Step 2: press it", "number"), ("one of them", "number"), ("the part A4B", "number"), ("version 1.2.3", "number"),
    ("354-01 and 2", "quantity"), ("5 Minutemen", "quantity"), ("3 hoursy", "quantity"), ("call me at 5", "time"), ("a ratio of 1:3", "time"),
    ("5 ampere", "time"), ("he may 5 times", "date"), ("32 May 2026", "date"), ("2026-13-01", "date"), ("13/13/2026", "date"), ("1/2", "date"),
    ("the sun - a star", "date"), ("main.py", "url"), ("README.md and setup.sh", "url"), ("e.g.this", "url"), ("me@contoso.com", "url"),
    ("1.2.3.4", "url"), ("a@b", "email"), ("@contoso.com", "email"), ("a@b..com", "email"), ("order 4155552671", "phone"),
    ("2026-05-05 10:30", "phone"), ("$1,200,000", "phone"), ("1 200 000 EUR", "phone"), ("05.05.2026", "phone"), ("ISBN 978-3-16-148410-0", "phone"),
    ("4111 1111 1111 1111", "phone"), ("192.168.100.100", "phone"), ("2007-2008", "phone"), ("354-01-2222", "phone"), ("ticket #415-555-2671", "phone"),
    ("1990s music", "entity"), ("the 21st century", "entity"), ("a 24-hour desk", "entity"), ("2007-2008", "entity"), ("10am", "entity"),
    ("the plan –which is free– ends", "entity"), ("Monday morning", "entity"), ("You Can", "entity"), ("Yes, Please", "entity"), ("50%", "number"),
    ("$19", "number"), ("10.5", "date"), ("percent", "percent"), ("dollars", "money"), ("5 pounds of coffee", "money"), ("SKU 49A", "number"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "kind", "span", "value"), FOUND)
def test_found(text: str, kind: str, span: str, value: str) -> None:
    """The kind is found with exactly this span and normal form."""
    assert (span, value) in [(text[f.start : f.end], f.value) for f in find_values(text) if f.kind == kind]


@pytest.mark.parametrize(("text", "kind"), NOT_FOUND)
def test_not_found(text: str, kind: str) -> None:
    """A near miss is not of that kind."""
    assert [text[f.start : f.end] for f in find_values(text) if f.kind == kind] == []


PIECES = st.sampled_from(
    ["$19", "2 PM", "5 May 2026", "30 days", "+1 415 555 0132", "https://a.com/b", "x@y.com", "354-01", "50%", "[1]", "\n", "1. ", "é", "–",
     "two", "Orchard Garden Hotel", "😀", "(", ")", ",", ".", "?", " ", "12", "-", ":", "`a b`", "EUR", "May", "A", "v1.2.3"]
)  # fmt: skip
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
