"""`attest doctor` on each service in trouble: one line that says what is wrong, and what mends it; the key in none of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.bot.commands.conftest import Attest
from tests.bot.commands.loopback import Service, serving

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
