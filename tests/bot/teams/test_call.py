"""The call in view: what a conversation is about, how it is changed, and where another one begins."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web
from aiohttp.test_utils import TestServer

from bot.records import Ask, OnStage, Reply
from bot.settings.load import load_settings
from bot.system import System
from bot.teams.attachments import FILE
from bot.teams.extension.knowledge import PersonsKnowledge
from bot.teams.shown.answer_card import Shown, answer_card, read_change
from bot.teams.shown.message_limits import check_activity
from bot.turn.conversation.small_talk import small_talk
from bot.view.reply import view_of
from bot.wording.conversation.card import CardWords
from grounding.embedded.directory import FileDirectory
from grounding.records import Access, Turn
from tests.bot.teams.conftest import REPLY, Bots, FakeAnswer
from tests.bot.teams.shown.test_answer_card import words_of
from tests.fakes.channel import FakeChannel
from tests.fakes.replies import told
from tests.knowledge_base import running, take_in

Json = dict[str, Any]
PAGE = (
    "# Wren X2\n\nThe Wren X2 works with Watch Plus. In Austria Watch Plus costs 9 euros a month, in Norway 12 euros.\n"
)
OPEN, CLOSED = "3f2504e0-4f89-11d3-9a0c-0305e82c3301", "3f2504e0-4f89-11d3-9a0c-0305e82c3302"
SECRET = "# Kestrel\n\nThe Kestrel comes in May.\n"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def system(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[System]:
    folder = tmp_path_factory.mktemp("call")
    settings = load_settings(home=folder / "home")
    (folder / "kb").mkdir()
    (folder / "kb" / "x2.md").write_text(PAGE, "utf-8")
    (folder / "kb" / "secret.md").write_text(SECRET, "utf-8")
    (folder / "acl.yaml").write_text("secret.md: [board]\n", "utf-8")
    await take_in(settings, folder / "kb", acl=folder / "acl.yaml", lexical_only=True)
    async with running(settings) as made:
        yield made


@pytest.mark.parametrize(
    ("said", "names"),
    [
        (["My Wren X2 is on Watch Plus, and I live in Austria. Can I cancel?"], {"Wren X2", "Watch Plus", "Austria"}),
        (["I have the Wren X2.", "What does it cost in Norway?"], {"Norway", "Wren X2"}),
        (["My name is Bartholomew and I am in Timbuktu. Can I cancel?"], set()),
        (["When does the Kestrel come?"], set()),
        (["One of them says C-421, signed M."], set()),
    ],
)
async def test_what_a_call_is_about_is_read_from_what_people_said(
    system: System, said: list[str], names: set[str]
) -> None:
    turns = [Turn("customer", text) for text in said]
    assert set(await system.queries.in_view(turns, Access())) == names
    ours = [*turns, Turn("assistant", "Watch Plus and the Wren X2 are sold in Norway.")]
    assert set(await system.queries.in_view(ours, Access())) == names, "what the assistant says names nothing"
    board = await system.queries.in_view(
        [Turn("user", "When does the Kestrel come?")], Access("b", frozenset({"board"}))
    )
    assert board == ("Kestrel",)


@pytest.mark.parametrize(("doc_id", "label"), [("x2.md", OPEN), ("secret.md", CLOSED), ("gone.md", OPEN)])
async def test_an_answer_that_rests_on_what_not_everyone_may_read_has_the_stricter_label(
    bots: Bots, channel: FakeChannel, system: System, doc_id: str, label: str
) -> None:
    reply = replace(REPLY, citations=(replace(REPLY.citations[0], doc_id=doc_id), *REPLY.citations[1:]))
    bot = await bots.start(
        answer=FakeAnswer(reply), knowledge=PersonsKnowledge(system), sensitivity_label=OPEN, restricted_label=CLOSED
    )
    await bot.post(channel.inbound("Can I cancel?"))
    [message] = await channel.until_messages(1)
    [root] = [e for e in message["entities"] if e.get("@type") == "Message"]
    assert root["usageInfo"]["@id"] == label


def card(**more: Any) -> Json:
    shown = replace(Shown(CardWords("en"), asked="Can I cancel?", view=("Wren X2", "Austria")), **more)
    made = answer_card(view_of(REPLY), shown)
    assert made is not None
    return dict(made["content"])


def test_the_card_says_what_is_in_view_and_how_it_is_changed() -> None:
    content = card()
    line, change = content["body"][0]["columns"]
    assert words_of(line["items"][0]) == "In view: Wren X2 · Austria"
    [button] = change["items"][0]["actions"]
    assert (button["title"], button["targetElements"]) == ("Change", ["view"])
    [folded] = [item for item in content["body"] if item.get("id") == "view"]
    field, row = folded["items"]
    assert (field["type"], field["value"]) == ("Input.Text", "Wren X2, Austria")
    assert [action["title"] for action in row["actions"]] == ["Ask again", "New customer"]
    assert not any(item.get("id") == "view" for item in card(view=None)["body"])


@pytest.mark.parametrize("language", list(CardWords.texts()))
def test_new_customer_is_understood_in_the_language_of_its_button(language: str) -> None:
    talk = small_talk(CardWords(language)("new_customer"))
    assert talk is not None
    assert (talk.form, talk.language) == ("new", language)


@pytest.mark.parametrize(
    ("value", "question"),
    [
        ({"verb": "change", "asked": "Can I cancel?", "about": "Wren X1"}, "For Wren X1: Can I cancel?"),
        ({"verb": "change", "asked": "For Wren X2: Can I cancel?", "about": "Wren X1"}, "For Wren X1: Can I cancel?"),
        ({"verb": "change", "asked": "Can I cancel?", "about": " "}, "Can I cancel?"),
        ({"verb": "change", "asked": "Can I cancel?"}, "Can I cancel?"),
        ({"verb": "change", "asked": 7, "about": "x"}, ""),
        *((odd, "") for odd in (None, "x", {}, {"verb": "other", "asked": "x"})),
    ],
)
def test_change_asks_the_question_again(value: object, question: str) -> None:
    change = read_change(value)
    assert (change.asked if change else "") == question


@pytest.mark.parametrize(
    ("about", "told"),
    [("asdfgh", "asdfgh"), ("Wren X2, Kestrel", "Kestrel"), ("Norwegen", ""), ("Wren X2, Austria", "")],
)
async def test_change_to_what_no_document_has_asks_nothing(
    bots: Bots, channel: FakeChannel, system: System, about: str, told: str
) -> None:
    bot = await bots.start(answer=FakeAnswer(REPLY), knowledge=PersonsKnowledge(system))
    value = {"verb": "change", "asked": "What does it cost in Austria?", "about": about, "view": ["Austria"]}
    await bot.post(channel.inbound(None, value=value))
    [message] = await channel.until_messages(1)
    assert bool(bot.answer.asked) is not bool(told)
    assert not told or f"“{told}”" in message["text"]


async def test_in_a_group_what_not_everyone_may_read_is_known_to_nobody(
    bots: Bots, channel: FakeChannel, tmp_path: Path, system: System
) -> None:
    """Who asks may read of the Kestrel; those who read along may not be told that there is one."""
    (tmp_path / "users.yaml").write_text("users:\n  ada: [board]\n", "utf-8")
    knowing = PersonsKnowledge(replace(system, directory=FileDirectory(tmp_path / "users.yaml")))
    bot = await bots.start(knowledge=knowing)
    change = {"verb": "change", "asked": "What does it cost?", "about": "Kestrel"}
    group = {"id": "19:group", "conversationType": "groupChat", "tenantId": "tenant-1"}
    ada = {"id": "29:ada", "name": "Ada", "aadObjectId": "ada"}
    await bot.post(channel.inbound(None, value=change, conversation=group, **{"from": ada}))
    [message] = await channel.until_messages(1)
    assert "Kestrel" in message["text"]
    assert bot.answer.asked == []


def line_of(content: Json) -> str:
    return words_of(content["body"][0]["columns"][0]["items"][0])


def test_where_nothing_was_named_the_line_does_not_say_the_question_instead() -> None:
    content = card(view=())
    assert line_of(content) == CardWords("en")("view_none")
    assert any(item.get("id") == "view" for item in content["body"])


async def test_a_country_in_view_is_called_as_the_language_of_the_question_does(
    bots: Bots, channel: FakeChannel, system: System
) -> None:
    bot = await bots.start(answer=FakeAnswer(told(REPLY, ask=Ask("?"))), knowledge=PersonsKnowledge(system))
    await bot.post(channel.inbound("Was kostet Watch Plus für jemanden in Österreich?"))
    [message] = await channel.until_messages(1)
    content = message["attachments"][0]["content"]
    assert line_of(content) == "Im Blick: Watch Plus · Österreich"
    [folded] = [item for item in content["body"] if item.get("id") == "view"]
    field, row = folded["items"]
    assert field["value"] == "Watch Plus, Österreich"
    assert read_change({**row["actions"][0]["data"], "about": field["value"]}) is not None
    await bot.post(channel.inbound(None, value={**row["actions"][0]["data"], "about": "Watch Plus, Norwegen"}))
    await channel.until_messages(2)
    assert bot.answer.asked[1].question == "Was kostet Watch Plus für jemanden in Norwegen?"


class Remembering(FakeAnswer):
    """Answers, and says what it was asked."""

    async def __call__(self, ask: Ask, on_stage: OnStage | None) -> Reply:
        self.reply = told(REPLY, ask=ask, entry_id=f"entry-{len(self.asked) + 1}")
        return await super().__call__(ask, on_stage)


async def test_change_and_a_pasted_customer_over_the_wire(bots: Bots, channel: FakeChannel, system: System) -> None:
    bot = await bots.start(answer=Remembering(), knowledge=PersonsKnowledge(system))
    await bot.post(channel.inbound("What does Watch Plus cost in Austria?"))
    [message] = await channel.until_messages(1)
    assert check_activity(message) == []
    line = words_of(message["attachments"][0]["content"]["body"][0]["columns"][0]["items"][0])
    assert line == "In view: Watch Plus · Austria"
    [folded] = [i for i in message["attachments"][0]["content"]["body"] if i.get("id") == "view"]
    again = folded["items"][1]["actions"][0]
    await bot.post(channel.inbound(None, value={**again["data"], "about": "Norway"}))
    await channel.until_messages(2)
    assert bot.answer.asked[1].question == "What does Watch Plus cost in Norway?"
    assert bot.answer.asked[1].history == (), "what was said of Austria does not belong to it"
    await bot.post(channel.inbound("Customer: I have the Wren X2.\nAgent: Yes?\nCustomer: Does it work in Norway?"))
    await channel.until_messages(3)
    await bot.post(channel.inbound("And in Austria?"))
    await channel.until_messages(4)
    said = [turn.text for turn in bot.answer.asked[3].history]
    assert said == ["I have the Wren X2.", "Yes?", "Does it work in Norway?", REPLY.answer], (
        "the customer before is gone"
    )


async def test_what_a_file_names_is_in_view_of_the_question_that_comes_with_it(
    bots: Bots, channel: FakeChannel, system: System
) -> None:
    async def give(_: web.Request) -> web.Response:
        return web.Response(text="I have the Wren X2 and live in Norway.")

    app = web.Application()
    app.router.add_get("/case.txt", give)
    async with TestServer(app) as server:
        bot = await bots.start(answer=Remembering(), knowledge=PersonsKnowledge(system))
        file = {"contentType": FILE, "name": "case.txt", "content": {"downloadUrl": str(server.make_url("/case.txt"))}}
        await bot.post(channel.inbound("What does it cost?", attachments=[file]))
        [message] = await channel.until_messages(1)
    assert line_of(message["attachments"][0]["content"]) == "In view: Wren X2 · Norway"
