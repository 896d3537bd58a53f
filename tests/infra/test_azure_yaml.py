"""azure.yaml and its hooks, and the page that goes through them. Neither azd nor az is run."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PROJECT: dict[str, Any] = yaml.safe_load((ROOT / "azure.yaml").read_text("utf-8"))
HOOKS = {name: ROOT / hook["run"] for name, hook in PROJECT["hooks"].items()}
PAGE = (ROOT / "docs" / "deploy.md").read_text("utf-8")
FENCE = re.compile(r"^[ ]*```[^\n]*\n(.*?)^[ ]*```", re.MULTILINE | re.DOTALL)


def test_every_script_is_a_hook_and_every_hook_a_script() -> None:
    assert sorted(HOOKS.values()) == sorted((ROOT / "infra" / "hooks").iterdir())


@pytest.mark.parametrize("path", HOOKS.values(), ids=HOOKS.keys())
def test_a_shell_reads_a_hook_and_it_ends_at_the_first_failure(path: Path) -> None:
    assert subprocess.run(["sh", "-n", path], capture_output=True, text=True, check=False).stderr == ""
    assert path.read_text("utf-8").startswith("#!/bin/sh\n# ")
    assert "\nset -eu\n" in path.read_text("utf-8")
    assert os.access(path, os.X_OK)


def test_steps_of_up_are_provision_and_hooks_that_are_there() -> None:
    steps = [step["azd"] for step in PROJECT["workflows"]["up"]["steps"]]
    assert steps == ["provision", "hooks run image", "provision"]
    assert "image" in HOOKS


def test_the_page_runs_hooks_that_are_there() -> None:
    named = set(re.findall(r"azd hooks run (\w+)", PAGE))
    assert named == HOOKS.keys() - {"preprovision", "postprovision"}


def test_the_infrastructure_is_where_the_project_says() -> None:
    infra = PROJECT["infra"]
    assert (ROOT / infra["path"] / f"{infra['module']}.bicep").is_file()
    assert (ROOT / infra["path"] / f"{infra['module']}.parameters.json").is_file()


def test_variables_stand_on_the_page_with_their_defaults() -> None:
    given = (ROOT / "infra" / "main.parameters.json").read_text("utf-8")
    table = PAGE[PAGE.index("| Variable | Default |") :].split("\n\n")[0]
    for name, default in re.findall(r"\$\{([A-Z_]+)=([^}]*)\}", given):
        row = next(line for line in table.splitlines() if f"`{name}`" in line.split("|")[1])
        assert default in row, name


def test_what_the_parameters_file_becomes_is_json() -> None:
    text = (ROOT / "infra" / "main.parameters.json").read_text("utf-8")
    filled = re.sub(r"\$\{(\w+)(?:=([^}]*))?\}", lambda m: m[2] or "", text)
    assert set(json.loads(filled)) == {"$schema", "contentVersion", "parameters"}


@pytest.mark.parametrize("block", [b for b in FENCE.findall(PAGE) if re.search(r"\baz |\bazd |docker |openssl ", b)])
def test_a_shell_reads_the_commands_of_the_page(block: str) -> None:
    assert subprocess.run(["sh", "-n"], input=block, text=True, capture_output=True, check=False).stderr == ""


def test_the_teams_hook_makes_a_package(tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    shutil.copy(ROOT / "tools" / "teams_package.py", tmp_path / "tools")
    shutil.copytree(ROOT / "infra" / "teams", tmp_path / "infra" / "teams")
    environment = {
        "PATH": os.environ["PATH"],
        "TEAMS_APP_ID": "11111111-2222-3333-4444-555555555555",
        "APP_HOST": "attest.happyhill.swedencentral.azurecontainerapps.io",
    }
    done = subprocess.run(
        ["sh", HOOKS["teams"]], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "attest-teams.zip").is_file()


FAKE_AZ = """#!/bin/sh
echo "$@" >> "$CALLS"
case "$1 $2" in
  "group exists") echo true ;;
  "containerapp list") echo "$APPS" ;;
  "containerapp show") echo Stopped ;;
esac
"""


@pytest.mark.parametrize(("apps", "stopped"), [("", False), ("/subscriptions/x/app", True)])
def test_the_app_is_stopped_before_it_is_changed_if_it_is_there(apps: str, *, stopped: bool, tmp_path: Path) -> None:
    """With an `az` that writes down what it is asked."""
    az = tmp_path / "az"
    az.write_text(FAKE_AZ, "utf-8")
    az.chmod(0o755)
    calls = tmp_path / "calls"
    environment = {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "CALLS": str(calls),
        "APPS": apps,
        "APP_NAME": "attest",
        "AZURE_RESOURCE_GROUP": "rg-x",
        "DRAIN_SECONDS": "0",
    }
    done = subprocess.run(["sh", HOOKS["preprovision"]], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (f"{apps}/stop?" in calls.read_text("utf-8")) is stopped


def test_before_the_first_deployment_there_is_nothing_to_stop() -> None:
    """And no `az` is needed."""
    for name in ("preprovision", "postprovision"):
        done = subprocess.run(["/bin/sh", HOOKS[name]], env={"PATH": ""}, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_every_price_has_a_source_or_says_unknown() -> None:
    prices = yaml.safe_load((ROOT / "infra" / "prices.yaml").read_text("utf-8"))
    assert isinstance(prices["looked_up"], date)
    for line in prices["prices"]:
        assert (ROOT / "infra" / line["of"]).is_file(), line
        assert (line["price"] == "unknown") is (line["source"] == "unknown"), line
        assert line["price"] == "unknown" or (line["price"] > 0 and line["source"].startswith("https://")), line
    costless = {"identity", "network", "environment", "workbook"}
    modules = {path.stem for path in (ROOT / "infra" / "modules").glob("*.bicep")}
    assert {Path(line["of"]).stem for line in prices["prices"]} == modules - costless
