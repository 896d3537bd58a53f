"""Azure AI Content Safety: the real SDK against a loopback server of the published form."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from azure.core.credentials import AccessToken
from azure.core.exceptions import ClientAuthenticationError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grounding.errors import (
    ServiceError,
    ServiceRejected,
    ServiceReplyInvalid,
    ServiceTimeout,
    ServiceUnavailable,
    SettingsError,
)
from grounding.services.breaker import Breaker
from grounding.services.remote import Remote
from rai.azure.content_safety import ContentSafetyScreen, Strictness
from rai.azure.verdicts import severity_score
from rai.records import Screening
from tests.fakes.clock import at_once
from tests.fakes.content_safety_server import KEY, MOST, ORDERS, ContentSafetyServer
from tests.fakes.faults import Fault, closed, echoed, html, slow, status, truncated

PRIVATE = "please tell me about customer Frobisher"


def remote(deadline_s: float = 10.0, retries: int = 2, **options: Any) -> Remote:
    return Remote(
        "content-safety", deadline_s=deadline_s, retries=retries, sleep=at_once, jitter=lambda: 0.0, **options
    )


@asynccontextmanager
async def opened(
    server: ContentSafetyServer, strictness: Strictness | None = None, calls: Remote | None = None
) -> AsyncIterator[ContentSafetyScreen]:
    screen = ContentSafetyScreen(server.root, KEY, calls or remote(), strictness)
    try:
        yield screen
    finally:
        await screen.aclose()


async def screened(
    server: ContentSafetyServer, text: str, documents: tuple[str, ...] = (), strictness: Strictness | None = None
) -> Screening:
    async with opened(server, strictness) as screen:
        return await screen.screen(text, documents)


@pytest.mark.parametrize(
    ("severity", "at", "blocks", "score"),
    [
        (4, 4, True, 0.5),
        (2, 4, False, 0.25),
        (6, 4, True, 0.8333),
        (2, 2, True, 0.5),
        (6, 7, False, 0.4286),
        (0, 4, False, 0),
    ],
)
async def test_a_severity_blocks_from_the_one_that_is_set(severity: int, at: int, blocks: bool, score: float) -> None:
    """The rule names category and severity; the score is 0.5 where blocking begins."""
    strict = Strictness({"hate": at, "sexual": 4, "self_harm": 4, "violence": 4})
    async with ContentSafetyServer(words={"foo": ("Hate", severity)}) as server:
        found = await screened(server, "foo", strictness=strict)
    assert (found.blocked, found.score) == (blocks, score)
    assert found.rule == (f"content-safety/hate-{severity}" if blocks else None)
    assert found.category == ("hate" if blocks else None)
    assert found.blocked == (found.score >= found.threshold)
    assert found.by == "content-safety"


@given(st.integers(0, 7), st.integers(1, 7))
def test_scores_rise_with_severity_and_cross_a_half_at_the_limit(severity: int, at: int) -> None:
    score = severity_score(severity, at)
    assert 0 <= score <= 1
    assert (score >= 0.5) == (severity >= at)
    assert severity == 0 or score > severity_score(severity - 1, at)


async def test_a_category_can_be_switched_off() -> None:
    strict = Strictness({"violence": None})
    async with ContentSafetyServer() as server:
        assert not (await screened(server, "it will hurt", strictness=strict)).blocked


async def test_eight_levels_are_asked_for_and_told_apart() -> None:
    async with ContentSafetyServer(words={"foo": ("SelfHarm", 5)}) as server:
        four = await screened(server, "foo")
        eight = await screened(server, "foo", strictness=Strictness(levels="eight"))
    assert (four.rule, eight.rule) == ("content-safety/self-harm-4", "content-safety/self-harm-5")
    assert eight.category == "self_harm"


@pytest.mark.parametrize("halt", [False, True])
async def test_a_blocklist_blocks_by_its_name(halt: bool) -> None:
    strict = Strictness(blocklists=("rivals",), halt_on_blocklist=halt)
    async with ContentSafetyServer(blocklists={"rivals": ("acme",)}) as server:
        found = await screened(server, "Is ACME better?", strictness=strict)
        clean = await screened(server, "Is it good?", strictness=strict)
        assert server.asked("analyze")[0]["haltOnBlocklistHit"] is halt
    assert (found.rule, found.category, found.score) == ("blocklist/rivals", "off_policy", 1.0)
    assert not clean.blocked


async def test_a_blocklist_that_is_not_there_closes_and_is_said() -> None:
    async with ContentSafetyServer(blocklists={"rivals": ("acme",)}) as server:
        with pytest.raises(ServiceRejected, match="no blocklist of such a name"):
            await screened(server, "Is it good?", strictness=Strictness(blocklists=("rival",)))


async def test_attacks_are_seen_in_the_request_and_in_documents() -> None:
    """Prompt and documents go apart; a document is no request: its topic is not weighed."""
    async with ContentSafetyServer() as server:
        found = await screened(server, f"Please {ORDERS}.", ("This may hurt.", f"Note: {ORDERS}", "  "))
        assert [body["text"] for body in server.asked("analyze")] == [f"Please {ORDERS}."]
    assert (found.rule, found.category, found.score) == ("prompt-shields/user", "jailbreak", 1.0)
    assert [(d.verdict, d.rule) for d in found.documents] == [
        ("allow", None),
        ("block", "prompt-shields/document"),
        ("allow", None),
    ]


async def test_nothing_to_judge_costs_no_call() -> None:
    async with ContentSafetyServer() as server:
        found = await screened(server, " \n", ("", " "))
        assert server.bodies == []
    assert not found.blocked
    assert [d.verdict for d in found.documents] == ["allow", "allow"]


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.integers(0, 40_000),
    st.lists(st.integers(0, 25_000), max_size=12),
    st.sampled_from(["x", "😀", "wort für wort "]),
)
async def test_no_request_exceeds_the_limits(length: int, lengths: list[int], unit: str) -> None:
    """The server refuses whatever is over them, so a decision on all of it is the proof; the numbers are looked at as well."""
    texts = [(unit * (n // len(unit) + 1))[:n] for n in (length, *lengths)]
    async with ContentSafetyServer() as server:
        found = await screened(server, texts[0], tuple(texts[1:]))
        for body in server.asked("shieldPrompt"):
            assert len(body["documents"]) <= 5
            assert sum(map(len, body["documents"])) <= MOST
        assert all(len(body["text"]) <= MOST for body in server.asked("analyze"))
    assert not found.blocked
    assert len(found.documents) == len(lengths)


@pytest.mark.parametrize("at", [0, 9_990, 19_000, 54_321])
async def test_an_attack_anywhere_in_a_long_text_is_seen(at: int) -> None:
    """Also where two pieces meet, and in a long document."""
    text = "x" * at + f" {ORDERS} " + "y" * 9_000
    async with ContentSafetyServer() as server:
        found = await screened(server, text, (text,))
    assert found.blocked
    assert found.documents[0].verdict == "block"


async def test_what_is_too_long_to_judge_is_blocked_unread_and_noted() -> None:
    async with ContentSafetyServer() as server:
        found = await screened(server, "x" * 1_000_000, ("y" * 1_000_000, "fine"))
        assert len(server.bodies) == 1
    assert (found.rule, found.category) == ("content-safety/too-long", "off_policy")
    assert [d.rule for d in found.documents] == ["content-safety/too-long", None]
    assert "2 texts" in found.notes[0]


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (echoed(400), ServiceRejected),
        (html(401), ServiceRejected),
        (status(403), ServiceRejected),
        (status(404), ServiceRejected),
        (status(302, Location="http://127.0.0.1:9/"), ServiceRejected),
        (status(429, Retry_After="0"), ServiceRejected),
        (status(429, Retry_After="3600"), ServiceRejected),
        (status(500), ServiceUnavailable),
        (status(503, Retry_After="0"), ServiceUnavailable),
        (closed(), ServiceUnavailable),
        (html(200), ServiceReplyInvalid),
        (truncated(), ServiceReplyInvalid),
        (status(200, "{}"), ServiceReplyInvalid),
        (status(200, "null"), ServiceReplyInvalid),
        (status(200, "[]"), ServiceReplyInvalid),
        (status(200, '{"categoriesAnalysis":[{"category":"Hate","severity":0}]}'), ServiceReplyInvalid),
        (
            status(200, '{"documentsAnalysis":[{"attackDetected":"no"}],"userPromptAnalysis":{}}'),
            ServiceReplyInvalid,
        ),
    ],
)
@pytest.mark.parametrize(("text", "documents"), [(PRIVATE, ()), ("", (PRIVATE,))])
async def test_any_failure_is_an_error_of_the_named_service_without_a_secret(
    fault: Fault, error: type[Exception], text: str, documents: tuple[str, ...], caplog: pytest.LogCaptureFixture
) -> None:
    """Never a decision; neither key nor text is in the error or in any log."""
    with caplog.at_level(logging.DEBUG):
        async with ContentSafetyServer(otherwise=fault) as server:
            with pytest.raises(error) as caught:
                await screened(server, text, documents)
    said = f"{caught.value!r} {caught.value} {caught.value.__cause__!r} {caplog.text}"
    assert str(caught.value).startswith("content-safety: ")
    assert KEY not in said
    assert "Frobisher" not in said


async def test_a_slow_service_runs_into_the_deadline() -> None:
    async with ContentSafetyServer(otherwise=slow()) as server, opened(server, calls=remote(0.2)) as screen:
        with pytest.raises(ServiceTimeout, match="content-safety"):
            await screen.screen("When do you open?")


async def test_nobody_at_the_address() -> None:
    screen = ContentSafetyScreen("http://127.0.0.1:9", KEY, remote())
    with pytest.raises(ServiceUnavailable):
        await screen.screen("When do you open?")
    await screen.aclose()


async def test_one_failing_call_of_many_closes() -> None:
    """Five documents more than fit one request: the second request fails, so nothing is decided."""
    async with ContentSafetyServer() as server, opened(server, calls=remote(retries=0, limit=1)) as screen:
        documents = tuple(f"page {n}" for n in range(10))
        await screen.screen("", documents)
        asked = len(server.bodies)
        server.script = [status(500)]
        with pytest.raises(ServiceError):
            await screen.screen("", documents)
    assert asked == 2


async def test_a_passing_trouble_is_tried_again_and_an_open_breaker_asks_nothing() -> None:
    async with ContentSafetyServer(status(503), status(429, Retry_After="1")) as server:
        assert not (await screened(server, "When do you open?")).blocked
    async with ContentSafetyServer(otherwise=status(503)) as server:
        async with opened(server, calls=remote(limit=1, breaker=Breaker(failures=2))) as screen:
            for _ in range(2):
                with pytest.raises(ServiceUnavailable):
                    await screen.screen("When do you open?")
        assert len(server.bodies) == 2


async def test_calls_run_side_by_side_within_the_limit() -> None:
    most = now = 0
    three = asyncio.Event()

    async def counting(request: Any) -> Any:
        nonlocal most, now
        now += 1
        most = max(most, now)
        if now == 3:
            three.set()
        await asyncio.wait_for(three.wait(), 60)
        await asyncio.sleep(0.02)  # time for a fourth, if one comes
        now -= 1
        return await server.answer(request, await request.json())

    async with ContentSafetyServer(otherwise=counting) as server, opened(server, calls=remote(limit=3)) as screen:
        await screen.screen("When?", tuple(f"page {n}" for n in range(40)))
    assert most == 3


class Identity:
    """A token credential that counts and can fail."""

    def __init__(self, error: Exception | None = None) -> None:
        self.scopes: list[str] = []
        self.closed = False
        self._error = error

    async def get_token(self, *scopes: str, **_options: Any) -> AccessToken:
        self.scopes += scopes
        if self._error is not None:
            raise self._error
        return AccessToken("canary-token", 4_000_000_000)

    async def close(self) -> None:
        self.closed = True

    async def __aenter__(self) -> Identity:
        return self

    async def __aexit__(self, *_details: object) -> None:
        await self.close()


async def test_without_a_key_the_machine_signs_in() -> None:
    identity = Identity()
    async with ContentSafetyServer(key=None) as server:
        screen = ContentSafetyScreen(server.root, identity, remote())
        await screen.screen("When do you open?", ["page"])
        await screen.aclose()
        assert {h["Authorization"] for h in server.headers} == {"Bearer canary-token"}
    assert set(identity.scopes) == {"https://cognitiveservices.azure.com/.default"}
    assert not identity.closed  # others sign in with it too


async def test_a_failed_sign_in_is_said_without_its_words() -> None:

    identity = Identity(ClientAuthenticationError("secret of the tenant"))
    async with ContentSafetyServer(key=None) as server:
        screen = ContentSafetyScreen(server.root, identity, remote())
        with pytest.raises(ServiceRejected, match="could not sign in") as caught:
            await screen.screen("When do you open?")
        await screen.aclose()
    assert "tenant" not in str(caught.value)


@pytest.mark.parametrize(
    "make",
    [
        lambda: ContentSafetyScreen("ftp://example.com", KEY, remote()),
        lambda: ContentSafetyScreen("http://example.com", KEY, remote()),
        lambda: ContentSafetyScreen("https://example.com", "bad key\n", remote()),
        lambda: ContentSafetyScreen("https://[", KEY, remote()),
    ],
)
def test_what_cannot_be_used_is_said_at_once(make: Callable[[], object]) -> None:
    with pytest.raises(SettingsError) as caught:
        make()
    assert "bad key" not in str(caught.value)
