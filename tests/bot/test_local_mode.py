"""Who is local is decided by the deployment: every combination of the settings that decide it."""

from __future__ import annotations

from itertools import chain, combinations
from typing import Any

import pytest

from bot.settings.load import load_settings
from tests.bot.settings.facts import allowed, facts, refusal

ENDS = {
    "ATTEST_BOT_APP_ID": {
        "bot_app_id": "11111111-2222-3333-4444-555555555555",
        "bot_tenant_id": "tenant-1",
        "bot_app_password": "not-a-secret",
    },
    "ATTEST_API_KEYS": {"api_keys": "k"},
    "ATTEST_PUBLIC_URL": {"public_url": "http://127.0.0.1:3978"},
    "ATTEST_HOST=0.0.0.0": {"host": "0.0.0.0"},
}
TABLE = list(chain.from_iterable(combinations(ENDS, n) for n in range(len(ENDS) + 1)))


def settings_of(names: tuple[str, ...], **more: Any) -> dict[str, Any]:
    return {name: value for key in names for name, value in ENDS[key].items()} | more


@pytest.mark.parametrize("names", TABLE, ids=" ".join)
@pytest.mark.parametrize("local", ["auto", "off"])
def test_any_of_them_ends_local_mode(names: tuple[str, ...], local: str) -> None:
    settings = load_settings(**settings_of(names, local=local))
    assert settings.local_mode is (not names and local == "auto")
    assert settings.serves_others == names


@pytest.mark.parametrize("names", TABLE, ids=" ".join)
def test_switched_on_beside_one_of_them_it_is_refused(names: tuple[str, ...]) -> None:
    if not names:
        assert load_settings(local="on").local_mode
        return
    told = facts(refusal(**settings_of(names, local="on")))
    assert told == " ".join(["LOCAL=on", *(name.removeprefix("ATTEST_") for name in names)])


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("127.0.0.1", True),
        ("localhost", True),
        ("::1", True),
        ("0.0.0.0", False),
        ("::", False),
        ("192.0.2.1", False),
        ("127.0.0.1.example", False),
        ("", True),
    ],
)
def test_the_host_alone(monkeypatch: pytest.MonkeyPatch, host: str, local: bool) -> None:
    monkeypatch.setenv("ATTEST_HOST", host)
    assert load_settings().local_mode is local


@pytest.mark.parametrize("proxies", ["10.0.0.7", "10.0.0.0/8,::1", "127.0.0.1"])
def test_a_proxy_is_listed_outside_local_mode_alone(proxies: str) -> None:
    assert len(load_settings(local="off", proxies=proxies).serving.proxy_networks) == proxies.count(",") + 1
    assert facts(refusal(proxies=proxies)) == "PROXIES LOCAL=off PUBLIC_URL API_KEYS BOT_APP_ID"


@pytest.mark.parametrize("proxies", ["nginx", "10.0.0.1/8", "10.0.0.0/33", "*", "10.0.0.1:80"])
def test_what_is_no_address_of_a_proxy_is_refused(proxies: str) -> None:
    assert "10.0.0.7,10.1.0.0/16" in allowed(refusal(local="off", proxies=proxies))
