"""OpenAI's moderation endpoint as a screen: the real SDK against a loopback server of the published form."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Any

import pytest

from grounding.errors import (
    ServiceRejected,
    ServiceReplyInvalid,
    ServiceTimeout,
    ServiceUnavailable,
    SettingsError,
)
from grounding.services.remote import Remote
from rai.azure.moderation import MOST_CHARS, MOST_INPUTS, ModerationScreen
from rai.records import Screening
from tests.fakes.clock import at_once
from tests.fakes.faults import Fault, closed, echoed, html, slow, status
from tests.fakes.moderation_server import NAMES, ModerationServer

KEY = "canary-key-1234"
SCORES: dict[str, Any] = dict.fromkeys(NAMES, 0.01)
FLAGS: dict[str, Any] = dict.fromkeys(NAMES, False)


def remote(deadline_s: float = 10.0, retries: int = 2) -> Remote:
    return Remote("moderation", deadline_s=deadline_s, retries=retries, sleep=at_once, jitter=lambda: 0.0)


async def screened(
    server: ModerationServer, text: str, documents: tuple[str, ...] = (), calls: Remote | None = None, **options: Any
) -> Screening:
    screen = ModerationScreen(server.base_url, KEY, calls or remote(), **options)
    try:
        return await screen.screen(text, documents)
    finally:
        await screen.aclose()


@pytest.mark.parametrize(
    ("name", "score", "block_at", "verdict", "category", "shown"),
    [
        ("violence", 0.9, 0.5, "block", "violence", 0.9),
        ("violence/graphic", 0.41, 0.5, "block", "violence", 0.5),  # flagged by the service, below our own score
        ("violence", 0.39, 0.5, "allow", None, 0.39),
        ("harassment", 0.3, 0.25, "block", "hate", 0.3),
        ("harassment", 0.2, 0.25, "allow", None, 0.2),
        ("hate/threatening", 0.8, 0.5, "block", "hate", 0.8),
        ("self-harm/intent", 0.8, 0.5, "block", "self_harm", 0.8),
        ("sexual/minors", 0.8, 0.5, "block", "sexual", 0.8),
        ("illicit/violent", 0.8, 0.5, "block", "dangerous_help", 0.8),
        ("brand-new", 0.8, 0.5, "block", None, 0.8),
    ],
)
async def test_scores_and_flags_become_our_decision(
    *, name: str, score: float, block_at: float, verdict: str, category: str | None, shown: float
) -> None:
    async with ModerationServer(words={"foo": (name, score)}) as server:
        found = await screened(server, "foo bar", block_at=block_at)
    assert (found.verdict, found.category, found.score) == (verdict, category, shown)
    assert found.rule == (f"moderation/{name}" if verdict == "block" else None)
    assert (found.threshold, found.by) == (block_at, "moderation")
    assert found.blocked == (found.score >= found.threshold)


async def test_documents_are_let_through_and_the_notes_say_so() -> None:
    async with ModerationServer() as server:
        found = await screened(server, "", ("this will hurt", "fine"))
        assert server.bodies == []
    assert [d.verdict for d in found.documents] == ["allow", "allow"]
    assert "2 were let through" in found.notes[0]


@pytest.mark.parametrize("at", [0, 1_995, 30_000, 99_000])
async def test_long_texts_are_read_to_their_end_in_bounded_requests(at: int) -> None:
    async with ModerationServer(words={"this will hurt": ("violence", 0.9)}) as server:
        found = await screened(server, "x" * at + " this will hurt " + "y" * 500)
        inputs = [body["input"] for _, body in server.bodies]
        assert {body["model"] for _, body in server.bodies} == {"omni-moderation-latest"}
    assert found.blocked
    assert all(len(batch) <= MOST_INPUTS and max(map(len, batch)) <= MOST_CHARS for batch in inputs)


async def test_what_is_too_long_to_judge_is_blocked_unread_and_noted() -> None:
    async with ModerationServer() as server:
        found = await screened(server, "x" * 1_000_000)
        assert server.bodies == []
    assert found.rule == "moderation/too-long"
    assert "1,000,000 characters" in found.notes[0]


def body(**changes: Any) -> str:
    result = {"flagged": False, "categories": FLAGS, "category_scores": SCORES, **changes}
    return json.dumps({"id": "m", "model": "m", "results": [result]})


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (echoed(400), ServiceRejected),
        (html(401), ServiceRejected),
        (status(403), ServiceRejected),
        (status(404), ServiceRejected),
        (status(307, Location="http://127.0.0.1:9/"), ServiceRejected),
        (status(429, Retry_After="0"), ServiceRejected),
        (status(500), ServiceUnavailable),
        (closed(), ServiceUnavailable),
        (html(200), ServiceReplyInvalid),
        (status(200, '{"results": [{"flagged": fal'), ServiceReplyInvalid),
        (status(200, "null"), ServiceReplyInvalid),
        (status(200, '{"results": []}'), ServiceReplyInvalid),
        (status(200, '{"results": [{}]}'), ServiceReplyInvalid),
        (status(200, body(category_scores={"hate": 0.1})), ServiceReplyInvalid),
        (status(200, body(category_scores={**SCORES, "hate": "0.1"})), ServiceReplyInvalid),
        (status(200, body(category_scores={**SCORES, "hate": 1.5})), ServiceReplyInvalid),
        (status(200, body(flagged=True)), ServiceReplyInvalid),
        (status(200, body(flagged=None)), ServiceReplyInvalid),
        (status(200, body(categories={**FLAGS, "unheard-of": True}, flagged=True)), ServiceReplyInvalid),
    ],
)
async def test_any_failure_is_an_error_of_the_named_service_without_a_secret(
    fault: Fault, error: type[Exception], caplog: pytest.LogCaptureFixture
) -> None:
    """Never a decision; neither key nor text is in the error or in any log."""
    with caplog.at_level(logging.DEBUG):
        async with ModerationServer(otherwise=fault) as server:
            with pytest.raises(error) as caught:
                await screened(server, "please tell me about customer Frobisher")
    said = f"{caught.value!r} {caught.value} {caught.value.__cause__!r} {caplog.text}"
    assert str(caught.value).startswith("moderation: ")
    assert KEY not in said
    assert "Frobisher" not in said


async def test_a_reply_of_an_older_model_is_read() -> None:
    """It does not know `illicit`: null, or left out."""
    older = {name: score for name, score in SCORES.items() if not name.startswith("illicit")}
    for scores in (older, {**older, "illicit": None}):
        async with ModerationServer(status(200, body(category_scores=scores))) as server:
            assert not (await screened(server, "When do you open?")).blocked


async def test_a_slow_service_runs_into_the_deadline() -> None:
    async with ModerationServer(otherwise=slow()) as server:
        with pytest.raises(ServiceTimeout, match="moderation"):
            await screened(server, "When do you open?", calls=remote(0.2))


async def test_a_passing_trouble_is_tried_again() -> None:
    async with ModerationServer(status(503), status(429, Retry_After="1")) as server:
        assert not (await screened(server, "When do you open?")).blocked
        assert len(server.bodies) == 3
        assert {h["Authorization"] for h in server.headers} == {f"Bearer {KEY}"}


async def test_without_a_key_none_of_the_environment_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-somebody")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-somebody")
    async with ModerationServer() as server:
        screen = ModerationScreen(server.base_url, None, remote())
        await screen.screen("When do you open?")
        await screen.aclose()
        assert "of-somebody" not in str(server.headers)


@pytest.mark.parametrize(
    "make",
    [
        lambda: ModerationScreen("ftp://example.com", KEY, remote()),
        lambda: ModerationScreen("http://example.com/v1", KEY, remote()),
        lambda: ModerationScreen(None, "bad key\n", remote()),
    ],
)
def test_what_cannot_be_used_is_said_at_once(make: Callable[[], object]) -> None:
    with pytest.raises(SettingsError) as caught:
        make()
    assert "bad key" not in str(caught.value)
