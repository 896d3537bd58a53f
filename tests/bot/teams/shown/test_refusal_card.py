"""The card below a refusal: one press reports it, on the wire and in every form that channels send."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bot.records import Refusal, Reply
from bot.teams.shown.message_limits import check_activity
from bot.teams.shown.refusal_card import VERB, read_pressed, report_card
from bot.teams.shown.render import render
from bot.view.reply import view_of
from bot.wording.refusals import refusal_text, texts
from rai.records import Outcome
from tests.bot.teams.conftest import REPLY, Bots, FakeAnswer, FakeLedger, RunningBot
from tests.fakes.channel import FakeChannel

Json = dict[str, Any]
REFUSED = Reply(Outcome.BLOCKED, refusal_text("violence", "de"), entry_id="e1", refusal=Refusal("violence", "de"))
ADA = "00000000-0000-0000-0000-00000000ada1"


def button(message: Json) -> Json:
    [attachment] = message["attachments"]
    [action] = attachment["content"]["actions"]
    return dict(action)


async def started(bots: Bots, *, user: str | None = ADA, conversation: str = "a:chat-1") -> RunningBot:
    """A bot whose ledger holds the refused turn e1."""
    ledger = FakeLedger()
    ask = {"question": "?", "user": user, "channel": "msteams", "conversation": conversation}
    await ledger.append("turn", {"ask": ask, "reply": {"outcome": "blocked"}})
    return await bots.start(answer=FakeAnswer(REFUSED), ledger=ledger)


def test_only_a_refusal_that_is_recorded_has_a_card() -> None:
    assert report_card(view_of(REPLY)) == []
    assert report_card(view_of(replace(REFUSED, entry_id=""))) == []
    message = render(REFUSED, teams=True)
    assert check_activity(message) == []
    assert button(message)["title"] == texts()["de"].report
    assert "VI-" not in str(message)
    assert button(render(REFUSED, teams=False))["fallback"]["type"] == "Action.Submit"


async def test_the_card_survives_the_sdk_and_one_press_reports(bots: Bots, channel: FakeChannel) -> None:
    bot = await started(bots)
    await bot.post(channel.inbound())
    [message] = await channel.until_messages(1)
    action = button(message)
    assert (action["type"], action["verb"]) == ("Action.Execute", VERB)
    data = {**action["data"], "comment": "Ich meinte den Prozess."}
    value = {"action": {"type": "Action.Execute", "verb": action["verb"], "data": data}, "trigger": "manual"}
    for _ in range(2):  # pressed twice, recorded once
        reply = await bot.post(channel.inbound(None, type="invoke", name="adaptiveCard/action", value=value))
        body = await reply.json()
        assert (reply.status, body["statusCode"]) == (200, 200)
        assert body["value"]["body"][0]["text"] == texts()["de"].reported
        assert "actions" not in body["value"]
    [entry] = bot.ledger.of("refusal_report")
    assert entry == {
        "schema": 2,
        "entry_id": "e1",
        "user": ADA,
        "actor": {"user": ADA, "authenticated_by": "local", "tenant": "tenant-1"},
        "channel": "msteams",
        "comment": "Ich meinte den Prozess.",
    }


async def test_where_a_button_is_a_message_the_same_is_done(bots: Bots, channel: FakeChannel) -> None:
    bot = await started(bots)
    await bot.post(channel.inbound(None, value={"verb": VERB, "entry_id": "e1", "language": "de"}))
    [message] = await channel.until_messages(1)
    assert message["text"] == texts()["de"].reported
    assert [kind for kind, _ in bot.ledger.appended] == ["turn", "refusal_report"]
    assert bot.answer.asked == []


@pytest.mark.parametrize("where", [{"user": "somebody-else"}, {"conversation": "a:chat-2"}])
async def test_a_forged_card_reports_nothing(bots: Bots, channel: FakeChannel, where: dict[str, str]) -> None:
    bot = await started(bots, **where)
    value = {"action": {"type": "Action.Execute", "verb": VERB, "data": {"entry_id": "e1"}}}
    reply = await bot.post(channel.inbound(None, type="invoke", name="adaptiveCard/action", value=value))
    assert (reply.status, (await reply.json())["statusCode"]) == (200, 400)
    await bot.post(channel.inbound(None, value={"verb": VERB, "entry_id": "e1"}))
    [message] = await channel.until_messages(1)
    assert "no refused question of yours" in message["text"]
    assert len(bot.ledger.appended) == 1


async def test_a_ledger_that_is_locked_confirms_nothing(bots: Bots, channel: FakeChannel) -> None:
    bot = await started(bots)
    bot.ledger.broken = True
    value = {"action": {"verb": VERB, "data": {"entry_id": "e1"}}}
    assert (await bot.post(channel.inbound(None, type="invoke", name="adaptiveCard/action", value=value))).status == 503
    await bot.post(channel.inbound(None, value={"verb": VERB, "entry_id": "e1"}))
    [message] = await channel.until_messages(1)
    assert texts()["en"].reported not in message["text"]


@pytest.mark.parametrize(
    "value",
    [
        None,
        "x",
        [],
        {},
        {"verb": "other", "entry_id": "e1"},
        {"verb": VERB},
        {"verb": VERB, "entry_id": 7},
        {"action": {"verb": VERB}},
        {"action": {"verb": VERB, "data": []}},
        {"action": []},
    ],
)
def test_what_is_not_this_button(value: Any) -> None:
    assert read_pressed(value) is None


def test_strange_words_and_languages_do_no_harm() -> None:
    pressed = read_pressed({"verb": VERB, "entry_id": "e1", "comment": {"a": 1}, "language": "xx"})
    assert pressed is not None
    assert (pressed.comment, pressed.language) == ("", "en")


async def test_an_unknown_button_is_no_invoke_of_ours(bots: Bots, channel: FakeChannel) -> None:
    bot = await started(bots)
    value = {"action": {"type": "Action.Execute", "verb": "other", "data": {}}}
    assert (await bot.post(channel.inbound(None, type="invoke", name="adaptiveCard/action", value=value))).status == 501
