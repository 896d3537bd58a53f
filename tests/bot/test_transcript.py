"""A conversation as people paste it, or as JSON, to turns."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.transcript import ROLES, SPEAKERS, Pasted, parse_transcript, read_history, read_pasted
from grounding.errors import InputError
from grounding.records import Turn

SEED = "Agent: Hello, how may I help you?\nCustomer: Hi, I am having an issue.\nCustomer: How to force delete VM in Azure?\nAgent:"


@pytest.mark.row("4-27")
def test_the_transcript_of_the_seed_has_three_turns() -> None:
    assert parse_transcript(SEED) == (
        Turn("agent", "Hello, how may I help you?"),
        Turn("customer", "Hi, I am having an issue."),
        Turn("customer", "How to force delete VM in Azure?"),
    )


@pytest.mark.parametrize(
    ("text", "turns"),
    [
        ("customer: a\nAGENT : b", [("customer", "a"), ("agent", "b")]),
        ("[10:02] Customer: a\n[Nov 20, 10:03] Agent: b", [("customer", "a"), ("agent", "b")]),
        ("Customer: a\n  b\n\nc\nAgent: d", [("customer", "a\n  b\n\nc"), ("agent", "d")]),
        ("\n\nCustomer: a\r\nAgent: b\r\n", [("customer", "a"), ("agent", "b")]),
        ("Customer: see http://x.y: it says Agent: no", [("customer", "see http://x.y: it says Agent: no")]),
        ("Customer:\n", []),
        ("", []),
        ("\ufeffCustomer: a", [("customer", "a")]),
        ('[{"role": "user", "text": "a"}]', [("user", "a")]),
        ('{"history": [{"role": "assistant", "text": "a"}]}', [("assistant", "a")]),
        ("[]", []),
    ],
)
def test_forms(text: str, turns: list[tuple[str, str]]) -> None:
    assert [(turn.role, turn.text) for turn in read_history(text)] == turns


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("Hello\nCustomer: a", "call.txt, line 1: does not say who speaks"),
        ("Customers: a", "line 1"),
        ("[{]", "call.txt: not readable as JSON (line 1, column 3"),
        ("[" * 100_000, "nested too deeply"),
        ("{}", "list of"),
        ('[{"role": "bot", "text": "a"}]', "call.txt[0].role: allowed are customer, agent, user, assistant"),
        ('[{"role": "user", "text": 1}]', "call.txt[0].text"),
        ('["a"]', "call.txt[0]"),
    ],
)
def test_what_cannot_be_read_is_named(text: str, part: str) -> None:
    with pytest.raises(InputError) as caught:
        read_history(text, "call.txt")
    assert part in str(caught.value)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(ROLES), st.text(st.characters(codec="ascii", exclude_characters=":\r\n\v\f\x1c\x1d\x1e"))
        )
    )
)
def test_what_is_written_is_read_back(said: list[tuple[str, str]]) -> None:
    text = "\n".join(f"{role.title()}: {words}" for role, words in said)
    assert [(t.role, t.text) for t in parse_transcript(text)] == [(r, w.strip()) for r, w in said if w.strip()]


C, A = "customer", "agent"


@pytest.mark.parametrize(
    ("text", "question", "history"),
    [
        ("Customer: Hi\nAgent: Yes?\nCustomer: Refund?", "Refund?", [(C, "Hi"), (A, "Yes?")]),
        ("customer : one\ntwo\n\nthree", "one\ntwo\n\nthree", []),
        ("**Customer:** Refund?\n**Agent:** One moment", "Refund?", []),
        ("Agent: Hello\nCaller: Lost my card", "Lost my card", [(A, "Hello")]),
        ("Customer:\nRefund?\nAgent:\n\nCustomer: Now", "Now", [(C, "Refund?")]),
        ("[10:02] Customer: Hi\n[10:03 AM] Agent: Yes?\n[10:04] Customer: Lamp?", "Lamp?", [(C, "Hi"), (A, "Yes?")]),
        ("  Client: x\r\nRep: y\r\nClient: z", "z", [(C, "x"), (A, "y")]),
        ("Customer: time is 10:30\nnote: see", "time is 10:30\nnote: see", []),
    ],
)
def test_pasted_conversation(text: str, question: str, history: list[tuple[Any, str]]) -> None:
    pasted = read_pasted(text)
    assert pasted is not None
    assert pasted.question == question
    assert pasted.history == tuple(Turn(role, said) for role, said in history)


@pytest.mark.parametrize(
    "text",
    [
        "What does the customer: field mean?", "Hello\nCustomer: x", "Agent: only me", "Customer:", "", "Customers: x",
        "Customer service: x", "Agent:\nCustomer:  ",
    ],
)  # fmt: skip
def test_what_is_not_a_pasted_conversation(text: str) -> None:
    assert read_pasted(text) is None


_said = st.text(st.characters(codec="ascii", categories=["L", "N", "P"]), min_size=1, max_size=20).filter(
    lambda t: ":" not in t
)


@given(turns=st.lists(st.tuples(st.sampled_from(["Customer", "Agent"]), _said), min_size=1, max_size=8))
def test_every_turn_up_to_the_last_of_the_customer_is_read_back(turns: list[tuple[str, str]]) -> None:
    pasted = read_pasted("\n".join(f"{who}: {said}" for who, said in turns))
    asked = [n for n, (who, _) in enumerate(turns) if who == "Customer"]
    if not asked:
        assert pasted is None
        return
    assert pasted is not None
    assert pasted.question == turns[asked[-1]][1]
    assert [(t.role, t.text) for t in pasted.history] == [(w.lower(), s) for w, s in turns[: asked[-1]]]


@pytest.mark.parametrize("speaker", SPEAKERS)
def test_the_same_speakers_are_read_from_a_file_and_from_a_message(speaker: str) -> None:
    text = f"{speaker.title()}: one\n**{speaker.upper()}:** two\nCustomer: three"
    role = SPEAKERS[speaker]
    assert parse_transcript(text) == (Turn(role, "one"), Turn(role, "two"), Turn("customer", "three"))
    assert read_pasted(text) == Pasted("three", (Turn(role, "one"), Turn(role, "two")))


def test_a_user_asks_where_no_customer_does() -> None:
    assert read_pasted("User: Lamp?\nAssistant: Which?\nUser: The red one\nAssistant:") == Pasted(
        "The red one", (Turn("user", "Lamp?"), Turn("assistant", "Which?"))
    )
