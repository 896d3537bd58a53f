"""Models that think before they write, as the GPT-5 class does, on both interfaces, whole and streamed."""

from __future__ import annotations

import logging
from contextlib import nullcontext
from typing import Any

import pytest

from grounding.azure.openai.chat import OpenAIChat
from grounding.azure.openai.learned import THINKING, WIDER, Learned, beginning
from grounding.azure.openai.model import OpenAIModel
from grounding.azure.openai.responses import OpenAIResponses
from grounding.errors import ReplyCut, ServiceRejected
from grounding.model_calls.reply_room import room_granted_by
from grounding.observe import Operation, ReplyUnused, watched_by
from grounding.records import Completion
from grounding.services.remote import Remote
from tests.fakes import openai_server as fake
from tests.fakes.clock import at_once
from tests.fakes.openai_forms import Reasoner
from tests.fakes.openai_server import OpenAIServer
from tests.grounding.azure.openai.conftest import WAYS, Way

TEXT = "Open until 18:00."
CAPS = ("max_tokens", "max_completion_tokens", "max_output_tokens")


def model(way: Way, server: OpenAIServer, learned: Learned | None = None, **more: Any) -> OpenAIModel:
    remote = Remote("model", deadline_s=10.0, retries=0, sleep=at_once)
    return way[0](server.base_url, "key", "gpt-test", remote, stream=way[1], learned=learned, **more)


async def ask(asked: OpenAIModel, *, times: int = 1, max_tokens: int = 800) -> list[Completion]:
    try:
        return [await asked.complete("s", "u", purpose="compose", max_tokens=max_tokens) for _ in range(times)]
    finally:
        await asked.aclose()


def caps(server: OpenAIServer) -> list[int]:
    """The caps of requests, those included that were refused."""
    return [next(seen.body[name] for name in CAPS if name in seen.body) for seen in server.seen]


async def test_a_model_that_thinks_1200_tokens_answers_and_is_known_from_then_on(way: Way) -> None:
    """At a gateway, of which nothing is known: one refusal each, one cut reply, and never again."""
    async with OpenAIServer(otherwise=fake.ok(TEXT), reasoner=Reasoner(thinks=1200)) as server:
        first, second = await ask(model(way, server), times=2)
    assert [first.text, second.text] == [TEXT, TEXT]
    assert first.usage["reasoning_tokens"] == second.usage["reasoning_tokens"] == 1200
    assert first.usage["completion_tokens"] > 1200
    assert first.temperature is None
    refused = {OpenAIChat: 2, OpenAIResponses: 1}[way[0]]
    assert caps(server)[refused:] == [800, 800 + WIDER * THINKING, 800 + THINKING]


@pytest.mark.parametrize("details", [True, False], ids=["counted apart", "not counted apart"])
async def test_on_openai_and_azure_the_first_reply_has_room_already(way: Way, details: bool) -> None:
    known = beginning("https://contoso.openai.azure.com/openai/v1/")
    async with OpenAIServer(otherwise=fake.ok(TEXT), reasoner=Reasoner(thinks=1200, details=details)) as server:
        (reply,) = await ask(model(way, server, known))
    assert reply.text == TEXT
    assert caps(server) == [800 + THINKING] * 2, "one refusal, of the temperature"
    assert all("max_tokens" not in seen.body for seen in server.seen)


@pytest.mark.parametrize(
    ("url", "name"),
    [
        (None, "max_completion_tokens"),
        ("https://api.openai.com/v1", "max_completion_tokens"),
        ("https://eu.api.openai.com/v1", "max_completion_tokens"),
        ("https://contoso.openai.azure.com/openai/v1/", "max_completion_tokens"),
        ("https://contoso.services.ai.azure.us/openai/v1/", "max_completion_tokens"),
        ("http://127.0.0.1:11434/v1", "max_tokens"),
        ("https://contoso.azure-api.net/v1", "max_tokens"),
        ("https://notapi.openai.com.example/v1", "max_tokens"),
    ],
)
def test_the_name_of_the_cap_goes_by_the_host(url: str | None, name: str) -> None:
    assert beginning(url).length_name == name


@pytest.mark.parametrize("named", [True, False])
async def test_a_server_that_knows_the_old_name_alone_is_asked_by_it(named: bool) -> None:
    step = fake.unsupported("max_completion_tokens", named=named)
    known = Learned(length_name="max_completion_tokens")
    async with OpenAIServer(step) as server:
        await ask(model(WAYS["chat"], server, known), times=2)
    asked_by = [sorted(CAPS & seen.body.keys()) for seen in server.seen]
    assert asked_by == [["max_completion_tokens"], ["max_tokens"], ["max_tokens"]]


async def test_a_server_that_takes_neither_name_is_not_asked_for_ever() -> None:
    async with OpenAIServer(
        fake.unsupported("max_tokens"), otherwise=fake.unsupported("max_completion_tokens")
    ) as server:
        with pytest.raises(ServiceRejected, match="max_completion_tokens"):
            await ask(model(WAYS["chat"], server))
    assert len(server.seen) == 2


async def test_a_model_that_does_not_think_gets_no_room(way: Way) -> None:
    """Not even on Azure, once it has said so: the cap counts against the tokens a minute there."""
    known = beginning(None)
    async with OpenAIServer(otherwise=fake.ok(TEXT), reasoner=Reasoner(thinks=0, temperature=True)) as server:
        await ask(model(way, server, known), times=3)
    assert caps(server) == [800 + THINKING, 800, 800]
    assert not known.thinks


async def test_a_long_answer_is_asked_for_once_more_with_more_room(way: Way) -> None:
    long = "Open until 18:00. " * 300  # 1,350 tokens
    async with OpenAIServer(otherwise=fake.ok(long), reasoner=Reasoner(thinks=0, temperature=True)) as server:
        (reply,) = await ask(model(way, server, Learned(length_name="max_completion_tokens")))
    assert reply.text == long
    assert caps(server) == [800, 800 + THINKING]


async def test_a_reply_cut_twice_is_an_error_that_says_why(way: Way) -> None:
    unused: list[dict[str, int]] = []

    def watch(operation: Operation) -> Any:
        if isinstance(operation, ReplyUnused):
            unused.append(dict(operation.usage))
        return nullcontext()

    async with OpenAIServer(otherwise=fake.ok(TEXT), reasoner=Reasoner(thinks=90_000)) as server:
        with pytest.raises(ReplyCut, match=r"cut off at 17184 tokens, 17184 of them thought"), watched_by(watch):
            await ask(model(way, server, beginning(None)))
    assert caps(server)[1:] == [800 + THINKING, 800 + WIDER * THINKING]
    assert [usage["reasoning_tokens"] for usage in unused] == [4896, 17184], "both are billed"


async def test_a_model_that_thinks_more_than_the_room_has_the_wider_one_from_then_on(way: Way) -> None:
    async with OpenAIServer(otherwise=fake.ok(TEXT), reasoner=Reasoner(thinks=9000)) as server:
        await ask(model(way, server, beginning(None)), times=2)
    assert caps(server)[1:] == [800 + THINKING, 800 + WIDER * THINKING, 800 + WIDER * THINKING]


async def test_without_room_for_thinking_a_cut_reply_is_the_end(way: Way) -> None:
    async with OpenAIServer(otherwise=fake.ok(TEXT), reasoner=Reasoner(thinks=1200)) as server:
        with pytest.raises(ReplyCut, match="cut off at 800 tokens"):
            await ask(model(way, server, beginning(None, thinking=0)))
    assert set(caps(server)) == {800}


async def test_whoever_keeps_the_account_says_how_much_room_there_is(way: Way) -> None:
    asked: list[tuple[int, bool]] = []

    def grant(tokens: int, again: bool) -> int | None:
        asked.append((tokens, again))
        return None if again else 100

    async with OpenAIServer(otherwise=fake.ok(TEXT), reasoner=Reasoner(thinks=1200)) as server:
        with pytest.raises(ReplyCut), room_granted_by(grant):
            await ask(model(way, server, beginning(None)))
    assert set(caps(server)) == {900}
    assert asked == [(THINKING, False), (WIDER * THINKING, True)]


async def test_a_cap_that_is_too_large_for_the_model_loses_its_room(way: Way) -> None:
    """4,896 is more than this model writes; 800 is not."""
    async with OpenAIServer(otherwise=fake.ok(TEXT), reasoner=Reasoner(thinks=100, most=4096)) as server:
        replies = await ask(model(way, server, beginning(None)), times=2)
    assert [reply.text for reply in replies] == [TEXT, TEXT]
    assert caps(server)[-1] == 800


async def test_a_context_too_short_for_the_room_is_no_refusal_of_the_name() -> None:
    words = "This model's maximum context length is 4096 tokens. However, you requested 7996 tokens (3100 in the messages, 4896 in the completion)."
    known = Learned(assumed=True)
    async with OpenAIServer(fake.error(400, param=None, message=words)) as server:
        await ask(model(WAYS["chat"], server, known))
    assert caps(server) == [800 + THINKING, 800]
    assert "max_tokens" not in known.refused


async def test_what_is_learned_is_shared_by_all_that_call_the_model(way: Way) -> None:
    """Drafter and grader are two clients with breakers of their own."""
    known = beginning(None)
    async with OpenAIServer(otherwise=fake.ok(TEXT), reasoner=Reasoner(thinks=1200)) as server:
        await ask(model(way, server, known))
        learning = len(server.seen)
        await ask(model(way, server, known), times=3)
    assert learning == 2
    assert len(server.seen) == learning + 3


@pytest.mark.parametrize(("word", "taken"), [("low", True), ("none", False), ("turbo", False)])
async def test_an_effort_is_passed_on_and_left_out_where_it_is_refused(
    way: Way, word: str, taken: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    known = beginning(None, effort=word)
    async with OpenAIServer(otherwise=fake.ok(TEXT), reasoner=Reasoner(thinks=10)) as server:
        await ask(model(way, server, known, effort=word), times=2)
    sent = [
        seen.body.get("reasoning_effort") or (seen.body.get("reasoning") or {}).get("effort") for seen in server.seen
    ]
    assert sent[0] == word
    assert sent[-2:] == ([word] * 2 if taken else [None] * 2)
    assert known.efforts == (() if taken else ("minimal", "low", "medium", "high"))
    told = [record.getMessage() for record in caplog.records if "ATTEST_OPENAI_EFFORT" in record.getMessage()]
    why = f"ATTEST_OPENAI_EFFORT={word} (it names minimal, low, medium, high); it is asked without"
    assert told == ([] if taken else [f"model: the model takes no {why}"])


async def test_older_services_name_what_they_do_not_take_without_quotes() -> None:
    step = fake.error(400, code=None, message="Unrecognized request argument supplied: reasoning_effort")
    async with OpenAIServer(step) as server:
        await ask(model(WAYS["chat"], server, effort="low"))
    assert ["reasoning_effort" in seen.body for seen in server.seen] == [True, False]


async def test_an_effort_of_none_is_a_model_that_does_not_think() -> None:
    assert beginning(None, effort="none").room() == 0
    assert beginning("http://127.0.0.1:1/v1", effort="low").room() == THINKING
    assert beginning("http://127.0.0.1:1/v1", sure=True).room() == THINKING
    assert beginning("http://127.0.0.1:1/v1").room() == 0


@pytest.mark.parametrize(
    "message",
    [
        {"content": "<think>The hours are in [1].</think>Open until 18:00."},
        {"content": TEXT, "reasoning_content": "The hours are in [1]."},
        {"content": TEXT, "reasoning": "The hours are in [1]."},
    ],
)
async def test_a_local_model_shows_that_it_thinks(message: dict[str, str]) -> None:
    """No local server counts its thoughts apart."""
    known = Learned()
    body = {
        "choices": [{"message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 4, "completion_tokens": 9},
    }
    async with OpenAIServer(fake.reply(body)) as server:
        (reply,) = await ask(model(WAYS["chat"], server, known))
    assert (reply.text, known.thinks, known.room()) == (TEXT, True, THINKING)
