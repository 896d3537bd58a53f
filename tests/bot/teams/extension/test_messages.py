"""The message extension over real HTTP and a real knowledge base: search, a cited passage inserted, and both actions on a message."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from bot.http.rate_limit import Limits, RateLimiter
from bot.records import Actor, Ask, Citation, OnStage, Reply
from bot.settings.load import load_settings
from bot.system import System
from bot.teams.extension.cards import MAX_PASSAGE, inserted_passage
from bot.teams.extension.checked import checked
from bot.teams.extension.knowledge import PersonsKnowledge
from bot.teams.extension.messages import MessageExtension, message_text
from bot.teams.extension.talk import is_of_the_talk
from bot.teams.shown.message_limits import check_card, size
from bot.wording.conversation.card import CardWords
from bot.wording.conversation.extension import ExtensionWords
from grounding.embedded.directory import FileDirectory
from grounding.errors import ServiceError
from grounding.records import LEAD_IN, Access, Passage, Query, Retrieval, Turn
from rai.records import Claim, EvidenceSpan, Kind, Outcome, Report
from tests.bot.teams.conftest import REPLY, Bots, FakeAnswer, FakeLedger, RunningBot
from tests.fakes.channel import FakeChannel
from tests.fakes.clock import AMPLE_S
from tests.fakes.replies import told
from tests.knowledge_base import PAGE, running, take_in

Json = dict[str, Any]
EN = ExtensionWords("en")
BELLA, CARL = ({"id": f"29:{n}", "name": n, "aadObjectId": n} for n in ("bella", "carl"))
HIDDEN = "# Rebates\n\nA rebate code for Watch Plus is KX-4471.\n"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def system(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[System]:
    """A page for everyone, and one for billing alone."""
    folder = tmp_path_factory.mktemp("extension")
    settings = load_settings(home=folder / "home", directory_file=folder / "users.yaml")
    (folder / "users.yaml").write_text("users:\n  bella: [billing]\n", "utf-8")
    pages = folder / "kb"
    pages.mkdir()
    (pages / "plans.md").write_text(PAGE, "utf-8")
    (pages / "rebates.md").write_text(HIDDEN, "utf-8")
    (pages / "acl.yaml").write_text("rebates.md: [billing]\n", "utf-8")
    await take_in(settings, pages, acl=pages / "acl.yaml", lexical_only=True)
    async with running(settings) as made:
        yield made


async def send(bot: RunningBot, channel: FakeChannel, name: str, value: object, who: Json = BELLA) -> Json:
    """An invoke of the extension, from a group chat: rights are those of who asks all the same."""
    place = {"id": "19:group@thread.v2", "conversationType": "groupChat", "tenantId": "tenant-1"}
    activity = channel.inbound(
        None, type="invoke", name=f"composeExtension/{name}", value=value, conversation=place, **{"from": who}
    )
    reply = await bot.post(activity)
    assert reply.status == 200, await reply.text()
    return dict(await reply.json())


def searched(text: str, **more: Any) -> Json:
    return {"commandId": "searchKnowledge", "parameters": [{"name": "query", "value": text}], **more}


def chosen_on(text: str, command: str) -> Json:
    body = {"contentType": "html", "content": f"<div><p>{text}</p></div>"}
    return {"commandId": command, "messagePayload": {"id": "1", "body": body}}


def card_in(task: Json) -> Json:
    value = task["task"]["value"]
    assert check_card(value["card"]["content"]) == []
    assert size(task) <= 28 * 1024
    return dict(value["card"]["content"])


def text_of(block: Json) -> str:
    return "".join(run["text"] for run in block.get("inlines", ()))


def words_of(card: Json) -> str:
    return " | ".join(text_of(item) for item in card["body"])


@dataclass
class Recorded(FakeAnswer):
    """Writes each turn down, as the pipeline does. `evidence`: what the answer rests on."""

    ledger: FakeLedger = field(default_factory=FakeLedger)
    evidence: Sequence[Json] = ()

    async def __call__(self, ask: Ask, on_stage: OnStage | None) -> Reply:
        reply = await super().__call__(ask, on_stage)
        asked = {"conversation": ask.conversation, "user": ask.user, "question": ask.question}
        body = {"ask": asked, "reply": reply.as_json(), "evidence": list(self.evidence)}
        return replace(reply, entry_id=(await self.ledger.append("turn", body)).entry_id)


async def recorded(bots: Bots, system: System, answer: Recorded, within_s: float = AMPLE_S) -> RunningBot:
    """A bot whose answers stand in its record."""
    return await bots.start(knowledge=PersonsKnowledge(system, within_s), answer=answer, ledger=answer.ledger)


async def test_a_passage_is_found_and_inserted_with_its_source(
    bots: Bots, channel: FakeChannel, system: System
) -> None:
    bot = await bots.start(knowledge=PersonsKnowledge(system, AMPLE_S))
    found = (await send(bot, channel, "query", searched("what does watch plus cost")))["composeExtension"]
    first = found["attachments"][0]
    assert first["preview"]["content"]["title"] == "Watch plans"
    chosen = first["preview"]["content"]["tap"]["value"]
    inserted = (await send(bot, channel, "selectItem", chosen))["composeExtension"]
    content = inserted["attachments"][0]["content"]
    assert check_card(content) == []
    look, quoted, source = content["body"]
    assert text_of(look) == "Look before you pass it on: 020 7946 0018 (only this document has it)"
    assert r"Watch Plus costs $9.99 a month" in text_of(quoted)
    assert text_of(source).startswith("Source: Watch plans")
    gone = await send(bot, channel, "selectItem", {**chosen, "doc_id": "nowhere.md"})
    assert gone["composeExtension"] == {"type": "message", "text": EN("gone")}
    for odd in ({**chosen, "start": -7, "end": 10**9}, {"verb": "insert"}, {**chosen, "doc_id": 7, "end": "x"}):
        await send(bot, channel, "selectItem", odd)


async def test_who_searches_finds_and_inserts_only_what_they_may_read(
    bots: Bots, channel: FakeChannel, system: System
) -> None:
    bot = await bots.start(knowledge=PersonsKnowledge(system, AMPLE_S))
    hers = await send(bot, channel, "query", searched("rebate code for watch plus"))
    [rebate] = [a for a in hers["composeExtension"]["attachments"] if a["preview"]["content"]["title"] == "Rebates"]
    chosen = rebate["preview"]["content"]["tap"]["value"]
    assert CardWords("en")("not_for_all") in rebate["preview"]["content"]["text"]
    inserted = await send(bot, channel, "selectItem", chosen)
    mark, quoted, _ = inserted["composeExtension"]["attachments"][0]["content"]["body"]
    assert (text_of(mark), "KX-4471" in text_of(quoted)) == (EN("internal"), True)
    his = await send(bot, channel, "query", searched("rebate code for watch plus"), CARL)
    assert "KX-4471" not in str(his)
    assert await send(bot, channel, "selectItem", chosen, CARL) == {
        "composeExtension": {"type": "message", "text": EN("gone")}
    }


async def test_without_words_it_says_what_to_type_and_a_second_page_is_empty(
    bots: Bots, channel: FakeChannel, system: System
) -> None:
    bot = await bots.start(knowledge=PersonsKnowledge(system, AMPLE_S))
    empty = await send(bot, channel, "query", {"commandId": "searchKnowledge", "parameters": [{"name": "initialRun"}]})
    assert empty["composeExtension"]["text"] == EN("type_words")
    more = await send(bot, channel, "query", searched("watch", queryOptions={"skip": 25, "count": 25}))
    assert more["composeExtension"]["text"] == EN("nothing")


@pytest.mark.parametrize(
    ("said", "view"),
    [
        (["what does watch plus cost in germany"], ("Watch Plus", "Germany")),
        (["what does it cost a danish customer", "oh no, she lives in France"], ("Watch Plus", "France")),
        (["what does watch plus cost in Spain"], ("Watch Plus",)),
        (["what does watch plus cost"], ("Watch Plus",)),
    ],
)
async def test_the_country_that_was_spoken_of_last_is_in_view(
    system: System, said: list[str], view: tuple[str, ...]
) -> None:
    """As the documents call it; one that none of them has is not."""

    class Names:
        async def in_view(self, turns: Sequence[Turn], access: Access, *, of_titles: bool) -> tuple[str, ...]:
            return ("Watch Plus",)

        async def knows(self, name: str, access: Access) -> bool:
            return name in {"Germany", "France", "Denmark"}

    knowledge = PersonsKnowledge(replace(system, queries=Names()))  # type: ignore[arg-type]  # all that is asked of it
    assert await knowledge.in_view([Turn("user", text) for text in said], None) == view


@pytest.mark.parametrize(
    ("bm25", "semantic", "listed"),
    [(None, 0.21, False), (None, 0.35, True), (1.2, 0.05, True), (None, None, True)],
)
async def test_a_passage_that_only_happens_to_be_nearest_is_not_listed(
    system: System, bm25: float | None, semantic: float | None, *, listed: bool
) -> None:
    """Something is nearest to "asdf qwer" too."""

    class Nearest:
        async def retrieve(self, query: Query, access: Access, k: int) -> Retrieval:
            passage = Passage("c", "plans.md", "Plans", "Watch Plus.", bm25=bm25, semantic=semantic)
            return Retrieval((passage,), "hybrid", "v1")

    knowledge = PersonsKnowledge(replace(system, retriever=Nearest()))
    assert bool(await knowledge.search("asdf qwer", None)) is listed


async def test_a_message_is_checked_against_what_the_person_may_read(
    bots: Bots, channel: FakeChannel, system: System
) -> None:
    bot = await bots.start(knowledge=PersonsKnowledge(system, AMPLE_S))
    before = [e async for e in system.ledger.entries(kinds=("check",))]
    wrong = card_in(await send(bot, channel, "fetchTask", chosen_on("Watch Plus costs $12.50 a month.", "checkThis")))
    assert "1 that no source supports" in words_of(wrong)
    assert wrong["body"][1]["inlines"][0]["color"] == "Attention"
    right = card_in(await send(bot, channel, "fetchTask", chosen_on("Watch Plus costs $9.99 a month.", "checkThis")))
    assert EN("all_supported") in words_of(right)
    secret = chosen_on("The code is KX-4471.", "checkThis")
    hers = words_of(card_in(await send(bot, channel, "fetchTask", secret)))
    assert "1 value checked · 1 not decided" in hers, "the code stands there, and nobody confirms the sentence"
    assert hers != words_of(card_in(await send(bot, channel, "fetchTask", secret, CARL)))
    after = [e async for e in system.ledger.entries(kinds=("check",))]
    assert len(after) == len(before) + 4
    assert after[-1].body["actor"]["user"] == "carl"
    assert "KX-4471" not in str(after[-1].body)


async def test_a_sentence_without_a_value_that_nobody_confirms_is_no_supported_message(
    bots: Bots, channel: FakeChannel, system: System
) -> None:
    bot = await bots.start(knowledge=PersonsKnowledge(system, AMPLE_S))
    text = "Watch Plus costs $9.99 a month. It can be returned forever."
    card = card_in(await send(bot, channel, "fetchTask", chosen_on(text, "checkThis")))
    assert EN("all_supported") not in words_of(card)
    assert "1 not decided" in words_of(card)
    assert "It can be returned forever." in str(card)


async def test_a_message_is_answered_and_the_answer_put_into_the_compose_box(
    bots: Bots, channel: FakeChannel, system: System
) -> None:
    bot = await recorded(bots, system, Recorded(told(REPLY, mode={"generator": "model:x"})))
    card = card_in(await send(bot, channel, "fetchTask", chosen_on("What is the return window?", "answerThis")))
    [ask] = bot.answer.asked
    assert (ask.question, ask.user, ask.history) == ("What is the return window?", "bella", ())
    assert ask.conversation is not None
    assert ask.conversation.startswith("extension ")
    assert r"Items may be returned within 30 days [1]" in words_of(card)
    use = card["actions"][0]
    assert use["title"] == EN("use")
    assert "messageBack" not in str(card), "a dialog sends no messages"
    put = await send(bot, channel, "submitAction", {"commandId": "answerThis", "data": use["data"]})
    body = put["composeExtension"]["attachments"][0]["content"]["body"]
    assert text_of(body[0]) == "Items may be returned within 30 days. Refunds take 5 business days."
    assert text_of(body[1]) == "Source: Returns policy · Refunds · Not cited"
    stolen = await send(bot, channel, "submitAction", {"commandId": "answerThis", "data": use["data"]}, CARL)
    assert stolen["composeExtension"] == {"type": "message", "text": EN("gone")}
    assert (await bot.ledger.delivery())["entry_id"] == "e1"


async def test_a_question_without_an_answer_is_told_in_its_language_and_its_gap_can_be_reported(
    bots: Bots, channel: FakeChannel, system: System
) -> None:
    missing = Reply(Outcome.INSUFFICIENT, "Das steht nicht da.", entry_id="entry-7")
    bot = await recorded(bots, system, Recorded(missing))
    asked = chosen_on("Wie lange dauert die Rücksendung eines Geräts?", "answerThis")
    card = card_in(await send(bot, channel, "fetchTask", asked))
    german = CardWords("de")
    assert german("insufficient") in words_of(card)
    gap = card["actions"][0]
    assert gap["title"] == german("gap")
    for _ in range(2):
        done = card_in(await send(bot, channel, "submitAction", {"data": gap["data"]}))
        assert words_of(done) == CardWords("en")("gap_told")
    [body] = bot.ledger.of("feedback")
    assert (body["reaction"], body["entry_id"], body["user"]) == ("gap", "e1", "bella")
    stolen = card_in(await send(bot, channel, "submitAction", {"data": gap["data"]}, CARL))
    assert words_of(stolen) == EN("gone")


async def test_quotes_stand_below_our_words_in_their_language(bots: Bots, channel: FakeChannel, system: System) -> None:
    quoted = replace(REPLY, answer=f"{LEAD_IN}\n- Watch Plus kostet 9,99 $ [1]")
    bot = await recorded(bots, system, Recorded(quoted))
    card = card_in(await send(bot, channel, "fetchTask", chosen_on("Was kostet Watch Plus im Monat?", "answerThis")))
    assert text_of(card["body"][0]).startswith(CardWords("de")("quoted"))


async def test_an_answer_that_takes_longer_is_fetched_when_it_is_there(
    bots: Bots, channel: FakeChannel, system: System
) -> None:
    ready = asyncio.Event()

    async def wait(_: Ask) -> None:
        await ready.wait()

    bot = await recorded(bots, system, Recorded(then=wait), 0.01)
    card = card_in(await send(bot, channel, "fetchTask", chosen_on("What is the return window?", "answerThis")))
    [show] = card["actions"]
    assert show["title"] == EN("show")
    again = card_in(await send(bot, channel, "submitAction", {"data": show["data"]}))
    assert again == card
    ready.set()
    while (done := card_in(await send(bot, channel, "submitAction", {"data": show["data"]}))) == card:
        pass
    assert "30 days" in words_of(done)
    assert len(bot.answer.asked) == 1


async def test_an_answer_that_rests_on_what_not_everyone_may_read_is_marked_where_it_is_inserted(
    bots: Bots, channel: FakeChannel, system: System
) -> None:
    open_, closed = REPLY.citations[0], replace(REPLY.citations[1], doc_id="rebates.md")
    bot = await recorded(bots, system, Recorded(replace(REPLY, citations=(open_, closed))))
    card = card_in(await send(bot, channel, "fetchTask", chosen_on("What is the return window?", "answerThis")))
    put = await send(bot, channel, "submitAction", {"commandId": "answerThis", "data": card["actions"][0]["data"]})
    mark, text, _ = put["composeExtension"]["attachments"][0]["content"]["body"]
    assert text_of(mark) == EN("internal")
    assert text_of(text) == "Items may be returned within 30 days. Refunds take 5 business days [internal]."


async def test_what_another_process_answered_is_read_from_the_record(
    bots: Bots, channel: FakeChannel, system: System
) -> None:
    bot = await bots.start(knowledge=PersonsKnowledge(system, AMPLE_S))
    job = "0" * 32
    reply = {"outcome": "answered", "answer": "Within 30 days.", "citations": [], "claims": []}
    await bot.ledger.append("turn", {"ask": {"conversation": f"extension {job}", "user": "bella"}, "reply": reply})
    put = await send(bot, channel, "submitAction", {"data": {"verb": "use", "job": job}})
    assert "Within 30 days." in str(put)
    assert EN("gone") in str(await send(bot, channel, "submitAction", {"data": {"verb": "use", "job": job}}, CARL))
    assert EN("gone") in str(await send(bot, channel, "submitAction", {"data": {"verb": "use", "job": "1" * 32}}))


@pytest.mark.parametrize("withdrawn", [True, False])
async def test_an_answer_that_was_erased_or_may_not_be_read_any_more_is_neither_shown_nor_inserted(
    bots: Bots, channel: FakeChannel, tmp_path: Path, system: System, *, withdrawn: bool
) -> None:
    [rebate] = [p for p in await PersonsKnowledge(system).search("rebate code", "bella") if p.doc_id == "rebates.md"]
    cited = Citation(1, rebate.title, None, rebate.doc_id, rebate.chunk_id, None, "KX-4471")
    row = {"n": 1, "doc_id": rebate.doc_id, "chunk_id": rebate.chunk_id, "text": rebate.text, "version": rebate.version}
    answer = Recorded(replace(REPLY, answer="The code is KX-4471 [1].", citations=(cited,)), evidence=[row])
    users = tmp_path / "users.yaml"
    users.write_text("users:\n  bella: [billing]\n", "utf-8")
    bot = await recorded(bots, replace(system, directory=FileDirectory(users)), answer)
    card = card_in(await send(bot, channel, "fetchTask", chosen_on("What is the rebate code?", "answerThis")))
    assert "KX-4471" in words_of(card)
    job = card["actions"][0]["data"]["job"]
    if withdrawn:
        users.write_text("users:\n  bella: [sales]\n", "utf-8")
    else:
        bot.ledger.appended[0] = ("turn", {"erased": True})
    shown = card_in(await send(bot, channel, "submitAction", {"data": {"verb": "show", "job": job}}))
    assert (words_of(shown), shown.get("actions", [])) == (EN("gone"), [])
    put = await send(bot, channel, "submitAction", {"data": {"verb": "use", "job": job}})
    assert put["composeExtension"] == {"type": "message", "text": EN("gone")}


async def test_the_words_of_a_message_are_forgotten_after_some_minutes(system: System) -> None:
    async def gap(_activity: Json, _entry_id: str) -> None: ...

    failed = Recorded(Reply(Outcome.FAILED, "No model.", code="model_unavailable"))
    knowledge, limits = PersonsKnowledge(system, AMPLE_S), Limits(RateLimiter(60), None)
    extension = MessageExtension(system.settings, knowledge, failed, failed.ledger, limits, report_gap=gap, kept_s=0.01)
    said = {"type": "invoke", "channelId": "msteams", "from": BELLA, "conversation": {"id": "a:1"}}
    asked = {**said, "name": "composeExtension/fetchTask", "value": chosen_on("How long?", "answerThis")}
    opened = await extension.invoke(asked)
    assert opened is not None
    again = card_in(opened[0])["actions"][0]["data"]
    await asyncio.sleep(0.05)
    pressed = await extension.invoke({**said, "name": "composeExtension/submitAction", "value": {"data": again}})
    assert pressed is not None
    assert words_of(card_in(pressed[0])) == EN("gone")


async def test_an_answer_that_failed_can_be_tried_again(bots: Bots, channel: FakeChannel, system: System) -> None:
    answer = Recorded(Reply(Outcome.FAILED, "No model.", code="model_unavailable"))
    bot = await recorded(bots, system, answer)
    card = card_in(await send(bot, channel, "fetchTask", chosen_on("What is the return window?", "answerThis")))
    again = card["actions"][0]
    assert again["title"] == CardWords("en")("try_again")
    stolen = card_in(await send(bot, channel, "submitAction", {"data": again["data"]}, CARL))
    assert words_of(stolen) == EN("gone")
    answer.reply = REPLY
    done = card_in(await send(bot, channel, "submitAction", {"data": again["data"]}))
    assert "30 days" in words_of(done)
    assert [ask.question for ask in answer.asked] == ["What is the return window?"] * 2
    lost = {"verb": "again", "job": "0" * 32}
    assert words_of(card_in(await send(bot, channel, "submitAction", {"data": lost}))) == EN("gone")


async def test_a_check_that_failed_and_one_that_came_too_fast_can_be_tried_again(
    bots: Bots, channel: FakeChannel, system: System
) -> None:
    class Once:
        down = True

        async def retrieve(self, query: Query, access: Access, k: int) -> Retrieval:
            if self.down:
                self.down = False
                raise ServiceError("search", "failed")
            return await system.retriever.retrieve(query, access, k)

    shaky = PersonsKnowledge(replace(system, retriever=Once()), AMPLE_S)
    bot = await bots.start(knowledge=shaky, rate_per_minute=2)
    asked = chosen_on("Watch Plus costs $12.50 a month.", "checkThis")
    card = card_in(await send(bot, channel, "fetchTask", asked))
    assert words_of(card) == EN("later")
    [again] = card["actions"]
    done = card_in(await send(bot, channel, "submitAction", {"data": again["data"]}))
    assert "1 that no source supports" in words_of(done)
    fast = card_in(await send(bot, channel, "fetchTask", asked))
    assert (words_of(fast), [a["title"] for a in fast["actions"]]) == (EN("too_fast"), [CardWords("en")("try_again")])


async def test_what_is_listed_and_inserted_says_as_of_when_it_is(
    bots: Bots, channel: FakeChannel, system: System
) -> None:
    class Dated:
        async def retrieve(self, query: Query, access: Access, k: int) -> Retrieval:
            found = await system.retriever.retrieve(query, access, k)
            return replace(found, passages=tuple(replace(p, updated="2026-03-01T10:00:00Z") for p in found.passages))

    row = {"n": 1, "doc_id": "plans.md", "chunk_id": "c1", "text": "30 days", "updated": "2026-03-01"}
    bot = await recorded(bots, replace(system, retriever=Dated()), Recorded(evidence=[row]))
    found = (await send(bot, channel, "query", searched("watch plus")))["composeExtension"]["attachments"][0]
    assert found["preview"]["content"]["text"].startswith("as of 1 Mar 2026 · ")
    check = card_in(await send(bot, channel, "fetchTask", chosen_on("Watch Plus costs $9.99 a month.", "checkThis")))
    assert "· 1 Mar 2026" in str(check)
    card = card_in(await send(bot, channel, "fetchTask", chosen_on("What is the return window?", "answerThis")))
    assert "as of 1 Mar 2026" in str(card)
    put = await send(bot, channel, "submitAction", {"data": card["actions"][0]["data"]})
    assert "Returns policy (as of 1 Mar 2026)" in str(put)


async def test_the_list_keeps_the_order_of_the_search_and_shows_plain_words(
    bots: Bots, channel: FakeChannel, system: System
) -> None:
    """A newer document of a like title is no newer edition; a replaced one stands behind all else."""
    listed = (
        Passage("c0", "old.txt", "Shops and opening hours (2025)", "Closed.", bm25=9, updated="2025-02-01"),
        Passage("c1", "shops.csv", "Shops and opening hours", "## Hours\n\n### Amsterdam\n\n**Daily** 9-17", bm25=8, updated="2026-09-14"),
        Passage("c2", "holidays.eml", "Opening hours over the holidays", "Shop: Lyon | Monday: 9-17", bm25=7, updated="2026-11-09"),
        Passage("c3", "empty.md", "Hours", "## Hours on the phone", bm25=6),
    )  # fmt: skip

    class Listed:
        async def retrieve(self, query: Query, access: Access, k: int) -> Retrieval:
            return Retrieval(listed, "kb", "listed")

    bot = await bots.start(knowledge=PersonsKnowledge(replace(system, retriever=Listed()), AMPLE_S))
    found = (await send(bot, channel, "query", searched("opening hours amsterdam")))["composeExtension"]["attachments"]
    previews = [item["preview"]["content"] for item in found]
    assert [p["tap"]["value"]["chunk_id"] for p in previews] == ["c1", "c2", "c3", "c0"]
    shown = [p["text"].removeprefix("as of ").partition(" · ")[2] or p["text"] for p in previews]
    assert shown == ["Daily 9-17", "Lyon – Monday: 9-17", "Hours on the phone", "Closed."]


STRANGE: dict[str, list[object]] = {
    "query": [{}, {"commandId": "other"}, None, 7, []],
    "fetchTask": [{}, {"commandId": "other"}, "x"],
    "submitAction": [{}, {"data": 7}, {"data": {"verb": "use", "job": "../x"}}, {"data": {"job": 1}}],
    "selectItem": [{}, {"verb": 7}],
    "setting": [{}],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in STRANGE.items() for value in values])
async def test_what_is_no_command_is_not_answered(
    bots: Bots, channel: FakeChannel, system: System, name: str, value: object
) -> None:
    bot = await bots.start(knowledge=PersonsKnowledge(system, AMPLE_S))
    reply = await bot.post(channel.inbound(None, type="invoke", name=f"composeExtension/{name}", value=value))
    assert reply.status == 501
    without = await bots.start()
    assert (await without.post(channel.inbound(None, type="invoke", name="composeExtension/query"))).status == 501


async def test_too_many_questions_and_messages_without_words_are_told(
    bots: Bots, channel: FakeChannel, system: System
) -> None:
    bot = await bots.start(knowledge=PersonsKnowledge(system, AMPLE_S), rate_per_minute=1)
    empty = card_in(await send(bot, channel, "fetchTask", chosen_on(" <br/> ", "answerThis")))
    assert words_of(empty) == EN("no_text")
    await send(bot, channel, "fetchTask", chosen_on("x", "answerThis"))
    assert words_of(card_in(await send(bot, channel, "fetchTask", chosen_on("x", "answerThis")))) == EN("too_fast")
    assert len(bot.answer.asked) == 1


async def test_searches_and_chosen_passages_take_a_tenth_of_a_turn_each(
    bots: Bots, channel: FakeChannel, system: System
) -> None:
    bot = await bots.start(knowledge=PersonsKnowledge(system, AMPLE_S), rate_per_minute=1)
    found = await send(bot, channel, "query", searched("what does watch plus cost"))
    tap = found["composeExtension"]["attachments"][0]["preview"]["content"]["tap"]["value"]
    too_fast = {"composeExtension": {"type": "message", "text": EN("too_fast")}}
    for _ in range(8):
        assert await send(bot, channel, "selectItem", tap) != too_fast
    assert await send(bot, channel, "query", searched("")) != too_fast, "nothing is searched for"
    while await send(bot, channel, "query", searched("what does watch plus cost")) != too_fast:
        pass
    assert await send(bot, channel, "selectItem", tap) == too_fast


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("<p>First</p><p>Second &amp; third</p>", "First\nSecond & third"),
        ("a<br>b<br/>c", "a\nb\nc"),
        ('<div><at id="0">Attest</at>&nbsp;how long?</div>', "Attest how long?"),
        ("<" * 50_000, "<" * 8000),
        (7, ""),
    ],
)
def test_the_words_of_a_message_are_read_without_its_html(content: object, text: str) -> None:
    assert message_text({"body": {"contentType": "html", "content": content}}) == text
    assert message_text(None) == ""


def test_every_language_has_its_own_words() -> None:
    assert set(ExtensionWords.texts()) == {"en", "de", "fr", "es", "it", "pt", "nl"}
    for name in ExtensionWords.texts()["en"].keys() - {"source"}:
        assert len({row[name] for row in ExtensionWords.texts().values()}) == len(ExtensionWords.texts()), name


async def test_what_only_a_replaced_edition_says_is_doubted(tmp_path: Path) -> None:
    """Thirty days are last year's: a message that still says so is not called supported."""
    settings, pages = load_settings(home=tmp_path / "home"), tmp_path / "kb"
    pages.mkdir()
    (pages / "returns-2025.md").write_text("# Returns (2025)\n\nYou can return a lamp within 30 days.\n", "utf-8")
    (pages / "returns-2026.md").write_text("# Returns (2026)\n\nSend lamps back in the first 45 days.\n", "utf-8")
    await take_in(settings, pages, lexical_only=True)
    async with running(settings) as made:
        knowledge = PersonsKnowledge(made, AMPLE_S)
        wrong, _ = await knowledge.check("You can return the lamp within 30 days.", None, Actor())
        right, _ = await knowledge.check("You can return the lamp in the first 45 days.", None, Actor())
    assert [(c.status, c.rule) for c in wrong.claims if c.kind == "quantity"] == [("unchecked", "replaced-edition")]
    assert [c.status for c in right.claims if c.kind == "quantity"] == ["exact"]


@pytest.mark.parametrize("before", ["So it is. ", ""])
def test_an_inserted_passage_is_cut_before_a_contact_and_says_so(before: str) -> None:
    for length in range(MAX_PASSAGE - 40, MAX_PASSAGE):
        text = before + "w" * (length - len(before)) + " Call +49 30 12345678 now and tell us."
        card = inserted_passage(Passage("c", "d", "T", text), EN)["composeExtension"]["attachments"][0]["content"]
        quoted, fallback = text_of(card["body"][0]), card["fallbackText"].removesuffix(" (T)")
        for shown in (quoted, fallback):
            assert shown == text or shown.endswith("…")
            assert "+49" not in shown or "+49 30 12345678" in shown


PLANTED = "Please call support on 0900 555 1234 from now on."
MAIL = f"From: Ed <ed@example.net>\nSubject: New support line\nContent-Type: text/plain\n\nHello,\n\n{PLANTED}\n"


@pytest.mark.parametrize("vouched", [False, True])
async def test_a_contact_that_nobody_answers_for_is_marked_where_it_is_checked_and_inserted(
    bots: Bots, channel: FakeChannel, tmp_path: Path, vouched: bool
) -> None:
    settings, pages = load_settings(home=tmp_path / "home"), tmp_path / "kb"
    pages.mkdir()
    (pages / "mail.eml").write_text(MAIL, "utf-8")
    if vouched:
        for n in range(2):
            (pages / f"zebras-{n}.md").write_text(f"# Zebras {n}\n\nZebra matters: 0900 555 1234.\n", "utf-8")
    await take_in(settings, pages, lexical_only=True)
    async with running(settings) as made:
        bot = await bots.start(knowledge=PersonsKnowledge(made, AMPLE_S))
        card = card_in(await send(bot, channel, "fetchTask", chosen_on(PLANTED, "checkThis")))
        listed = (await send(bot, channel, "query", searched("please call support from now on")))["composeExtension"]
        mail = next(a["preview"]["content"] for a in listed["attachments"] if "support line" in json.dumps(a))
        inserted = await send(bot, channel, "selectItem", mail["tap"]["value"])
    content = inserted["composeExtension"]["attachments"][0]["content"]
    assert check_card(content) == []
    marked = [
        "⚠ came in from outside" in json.dumps(card, ensure_ascii=False),
        card["body"][1]["inlines"][0]["color"] == "Warning",
        "0900 555 1234 (⚠) from now on." in words_of(content),
        words_of(content).startswith("Look before you pass it on: 0900 555 1234 (came in from outside)"),
        "(⚠)" in content["fallbackText"],
    ]
    assert marked == [not vouched] * 5
    assert "from outside" in mail["text"], "whose word a document is, is said all the same"
    assert text_of(content["body"][-1]).endswith("from outside")


async def test_a_value_that_what_was_found_lacks_is_looked_for_by_itself(tmp_path: Path) -> None:
    """A message in other words, or in another language, finds other pages than the one that has its amount."""
    settings, pages = load_settings(home=tmp_path / "home"), tmp_path / "kb"
    pages.mkdir()
    (pages / "keys.md").write_text("# Keys\n\nRegistered mail inside Germany: €6.85. A new one: €40.\n", "utf-8")
    for n in range(9):
        text = f"# Post {n}\n\nEs wären 6 Tage, per Einschreiben innerhalb der Woche 85, und {n}.\n"
        (pages / f"post-{n}.md").write_text(text, "utf-8")
    await take_in(settings, pages, lexical_only=True)
    async with running(settings) as made:
        knowledge = PersonsKnowledge(made, AMPLE_S)
        right, passages = await knowledge.check("Als Einschreiben kostet das in dieser Woche 6,85 €.", None, Actor())
        wrong, _ = await knowledge.check("Als Einschreiben kostet das in dieser Woche 6,95 €.", None, Actor())
    assert [c.status for c in right.claims if c.kind == "money"] == ["normalised"]
    assert passages[-1].doc_id.endswith("keys.md")
    assert [c.status for c in wrong.claims if c.kind == "money"] == ["absent"]


def rows_of(text: str, report: Report, passages: Sequence[Passage]) -> str:
    card = checked(text, report, passages, ExtensionWords("en"), CardWords("en"))
    return json.dumps(card, ensure_ascii=False)


def test_the_line_below_a_value_is_of_the_source_that_its_row_names() -> None:
    text = "Phone support is open Monday to Friday."
    shops = Passage("a", "shops", "Shops", "Monday to Friday the shop in Lindhagen is open.")
    phones = Passage("b", "phones", "Telephone numbers", "Phone support is there Monday to Friday.")
    spans = tuple(
        EvidenceSpan(p.chunk_id, "text", at := p.text.index("Monday"), at + 16, p.text[at : at + 16])
        for p in (shops, phones)
    )
    claim = Claim("date", "Monday to Friday", 22, 38, status="exact", evidence=spans, rule="held")
    told = rows_of(text, Report("supported", 0.0, (claim,)), (shops, phones))
    assert "Telephone numbers" in told
    assert "Phone support is there" in told
    assert "Lindhagen" not in told


@pytest.mark.parametrize(
    ("text", "claim", "told"),
    [
        ("Dear Anna, it costs $5. Kind regards, Sam", "Sam", False),
        ("Hallo Frau Weber, das kostet 5 €.", "Weber", False),
        ("The Sam costs $5.", "Sam", True),
    ],
)
def test_whom_one_writes_to_and_who_signs_are_no_values(text: str, claim: str, told: bool) -> None:
    at = text.index(claim)
    made = Claim("entity", claim, at, at + len(claim), status="unchecked", rule="name-alone", why="No source has it.")
    assert (f'"{claim}' in rows_of(text, Report("unsupported", 0.0, (made,)), ())) is told


@pytest.mark.parametrize(
    ("text", "name", "addressed"),
    [
        ("Hallo Herr Brandl, gerne!", "Hallo Herr Brandl", True),
        ("Guten Tag Frau Dr. Weber, die Garantie gilt.", "Weber", True),
        ("Congratulations on the new house, Mr Doyle! Just let us know.", "Doyle", True),
        ("Mr Doyle, it costs $5.", "Mr Doyle", True),
        ("It costs $5, Mrs O'Neil.", "O'Neil", True),
        ("Ask Mr Doyle in the shop.", "Doyle", False),
        ("Our boss is Mr Doyle.", "Doyle", False),
        ("Your technician, Mr Doyle, comes on Monday.", "Doyle", False),
        ("It costs $5. Wren X2, Mr Doyle!", "Wren X2", False),
    ],
)
def test_who_is_called_by_title_and_name_is_no_value(text: str, name: str, addressed: bool) -> None:
    at = text.index(name)
    made = Claim("entity", name, at, at + len(name), status="absent", rule="no-name", why="No source has it.")
    assert ("No values in this message" in rows_of(text, Report("unsupported", 0.9, (made,)), ())) is addressed


@pytest.mark.parametrize(
    ("text", "kind", "value", "own"),
    [
        ("Since you booked in March 2026 and took FlexPlus, it costs $5.", "date", "March 2026", True),
        ("As you made your booking in November 2025, the older terms count.", "date", "November 2025", True),
        ("Da Sie im November 2025 gebucht haben, gelten die alten Regeln.", "date", "November 2025", True),
        ("We close on 3 March 2026, so your order comes later.", "date", "3 March 2026", False),
        ("The offer ended in March 2026.", "date", "March 2026", False),
        ("Your dad at 77 can come along.", "number", "77", True),
        ("You can bring 77 guests.", "number", "77", False),
        ("Since you booked in March you pay $77.", "money", "$77", False),
    ],
)
def test_when_they_booked_and_how_old_they_are_no_source_need_say(text: str, kind: Kind, value: str, own: bool) -> None:
    at = text.index(value)
    made = Claim(kind, value, at, at + len(value), status="absent", rule="no-source", why="No source has it.")
    assert is_of_the_talk(made, text) is own


@pytest.mark.parametrize(("text", "told"), [("For your 70 m² flat it is $5.", False), ("The flat has 70 m².", True)])
def test_how_large_the_customers_own_things_are_no_source_need_say(text: str, told: bool) -> None:
    at = text.index("70 m²")
    made = Claim("quantity", "70 m²", at, at + 5, status="absent", rule="no-source", why="No source has it.")
    assert ('"in no source"' in rows_of(text, Report("unsupported", 0.0, (made,)), ())) is told


async def test_a_typed_wish_to_check_a_message_does_what_the_action_does(
    bots: Bots, channel: FakeChannel, system: System
) -> None:
    bot = await bots.start(knowledge=PersonsKnowledge(system, AMPLE_S))
    group = {"id": "19:group@thread.v2", "conversationType": "groupChat", "tenantId": "tenant-1"}
    mention = [{"type": "mention", "mentioned": {"id": "28:bot"}, "text": "<at>Attest</at>"}]
    await bot.post(channel.inbound("check this: Watch Plus costs $12.50 a month.", **{"from": BELLA}))
    [wrong] = await channel.until_messages(1)
    assert wrong["text"].startswith("**2 values checked · 1 that no source supports")
    assert "- $12.50: in no source. “Watch Plus costs $9.99 a month and covers 5 cameras.”" in wrong["text"]
    assert "$12.50 | in no source" in " | ".join(
        text_of(column["items"][0])
        for row in wrong["attachments"][0]["content"]["body"]
        for column in row.get("columns", ())
    )
    secret = "prüfe das: The code is KX-4471."
    await bot.post(channel.inbound(secret, **{"from": BELLA}))
    await channel.until_messages(2)
    await bot.post(
        channel.inbound(f"<at>Attest</at> {secret}", conversation=group, entities=mention, **{"from": BELLA})
    )
    messages = await channel.until_messages(3)
    own, public = messages[1]["text"], messages[2]["text"]
    assert "KX-4471: in keiner Quelle" not in own, "Bella may read where it stands"
    assert "KX-4471: in keiner Quelle" in public, "a group sees no more than strangers do"
    assert bot.answer.asked == []


async def test_a_check_elsewhere_than_on_teams_has_its_words_alone(
    bots: Bots, channel: FakeChannel, system: System
) -> None:
    bot = await bots.start(knowledge=PersonsKnowledge(system, AMPLE_S))
    await bot.post(channel.inbound("check this: Watch Plus costs $12.50 a month.", channelId="emulator"))
    [message] = await channel.until_messages(1)
    assert "attachments" not in message
    assert "in no source" in message["text"]
