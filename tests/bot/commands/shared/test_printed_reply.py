"""A reply in words: what a person must see at once, what they see on demand, and that nothing overflows the terminal."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from bot.commands.shared.printed_reply import NOUNS, checked_line, print_reply
from bot.records import Citation, InternalNote, Reply, Struck
from grounding.corrective.decide import Decision
from grounding.corrective.find import Correction
from grounding.query.clarify import Clarification
from grounding.records import Action
from rai.records import Claim, EvidenceSpan, Kind, Outcome, Status
from tests.fakes.replies import reply_of, told

ID, OTHER = "a1" * 12, "b2" * 12
LEAD_IN = Claim("statement", "Quoted from the sources:", 0, 24, status="unchecked", why="A lead-in claims nothing.")
SENTENCE = Claim(
    "statement",
    "- Call 020 7946 0388 [1].",
    25,
    50,
    status="entailed",
    evidence=(EvidenceSpan(ID, "text", 40, 60, "Billing: 020 7946 0388"),),
    why=f"Stands word for word in {ID}.",
)
PHONE = Claim(
    "phone",
    "020 7946 0388",
    32,
    45,
    status="exact",
    evidence=(EvidenceSpan(ID, "text", 49, 62, "020 7946 0388"),),
    why=f"Stands in the same characters in {ID}.",
)
DOUBT = Claim(
    "date",
    "3 May",
    60,
    65,
    status="conflict",
    evidence=(EvidenceSpan(OTHER, "text", 0, 5, "4 May"),),
    why=f"{OTHER} says 4 May.",
)
CITED = Citation(
    1, "Numbers", "https://help.example/n", "n.md", ID, "Numbers", "Support: 020 7946 0321\nBilling: 020 7946 0388"
)
REPLY = reply_of(
    Outcome.ANSWERED,
    "Quoted from the sources:\n- Call 020 7946 0388 [1].",
    citations=(CITED,),
    claims=(LEAD_IN, SENTENCE, PHONE),
    timings_ms={"screen": 40.0, "grade": 900.4, "check": 60.0, "total": 1000.4},
    kb_version="kb-1",
    entry_id="01M7XRSD31247ZF706PCESRBSQ",
    mode={"generator": "extractive"},
)


def shown(reply: Reply, *, width: int = 80, verbose: bool = False) -> str:
    out = Console(file=io.StringIO(), width=width, highlight=False, markup=False, emoji=False)
    print_reply(reply, verbose=verbose, out=out)
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue()


def test_what_is_plainly_supported_is_counted_and_not_listed() -> None:
    text = shown(REPLY)
    assert "Checked: 1 phone: found word for word; 1 sentence: supported" in text
    assert "status" not in text
    assert "lead-in" not in text


def test_only_what_is_in_doubt_is_listed_by_number_and_not_by_id() -> None:
    text = shown(replace(REPLY, claims=(*REPLY.claims, DOUBT)))
    table = text[text.index("status") :]
    assert text.splitlines()[0].endswith("look at what is listed below")
    assert "conflict" in table
    assert "another source says 4 May." in table
    assert "020 7946 0388" not in table
    assert ID not in text
    assert OTHER not in text


def test_verbose_lists_every_claim_with_all_timings() -> None:
    text = shown(REPLY, width=200, verbose=True)
    for part in (
        "A lead-in claims nothing.",
        "Stands word for word in [1].",
        "exact",
        "entailed",
        "check 60 ms",
        "kb-1",
        "generator extractive",
    ):
        assert part in text
    assert ID not in text


def test_the_quote_is_what_the_answer_stands_on() -> None:
    assert "“Billing: 020 7946 0388”" in shown(REPLY)
    assert "“Support: 020 7946 0321 Billing: 020 7946 0388”" in shown(replace(REPLY, claims=(PHONE,)))


@pytest.mark.parametrize("width", [40, 80, 120])
def test_a_long_quote_takes_two_lines(width: int) -> None:
    long = replace(CITED, quote="word " * 200)
    lines = shown(replace(REPLY, citations=(long,), claims=()), width=width).splitlines()
    quoted = [line for line in lines if line.startswith("    ")]
    assert len(quoted) == 2
    assert quoted[1].rstrip().endswith("…”")
    assert all(len(line) <= width for line in lines)


def test_a_title_that_is_also_the_place_is_said_once() -> None:
    assert "[1] Numbers · https://help.example/n" in shown(REPLY)


def test_the_last_line_fits_80_columns_and_names_the_entry() -> None:
    last = shown(REPLY).splitlines()[-1]
    assert last == "1.0 s (grade 900 ms, check 60 ms) · entry 01M7XRSD31247ZF706PCESRBSQ"


@pytest.mark.parametrize("outcome", list(Outcome))
def test_every_outcome_begins_with_its_name_and_one_sentence(outcome: Outcome) -> None:
    first = shown(replace(REPLY, outcome=outcome)).splitlines()[0]
    assert first.startswith(f"{outcome.value} · ")
    assert len(first) <= 80


def test_struck_parts_stand_with_their_reason_and_the_draft_only_on_demand() -> None:
    wrong = Claim("phone", "020 7946 9999", 0, 13, status="absent", why="No source has it.")
    reply = replace(
        REPLY, outcome=Outcome.REPAIRED, draft=Struck("Call 020 7946 9999 or 020 7946 0388.", (wrong, PHONE))
    )
    text = shown(reply)
    assert "- 020 7946 9999  No source has it." in text
    assert "Call 020 7946 9999 or" not in text
    assert "Call 020 7946 9999 or" in shown(reply, verbose=True)


def test_a_draft_without_a_culprit_is_shown_whole() -> None:
    reply = replace(REPLY, outcome=Outcome.WITHHELD, draft=Struck("It may be so.", ()))
    assert "It may be so." in shown(reply)


def test_what_is_offered_internal_and_noted_stands_apart_from_the_answer() -> None:
    reply = told(
        REPLY,
        internal_notes=(InternalNote("Known issue", "i.md", OTHER, "Offer an exchange."),),
        offered=(replace(CITED, n=2, title="Contact", quote="Write to us."),),
        notes=("tavily: failed (status 500); answered from the knowledge base only",),
    )
    text = shown(reply)
    order = ["Sources", "You may want to read", "For you alone, not for the customer", "Offer an exchange.", "Notes"]
    assert [text.index(part) for part in order] == sorted(text.index(part) for part in order)
    assert text.index("answered from the knowledge base only") > text.index("Notes")
    assert "tavily" not in text


def claim(kind: Kind, status: Status) -> Claim:
    return Claim(kind, "x", 0, 1, status=status)


@pytest.mark.parametrize(
    ("claims", "line"),
    [
        ([claim("money", "exact")] * 3 + [claim("phone", "exact")], "3 amounts, 1 phone: all found word for word"),
        ([claim("money", "exact"), claim("date", "normalised")], "1 amount, 1 date: all found, 1 in another notation"),
        ([claim("money", "exact"), claim("date", "conflict")], "1 amount, 1 date: 1 of 2 plainly found"),
        ([claim("date", "conflict"), claim("date", "rounded")], "2 dates: none of 2 plainly found"),
        ([claim("phone", "normalised")], "1 phone: found, 1 in another notation"),
        ([claim("phone", "derived")], "1 phone: not plainly found"),
        ([claim("statement", "entailed")] * 2, "2 sentences: all supported"),
        ([claim("statement", "unchecked")], "1 sentence: not plainly supported"),
        (
            [claim("entity", "exact"), claim("statement", "entailed")],
            "1 name: found word for word; 1 sentence: supported",
        ),
    ],
)
def test_checked_line(claims: list[Claim], line: str) -> None:
    assert checked_line(claims) == line


def test_every_kind_of_claim_can_be_counted() -> None:
    assert set(NOUNS) == set(get_args(Kind))


@given(quote=st.text(max_size=400), answer=st.text(max_size=200), width=st.integers(30, 120))
def test_no_text_moves_the_cursor_or_breaks_the_view(quote: str, answer: str, width: int) -> None:
    reply = replace(REPLY, answer=answer, citations=(replace(CITED, quote=quote),), claims=())
    text = shown(reply, width=width)
    assert not {"\x1b", "\r", "\x07", "\u202e"} & set(text)
    assert text.count("\n    ") <= 2 + answer.count("\n")


LOW = Decision(Action.INCORRECT, (), "max_below_keep", 0.4, 0.09, 0.31)
HIGH = Decision(Action.CORRECT, (ID,), "max_at_least_correct", 0.8, 0.1, 0.9)
LINE = "not enough in the knowledge base (best passage 0.31, needed 0.40): searched the web, 2 pages kept"
SEARCHED = Correction("web", ("billing number",), 2, LOW)


def test_what_was_not_enough_at_once_is_said_in_one_line_and_in_full_on_demand() -> None:
    reply = told(REPLY, decided_first=LOW, decision=LOW, corrections=(SEARCHED,))
    assert shown(reply, width=120).splitlines()[1] == LINE
    text = shown(reply, width=200, verbose=True)
    assert LINE not in text
    for part in (
        "(best 0.31, needed 0.40, short by 0.09) · rule max_below_keep",
        "- searched the web: “billing number” · 2 pages kept",
    ):
        assert part in text


def test_what_was_correct_at_once_needs_no_line() -> None:
    reply = told(REPLY, decided_first=HIGH, decision=HIGH)
    assert shown(reply) == shown(REPLY)
    assert "Decided\n- enough: the best passage is good enough" in shown(reply, width=120, verbose=True)


def test_the_question_back_stands_with_its_options_before_the_sources() -> None:
    asked = Clarification(
        "Which one do you mean: Wren X1, Wren X2 or another?", ("Wren X1", "Wren X2\x1b[2J"), "two titles"
    )
    asked = replace(asked, question=f"Which one do you mean: {', '.join(asked.options)} or another?")
    text = shown(replace(REPLY, clarification=asked))
    assert "Ask back: Which one do you mean?\n- Wren X1\n- Wren X2\ufffd[2J\n" in text
    assert text.index("Ask back") < text.index("Sources")
    assert "two titles" not in text
    assert "two titles" in shown(replace(REPLY, clarification=asked), verbose=True)
    assert "Ask back: Who is “she”?" in shown(replace(REPLY, clarification=Clarification("Who is “she”?", (), "")))


@pytest.mark.parametrize("verbose", [False, True])
def test_what_the_models_took_is_one_line_where_one_was_called(verbose: bool) -> None:
    usage: dict[str, int | str] = {
        "calls": 3,
        "prompt_tokens": 13940,
        "completion_tokens": 1344,
        "embedding_tokens": 12,
        "cost": "0.010632",
        "currency": "USD",
    }
    line = "3 calls of a model, 13,940 tokens in, 1,344 out, 12 embedded, 0.010632 USD"
    assert line in shown(told(REPLY, usage=usage), verbose=verbose).splitlines()
    assert "calls of a model" not in shown(REPLY, verbose=verbose)
