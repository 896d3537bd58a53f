"""Who gets in: loopback in the strict sense, or a bearer key."""

from __future__ import annotations

import pytest

from bot.http.guard import _loopback_address
from tests.bot.http.conftest import Client

ASK = {"question": "How do I return something?"}
FAR = {"X-Forwarded-For": "203.0.113.9"}
PAGES = ("/chat", "/chat/options", "/review", "/chat/evidence/x", "/nothing-here")


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
def test_loopback_is_a_matter_of_addresses(address: str, local: bool) -> None:
    assert _loopback_address(address) is local


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
        {"X-Forwarded-For": "127.0.0.1"},
        {"Forwarded": "for=127.0.0.1"},
        {"Via": "1.1 proxy"},
    ],
)
async def test_pages_refuse_requests_that_are_not_this_machines_own(
    client: Client, path: str, headers: dict[str, str]
) -> None:
    response = await client.get(path, headers=headers)
    assert response.status == 403
    assert "returns" not in await response.text()


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


@pytest.mark.parametrize("path", ["/api/ask", "/api/check", "/metrics", "/api/later"])
@pytest.mark.parametrize(
    "given",
    [None, "", "Bearer", "Bearer ", "Bearer wrong", "Basic first-key", "Bearer first-key,second-key", "Bearer \xff"],
)
async def test_off_loopback_the_api_needs_a_key(client: Client, path: str, given: str | None) -> None:
    headers = FAR | ({} if given is None else {"Authorization": given})
    response = await client.request("GET" if path == "/metrics" else "POST", path, headers=headers)
    assert response.status == 401
    assert response.headers["WWW-Authenticate"] == "Bearer"
    assert (await response.json())["error"]["code"] == "unauthorized"


@pytest.mark.parametrize("key", ["first-key", "second-key"])
async def test_each_key_opens_the_api(client: Client, key: str) -> None:
    headers = FAR | {"Authorization": f"Bearer {key}"}
    response = await client.post("/api/ask", json=ASK, headers=headers)
    assert response.status == 200
    assert (await client.get("/metrics", headers=headers)).status == 200


async def test_a_key_does_not_open_the_pages(client: Client) -> None:
    headers = FAR | {"Authorization": "Bearer first-key"}
    for path in PAGES:
        assert (await client.get(path, headers=headers)).status == 403


async def test_as_works_on_loopback_only(client: Client) -> None:
    form = ASK | {"as": "alice"}
    assert (await client.post("/api/ask", json=form)).status == 200
    headers = FAR | {"Authorization": "Bearer first-key"}
    response = await client.post("/api/ask", json=form, headers=headers)
    assert response.status == 403
    assert (await response.json())["error"]["code"] == "as_not_allowed"


async def test_a_rebound_name_cannot_use_as_even_with_a_key(client: Client) -> None:
    headers = {"Host": "evil.example", "Authorization": "Bearer first-key"}
    assert (await client.post("/api/ask", json=ASK | {"as": "alice"}, headers=headers)).status == 403


@pytest.mark.parametrize("path", ["/chat", "/healthz", "/static/chat.js", "/review", "/nothing-here", "/source/x/1"])
async def test_every_response_carries_the_security_headers(client: Client, path: str) -> None:
    headers = (await client.get(path)).headers
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"


async def test_health_is_open_to_probes_from_anywhere(client: Client) -> None:
    for path in ("/healthz", "/readyz"):
        assert (await client.get(path, headers=FAR | {"Host": "pod-7"})).status == 200
