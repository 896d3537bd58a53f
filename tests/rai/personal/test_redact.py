"""Redaction: personal data goes, lengths stay, the company's own contacts stay."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rai.personal.known import KnownPersonalData, Personal
from rai.personal.redact import MASK, Redactor, is_masked, redact, redact_body, redact_entry

PERSONAL = [
    ("Mail me at bob.m+x@mail.example.co.uk please.", "bob.m+x@mail.example.co.uk"),
    ("Call me on (415) 555-2671 today.", "(415) 555-2671"),
    ("My number is +44 20 7946 0958", "+44 20 7946 0958"),
    ("Card 4111 1111 1111 1111 was refused", "4111 1111 1111 1111"),
    ("IBAN DE89370400440532013000", "DE89370400440532013000"),
    ("Where is order 4155552671?", "4155552671"),
    ("order #A-99812 is late", "A-99812"),
    ("account number: AB-123-4567", "AB-123-4567"),
    ("My name is Bob Miller and I wait.", "Bob Miller"),
    ("This is Anna speaking", "Anna"),
    ("Hi Anna, how can I help?", "Anna"),
    ("Thanks, Maria!", "Maria"),
    ("Please ask Mrs. O'Neil about it", "O'Neil"),
    ("I'm José García, from Lyon.", "José García"),
    ("It works.\nKind regards,\nJane van Dyke", "Jane van Dyke"),
    ("my ssn 078-05-1120", "078-05-1120"),
]


@pytest.mark.parametrize(("text", "secret"), PERSONAL)
def test_personal_data_is_masked_in_place(text: str, secret: str) -> None:
    assert redact(text) == text.replace(secret, MASK * len(secret))


@pytest.mark.parametrize(("text", "secret"), PERSONAL)
def test_a_text_is_known_by_what_is_kept_of_it(text: str, secret: str) -> None:
    assert is_masked(text, redact(text))
    assert is_masked(text, text)
    assert not is_masked(f"{text}!", redact(text))
    assert not is_masked(text.replace(secret, "?" * len(secret)), text)


HONEST = [
    "Hi there, the refund takes 5 days.",
    "Hi team, is the price 129.99 EUR?",
    "In order to pay 1200 EUR, open the app.",
    "I'm Sorry about that.",
    "The case study of 2024 names 17 shops.",
    "Error code 0x80070005 in Windows 11 24H2.",
    "Open from 9:00 to 17:30, since 12/05/2023.",
    "This is what happened.",
    "Thanks, this was Ms E1.",
    "The ticket price is 45 dollars.",
]


@pytest.mark.parametrize("text", HONEST)
def test_what_is_not_personal_stays(text: str) -> None:
    assert redact(text) == text


def test_what_is_to_be_kept_stays_in_any_spelling() -> None:
    text = "Call (415) 555-2671 or +1 212 555 0123, mail Help@Contoso.com"
    kept = redact(text, keep=["415-555-2671", "help@contoso.com"])
    assert "(415) 555-2671" in kept
    assert "Help@Contoso.com" in kept
    assert "0123" not in kept


@given(st.text(max_size=200))
def test_length_never_changes_and_only_masks_appear(text: str) -> None:
    masked = redact(text)
    assert len(masked) == len(text)
    assert all(a in (b, MASK) for a, b in zip(masked, text, strict=True))


def test_a_very_long_text_loses_its_long_numbers_too() -> None:
    masked = redact("word " * 5000 + "call 415-555-2671")
    assert masked.endswith("call " + MASK * 12)


def test_loading_ahead_is_harmless() -> None:
    redactor = Redactor()
    redactor.warm().join()
    assert redactor.redact("call 415-555-2671") == "call " + MASK * 12


def body(**more: Any) -> dict[str, Any]:
    return {
        "ask": {
            "question": "I'm Anna Berg, anna@example.com. Is +1 212 555 0123 your number? Mine is 415-555-2671.",
            "history": [{"role": "customer", "text": "My name is Anna Berg."}],
            "context": "account number: 99-1234567",
            "user": "agent7",
        },
        "evidence": [{"n": 1, "text": "Call us on +1 212-555-0123.", "chunk_id": "4155552671abcdef"}],
        **more,
    }


def test_an_entry_keeps_the_companys_contacts_and_loses_the_customers() -> None:
    entry = redact_entry(
        body(
            reply={
                "answer": "Anna Berg, call +1 212 555 0123. We ring you on +14155552671 about 99-1234567.",
                "claims": [{"text": "+14155552671", "value": "+14155552671", "start": 49, "end": 61}],
                "query": "ANNA BERG number",
            }
        )
    )
    text = str(entry)
    for secret in ("Anna", "ANNA", "anna@", "5552671'", "2671", "99-1234567"):
        assert secret not in text.replace("4155552671abcdef", "")
    assert "+1 212 555 0123" in entry["reply"]["answer"]
    assert entry["evidence"][0]["text"] == "Call us on +1 212-555-0123."
    assert entry["evidence"][0]["chunk_id"] == "4155552671abcdef"
    assert entry["ask"]["user"] == "agent7"


def test_offsets_of_claims_stay_exact() -> None:
    original = body(reply={"answer": "Dear Anna Berg, it costs 12.50 EUR.", "claims": []})
    at = original["reply"]["answer"].index("12.50")
    masked = redact_entry(original)["reply"]["answer"]
    assert masked[at : at + 5] == "12.50"
    assert len(masked) == len(original["reply"]["answer"])
    assert "Anna" not in masked


def test_the_given_body_is_left_as_it_was() -> None:
    original = body()
    before = repr(original)
    redact_entry(original)
    assert repr(original) == before


def test_a_name_is_not_cut_out_of_longer_words() -> None:
    assert redact_body({"a": "Al said: also almost Al"}, KnownPersonalData([Personal(0, 2, "PERSON", "Al")])) == {
        "a": "██ said: also almost ██"
    }


@pytest.mark.parametrize(
    "odd", [{}, {"ask": None}, {"ask": {"history": "x"}}, {"evidence": [1]}, {"ask": {"question": 5}}]
)
def test_a_body_of_another_shape_passes(odd: dict[str, Any]) -> None:
    assert redact_entry(odd) == odd


PASSAGE = "You can return any device within 45 days of delivery. A return label costs $6.95."


def test_nobody_blacks_out_the_answer_by_a_name_made_of_its_words() -> None:
    """The words stand together in the passages as well, so they are the company's; a name beside other words is masked all the same."""
    body = {
        "ask": {"question": "My name is Return Device. How long do I have? Mr Label asks too.", "history": []},
        "reply": {
            "answer": "You can return any device within 45 days [1]. A return label costs $6.95 [1]. Hello Device, dear Label!"
        },
        "evidence": [{"n": 1, "text": PASSAGE}],
    }
    masked = redact_entry(body)
    said = masked["reply"]["answer"]
    assert said.startswith("You can return any device within 45 days [1]. A return label costs $6.95 [1].")
    assert "Device" not in said
    assert "Label" not in said
    assert "Return Device" not in masked["ask"]["question"]
    asked = "My first name is Return, my last name is Days. My name is Anna. Is anna told how many days a return takes?"
    page = PASSAGE + " Mail anna@desk.example."
    question = redact_entry({"ask": {"question": asked, "history": []}, "evidence": [{"n": 1, "text": page}]})["ask"][
        "question"
    ]
    assert question.endswith("told how many days a return takes?")
    assert "anna" not in question.casefold()
    assert len(said) == len(body["reply"]["answer"])  # type: ignore[index]


def test_a_customer_who_is_called_like_a_word_of_the_page_is_masked() -> None:
    body = {
        "ask": {"question": "Customer: my name is Mark Bill Return. Is it sent?", "history": []},
        "reply": {"answer": "Dear Mark, your return is on its way, Mr Return [1]."},
        "evidence": [{"n": 1, "text": "Mark the parcel. The bill is in the box; your return is free."}],
    }
    said = redact_entry(body)["reply"]["answer"]
    assert said.endswith("your return is on its way, Mr ██████ [1].")
    assert said.startswith("Dear ████,")
