"""What is understood of a conversation or an e-mail that somebody pasted as a question."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.turn.pasted import LONGEST_QUESTION, read_pasted
from bot.turn.transcript import SPEAKERS
from grounding.records import Turn

C, A, U = "customer", "agent", "user"
CHAT = (
    "Please answer the last question of this guest:\n\n[14:02] Dana Hobley: Hi, we're booked for the 9th\n[14:02] Agent Ruth: Hello Dana! How can I help?\n"
    "[14:03] Dana Hobley: my husband has a guide dog\n[14:05] Dana Hobley: is he allowed and what would it cost us"
)
MAIL = "Draft me a reply pls.\n\nFrom: K. Albrecht\nTo: help\nDear all,\nMy daughter left a tablet on 2 May. How long will you keep it?\nRegards, K. Albrecht (booking 5519)"


@pytest.mark.parametrize(
    ("text", "question", "history"),
    [
        ("Customer: Hi\nAgent: Yes?\nCustomer: Do I get a refund?", "Do I get a refund?", [(C, "Hi"), (A, "Yes?")]),
        ("**Customer:** Do I get a refund?\n**Agent:** One moment", "Do I get a refund?", [(A, "One moment")]),
        ("Agent: Hello\nCaller: Lost my card", "Lost my card", [(A, "Hello")]),
        ("customer : one\ntwo\n\nthree", "one\ntwo\n\nthree", []),
        ("User: Which lamps are there?\nAssistant: Which do you mean?\nUser: The red one", "The red one", [(U, "Which lamps are there?"), (A, "Which do you mean?")]),
        ("Kundin: Was kostet ein Hund?\nMitarbeiter: Moment\nKundin: danke schon mal", "Was kostet ein Hund?", [(A, "Moment"), (C, "danke schon mal")]),
        (CHAT, "my husband has a guide dog\nis he allowed and what would it cost us", [(U, "Please answer the last question of this guest:"), (C, "Hi, we're booked for the 9th"), (A, "Hello Dana! How can I help?")]),
        ("Guest (web): is the desk open on Sunday?Agent: yesGuest (web): my friend says different", "is the desk open on Sunday?", [(A, "yes"), (C, "my friend says different")]),
        ("Sophie D. 14:31\nmy order is late. Can I cancel?\nAgent Rik 14:32\nWhich town?", "my order is late. Can I cancel?", [(A, "Which town?")]),
        ("[03/06/2025, 16:40] +49 151 *****: can I drop my tent on 17 june?\n[03/06/2025, 16:41] Agent Kim: sure", "can I drop my tent on 17 june?", [(A, "sure")]),
        (MAIL, "My daughter left a tablet on 2 May. How long will you keep it?", [(U, "Draft me a reply pls."), (U, "From: K. Albrecht\nTo: help"), (U, "Dear all,\n\nRegards, K. Albrecht (booking 5519)")]),
    ],
)  # fmt: skip
def test_what_is_asked_and_what_stands_around_it(text: str, question: str, history: list[tuple[Any, str]]) -> None:
    pasted = read_pasted(text)
    assert pasted is not None
    assert pasted.question == question
    assert [(t.role if t.role != "assistant" else A, t.text) for t in pasted.history] == history


@pytest.mark.parametrize(
    "text",
    [
        "What does the customer: field mean?", "Agent: only me", "Customer:", "", "Customers: x", "Customer service: x", "Note: it is late.\nPrice: $5",
        "Which hours: 10:30 or 11:00?", "Model: A4\nSerial: 123\nError: E31", "To: whom it may concern", "How long: 5 days?",
    ],
)  # fmt: skip
def test_what_is_no_conversation(text: str) -> None:
    assert read_pasted(text) is None


def test_what_was_understood_is_told_in_a_line() -> None:
    pasted = read_pasted(CHAT)
    assert pasted is not None
    assert pasted.told == "4 messages read; asked: my husband has a guide dog is he allowed and what would it cost us"
    long = read_pasted(f"Customer: {'very ' * 400}late, what now?\nAgent: hm")
    assert long is not None
    assert len(long.question) <= LONGEST_QUESTION
    assert sum(t.text.count("very") for t in long.history) + long.question.count("very") >= 399
    assert len(long.told) < 200


@pytest.mark.parametrize("speaker", SPEAKERS)
def test_who_speaks_in_a_file_speaks_in_a_message_too(speaker: str) -> None:
    pasted = read_pasted(f"{speaker.title()}: one thing\nCustomer: what is three?")
    assert pasted is not None
    assert "what is three?" in pasted.question


_said = st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=20)


@given(turns=st.lists(st.tuples(st.sampled_from(["Customer", "Agent"]), _said), min_size=2, max_size=8))
def test_no_message_is_lost(turns: list[tuple[str, str]]) -> None:
    pasted = read_pasted("\n".join(f"{who}: {said}" for who, said in turns))
    if not any(who == "Customer" for who, _ in turns):
        assert pasted is None
        return
    assert pasted is not None
    assert pasted.messages == len(turns)
    kept = [*pasted.question.splitlines(), *(t.text for t in pasted.history)]
    assert sorted(kept) == sorted(said for _, said in turns)


@given(text=st.text(max_size=300))
def test_any_text_is_read_or_left(text: str) -> None:
    pasted = read_pasted(text)
    assert pasted is None or (
        pasted.question and isinstance(pasted.history, tuple) and all(isinstance(t, Turn) for t in pasted.history)
    )
