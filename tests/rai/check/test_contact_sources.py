"""Whose word the contacts of an answer are, by the passages that have them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grounding.records import Passage, Trust
from rai.check.contact_sources import is_contact, unvouched
from rai.claims.find import find_claims
from rai.records import Claim


def passage(doc_id: str, text: str, trust: Trust = "ordinary", title: str = "Page") -> Passage:
    return Passage(f"{doc_id}#1", doc_id, title, text, trust=trust)


def supported(answer: str) -> tuple[Claim, ...]:
    return tuple(replace(c, status="exact") for c in find_claims(answer))


def marked(answer: str, *passages: Passage) -> dict[str, tuple[Trust | None, str]]:
    read = unvouched(answer, supported(answer), passages)
    contacts = [c for c in read if is_contact(c)]
    return {c.text: (c.trust, c.instead.text if c.instead else "") for c in contacts}


CALL = "Call 0800 555 0142 about returns."
KINDS = {
    "phone": CALL,
    "url": "Open https://returns-help.example/now for it.",
    "bare host": "Open returns-help.example for it.",
    "email": "Write to help@returns-help.example today.",
    "address": "Send it to 14 Mill Lane, Dover CT16 1AA.",
    "number without a cue": "Zither strings have the number 912 345 678.",
    "account": "Pay the deposit into DE02 1203 0000 0000 2020 51 today.",
    "Polish account": "Wpłata: 00 1234 5678 0000 0000 0012 3456.",
    "name in a messenger": "Add the user @growboxhelp on Telegram.",
}


@pytest.mark.parametrize("answer", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize(
    ("trusts", "expected"),
    [
        (("inbound",), "inbound"),
        (("inbound", "inbound", "inbound"), "inbound"),
        (("ordinary",), "ordinary"),
        (("ordinary", "inbound"), "ordinary"),
        (("ordinary", "ordinary"), None),
        (("official",), None),
        (("inbound", "official"), None),
    ],
)
def test_who_answers_for_a_contact(answer: str, trusts: tuple[Trust, ...], expected: Trust | None) -> None:
    passages = [passage(f"d{n}", answer, trust) for n, trust in enumerate(trusts)]
    assert {trust for trust, _ in marked(answer, *passages).values()} == {expected}


@pytest.mark.parametrize(
    ("trust", "text", "expected"),
    [
        ("official", "Shop: Brindle Falls Flagship | Sunday: 11:00-16:00", None),
        ("ordinary", "Shop: Brindle Falls Flagship | Sunday: 11:00-16:00", "ordinary"),
        ("official", "Shop: Brindle Falls Flagships", "ordinary"),
    ],
)
def test_a_place_that_a_tagger_alone_takes_for_an_address(trust: Trust, text: str, expected: Trust | None) -> None:
    """Nobody reads it as one, so it is looked for by its very characters."""
    answer = "Brindle Falls Flagship is open."
    claim = Claim("entity", "Brindle Falls Flagship", 0, 22, status="exact", entity="address")
    [read] = unvouched(answer, [claim], [passage("d", text, trust)])
    assert read.trust == expected


def test_two_passages_of_one_document_are_one_voice() -> None:
    again = Passage("d#2", "d", "Page", CALL)
    assert marked(CALL, passage("d", CALL), again) == {"0800 555 0142": ("ordinary", "")}


def test_another_number_of_an_official_source_vouches_for_nothing() -> None:
    near = passage("o", "Call 0800 555 0143 about trains.", "official")
    assert marked(CALL, passage("d", CALL, "inbound"), near) == {"0800 555 0142": ("inbound", "")}


def test_another_page_of_an_official_site_vouches_for_nothing() -> None:
    answer = "Open https://shop.example/pay-now to pay."
    official = passage("o", "All about it: https://shop.example/help", "official")
    assert marked(answer, passage("d", answer, "inbound"), official)["https://shop.example/pay-now"][0] == "inbound"


def test_a_contact_in_another_notation_is_the_same() -> None:
    official = passage("o", "Returns: +44 20 7946 0958 on weekdays.", "official")
    answer = "Call 020 7946 0958 about returns."
    assert marked(answer, passage("d", answer, "inbound"), official) == {"020 7946 0958": (None, "")}


@pytest.mark.parametrize(
    ("official", "instead"),
    [
        ("Returns of appliances: call 0800 555 0100.", "0800 555 0100"),
        ("Press office: call 0800 555 0100.", ""),
        ("Returns: call 0800 555 0100. Returns from abroad: call 0800 555 0101.", ""),
        ("Returns: write to returns@shop.example.", ""),
    ],
    ids=["same thing", "another thing", "two of them", "another kind"],
)
def test_what_an_official_source_gives_for_the_same_thing(official: str, instead: str) -> None:
    found = marked(CALL, passage("d", CALL, "inbound", "Returns"), passage("o", official, "official", "Help"))
    assert found == {"0800 555 0142": ("inbound", instead)}


def test_what_is_no_contact_and_what_the_person_said_is_left_as_it_is() -> None:
    answer = "It costs $12. Your number is 0800 555 0142."
    given = tuple(replace(c, status="given") for c in find_claims(answer))
    assert unvouched(answer, given, [passage("d", answer, "inbound")]) == given


def test_a_name_of_the_contact_alone_holds_nothing() -> None:
    """A passage that only speaks of the host's name without being it is no second document."""
    answer = KINDS["bare host"]
    other = passage("e", "returns-help.example.evil.example is not ours.")
    assert marked(answer, passage("d", answer), other) == {"returns-help.example": ("ordinary", "")}


@pytest.mark.parametrize("answer", KINDS.values(), ids=KINDS)
def test_where_no_passage_is_known_to_have_it_it_stays_marked(answer: str) -> None:
    assert {trust for trust, _ in marked(answer).values()} == {"inbound"}
