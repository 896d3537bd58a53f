"""`attest doctor` on each service, well and in trouble: one line that says what is wrong, and what mends it; the key in none of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

import pytest

from bot.commands.doctor.services import WEB_SEARCHES
from bot.settings.groups.web import Web
from tests.bot.commands.conftest import Attest
from tests.bot.commands.loopback import Service, serving
from tests.fakes.otlp_server import OtlpServer

KEY = "canary-key-0123456789"
SERVICES = {
    "model service": {
        "ATTEST_GENERATOR": "openai",
        "ATTEST_OPENAI_BASE_URL": "{root}/v1",
        "ATTEST_OPENAI_API_KEY": KEY,
    },
    "moderation": {
        "ATTEST_SCREEN": "moderation",
        "ATTEST_MODERATION_BASE_URL": "{root}/v1",
        "ATTEST_MODERATION_KEY": KEY,
    },
    "content safety": {
        "ATTEST_SCREEN": "content_safety",
        "ATTEST_CONTENT_SAFETY_ENDPOINT": "{root}",
        "ATTEST_CONTENT_SAFETY_KEY": KEY,
    },
    "language service": {"ATTEST_LANGUAGE_ENDPOINT": "{root}", "ATTEST_LANGUAGE_KEY": KEY},
    "search": {"ATTEST_SEARCH": "azure", "ATTEST_SEARCH_ENDPOINT": "{root}", "ATTEST_SEARCH_KEY": KEY},
}


@pytest.fixture
def service() -> Iterator[Service]:
    with serving() as server:
        yield server


def line(attest: Attest, name: str) -> tuple[int, dict[str, str]]:
    ran = attest("doctor", "--json")
    assert KEY not in ran.out + ran.err
    return ran.code, next(check for check in ran.document["checks"] if check["name"] == name)


def switch_on(name: str, root: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for setting, value in SERVICES[name].items():
        monkeypatch.setenv(setting, value.format(root=root))


@pytest.mark.parametrize("name", SERVICES)
@pytest.mark.parametrize(
    "told",
    [
        (401, "refuses the key", "_KEY"),
        (403, "refuses the key", "_KEY"),
        (307, "redirects elsewhere", "final address"),
        (500, "is in trouble", "try again later"),
    ],
)
def test_trouble_is_told_with_what_mends_it(
    name: str, told: tuple[int, str, str], attest: Attest, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.status, detail, fix = told
    switch_on(name, service.root, monkeypatch)
    code, found = line(attest, name)
    assert code != 0
    assert found["status"] == "fail"
    assert detail in found["detail"]
    assert fix in found["fix"]


@pytest.mark.parametrize("name", SERVICES)
def test_nothing_that_listens_is_told(name: str, attest: Attest, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving() as gone:
        root = gone.root
    switch_on(name, root, monkeypatch)
    code, found = line(attest, name)
    assert code == 3 or name == "search"  # without its index the system cannot be looked into either
    assert found["status"] == "fail"
    assert "does not answer" in found["detail"]
    assert "check ATTEST_" in found["fix"]


@pytest.mark.parametrize("name", ["model service", "moderation"])
@pytest.mark.parametrize("answer", [(404, '{"detail":"Not Found"}'), (200, "<!doctype html><title>Sign in")])
def test_something_else_that_answers_is_no_model_service(
    name: str, answer: tuple[int, str], attest: Attest, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.status, service.page = answer
    switch_on(name, service.root, monkeypatch)
    code, found = line(attest, name)
    assert (code, found["status"]) == (3, "fail")
    assert "/v1" in found["fix"]


def test_an_index_that_is_not_there_is_made_by_an_ingest(
    attest: Attest, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.status = 404
    switch_on("search", service.root, monkeypatch)
    _, found = line(attest, "search")
    assert (found["status"], found["detail"]) == ("fail", "the service has no index 'attest' yet")
    assert "attest ingest" in found["fix"]


def test_traces_that_are_off_are_said(attest: Attest) -> None:
    _, found = line(attest, "traces")
    assert (found["status"], found["detail"]) == ("ok", "off")


def test_a_collector_that_answers_is_ok(attest: Attest, monkeypatch: pytest.MonkeyPatch) -> None:
    with OtlpServer() as collector:
        monkeypatch.setenv("ATTEST_TRACES", "otlp")
        monkeypatch.setenv("ATTEST_TRACES_ENDPOINT", collector.endpoint + "/")
        code, found = line(attest, "traces")
    assert (code, found["status"]) == (0, "ok")
    assert found["detail"].startswith("to a collector: answers")


@pytest.mark.parametrize(("path", "said"), [("", "does not answer"), ("/elsewhere", "nothing takes traces there")])
def test_a_collector_that_does_not_stops_no_answer(
    path: str, said: str, attest: Attest, monkeypatch: pytest.MonkeyPatch
) -> None:
    with OtlpServer() as collector:
        monkeypatch.setenv("ATTEST_TRACES", "otlp")
        monkeypatch.setenv("ATTEST_TRACES_ENDPOINT", collector.endpoint + path if path else "http://127.0.0.1:9")
        code, found = line(attest, "traces")
    assert (code, found["status"]) == (0, "note")
    assert said in found["detail"]
    assert "ATTEST_TRACES_ENDPOINT" in found["fix"]


def test_content_in_the_traces_is_said(attest: Attest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTEST_TRACES", "console")
    monkeypatch.setenv("ATTEST_TRACES_CONTENT", "on")
    _, found = line(attest, "traces")
    assert "with questions, prompts and answers in them" in found["detail"]


def test_every_web_search_of_the_settings_is_asked() -> None:
    assert set(WEB_SEARCHES) == set(get_args(Web.model_fields["kind"].annotation)) - {"off", "sample"}


@pytest.fixture
def tavily(monkeypatch: pytest.MonkeyPatch, service: Service) -> Service:
    monkeypatch.setenv("ATTEST_WEB", "tavily")
    monkeypatch.setenv("ATTEST_TAVILY_KEY", KEY)
    monkeypatch.setenv("ATTEST_TAVILY_BASE_URL", service.root)
    return service


def test_tavily_is_asked_for_what_costs_nothing(attest: Attest, tavily: Service) -> None:
    code, found = line(attest, "web search")
    ((path, headers),) = tavily.asked
    assert (code, found["status"], path) == (0, "ok", "/usage")
    assert headers["Authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    ("status", "detail"),
    [
        (401, "refuses the key (status 401)"),
        (307, "redirects elsewhere (status 307)"),
        (500, "is in trouble (status 500)"),
    ],
)
def test_what_is_wrong_with_tavily_is_said_with_the_fix(
    attest: Attest, tavily: Service, status: int, detail: str
) -> None:
    tavily.status = status
    code, found = line(attest, "web search")
    assert (code, found["status"], found["detail"]) == (3, "fail", detail)
    assert found["fix"]


@pytest.mark.row("3-16")
@pytest.mark.parametrize(("status", "shown"), [(400, "note"), (401, "fail")])
def test_bing_is_legacy_even_where_it_answers(
    attest: Attest, monkeypatch: pytest.MonkeyPatch, service: Service, status: int, shown: str
) -> None:
    monkeypatch.setenv("ATTEST_WEB", "bing")
    monkeypatch.setenv("ATTEST_BING_KEY", KEY)
    monkeypatch.setenv("ATTEST_BING_ENDPOINT", f"{service.root}/v7.0/search")
    service.status = status
    code, found = line(attest, "web search")
    assert (code, found["status"]) == (0 if shown == "note" else 3, shown)
    assert found["detail"].startswith("legacy: Microsoft retired Bing Web Search on 2025-08-11")
    assert service.asked[0][1]["Ocp-Apim-Subscription-Key"] == KEY


@pytest.mark.parametrize(
    ("given", "uses"),
    [({}, "names"), ({"PII": "language", "SUMMARIZER": "language"}, "names, summaries, personal data")],
)
def test_the_language_service_is_told_with_its_uses(
    attest: Attest, monkeypatch: pytest.MonkeyPatch, service: Service, given: dict[str, str], uses: str
) -> None:
    settings = {"LANGUAGE_KEY": KEY, "LANGUAGE_ENDPOINT": service.root, **given}
    for name, value in settings.items():
        monkeypatch.setenv(f"ATTEST_{name}", value)
    ran = attest("doctor", "--json")
    (found,) = [check for check in ran.document["checks"] if check["name"] == "language service"]
    assert (ran.code, found["status"], found["detail"]) == (0, "ok", f"answers (status 200); for {uses}")
    assert KEY not in ran.out + ran.err
