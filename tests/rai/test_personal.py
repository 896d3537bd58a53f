"""Personal data in four languages is found, and what looks like it is left alone."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rai.personal.known import KnownPersonalData
from rai.personal.redact import MASK, Redactor, masked, merged

REDACTOR = Redactor()
FOUND = [
    ("PERSON", "Customer: Maria Schmidt", "Maria Schmidt"),
    ("PERSON", "Order late; contact person: Jane van Dyke, premium", "Jane van Dyke"),
    ("PERSON", "name: maria schmidt\nplan: basic", "maria schmidt"),
    ("PERSON", "Customer: Maria", "Maria"),
    ("PERSON", "Kundin: Jürgen Groß (Bestandskunde)", "Jürgen Groß"),
    ("PERSON", "Hi, this is Maria. Where is my order?", "Maria"),
    ("PERSON", "Dear Mr Brown, it is on its way.", "Brown"),
    ("PERSON", "Hello Maria, how may I help you?", "Maria"),
    ("PERSON", "hi maria, it does not work", "maria"),
    ("PERSON", "my name is maria schmidt and I wait", "maria schmidt"),
    ("PERSON", "the customer Maria Schmidt wants a refund", "Maria Schmidt"),
    ("PERSON", "Mein Name ist Anna-Lena Vogt.", "Anna-Lena Vogt"),
    ("PERSON", "Sehr geehrte Frau Dr. Weber,", "Weber"),
    ("PERSON", "Geht nicht.\nMit freundlichen Grüßen\nPetra Lang", "Petra Lang"),
    ("PERSON", "Je m'appelle Hélène d'Arc et j'attends.", "Hélène d'Arc"),
    ("PERSON", "Bonjour Madame Lefèvre, voici la facture.", "Lefèvre"),
    ("PERSON", "Me llamo José García.", "José García"),
    ("PERSON", "No funciona.\nUn saludo\n", None),
    ("PERSON", "No funciona.\nSaludos,\nCarlos", "Carlos"),
    ("ADDRESS", "Ship to 742 Evergreen Terrace, Springfield, IL 62704 please", "742 Evergreen Terrace, Springfield, IL 62704"),
    ("ADDRESS", "I live at 221B Baker Street, London NW1 6XE.", "221B Baker Street, London NW1 6XE"),
    ("ADDRESS", "Ich wohne Lange Straße 5, 10115 Berlin.", "Lange Straße 5, 10115 Berlin"),
    ("ADDRESS", "an Friedrichstraße 12a bitte", "Friedrichstraße 12a"),
    ("ADDRESS", "au 12 bis rue de la Paix, 75002 Paris, merci", "12 bis rue de la Paix, 75002 Paris"),
    ("ADDRESS", "vivo en Calle de Alcalá 45, 28013 Madrid", "Calle de Alcalá 45, 28013 Madrid"),
    ("BIRTHDATE", "I was born on 12 March 1985.", "12 March 1985"),
    ("BIRTHDATE", "Geburtsdatum: 12.03.1985", "12.03.1985"),
    ("BIRTHDATE", "née le 3 mai 1979", "3 mai 1979"),
    ("BIRTHDATE", "fecha de nacimiento: 3 de mayo de 1979", "3 de mayo de 1979"),
    ("NUMBER", "Bestellnr. 2024-88123 fehlt", "2024-88123"),
    ("NUMBER", "Kundennummer 4471123", "4471123"),
    ("NUMBER", "mon numéro de commande est 778812", "778812"),
    ("NUMBER", "n° de client : 55120", "55120"),
    ("NUMBER", "número de pedido 991-22-1", "991-22-1"),
    ("NUMBER", "order number ORD-7Q2K91", "ORD-7Q2K91"),
    ("NUMBER", "my card ending in 4242", "4242"),
    ("NUMBER", "it says 400638133393 on the slip", "400638133393"),
    ("PHONE", "Call me at 912 345 678", "912 345 678"),
    ("PHONE", "téléphone : 06 12 34 56 78", "06 12 34 56 78"),
    ("PHONE", "+34 912 345 678", "+34 912 345 678"),
    ("CARD", "Card 4111 1111 1111 1112 (mistyped)", "4111 1111 1111 1112"),
    ("IBAN", "iban de89 3704 0044 0532 0130 00", "de89 3704 0044 0532 0130 00"),
]  # fmt: skip
LEFT_ALONE = [
    "I want to order XR-500 for 129.99 EUR",
    "My XR-500 shows error E-404 and 0x80070005, firmware 2.4.1, ISO 27001",
    "Windows 11 24H2 KB5034441 costs 1.299,00 EUR on 12/05/2024",
    "name on card is wrong",
    "Product name: Galaxy Tab",
    "I am French and live in Paris.",
    "Is this Netflix, or what is it?",
    "Customer: Hello, I need help",
    "Hallo zusammen, ich bin Kunde.",
    "ich bin Student, was kostet es?",
    "Bonjour à tous, je suis Client Premium depuis 2019",
    "Customer Feedback Process",
    "Customer: Delivery. It is late. Customer: Really?",
    "Which TV is the best. Samsung",
    "product name: galaxy tab",
    'String 1: "a" String 2: "b"',
    "see www.bbc.co.uk/news/science-environment-49983610",
    "https://shop.example/item?id=4155552671",
    "my name is misspelled.",
    "hello there, hi again, dear sir,",
    "The fee is 1 200 000 EUR in 2023 and 2024.",
]


@pytest.mark.parametrize(("kind", "text", "value"), FOUND)
def test_found(kind: str, text: str, value: str | None) -> None:
    assert [(p.kind, p.value) for p in REDACTOR.find(text)] == ([(kind, value)] if value else [])


@pytest.mark.parametrize("text", LEFT_ALONE)
def test_left_alone(text: str) -> None:
    assert REDACTOR.find(text) == []


SPREAD = [
    ("Customer: Maria Schmidt", "Is Maria's parcel there? MARIA SCHMIDT, Schmidt, Maria; maria", "Is █████'s parcel there? █████████████, ██████████████; █████"),
    ("Kundin: Maria Schmidt", "Marias Paket, Schmidts Rechnung, Schmidtchen", "██████ Paket, ████████ Rechnung, Schmidtchen"),
    ("Customer: Mark Bill", "Mark pays the bill. Please mark it.", "████ pays the bill. Please mark it."),
    ("Customer: Li Wu", "Li likes it, wu does not.", "██ likes it, wu does not."),
    ("Account number: AB-123-4567", "AB1234567 and ab-123 4567 but AB-123-4568", "█████████ and ███████████ but AB-123-4568"),
    ("order number 778812", "where is 778812?", "where is ██████?"),
    ("My number is (415) 555-2671", "+1 415 555 2671 or 4155552671", "███████████████ or ██████████"),
    ("iban DE89 3704 0044 0532 0130 00", "DE89370400440532013000", "██████████████████████"),
    ("Ship to 742 Evergreen Terrace", "742  evergreen terrace", "██████████████████████"),
]  # fmt: skip


@pytest.mark.parametrize(("given_away", "text", "expected"), SPREAD)
def test_what_was_given_away_is_found_in_any_form(given_away: str, text: str, expected: str) -> None:
    known = KnownPersonalData(REDACTOR.find(given_away))
    assert masked(text, merged(text, known.find(text))) == expected


def test_what_the_company_wrote_is_its_own_but_for_single_words() -> None:
    found = REDACTOR.find("My name is Mark Lee, mail help@halden.example, call +1 212 555 0123 or 415-555-2671.")
    known = KnownPersonalData(found, ["Ask Mark. Call (212) 555-0123 or write to Help@halden.example."])
    text = "Mark: help@halden.example, 212-555-0123, 4155552671"
    assert masked(text, merged(text, known.find(text))) == "████: help@halden.example, 212-555-0123, ██████████"


@given(st.text(max_size=300))
def test_spans_are_exact_ascending_and_apart(text: str) -> None:
    found = REDACTOR.find(text)
    assert all(text[p.start : p.end] == p.value for p in found)
    assert all(a.end <= b.start for a, b in pairwise(found))
    assert len(masked(text, found)) == len(text)
    assert masked(text, found).count(MASK) >= sum(len(p.value) for p in found)
