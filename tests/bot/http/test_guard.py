"""Who gets in: in local mode this machine alone, outside it whoever brings a key, whoever the peer is."""

from __future__ import annotations

import asyncio
from asyncio import Transport
from contextlib import nullcontext
from typing import Any
from unittest import mock

import pytest
from aiohttp.test_utils import make_mocked_request

from bot.http.errors import Refused
from bot.http.guard import require_local
from bot.records import Ask, Reply
from bot.server.app import build_app
from tests.bot.http.conftest import Client, Start
from tests.fakes.system import Fake, fake_system

ASK = {"question": "How do I return something?"}
CHECK = {"answer": "It takes 30 days.", "sources": [{"id": "s", "text": "It takes 30 days."}]}
KEY = {"Authorization": "Bearer first-key"}
PAGES = ("/chat", "/chat/options", "/review", "/chat/evidence/x", "/nothing-here", "/healthz", "/static/chat.js")
OUTSIDE: dict[str, dict[str, Any]] = {
    "bot id": {
        "bot_app_id": "11111111-2222-3333-4444-555555555555",
        "bot_tenant_id": "tenant-1",
        "bot_app_password": "not-a-secret",
    },
    "keys": {"api_keys": "first-key,second-key"},
    "public url": {"public_url": "https://attest.example"},
    "outer host": {"host": "0.0.0.0"},
    "switched off": {"local": "off"},
}


@pytest.mark.parametrize(
    ("address", "local"),
    [
        ("127.0.0.1", True),
        ("127.8.9.1", True),
        ("::1", True),
        ("::ffff:127.0.0.1", True),
        ("::ffff:10.0.0.1", False),
        ("10.0.0.1", False),
        ("0.0.0.0", False),
        ("fe80::1%eth0", False),
        ("", False),
        ("localhost.evil.example", False),
    ],
)
def test_whether_a_peer_is_this_machine_is_a_matter_of_its_address(address: str, local: bool, fake: Fake) -> None:
    connection = mock.Mock(Transport, get_extra_info={"peername": (address, 50000)}.get)
    headers = {"Host": "127.0.0.1"}
    request = make_mocked_request("GET", "/chat", headers, app=build_app(fake.system), transport=connection)
    with nullcontext() if local else pytest.raises(Refused) as refused:
        require_local(request)
    assert refused is None or refused.value.code == "loopback_only"


# in local mode


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "evil.example:3978"},
        {"Host": "127.0.0.1.evil.example"},
        {"Host": "localhost.evil.example:80"},
        {"Host": "127.0.0.1@evil.example"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"},
    ],
)
async def test_requests_that_are_not_this_machines_own_are_refused(
    client: Client, path: str, headers: dict[str, str]
) -> None:
    response = await client.get(path, headers=headers)
    assert response.status == 403
    assert "returns" not in await response.text()


PROXY_HEADERS = (
    "Forwarded X-Forwarded-For x-forwarded-proto X-Forwarded-Host X-Forwarded-Port X-Forwarded-Server X-Real-IP Via "
    "Forwarded-For WL-Proxy-Client-IP CF-Connecting-IP True-Client-IP X-Original-Host X-ARR-ClientCert X-Envoy-Internal"
).split()


@pytest.mark.parametrize(
    "path", [*PAGES, "/api/ask", "/api/messages", "/metrics", "/source/e1/1?exp=1&sig=2", "/readyz"]
)
@pytest.mark.parametrize("header", PROXY_HEADERS)
async def test_what_a_proxy_passed_on_is_refused_in_local_mode(client: Client, path: str, header: str) -> None:
    response = await client.get(path, headers={header: "127.0.0.1"})
    assert response.status == 403
    text = await response.text()
    assert "a proxy passed this on" in text
    assert "ATTEST_PUBLIC_URL" in text


async def test_http_1_0_is_what_a_proxy_speaks_and_is_refused_in_local_mode(client: Client, served: Client) -> None:
    for running, status in ((client, b"403"), (served, b"200")):
        reader, writer = await asyncio.open_connection(running.host, running.port)
        writer.write(b"GET /healthz HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n")
        assert (await reader.readline()).split()[1] == status
        writer.close()


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "OPTIONS", "HEAD"])
async def test_host_and_origin_are_checked_on_every_method(client: Client, method: str) -> None:
    for headers in ({"Host": "evil.example"}, {"Origin": "https://evil.example"}):
        assert (await client.request(method, "/chat", headers=headers)).status == 403
        assert (await client.request(method, "/api/ask", headers=headers)).status == 403


async def test_a_page_that_a_person_follows_a_link_to_opens(client: Client) -> None:
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert (await client.get("/chat", headers=headers)).status == 200


async def test_the_page_itself_may_ask(client: Client) -> None:
    origin = str(client.make_url("")).rstrip("/")
    headers = {"Origin": origin, "Sec-Fetch-Site": "same-origin"}
    assert (await client.post("/api/ask", json=ASK, headers=headers)).status == 200


async def test_in_local_mode_everything_is_open_to_this_machine_without_a_key(client: Client) -> None:
    assert (await client.post("/api/ask", json=ASK | {"as": "alice"})).status == 200
    assert (await client.post("/api/check", json=CHECK)).status == 200
    for path in ("/chat", "/chat/options", "/metrics", "/healthz", "/readyz", "/static/chat.js"):
        assert (await client.get(path)).status == 200, path


async def test_a_rebound_name_cannot_use_as(client: Client) -> None:
    headers = {"Host": "evil.example"}
    assert (await client.post("/api/ask", json=ASK | {"as": "alice"}, headers=headers)).status == 403


# outside it


@pytest.mark.parametrize("way", OUTSIDE)
async def test_outside_local_mode_this_machine_is_nobody(start: Start, way: str) -> None:
    """The same requests as in local mode, from the same peer, with the Host that a plain reverse proxy sends."""
    fake = fake_system(**OUTSIDE[way])
    entry_id = (await _asked_before(fake)).entry_id
    client = await start(fake)
    for path in ("/chat", "/chat/options", "/nothing-here", f"/source/{entry_id}/1", "/review", f"/review/{entry_id}"):
        response = await client.get(path)
        assert response.status == 403, path
        assert "30 days" not in await response.text()
    for path, form in (
        ("/api/ask", ASK),
        ("/api/ask", ASK | {"as": "alice"}),
        ("/api/check", CHECK),
        ("/chat/view", {}),
    ):
        assert (await client.post(path, json=form)).status == (401 if path.startswith("/api/") else 403), path
    assert (await client.get("/metrics")).status == 401
    assert len(fake.turns.asks) == 1


async def _asked_before(fake: Fake) -> Reply:
    return await fake.system.answer(Ask(ASK["question"]), None)


@pytest.mark.parametrize(
    "path", ["/api/ask", "/api/check", "/metrics", "/api/later", "/api/messages/x", "/api/refusals"]
)
@pytest.mark.parametrize(
    "given",
    [None, "", "Bearer", "Bearer ", "Bearer wrong", "Basic first-key", "Bearer first-key,second-key", "Bearer \xff"],
)
async def test_outside_local_mode_the_api_needs_a_key(served: Client, path: str, given: str | None) -> None:
    headers = {} if given is None else {"Authorization": given}
    response = await served.request("GET" if path == "/metrics" else "POST", path, headers=headers)
    assert response.status == 401
    assert response.headers["WWW-Authenticate"] == "Bearer"
    assert (await response.json())["error"]["code"] == "unauthorized"


@pytest.mark.parametrize("key", ["first-key", "second-key"])
async def test_each_key_opens_the_api(served: Client, key: str) -> None:
    headers = {"Authorization": f"Bearer {key}", "X-Forwarded-For": "203.0.113.9", "Host": "attest.example"}
    assert (await served.post("/api/ask", json=ASK, headers=headers)).status == 200
    assert (await served.get("/metrics", headers=headers)).status == 200


async def test_a_key_does_not_open_the_pages(served: Client) -> None:
    for path in ("/chat", "/chat/options", "/review", "/nothing-here"):
        assert (await served.get(path, headers=KEY)).status == 403


async def test_as_works_in_local_mode_only(served: Client, shared: Fake) -> None:
    response = await served.post("/api/ask", json=ASK | {"as": "alice"}, headers=KEY)
    assert response.status == 403
    assert (await response.json())["error"]["code"] == "as_not_allowed"
    assert shared.turns.asks == []


async def test_a_forwarding_header_from_anywhere_opens_nothing(start: Start) -> None:
    client = await start(fake_system(api_keys="first-key", proxies="10.0.0.0/8"))
    for headers in ({"X-Forwarded-For": "127.0.0.1"}, {"Forwarded": "for=127.0.0.1"}, {"X-Real-IP": "127.0.0.1"}):
        assert (await client.get("/metrics", headers=headers)).status == 401
        assert (await client.get("/chat", headers=headers)).status == 403
        assert (await client.get("/metrics", headers=headers | KEY)).status == 200


async def test_health_is_open_to_probes_from_anywhere(served: Client) -> None:
    for path in ("/healthz", "/readyz"):
        assert (await served.get(path, headers={"X-Forwarded-For": "203.0.113.9", "Host": "pod-7"})).status == 200


async def test_what_nobody_named_is_shut_outside_local_mode(start: Start) -> None:
    """A route that somebody adds and forgets to think about."""
    fake = fake_system(api_keys="first-key")
    app = build_app(fake.system)
    assert {"/chat", "/chat/options", "/chat/view"}.isdisjoint(
        resource.canonical for resource in app.router.resources()
    )
    open_to_all = {"/healthz", "/readyz", "/review/signed-out"}  # the last says goodbye, and nothing else
    client = await start(fake)
    for resource in app.router.resources():
        path = resource.canonical.replace("{name}", "none.js")
        if path not in open_to_all:
            assert (await client.get(path)).status in (401, 403, 404), path
            assert (await client.post(path)).status in (401, 403, 404, 405), path


@pytest.mark.parametrize("path", ["/chat", "/healthz", "/static/chat.js", "/review", "/nothing-here", "/source/x/1"])
async def test_every_response_carries_the_security_headers(client: Client, served: Client, path: str) -> None:
    for running in (client, served):
        headers = (await running.get(path)).headers
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer"
