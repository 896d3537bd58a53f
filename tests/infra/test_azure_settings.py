"""The settings that the app gets on Azure: the program takes them together, and they say what the pages promise."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from bot.settings.forms import PREFIX
from bot.settings.load import load_settings
from grounding.database.postgres import OLDEST
from rai.ledger.checkpoints.checkpoint import load_signing_seed
from rai.ledger.key import load_key
from tests.infra.bicep import APP, MADE_UP, ROOT, settings

WAYS = {
    "managed identity": (("settings",), {"botType": "UserAssignedMSI", "directory": "graph"}),
    "managed identity, keys of the API": (
        ("settings", "settingsOfApi"),
        {"botType": "UserAssignedMSI", "directory": "graph"},
    ),
    "reviewers who sign in": (
        ("settings", "settingsOfSignIn", "settingsOfSignInSecret"),
        {
            "botType": "UserAssignedMSI",
            "directory": "graph",
            "signInClientId": "00000000-0000-0000-0000-00000000c11e",
            "signInReaders": "Desk.Read",
            "signInReviewers": "Desk.Review",
            "signInAdministrators": "Desk.Administer",
            "reviewSees": "team",
        },
    ),
    "database": (("settings", "settingsOfDatabase"), {"botType": "UserAssignedMSI", "directory": "graph"}),
    "registered app": (("settings", "settingsOfBot"), {"botType": "SingleTenant", "directory": "file"}),
}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("way", WAYS)
def test_the_program_takes_what_infra_sets(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    variables, given = WAYS[way]
    environment = settings(variables, **given)
    assert len(environment) > 25
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("ATTEST_HOST", "0.0.0.0")  # as the image has it
    taken = load_settings()
    assert not taken.local_mode
    assert taken.bot.app_type == given["botType"]
    assert taken.directory.kind == given["directory"]
    assert taken.search.kind == "azure"
    assert taken.model.generator == "openai"


def test_the_issuer_is_that_of_the_tenant() -> None:
    """As Entra ID calls itself, letter by letter: where a provider tells another name, nobody can sign in."""
    variables, given = WAYS["reviewers who sign in"]
    tenant = MADE_UP["subscription().tenantId"]
    assert settings(variables, **given)["ATTEST_SIGNIN_ISSUER"] == f"https://login.microsoftonline.com/{tenant}/v2.0"


def test_a_registered_app_without_its_secret_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """So the secret is not there for nothing."""
    for name, value in settings(("settings",), botType="SingleTenant", directory="file").items():
        monkeypatch.setenv(name, value)
    with pytest.raises(Exception, match="ATTEST_BOT_APP_PASSWORD"):
        load_settings()


def test_all_that_the_example_of_azure_sets_is_set() -> None:
    example = (ROOT / "env" / "azure.env.example").read_text("utf-8")
    wanted = set(re.findall(rf"^({PREFIX}\w+)=", example, re.MULTILINE))
    of_the_image = {"ATTEST_HOST"}
    by_default = {"ATTEST_SEARCH_INDEX"}
    assert wanted - of_the_image - by_default <= settings(("settings",), botType="x", directory="x").keys()


def test_one_replica_and_never_another() -> None:
    """Two servers must not have one home."""
    assert re.search(r"scale: \{\s+minReplicas: 1\s+maxReplicas: 1\s+\}", APP)
    assert "activeRevisionsMode: 'Single'" in APP


def test_secrets_are_taken_at_a_version() -> None:
    """Without one the platform restarts the app by itself once there is another."""
    vault = (ROOT / "infra" / "modules" / "vault.bicep").read_text("utf-8")
    urls = re.findall(r"^output \w+SecretUrl string = (.*)$", vault, re.MULTILINE)
    assert len(urls) == 4
    assert all(url.endswith(".properties.secretUriWithVersion") for url in urls)


def test_probes_ask_what_the_server_answers_at_its_port_also_without_a_document() -> None:
    server = (ROOT / "bot" / "server" / "app.py").read_text("utf-8")
    probes = re.findall(r"type: '(\w+)'\s+httpGet: \{\s+path: '(/\w+)'\s+port: port", APP)
    assert dict(probes) == {"Startup": "/healthz", "Liveness": "/healthz", "Readiness": "/healthz"}
    assert all(f'add_get("{path}"' in server for _, path in probes)
    assert "EXPOSE 3978" in (ROOT / "infra" / "Dockerfile").read_text("utf-8")
    assert "var port = 3978" in APP


def test_the_mounts_are_where_the_image_has_its_home_and_keys() -> None:
    image = (ROOT / "infra" / "Dockerfile").read_text("utf-8")
    mounts = dict(re.findall(r"volumeName: '(\w+)'\s+mountPath: '([/\w]+)'", APP))
    assert mounts == {"home": "/data", "keys": "/keys", "documents": "/documents"}
    assert "ATTEST_HOME=/data" in image
    assert "ATTEST_LEDGER_KEY_FILE=/keys/" in image
    user = re.search(r"^USER (\S+)$", image, re.MULTILINE)
    assert user
    assert f"chown {user[1]} /data /keys" in APP


def test_the_database_is_known_as_the_program_is_told() -> None:
    """The address that the module gives is of the form that is made up here, and the app's identity is the one whom the server lets in."""
    module = (ROOT / "infra" / "modules" / "database.bicep").read_text("utf-8")
    [url] = re.findall(r"^output url string = '(.*)'$", module, re.MULTILINE)
    made_up = {
        "principalName": "attest-x",
        "server.properties.fullyQualifiedDomainName": "attest-db-x.postgres.database.azure.com",
        "database.name": re.findall(r"flexibleServers/databases@.*\n  parent: server\n  name: '(\w+)'", module)[0],
    }
    assert re.sub(r"\$\{([^}]+)\}", lambda m: made_up[m[1]], url) == MADE_UP["databaseUrl"]
    assert "passwordAuth: 'Disabled'" in module
    version = re.findall(r"version: '(\d+)'", module)
    assert [int(number) >= OLDEST for number in version] == [True]


def test_keys_are_made_once_where_there_is_a_database(tmp_path: Path) -> None:
    """By the shell's own commands, which the program then takes: two replicas that start at once have one pair."""
    [make] = re.findall(r"^var makeKeys = empty\(databaseUrl\) \? '' : ' && (.*)'$", APP, re.MULTILINE)
    script = make.replace("\\\\", "\\").replace("/keys", str(tmp_path)).replace("chown 10001:10001", "true")
    for _ in range(2):
        subprocess.run(["/bin/sh", "-c", script], check=True, capture_output=True)
        made = {path.name: path.read_text("utf-8") for path in tmp_path.iterdir()}
        assert made.keys() == {"ledger.key", "ledger-signing.key"}
        assert all(re.fullmatch(r"[0-9a-f]{64}", key) for key in made.values())
        key, seed = load_key(tmp_path / "ledger.key", make=False), load_signing_seed(tmp_path / "ledger-signing.key")
    assert key != seed
    again = {path.name: path.read_text("utf-8") for path in tmp_path.iterdir()}
    assert again == made
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}
