"""OpenAIChat over a loopback server: the SDK's own traps, and what each becomes for the caller."""

from __future__ import annotations

import asyncio
import logging
import traceback

import pytest
from aiohttp import web

from grounding.azure.openai.chat import OpenAIChat
from grounding.azure.openai.client import TokenProvider
from grounding.errors import (
    AttestError,
    ContentFiltered,
    ServiceRejected,
    ServiceReplyInvalid,
    ServiceUnavailable,
    SettingsError,
)
from grounding.services.remote import Overloaded, Remote, Throttled
from tests.fakes import openai_server as fake
from tests.fakes.clock import at_once
from tests.fakes.openai_forms import completion
from tests.fakes.openai_server import OpenAIServer, Step

KEY = "sk-secret-0123456789"
QUESTION = "Where is parcel QX-4711-Z of Ms Rossi?"


def chat(
    server: OpenAIServer,
    *,
    retries: int = 1,
    deadline_s: float = 10.0,
    base_url: str | None = None,
    api_key: str | TokenProvider | None = KEY,
    temperature: float | None = 0.0,
) -> OpenAIChat:
    remote = Remote("model", deadline_s=deadline_s, retries=retries, sleep=at_once)
    return OpenAIChat(base_url or server.base_url, api_key, "gpt-test", remote, temperature=temperature)


async def ask(model: OpenAIChat) -> str:
    try:
        reply = await model.complete("Answer from the evidence.", QUESTION, purpose="compose", max_tokens=64)
    finally:
        await model.aclose()
    return reply.text


async def test_what_is_sent() -> None:
    async with OpenAIServer(fake.ok("Open until 18:00 [1].")) as server:
        model = chat(server)
        await model.complete("Be brief.", QUESTION, purpose="compose", max_tokens=64)
        await model.aclose()
    (seen,) = server.seen
    assert seen.path == "/v1/chat/completions"
    assert seen.headers["Authorization"] == f"Bearer {KEY}"
    assert seen.body == {
        "model": "gpt-test",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": QUESTION}],
        "temperature": 0.0,
        "max_tokens": 64,
    }


@pytest.mark.row("2-11")
async def test_the_model_is_asked_at_temperature_zero() -> None:
    async with OpenAIServer() as server:
        await ask(chat(server))
    assert server.seen[0].body["temperature"] == 0


RETRIED: list[tuple[str, Step]] = [
    ("html200", fake.html200()),
    ("choices_null", fake.choices_null()),
    ("choices_empty", fake.choices_empty()),
    ("choice_null", fake.reply({"choices": [None]})),
    ("choices_text", fake.reply({"choices": "Open until 18:00."})),
    ("message_null", fake.reply({"choices": [{"message": None, "finish_reason": "stop"}]})),
    ("content_list", fake.reply({"choices": [{"message": {"content": ["x"]}, "finish_reason": "stop"}]})),
    ("not_an_object", fake.reply(["Open until 18:00."])),
    ("error_with_200", fake.reply({"error": {"message": "overloaded"}})),
    ("empty_body", fake.raw("")),
    ("truncated_json", fake.truncated_json()),
    ("deep_json", fake.raw("[" * 100_000)),
    ("unfinished", fake.unfinished()),
    ("tool_call", fake.reply(completion("x", finish="tool_calls"))),
    ("empty_text", fake.ok("  \n")),
    ("only_thinking", fake.ok("<think>The hours are in [1].</think>\n")),
]


@pytest.mark.parametrize("step", [step for _, step in RETRIED], ids=[name for name, _ in RETRIED])
async def test_a_reply_that_is_no_whole_reply_is_an_error_after_one_more_try(step: Step) -> None:
    async with OpenAIServer(otherwise=step) as server:
        with pytest.raises(ServiceReplyInvalid):
            await ask(chat(server, retries=3))
    assert len(server.seen) == 2


@pytest.mark.parametrize("step", [step for _, step in RETRIED], ids=[name for name, _ in RETRIED])
async def test_the_next_reply_may_be_whole(step: Step) -> None:
    async with OpenAIServer(step, fake.ok("Open until 18:00.")) as server:
        assert await ask(chat(server)) == "Open until 18:00."


@pytest.mark.parametrize(
    "step",
    [fake.error(500), fake.error(502), fake.error(408), fake.error(409), fake.reset(), fake.cut_stream()],
    ids=["500", "502", "408", "409", "reset", "cut_stream"],
)
async def test_a_service_that_fails_is_tried_again_and_then_unavailable(step: Step) -> None:
    async with OpenAIServer(otherwise=step) as server:
        with pytest.raises(ServiceUnavailable):
            await ask(chat(server, retries=2))
    assert len(server.seen) == 3, "our retries, and none of the SDK's"


async def test_nothing_listening_is_unavailable() -> None:
    async with OpenAIServer() as server:
        pass
    with pytest.raises(ServiceUnavailable, match="cannot be reached"):
        await ask(chat(server))


@pytest.mark.parametrize(
    ("step", "asked"),
    [
        (fake.throttled("7"), 7.0),
        (fake.throttled("900"), 900.0),
        (fake.throttled("7", **{"retry-after-ms": "1500"}), 1.5),
        (fake.throttled(None), 0.0),
    ],
)
async def test_throttling_says_when_to_come_back(step: Step, asked: float) -> None:
    """The SDK gives up on a Retry-After above 120 s; here the deadline decides."""
    async with OpenAIServer(otherwise=step) as server:
        with pytest.raises(Throttled) as caught:
            await ask(chat(server, retries=0))
    assert caught.value.retry_after == asked


async def test_a_short_throttling_is_waited_out() -> None:
    async with OpenAIServer(fake.throttled("2"), fake.ok("Fine.")) as server:
        assert await ask(chat(server)) == "Fine."


async def test_an_overloaded_service_says_when_to_come_back() -> None:
    async with OpenAIServer(otherwise=fake.error(503, headers={"Retry-After": "4"})) as server:
        with pytest.raises(Overloaded) as caught:
            await ask(chat(server, retries=0))
    assert caught.value.retry_after == 4.0


@pytest.mark.parametrize(
    "step",
    [
        fake.filtered_prompt(),
        fake.error(400, code=None, innererror={"code": "ResponsibleAIPolicyViolation"}),
        fake.filtered_output(),
        fake.filtered_output("Our phone number is"),
        fake.refusal(),
    ],
    ids=["prompt", "prompt_by_inner_code", "output", "output_partial", "refusal"],
)
async def test_filters_and_refusals_are_decisions_and_not_tried_again(step: Step) -> None:
    async with OpenAIServer(otherwise=step) as server:
        with pytest.raises(ContentFiltered):
            await ask(chat(server, retries=3))
    assert len(server.seen) == 1


@pytest.mark.parametrize(
    ("step", "says"),
    [
        (
            fake.error(401, code="invalid_api_key"),
            r"the key was refused, or this machine's identity \(status 401, invalid_api_key\)",
        ),
        (fake.error(403), "may not do this"),
        (fake.error(404, code="model_not_found"), r"no model or deployment of that name.*model_not_found"),
        (fake.error(400, code="context_length_exceeded"), "longer than the model can take"),
        (fake.error(413), "longer than the model can take"),
        (fake.error(400, param="messages"), r"refused \(status 400, parameter messages\)"),
        (fake.error(401, headers={"x-request-id": "req_12"}), r"request req_12"),
        (fake.error(401, headers={"x-request-id": "your key is k"}), r"\(status 401\)"),
        (fake.moved("http://elsewhere.invalid/v1/chat/completions"), "redirects elsewhere"),
    ],
)
async def test_refusals_say_what_to_mend_and_are_not_tried_again(step: Step, says: str) -> None:
    async with OpenAIServer(otherwise=step) as server:
        with pytest.raises(ServiceRejected, match=says):
            await ask(chat(server, retries=3))
    assert len(server.seen) == 1


@pytest.mark.parametrize("path", ["/v1", "/v1/", "/openai/v1", "/openai/v1/"])
async def test_base_urls_of_openai_and_azure(path: str) -> None:
    async with OpenAIServer() as server:
        assert await ask(chat(server, base_url=server.root + path)) == "Fine."


@pytest.mark.parametrize(
    "url", ["127.0.0.1:11434/v1", "ftp://models.example/v1", "http://", "https:///v1", "http://[::1"]
)
def test_a_base_url_that_is_no_address_is_a_setting_to_mend(url: str) -> None:
    with pytest.raises(SettingsError, match="ATTEST_OPENAI_BASE_URL"):
        OpenAIChat(url, KEY, "gpt-test", Remote("model"))


@pytest.mark.parametrize("key", [f"{KEY}\n", f" {KEY}", f"{KEY[:8]}…", "sk\u200bsecret"])
def test_a_key_that_cannot_be_sent_is_a_setting_to_mend_and_not_shown(key: str) -> None:
    with pytest.raises(SettingsError, match="ATTEST_OPENAI_API_KEY") as caught:
        OpenAIChat(None, key, "gpt-test", Remote("model"))
    assert "sk" not in str(caught.value)


async def test_a_token_that_cannot_be_sent_is_not_shown() -> None:
    async def token() -> str:
        return f"{KEY}\n"

    async with OpenAIServer() as server:
        with pytest.raises(AttestError) as caught:
            await ask(chat(server, api_key=token, retries=0))
    assert KEY not in "".join(traceback.format_exception(caught.value))


async def test_a_token_outside_ascii_is_not_shown() -> None:
    async def token() -> str:
        return f"{KEY}…"

    async with OpenAIServer() as server:
        with pytest.raises(AttestError) as caught:
            await ask(chat(server, api_key=token, retries=0))
    assert KEY not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("named", [True, False])
async def test_a_model_without_temperature_is_asked_without_it_from_then_on(named: bool) -> None:
    async with OpenAIServer(fake.unsupported("temperature", named=named)) as server:
        model = chat(server, retries=0)
        await model.complete("s", "u", purpose="compose")
        await model.complete("s", "u", purpose="compose")
        await model.aclose()
    assert ["temperature" in seen.body for seen in server.seen] == [True, False, False]


async def test_a_model_that_renamed_max_tokens_gets_the_new_name_from_then_on() -> None:
    async with OpenAIServer(fake.unsupported("max_tokens"), fake.unsupported("temperature")) as server:
        model = chat(server, retries=0)
        await model.complete("s", "u", purpose="compose", max_tokens=5)
        await model.complete("s", "u", purpose="compose", max_tokens=6)
        await model.aclose()
    assert [seen.body.get("max_tokens") for seen in server.seen] == [5, None, None, None]
    assert [seen.body.get("max_completion_tokens") for seen in server.seen] == [None, 5, 5, 6]
    assert ["temperature" in seen.body for seen in server.seen] == [True, True, False, False]


async def test_a_server_that_takes_no_form_of_the_request_is_not_asked_for_ever() -> None:
    async with OpenAIServer(otherwise=fake.unsupported("temperature")) as server:
        with pytest.raises(ServiceRejected, match="parameter temperature"):
            await ask(chat(server, retries=3))
    assert len(server.seen) == 2


async def test_musings_of_a_local_model_are_not_the_reply() -> None:
    async with OpenAIServer(fake.ok("<think>\nProbably 19:00?\n</think>\n\nOpen until 18:00.")) as server:
        assert await ask(chat(server)) == "Open until 18:00."


async def test_missing_or_odd_usage_is_no_failure() -> None:
    odd = {**completion("Fine."), "usage": {"prompt_tokens": "many", "completion_tokens": 3}, "model": None}
    bare = {key: value for key, value in completion("Fine.").items() if key != "usage"}
    async with OpenAIServer(fake.reply(odd), fake.reply(bare)) as server:
        model = chat(server)
        first = await model.complete("s", "u", purpose="compose")
        second = await model.complete("s", "u", purpose="compose")
        await model.aclose()
    assert (first.usage, first.model) == ({"completion_tokens": 3}, "gpt-test")
    assert second.usage == {}


async def test_no_key_of_the_environment_goes_to_a_server_without_one(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    async with OpenAIServer() as server:
        await ask(chat(server, api_key=None))
    assert KEY not in str(server.seen[0].headers)


async def test_a_token_provider_gives_the_bearer_token() -> None:
    async def token() -> str:
        return "entra-token"

    async with OpenAIServer() as server:
        await ask(chat(server, api_key=token))
    assert server.seen[0].headers["Authorization"] == "Bearer entra-token"


async def test_a_token_provider_that_fails_is_a_refusal_without_its_words() -> None:
    async def token() -> str:
        raise RuntimeError(f"credential {KEY} expired")

    async with OpenAIServer() as server:
        with pytest.raises(ServiceRejected, match=r"no token was given \(RuntimeError\)") as caught:
            await ask(chat(server, api_key=token))
    assert KEY not in "".join(traceback.format_exception(caught.value))
    assert server.seen == []


ECHOES = f"Incorrect API key provided: {KEY}. Your message was: {QUESTION}"


@pytest.mark.parametrize(
    "step",
    [
        fake.error(401, message=ECHOES, code=ECHOES, param=ECHOES),
        fake.error(400, message=ECHOES),
        fake.error(500, message=ECHOES),
        fake.error(429, message=ECHOES, code="rate_limit_exceeded"),
        fake.filtered_prompt(),
        fake.raw(ECHOES),
        fake.raw("<p>" + ECHOES, content_type="text/html"),
        fake.raw(ECHOES, status=404, content_type="text/plain"),
        fake.reply({"choices": ECHOES}),
        fake.reset(),
        fake.cut_stream(),
    ],
)
async def test_neither_key_nor_prompt_stands_in_an_error_or_a_log(step: Step, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with OpenAIServer(otherwise=step) as server:
        with pytest.raises(AttestError) as caught:
            await ask(chat(server, retries=0))
    shown = "".join(traceback.format_exception(caught.value)) + caplog.text
    assert KEY not in shown
    assert "QX-4711-Z" not in shown  # digits alone may stand in a port or an address
    assert "Rossi" not in shown


async def test_calls_run_side_by_side() -> None:
    gate = asyncio.Barrier(5)

    async def together(_server: OpenAIServer, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        await gate.wait()
        return web.json_response(completion(body["messages"][1]["content"]))

    async with OpenAIServer(otherwise=together) as server:
        model = chat(server)
        async with asyncio.timeout(60):
            replies = await asyncio.gather(*(model.complete("s", f"question {n}", purpose="grade") for n in range(5)))
        await model.aclose()
    assert [reply.text for reply in replies] == [f"question {n}" for n in range(5)]


async def test_the_service_is_left_alone_after_failing_in_a_row() -> None:
    async with OpenAIServer(otherwise=fake.error(500)) as server:
        model = chat(server, retries=0)
        for _ in range(7):
            with pytest.raises(ServiceUnavailable):
                await model.complete("s", "u", purpose="compose")
        await model.aclose()
    assert len(server.seen) == 5
