"""Chat model and embedder over several backends: the real clients against loopback servers, one of which fails."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, AsyncExitStack, nullcontext
from pathlib import Path

import numpy as np
import pytest

from grounding.azure.openai.backends import ChatBackends, EmbedderBackends
from grounding.azure.openai.chat import OpenAIChat
from grounding.azure.openai.client import Auth
from grounding.azure.openai.embedder import OpenAIEmbedder
from grounding.azure.openai.fingerprint import listed_fingerprint
from grounding.errors import ContentFiltered, ServiceError, ServiceRejected
from grounding.observe import EmbedCall, Operation, watched_by
from grounding.ports import ChatModel, Embedder
from grounding.records import Served
from grounding.services.backends import Backend, Backends
from grounding.services.breaker import Breaker
from grounding.services.key_file import KeyFile
from grounding.services.remote import Remote
from tests.fakes import faults, openai_server
from tests.fakes.clock import AMPLE_S, Clock
from tests.fakes.embeddings_server import KEY, EmbeddingsServer
from tests.fakes.openai_server import OpenAIServer

WITHIN_S = 0.6
"""Of a call of one that hangs; the others have AMPLE_S, however loaded the machine is."""


@pytest.fixture
async def stack() -> AsyncIterator[AsyncExitStack]:
    async with AsyncExitStack() as opened:
        yield opened


def remote(name: str, clock: Clock, within_s: float = AMPLE_S) -> Remote:
    return Remote(f"openai {name}", deadline_s=within_s, retries=0, breaker=Breaker(cooldown_s=30.0, clock=clock))


async def chat(
    stack: AsyncExitStack,
    *servers: OpenAIServer,
    models: tuple[str, ...] = ("gpt-a", "gpt-a"),
    clock: Clock | None = None,
    first_within_s: float = AMPLE_S,
) -> ChatBackends:
    made: list[Backend[ChatModel]] = []
    for order, (server, model) in enumerate(zip(servers, models, strict=True)):
        await stack.enter_async_context(server)
        name = "ab"[order]
        calls = remote(name, clock or Clock(), AMPLE_S if order else first_within_s)
        client = OpenAIChat(server.base_url, "key", f"{model}-deployment", calls)
        stack.push_async_callback(client.aclose)
        made.append(Backend(name, model, client, calls, order))
    return ChatBackends(Backends("openai", made))


FAULTS = {
    "429": openai_server.throttled(),
    "429 with a pause": openai_server.throttled("60"),
    "429 quota": openai_server.throttled(code="insufficient_quota"),
    "500": openai_server.error(500),
    "503": openai_server.error(503, headers={"Retry-After": "30"}),
    "401": openai_server.error(401, code="invalid_api_key"),
    "404": openai_server.error(404, code="DeploymentNotFound"),
    "410": openai_server.error(410, code="ModelDeprecated"),
    "reset": openai_server.reset(),
    "timeout": openai_server.slow(),
    "web page": openai_server.html200(),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_the_next_answers_after_every_fault_and_the_reply_says_who_did(fault: str, stack: AsyncExitStack) -> None:
    first, second = OpenAIServer(FAULTS[fault]), OpenAIServer(openai_server.ok("Fine."))
    model = await chat(stack, first, second, first_within_s=WITHIN_S if fault == "timeout" else AMPLE_S)
    reply = await model.complete("system", "user", purpose="compose")
    assert (reply.text, reply.served) == ("Fine.", Served("b", "gpt-a"))
    assert [seen.body["model"] for seen in (*first.seen, *second.seen)] == ["gpt-a-deployment"] * 2


async def test_one_that_hangs_costs_one_deadline_and_then_nothing_until_its_breaker_tries_again(
    stack: AsyncExitStack,
) -> None:
    clock, loop = Clock(), asyncio.get_running_loop()
    first, second = OpenAIServer(otherwise=openai_server.slow()), OpenAIServer()
    model = await chat(stack, first, second, clock=clock, first_within_s=WITHIN_S)
    asked = []
    for passed in (0.0, 1.0, 20.0, 40.0, 1.0):
        clock.passed += passed
        began, before = loop.time(), len(first.seen)
        assert (await model.complete("s", "u", purpose="compose")).text == "Fine."
        asked.append(len(first.seen) - before)
        assert not asked[-1] or loop.time() - began >= WITHIN_S, "it is waited for where it is asked, and else not"
    assert asked == [1, 0, 0, 1, 0]


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (openai_server.filtered_prompt(), ContentFiltered),
        (openai_server.error(400, code="context_length_exceeded"), ServiceRejected),
    ],
    ids=["filtered", "too long"],
)
async def test_a_refused_prompt_goes_nowhere_else(
    fault: openai_server.Step, error: type[Exception], stack: AsyncExitStack
) -> None:
    second = OpenAIServer()
    model = await chat(stack, OpenAIServer(otherwise=fault), second)
    with pytest.raises(error):
        await model.complete("s", "u", purpose="compose")
    assert second.seen == []


async def test_another_model_says_so_and_why_for_as_long_as_it_stands_in(stack: AsyncExitStack) -> None:
    clock = Clock()
    first, second = OpenAIServer(openai_server.error(503)), OpenAIServer()
    model = await chat(stack, first, second, models=("gpt-a", "gpt-small"), clock=clock)
    assert model.name == "gpt-a"
    why = "openai a: failed (status 503)"
    for _ in range(2):
        served = (await model.complete("s", "u", purpose="compose")).served
        assert served == Served("b", "gpt-small", f"compose: gpt-small (b) answered in place of gpt-a: {why}")
    clock.passed = 31.0
    assert (await model.complete("s", "u", purpose="compose")).served == Served("a", "gpt-a")


@pytest.mark.parametrize("auth", ["bearer", "api-key", "both"])
async def test_a_replaced_key_is_sent_with_the_next_call(auth: Auth, tmp_path: Path, stack: AsyncExitStack) -> None:
    path = tmp_path / "key"
    path.write_text("old-key\n", "utf-8")
    server = await stack.enter_async_context(OpenAIServer())
    model = OpenAIChat(server.base_url, KeyFile(path, "key_file"), "m", Remote("openai"), auth=auth)
    stack.push_async_callback(model.aclose)
    await model.complete("s", "u", purpose="compose")
    path.write_text("fresh-key\n", "utf-8")
    await model.complete("s", "u", purpose="compose")
    for seen, key in zip(server.seen, ("old-key", "fresh-key"), strict=True):
        assert seen.headers.get("Authorization") == (None if auth == "api-key" else f"Bearer {key}")
        assert seen.headers.get("api-key") == (None if auth == "bearer" else key)


async def embedder(stack: AsyncExitStack, *servers: EmbeddingsServer) -> EmbedderBackends:
    made: list[Backend[Embedder]] = []
    for order, server in enumerate(servers):
        await stack.enter_async_context(server)
        name = "ab"[order]
        calls = remote(name, Clock())
        client = OpenAIEmbedder(
            server.base_url, KEY, f"at-{name}", 256, calls, fingerprint=listed_fingerprint("m", 256), backend=name
        )
        stack.push_async_callback(client.aclose)
        made.append(Backend(name, "m", client, calls, order))
    return EmbedderBackends(Backends("embedding service", made))


async def test_another_embedder_of_the_same_vectors_takes_over_and_says_who_it_is(stack: AsyncExitStack) -> None:
    calls: list[EmbedCall] = []

    def watch(operation: Operation) -> AbstractContextManager[None]:
        calls.extend([operation] if isinstance(operation, EmbedCall) else ())
        return nullcontext()

    first, second = EmbeddingsServer(otherwise=faults.status(500)), EmbeddingsServer()
    several = await embedder(stack, first, second)
    with watched_by(watch):
        vectors = await several.embed(["How do I reset my router?"])
    assert vectors.shape == (1, several.width)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0)
    assert [(call.backend, call.fault is None) for call in calls] == [("a", False), ("b", True)]


async def test_where_no_embedder_answers_it_is_an_error_of_ours(stack: AsyncExitStack) -> None:
    down = [EmbeddingsServer(otherwise=faults.status(500)) for _ in range(2)]
    with pytest.raises(ServiceError, match="openai b: failed"):
        await (await embedder(stack, *down)).embed(["one"])


def test_a_fingerprint_is_of_model_and_dimensions() -> None:
    assert listed_fingerprint("m", 256) == listed_fingerprint("m", 256)
    assert len({listed_fingerprint(model, width) for model in ("m", "n") for width in (256, 512)}) == 4
