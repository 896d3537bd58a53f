"""Summaries by Azure AI Language: the real SDK's jobs against a loopback server of the published form."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from azure.core.credentials import AccessToken

from grounding.azure.language.summarizer import MOST_CHARACTERS, LanguageSummarizer
from grounding.errors import (
    ServiceError,
    ServiceRejected,
    ServiceReplyInvalid,
    ServiceTimeout,
    ServiceUnavailable,
    SettingsError,
)
from grounding.records import Query, Turn
from grounding.services.remote import Remote, Throttled
from tests.fakes import faults
from tests.fakes.clock import AMPLE_S, time_passes
from tests.fakes.language_server import Jobs, LanguageServer

KEY = "canary-key-1234"
LONG = (
    "I am Zebedea. 😀 My hub blinks red since Monday. The router stands upstairs. The cable is a new one, bought in Lyon. I pressed the button "
    "twice, as the booklet says. What does the red light mean?"
)


async def _summarized(
    server: LanguageServer,
    *turns: Turn,
    key: Any = KEY,
    deadline_s: float = 5.0,
    retries: int = 0,
    poll_s: int = 0,
    **options: Any,
) -> Query:
    remote = Remote("language", deadline_s=deadline_s, retries=retries, jitter=lambda: 0.0)
    summarizer = LanguageSummarizer(server.endpoint, key, remote, poll_s=poll_s, **options)
    try:
        return await summarizer.summarize(turns or [Turn("customer", LONG)])
    finally:
        await summarizer.aclose()


async def _passed_over(server: LanguageServer, *, looks: int = 1, poll_s: int = 0) -> None:
    """A summary whose deadline passes once the service was looked at `looks` times."""
    task = asyncio.create_task(_summarized(server, deadline_s=AMPLE_S, poll_s=poll_s))
    async with asyncio.timeout(60):
        while len(server.looks) < looks:
            server.looked.clear()
            await server.looked.wait()
    time_passes()
    await task


async def test_the_service_ranks_and_the_question_stays() -> None:
    """What it ranks first is kept in the order of the turn, the question whatever it says; its offsets survive an emoji."""
    async with LanguageServer(telling="upstairs", pending=2) as server:
        query = await _summarized(server)
    assert "The router stands upstairs." in query.text
    assert query.text.endswith("What does the red light mean?")
    assert "Zebedea" not in query.text
    assert all(LONG[s.start : s.end] == s.text for s in query.sentences)
    assert server.polls == 3


async def test_what_is_asked() -> None:
    """Not to be logged, offsets in code points, by rank, and within the limits of the service."""
    async with LanguageServer() as server:
        await _summarized(server, Turn("customer", "Some words stand here. " * 40))
    ((task,), (document,)) = server.seen[0]["tasks"], server.seen[0]["analysisInput"]["documents"]
    assert task["kind"] == "ExtractiveSummarization"
    assert task["parameters"] == {
        "loggingOptOut": True,
        "sortBy": "Rank",
        "sentenceCount": 20,
        "stringIndexType": "UnicodeCodePoint",
    }
    assert document["text"].startswith("Some words")
    assert server.keys == [KEY, KEY]


@pytest.mark.parametrize(
    "turns",
    [
        [Turn("customer", "The light is red. The hub is warm. I am upstairs. What now?")],
        [Turn("customer", LONG), Turn("agent", "Yes?"), Turn("customer", "What does the lid cost?")],
        [Turn("customer", LONG), Turn("customer", "Does it float?")],
        [Turn("customer", "My hub blinks."), Turn("customer", "And why?")],
        [Turn("customer", "Is the lid red? Is the base red? Is the cap red? Is the pin red? The box is red.")],
    ],
)
async def test_where_nothing_is_to_be_chosen_nothing_is_asked(turns: list[Turn]) -> None:
    """A short question stays whole, names need no summary, one sentence before needs no rank."""
    async with LanguageServer() as server:
        await _summarized(server, *turns)
        assert server.bodies == []


async def test_a_turn_that_says_nothing_stands_after_what_tells_most() -> None:
    """The newest sentence of who asks, and before it the one that the service ranks first; those of others are not sent."""
    turns = [
        Turn("customer", "My hub blinks red. I live in Lyon."),
        Turn("agent", "Reset it."),
        Turn("customer", "I did it twice."),
        Turn("customer", "And why?"),
    ]
    async with LanguageServer(telling="blinks") as server:
        query = await _summarized(server, *turns)
    assert query.text == "My hub blinks red. I did it twice. And why?"
    assert "Reset" not in str(server.seen)


@pytest.mark.parametrize(
    ("jobs", "error"),
    [
        ("document", ServiceRejected),
        ("task", ServiceRejected),
        ("failed", ServiceUnavailable),
        ("cancelled", ServiceRejected),
        ("empty", ServiceReplyInvalid),
    ],
)
async def test_every_way_a_job_ends_badly_is_an_error(jobs: Jobs, error: type[Exception]) -> None:
    """A refused document, a failed task, a failed job (an error with status 200), one called off, an empty one; none says our text."""
    async with LanguageServer(jobs=jobs, pending=1) as server:
        with pytest.raises(error) as caught:
            await _summarized(server)
    assert "hub" not in str(caught.value)
    assert caught.value.__cause__ is None


FAULTS = [
    (faults.status(500), ServiceUnavailable),
    (faults.status(429, Retry_After="60"), Throttled),
    (faults.echoed(401), ServiceRejected),
    (faults.echoed(400), ServiceRejected),
    (faults.html(200), ServiceReplyInvalid),
    (faults.truncated(), ServiceReplyInvalid),
    (faults.closed(), ServiceUnavailable),
    (faults.redirect("http://127.0.0.1:9/"), ServiceRejected),
    (faults.status(202, "{}"), ServiceReplyInvalid),
]


@pytest.mark.parametrize("at", ["submission", "look"])
@pytest.mark.parametrize(("fault", "error"), FAULTS)
async def test_faults_on_the_way(fault: faults.Fault, error: type[ServiceError], at: str) -> None:
    """Whatever comes in place of the job, or of its state, is an error of ours without the text and the key."""
    server = LanguageServer(script=(fault,)) if at == "submission" else LanguageServer()
    if at == "look":
        server.look_fault = fault
    async with server:
        with pytest.raises(ServiceError) as caught:
            await _summarized(server, deadline_s=3.0)
    assert isinstance(caught.value, error) or at == "look"
    assert not any(secret in str(caught.value) for secret in ("hub", "Zebedea", KEY))


async def test_a_passing_trouble_is_tried_again() -> None:
    async with LanguageServer(script=(503,)) as server:
        assert "red light" in (await _summarized(server, retries=1)).text
        assert len(server.seen) == 2


async def test_a_job_that_does_not_end_is_called_off() -> None:
    async with LanguageServer(pending=10**9) as server:
        with pytest.raises(ServiceTimeout):
            await _passed_over(server)
        assert server.cancelled == ["job-1"]


async def test_a_caller_who_goes_away_calls_the_job_off() -> None:
    async with LanguageServer(pending=10**9) as server:
        task = asyncio.create_task(_summarized(server, deadline_s=30))
        await server.looked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert server.cancelled == ["job-1"]


async def test_a_service_that_does_not_answer_the_calling_off_holds_nobody() -> None:
    async with LanguageServer(pending=10**9) as server:
        server.cancel_fault = faults.slow()
        with pytest.raises(ServiceTimeout):
            await asyncio.wait_for(_passed_over(server), AMPLE_S * 2)


async def test_jobs_are_looked_at_every_second() -> None:
    """Not every five, as the SDK would."""
    async with LanguageServer(pending=10**9) as server:
        with pytest.raises(ServiceTimeout):
            await _passed_over(server, looks=2, poll_s=1)
    first, second = server.looks[:2]
    assert 1 <= second - first < 4.5


@pytest.mark.parametrize(("asked", "looks"), [("1", 2), ("0", 5)])
async def test_the_service_may_ask_for_a_longer_pause(asked: str, looks: int) -> None:
    """Retry-After takes the place of our interval, here none; 0 is no pause."""
    async with LanguageServer(pending=10**9, retry_after=asked) as server:
        with pytest.raises(ServiceTimeout):
            await _passed_over(server, looks=looks)
    assert server.looks[1] - server.looks[0] >= int(asked)


@pytest.mark.parametrize("shift", [1, -10_000, 10_000])
async def test_a_sentence_that_does_not_stand_there_is_refused(shift: int) -> None:
    async with LanguageServer() as server:
        server.shift = shift
        with pytest.raises(ServiceReplyInvalid):
            await _summarized(server)


@pytest.mark.parametrize("elsewhere", ["http://127.0.0.1:9/x", "http://localhost.example/x", "nonsense"])
async def test_the_key_goes_nowhere_else(elsewhere: str) -> None:
    """Where the state of a job stands comes from a reply; another address than the endpoint's is not asked."""
    async with LanguageServer(elsewhere=elsewhere) as server:
        with pytest.raises(ServiceReplyInvalid):
            await _summarized(server)


async def test_the_oldest_goes_first_where_it_is_too_much() -> None:
    """125,000 characters a request: what is older is left out, and noted."""
    text = "".join(f"The hub number {n} is at its place in the house. " for n in range(4000)) + "What does it mean?"
    async with LanguageServer() as server:
        query = await _summarized(server, Turn("customer", text))
    (document,) = server.seen[0]["analysisInput"]["documents"]
    assert MOST_CHARACTERS - 100 < len(document["text"]) <= MOST_CHARACTERS
    assert "number 3999 " in document["text"]
    assert query.note
    assert "oldest" in query.note
    assert all(text[s.start : s.end] == s.text for s in query.sentences)


async def test_one_sentence_that_is_too_long_is_not_sent() -> None:
    text = "word " * 30_000 + ". The lid. The base. The cap is red. The pin is red. What does it mean?"
    async with LanguageServer() as server:
        query = await _summarized(server, Turn("customer", text))
        assert len(server.seen[0]["analysisInput"]["documents"][0]["text"]) < 100
    assert "What does it mean?" in query.text


async def test_what_is_sent_can_be_masked() -> None:
    """In its length: the query has the words that were written."""

    async def mask(texts: Any) -> list[str]:
        return [text.replace("Lyon", "████") for text in texts]

    async with LanguageServer(telling="cable") as server:
        query = await _summarized(server, mask=mask)
    assert "Lyon" not in str(server.seen)
    assert "bought in Lyon" in query.text


class Token:
    """A credential of azure-identity's form."""

    def __init__(self) -> None:
        self.scopes: list[str] = []

    async def get_token(self, *scopes: str, **_: Any) -> AccessToken:
        self.scopes += scopes
        return AccessToken("canary-token", 4_000_000_000)

    async def close(self) -> None:
        """Nothing to close."""


async def test_it_signs_in_without_a_key() -> None:
    """The token reaches submission and look; over plain HTTP to this machine alone."""
    token = Token()
    async with LanguageServer(pending=1) as server:
        assert (await _summarized(server, key=token)).text
        assert [h.get("Authorization") for h in server.headers] == ["Bearer canary-token"] * 3
    assert set(token.scopes) == {"https://cognitiveservices.azure.com/.default"}


@pytest.mark.parametrize(
    ("endpoint", "key"),
    [("http://example.com", KEY), ("nonsense", KEY), ("https://example.com", "a key"), ("https://example.com", "")],
)
def test_what_cannot_be_used_is_said_at_once(endpoint: str, key: str) -> None:
    with pytest.raises(SettingsError):
        LanguageSummarizer(endpoint, key, Remote("language"))
