"""The known traps of botbuilder 4.17.1 and of Teams, each closed, and each watched: if the SDK changes, a test says so.

`stock` is what the SDK does when nobody has patched it, found out in a process of its own.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from botbuilder.schema import Activity
from msrest.universal_http.requests import ClientRetryPolicy

from bot.records import Ask
from bot.settings.load import load_settings
from bot.state import State
from bot.teams.delivery.outbox import Outbox
from bot.teams.delivery.progress import progress
from bot.teams.history import ConversationHistory
from bot.teams.ports import SendFailed
from bot.teams.transports.botbuilder import BotbuilderTransport, KeptCredentials
from grounding.records import Turn
from tests.bot.teams.conftest import Bots, FakeAnswer
from tests.fakes.channel import FakeChannel, Fault

CITED = {
    "type": "https://schema.org/Message",
    "@type": "Message",
    "@context": "https://schema.org",
    "additionalType": ["AIGeneratedContent"],
    "citation": [{"@type": "Claim", "position": 1, "appearance": {"@type": "DigitalDocument", "name": "A"}}],
}

STOCK = r"""
import asyncio, json
from types import SimpleNamespace
from aiohttp import ClientSession, web
from aiohttp.test_utils import TestServer
from botbuilder.core import ActivityHandler, ShowTypingMiddleware, TurnContext
from botbuilder.core.adapters import TestAdapter
from botbuilder.integration.aiohttp import (
    CloudAdapter, ConfigurationBotFrameworkAuthentication, ConfigurationServiceClientCredentialFactory)
from botbuilder.schema import Activity
from botframework.connector.auth.jwt_token_extractor import _OpenIdMetadata
from msrest.universal_http.requests import ClientRetryPolicy

entity = json.loads(ENTITY)
out = {"entity": Activity.deserialize({"type": "message", "entities": [entity]}).serialize()["entities"][0]}
out["codes"] = sorted(ClientRetryPolicy().policy.status_forcelist)
out["codes_type"] = type(ClientRetryPolicy.safe_codes).__name__
registration = SimpleNamespace(APP_ID="a", APP_PASSWORD="p", APP_TYPE="MultiTenant", APP_TENANTID="")

class Echo(ActivityHandler):
    async def on_invoke_activity(self, context):
        return self._create_invoke_response({"a": 1})

async def main():
    factory = ConfigurationServiceClientCredentialFactory(registration)
    made = [await factory.create_credentials("a", "s", "https://login.microsoftonline.com/x", True) for _ in "ab"]
    out["credentials_kept"] = made[0] is made[1]
    keys = _OpenIdMetadata("unused")
    keys.keys = [{"kid": "k1"}]
    try:
        keys._find("k2")
        out["unknown_key"] = "none"
    except Exception as error:
        out["unknown_key"] = type(error).__name__
    adapter = CloudAdapter(ConfigurationBotFrameworkAuthentication(SimpleNamespace(APP_ID="", APP_PASSWORD="")))
    app = web.Application()
    app.router.add_post("/", lambda request: adapter.process(request, Echo()))
    async with TestServer(app) as server, ClientSession() as session:
        url = f"http://127.0.0.1:{server.port}/"
        base = {"type": "invoke", "name": "x/y", "channelId": "msteams", "serviceUrl": "http://127.0.0.1:1/",
                "from": {"id": "u"}, "recipient": {"id": "b"}, "conversation": {"id": "c"}}
        out["invoke"] = (await session.post(url, json={**base, "value": {"a": 1}})).status
        replies = {**base, "type": "message", "text": "x", "deliveryMode": "expectReplies"}
        out["expect_replies"] = (await session.post(url, json=replies)).status
        out["malformed"] = (await session.post(url, data=b"{", headers={"Content-Type": "application/json"})).status
        bearer = {"Authorization": "Bearer not.a.jwt"}
        out["bad_token"] = (await session.post(url, json=replies, headers=bearer)).status

asyncio.run(main())
print(json.dumps(out))
"""


@pytest.fixture(scope="module")
def stock() -> dict[str, Any]:
    code = f"ENTITY = {json.dumps(json.dumps(CITED))}\n{STOCK}"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=True)
    return dict(json.loads(run.stdout.splitlines()[-1]))


def test_1_entities_keep_their_fields(stock: dict[str, Any]) -> None:
    assert Activity.deserialize({"type": "message", "entities": [CITED]}).serialize()["entities"] == [CITED]
    assert stock["entity"] == {"type": CITED["type"]}, "botbuilder now keeps entity fields: drop the patch"


async def test_1_entities_keep_their_fields_on_the_wire(bots: Bots, channel: FakeChannel) -> None:
    bot = await bots.start()
    await bot.post(channel.inbound())
    [message] = await channel.until_messages(1)
    root = next(e for e in message["entities"] if e["type"] == CITED["type"])
    assert root["citation"][0]["appearance"]["abstract"] == "within 30 days"


async def test_2_invokes_and_expect_replies_are_answered(
    bots: Bots, channel: FakeChannel, stock: dict[str, Any]
) -> None:
    bot = await bots.start()
    value = {"actionName": "feedback", "actionValue": {"reaction": "like", "feedback": {"feedbackText": "good"}}}
    invoke = channel.inbound(None, type="invoke", name="message/submitAction", value=value)
    assert (await bot.post(invoke)).status == 200
    assert (await bot.post(channel.inbound(deliveryMode="expectReplies"))).status == 200
    assert (stock["invoke"], stock["expect_replies"]) == (500, 500), "CloudAdapter.process now answers these"


def test_3_and_4_the_stock_handler_still_fails_on_hostile_requests(stock: dict[str, Any]) -> None:
    """What the door does instead is in test_endpoint.py and test_tokens.py."""
    assert (stock["malformed"], stock["bad_token"]) == (500, 500), "CloudAdapter.process has got better"


def test_5_retry_codes_are_a_set_and_mean_the_same(stock: dict[str, Any]) -> None:
    codes: Any = ClientRetryPolicy.safe_codes
    assert isinstance(codes, frozenset)
    policy: Any = ClientRetryPolicy
    assert sorted(policy().policy.status_forcelist) == stock["codes"]
    assert stock["codes_type"] == "list", "msrest no longer scans a list: drop the patch"


async def test_6_a_slow_channel_does_not_hold_up_other_conversations(bots: Bots, channel: FakeChannel) -> None:
    channel.go_on.clear()
    bot = await bots.start()
    count = 40
    for n in range(count):
        place = {"id": f"19:group-{n}@thread.v2", "conversationType": "groupChat"}
        assert (await bot.post(channel.inbound(f"question {n}", conversation=place))).status == 202
    stock_pool = 6  # threads of the default pool on two cores
    await channel.until(lambda c: len(c.pending) > 2 * stock_pool)
    channel.go_on.set()
    await channel.until_messages(count)
    assert sorted(a.question for a in bot.answer.asked) == sorted(f"question {n}" for n in range(count))


async def test_7_typing_stops_when_the_turn_raises(channel: FakeChannel, tmp_path: Path) -> None:
    transport = BotbuilderTransport(load_settings(home=tmp_path))
    await transport.start()
    try:
        place = {"id": "19:group@thread.v2", "conversationType": "groupChat"}

        async def turn() -> None:
            async with progress(Outbox(transport), channel.inbound(conversation=place), every_s=0.02):
                await channel.until(lambda c: len(c.typings) >= 3)
                raise RuntimeError

        with pytest.raises(RuntimeError):
            await turn()
        shown = len(channel.typings)
        await asyncio.sleep(0.2)
        assert len(channel.typings) == shown
    finally:
        await transport.close()


async def test_8_the_post_is_answered_before_the_turn_ends(bots: Bots, channel: FakeChannel) -> None:
    may_end = asyncio.Event()

    async def wait(_: Ask) -> None:
        await may_end.wait()

    bot = await bots.start(answer=FakeAnswer(then=wait))
    assert (await bot.post(channel.inbound())).status == 202
    assert channel.messages == []
    may_end.set()
    await channel.until_messages(1)


async def test_9_no_turn_is_lost_when_two_are_kept_at_once(tmp_path: Path, channel: FakeChannel) -> None:
    state = State(tmp_path / "state.db")
    await state.open()
    history = ConversationHistory(state, days=30, keep=100)
    inbound = channel.inbound()
    await asyncio.gather(*(history.remember(inbound, [Turn("user", f"turn {n}")]) for n in range(30)))
    assert {t.text for t in (await history.kept(inbound)).turns} == {f"turn {n}" for n in range(30)}
    await state.close()


async def test_10_forms_of_the_agents_playground_are_accepted(bots: Bots, channel: FakeChannel) -> None:
    bot = await bots.start()
    inbound = channel.inbound(serviceUrl="http://localhost:56150/_connector", deliveryMode="expectReplies")
    assert (await bot.post(inbound)).status == 200
    value = {"actionName": "feedback", "actionValue": {"reaction": "like", "feedback": "good"}}
    invoke = channel.inbound(None, type="invoke", name="message/submitAction", value=value, replyToId="m1")
    assert (await bot.post(invoke)).status == 200
    assert bot.ledger.of("feedback")[0]["text"] == "good"


def test_10_the_playground_is_not_vendored() -> None:
    root = Path(__file__).parents[3]
    listed = subprocess.run(["git", "-C", str(root), "ls-files"], capture_output=True, text=True, check=False).stdout
    assert not [p for p in listed.splitlines() if "agentsplayground" in p or "teams-app-test-tool" in p]


async def test_credentials_are_kept_so_that_tokens_are(stock: dict[str, Any]) -> None:
    registration = SimpleNamespace(APP_ID="a", APP_PASSWORD="p", APP_TYPE="MultiTenant", APP_TENANTID="")
    factory = KeptCredentials(registration)
    made = [await factory.create_credentials("a", "s", "https://login.microsoftonline.com/x", True) for _ in "ab"]
    assert made[0] is made[1]
    assert stock["credentials_kept"] is False, "botbuilder now keeps credentials: drop the subclass"


def test_an_unknown_signing_key_is_an_index_error_in_the_sdk(stock: dict[str, Any]) -> None:
    assert stock["unknown_key"] == "IndexError", "botbuilder now refreshes on an unknown key: keys.py may go"


async def test_the_sdk_neither_retries_nor_hides_the_status(channel: FakeChannel, tmp_path: Path) -> None:
    transport = BotbuilderTransport(load_settings(home=tmp_path))
    await transport.start()
    try:
        inbound = channel.inbound()
        activity = {**inbound, "text": "x", "from": inbound["recipient"], "recipient": inbound["from"]}
        for status in (429, 500, 502, 503, 403):
            channel.faults.append(Fault(status, code="Busy", message="slow down", retry_after="7"))
            with pytest.raises(SendFailed) as failed:
                await transport.send(activity)
            error = failed.value
            assert (error.status, error.code, error.detail, error.retry_after) == (status, "Busy", "slow down", 7.0)
        assert len(channel.taken) == 5
    finally:
        await transport.close()


async def test_a_conversation_id_stays_one_segment_of_the_path(bots: Bots, channel: FakeChannel) -> None:
    bot = await bots.start()
    place = {"id": "19:a%2f..@thread.tacv2;messageid=17", "conversationType": "channel"}
    refused = await bot.post(channel.inbound(conversation=place))
    assert refused.status == 400
    place["id"] = "19:a%2fb@thread.tacv2;messageid=17"
    await bot.post(channel.inbound(conversation=place))
    await channel.until_messages(1)
    assert {t.conversation for t in channel.taken} == {place["id"]}


async def test_a_service_that_is_gone_is_a_failure_without_status(tmp_path: Path, channel: FakeChannel) -> None:
    transport = BotbuilderTransport(load_settings(home=tmp_path))
    inbound = channel.inbound(serviceUrl="http://127.0.0.1:9/")
    with pytest.raises(SendFailed):  # not started
        await transport.send({**inbound, "from": inbound["recipient"], "recipient": inbound["from"]})
    await transport.start()
    try:
        with pytest.raises(SendFailed) as failed:
            await transport.send({**inbound, "from": inbound["recipient"], "recipient": inbound["from"]})
        assert (failed.value.status, failed.value.unsent) == (None, True)
    finally:
        await transport.close()
