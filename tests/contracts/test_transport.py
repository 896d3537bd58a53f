"""The contract of `Transport`, over each SDK that carries activities, against a fake channel over real HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from bot.settings.load import load_settings
from bot.teams.ports import SendFailed, Transport, Unauthorized
from bot.teams.transports import agents_sdk, botbuilder
from bot.teams.transports.chosen import transport_for
from tests.bot.teams.conftest import SDKS
from tests.fakes.channel import FakeChannel, Fault

Json = dict[str, Any]
ENTITIES: list[Json] = [
    {
        "type": "https://schema.org/Message",
        "@type": "Message",
        "@context": "https://schema.org",
        "@id": "",
        "additionalType": ["AIGeneratedContent"],
        "usageInfo": {"@type": "CreativeWork", "@id": "label-7"},
        "citation": [
            {
                "@type": "Claim",
                "position": 1,
                "appearance": {
                    "@type": "DigitalDocument",
                    "name": "Returns",
                    "abstract": "within 30 days",
                    "keywords": ["returns"],
                    "image": {"@type": "ImageObject", "name": "PDF"},
                },
            }
        ],
    },
    {"type": "streaminfo", "streamType": "final"},
]
CARD: Json = {"type": "AdaptiveCard", "version": "1.5", "body": [{"type": "TextBlock", "text": "x"}], "actions": []}
COMPOSE: Json = {
    "type": "Action.Compose",
    "title": "Use",
    "value": {"type": "Teams.chatMessage", "data": {"body": {"contentType": "html", "content": "<p>x</p>"}}},
}


@pytest.fixture(params=SDKS)
async def transport(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Transport]:
    made = transport_for(load_settings(home=tmp_path, bot_sdk=request.param))
    await made.start()
    yield made
    await made.close()


@pytest.fixture
async def channel() -> AsyncIterator[FakeChannel]:
    async with FakeChannel() as running:
        yield running


def outgoing(channel: FakeChannel, **changes: Any) -> Json:
    """A message from the bot to who wrote last."""
    inbound = channel.inbound()
    kept = {name: inbound[name] for name in ("type", "channelId", "serviceUrl", "conversation")}
    made = {
        **kept,
        "from": inbound["recipient"],
        "recipient": inbound["from"],
        "text": "Within 30 days [1].",
        **changes,
    }
    return {name: value for name, value in made.items() if value is not None}


async def test_a_message_arrives_as_it_was_made(transport: Transport, channel: FakeChannel) -> None:
    """Every field of a citation, of a label, of a card and of a button that the client draws."""
    made = outgoing(
        channel,
        textFormat="markdown",
        entities=ENTITIES,
        attachments=[{"contentType": "application/vnd.microsoft.card.adaptive", "content": CARD}],
        suggestedActions={"to": ["29:user"], "actions": [{"type": "imBack", "title": "a", "value": "a"}, COMPOSE]},
        channelData={"feedbackLoop": {"type": "default"}, "notification": {"alert": True}},
    )
    assert await transport.send(made) == "out-1"
    [taken] = channel.taken
    assert (taken.method, taken.conversation, taken.activity_id) == ("POST", "a:chat-1", None)
    where = taken.body.pop("conversation")  # the channel goes by its id; one SDK leaves the tenant out
    assert (where["id"], taken.body) == (made.pop("conversation")["id"], made)
    assert taken.authorization is None


async def test_a_reply_goes_below_what_it_answers(transport: Transport, channel: FakeChannel) -> None:
    await transport.send(outgoing(channel, replyToId="in-7"))
    assert (channel.taken[0].method, channel.taken[0].activity_id) == ("POST", "in-7")


async def test_what_was_sent_is_replaced(transport: Transport, channel: FakeChannel) -> None:
    await transport.update(outgoing(channel, id="out-3", text="Within 14 days [1].", entities=ENTITIES))
    [taken] = channel.taken
    assert (taken.method, taken.activity_id, taken.body["text"]) == ("PUT", "out-3", "Within 14 days [1].")
    assert taken.body["entities"] == ENTITIES


async def test_a_part_of_a_stream_has_an_id_of_its_own_only_at_first(
    transport: Transport, channel: FakeChannel
) -> None:
    part: Json = {"type": "streaminfo", "streamType": "informative", "streamSequence": 1}
    assert await transport.send(outgoing(channel, type="typing", entities=[part])) == "out-1"
    later = part | {"streamId": "out-1", "streamSequence": 2}
    assert await transport.send(outgoing(channel, type="typing", entities=[later])) is None
    assert [t.body["entities"] for t in channel.taken] == [[part], [later]]


@pytest.mark.parametrize("name", ["19:a%2fb@thread.tacv2;messageid=17", "19:a b+c@thread.v2", "a:" + "x" * 300])
async def test_an_id_stays_whole_and_one_segment_of_the_path(
    transport: Transport, channel: FakeChannel, name: str
) -> None:
    await transport.send(outgoing(channel, conversation={"id": name}))
    assert [t.conversation for t in channel.taken] == [name]


@pytest.mark.parametrize("status", [400, 403, 404, 412, 413, 429, 500, 502, 503])
async def test_a_refusal_is_told_as_the_channel_says_it_and_not_repeated(
    transport: Transport, channel: FakeChannel, status: int
) -> None:
    for send in (transport.send, transport.update):
        channel.faults.append(Fault(status, code="Busy", message="slow down", retry_after="7"))
        with pytest.raises(SendFailed) as failed:
            await send(outgoing(channel, id="out-1"))
        error = failed.value
        assert (error.status, error.code, error.detail, error.retry_after) == (status, "Busy", "slow down", 7.0)
        assert not error.unsent
    assert len(channel.taken) == 2


async def test_a_redirect_is_not_followed(transport: Transport, channel: FakeChannel) -> None:
    for status in (301, 302, 307, 308):
        channel.faults.append(Fault(status, location="/elsewhere"))
        with pytest.raises(SendFailed) as failed:
            await transport.send(outgoing(channel))
        assert not failed.value.unsent
    assert len(channel.taken) == 4


async def test_nobody_there_means_that_it_was_not_sent(transport: Transport, channel: FakeChannel) -> None:
    with pytest.raises(SendFailed) as failed:
        await transport.send(outgoing(channel, serviceUrl="http://127.0.0.1:9/"))
    assert (failed.value.status, failed.value.unsent) == (None, True)


async def test_a_silent_channel_is_given_up_and_may_have_it(
    transport: Transport, channel: FakeChannel, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (agents_sdk, botbuilder):
        monkeypatch.setattr(module, "SEND_TIMEOUT_S", 0.3)
    channel.go_on.clear()
    with pytest.raises(SendFailed) as failed:
        await transport.send(outgoing(channel))
    channel.go_on.set()
    assert (failed.value.status, failed.value.unsent) == (None, False)


@pytest.mark.parametrize("answer", ["", "[]", "null", '{"id": ""}', "<p>taken</p>"])
async def test_what_is_taken_without_an_id_has_none(transport: Transport, answer: str) -> None:
    async def take(_: web.Request) -> web.Response:
        return web.Response(status=201, text=answer, content_type="application/json")

    app = web.Application()
    app.router.add_route("*", "/{any:.*}", take)
    async with TestServer(app) as server, FakeChannel() as channel:
        activity = outgoing(channel, serviceUrl=f"http://127.0.0.1:{server.port}/")
        assert await transport.send(activity) is None
        await transport.update(activity | {"id": "out-1"})


@pytest.mark.parametrize("wrong", [{"from": 7}, {"text": object()}])
async def test_what_cannot_be_sent_is_never_taken_for_sent(
    transport: Transport, channel: FakeChannel, wrong: dict[str, Any]
) -> None:
    """A mistake of ours, which is no answer of the channel."""
    try:
        await transport.send(outgoing(channel, **wrong))
    except Exception:  # noqa: BLE001  # whatever it is called
        assert [t.body for t in channel.taken] == []
    else:
        assert len(channel.taken) == 1


async def test_many_sends_wait_side_by_side(transport: Transport, channel: FakeChannel) -> None:
    channel.go_on.clear()
    sends = [asyncio.create_task(transport.send(outgoing(channel, text=f"{n}"))) for n in range(40)]
    await channel.until(lambda c: len(c.pending) == len(sends))
    channel.go_on.set()
    assert len(set(await asyncio.gather(*sends))) == len(sends)


async def test_before_its_start_and_after_its_end_nothing_is_sent(channel: FakeChannel, tmp_path: Path) -> None:
    for sdk in SDKS:
        made = transport_for(load_settings(home=tmp_path, bot_sdk=sdk))
        for _ in range(2):
            with pytest.raises(SendFailed) as failed:
                await made.send(outgoing(channel))
            assert failed.value.unsent
            await made.start()
            await made.close()
            await made.close()
    assert channel.taken == []


async def test_without_registration_who_shows_a_token_is_refused(transport: Transport, channel: FakeChannel) -> None:
    await transport.authenticate(channel.inbound(), "")
    for header in ("garbage", "Bearer", "Bearer not.a.jwt"):
        with pytest.raises(Unauthorized):
            await transport.authenticate(channel.inbound(), header)
