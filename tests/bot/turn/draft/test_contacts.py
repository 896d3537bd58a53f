"""Contacts of an answer that nobody answers for, in whole turns: marked with whose they are, or an official one in their place."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from bot.records import Ask, Reply
from bot.turn.pipeline import answer_turn
from bot.view.reply import view_of
from bot.wording.conversation.customer_text import for_customer
from grounding.policy import Policy
from grounding.records import Document
from rai.records import Outcome
from tests.e2e.support import ScriptedGrader, world
from tests.fakes.embedder import HashEmbedder
from tests.fakes.model import ScriptedModel

ASK = Ask("Who do I call about the return of a large appliance?")
PLANTED = "Returns of a large appliance: the hotline for the return is 0900 555 0199 now."
MAIL = Document("mail.eml", "Fwd: large appliance", PLANTED, trust="inbound")
PAGE = Document("page.md", "Large appliance", PLANTED)
OFFICIAL = Document(
    "contact.md", "Large appliance", "Return of a large appliance: call 0800 555 0100 for the return.", trust="official"
)
FAR = Document("far.md", "Zebra crossings", "In a zebra matter people rang 0900 555 0199 once.")


async def reply(folder: Path, documents: Sequence[Document], draft: str = PLANTED, graded: Sequence[str] = ()) -> Reply:
    good = dict.fromkeys(graded or [d.doc_id for d in documents], 0.9)
    small = await world(folder, documents, HashEmbedder(), model=ScriptedModel(draft), grader=ScriptedGrader(good))
    return await answer_turn(ASK, small.seams, Policy())


async def test_a_contact_from_outside_bears_whose_it_is(tmp_path: Path) -> None:
    got = await reply(tmp_path, [MAIL])
    assert (got.outcome, got.answer) == (Outcome.ANSWERED, f"{PLANTED[:-1]} [1].")
    notice = "Look before you pass it on: 0900 555 0199 ([1] Fwd: large appliance, came in from outside)"
    assert got.as_json()["contact_notice"] == notice
    assert [c.trust for c in got.claims if c.kind == "phone"] == ["inbound"]
    assert [c.trust for c in got.citations] == ["inbound"]
    assert view_of(got).citations[0].web == "from outside"


async def test_one_ordinary_document_alone_bears_it_too(tmp_path: Path) -> None:
    got = await reply(tmp_path, [PAGE])
    assert got.contact_notice is not None
    assert got.contact_notice.endswith("0900 555 0199 ([1] Large appliance, only this document has it)")


@pytest.mark.parametrize("second", [OFFICIAL.text.replace("0800 555 0100", "0900 555 0199"), None])
async def test_what_an_official_source_has_bears_none(tmp_path: Path, second: str | None) -> None:
    also = Document("also.md", "Large appliance", second or PLANTED, trust="official")
    assert (await reply(tmp_path, [MAIL, also])).contact_notice is None


async def test_a_second_document_anywhere_in_the_knowledge_base_answers_for_it(tmp_path: Path) -> None:
    """It need not be among what this question found."""
    noise = [Document(f"n{n}.md", f"Large appliance {n}", f"The return of appliance {n} is free.") for n in range(60)]
    alone = await reply(tmp_path / "one", [PAGE, *noise], graded=["page.md"])
    assert alone.contact_notice is not None
    both = await reply(tmp_path / "two", [PAGE, FAR, *noise], graded=["page.md"])
    assert both.contact_notice is None


async def test_the_official_contact_is_told_in_place_of_another(tmp_path: Path) -> None:
    got = await reply(tmp_path, [MAIL, OFFICIAL])
    assert got.outcome is Outcome.REPAIRED
    assert "0800 555 0100" in got.answer
    assert "0900 555 0199" not in got.answer
    assert got.contact_notice is None
    assert got.draft is not None
    (changed,) = [c for c in got.draft.claims if c.kind == "phone"]
    assert (changed.text, changed.status, changed.instead and changed.instead.text) == (
        "0900 555 0199",
        "conflict",
        "0800 555 0100",
    )


async def test_what_a_customer_is_sent_keeps_the_sign(tmp_path: Path) -> None:
    shown = view_of(await reply(tmp_path, [MAIL]))
    assert "0900 555 0199 (⚠)" in for_customer(shown.answer, shown.unvouched)
