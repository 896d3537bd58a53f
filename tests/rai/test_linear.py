"""No text makes the check try everything: long repeated fragments come to an end within the suite's ordinary time.

Nothing is timed; a pattern that backtracks would take hours here, and the test would hang. Figures: `make bench`.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grounding.text import sentences
from rai.check.context import MOST_STANDING
from rai.check.match import MOST_CLAIMS, TOO_MANY, check_claims
from rai.check.reading.frames import frames
from rai.claims.found import Found
from rai.records import Claim, Source
from tests.tables import Tables
from tests.thorough import some

TABLES = Tables(__file__)

SIZE = 200_000
DENSE_SIZE = 10_000
RANDOM_SIZE = 2_000
OWN_SIZE = 3_000
SOURCE = Source(
    "s", "Anna Brandt sells 20 GB for $7 until 3 March 2026. Call 020 7946 0321 or see https://a.example/b.", "Prices"
)
FRAGMENTS = TABLES.texts("fragments")


def checked(text: str) -> None:
    for claim in check_claims(text, [SOURCE], "What does it cost?"):
        assert text[claim.start : claim.end] == claim.text


@pytest.mark.parametrize("fragment", some(["7", ".", "[", "([", "1.", "a@", " ", '"', ",", "a/", "\n", "a | "], 6))
def test_one_fragment_over_and_over(fragment: str) -> None:
    checked((fragment * SIZE)[:SIZE])


@pytest.mark.parametrize("text", ["." * SIZE + "x", '."' * SIZE + "x", "a.m. " * SIZE, "The fee is 5. " * (SIZE // 10)])
def test_sentences_of_a_text_without_line_breaks(text: str) -> None:
    spans = sentences(text)
    assert all(text[s.start : s.end] == s.text for s in spans)
    assert "".join(s.text for s in spans).replace(" ", "") == text.replace(" ", "")


@pytest.mark.parametrize("piece", ["1 ", "1, ", "5 | ", "1 and "])
def test_frames_of_a_sentence_of_many_values(piece: str) -> None:
    text = piece * (SIZE // 10)
    values = [Found("number", at, at + 1, text[at]) for at in range(0, len(text), len(piece))]
    assert len(frames(text, 0, len(text), values)) == len(values)


@TABLES.each("dense", "piece")
def test_an_answer_of_values_alone(piece: str) -> None:
    text = piece * (DENSE_SIZE // len(piece))
    claims = check_claims(text, [SOURCE])
    judged = [c for c in claims if c.why != TOO_MANY]
    assert len(judged) <= MOST_CLAIMS + 1
    assert all(c.status == "unchecked" for c in claims if c.why == TOO_MANY)
    assert all(text[c.start : c.end] == c.text for c in claims)


@TABLES.each("dense", "piece")
def test_a_source_of_values_alone(piece: str) -> None:
    text = piece * (DENSE_SIZE // len(piece))
    for claim in check_claims("Anna Brandt sells 20 GB for $7 until 3 March 2026.", [Source("s", text, "Prices")]):
        assert all(text[e.start : e.end] == e.text for e in claim.evidence if e.field == "text")


@pytest.mark.parametrize("piece", some(["+1 ", "1/1/", "$5 and $6, ", "3 days at 5:30, ", "Mon 9-5; "], 2))
def test_an_answer_of_values_that_is_its_own_source(piece: str) -> None:
    """Every value stands at hundreds of places beside hundreds of others: so many are looked at, and no more."""
    text = piece * (OWN_SIZE // len(piece))
    claims = check_claims(text, [Source("s", text)], text[:300])
    assert max(len(c.evidence) for c in claims if c.kind != "statement") <= MOST_STANDING
    assert {c.status for c in claims if c.kind in ("number", "money", "quantity")} <= {
        "exact",
        "normalised",
        "unchecked",
    }


def test_what_lies_beyond_the_judged_claims_is_never_supported() -> None:
    text = "The fee is $7. " * (2 * MOST_CLAIMS)
    claims = check_claims(text, [SOURCE])
    late = [c for c in claims if c.start >= claims[MOST_CLAIMS].start]
    assert len(late) > MOST_CLAIMS
    assert {(c.status, c.why) for c in late} == {("unchecked", TOO_MANY)}
    assert check_claims("The fee is $7. " * 2, [SOURCE])[1].why != TOO_MANY


def test_one_endless_url() -> None:
    checked("https://a.example/" + "b" * SIZE)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=4), st.sampled_from(FRAGMENTS))
def test_random_fragments_over_and_over(parts: list[str], last: str) -> None:
    piece = "".join(parts)
    checked((piece * (RANDOM_SIZE // len(piece) + 1))[:RANDOM_SIZE] + last)


def test_a_value_of_which_not_every_place_was_looked_at_is_not_called_wrong() -> None:
    """The place that agrees may be one of those behind."""
    text = "".join(f"Locker {n} costs at least $9.\n" for n in range(MOST_STANDING + 10))
    answer = "You pay at most $9 for one."
    assert money_of(check_claims(answer, [Source("s", text[:84])])) == "wrong_role"
    assert money_of(check_claims(answer, [Source("s", f"{text}A locker of the hall costs at most $9.")])) == "unchecked"


def money_of(claims: tuple[Claim, ...]) -> str:
    return next(c.status for c in claims if c.kind == "money")
