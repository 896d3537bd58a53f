"""The guarded door: no hostile request is answered with a 500, and none reaches the answer."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.teams.guard import RefusedRequest, check_local_request, check_service_url, check_tenant, read_activity
from tests.bot.teams.conftest import Bots
from tests.fakes.channel import FakeChannel
from tests.tables import Tables

TABLES = Tables(__file__)

JSON = {"Content-Type": "application/json"}
HOSTS = (".botframework.com", "smba.trafficmanager.net")


def _with(channel: FakeChannel, **changes: Any) -> bytes:
    return json.dumps(channel.inbound() | changes).encode()


def _without(channel: FakeChannel, name: str) -> bytes:
    return json.dumps({k: v for k, v in channel.inbound().items() if k != name}).encode()


def _hostile(c: FakeChannel) -> list[tuple[str, bytes, dict[str, str], int]]:
    """Name, body, headers, status: the inbound matrix."""
    good = json.dumps(c.inbound()).encode()
    deep = b'{"a":' * 100_000 + b"1" + b"}" * 100_000
    fields = [(row["id"], value) for row in TABLES.tables["fields"] for value in row["values"]]
    fields.append(("conversation", {"id": "x" * 600}))
    return [
        ("no content type", good, {}, 415),
        ("text/plain", good, {"Content-Type": "text/plain"}, 415),
        ("form", good, {"Content-Type": "application/x-www-form-urlencoded"}, 415),
        ("unknown charset", good, {"Content-Type": "application/json; charset=nope"}, 400),
        ("malformed", b"{", JSON, 400),
        ("empty", b"", JSON, 400),
        ("invalid UTF-8", b'{"a":"\xff"}', JSON, 400),
        ("lone surrogate", _with(c, text="\ud800"), JSON, 400),
        ("deep", deep, JSON, 400),
        ("deep but parsable", b'{"value":' + b"[" * 200 + b"]" * 200 + b"}", JSON, 400),
        ("NaN", b'{"value":NaN}', JSON, 400),
        ("huge number", b'{"value":' + b"1" * 5000 + b"}", JSON, 400),
        *((f"{v} body", v.encode(), JSON, 400) for v in ("null", "[]", "1", '"text"', "{}", "true")),
        ("over 1 MiB", _with(c, text="x" * 1_100_000), JSON, 413),
        ("broken gzip", b"not gzip", {**JSON, "Content-Encoding": "gzip"}, 415),
        ("gzip bomb", gzip.compress(b" " * 20_000_000), {**JSON, "Content-Encoding": "gzip"}, 415),
        ("garbage token", good, {**JSON, "Authorization": "garbage"}, 401),
        ("not a token", good, {**JSON, "Authorization": "Bearer not.a.jwt"}, 401),
        ("foreign host", good, {**JSON, "Host": "evil.example"}, 403),
        ("foreign page", good, {**JSON, "Origin": "https://evil.example"}, 403),
        *((f"no {name}", _without(c, name), JSON, 400) for name in ("type", "conversation", "from", "serviceUrl")),
        *((f"{name}={str(value)[:20]!r}", _with(c, **{name: value}), JSON, 400) for name, value in fields),
    ]


async def test_no_hostile_request_gives_a_500_or_reaches_the_answer(bots: Bots, channel: FakeChannel) -> None:
    bot = await bots.start()
    wrong = []
    for name, body, headers, status in _hostile(channel):
        skip = [] if "Content-Type" in headers else ["Content-Type"]
        async with bot.session.post(bot.url, data=body, headers=headers, skip_auto_headers=skip) as reply:
            if reply.status != status:
                wrong.append((name, reply.status, status))
    assert wrong == []
    assert bot.answer.asked == []
    assert channel.taken == []


async def test_forms_that_real_channels_send_are_taken(bots: Bots, channel: FakeChannel) -> None:
    bot = await bots.start()
    body = json.dumps(channel.inbound()).encode()
    for kind in ("application/json", "APPLICATION/JSON", "application/json; charset=utf-8"):
        async with bot.session.post(bot.url, data=body, headers={"Content-Type": kind}) as reply:
            assert reply.status == 202
    without_recipient = channel.inbound(recipient=None, channelId="directline")
    without_id = channel.inbound(id=None, channelData=None)
    for activity in (without_recipient, without_id, channel.inbound(timestamp=None, locale=None, textFormat=None)):
        assert (await bot.post(activity)).status == 202
    await channel.until_messages(4)


@pytest.mark.parametrize("method", ["GET", "PUT", "OPTIONS", "HEAD", "DELETE", "PATCH"])
async def test_only_post_is_served(bots: Bots, method: str) -> None:
    bot = await bots.start()
    async with bot.session.request(method, bot.url) as reply:
        assert reply.status == 405


async def test_off_loopback_an_anonymous_door_is_shut(bots: Bots, channel: FakeChannel) -> None:
    bot = await bots.start(host="0.0.0.0")
    for url, status in ((channel.service_url, 400), ("https://smba.trafficmanager.net/emea/", 401)):
        assert (await bot.post(channel.inbound(serviceUrl=url))).status == status


@pytest.mark.parametrize("settings", [{"api_keys": "k"}, {"public_url": "https://a.example"}, {"local": "off"}])
async def test_outside_local_mode_an_anonymous_door_is_shut(
    bots: Bots, channel: FakeChannel, settings: dict[str, Any]
) -> None:
    """From this machine too: a reverse proxy on it makes everyone seem to be here."""
    bot = await bots.start(**settings)
    assert (await bot.post(channel.inbound())).status == 401
    assert bot.answer.asked == []


@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded", "X-Forwarded-Proto", "Via"])
async def test_an_anonymous_door_takes_nothing_that_a_proxy_passed_on(
    bots: Bots, channel: FakeChannel, header: str
) -> None:
    bot = await bots.start()
    assert (await bot.post(channel.inbound(), headers={header: "127.0.0.1"})).status == 403
    assert bot.answer.asked == []


@TABLES.each("allowed_urls", "url")
def test_service_urls_that_are_allowed(url: str) -> None:
    check_service_url(url, HOSTS, loopback=True)


@TABLES.each("refused_urls", "url")
def test_service_urls_that_are_refused(url: str) -> None:
    with pytest.raises(RefusedRequest):
        check_service_url(url, HOSTS, loopback=True)


def test_loopback_is_refused_when_the_server_is_not_on_loopback() -> None:
    with pytest.raises(RefusedRequest):
        check_service_url("http://localhost:56150/_connector", HOSTS, loopback=False)


@TABLES.each("tenants")
def test_tenants(conversation: str | None, data: str | None, allowed: bool) -> None:
    activity = {"conversation": {"id": "c", "tenantId": conversation}, "channelData": {"tenant": {"id": data}}}
    if allowed:
        check_tenant(activity, ("t1", "t2"))
        return
    with pytest.raises(RefusedRequest) as refused:
        check_tenant(activity, ("t1", "t2"))
    assert refused.value.status == 403


def test_no_list_of_tenants_allows_none() -> None:
    with pytest.raises(RefusedRequest):
        check_tenant({"conversation": {"id": "c", "tenantId": "t1"}}, ())


@pytest.mark.parametrize("host", [None, "", "evil.example", "127.0.0.1.evil.example", "[::1"])
def test_foreign_hosts_are_refused(host: str | None) -> None:
    with pytest.raises(RefusedRequest):
        check_local_request(host, None)


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
_FIELDS = ("type", "channelId", "serviceUrl", "conversation", "from", "recipient", "id", "text", "entities", "value")


@given(body=st.dictionaries(st.sampled_from(_FIELDS), _json) | _json)
@settings(max_examples=100, deadline=None)
def test_any_json_is_either_an_activity_or_refused(body: Any) -> None:
    try:
        activity = read_activity(json.dumps(body).encode(), None)
    except RefusedRequest:
        return
    assert isinstance(activity["conversation"]["id"], str)
    json.dumps(activity, ensure_ascii=False).encode()


@given(raw=st.binary(max_size=200), charset=st.sampled_from([None, "utf-8", "utf-16", "rot13", "hex", "nope", "idna"]))
@settings(max_examples=200, deadline=None)
def test_any_bytes_are_either_an_activity_or_refused(raw: bytes, charset: str | None) -> None:
    with pytest.raises(RefusedRequest):
        read_activity(raw, charset)
