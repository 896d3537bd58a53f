"""Names by Azure AI Language: the real SDK under a presidio recogniser, against a loopback server of the published form."""

from __future__ import annotations

import logging
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grounding.errors import ServiceRejected, ServiceReplyInvalid, ServiceUnavailable, SettingsError
from grounding.services.breaker import Breaker
from grounding.services.remote import Remote
from rai.azure.language import MAX_PIECE, LanguageRecognizer, LanguageTagger, unmarked
from rai.embedded.tagger import GazetteerTagger
from tests.fakes.clock import at_once
from tests.fakes.language_server import LanguageServer

KEY = "canary-key-1234"
NAMES = {
    "Maria Lopez": ("Person", None),
    "Contoso": ("Organization", None),
    "Lyon": ("Location", "GPE"),
    "kitchen": ("Location", "Structural"),
    "phone": ("Product", "Computing"),
    "Monday": ("DateTime", "Date"),
}


def _remote(**options: object) -> Remote:
    return Remote("language", deadline_s=10, retries=2, sleep=at_once, jitter=lambda: 0.0, **options)  # type: ignore[arg-type]  # options of Remote


async def _analyze(server: LanguageServer, text: str) -> list[tuple[str, str]]:
    recognizer = LanguageRecognizer(server.endpoint, KEY)
    try:
        found = await recognizer.read(text)
    finally:
        await recognizer.aclose()
    return [(text[r.start : r.end], r.entity_type) for r in sorted(found, key=lambda r: r.start)]


async def _tag(server: LanguageServer, text: str, remote: Remote | None = None) -> list[tuple[str, str]]:
    tagger = LanguageTagger(GazetteerTagger(), LanguageRecognizer(server.endpoint, KEY), remote or _remote())
    try:
        return [(text[a:b], kind) for a, b, kind in await tagger.tag(text)]
    finally:
        await tagger.aclose()


async def test_names_are_typed_and_what_is_no_name_is_left_out() -> None:
    """A product in lower case, a room and a weekday are entities of the service and no names."""
    async with LanguageServer(NAMES) as server:
        found = await _analyze(server, "Maria Lopez of Contoso moved to Lyon on Monday with her phone in the kitchen.")
    assert found == [("Maria Lopez", "person"), ("Contoso", "organisation"), ("Lyon", "address")]


async def test_the_text_is_not_to_be_logged_and_offsets_are_code_points() -> None:
    """Both are asked for by name; an emoji before a name does not shift it."""
    async with LanguageServer(NAMES) as server:
        assert await _analyze(server, "😀😀 ask Contoso.") == [("Contoso", "organisation")]
        parameters = server.seen[0]["parameters"]
        assert (parameters["loggingOptOut"], parameters["stringIndexType"]) == (True, "UnicodeCodePoint")
        assert server.keys == [KEY]


@pytest.mark.parametrize("unit", ["It rains. ", "x", "word "])
async def test_a_long_text_is_read_to_its_end(unit: str) -> None:
    """Texts above the service's limit go in pieces: a name after 60,000 characters is found at its place."""
    text = unit * (60_000 // len(unit)) + " We asked Contoso."
    async with LanguageServer(NAMES) as server:
        assert await _analyze(server, text) == [("Contoso", "organisation")]
        sizes = [[len(d["text"]) for d in body["analysisInput"]["documents"]] for body in server.seen]
    assert all(len(batch) <= 5 and max(batch) <= MAX_PIECE for batch in sizes)
    assert len(sizes) > 1


async def test_low_confidence_is_no_name() -> None:
    async with LanguageServer(NAMES, confidence=0.4) as server:
        assert await _analyze(server, "We asked Contoso.") == []


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (401, ServiceRejected),
        (403, ServiceRejected),
        (404, ServiceRejected),
        (400, ServiceRejected),
        (302, ServiceRejected),
        (503, ServiceUnavailable),
        (500, ServiceUnavailable),
    ],
)
async def test_error_statuses_become_our_errors_without_the_text(status: int, error: type[Exception]) -> None:
    """The service's message repeats the text; ours does not, nor the key."""
    async with LanguageServer(
        NAMES, script=(status,), headers={"Location": "http://127.0.0.1:9/"} if status == 302 else None
    ) as server:
        with pytest.raises(error) as caught:
            await _analyze(server, "private text of a customer")
    assert "private" not in str(caught.value)
    assert KEY not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("body", ["<html>", "{}", '{"kind":"EntityRecognitionResults","results":{}}', "[]", "null"])
async def test_an_unreadable_reply_is_no_empty_reply(body: str) -> None:
    async with LanguageServer(NAMES) as server:
        server.body = body
        with pytest.raises(ServiceReplyInvalid):
            await _analyze(server, "We asked Contoso.")


async def test_a_span_that_does_not_hold_its_text_is_refused() -> None:
    async with LanguageServer(NAMES) as server:
        server.shift = 1
        with pytest.raises(ServiceReplyInvalid):
            await _analyze(server, "We asked Contoso.")


async def test_nobody_at_the_address() -> None:
    recognizer = LanguageRecognizer("http://127.0.0.1:9", KEY)
    with pytest.raises(ServiceUnavailable):
        await recognizer.read("We asked Contoso.")
    await recognizer.aclose()


async def test_the_tagger_adds_to_the_local_names() -> None:
    """What both find is told once, with the local span."""
    async with LanguageServer(NAMES) as server:
        assert await _tag(server, "Part X2-77 is with Contoso in Lyon.") == [
            ("X2-77", "code"),
            ("Contoso", "organisation"),
            ("Lyon", "address"),
        ]


async def test_an_answer_with_and_without_its_citations_is_asked_about_once() -> None:
    plain, cited = "Maria Lopez works for Contoso.", "Maria Lopez works [1] for Contoso [2]."
    async with LanguageServer(NAMES) as server:
        tagger = LanguageTagger(GazetteerTagger(), LanguageRecognizer(server.endpoint, KEY), _remote())
        for text in (plain, cited, "[3]"):
            tags = [(text[a:b], kind) for a, b, kind in await tagger.tag(text)]
            assert tags == ([("Maria Lopez", "person"), ("Contoso", "organisation")] if text != "[3]" else [])
        await tagger.aclose()
    assert [body["analysisInput"]["documents"][0]["text"] for body in server.seen] == [plain]


async def test_what_failed_is_asked_for_again() -> None:
    async with LanguageServer(NAMES, script=(400,)) as server:
        tagger = LanguageTagger(GazetteerTagger(), LanguageRecognizer(server.endpoint, KEY), _remote())
        assert "person" not in {kind for *_, kind in await tagger.tag("Contoso employs Xiu.")}
        assert "organisation" in {kind for *_, kind in await tagger.tag("Contoso employs Xiu.")}
        await tagger.aclose()


@given(st.text(alphabet="ab [1]2😀\n", max_size=40))
def test_a_text_without_markers_knows_where_its_characters_stand(text: str) -> None:
    plain, places = unmarked(text)
    assert len(plain) == len(places)
    assert plain == "".join(text[place] for place in places)
    assert places == sorted(set(places))


async def test_a_failed_service_leaves_the_local_names_and_a_note(caplog: pytest.LogCaptureFixture) -> None:
    async with LanguageServer(NAMES, script=(503, 503, 503)) as server:
        with caplog.at_level(logging.WARNING, logger="attest"):
            assert await _tag(server, "Part X2-77 is with Contoso.") == [("X2-77", "code")]
        assert len(server.seen) == 3
    assert "without the service" in caplog.text
    assert "Contoso" not in caplog.text


async def test_a_passing_trouble_is_tried_again() -> None:
    async with LanguageServer(NAMES, script=(429, 503), headers={"Retry-After": "1"}) as server:
        assert ("Contoso", "organisation") in await _tag(server, "We asked Contoso.")


async def test_an_open_breaker_asks_nothing() -> None:
    async with LanguageServer(NAMES, script=(503,) * 9) as server:
        remote = _remote(breaker=Breaker(failures=2))
        await _tag(server, "We asked Contoso.", remote)
        asked = len(server.seen)
        await _tag(server, "We asked Contoso.", remote)
        assert (asked, len(server.seen)) == (2, 2)


@pytest.mark.parametrize(
    "make",
    [
        lambda: LanguageRecognizer("ftp://example.com", KEY),
        lambda: LanguageRecognizer("http://example.com", KEY),
        lambda: LanguageRecognizer("https://example.com", "bad key\n"),
    ],
)
def test_what_cannot_be_used_is_said_at_once(make: Callable[[], object]) -> None:
    with pytest.raises(SettingsError) as caught:
        make()
    assert "bad key" not in str(caught.value)
