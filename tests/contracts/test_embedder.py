"""What every Embedder promises, run over the real model, both models joined, a service, the wrapper that keeps personal data here, several of which one is down, and the one that tests use."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grounding.azure.openai.backends import EmbedderBackends
from grounding.azure.openai.embedder import OpenAIEmbedder
from grounding.embedded.vectors.embedder import MiniLM
from grounding.embedded.vectors.joined import JoinedEmbedder
from grounding.errors import StoreError
from grounding.ports import Embedder
from grounding.services.backends import Backend, Backends
from grounding.services.remote import Remote
from rai.personal.redact import Redactor
from rai.screening.personal_data import PrivateEmbedder
from tests.fakes.embedder import HashEmbedder
from tests.fakes.embeddings_server import KEY, EmbeddingsServer


@pytest.fixture(params=["minilm", "joined", "hash", "service", "unnormalised", "short", "private", "backends"])
async def embedder(request: pytest.FixtureRequest) -> AsyncIterator[Embedder]:
    if request.param in ("minilm", "joined"):
        minilm: MiniLM = request.getfixturevalue("minilm")
        yield JoinedEmbedder(minilm, request.getfixturevalue("reader")) if request.param == "joined" else minilm
        return
    if request.param == "hash":
        yield HashEmbedder()
        return
    modes: dict[str, Any] = {"unnormalised": {"scale": 7.5}, "short": {"longest": 1500}}
    async with EmbeddingsServer(**modes.get(request.param, {})) as server:
        service_calls = Remote("embedding service")
        service = OpenAIEmbedder(server.base_url, KEY, "text-embedding-3-small", 256, service_calls)
        spare = Remote("embedding service", retries=0)
        down = OpenAIEmbedder("http://127.0.0.1:9/v1", KEY, "text-embedding-3-small", 256, spare)
        both: list[Backend[Embedder]] = [
            Backend("down", "m", down, spare, 1),
            Backend("up", "m", service, service_calls, 2),
        ]
        wrapped: dict[str, Embedder] = {
            "private": PrivateEmbedder(service, Redactor()),
            "backends": EmbedderBackends(Backends("embedding service", both)),
        }
        yield wrapped.get(request.param, service)
        await down.aclose()
        await service.aclose()


async def test_rows_are_unit_vectors_in_order(embedder: Embedder) -> None:
    texts = ["How do I reset my router?", "", "x" * 4000, "Prix: 5 €", "How do I reset my router?"]
    vectors = await embedder.embed(texts)
    assert vectors.shape == (5, embedder.width)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-4)
    assert np.allclose(vectors[0], vectors[4])


async def test_its_fingerprint_can_name_a_file(embedder: Embedder) -> None:
    """Vectors are kept under it, and the file of codes beside the store."""
    assert re.fullmatch(r"[A-Za-z0-9.-]{4,80}", embedder.fingerprint)


async def test_texts_that_no_json_carries_have_vectors(embedder: Embedder) -> None:
    vectors = await embedder.embed(["a \ud800 b", "\x00", " \n "])
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-4)


async def test_a_text_has_one_vector_whatever_it_is_batched_with(embedder: Embedder) -> None:
    alone = (await embedder.embed(["What does the Pro plan cost?"]))[0]
    texts = ["short", "What does the Pro plan cost?", "a much longer text about something else " * 30]
    together = (await embedder.embed(texts))[1]
    assert np.array_equal(alone, together)


async def test_nothing_gives_nothing(embedder: Embedder) -> None:
    assert (await embedder.embed([])).shape == (0, embedder.width)


@pytest.mark.row("3-02")
@pytest.mark.row("4-10")
async def test_meaning_is_near(minilm: MiniLM) -> None:
    """The built model is the model: paraphrases are near, strangers are not. The float model gives .73 and .03."""
    vectors = await minilm.embed(
        ["How do I reset my password?", "Steps to recover a forgotten password", "The weather in Paris"]
    )
    assert vectors[0] @ vectors[1] > 0.6
    assert vectors[0] @ vectors[2] < 0.2


async def test_a_text_is_found_by_its_end_however_long(minilm: MiniLM) -> None:
    """Of some 1,300 word pieces, of which the model reads 256 at once: what stands last moves the vector, and as strongly as what stands first."""
    filler = "The office in Paris has a garden and a large kitchen on the second floor. " * 78
    told = "To reset your password, open the settings and choose a new one. " * 5
    first, last, question = await minilm.embed([told + filler, filler + told, "How do I reset my password?"])
    plain = (await minilm.embed([filler]))[0]
    assert last @ question > plain @ question + 0.02
    assert abs(first @ question - last @ question) < 0.1
    assert float(np.linalg.norm(last)) == pytest.approx(1.0, abs=1e-4)


def test_a_damaged_model_is_a_sentence(tmp_path: Path, model_file: Path) -> None:
    (tmp_path / "tokenizer.json").write_bytes(model_file.with_name("tokenizer.json").read_bytes())
    broken = tmp_path / "minilm-int8.onnx"
    broken.write_bytes(model_file.read_bytes()[:100_000])
    with pytest.raises(StoreError, match="make setup"):
        MiniLM(broken)
