"""What is understood of a conversation or an e-mail that somebody pasted as a question."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.turn.conversation.pasted import LONGEST_QUESTION, read_pasted
from bot.turn.conversation.transcript import SPEAKERS
from grounding.records import Turn
from tests.tables import Tables

TABLES = Tables(__file__)

CHAT = TABLES.row("conversations", "with-times-and-names")["text"]


@TABLES.each("conversations")
def test_what_is_asked_and_what_stands_around_it(text: str, question: str, history: list[list[str]]) -> None:
    pasted = read_pasted(text)
    assert pasted is not None
    assert pasted.question == question
    assert [[t.role if t.role != "assistant" else "agent", t.text] for t in pasted.history] == history


@TABLES.each("no_conversations")
def test_what_is_no_conversation(text: str) -> None:
    assert read_pasted(text) is None


def test_what_was_understood_is_told_in_a_line() -> None:
    pasted = read_pasted(CHAT)
    assert pasted is not None
    assert pasted.told() == "4 messages read; asked: my husband has a guide dog is he allowed and what would it cost us"
    long = read_pasted(f"Customer: {'very ' * 400}late, what now?\nAgent: hm")
    assert long is not None
    assert len(long.question) <= LONGEST_QUESTION
    assert sum(t.text.count("very") for t in long.history) + long.question.count("very") >= 399
    assert len(long.told()) < 200


@pytest.mark.parametrize("speaker", SPEAKERS)
def test_who_speaks_in_a_file_speaks_in_a_message_too(speaker: str) -> None:
    pasted = read_pasted(f"{speaker.title()}: one thing\nCustomer: what is three?")
    assert pasted is not None
    assert "what is three?" in pasted.question


@pytest.mark.parametrize(
    ("text", "question"),
    [
        (
            "Customer: Hi, how do I reset my Wren X2?\nAgent: One moment please.\nCustomer: And what does Watch Pro cost?",
            "Hi, how do I reset my Wren X2?\nAnd what does Watch Pro cost?",
        ),
        (
            "Customer: How do I reset it?\nAgent: Hold the button for 10 seconds.\nCustomer: And what does Pro cost?",
            "And what does Pro cost?",
        ),
        (
            "Customer: How do I reset it?\nAgent: Which one do you have?\nCustomer: the red one with the lamp",
            "the red one with the lamp",
        ),
        (
            "Customer: I moved. Can I keep my plan?\nAgent: Let me see.\nCustomer: Is there a fee?",
            "Can I keep my plan?\nIs there a fee?",
        ),
    ],
)
def test_what_a_customer_asked_before_and_nobody_answered_is_asked_too(text: str, question: str) -> None:
    pasted = read_pasted(text)
    assert pasted is not None
    assert pasted.question == question


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


def test_a_client_that_lost_the_line_breaks_between_messages_with_times() -> None:
    pasted = read_pasted(
        "[10:02] Mary: hi there [10:03] Tom (Agent): hello, what can I do? [10:04] Mary: how long is the warranty of my X1?"
    )
    assert pasted is not None
    assert (pasted.messages, pasted.question) == (3, "how long is the warranty of my X1?")
    assert [turn.role for turn in pasted.history] == ["customer", "agent"]
    assert read_pasted("Open [10:30] to [11:00] on Mondays: is that right?") is None


def test_who_is_called_an_agent_once_is_one_in_every_line() -> None:
    pasted = read_pasted(
        "what he'd owe pls\nRoy: I want to cancel my order.\nDee (agent): Good morning.\nRoy: what will it cost me?\nDee: checking..."
    )
    assert pasted is not None
    assert pasted.question == "what will it cost me?"
    assert [(t.role, t.text) for t in pasted.history] == [
        ("user", "what he'd owe pls"),
        ("customer", "I want to cancel my order."),
        ("agent", "Good morning."),
        ("agent", "checking..."),
    ]


def test_two_of_one_name_keep_what_each_is_called() -> None:
    pasted = read_pasted("Alex (agent): Hello.\nAlex (customer): what does it cost?\nAlex (agent): One moment.")
    assert pasted is not None
    assert pasted.question == "what does it cost?"
    assert [t.role for t in pasted.history] == ["agent", "agent"]
