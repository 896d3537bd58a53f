"""The embedding service over loopback: what is asked of it, what of its replies is believed, and how it may fail."""

from __future__ import annotations

import logging
import math
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import pytest

from grounding.azure.openai.client import TokenProvider
from grounding.azure.openai.embedder import MOST_CHARS, MOST_TEXTS, OpenAIEmbedder
from grounding.azure.openai.fingerprint import service_fingerprint
from grounding.errors import ServiceError, ServiceRejected, ServiceReplyInvalid, ServiceTimeout, ServiceUnavailable
from grounding.services.remote import Remote
from tests.fakes import faults
from tests.fakes.clock import at_once
from tests.fakes.embeddings_server import KEY, EmbeddingsServer, Items

TEXTS = ["How long do refunds take?", "Refunds take five days.", "The weather in Paris"]


@asynccontextmanager
async def embedding(
    server: EmbeddingsServer,
    *,
    width: int = 256,
    key: str | TokenProvider | None = KEY,
    shorten: bool = False,
    **remote: Any,
) -> AsyncIterator[OpenAIEmbedder]:
    made = {"deadline_s": 20.0, "retries": 2, "sleep": at_once, "jitter": lambda: 0.0, **remote}
    async with server:
        embedder = OpenAIEmbedder(server.base_url, key, "embed-1", width, Remote("embedding", **made), shorten=shorten)
        try:
            yield embedder
        finally:
            await embedder.aclose()


# --- what is asked


async def test_floats_are_asked_for_always() -> None:
    """The SDK's own default is base64, which this server refuses with 400."""
    async with embedding(EmbeddingsServer()) as embedder:
        vectors = await embedder.embed(TEXTS)
        assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.1
    async with embedding(server := EmbeddingsServer()) as embedder:
        await embedder.embed(TEXTS)
        ((path, body),) = server.bodies
    assert (path, body) == ("/v1/embeddings", {"model": "embed-1", "input": TEXTS, "encoding_format": "float"})
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"


async def test_requests_are_bounded_in_texts_and_in_characters() -> None:
    async with embedding(server := EmbeddingsServer()) as embedder:
        await embedder.embed([f"text {n}" for n in range(MOST_TEXTS + 1)])
        await embedder.embed([f"{n} " + "x" * (MOST_CHARS // 8) for n in range(10)])
    sizes = [(len(body["input"]), sum(map(len, body["input"]))) for _, body in server.bodies]
    assert [count for count, _ in sizes] == [MOST_TEXTS, 1, 7, 3]
    assert max(chars for _, chars in sizes) <= MOST_CHARS


async def test_a_text_is_sent_once_and_what_was_asked_alone_is_remembered() -> None:
    async with embedding(server := EmbeddingsServer()) as embedder:
        vectors = await embedder.embed(["a b", "c d", "a b"])
        assert np.array_equal(vectors[0], vectors[2])
        await embedder.embed(["c d"])
        await embedder.embed([f"passage {n}" for n in range(100)])
        await embedder.embed(["c d", "e f"])
    assert server.texts == ["a b", "c d", *(f"passage {n}" for n in range(100)), "e f"]


async def test_no_key_of_the_environment_goes_to_a_local_server(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, "canary-of-the-environment")
    async with embedding(server := EmbeddingsServer(), key=None) as embedder:
        await embedder.embed(TEXTS)
    assert "canary" not in str(server.headers)


async def test_a_token_is_fetched_for_each_call() -> None:
    tokens = iter([KEY, "stale"])

    async def provider() -> str:
        return next(tokens)

    async with embedding(EmbeddingsServer(), key=provider) as embedder:
        await embedder.embed(["a"])
        with pytest.raises(ServiceRejected, match="the key was refused"):
            await embedder.embed(["b"])


async def test_a_proxy_is_not_asked_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    async with embedding(EmbeddingsServer()) as embedder:
        assert (await embedder.embed(TEXTS)).shape == (3, 256)


# --- width


async def test_a_width_is_sent_as_dimensions_only_where_it_is_asked_for() -> None:
    async with embedding(server := EmbeddingsServer(width=256), width=64, shorten=True) as embedder:
        assert (await embedder.embed(TEXTS)).shape == (3, 64)
    assert server.bodies[0][1]["dimensions"] == 64


async def test_a_server_that_takes_no_dimensions_is_asked_without_if_its_own_width_is_right(
    caplog: pytest.LogCaptureFixture,
) -> None:
    server = EmbeddingsServer(width=256, takes_dimensions=False)
    with caplog.at_level(logging.WARNING, logger="attest"):
        async with embedding(server, width=256, shorten=True) as embedder:
            assert (await embedder.embed(["a"])).shape == (1, 256)
            await embedder.embed(["b"])
    assert ["dimensions" in body for _, body in server.bodies] == [True, False, False]
    assert [record.message for record in caplog.records] == [
        "embedding takes no dimensions: ATTEST_EMBEDDING_WIDTH must be its own width"
    ]


@pytest.mark.parametrize("takes", [True, False])
async def test_another_width_is_one_line_that_names_the_setting(takes: bool) -> None:
    """Whether the server refuses the parameter, or leaves it unheard."""
    server = EmbeddingsServer(width=256, takes_dimensions=takes)
    async with embedding(server, width=64, shorten=not takes) as embedder:
        with pytest.raises(ServiceRejected) as caught:
            await embedder.embed(["a"])
    assert "gives vectors of 256 numbers" in str(caught.value)
    assert "set ATTEST_EMBEDDING_WIDTH=256" in str(caught.value)
    assert len(server.bodies) == (1 if takes else 2)


# --- what of a reply is believed


async def test_vectors_are_told_apart_by_their_index() -> None:
    async with embedding(EmbeddingsServer()) as embedder:
        straight = await embedder.embed(TEXTS)
    async with embedding(EmbeddingsServer(twist=lambda items: items[::-1])) as embedder:
        assert np.array_equal(await embedder.embed(TEXTS), straight)


@pytest.mark.parametrize("scale", [1e-30, 0.01, 7.5, 1e30])
async def test_lengths_are_made_one(scale: float) -> None:
    async with embedding(EmbeddingsServer(scale=scale)) as embedder:
        vectors = await embedder.embed(TEXTS)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


def spoiled(key: str, value: object, at: int = 1) -> Callable[[Items], Items]:
    return lambda items: [{**item, key: value} if i == at else item for i, item in enumerate(items)]


@pytest.mark.parametrize(
    ("twist", "said"),
    [
        (lambda items: items[:2], "2 vectors came back for 3 texts"),
        (lambda items: [*items, items[0]], "4 vectors came back for 3 texts"),
        (lambda items: [], "0 vectors came back for 3 texts"),
        (spoiled("index", 0), "does not tell which vector is whose"),
        (spoiled("index", 3), "does not tell which vector is whose"),
        (spoiled("index", None), "does not tell which vector is whose"),
        (spoiled("index", True), "does not tell which vector is whose"),
        (spoiled("embedding", [math.nan] * 256), "holds what is no number"),
        (spoiled("embedding", [math.inf] * 256), "holds what is no number"),
        (spoiled("embedding", [0.0] * 256), "a vector is zero"),
        (spoiled("embedding", [0.5] * 255), "not lists of numbers of one length"),
        (spoiled("embedding", []), "not lists of numbers of one length"),
        (spoiled("embedding", ["0.5"] * 256), "not lists of numbers of one length"),
        (spoiled("embedding", [None] * 256), "not lists of numbers of one length"),
        (spoiled("embedding", [[0.5]] * 256), "not lists of numbers of one length"),
        (spoiled("embedding", "AAAAAA=="), "not lists of numbers of one length"),
        (lambda items: ["x"] * 3, "holds no vectors"),
        (lambda items: None, "holds no vectors"),
    ],
)
async def test_a_reply_that_is_not_whole_and_sound_is_refused_after_one_more_try(twist: Any, said: str) -> None:
    async with embedding(server := EmbeddingsServer(twist=twist)) as embedder:
        with pytest.raises(ServiceReplyInvalid) as caught:
            await embedder.embed(TEXTS)
    assert said in str(caught.value)
    assert len(server.bodies) == 2


# --- long texts


async def test_a_text_that_is_too_long_is_read_in_halves_and_costs_its_neighbours_nothing() -> None:
    long = "refunds take five days " * 100
    async with embedding(server := EmbeddingsServer(longest=1000)) as embedder:
        vectors = await embedder.embed([TEXTS[0], long, TEXTS[2]])
        alone = await embedder.embed([TEXTS[1]])
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    assert vectors[1] @ alone[0] > 0.8
    taken = [text for _, body in server.bodies for text in body["input"] if len(text) <= 1000]
    assert set(" ".join(taken).split()) >= set(long.split())


async def test_a_model_that_reads_next_to_nothing_is_refused_and_not_asked_for_ever() -> None:
    async with embedding(server := EmbeddingsServer(longest=10)) as embedder:
        with pytest.raises(ServiceRejected, match="a text is longer than the model can take"):
            await embedder.embed(["refunds take five days " * 40])
    assert len(server.bodies) < 10


# --- faults


@pytest.mark.parametrize(
    ("fault", "kind", "said"),
    [
        (faults.status(401), ServiceRejected, "the key was refused"),
        (faults.status(403), ServiceRejected, "the key or identity may not do this"),
        (faults.status(404), ServiceRejected, "no model or deployment of that name"),
        (faults.status(429, Retry_After="0"), ServiceRejected, "too many requests"),
        (faults.status(429, Retry_After="60"), ServiceRejected, "too many requests"),
        (faults.status(500), ServiceUnavailable, "failed (status 500"),
        (faults.status(503, Retry_After="60"), ServiceUnavailable, "cannot serve now"),
        (faults.html(200), ServiceReplyInvalid, "a web page came back"),
        (faults.html(502), ServiceUnavailable, "failed (status 502"),
        (faults.truncated(), ServiceReplyInvalid, "not JSON, or was cut"),
        (faults.half(b'{"data": [{"index": 0, "emb'), ServiceUnavailable, "cannot be reached"),
        (faults.closed(), ServiceUnavailable, "cannot be reached"),
        (faults.redirect("http://127.0.0.1:9/v1/embeddings"), ServiceRejected, "redirects elsewhere"),
        (faults.echoed(400), ServiceRejected, "the request was refused"),
        (faults.echoed(500), ServiceUnavailable, "failed (status 500"),
    ],
)
async def test_every_fault_is_one_of_ours_and_says_nothing_of_the_text(
    fault: faults.Fault, kind: type[ServiceError], said: str
) -> None:
    async with embedding(EmbeddingsServer(otherwise=fault), deadline_s=5.0) as embedder:
        with pytest.raises(kind) as caught:
            await embedder.embed(["canary text of a customer"])
    assert said in str(caught.value)
    assert "canary" not in str(caught.value)
    assert caught.value.__cause__ is None or "canary" not in str(caught.value.__cause__)


async def test_silence_ends_with_the_deadline() -> None:
    async with embedding(EmbeddingsServer(otherwise=faults.slow()), deadline_s=0.3) as embedder:
        with pytest.raises((ServiceTimeout, ServiceUnavailable)):
            await embedder.embed(TEXTS)


async def test_what_fails_for_the_moment_is_tried_again() -> None:
    server = EmbeddingsServer(faults.status(500), faults.status(429, Retry_After="0"))
    async with embedding(server) as embedder:
        assert (await embedder.embed(TEXTS)).shape == (3, 256)
    assert len(server.bodies) == 3


# --- what the vectors go by


def test_another_model_width_or_address_is_another_fingerprint() -> None:
    azure, other = "https://a.openai.azure.com/openai/v1/", "https://b.openai.azure.com/openai/v1/"
    first = service_fingerprint(azure, "embed", 1536)
    assert first.startswith("embed-1536-")
    others = [(other, "embed", 1536), (azure, "embed-2", 1536), (azure, "embed", 256), (None, "embed", 1536)]
    assert len({first, *(service_fingerprint(*of) for of in others)}) == 5


def test_the_same_address_in_other_words_is_the_same_fingerprint() -> None:
    names = {
        service_fingerprint(url, "BAAI/bge:large", 1024)
        for url in ("http://localhost:80/v1", "http://LOCALHOST/v1/", "http://key@localhost/v1")
    }
    assert len(names) == 1
    assert names.pop().startswith("BAAI-bge-large-1024-")
