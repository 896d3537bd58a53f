"""What every ChatModel does, whichever server is behind it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack

import pytest

from grounding.azure.openai.backends import ChatBackends
from grounding.azure.openai.chat import OpenAIChat
from grounding.azure.openai.responses import OpenAIResponses
from grounding.errors import ContentFiltered, ServiceError, ServiceReplyInvalid, ServiceUnavailable
from grounding.model_calls.schema import TEXT, fields, listed
from grounding.ports import ChatModel
from grounding.records import Completion
from grounding.services.backends import Backend, Backends
from grounding.services.remote import Remote
from tests.fakes import openai_server
from tests.fakes.model import FaultyModel, ScriptedModel
from tests.fakes.openai_server import OpenAIServer

Reply = str | type[Exception]
Make = Callable[[Sequence[Reply]], Awaitable[ChatModel]]
STEPS: dict[type[Exception], openai_server.Step] = {
    ServiceUnavailable: openai_server.error(500),
    ServiceReplyInvalid: openai_server.html200(),
    ContentFiltered: openai_server.filtered_output(),
}
ERRORS: dict[type[Exception], Exception] = {
    ServiceUnavailable: ServiceUnavailable("model", "down"),
    ServiceReplyInvalid: ServiceReplyInvalid("model", "a web page came back"),
    ContentFiltered: ContentFiltered("filtered"),
}


SERVICES: dict[str, tuple[type[OpenAIChat | OpenAIResponses], bool]] = {
    "chat": (OpenAIChat, False),
    "chat, streamed": (OpenAIChat, True),
    "responses": (OpenAIResponses, False),
    "responses, streamed": (OpenAIResponses, True),
}
SCHEMA = fields(answers=listed(TEXT))


@pytest.fixture(params=[*SERVICES, "backends", "scripted", "faulty"])
async def make(request: pytest.FixtureRequest) -> AsyncIterator[Make]:
    """Builds an implementation that gives these replies; an error class stands for a server that fails that way."""
    async with AsyncExitStack() as stack:

        async def loopback(replies: Sequence[Reply]) -> ChatModel:
            steps = [openai_server.ok(r) if isinstance(r, str) else STEPS[r] for r in replies]
            server = await stack.enter_async_context(OpenAIServer(*steps))
            interface, stream = SERVICES[request.param]
            model = interface(server.base_url, "key", "gpt-test", Remote("model", retries=0), stream=stream)
            stack.push_async_callback(model.aclose)
            return model

        async def backends(replies: Sequence[Reply]) -> ChatModel:
            """Two of them, the first of which is down."""
            down = await stack.enter_async_context(OpenAIServer(otherwise=openai_server.error(500)))
            steps = [openai_server.ok(r) if isinstance(r, str) else STEPS[r] for r in replies]
            up = await stack.enter_async_context(OpenAIServer(*steps))
            made: list[Backend[ChatModel]] = []
            for order, server in enumerate((down, up)):
                remote = Remote("model", retries=0)
                model = OpenAIChat(server.base_url, "key", "gpt-test", remote)
                stack.push_async_callback(model.aclose)
                made.append(Backend(str(order), "gpt-test", model, remote, order))
            return ChatBackends(Backends("model", made))

        async def scripted(replies: Sequence[Reply]) -> ChatModel:
            return ScriptedModel(*(r if isinstance(r, str) else ERRORS[r] for r in replies))

        async def faulty(replies: Sequence[Reply]) -> ChatModel:
            return FaultyModel(await scripted(replies))

        yield {"backends": backends, "scripted": scripted, "faulty": faulty}.get(request.param, loopback)


async def test_it_has_a_name(make: Make) -> None:
    assert (await make([])).name


@pytest.mark.parametrize("text", ["Fine.", "Zwei\nZeilen – „ja“", "😀 e\u0301"])
async def test_the_reply_comes_unchanged_with_model_and_usage(make: Make, text: str) -> None:
    reply = await (await make([text])).complete("system", "user", purpose="compose")
    assert isinstance(reply, Completion)
    assert reply.text == text
    assert reply.model
    assert all(isinstance(count, int) and count >= 0 for count in reply.usage.values())


async def test_a_reply_can_be_asked_for_in_a_form(make: Make) -> None:
    reply = await (await make(['{"answers": []}'])).complete("s", "u", purpose="plan", schema=SCHEMA)
    assert reply.text == '{"answers": []}'


async def test_replies_come_in_the_order_of_the_questions(make: Make) -> None:
    model = await make(["one", "two"])
    texts = [(await model.complete("s", "u", purpose="grade", max_tokens=5)).text for _ in range(2)]
    assert texts == ["one", "two"]


@pytest.mark.parametrize("error", [ServiceUnavailable, ServiceReplyInvalid, ContentFiltered])
async def test_failure_is_an_error_of_ours_and_the_next_call_works(make: Make, error: type[Exception]) -> None:
    model = await make([error, "fine"])
    with pytest.raises(error) as caught:
        await model.complete("s", "u", purpose="compose")
    assert isinstance(caught.value, ServiceError | ContentFiltered)
    assert "\n" not in str(caught.value)
    assert (await model.complete("s", "u", purpose="compose")).text == "fine"


async def test_calls_side_by_side_each_get_a_reply(make: Make) -> None:
    model = await make(["same"] * 6)
    replies = await asyncio.gather(*(model.complete("s", "u", purpose="grade") for _ in range(6)))
    assert [r.text for r in replies] == ["same"] * 6
