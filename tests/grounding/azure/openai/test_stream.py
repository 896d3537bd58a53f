"""Replies that come in pieces: the whole of one, or an error, wherever it ends."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grounding.azure.openai.chat import OpenAIChat
from grounding.azure.openai.event_stream import EventLines
from grounding.azure.openai.responses import OpenAIResponses
from grounding.errors import (
    ContentFiltered,
    ServiceError,
    ServiceRejected,
    ServiceReplyInvalid,
    ServiceTimeout,
    ServiceUnavailable,
)
from grounding.services.remote import Remote, Throttled
from tests.fakes import openai_server as fake
from tests.fakes.clock import at_once
from tests.fakes.openai_forms import Ending, completion, events, response, sse
from tests.fakes.openai_server import OpenAIServer, Step, streamed

TEXT = "Call +1 555 0100, „jederzeit“\u2028until 18:00 😀."
PATHS = {OpenAIChat: "/v1/chat/completions", OpenAIResponses: "/v1/responses"}
Interface = type[OpenAIChat | OpenAIResponses]
BOTH: list[Interface] = [OpenAIChat, OpenAIResponses]


@pytest.fixture(params=BOTH)
def interface(request: pytest.FixtureRequest) -> Interface:
    made: Interface = request.param
    return made


def made(interface: Interface, ending: Ending = "stop", *, usage: bool = True) -> list[dict[str, Any]]:
    asked = {"stream_options": {"include_usage": True}} if usage else {}
    return events(PATHS[interface], TEXT, ending, asked)


async def ask(
    interface: Interface, *steps: Step, otherwise: Step | None = None, retries: int = 0, deadline_s: float = 10.0
) -> tuple[str, list[dict[str, Any]]]:
    """The reply, and the bodies that were sent for it."""
    async with OpenAIServer(*steps, otherwise=otherwise) as server:
        remote = Remote("model", deadline_s=deadline_s, retries=retries, sleep=at_once)
        model = interface(server.base_url, "key", "gpt-test", remote, stream=True)
        try:
            reply = await model.complete("s", "u", purpose="compose")
        finally:
            await model.aclose()
    return reply.text, [seen.body for seen in server.seen]


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
async def test_pieces_make_the_text(interface: Interface, ends: str) -> None:
    """Cut within characters, between CR and LF, with a line separator inside that is no line end of the stream."""
    assert (await ask(interface, streamed(sse(*made(interface), "[DONE]", "", ends=ends))))[0] == TEXT


async def test_comments_other_fields_and_data_over_lines(interface: Interface) -> None:
    body = b"".join(
        b": keep-alive\nid: 7\nretry: 10\n"
        + b"".join(b"data:" + line + b"\n" for line in json.dumps(event, indent=1).encode().split(b"\n"))
        + b"\n\n"
        for event in made(interface)
    )
    assert (await ask(interface, streamed(body)))[0] == TEXT


@pytest.mark.parametrize("cut", [False, True], ids=["ended", "socket closed"])
async def test_wherever_it_ends_it_is_the_whole_text_or_an_error(interface: Interface, cut: bool) -> None:
    """The SDK hands out what came when a stream ends early, and raises nothing."""
    sent = made(interface)
    ends: list[str] = []
    for count in range(len(sent) + 1):
        try:
            text, _ = await ask(interface, streamed(sse(*sent[:count]), cut=cut))
            assert text == TEXT
            ends.append("whole")
        except (ServiceReplyInvalid, ServiceUnavailable) as error:
            ends.append(type(error).__name__)
    last = len(sent) - 2 if interface is OpenAIChat else len(sent) - 1  # the usage comes after the finish reason
    early = "ServiceUnavailable" if cut else "ServiceReplyInvalid"
    assert ends[: last + 1] == [early] * (last + 1)
    assert ends[-1] == ("whole" if interface is OpenAIResponses or not cut else early)


async def test_an_event_cut_in_the_middle_is_no_event(interface: Interface) -> None:
    whole = sse(*made(interface, usage=False))
    for left_out in (1, 2, 5, 30):
        with pytest.raises(ServiceReplyInvalid):
            await ask(interface, streamed(whole[:-left_out]))


BROKEN: dict[str, bytes] = {
    "no json": sse("{broken"),
    "a list": sse("[1]"),
    "null": sse("null"),
    "deep": sse("[" * 100_000),
    "not utf-8": b"data: \xff\n\n",
    "a page": sse("<p>Sign in"),
}


@pytest.mark.parametrize("part", BROKEN.values(), ids=BROKEN)
async def test_a_piece_that_cannot_be_read_ends_it(interface: Interface, part: bytes) -> None:
    sent = made(interface)
    step = streamed(sse(*sent[:4]) + part + sse(*sent[4:]))
    with pytest.raises(ServiceReplyInvalid):
        await ask(interface, otherwise=step)


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("server_error", ServiceUnavailable),
        (None, ServiceUnavailable),
        (500, ServiceUnavailable),
        ("rate_limit_exceeded", Throttled),
        ("insufficient_quota", ServiceRejected),
        ("context_length_exceeded", ServiceRejected),
        ("content_filter", ContentFiltered),
    ],
)
async def test_an_error_in_the_stream_is_one_of_ours(interface: Interface, code: object, error: type) -> None:
    told: dict[str, Any] = {"code": code, "message": "x"}
    event = {"error": told} if interface is OpenAIChat else {"type": "error", **told}
    with pytest.raises(error):
        await ask(interface, streamed(sse(*made(interface)[:5], event)))


async def test_the_next_try_may_be_whole(interface: Interface) -> None:
    text, sent = await ask(interface, streamed(sse(*made(interface)[:5])), fake.ok(TEXT), retries=1)
    assert (text, len(sent)) == (TEXT, 2)


@pytest.mark.parametrize(
    ("ending", "error"),
    [("content_filter", ContentFiltered), ("length", ServiceReplyInvalid), ("refusal", ContentFiltered)],
)
async def test_a_stream_says_how_it_ended(interface: Interface, ending: Ending, error: type[ServiceError]) -> None:
    with pytest.raises(error):
        await ask(interface, otherwise=streamed(sse(*made(interface, ending), "[DONE]")))


async def test_a_stream_slower_than_the_deadline_ends_with_it(interface: Interface) -> None:
    """Each piece comes well within the SDK's timeout, which is per read."""
    before = asyncio.all_tasks()
    drops = [sse(event) for event in made(interface)[:4]] + [b": still here\n\n"] * 200
    with pytest.raises(ServiceTimeout):
        await ask(interface, streamed(*drops, pause_s=0.05), deadline_s=1.5)
    assert asyncio.all_tasks() <= before


async def test_a_connection_that_stays_open_after_the_end_is_not_waited_for(interface: Interface) -> None:
    done = sse(*made(interface), *(["[DONE]"] if interface is OpenAIChat else []))
    text, _ = await ask(interface, streamed(done, *[b": still here\n\n"] * 200, pause_s=0.05), deadline_s=4.0)
    assert text == TEXT


async def test_a_server_that_does_not_stream_answers_whole(interface: Interface) -> None:
    whole = completion(TEXT) if interface is OpenAIChat else response(TEXT)
    assert (await ask(interface, fake.reply(whole)))[0] == TEXT


@pytest.mark.parametrize("parameter", ["stream", "stream_options"])
async def test_a_server_that_cannot_stream_is_asked_without(parameter: str) -> None:
    text, sent = await ask(OpenAIChat, fake.unsupported(parameter), fake.ok(TEXT))
    assert text == TEXT
    assert [parameter in body for body in sent] == [True, False]
    assert all("stream" in body or "stream_options" not in body for body in sent)


async def test_a_stream_that_goes_on_after_its_end_is_not_trusted() -> None:
    sent = made(OpenAIChat, usage=False)
    with pytest.raises(ServiceReplyInvalid, match="goes on after its end"):
        await ask(OpenAIChat, otherwise=streamed(sse(*sent, sent[3])))


async def test_what_a_response_said_on_the_way_does_not_count() -> None:
    """Only the last event does, which carries the whole."""
    sent = made(OpenAIResponses)
    sent[-1] = {**sent[-1], "response": response("Closed.")}
    assert (await ask(OpenAIResponses, streamed(sse(*sent))))[0] == "Closed."


@given(
    st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), min_size=1, max_size=20), max_size=6),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.data(),
)
def test_events_do_not_hang_on_where_chunks_end(texts: list[str], ends: str, data: st.DataObject) -> None:
    stream = sse(*texts, ends=ends) + b": the end\n"
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    lines = EventLines()
    parts = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert [event for part in parts for event in lines.feed(part)] == texts


def test_a_long_line_in_small_pieces_is_looked_through_once() -> None:
    lines, piece = EventLines(), b"x" * 64
    found = [event for part in (b"data: ", *[piece] * 60_000, b"\n\n") for event in lines.feed(part)]
    assert [len(event) for event in found] == [64 * 60_000]  # minutes, were each piece to cost the whole line again
