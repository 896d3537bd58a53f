"""The Responses API alone: what is sent, and how each status ends."""

from __future__ import annotations

from typing import Any

import pytest

from grounding.azure.openai.responses import OpenAIResponses
from grounding.errors import (
    ContentFiltered,
    ReplyCut,
    ServiceRejected,
    ServiceReplyInvalid,
    ServiceUnavailable,
)
from grounding.records import Completion
from grounding.services.remote import Remote, Throttled
from tests.fakes import openai_server as fake
from tests.fakes.clock import at_once
from tests.fakes.openai_forms import response
from tests.fakes.openai_server import OpenAIServer, Step


async def ask(
    *steps: Step, otherwise: Step | None = None, retries: int = 2, max_tokens: int = 64
) -> tuple[Completion, OpenAIServer]:
    async with OpenAIServer(*steps, otherwise=otherwise) as server:
        model = OpenAIResponses(server.base_url, "key", "gpt-test", Remote("model", retries=retries, sleep=at_once))
        try:
            return await model.complete("Be brief.", "When?", purpose="compose", max_tokens=max_tokens), server
        finally:
            await model.aclose()


def whole(*output: dict[str, Any], **more: Any) -> Step:
    return fake.reply({**response(""), "output": list(output), **more})


def message(*texts: str, **more: Any) -> dict[str, Any]:
    return {"type": "message", "content": [{"type": "output_text", "text": text} for text in texts], **more}


async def test_a_call_stands_alone_and_nothing_of_it_is_kept() -> None:
    _, server = await ask(fake.ok("Fine."))
    (seen,) = server.seen
    assert (seen.path, seen.headers["Authorization"]) == ("/v1/responses", "Bearer key")
    assert seen.body == {
        "model": "gpt-test",
        "instructions": "Be brief.",
        "input": "When?",
        "max_output_tokens": 64,
        "store": False,
        "temperature": 0.0,
    }


async def test_a_server_that_refuses_to_keep_nothing_is_not_asked_to_keep_it() -> None:
    with pytest.raises(ServiceRejected, match="parameter store"):
        await ask(otherwise=fake.unsupported("store"))


async def test_fewer_tokens_than_the_service_takes_are_asked_for_as_its_least() -> None:
    _, server = await ask(fake.ok("Fine."), max_tokens=3)
    assert server.seen[0].body["max_output_tokens"] == 16


@pytest.mark.parametrize(
    ("step", "error", "calls"),
    [
        (whole(message("x"), status="in_progress"), ServiceReplyInvalid, 2),
        (whole(message("x"), status="queued"), ServiceReplyInvalid, 2),
        (whole(message("x"), status="cancelled"), ServiceReplyInvalid, 2),
        (whole(message("x"), status=None), ServiceReplyInvalid, 2),
        (whole(message("x"), status=["completed"]), ServiceReplyInvalid, 2),
        (whole(message("x"), status="incomplete"), ServiceReplyInvalid, 2),
        (whole(message("x"), status="incomplete", incomplete_details={"reason": "steered"}), ServiceReplyInvalid, 2),
        (whole(message("x"), status="incomplete", incomplete_details={"reason": ["length"]}), ServiceReplyInvalid, 2),
        (
            whole(message("x"), status="incomplete", incomplete_details={"reason": "max_output_tokens"}),
            ReplyCut,
            2,
        ),
        (whole(message("x"), status="incomplete", incomplete_details={"reason": "content_filter"}), ContentFiltered, 1),
        (whole(status="failed", error={"code": "server_error", "message": "x"}), ServiceUnavailable, 3),
        (whole(status="failed", error=None), ServiceUnavailable, 3),
        (whole(status="failed", error={"code": "rate_limit_exceeded"}), Throttled, 3),
        (whole(status="failed", error={"code": "invalid_prompt"}), ContentFiltered, 1),
        (fake.reply({**response(""), "output": None}), ServiceReplyInvalid, 2),
        (whole({"type": "reasoning", "summary": []}, None, "x"), ServiceReplyInvalid, 2),  # type: ignore[arg-type]  # a server may say anything
        (whole(message("Let me look.", phase="commentary")), ServiceReplyInvalid, 2),
        (whole({"type": "message", "content": [{"type": "refusal", "refusal": "No."}]}), ContentFiltered, 1),
        (whole(message("I"), {"type": "message", "content": [{"type": "refusal"}]}), ContentFiltered, 1),
    ],
)
async def test_only_what_is_completed_is_a_reply(step: Step, error: type[Exception], calls: int) -> None:
    async with OpenAIServer(otherwise=step) as server:
        model = OpenAIResponses(server.base_url, "key", "gpt-test", Remote("model", sleep=at_once))
        with pytest.raises(error):
            await model.complete("s", "u", purpose="compose")
        await model.aclose()
    assert len(server.seen) == calls


async def test_the_answer_is_all_texts_but_those_on_the_way() -> None:
    reply, _ = await ask(
        whole(message("Let me look.", phase="commentary"), message("Open ", "until "), message("18:00.", phase="final"))
    )
    assert reply.text == "Open until 18:00."


async def test_a_server_without_it_says_what_to_set() -> None:
    with pytest.raises(ServiceRejected, match="set ATTEST_OPENAI_API=chat"):
        await ask(otherwise=fake.error(404))
