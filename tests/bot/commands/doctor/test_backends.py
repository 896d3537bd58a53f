"""What `attest doctor` says of listed backends: each by its name, what mends it in the list's words, and who is never asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bot.commands.doctor.diagnosis import Diagnosis
from bot.commands.doctor.services import check_services
from bot.settings.load import load_settings
from bot.settings.settings import Settings
from tests.fakes import faults, openai_server
from tests.fakes.embeddings_server import KEY, EmbeddingsServer
from tests.fakes.openai_server import OpenAIServer

OK = openai_server.ok('{"status": "ok"}')


def settings(folder: Path, text: str, **more: Any) -> Settings:
    (folder / "key").write_text(KEY, "utf-8")
    (folder / "list.yaml").write_text(text, "utf-8")
    return load_settings(home=folder / "home", openai_backends=folder / "list.yaml", **more)


async def found(settings: Settings) -> dict[str, Diagnosis]:
    return {finding.name: finding for finding in await check_services(settings) if finding.service}


def chat(*servers: OpenAIServer, more: str = "") -> str:
    rows = [
        f"  - {{name: {'ab'[i]}, order: {i + 1}, base_url: '{server.base_url}', model: gpt-a, key_file: key{more}}}"
        for i, server in enumerate(servers)
    ]
    return "\n".join(["chat:", *rows])


@pytest.mark.parametrize(
    ("fault", "detail", "fix"),
    [
        (openai_server.error(401), "refuses the key (status 401", "check key_file or key_env of a in list.yaml"),
        (openai_server.error(500), "is in trouble (status 500)", "try again later"),
        (openai_server.reset(), "does not answer", "check base_url of a in list.yaml, and that the service runs"),
    ],
)
async def test_one_that_fails_is_a_note_while_another_answers(
    fault: openai_server.Step, detail: str, fix: str, tmp_path: Path
) -> None:
    async with OpenAIServer(otherwise=fault) as first, OpenAIServer(otherwise=OK) as second:
        told = await found(settings(tmp_path, chat(first, second), generator="openai"))
    a, b = told["model service a"], told["model service b"]
    assert (a.status, b.status) == ("note", "ok")
    assert detail in a.detail
    assert fix in a.fix
    assert b.detail.startswith("order 2, weight 1: ")
    assert b.detail.endswith("; retirement of gpt-a unknown")


async def test_with_none_that_answers_it_is_a_failure(tmp_path: Path) -> None:
    down = [OpenAIServer(otherwise=openai_server.error(500)) for _ in range(2)]
    async with down[0], down[1]:
        told = await found(settings(tmp_path, chat(*down), generator="openai"))
    assert [told[f"model service {name}"].status for name in "ab"] == ["fail", "fail"]


async def test_one_beyond_the_boundary_is_never_asked(tmp_path: Path) -> None:
    async with OpenAIServer(otherwise=OK) as first, OpenAIServer(otherwise=OK) as second:
        text = "boundaries: [eu]\n" + chat(first, second)
        text = text.replace("name: a,", "name: a, boundary: eu,").replace("name: b,", "name: b, boundary: us,")
        told = await found(settings(tmp_path, text, generator="openai"))
    assert told["backend b"].detail == "never asked: its boundary us is none of eu"
    assert (len(first.seen), len(second.seen)) == (1, 0)


async def test_nothing_is_asked_of_a_chat_model_that_nobody_uses(tmp_path: Path) -> None:
    async with OpenAIServer(otherwise=OK) as server:
        assert await found(settings(tmp_path, chat(server), statement_judge="off")) == {}
    assert server.seen == []


async def test_each_embedder_is_asked_and_one_of_other_vectors_is_not(tmp_path: Path) -> None:
    first, second, third = EmbeddingsServer(), EmbeddingsServer(otherwise=faults.status(401)), EmbeddingsServer()
    async with first, second, third:
        rows = [
            f"  - {{name: {name}, base_url: '{server.base_url}', model: m, dimensions: {width}, key_file: key}}"
            for name, server, width in (("a", first, 256), ("b", second, 256), ("c", third, 512))
        ]
        given = {"embedder": "openai", "embedding_model": "m", "embedding_width": 256}
        told = await found(settings(tmp_path, "\n".join(["embeddings:", *rows]), **given))
    assert told["embedding service a"].status == "ok"
    assert told["embedding service b"].status == "note"
    assert "key_file or key_env of b in list.yaml" in told["embedding service b"].fix
    said = "never asked: search needs vectors of m with 256 numbers, and these are of m with 512"
    assert told["backend c"].detail == said
    assert third.bodies == []
