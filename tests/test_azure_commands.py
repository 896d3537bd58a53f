"""The commands of the documents that make what is needed on Azure: a shell reads them, nothing is made in vain, nothing is used before it is made."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FENCE = re.compile(r"^[ ]*```[^\n]*\n(.*?)^[ ]*```", re.MULTILINE | re.DOTALL)
RETIRED = re.compile(r"gpt-(?:35|3\.5|4)\b|gpt-4o|gpt-4\.1|o[134]-")
"""Families that were retired on Azure during 2026 or before."""
AZURE = (ROOT / "docs" / "azure.md").read_text("utf-8")


def blocks(page: str) -> list[str]:
    """Code blocks of a document that call the Azure CLI."""
    return [b for b in FENCE.findall((ROOT / "docs" / page).read_text("utf-8")) if re.search(r"\baz ", b)]


BLOCKS = [block for page in ("azure.md", "teams.md") for block in blocks(page)]
NOTHING = next(block for block in BLOCKS if "az group create" in block)


def commands(starting: str) -> list[str]:
    return [line.strip() for line in NOTHING.splitlines() if line.strip().startswith(starting)]


@pytest.mark.parametrize("block", BLOCKS)
def test_a_shell_reads_them(block: str) -> None:
    assert subprocess.run(["sh", "-n"], input=block, text=True, capture_output=True, check=False).stderr == ""


def test_every_name_is_given_before_it_is_used_and_each_is_used() -> None:
    code = "\n".join(line.partition(" # ")[0] for line in NOTHING.splitlines() if not line.startswith("#"))
    given = {m[1]: m.start() for m in reversed([*re.finditer(r"(?:^|[ ;])([A-Z_]+)=", code, re.MULTILINE)])}
    used: dict[str, int] = {}
    for m in re.finditer(r"\$([A-Z_]+)", code):
        used.setdefault(m[1], m.start())
    assert set(given) == set(used)
    assert all(given[name] < used[name] for name in used)


def test_the_identity_is_attached_to_what_runs_and_the_bot_is_it() -> None:
    assert commands("az identity create")
    [machine] = commands("az vm create")
    assert "--assign-identity $IDENTITY" in machine
    [bot] = commands("az bot create")
    assert {"--app-type UserAssignedMSI", "--appid $CLIENT", "--msi-resource-id $IDENTITY", "--tenant-id $TENANT"} <= {
        " ".join(pair) for pair in zip(bot.split(), bot.split()[1:], strict=False)
    }
    assert "--assignee-object-id $PRINCIPAL --assignee-principal-type ServicePrincipal" in NOTHING
    env = (ROOT / "env" / "azure.env.example").read_text("utf-8")
    ids = dict(re.findall(r"^(ATTEST_(?:IDENTITY_CLIENT|BOT_APP)_ID)=(\S+)", env, re.MULTILINE))
    assert len(ids) == 2
    assert len(set(ids.values())) == 1


def test_every_role_of_the_table_is_given() -> None:
    """An answering server's alone is less than the one machine needs that also takes in."""
    table = AZURE[AZURE.index("| Service | Role of the identity") :].split("\n\n")[0]
    for role in (
        "Cognitive Services OpenAI User",
        "Cognitive Services User",
        "Search Service Contributor",
        "Search Index Data Contributor",
    ):
        assert role in table
        assert f'"{role}"' in NOTHING


def test_the_chat_model_is_a_choice_with_the_day_that_it_was_looked_up() -> None:
    [chat] = [c for c in commands("az cognitiveservices account deployment create") if "my-deployment" in c]
    assert "--model-name $CHAT_MODEL --model-version $CHAT_VERSION" in chat
    assert all("--sku-name GlobalStandard" in c for c in commands("az cognitiveservices account deployment create"))
    model, version = re.findall(r"CHAT_MODEL=(\S+) CHAT_VERSION=(\S+)", NOTHING)[0]
    [why] = [p for p in AZURE.split("\n\n") if p.startswith("**Which model.**")]
    assert f"`{model}`, version {version}," in why
    assert re.search(r"looked up\s+on \d{1,2} \w+ 20\d\d", why)
    assert "learn.microsoft.com" in why


@pytest.mark.parametrize("block", BLOCKS)
def test_no_retired_model_is_deployed_and_no_bot_that_cannot_be_made(block: str) -> None:
    assert not RETIRED.search(block)
    assert "MultiTenant" not in block
