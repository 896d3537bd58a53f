"""Settings that must not stand together: one line says which, and why."""

from __future__ import annotations

import pytest

from bot.settings.load import load_settings
from bot.settings.settings import PLACES, Settings
from bot.teams.adapter import BotbuilderTransport
from grounding.errors import SettingsError

ABROAD = "http://192.0.2.2:7997"


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"openai_base_url": f"{ABROAD}/v1", "openai_api_key": "k"}, "ATTEST_OPENAI_BASE_URL"),
        (
            {"embedder": "openai", "embedding_base_url": f"{ABROAD}/v1", "embedding_api_key": "k"},
            "ATTEST_EMBEDDING_BASE_URL",
        ),
        ({"screen": "moderation", "moderation_base_url": ABROAD, "moderation_key": "k"}, "ATTEST_MODERATION_BASE_URL"),
        ({"screen": "content_safety", "content_safety_endpoint": ABROAD}, "ATTEST_CONTENT_SAFETY_ENDPOINT"),
        ({"search": "azure", "search_endpoint": ABROAD, "search_key": "k"}, "ATTEST_SEARCH_ENDPOINT"),
        ({"language_endpoint": ABROAD}, "ATTEST_LANGUAGE_ENDPOINT"),
        ({"web": "tavily", "tavily_key": "k", "tavily_base_url": ABROAD}, "ATTEST_TAVILY_BASE_URL"),
        ({"web": "bing", "bing_key": "k", "bing_endpoint": ABROAD}, "ATTEST_BING_ENDPOINT"),
    ],
)
def test_no_key_travels_in_the_clear(given: dict[str, str], named: str) -> None:
    with pytest.raises(SettingsError, match=f"{named}: allowed is https, the key would travel in the clear"):
        load_settings(**given)
    assert load_settings(**{name: value.replace(ABROAD, "http://127.0.0.1:7997") for name, value in given.items()})
    assert load_settings(**{name: value.replace(ABROAD, "https://name.example") for name, value in given.items()})


def test_a_server_without_a_key_may_stand_in_the_own_network() -> None:
    assert load_settings(generator="openai", openai_base_url=f"{ABROAD}/v1")


def test_a_call_ends_before_its_turn() -> None:
    with pytest.raises(SettingsError, match="ATTEST_CALL_DEADLINE_S may be at most ATTEST_TURN_DEADLINE_S, here 45"):
        load_settings(call_deadline_s=60)
    assert load_settings(call_deadline_s=60, turn_deadline_s=120)


@pytest.mark.parametrize(
    ("endpoint", "cloud", "needed"),
    [
        ("https://graph.microsoft.com", "usgov", "public"),
        ("https://dod-graph.microsoft.us", "public", "usgov"),
        ("https://microsoftgraph.chinacloudapi.cn", "public", "china"),
    ],
)
def test_graph_is_that_of_the_cloud_that_is_signed_in_to(endpoint: str, cloud: str, needed: str) -> None:
    with pytest.raises(SettingsError, match=f"ATTEST_GRAPH_ENDPOINT needs ATTEST_CLOUD={needed}"):
        load_settings(directory="graph", graph_endpoint=endpoint, cloud=cloud)
    assert load_settings(directory="graph", graph_endpoint=endpoint, cloud=needed)


BOT = {"bot_app_id": "a"}
WHOLE = {
    "SingleTenant": {"bot_tenant_id": "t", "bot_app_password": "p"},
    "UserAssignedMSI": {"bot_tenant_id": "t"},
    "MultiTenant": {"bot_app_password": "p"},
}
"""What each kind of registration needs."""
IN_A_TENANT = "ATTEST_BOT_APP_ID needs ATTEST_BOT_TENANT_ID, the tenant that the bot is registered in"


def test_a_bot_is_one_that_can_be_registered_today() -> None:
    """A multi-tenant one cannot be since 31 July 2025."""
    assert load_settings().bot.app_type == "SingleTenant"
    assert load_settings(**BOT, **WHOLE["SingleTenant"])


@pytest.mark.parametrize(("kind", "needed"), WHOLE.items(), ids=WHOLE)
def test_what_a_registration_needs_is_enough_for_the_sdk(kind: str, needed: dict[str, str]) -> None:
    """Left to the SDK, what is missing is a bare exception."""
    assert BotbuilderTransport(load_settings(**BOT, bot_app_type=kind, **needed))


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (
            {"bot_app_password": "p"},
            f"{IN_A_TENANT}; a bot that was registered as multi-tenant needs ATTEST_BOT_APP_TYPE=MultiTenant instead",
        ),
        (
            {"bot_app_type": "SingleTenant", "bot_app_password": "p"},
            IN_A_TENANT,
        ),
        (
            {"bot_app_type": "UserAssignedMSI"},
            "ATTEST_BOT_APP_TYPE=UserAssignedMSI needs ATTEST_BOT_TENANT_ID, the tenant that the bot is registered in",
        ),
        (
            {"bot_tenant_id": "t"},
            "ATTEST_BOT_APP_ID needs ATTEST_BOT_APP_PASSWORD; a managed identity has none, and needs ATTEST_BOT_APP_TYPE=UserAssignedMSI",
        ),
    ],
)
def test_a_registration_that_lacks_something_is_one_line(given: dict[str, str], line: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings(**BOT, **given)
    assert line in str(caught.value)
    assert ("instead" in str(caught.value)) is ("instead" in line)
    assert "\n" not in str(caught.value)


def test_without_a_bot_nothing_of_it_is_needed() -> None:
    for kind in WHOLE:
        assert load_settings(bot_app_type=kind)


AZURE = "https://contoso.openai.azure.com/openai/v1/"
SCOPE = "https://ai.azure.com/.default"


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (
            {"openai_auth": "api-key"},
            "ATTEST_OPENAI_AUTH=api-key needs ATTEST_OPENAI_API_KEY; without one there is no key to send",
        ),
        ({"openai_auth": "both", "openai_base_url": AZURE}, "ATTEST_OPENAI_AUTH=both needs ATTEST_OPENAI_API_KEY"),
        ({"openai_auth": "header"}, "ATTEST_OPENAI_AUTH"),
        ({"openai_scope": SCOPE}, "ATTEST_OPENAI_SCOPE needs an Azure endpoint in ATTEST_OPENAI_BASE_URL"),
        (
            {"openai_scope": SCOPE, "openai_base_url": AZURE, "openai_api_key": "k"},
            "ATTEST_OPENAI_SCOPE needs an Azure endpoint",
        ),
        ({"openai_scope": "https://ai.azure.com", "openai_base_url": AZURE}, r"a scope that ends in /\.default"),
        ({"openai_effort": "very low"}, "auto, or one word such as low"),
        ({"openai_effort": ""}, "auto, or one word such as low"),
        ({"openai_thinking_tokens": "-1"}, "a whole number from 0 to 25000"),
        ({"openai_thinking_tokens": "25001"}, "a whole number from 0 to 25000"),
    ],
)
def test_what_a_chat_model_is_told_can_be_told(given: dict[str, str], line: str) -> None:
    with pytest.raises(SettingsError, match=line) as caught:
        load_settings(**given)
    assert "\n" not in str(caught.value)


def test_key_scope_effort_and_room_are_settings() -> None:
    assert load_settings(openai_auth="api-key", openai_api_key="k").model.auth == "api-key"
    assert load_settings(openai_scope=SCOPE, openai_base_url=AZURE).model.scope == SCOPE
    assert [load_settings(openai_effort=word).model.reasoning_effort for word in ("auto", "none", "xhigh")] == [
        None,
        "none",
        "xhigh",
    ]
    assert load_settings(openai_thinking_tokens="0").model.thinking_tokens == 0


def test_every_setting_has_a_name_of_its_own() -> None:
    groups = [type(getattr(load_settings(), name)) for name in Settings.model_fields]
    assert len(PLACES) == sum(len(group.model_fields) for group in groups)
    assert all(info.alias for group in groups for info in group.model_fields.values())


def test_a_changed_copy_leaves_the_rest_and_the_original() -> None:
    before = load_settings(search="azure", search_endpoint="https://a.search.windows.net", port=1)
    after = before.changed(search_index="other", port=2)
    assert (after.search.index, after.serving.port) == ("other", 2)
    assert after.search.endpoint == before.search.endpoint
    assert (before.search.index, before.serving.port) == ("attest", 1)


def test_what_was_given_is_known_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    before = load_settings().given()
    monkeypatch.setenv("ATTEST_SEARCH_INDEX", "other")
    with pytest.raises(SettingsError):
        load_settings()
    monkeypatch.setenv("ATTEST_SEARCH", "azure")
    monkeypatch.setenv("ATTEST_SEARCH_ENDPOINT", "https://a.search.windows.net")
    given = load_settings(port="7").given()
    assert given - before == {"search", "search_index", "search_endpoint", "port"}
    assert load_settings(port="7").value("port") == 7
