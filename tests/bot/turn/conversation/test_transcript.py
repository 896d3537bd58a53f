"""The history of a conversation, as a transcript or as JSON, to turns."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.turn.conversation.transcript import ROLES, parse_transcript, read_history
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
