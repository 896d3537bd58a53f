"""The list of backends: what it may say, and that each mistake is one line with its place and what is allowed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bot.settings.load import load_settings
from bot.settings.settings import Settings
from bot.settings.versions import settings_hash
from grounding.errors import SettingsError
from tests.tables import Tables

TABLES = Tables(__file__)
ONE = "chat: [{name: a, base_url: 'http://127.0.0.1:9/v1', model: m}]\n"
EMBEDS = "embeddings: [{name: e, base_url: 'http://127.0.0.1:9/v1', model: text-embedding-3-small}]\n"
WHOLE = """
boundaries: [eu, "on-premises"]
chat:
  - name: sweden
    base_url: https://contoso-sweden.openai.azure.com/openai/v1/
    model: gpt-5.4-mini
    deployment: chat
    weight: 3
    boundary: eu
    key_file: key
  - name: paris
    base_url: https://contoso-paris.openai.azure.com/openai/v1/
    model: gpt-5.4-mini
    boundary: eu
    scope: https://ai.azure.com/.default
  - {name: virginia, base_url: "https://contoso-us.openai.azure.com/openai/v1/", model: gpt-5.4-mini, boundary: us}
  - {name: cellar, base_url: "http://127.0.0.1:11434/v1", model: llama3.1, order: 2, boundary: on-premises}
embeddings:
  - {name: sweden, base_url: "https://contoso-sweden.openai.azure.com/openai/v1/", model: text-embedding-3-small, boundary: eu}
"""


def settings(folder: Path, text: str, **more: Any) -> Settings:
    (folder / "key").write_text("canary-key\n", "utf-8")
    (folder / "list.yaml").write_text(text, "utf-8")
    return load_settings(openai_backends=folder / "list.yaml", home=folder / "home", **more)


def refusal(folder: Path, text: str, **more: Any) -> str:
    with pytest.raises(SettingsError) as caught:
        settings(folder, text, **more)
    return str(caught.value)


@TABLES.each("refused")
def test_a_mistake_is_one_line(text: str, said: str, tmp_path: Path) -> None:
    line = refusal(tmp_path, text)
    assert said in line
    assert "\n" not in line
    assert "canary" not in line


def test_a_list_says_which_backends_there_are_and_which_a_turn_may_use(tmp_path: Path) -> None:
    found = settings(tmp_path, WHOLE).model.backends
    assert found is not None
    assert [b.name for b in found.chat] == ["sweden", "paris", "virginia", "cellar"]
    assert [b.name for b in found.chat_within] == ["sweden", "paris", "cellar"]
    sweden, paris = found.chat[:2]
    assert (sweden.deployment, sweden.weight, sweden.order) == ("chat", 3.0, 1)
    assert sweden.key_file == tmp_path / "key", "relative to the list"
    assert (paris.deployment, paris.has_key) == ("gpt-5.4-mini", False)


def test_no_key_is_in_what_is_shown_of_settings(tmp_path: Path) -> None:
    found = settings(tmp_path, WHOLE)
    assert "canary" not in repr(found) + repr(found.model.backends)


@pytest.mark.parametrize(
    "given",
    [
        {"openai_base_url": "http://127.0.0.1:9/v1"},
        {"openai_api_key": "canary"},
        {"openai_model": "m"},
        {"judge_model": "n", "statement_judge": "model"},
    ],
    ids=lambda given: next(iter(given)),
)
def test_one_endpoint_beside_the_list_is_refused(given: dict[str, Any], tmp_path: Path) -> None:
    line = refusal(tmp_path, ONE, **given)
    name = f"ATTEST_{next(iter(given)).upper()}"
    assert (
        line
        == f"{name} and ATTEST_OPENAI_BACKENDS with chat: allowed is one of them; the file says it for each backend"
    )


def test_a_list_of_embedding_models_leaves_the_chat_model_where_it_is(tmp_path: Path) -> None:
    found = settings(tmp_path, EMBEDS, openai_base_url="http://127.0.0.1:8/v1", generator="openai", embedder="openai")
    assert (found.chat_url, found.embedding_url) == ("http://127.0.0.1:8/v1", "http://127.0.0.1:9/v1")


def test_a_list_of_chat_models_says_nothing_of_embedding_models(tmp_path: Path) -> None:
    assert "ATTEST_EMBEDDER=openai needs" in refusal(tmp_path, ONE, embedder="openai")
    found = settings(tmp_path, ONE, embedder="openai", embedding_base_url="http://127.0.0.1:8/v1")
    assert found.embedding_url == "http://127.0.0.1:8/v1"


def test_an_address_of_vectors_beside_a_list_of_them_is_refused(tmp_path: Path) -> None:
    line = refusal(tmp_path, EMBEDS, embedder="openai", embedding_base_url="http://127.0.0.1:8/v1")
    assert line.startswith(
        "ATTEST_EMBEDDING_BASE_URL and ATTEST_OPENAI_BACKENDS with embeddings: allowed is one of them"
    )


@pytest.mark.parametrize(
    "more", [{"embedding_model": "text-embedding-3-large"}, {"embedding_width": 512}], ids=["model", "dimensions"]
)
def test_some_backend_gives_the_vectors_that_are_wanted(more: dict[str, Any], tmp_path: Path) -> None:
    line = refusal(tmp_path, EMBEDS, embedder="openai", **more)
    assert line.startswith(
        "ATTEST_OPENAI_BACKENDS: no backend within the boundaries gives vectors of text-embedding-3-"
    )
    assert "allowed is one at least (ATTEST_EMBEDDING_MODEL, ATTEST_EMBEDDING_WIDTH)" in line


def test_a_list_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"no such file or directory; allowed is a YAML file of backends"):
        load_settings(openai_backends=tmp_path / "none.yaml")


def test_a_drafter_is_reached_by_the_list_alone(tmp_path: Path) -> None:
    assert settings(tmp_path, ONE, generator="openai").judges


def test_what_the_list_says_counts_among_the_settings_of_a_record(tmp_path: Path) -> None:
    before = settings_hash(settings(tmp_path, ONE))
    assert settings_hash(settings(tmp_path, ONE)) == before
    assert settings_hash(settings(tmp_path, ONE.replace("model: m", "model: n"))) != before


def test_a_changed_copy_of_settings_forgets_the_list(tmp_path: Path) -> None:
    found = settings(tmp_path, ONE)
    assert found.model.several
    assert not found.changed(openai_backends=None).model.several
