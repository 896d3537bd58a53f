"""Settings that must not stand together: one line says which, and why."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.settings.load import load_settings
from bot.settings.settings import PLACES, Settings
from bot.teams.transports.botbuilder import BotbuilderTransport
from tests.bot.settings.facts import allowed, facts, refusal

ABROAD = "http://192.0.2.2:7997"


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"openai_base_url": f"{ABROAD}/v1", "openai_api_key": "k"}, "OPENAI_BASE_URL"),
        (
            {"embedder": "openai", "embedding_base_url": f"{ABROAD}/v1", "embedding_api_key": "k"},
            "EMBEDDING_BASE_URL",
        ),
        ({"screen": "moderation", "moderation_base_url": ABROAD, "moderation_key": "k"}, "MODERATION_BASE_URL"),
        ({"screen": "content_safety", "content_safety_endpoint": ABROAD}, "CONTENT_SAFETY_ENDPOINT"),
        ({"search": "azure", "search_endpoint": ABROAD, "search_key": "k"}, "SEARCH_ENDPOINT"),
        ({"language_endpoint": ABROAD}, "LANGUAGE_ENDPOINT"),
        ({"web": "tavily", "tavily_key": "k", "tavily_base_url": ABROAD}, "TAVILY_BASE_URL"),
        ({"web": "bing", "bing_key": "k", "bing_endpoint": ABROAD}, "BING_ENDPOINT"),
    ],
)
def test_no_key_travels_in_the_clear(given: dict[str, str], named: str) -> None:
    line = refusal(**given)
    assert (facts(line), "https" in allowed(line)) == (named, True)
    assert load_settings(**{name: value.replace(ABROAD, "http://127.0.0.1:7997") for name, value in given.items()})
    assert load_settings(**{name: value.replace(ABROAD, "https://name.example") for name, value in given.items()})


def test_a_server_without_a_key_may_stand_in_the_own_network() -> None:
    assert load_settings(generator="openai", openai_base_url=f"{ABROAD}/v1")


def test_a_call_ends_before_its_turn() -> None:
    assert facts(refusal(call_deadline_s=60)) == "CALL_DEADLINE_S TURN_DEADLINE_S 45"
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
    assert facts(refusal(directory="graph", graph_endpoint=endpoint, cloud=cloud)) == f"GRAPH_ENDPOINT CLOUD={needed}"
    assert load_settings(directory="graph", graph_endpoint=endpoint, cloud=needed)


BOT = {"bot_app_id": "a"}
WHOLE = {
    "SingleTenant": {"bot_tenant_id": "t", "bot_app_password": "p"},
    "UserAssignedMSI": {"bot_tenant_id": "t"},
    "MultiTenant": {"bot_app_password": "p"},
}
"""What each kind of registration needs."""


def test_a_bot_is_one_that_can_be_registered_today() -> None:
    """A multi-tenant one cannot be since 31 July 2025."""
    assert load_settings().bot.app_type == "SingleTenant"
    assert load_settings(**BOT, **WHOLE["SingleTenant"])


@pytest.mark.parametrize(("kind", "needed"), WHOLE.items(), ids=WHOLE)
def test_what_a_registration_needs_is_enough_for_the_sdk(kind: str, needed: dict[str, str]) -> None:
    """Left to the SDK, what is missing is a bare exception."""
    assert BotbuilderTransport(load_settings(**BOT, bot_app_type=kind, **needed))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"bot_app_password": "p"}, "BOT_APP_ID BOT_TENANT_ID BOT_APP_TYPE=MultiTenant"),
        ({"bot_app_type": "SingleTenant", "bot_app_password": "p"}, "BOT_APP_ID BOT_TENANT_ID"),
        ({"bot_app_type": "UserAssignedMSI"}, "BOT_APP_TYPE=UserAssignedMSI BOT_TENANT_ID"),
        ({"bot_tenant_id": "t"}, "BOT_APP_ID BOT_APP_PASSWORD BOT_APP_TYPE=UserAssignedMSI"),
    ],
)
def test_a_registration_that_lacks_something_is_one_line(given: dict[str, str], told: str) -> None:
    """What to do instead is said where no kind was named: a managed identity, or one that was registered as multi-tenant."""
    assert facts(refusal(**BOT, **given)) == told


def test_without_a_bot_nothing_of_it_is_needed() -> None:
    for kind in WHOLE:
        assert load_settings(bot_app_type=kind)


AZURE = "https://contoso.openai.azure.com/openai/v1/"
SCOPE = "https://ai.azure.com/.default"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"openai_auth": "api-key"}, "OPENAI_AUTH=api-key OPENAI_API_KEY"),
        ({"openai_auth": "both", "openai_base_url": AZURE}, "OPENAI_AUTH=both OPENAI_API_KEY"),
        ({"openai_scope": SCOPE}, "OPENAI_SCOPE OPENAI_BASE_URL OPENAI_API_KEY"),
        (
            {"openai_scope": SCOPE, "openai_base_url": AZURE, "openai_api_key": "k"},
            "OPENAI_SCOPE OPENAI_BASE_URL OPENAI_API_KEY",
        ),
    ],
)
def test_what_a_chat_model_is_told_can_be_told(given: dict[str, str], told: str) -> None:
    assert facts(refusal(**given)) == told


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
    assert facts(refusal()) == "SEARCH_INDEX SEARCH=azure"
    monkeypatch.setenv("ATTEST_SEARCH", "azure")
    monkeypatch.setenv("ATTEST_SEARCH_ENDPOINT", "https://a.search.windows.net")
    given = load_settings(port="7").given()
    assert given - before == {"search", "search_index", "search_endpoint", "port"}
    assert load_settings(port="7").value("port") == 7


@pytest.mark.parametrize("inside", [".", "checkpoints", "a/../index", "link"])
def test_checkpoints_beside_the_ledger_are_refused(tmp_path: Path, inside: str) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "link").symlink_to(home)
    line = refusal(home=home, ledger_checkpoints=str(home / inside))
    assert (
        line
        == f"ATTEST_LEDGER_CHECKPOINTS: {home / inside} is in ATTEST_HOME, beside the ledger; allowed is another place"
    )


def test_checkpoints_elsewhere_are_taken(tmp_path: Path) -> None:
    home, url = tmp_path / "home", "https://name.blob.core.windows.net/audit?sp=c&sig=canary"
    beside = load_settings(home=home, ledger_checkpoints=str(tmp_path / "home2")).checkpoints
    assert (beside.folder, beside.url) == (tmp_path / "home2", None)
    container = load_settings(home=home, ledger_checkpoints=url)
    assert (container.checkpoints.folder, container.checkpoints.url) == (None, url)
    assert "canary" not in repr(container)
    assert load_settings(ledger_checkpoints="http://127.0.0.1:10000/account/audit?sig=x").checkpoints.url


def test_the_signing_key_lies_beside_the_ledgers_key(tmp_path: Path) -> None:
    files = load_settings(ledger_key_file=tmp_path / "keys" / "ledger.key").files
    assert files.signing_key_path == tmp_path / "keys" / "ledger-signing.key"
    other = load_settings(ledger_signing_key_file=tmp_path / "other.key").files
    assert other.signing_key_path == tmp_path / "other.key"


@pytest.mark.parametrize("pool", ["1", "101", "many"])
def test_a_process_holds_some_connections_and_not_all(pool: str) -> None:
    line = refusal(database_url="postgresql://attest@db.example/attest", database_pool=pool)
    assert line == f"ATTEST_DATABASE_POOL={pool!r} (option): allowed is a whole number from 2 to 100"


def test_connections_are_those_to_a_database() -> None:
    assert facts(refusal(database_pool=5)) == "DATABASE_POOL DATABASE_URL"


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({}, "DATABASE_ENTRA=on DATABASE_URL"),
        ({"database_url": "postgresql://a:secret@/attest"}, "DATABASE_ENTRA=on DATABASE_URL DATABASE_PASSWORD_FILE"),
        (
            {"database_url": "postgresql://a@/attest", "database_password_file": "x"},
            "DATABASE_ENTRA=on DATABASE_URL DATABASE_PASSWORD_FILE",
        ),
        ({"database_url": "postgresql://a@db.example/attest"}, "DATABASE_ENTRA=on DATABASE_URL"),
        ({"database_url": "postgresql://a@db.example/attest?sslmode=require"}, "DATABASE_ENTRA=on DATABASE_URL"),
        ({"database_url": "postgresql://a@/attest?host=db.example"}, "DATABASE_ENTRA=on DATABASE_URL"),
    ],
)
def test_a_token_goes_to_one_server_alone_and_beside_no_password(given: dict[str, str], named: str) -> None:
    line = refusal(database_entra="on", **given)
    assert facts(line) == named
    assert "secret" not in line


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://a@db.example/attest?sslmode=verify-full&sslrootcert=/etc/ssl/certs/ca-certificates.crt",
        "postgresql://a@/attest?host=db.example&sslmode=verify-ca",
        "postgresql://a@localhost/attest",
        "postgresql://a@/attest?host=/run/postgresql",
    ],
)
def test_a_server_that_shows_who_it_is_may_have_a_token(url: str) -> None:
    assert load_settings(database_entra="on", database_url=url).database.entra == "on"
