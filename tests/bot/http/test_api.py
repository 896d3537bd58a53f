"""`POST /api/ask` and `POST /api/check` over a real server."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from bot.http.errors import describe
from bot.http.json_forms import parse_check, report_json
from bot.records import Actor
from bot.server.app import BODY_BYTES
from grounding.errors import AttestError, WorkFailed, WorkOverran
from rai.records import Layer, Report
from tests.bot.http.conftest import Client, Start
from tests.fakes.ledger import ShutLedger
from tests.fakes.system import Fake, fake_system

ASK = {"question": "How do I return something?"}
CHECK = {
    "id": "c1",
    "answer": "It costs €4.90. Call +44 20 7946 0081.",
    "sources": [{"id": "s", "title": "Returns", "text": "Shipping is €4.90. Call +44 20 7946 0018."}],
}


def events_of(text: str) -> list[tuple[str, Any]]:
    found = []
    for block in text.strip().split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.split("\n"))
        found.append((lines["event"], json.loads(lines["data"])))
    return found


async def test_a_turn_in_json_has_the_contracts_fields(client: Client, fake: Fake) -> None:
    form = ASK | {
        "history": [{"role": "customer", "text": "Hi"}, {"role": "agent", "text": "Hello"}],
        "context": "Order 17",
        "product": "Northwind Care",
        "as": "alice",
    }
    response = await client.post("/api/ask", json=form)
    reply = await response.json()
    assert response.status == 200
    assert reply["outcome"] == "answered"
    assert {
        "code",
        "answer",
        "citations",
        "claims",
        "query",
        "grades",
        "action",
        "web",
        "timings_ms",
        "kb_version",
    } < set(reply)
    for claim in reply["claims"]:
        assert reply["answer"][claim["start"] : claim["end"]] == claim["text"]
    asked = fake.turns.asks[0]
    assert [(t.role, t.text) for t in asked.history] == [("customer", "Hi"), ("agent", "Hello")]
    assert (asked.user, asked.product, asked.context, asked.channel) == ("alice", "Northwind Care", "Order 17", "http")
    assert asked.actor == Actor("alice", "local")


@pytest.mark.parametrize(("key", "how"), [("first-key", "key 0"), ("second-key", "key 1")])
async def test_the_record_is_told_which_key_asked(served: Client, shared: Fake, key: str, how: str) -> None:
    """By its place in the settings, never by its words."""
    response = await served.post("/api/ask", json={"question": "?"}, headers={"Authorization": f"Bearer {key}"})
    assert response.status == 200
    assert shared.turns.asks[0].actor == Actor(None, how)


@pytest.mark.row("2-21")
async def test_stages_come_as_events_and_then_the_reply(client: Client) -> None:
    response = await client.post("/api/ask", json=ASK, headers={"Accept": "text/event-stream"})
    assert response.content_type == "text/event-stream"
    events = events_of(await response.text())
    assert [name for name, _ in events] == ["stage"] * 5 + ["reply"]
    assert events[0][1] == {"name": "screen", "label": "Screening the question"}
    assert events[-1][1]["outcome"] == "answered"


@pytest.mark.parametrize(("question", "status", "code"), [("explode", 500, "internal"), ("outage", 503, "unavailable")])
async def test_errors_are_one_line_in_both_forms(
    client: Client, question: str, status: int, code: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        response = await client.post("/api/ask", json={"question": question, "as": "alice"})
        body = await response.json()
        stream = await client.post("/api/ask", json={"question": question}, headers={"Accept": "text/event-stream"})
        events = events_of(await stream.text())
    assert response.status == status
    assert body["error"]["code"] == code
    assert "\n" not in body["error"]["message"]
    assert events[-1][0] == "error"
    assert events[-1][1]["error"]["code"] == code
    for text in (json.dumps(body), json.dumps(events), caplog.text):
        assert "secret words" not in text
        assert "Traceback" not in text
        assert "alice" not in text


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (
            WorkFailed("rai.check.provenance.weighed failed: ValueError at rai/check/provenance.py:182"),
            "internal",
            "the log has it under",
        ),
        (WorkOverran("the check took longer than 8 s and was ended"), "too_slow", "took longer than 8 s"),
    ],
)
def test_a_fault_of_our_work_is_a_number_for_the_caller_and_a_line_of_ours_in_the_log(
    error: AttestError, code: str, told: str, caplog: pytest.LogCaptureFixture
) -> None:
    status, said, message = describe(error)
    assert (status, said) == (500, code)
    assert told in message
    assert ".py" not in message
    if code == "internal":
        assert "rai/check/provenance.py:182" in caplog.text
        assert message.rpartition(" ")[2] in caplog.text


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
async def test_a_caller_who_hangs_up_cancels_the_turn(client: Client, fake: Fake, accept: str) -> None:
    call = asyncio.create_task(
        client.post("/api/ask", json={"question": "forever"}, headers={"Accept": accept}, timeout=None)
    )
    await fake.turns.begun.wait()
    if accept == "text/event-stream":
        (await call).close()
    else:
        call.cancel()
    async with asyncio.timeout(60):
        await fake.turns.cancelled.wait()
    assert fake.turns.finished == 0


@pytest.mark.parametrize(
    ("form", "says"),
    [
        ({}, "question must be text, not nothing"),
        ({"question": ""}, "question is empty"),
        ({"question": " \n"}, "question is empty"),
        ({"question": 7}, "question must be text, not a number"),
        ({"question": "x" * 8001}, "question has 8001 characters; allowed: at most 8000"),
        ({"question": "x", "history": {}}, "history must be a list, not an object"),
        ({"question": "x", "history": ["hi"]}, "history[0] must be an object with role and text, not text"),
        (
            {"question": "x", "history": [{"role": "system", "text": "a"}]},
            'history[0].role: "system" is not known; allowed: customer, agent, user, assistant',
        ),
        ({"question": "x", "history": [{"role": ["user"], "text": "a"}]}, "history[0].role"),
        ({"question": "x", "history": [{"role": "user", "text": None}]}, "history[0].text must be text, not nothing"),
        ({"question": "x", "as": 1}, "as must be text, not a number"),
        ({"question": "x", "product": True}, "product must be text, not true or false"),
        ({"question": "x", "context": {}}, "context must be text, not an object"),
        ({"question": "x", "policy": "lax"}, "policy 'lax' is not known; allowed: "),
        ({"question": "x", "histroy": []}, '"histroy" is not a field; allowed: question, history'),
        ({"question": "x", "web": "yes"}, "web must be true or false, not text"),
        ({"question": "x", "excluded": "a"}, "excluded must be a list, not text"),
        ({"question": "x", "excluded": [1]}, "excluded[0] must be text, not a number"),
        ({"question": "x", "excluded": ["a", " "]}, "excluded[1] is empty"),
        ({"question": "x", "excluded": ["w" * 201]}, "excluded[0] has 201 characters; allowed: at most 200"),
        ({"question": "x", "excluded": ["w"] * 21}, "excluded has 21 items; allowed: at most 20"),
        ({"question": "\ud800"}, "question holds half of a surrogate pair"),
    ],
)
async def test_a_wrong_ask_is_told_what_and_where(client: Client, fake: Fake, form: dict[str, Any], says: str) -> None:
    headers = {"Content-Type": "application/json"}
    response = await client.post("/api/ask", data=json.dumps(form).encode(), headers=headers)
    error = (await response.json())["error"]
    assert response.status == 400
    assert says in error["message"]
    assert not fake.turns.asks


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"", "the body is not JSON"),
        (b"{", "line 1, column 2"),
        (b"[1]", "must be a JSON object, not a list"),
        (b"\xff{}", "not UTF-8"),
        (b'{"question": NaN}', "NaN is not allowed"),
        (b"[" * 100_000, "the body is "),
    ],
)
async def test_a_body_that_is_no_json_object_is_refused(client: Client, body: bytes, says: str) -> None:
    response = await client.post("/api/ask", data=body, headers={"Content-Type": "application/json"})
    assert response.status == 400
    assert says in (await response.json())["error"]["message"]


async def test_words_that_are_never_searched_for_are_taken_along(client: Client, fake: Fake) -> None:
    for form, excluded in (({}, ()), ({"excluded": None}, ()), ({"excluded": ["acme", "x y"]}, ("acme", "x y"))):
        response = await client.post("/api/ask", json=ASK | form)
        assert response.status == 200
        assert fake.turns.asks[-1].excluded == excluded
    assert (await client.post("/api/ask", json=ASK | {"excluded": ["w"] * 20})).status == 200


async def test_the_web_can_be_asked_for(client: Client, fake: Fake) -> None:
    for said, web in ((None, False), (False, False), (True, True)):
        await client.post("/api/ask", json=ASK | {"web": said})
        assert fake.turns.asks[-1].web is web


async def test_the_reply_that_stands_last_in_the_history_can_be_named(client: Client, fake: Fake) -> None:
    for said, named in ((None, ""), ("01JD3ZK4W2", "01JD3ZK4W2")):
        await client.post("/api/ask", json=ASK | {"answered": said})
        assert fake.turns.asks[-1].answered == named


async def test_a_form_post_is_refused(client: Client) -> None:
    response = await client.post("/api/ask", data={"question": "x"})
    assert response.status == 415


async def test_a_body_that_is_too_large_is_refused(client: Client) -> None:
    body = b'{"question": "' + b"x" * BODY_BYTES + b'"}'
    response = await client.post("/api/ask", data=body, headers={"Content-Type": "application/json"})
    assert response.status == 413
    assert "error" in await response.json()


async def test_get_on_the_api_says_which_method(client: Client) -> None:
    response = await client.get("/api/ask")
    assert response.status == 405
    assert response.headers["Allow"] == "POST"


async def test_the_rate_is_limited_per_user(start: Start) -> None:
    client = await start(fake_system(rate_per_minute=2))
    alice, bob = ASK | {"as": "alice"}, ASK | {"as": "bob"}
    for _ in range(2):
        assert (await client.post("/api/ask", json=alice)).status == 200
    response = await client.post("/api/ask", json=alice)
    assert response.status == 429
    assert 1 <= int(response.headers["Retry-After"]) <= 30
    assert (await response.json())["error"]["code"] == "rate_limited"
    assert (await client.post("/api/ask", json=bob)).status == 200


async def test_a_check_has_the_contracts_form(client: Client) -> None:
    out = await (await client.post("/api/check", json=CHECK)).json()
    assert set(out) == {"id", "verdict", "score", "claims", "relevance", "repaired"}
    assert (out["id"], out["verdict"], out["repaired"]) == ("c1", "unsupported", "It costs €4.90.")
    assert [(c["text"], c["status"]) for c in out["claims"]] == [("€4.90", "exact"), ("+44 20 7946 0081", "absent")]
    span = out["claims"][0]["evidence"][0]
    assert CHECK["sources"][0]["text"][span["start"] : span["end"]] == span["text"]  # type: ignore[index]  # a form is plain data


async def test_many_checks_keep_their_order_and_a_bad_one_its_place(client: Client) -> None:
    items = [CHECK, {"id": "bad", "answer": "x", "sources": "none"}, 7, CHECK | {"id": "c2", "label": "unsupported"}]
    out = (await (await client.post("/api/check", json={"items": items})).json())["items"]
    assert [o["id"] for o in out] == ["c1", "bad", "", "c2"]
    assert out[1]["line"] == 2
    assert out[1]["error"]["message"] == "sources must be a list, not text"


async def test_a_request_for_checks_is_one_entry_and_one_for_none_is_none(client: Client, fake: Fake) -> None:
    await client.post("/api/check", json=CHECK)
    await client.post("/api/check", json={"items": [CHECK, 7, CHECK]})
    await client.post("/api/check", json=CHECK, headers={"Accept": "text/html"})
    await client.post("/api/check", json={"items": [7]})
    await client.post("/api/check", json={**CHECK, "answer": 7})
    assert [(e.kind, e.body["items"], e.body["refused"]) for e in fake.ledger.kept] == [
        ("check", 1, 0),
        ("check", 2, 1),
        ("check", 1, 0),
    ]
    assert fake.ledger.kept[0].body["statuses"] == {"exact": 1, "absent": 1}
    assert fake.ledger.kept[0].body["actor"]["authenticated_by"] == "local"


async def test_a_check_that_cannot_be_recorded_gives_no_verdict(start: Start) -> None:
    fake = fake_system()
    client = await start(replace(fake, system=replace(fake.system, ledger=ShutLedger())))
    response = await client.post("/api/check", json=CHECK)
    assert (response.status, (await response.json())["error"]["code"]) == (503, "store_unavailable")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"sources": None}, "sources must be a list, not nothing"),
        ({"sources": [{"id": "a"}]}, "sources[0].text must be text, not nothing"),
        ({"sources": [{"id": "", "text": "x"}]}, "sources[0].id is empty"),
        ({"sources": [{"id": "a", "text": "x", "title": 1}]}, "sources[0].title must be text, not a number"),
        ({"sources": [{"id": "a", "text": "x"}] * 2}, 'the id "a" occurs twice'),
        ({"sources": [{"id": str(i), "text": "x"} for i in range(101)]}, "sources has 101 items; allowed: at most 100"),
        ({"answer": None}, "answer must be text"),
        ({"given": "x"}, "given must be a list"),
        ({"given": [1]}, "given[0] must be text"),
        ({"id": 4}, "id must be text"),
        ({"at": "noon"}, 'at: "noon" is no time; allowed: ISO 8601, such as 2026-11-20T14:30'),
        ({"at": 20261120}, "at: 20261120 is no time"),
        ({"at": "2026-11-31T10:00"}, 'at: "2026-11-31T10:00" is no time'),
        ({"sources": [{"id": "a", "text": "x", "updated": "1/2/26"}]}, 'sources[0].updated: "1/2/26" is no date'),
        ({"sources": [{"id": "a", "text": "x", "updated": "20260301"}]}, 'sources[0].updated: "20260301" is no date'),
        (
            {"sources": [{"id": "a", "text": "x", "updated": "2026-13-01"}]},
            'sources[0].updated: "2026-13-01" is no date',
        ),
    ],
)
async def test_a_wrong_check_is_told_what_and_where(client: Client, change: dict[str, Any], says: str) -> None:
    response = await client.post("/api/check", json=CHECK | change)
    assert response.status == 400
    assert says in (await response.json())["error"]["message"]


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("2026-11-20", datetime(2026, 11, 20)),
        ("2026-11-20T14:30", datetime(2026, 11, 20, 14, 30)),
        ("2026-11-20T14:30:05Z", datetime(2026, 11, 20, 14, 30, 5, tzinfo=UTC)),
        ("", None),
        (None, None),
    ],
)
def test_the_time_of_a_conversation_and_the_day_of_a_source_are_read(given: str | None, read: datetime | None) -> None:
    form = {"answer": "a", "sources": [{"id": "s", "text": "x", "updated": given}], "at": given}
    request = parse_check(form)
    assert request.at == read
    assert request.sources[0].updated == (given or None)


def test_layers_and_notes_are_told_where_there_are_any() -> None:
    plain = report_json("a", Report("supported", 0.0, ()))
    assert not {"layers", "notes"} & set(plain)
    layered = report_json("a", Report("supported", 0.0, (), layers=(Layer("values", "supported", 0.1),), notes=("n",)))
    assert layered["notes"] == ["n"]
    assert layered["layers"] == [{"name": "values", "verdict": "supported", "score": 0.1}]


@pytest.mark.parametrize("accept", ["text/html", "text/html,application/xhtml+xml;q=0.9, */*;q=0.8"])
async def test_a_check_can_be_had_as_a_page(client: Client, accept: str) -> None:
    response = await client.post("/api/check", json=CHECK, headers={"Accept": accept})
    text = await response.text()
    assert response.content_type == "text/html"
    assert 'data-verdict="unsupported"' in text
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=", text)
    for path in re.findall(r'(?:src|href)="(/[^"]+)"', text):
        assert (await client.get(path)).status == 200, path


@pytest.mark.parametrize("accept", ["*/*", "application/json", "application/json, text/html", "text/htmlx"])
async def test_json_stays_what_a_check_gives(client: Client, accept: str) -> None:
    response = await client.post("/api/check", json=CHECK, headers={"Accept": accept})
    assert (await response.json())["id"] == "c1"


async def test_a_wrong_check_is_told_in_json_also_to_who_wants_a_page(client: Client) -> None:
    response = await client.post("/api/check", json={"answer": ""}, headers={"Accept": "text/html"})
    assert response.status == 400
    assert (await response.json())["error"]["code"]
