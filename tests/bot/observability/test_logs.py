"""The log: lines that lead from a turn to its entry and trace, and never a key, a body or a foreign word."""

from __future__ import annotations

import io
import json
import logging
from pathlib import Path
from typing import Any

import pytest

from bot.observability.logs import Masker, is_ours, log_to
from bot.observability.turn_mark import current_mark, marked, turn_marked
from bot.records import Ask
from bot.settings.load import load_settings
from bot.turn.pipeline import answer_turn
from grounding.errors import ServiceUnavailable
from grounding.policy import Policy
from grounding.records import Document
from tests.e2e.support import ScriptedGrader, world
from tests.fakes.embedder import HashEmbedder
from tests.fakes.model import ScriptedModel

KEY = "sk-canary-0815-4711"


def log_lines(form: str, level: str = "debug", **settings: Any) -> io.StringIO:
    stream = io.StringIO()
    log_to(stream, load_settings(log_format=form, **settings), level, times=True)
    return stream


def objects(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


async def test_a_turn_ends_with_a_line_that_leads_to_its_entry(tmp_path: Path) -> None:
    """Turn id, outcome, time and entry as fields; the ledger's entry has the same turn id; the question is nowhere."""
    stream = log_lines("json", "info")
    page = Document("p.md", "Watch plans", "Watch Plus costs $9.99 a month.")
    model, grader = ScriptedModel("Watch Plus costs $9.99 a month [1]."), ScriptedGrader({"p.md": 0.9})
    w = await world(tmp_path, [page], HashEmbedder(), model=model, grader=grader)
    reply = await answer_turn(Ask("What does Watch Plus cost a month?"), w.seams, Policy())
    (line,) = [o for o in objects(stream) if o["logger"] == "attest.turn"]
    assert line["time"].endswith("Z")
    assert (line["level"], line["outcome"], line["code"], line["policy"]) == (
        "info",
        "answered",
        None,
        reply.record.policy_name,
    )
    assert (line["entry_id"], line["turn_id"]) == (reply.entry_id, reply.record.turn_id)
    assert reply.entry_id in line["message"]
    entry = await w.ledger.get(reply.entry_id)
    assert entry is not None
    assert entry.body["reply"]["turn_id"] == reply.record.turn_id
    assert "Watch" not in stream.getvalue()


def test_lines_of_a_turn_carry_what_is_known_of_it() -> None:
    """Before a turn nothing, in it its id, then its entry, and both until the request that it came with has ended."""
    stream, log = log_lines("json"), logging.getLogger("attest.test")
    with marked() as mark:
        log.info("a request")
        with turn_marked() as turn:
            assert turn is mark
            log.info("a turn")
            turn.entry_id = "e1"
        log.info("after it")
    log.info("outside")
    known = [{name: o[name] for name in ("turn_id", "entry_id") if name in o} for o in objects(stream)]
    assert known == [{}, {"turn_id": mark.turn_id}, {"turn_id": mark.turn_id, "entry_id": "e1"}, {}]
    assert len(mark.turn_id) == 16


def test_a_second_turn_in_the_same_block_is_another() -> None:
    with turn_marked() as first, turn_marked() as second:
        assert first.turn_id != second.turn_id
        assert current_mark() is second


FOREIGN = [
    "openai._base_client",
    "httpx2",
    "httpcore2.http11",
    "urllib3.connectionpool",
    "azure.identity",
    "aiohttp.access",
    "azure.core.pipeline.policies.http_logging_policy",
    "presidio-analyzer",
    "sqlalchemy.engine.Engine",
]


@pytest.mark.parametrize("name", FOREIGN)
@pytest.mark.parametrize("form", ["text", "json"])
def test_foreign_loggers_are_not_asked_for_less_than_a_warning(name: str, form: str) -> None:
    """SDKs write whole bodies and addresses with their query at DEBUG and INFO."""
    stream, log = log_lines(form), logging.getLogger(name)
    log.setLevel(logging.DEBUG)  # as a library may do
    log.debug("Request options: %s", {"json_data": "Zebedea"})
    log.info("GET https://x.example/?q=Zebedea")
    assert stream.getvalue() == ""
    assert not is_ours(name)


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_foreign_warning_is_told_by_its_fixed_words(form: str) -> None:
    """What is filled in, and an exception's own words, may hold a query, a body, a person."""
    stream, log = log_lines(form), logging.getLogger("urllib3.connectionpool")
    log.warning("Retrying (%r) after connection broken by '%r': %s", 2, "Zebedea", "/search?q=Zebedea&api_key=" + KEY)
    log.error("Task exception was never retrieved\nfuture: <Task exception=ValueError('Zebedea')>")
    try:
        raise ValueError("Zebedea")
    except ValueError:
        log.exception("Error handling request from %s", "10.1.2.3")
    said = stream.getvalue()
    assert "Retrying (…) after connection broken by '…': …" in said
    assert "Task exception was never retrieved" in said
    assert "ValueError, by test_a_foreign_warning" in said
    assert len(said.splitlines()) == 3
    assert not [word for word in ("Zebedea", KEY, "10.1.2.3", "/search") if word in said]


def test_our_own_errors_keep_their_words() -> None:
    stream, log = log_lines("text"), logging.getLogger("attest")
    try:
        raise ServiceUnavailable("openai", "failed (status 500)")
    except ServiceUnavailable:
        log.exception("a call failed")
    assert "a call failed (ServiceUnavailable: openai: failed (status 500), by " in stream.getvalue()


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"the key {KEY} was refused", "the key ******** was refused"),
        ("Authorization: Bearer abc.def-ghi", "Authorization: Bearer ********"),
        ("{'api-key': 'abcdef123'}", "{'api-key': '********'}"),
        ("Ocp-Apim-Subscription-Key=0123", "Ocp-Apim-Subscription-Key=********"),
        ("bearer eyJhbGciOi.x.y!", "bearer ********"),
        ("https://me:pw@x.example/a?api_key=1&q=2", "https://********@x.example/a?api_key=********&q=********"),
        ("/search?q=a&api_key=serp99&hl=en", "/search?q=a&api_key=********&hl=en"),
        ("the api key is missing; passwords are not asked for", "the api key is missing; passwords are not asked for"),
        ("a bearer of good news", "a bearer ******** good news"),
        ("turn 12 answered in 40 ms, entry 9f", "turn 12 answered in 40 ms, entry 9f"),
    ],
)
def test_credentials_are_masked_as_the_last_net(text: str, left: str) -> None:
    assert Masker([KEY])(text) == left


@pytest.mark.parametrize("form", ["text", "json"])
def test_the_values_of_all_secret_settings_are_masked(form: str) -> None:
    """Also keys of a list, also in what a record carries beside its text."""
    stream = log_lines(form, openai_api_key=KEY, api_keys=f"{KEY}-b,short", bot_app_password="pa$$-canary")
    logging.getLogger("attest").warning("%s %s", f"{KEY}-b", "pa$$-canary", extra={"seen": KEY})
    assert "canary" not in stream.getvalue()


def test_a_line_stays_one_line() -> None:
    stream = log_lines("text")
    logging.getLogger("attest").warning("one\ntwo\r\nthree")
    assert stream.getvalue().endswith("WARNING attest: one two three\n")
    assert len(stream.getvalue().splitlines()) == 1
