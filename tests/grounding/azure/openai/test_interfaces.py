"""What holds of chat.completions and the Responses API alike, in one piece and streamed: every trap becomes the same error."""

from __future__ import annotations

import logging
import re
import traceback
from typing import Any

import pytest
from aiohttp import web

from grounding.azure.openai.chat import OpenAIChat
from grounding.azure.openai.client import Auth
from grounding.azure.openai.learned import THINKING
from grounding.azure.openai.model import MOST_BYTES, OpenAIModel
from grounding.azure.openai.responses import OpenAIResponses
from grounding.errors import (
    AttestError,
    ContentFiltered,
    ReplyCut,
    ServiceRejected,
    ServiceReplyInvalid,
    ServiceTimeout,
    ServiceUnavailable,
    SettingsError,
)
from grounding.grading.reply import Said, read_reply
from grounding.model_calls.schema import NUMBER, WHOLE, fields, listed
from grounding.services.remote import Remote, Throttled
from tests.fakes import openai_server as fake
from tests.fakes.clock import at_once
from tests.fakes.openai_forms import sse
from tests.fakes.openai_server import OpenAIServer, Step
from tests.grounding.azure.openai.conftest import Way

KEY = "sk-secret-0123456789"
QUESTION = "Where is parcel 4711 of Ms Rossi?"
SCHEMA = fields(grades=listed(fields(id=WHOLE, score=NUMBER)))


def model(
    way: Way, server: OpenAIServer, *, retries: int = 1, deadline_s: float = 10.0, url: str = "", key: Any = KEY
) -> OpenAIModel:
    remote = Remote("model", deadline_s=deadline_s, retries=retries, sleep=at_once)
    return way[0](url or server.base_url, key, "gpt-test", remote, stream=way[1])


async def ask(asked: OpenAIModel, **more: Any) -> str:
    try:
        reply = await asked.complete("Answer from the evidence.", QUESTION, purpose="compose", max_tokens=64, **more)
    finally:
        await asked.aclose()
    return reply.text


async def test_a_reply_carries_text_model_and_usage(way: Way) -> None:
    async with OpenAIServer(fake.ok("Open until 18:00 [1].")) as server:
        asked = model(way, server)
        reply = await asked.complete("Be brief.", QUESTION, purpose="compose")
        await asked.aclose()
    assert (reply.text, reply.model) == ("Open until 18:00 [1].", "loopback-1")
    assert reply.usage == {"prompt_tokens": 11, "completion_tokens": 7, "cached_tokens": 3}
    assert reply.temperature == 0.0


INVALID: dict[str, Step] = {
    "html200": fake.html200(),
    "empty_body": fake.raw(""),
    "null": fake.raw("null"),
    "empty_object": fake.raw("{}"),
    "a_text": fake.raw('"Open until 18:00."'),
    "truncated_json": fake.raw('{"choices": [{"message": {"content": "Open unt'),
    "deep_json": fake.raw("[" * 100_000),
    "not_utf8": fake.raw("{}", content_type="text/plain"),
    "empty_text": fake.ok("  \n"),
    "only_thinking": fake.ok("<think>The hours are in [1].</think>\n"),
    "endless": fake.raw(" " * (MOST_BYTES + 1)),
}


@pytest.mark.parametrize("step", INVALID.values(), ids=INVALID)
async def test_what_is_no_whole_reply_is_an_error_after_one_more_try(way: Way, step: Step) -> None:
    async with OpenAIServer(otherwise=step) as server:
        with pytest.raises(ServiceReplyInvalid):
            await ask(model(way, server, retries=3))
    assert len(server.seen) == 2


@pytest.mark.parametrize(
    "step", [fake.error(500), fake.error(408), fake.reset(), fake.cut_stream()], ids=["500", "408", "reset", "cut"]
)
async def test_a_service_that_fails_is_tried_again_and_then_unavailable(way: Way, step: Step) -> None:
    async with OpenAIServer(otherwise=step) as server:
        with pytest.raises(ServiceUnavailable):
            await ask(model(way, server, retries=2))
    assert len(server.seen) == 3, "our retries, and none of the SDK's"


@pytest.mark.parametrize(
    "step",
    [fake.filtered_prompt(), fake.filtered_output(), fake.filtered_output("Our phone number is"), fake.refusal()],
)
async def test_filters_and_refusals_are_decisions_and_not_tried_again(way: Way, step: Step) -> None:
    async with OpenAIServer(otherwise=step) as server:
        with pytest.raises(ContentFiltered):
            await ask(model(way, server, retries=3))
    assert len(server.seen) == 1


async def test_a_reply_cut_at_its_length_is_asked_for_once_more_with_more_room(way: Way) -> None:
    async with OpenAIServer(otherwise=fake.cut_at_length()) as server:
        with pytest.raises(ReplyCut, match=f"cut off at {64 + THINKING} tokens"):
            await ask(model(way, server, retries=3))
    assert len(server.seen) == 2


async def test_the_service_says_when_to_come_back_also_after_more_than_the_sdk_would_wait(way: Way) -> None:
    async with OpenAIServer(otherwise=fake.throttled("900")) as server:
        with pytest.raises(Throttled) as caught:
            await ask(model(way, server, retries=3))
    assert (caught.value.retry_after, len(server.seen)) == (900.0, 1)


async def test_a_used_up_quota_is_not_tried_again(way: Way) -> None:
    async with OpenAIServer(otherwise=fake.throttled("1", code="insufficient_quota")) as server:
        with pytest.raises(ServiceRejected, match="quota"):
            await ask(model(way, server, retries=3))
    assert len(server.seen) == 1


async def test_a_server_that_never_answers_meets_our_deadline(way: Way) -> None:
    async with OpenAIServer(otherwise=fake.slow()) as server:
        with pytest.raises(ServiceTimeout):
            await ask(model(way, server, deadline_s=0.2))


async def test_a_base_url_without_v1_is_told(way: Way) -> None:
    async with OpenAIServer() as server:
        with pytest.raises(ServiceRejected, match=r"base URL must end in /v1, for Azure in /openai/v1/"):
            await ask(model(way, server, url=server.root))


async def test_a_token_function_that_is_not_asynchronous_is_a_refusal(way: Way) -> None:
    """The SDK lets a bare TypeError out."""
    async with OpenAIServer() as server:
        with pytest.raises(ServiceRejected, match=r"no token was given \(TypeError\)"):
            await ask(model(way, server, key=lambda: "token"))
    assert server.seen == []


@pytest.mark.parametrize("excepted", [True, False])
async def test_a_proxy_of_the_environment_is_used_but_for_this_machine(
    way: Way, excepted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with OpenAIServer() as proxy, OpenAIServer() as server:
        for name in ("HTTP_PROXY", "http_proxy"):
            monkeypatch.setenv(name, proxy.root)
        for name in ("NO_PROXY", "no_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.delenv(name, raising=False)
        url = server.base_url if excepted else "http://models.example/v1"
        assert await ask(model(way, server, url=url, key=KEY if excepted else None)) == "Fine."
    assert (len(proxy.seen), len(server.seen)) == ((0, 1) if excepted else (1, 0))


def test_a_key_does_not_travel_in_the_clear() -> None:
    for made in (OpenAIChat, OpenAIResponses):
        with pytest.raises(SettingsError, match="in the clear"):
            made("http://models.example/v1", KEY, "gpt-test", Remote("model"))


async def test_a_form_goes_along_and_is_left_out_when_none_is_asked_for(way: Way) -> None:
    async with OpenAIServer() as server:
        asked = model(way, server)
        await asked.complete("s", "u", purpose="grade", schema=SCHEMA)
        await asked.complete("s", "u", purpose="compose")
        await asked.aclose()
    with_it, without = (seen.body for seen in server.seen)
    form = {"name": "grade", "schema": SCHEMA, "strict": True}
    if way[0] is OpenAIChat:
        assert with_it["response_format"] == {"type": "json_schema", "json_schema": form}
    else:
        assert with_it["text"] == {"format": {"type": "json_schema", **form}}
    assert not {"response_format", "text"} & without.keys()


async def test_a_model_that_takes_no_form_is_asked_without_it_from_then_on(way: Way) -> None:
    async with OpenAIServer(takes_schemas=False) as server:
        asked = model(way, server, retries=0)
        for _ in range(3):
            assert (await asked.complete("s", "u", purpose="grade", schema=SCHEMA)).text == "Fine."
        await asked.aclose()
    assert [bool({"response_format", "text"} & seen.body.keys()) for seen in server.seen] == [True, False, False, False]


@pytest.mark.parametrize(
    "step",
    [
        fake.error(400, param="response_format.json_schema"),
        fake.error(400, param="text.format.schema", message="Invalid schema"),
        fake.error(422, message="structured outputs are not supported by this backend"),
        fake.error(400, message="Failed to parse grammar"),
        fake.error(400, message="This response_format type is unavailable now"),
        fake.error(400, message="JSON schema conversion failed"),
        fake.reply({"detail": [{"loc": ["body", "text", "format"], "msg": "json_schema"}]}, status=422),
    ],
)
async def test_servers_have_many_words_for_not_taking_a_form(way: Way, step: Step) -> None:
    async with OpenAIServer(step) as server:
        assert await ask(model(way, server, retries=0), schema=SCHEMA) == "Fine."
    assert len(server.seen) == 2


async def test_another_refusal_does_not_cost_the_form(way: Way) -> None:
    async with OpenAIServer(fake.error(400, param="messages"), fake.error(429), otherwise=fake.ok("Fine.")) as server:
        asked = model(way, server, retries=0)
        for error in (ServiceRejected, Throttled):
            with pytest.raises(error):
                await asked.complete("s", "u", purpose="grade", schema=SCHEMA)
        await asked.complete("s", "u", purpose="grade", schema=SCHEMA)
        await asked.aclose()
    assert all({"response_format", "text"} & seen.body.keys() for seen in server.seen)


async def test_a_fence_around_a_form_comes_as_it_is_and_is_read_by_whoever_asked(way: Way) -> None:
    """The SDK's own parsing raises a ValidationError of pydantic's."""
    async with OpenAIServer(fake.fenced('{"grades": [{"id": 1, "score": 0.8}]}')) as server:
        text = await ask(model(way, server), schema=SCHEMA)
    assert text.startswith("```json\n")
    assert read_reply(text, 1, "score") == {1: Said(0.8)}


async def test_a_model_without_temperature_is_asked_without_it_from_then_on(way: Way) -> None:
    async with OpenAIServer(fake.unsupported("temperature")) as server:
        asked = model(way, server, retries=0)
        replies = [await asked.complete("s", "u", purpose="compose") for _ in range(2)]
        await asked.aclose()
    assert ["temperature" in seen.body for seen in server.seen] == [True, False, False]
    assert [reply.temperature for reply in replies] == [None, None]


async def test_no_usage_and_no_details_are_no_failure(way: Way) -> None:
    """Local servers leave them out."""

    async def bare(_server: OpenAIServer, request: web.Request) -> web.StreamResponse:
        if request.path.endswith("/responses"):
            part = {"type": "output_text", "text": "Fine."}
            output = [{"type": "message", "content": [part]}]
            return web.json_response({"status": "completed", "output": output, "usage": {"input_tokens": 4}})
        choice = {"message": {"content": "Fine."}, "finish_reason": "stop"}
        return web.json_response({"choices": [choice], "usage": {"prompt_tokens": 4}})

    async with OpenAIServer(bare) as server:
        asked = model(way, server)
        reply = await asked.complete("s", "u", purpose="compose")
        await asked.aclose()
    assert (reply.text, reply.model, reply.usage) == ("Fine.", "gpt-test", {"prompt_tokens": 4})


ECHOES = f"Incorrect API key provided: {KEY}. Your message was: {QUESTION}"


@pytest.mark.parametrize(
    "step",
    [
        fake.error(401, message=ECHOES, code=ECHOES, param=ECHOES),
        fake.error(500, message=ECHOES),
        fake.raw(ECHOES),
        fake.reply({"status": "failed", "error": {"code": ECHOES, "message": ECHOES}, "choices": ECHOES}),
        fake.streamed(sse({"type": "error", "error": {"code": ECHOES, "message": ECHOES}})),
        fake.streamed(sse(ECHOES)),
        fake.reset(),
        fake.cut_stream(),
    ],
)
async def test_neither_key_nor_prompt_stands_in_an_error_or_a_log(
    way: Way, step: Step, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with OpenAIServer(otherwise=step) as server:
        with pytest.raises(AttestError) as caught:
            await ask(model(way, server, retries=0))
    shown = "".join(traceback.format_exception(caught.value)) + caplog.text
    for secret in (re.escape(KEY), r"(?<!\d)4711(?!\d)", "Rossi"):  # a port may have these digits among its own
        assert re.search(secret, shown) is None


@pytest.mark.parametrize(
    ("auth", "headers"),
    [
        ("bearer", {"Authorization": f"Bearer {KEY}"}),
        ("api-key", {"api-key": KEY}),
        ("both", {"Authorization": f"Bearer {KEY}", "api-key": KEY}),
    ],
)
async def test_a_key_goes_in_the_header_that_is_wanted(way: Way, auth: Auth, headers: dict[str, str]) -> None:
    async with OpenAIServer() as server:
        remote = Remote("model", retries=0)
        assert await ask(way[0](server.base_url, KEY, "gpt-test", remote, stream=way[1], auth=auth)) == "Fine."
    (seen,) = server.seen
    assert {name: seen.headers[name] for name in ("Authorization", "api-key") if name in seen.headers} == headers


async def test_a_token_is_a_bearers_whatever_the_header_of_keys(way: Way) -> None:
    async def token() -> str:
        return "entra-token"

    async with OpenAIServer() as server:
        await ask(way[0](server.base_url, token, "gpt-test", Remote("model"), auth="api-key"))
    assert server.seen[0].headers["Authorization"] == "Bearer entra-token"
    assert "api-key" not in server.seen[0].headers
