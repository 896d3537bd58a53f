"""`attest doctor` on the web search and the language service that are switched on: whether they answer, and never with a key."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.bot.commands.conftest import Attest
from tests.bot.commands.loopback import Service, serving

KEY = "canary-key"


@pytest.fixture
def service() -> Iterator[Service]:
    with serving() as server:
        yield server


def web_line(attest: Attest) -> tuple[int, dict[str, str]]:
    ran = attest("doctor", "--json")
    assert KEY not in ran.out + ran.err
    return ran.code, next(check for check in ran.document["checks"] if check["name"] == "web search")


@pytest.fixture
def tavily(monkeypatch: pytest.MonkeyPatch, service: Service) -> Service:
    monkeypatch.setenv("ATTEST_WEB", "tavily")
    monkeypatch.setenv("ATTEST_TAVILY_KEY", KEY)
    monkeypatch.setenv("ATTEST_TAVILY_BASE_URL", f"http://127.0.0.1:{service.server_port}")
    return service


def test_tavily_is_asked_for_what_costs_nothing(attest: Attest, tavily: Service) -> None:
    code, line = web_line(attest)
    ((path, headers),) = tavily.asked
    assert (code, line["status"], path) == (0, "ok", "/usage")
    assert headers["Authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    ("status", "detail"),
    [
        (401, "refuses the key (status 401)"),
        (307, "redirects elsewhere (status 307)"),
        (500, "is in trouble (status 500)"),
    ],
)
def test_what_is_wrong_is_said_with_the_fix(attest: Attest, tavily: Service, status: int, detail: str) -> None:
    tavily.status = status
    code, line = web_line(attest)
    assert (code, line["status"], line["detail"]) == (3, "fail", detail)
    assert line["fix"]


@pytest.mark.row("3-16")
@pytest.mark.parametrize(("status", "shown"), [(400, "note"), (401, "fail")])
def test_bing_is_legacy_even_where_it_answers(
    attest: Attest, monkeypatch: pytest.MonkeyPatch, service: Service, status: int, shown: str
) -> None:
    monkeypatch.setenv("ATTEST_WEB", "bing")
    monkeypatch.setenv("ATTEST_BING_KEY", KEY)
    monkeypatch.setenv("ATTEST_BING_ENDPOINT", f"http://127.0.0.1:{service.server_port}/v7.0/search")
    service.status = status
    code, line = web_line(attest)
    assert (code, line["status"]) == (0 if shown == "note" else 3, shown)
    assert line["detail"].startswith("legacy: Microsoft retired Bing Web Search on 2025-08-11")
    assert service.asked[0][1]["Ocp-Apim-Subscription-Key"] == KEY


@pytest.mark.parametrize(
    ("given", "uses"),
    [({}, "names"), ({"PII": "language", "SUMMARIZER": "language"}, "names, summaries, personal data")],
)
def test_the_language_service_is_told_with_its_uses(
    attest: Attest, monkeypatch: pytest.MonkeyPatch, service: Service, given: dict[str, str], uses: str
) -> None:
    settings = {"LANGUAGE_KEY": KEY, "LANGUAGE_ENDPOINT": f"http://127.0.0.1:{service.server_port}", **given}
    for name, value in settings.items():
        monkeypatch.setenv(f"ATTEST_{name}", value)
    ran = attest("doctor", "--json")
    (line,) = [check for check in ran.document["checks"] if check["name"] == "language service"]
    assert (ran.code, line["status"], line["detail"]) == (0, "ok", f"answers (status 200); for {uses}")
    assert KEY not in ran.out + ran.err
