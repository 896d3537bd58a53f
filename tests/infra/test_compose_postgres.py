"""compose.postgres.yaml: its form is read together with compose.yaml, and what makes the servers' role is run by a real psql on a real PostgreSQL."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from sqlalchemy import make_url

from bot.compose.database import upgraded
from bot.settings.load import load_settings
from tests.e2e.processes import settings_over
from tests.knowledge_base import running
from tests.postgres.faults import run
from tests.postgres.ledger import keys_in
from tests.postgres.server import binaries
from tests.postgres.server import running as cluster

ROOT = Path(__file__).parents[2]
BELOW, ABOVE = (yaml.safe_load((ROOT / name).read_text("utf-8")) for name in ("compose.yaml", "compose.postgres.yaml"))
SERVICES: dict[str, dict[str, Any]] = ABOVE["services"]
ATTEST, TABLES, POSTGRES = SERVICES["attest"], SERVICES["tables"], SERVICES["postgres"]
ROLE = ROOT / "infra" / "postgres" / "role.sh"


@pytest.mark.parametrize("name", ["tables", "postgres"])
def test_a_container_has_a_read_only_root_and_no_rights(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert "privileged" not in service


def test_the_servers_keep_what_they_have_below() -> None:
    """What stands here is added: nothing of rights, logs or proxies is taken back."""
    assert not {"read_only", "cap_drop", "security_opt", "env_file", "tmpfs"} & ATTEST.keys()
    assert not set(ATTEST["environment"]) & set(BELOW["services"]["attest"]["environment"])


def test_the_database_is_reached_by_the_servers_alone() -> None:
    assert "ports" not in POSTGRES
    assert ABOVE["networks"]["back"]["internal"] is True
    on_back = {name for name, service in SERVICES.items() if "back" in service.get("networks", [])}
    assert on_back == {"attest", "tables", "postgres"}
    assert "back" not in BELOW["services"]["nginx"]["networks"]
    assert set(BELOW["services"]["attest"]["networks"]) < set(ATTEST["networks"])


def test_each_server_has_a_home_of_its_own_and_all_have_the_keys() -> None:
    assert ATTEST["command"] == ["serve"]
    assert ATTEST["deploy"]["replicas"] == "${SERVERS:-2}"
    mounts = {mount.rpartition(":")[2] if ":" in mount else mount: mount for mount in ATTEST["volumes"]}
    assert mounts == {"/data": "/data", "/keys": "./keys:/keys"}  # an anonymous volume is each container's own
    below = {mount.split(":")[1] for mount in BELOW["services"]["attest"]["volumes"]}
    assert set(mounts) < below  # they take the place of what stands there


def test_no_password_stands_in_a_file_of_the_repository() -> None:
    text = (ROOT / "compose.postgres.yaml").read_text("utf-8")
    assert not re.search(r"://[^/@\s]*:[^/@\s]*@", text)
    assert all(make_url(service["environment"]["ATTEST_DATABASE_URL"]).password is None for service in (ATTEST, TABLES))
    used = {secret for service in SERVICES.values() for secret in service["secrets"]}
    assert used == set(ABOVE["secrets"])
    ignored = (ROOT / ".gitignore").read_text("utf-8").splitlines()
    assert {"/secrets/", "/keys/"} <= set(ignored)
    assert all(secret["file"].startswith("./secrets/") for secret in ABOVE["secrets"].values())
    assert "owner-password" not in ATTEST["secrets"]  # servers are not its owner


def test_what_is_waited_for_is_there_and_the_volumes_are_declared() -> None:
    assert ATTEST["depends_on"] == {"tables": {"condition": "service_completed_successfully"}}
    assert TABLES["depends_on"] == {"postgres": {"condition": "service_healthy"}}
    assert TABLES["restart"] == "no"
    named = [mount.split(":")[0] for mount in POSTGRES["volumes"] if not mount.startswith(".")]
    assert named == list(ABOVE["volumes"])
    assert re.fullmatch(r"postgres:(1[6-9]|[2-9]\d)-alpine", POSTGRES["image"])


def test_the_program_takes_the_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text((ROOT / "env" / "compose.env.example").read_text("utf-8"), "utf-8")
    monkeypatch.setenv("ATTEST_HOST", "0.0.0.0")
    for name, value in {**BELOW["services"]["attest"]["environment"], **ATTEST["environment"]}.items():
        monkeypatch.setenv(name, value)
    settings = load_settings()
    assert settings.database.url is not None
    assert not settings.local_mode


def made_by_the_script(env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["sh", str(ROLE)], env=env, capture_output=True, text=True, check=False)


async def test_the_role_that_is_made_serves_and_no_more(tmp_path: Path) -> None:
    """As the image of PostgreSQL runs what lies in its folder: by `sh`, once, as the owner, over the socket."""
    password = tmp_path / "attest-password"
    password.write_text("it's a \\ secret\n")
    with cluster() as owner:
        run(owner, "CREATE DATABASE attest OWNER owner")
        url = make_url(owner).set(database="attest")
        env = {
            "PATH": f"{binaries()}:{os.environ['PATH']}",
            "PGHOST": str(url.query["host"]),
            "PGPASSWORD": str(url.password),
            "POSTGRES_USER": "owner",
            "POSTGRES_DB": "attest",
            "SERVERS_PASSWORD_FILE": str(password),
        }
        done = await asyncio.to_thread(made_by_the_script, env)
        assert (done.returncode, "secret" in done.stdout + done.stderr) == (0, False), done.stderr
        plain = url.render_as_string(hide_password=False)
        upgraded(settings_over(tmp_path / "owner", database_url=plain), "attest")
        keys_in(tmp_path)
        bare = f"postgresql://attest@/attest?host={url.query['host']}"
        settings = settings_over(tmp_path / "home", database_url=bare, database_password_file=password)
        async with running(settings.changed(ledger_key_file=tmp_path / "keys" / "ledger.key")) as system:
            assert (await system.ready()).keys() == {"knowledge base"}  # it is empty, and all else is well
        assert run(plain, "SELECT has_schema_privilege('attest', 'public', 'CREATE')") == [(False,)]
