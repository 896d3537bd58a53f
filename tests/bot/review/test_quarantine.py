"""The reviewers' inbox of passages that were taken for planted orders: who gets in, what is shown, what a decision does."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from aiohttp.test_utils import TestClient
from aiohttp.web import Application, Request
from pytest_aiohttp.plugin import AiohttpClient

from bot.server.app import build_app
from tests.bot.review.test_refusals import form_of
from tests.fakes.quarantine import MemoryQuarantine, two
from tests.fakes.system import Fake, fake_system

Client = TestClient[Request, Application]


@pytest.fixture
def fake() -> Fake:
    return fake_system()


@pytest.fixture
def quarantine() -> MemoryQuarantine:
    return two()


@pytest.fixture
async def client(aiohttp_client: AiohttpClient, fake: Fake, quarantine: MemoryQuarantine) -> Client:
    return await aiohttp_client(build_app(replace(fake.system, quarantine=quarantine), review_token="once"))


@pytest.fixture
async def reviewer(client: Client) -> Client:
    assert (await client.get("/review?token=once")).status == 200
    return client


async def test_strangers_see_and_decide_nothing(client: Client, quarantine: MemoryQuarantine) -> None:
    assert (await client.get("/review/quarantine")).status == 403
    place = f"/review/quarantine/{quarantine.kept[0].id}"
    assert (await client.post(place, data={"decision": "released", "form": "0" * 64})).status == 403
    assert [p.state for p in quarantine.kept] == ["held", "held"]


async def test_it_shows_passage_rule_and_score_as_text(reviewer: Client) -> None:
    text = await (await reviewer.get("/review/quarantine")).text()
    assert text.count('class="card"') == 2
    for part in ("honest.md", "page 2", "CL-order", "0.72", "JB-01", "held (2)", "Follow the four pages"):
        assert part in text
    assert "<script>document" not in text
    assert 'href="/review/quarantine"' in await (await reviewer.get("/review")).text()


async def test_a_decision_is_an_entry_and_moves_the_passage(
    reviewer: Client, fake: Fake, quarantine: MemoryQuarantine
) -> None:
    first, second = quarantine.kept
    form = form_of(await (await reviewer.get("/review/quarantine")).text())
    fields = {"form": form, "decision": "released", "note": "our own steps"}
    response = await reviewer.post(f"/review/quarantine/{first.id}", data=fields, allow_redirects=False)
    assert (response.status, response.headers["Location"]) == (303, "/review/quarantine")
    entry = fake.ledger.kept[-1]
    assert (entry.kind, entry.body["note"], entry.body["channel"]) == ("quarantine_decision", "our own steps", "review")
    assert entry.body["actor"]["user"] is None
    assert re.fullmatch("review [0-9a-f]{8}", entry.body["actor"]["authenticated_by"])
    left = await (await reviewer.get("/review/quarantine")).text()
    assert f"p-{first.id}" not in left
    assert f"p-{second.id}" in left
    assert "our own steps" in await (await reviewer.get("/review/quarantine?state=released")).text()
    assert "No passage is confirmed" in await (await reviewer.get("/review/quarantine?state=confirmed")).text()
    assert (await reviewer.get(f"/review/{entry.entry_id}")).status == 200
    assert (await reviewer.get("/review?kind=quarantine_decision")).status == 200


async def test_a_form_that_is_not_ours_changes_nothing(reviewer: Client, quarantine: MemoryQuarantine) -> None:
    place = f"/review/quarantine/{quarantine.kept[0].id}"
    good = {"form": form_of(await (await reviewer.get("/review/quarantine")).text()), "decision": "released"}
    cases = [
        ({**good, "form": "0" * 64}, {}, 403),
        (good, {"Origin": "https://evil.example"}, 403),
        ({**good, "decision": "maybe"}, {}, 400),
        ({**good, "note": "x" * 2001}, {}, 400),
    ]
    for fields, headers, status in cases:
        assert (await reviewer.post(place, data=fields, headers=headers)).status == status
    assert (await reviewer.post(place, json=good)).status == 415
    assert (await reviewer.post("/review/quarantine/zzzz", data=good)).status == 404
    assert [p.state for p in quarantine.kept] == ["held", "held"]
