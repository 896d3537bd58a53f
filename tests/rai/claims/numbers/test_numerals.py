"""Digits and number words: each phenomenon with its readings and spans, beside what looks alike and is otherwise."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rai.claims.numbers.numerals import canonical, numerals

READ = [
    # separators
    ("has 1,200 seats", [("1,200", "1200|1.2")]),
    ("the hall has 1,200 seats and it is for you", [("1,200", "1200")]),
    ("das ist der Preis von 1,200 mit dem", [("1,200", "1200|1.2")]),
    ("has 1.200 seats", [("1.200", "1.2|1200")]),
    ("das ist mit 1.200 Plätzen der Saal", [("1.200", "1200|1.2")]),
    ("has 1,20 m", [("1,20", "1.2")]),
    ("has 1.200.000 seats", [("1.200.000", "1200000")]),
    ("1,200.50 or 1.200,50", [("1,200.50", "1200.5"), ("1.200,50", "1200.5")]),
    ("1'200 and 1’200’300.50", [("1'200", "1200"), ("1’200’300.50", "1200300.5")]),
    ("5'10 tall", [("5", "5"), ("10", "10")]),
    ("1\u00a0200 or 1\u202f200,50", [("1\u00a0200", "1200"), ("1\u202f200,50", "1200.5")]),
    ("1 200 000 seats", [("1 200 000", "1200000")]),
    ("€ 1 200 and 1 200 km", [("1 200", "1200"), ("1 200", "1200")]),
    ("room 1 200 people", [("1", "1"), ("200", "200")]),
    ("12,34,567 and 1,00,000", [("12,34,567", "1234567"), ("1,00,000", "100000")]),
    ("12,34,56", [("12", "12"), ("34", "34"), ("56", "56")]),
    ("１２３，４５６", [("１２３，４５６", "123456|123.456")]),
    ("٢٥ and २५", [("٢٥", "25"), ("२५", "25")]),
    ("10² and 5¹", [("10", "10"), ("5", "5")]),
    (".5 of it", [(".5", "0.5")]),
    ("1.2.3.4 and a4 and 4a", [("4", "4")]),
    # digits spaced by tokenisation
    ("$ 1 , 200 was", [("1 , 200", "1200")]),
    ("18 . 5 % of", [("18 . 5", "18.5")]),
    ("in 2001 , 200 came", [("2001", "2001"), ("200", "200")]),
    ("won 18 . 5 came", [("18", "18"), ("5", "5")]),
    # signs
    ("at -5 now", [("-5", "-5")]),
    ("it is −5 now", [("−5", "-5")]),
    ("it is minus 5 now", [("minus 5", "-5")]),
    ("to minus five degrees", [("minus five", "-5")]),
    ("to negative 5 degrees", [("negative 5", "-5")]),
    ("10 minus 5", [("10", "10"), ("5", "5")]),
    ("pages 3 -5", [("3", "3"), ("5", "5")]),
    ("form A-5 and 3-5", [("5", "5"), ("3", "3"), ("5", "5")]),
    ("-5 apples", [("5", "5|-5")]),
    ("covid -19 rules", [("-19", "-19|19")]),
    # scales
    ("1.5 million", [("1.5 million", "1500000")]),
    ("2 million. Then", [("2 million", "2000000")]),
    ("2,000,000", [("2,000,000", "2000000")]),
    ("5k, 5K, 5M, 5 bn, 5 mn, 5 tn", [("5k", "5000"), ("5K", "5000"), ("5M", "5000000"), ("5 bn", "5000000000"), ("5 mn", "5000000"), ("5 tn", "5000000000000")]),
    ("5m away", [("5", "5")]),
    ("$5m and 5m users", [("5m", "5000000"), ("5m", "5000000")]),
    ("5 lakh, 2.5 crore, five lakh", [("5 lakh", "500000"), ("2.5 crore", "25000000"), ("five lakh", "500000")]),
    ("3 Mio. Euro und 2 Mrd.", [("3 Mio.", "3000000"), ("2 Mrd", "2000000000")]),
    ("5 hundred thousand", [("5 hundred thousand", "500000")]),
    ("5 Killer bees, 5 many", [("5", "5"), ("5", "5")]),
    ("Cada plan de los dos es de 5 mil euros", [("dos", "2"), ("5 mil", "5000")]),
    ("a 5 mil sheet", [("5", "5")]),
    # words
    ("two hundred and five", [("two hundred and five", "205")]),
    ("one and two", [("one", "1"), ("two", "2")]),
    ("a hundred, a thousand", [("a hundred", "100"), ("a thousand", "1000")]),
    ("a hundredfold", []),
    ("a dozen, half a dozen, two dozen", [("a dozen", "12"), ("half a dozen", "6"), ("two dozen", "24")]),
    ("dozens of, a couple of, a few, several", []),
    ("half a million, a million", [("half a million", "500000"), ("a million", "1000000")]),
    ("two and a half, one and three quarters", [("two and a half", "2.5"), ("one and three quarters", "1.75")]),
    ("two point five, one point oh five", [("two point five", "2.5"), ("one point oh five", "1.05")]),
    ("nineteen ninety-nine, twenty twenty-four", [("nineteen ninety-nine", "1999"), ("twenty twenty-four", "2024")]),
    ("someone, tenfold, often, no-one", []),
    # fractions
    ("½ and 2½ and 2 ½ and ¾", [("½", "0.5"), ("2½", "2.5"), ("2 ½", "2.5"), ("¾", "0.75")]),
    ("1/2, 3/4, 2 1/2, 2-1/2", [("1/2", "0.5"), ("3/4", "0.75"), ("2 1/2", "2.5"), ("2-1/2", "2.5")]),
    ("24/7, 9/11, 2/4, 1/2/2026", [("24", "24"), ("7", "7"), ("9", "9"), ("11", "11"), ("2", "2"), ("4", "4"), ("1", "1"), ("2", "2"), ("2026", "2026")]),
    ("2 and a half, 2 and 3", [("2 and a half", "2.5"), ("2", "2"), ("3", "3")]),
    ("two thirds, two-thirds, one fifth", [("two thirds", "0.666667"), ("two-thirds", "0.666667"), ("one fifth", "0.2")]),
    ("three quarters", [("three quarters", "0.75|3")]),
    ("two quarters, two fifth-graders", [("two", "2"), ("two", "2")]),
    ("a third of, a quarter of, half of", [("a third", "0.333333"), ("a quarter", "0.25"), ("half", "0.5")]),
    ("a third party, a quarter, half-hearted, half the time", []),
    # ordinals
    ("the second floor", [("second", "2")]),
    ("wait a second, the second option, a split second", []),
    ("first, open it; second, close it", []),
    ("the third gate, the twenty-first visit", [("third", "3"), ("twenty-first", "21")]),
    ("third-party, a third party, thirdly, the third of May", []),
    # marks that are no values
    ("1. Open\n 2) Close\n[3] and [1, 2-4]【5】 and Step 6", []),
    ("footstep 6 and 10) then", [("6", "6"), ("10", "10")]),
    # ranges share a scale; a second end may be a year
    ("5 to 10 million", [("5", "5000000|5"), ("10 million", "10000000")]),
    ("500 to 2 million", [("500", "500"), ("2 million", "2000000")]),
    ("2007–08, 2007/08", [("2007", "2007"), ("08", "2008|8"), ("2007", "2007"), ("08", "2008|8")]),
]  # fmt: skip

FOREIGN = [
    ("innerhalb von zweiundzwanzig Tagen und nicht mit", [("zweiundzwanzig", "22")]),
    ("das ist für ein Jahr und für eine Woche", []),
    ("bitte geben Sie acht, das ist der Elf von elf Tagen", [("elf", "11")]),
    ("vous avez vingt et un jours pour les retours", [("vingt et un", "21")]),
    ("vous avez quatre-vingt-dix jours dans le pays", [("quatre-vingt-dix", "90")]),
    ("un produit neuf est pour vous dans les neuf jours", [("neuf", "9")]),
    ("el plazo es de treinta y dos días con los dos", [("treinta y dos", "32"), ("dos", "2")]),
    ("los once productos que son una", [("once", "11")]),
    ("sei il più forte per la prova, con sei mesi", [("sei", "6")]),
    ("o prazo para você é de vinte e dois dias", [("vinte e dois", "22")]),
    ("once you are there the sei and the elf are with you", []),
    ("set of due dates for the mil spec and dos", []),
]


def _read(text: str) -> list[tuple[str, str]]:
    return [(text[n.start : n.end], "|".join(n.readings)) for n in numerals(text) if not n.unit]


@pytest.mark.parametrize(("text", "expected"), READ, ids=[t for t, _ in READ])
def test_numerals(text: str, expected: list[tuple[str, str]]) -> None:
    """Every numeral of the text, with its exact span and all its readings, and no other."""
    assert _read(text) == expected


@pytest.mark.parametrize(("text", "expected"), FOREIGN, ids=[t for t, _ in FOREIGN])
def test_number_words_of_other_languages(text: str, expected: list[tuple[str, str]]) -> None:
    """Number words count in the language of the text; words that are also others do not."""
    assert _read(text) == expected


@settings(max_examples=100, deadline=None)
@given(st.integers(min_value=0, max_value=10**12), st.sampled_from([",", ".", "'", "’", "\u00a0", "\u202f"]))
def test_grouped_digits_are_read_back(number: int, mark: str) -> None:
    """A number written with any grouping mark has that number among its readings, over its whole span."""
    text = f"{number:,}".replace(",", mark)
    found = numerals(text)
    assert len(found) == 1
    assert (found[0].start, found[0].end) == (0, len(text))
    assert str(number) in found[0].readings


@settings(max_examples=100, deadline=None)
@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9, places=4))
def test_a_canonical_number_reads_as_itself(number: Decimal) -> None:
    """The normal form of a number, read again where it is plainly signed, is itself."""
    once = canonical(number)
    assert numerals(f"it is {once}")[0].readings[0] == once


PIECES = ["1 ", "1 , 200 ", "111'", "1,11,", "½", "1/2 ", "minus ", "half a ", "two and a half ", "twenty-", "１", "5-", " x 5", "first ", "a dozen ", "an hour "]  # fmt: skip


@pytest.mark.parametrize("piece", PIECES)
def test_long_runs_end(piece: str) -> None:
    """200,000 characters of one kind are read in one pass; a backtracking trap would never end."""
    text = piece * (200_000 // len(piece))
    assert all(0 <= n.start < n.end <= len(text) for n in numerals(text))
