"""Finding at the desk: searches by their address, files of what was found, samples."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from dataclasses import replace
from unittest.mock import patch

import pytest
from aiohttp.test_utils import TestClient
from aiohttp.web import Application, Request
from pytest_aiohttp.plugin import AiohttpClient

from bot.desk.index import Desk, Reach
from bot.http.background.desk import DESK
from bot.records import Ask
from bot.server.app import build_app
from grounding.errors import StoreError
from tests.fakes.ledger import ShutLedger
from tests.fakes.shop import HOSTILE
from tests.fakes.system import Fake, fake_system

Client = TestClient[Request, Application]


@pytest.fixture
def fake() -> Fake:
    return fake_system()


@pytest.fixture
async def reviewer(aiohttp_client: AiohttpClient, fake: Fake) -> Client:
    for question, user in (("How do I return a kettle?", "alice"), ("repair it", "dave"), ("hostile", "alice")):
        await fake.turns.answer(Ask(question, user=user, channel="http"), None)
    await fake.ledger.append("feedback", {"entry_id": "e00001x7q", "reaction": "dislike", "text": HOSTILE})
    client = await aiohttp_client(build_app(fake.system, review_token="once"))
    assert (await client.get("/review?token=once")).status == 200
    return client


async def numbers(client: Client, path: str) -> list[str]:
    response = await client.get(path)
    assert response.status == 200, path
    return re.findall(r'<td class="num">(\d+)</td>', await response.text())


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("words=kettle", ["1"]),
        ("words=%22a+kettle%22", ["1"]),
        ("words=%22kettle+a%22", []),
        ("user=ALICE", ["3", "1"]),
        ("struck=yes", ["2"]),
        ("status=unsupported", ["2"]),
        ("document=returns", ["2", "1"]),
        ("feedback=dislike", ["1"]),
        ("since=2026-11-20&until=2026-11-20&kind=turn", ["3", "2", "1"]),
        ("until=2026-11-19", []),
        ("words=%22%27%3B--", []),
    ],
)
async def test_an_address_is_a_search(reviewer: Client, query: str, found: list[str]) -> None:
    assert await numbers(reviewer, f"/review?{query}") == found


async def test_the_page_says_how_many_and_leads_to_the_same_search(reviewer: Client) -> None:
    text = await (await reviewer.get("/review?user=alice&outcome=answered")).text()
    assert re.search(r"<strong>2</strong> entries · 2 answered", text)
    assert 'value="alice"' in text
    link = re.search(r'href="(/review/found\.csv\?[^"]+)"', text)
    assert link is not None
    assert link.group(1).replace("&amp;", "&") == "/review/found.csv?user=alice&outcome=answered"


async def test_what_was_found_is_downloaded_whole(reviewer: Client, fake: Fake) -> None:
    response = await reviewer.get("/review/found.csv?user=alice&before=2")
    assert response.headers["Content-Disposition"] == 'attachment; filename="found.csv"'
    raw = await response.read()
    assert raw.startswith(b"\xef\xbb\xbf"), "a spreadsheet program knows by it that this is UTF-8"
    assert raw.count(b"\xef\xbb\xbf") == 1
    rows = list(csv.DictReader(io.StringIO(raw.decode("utf-8-sig"), newline="")))
    assert [row["seq"] for row in rows] == ["3", "1"]
    assert rows[1]["question"] == "How do I return a kettle?"
    lines = (await (await reviewer.get("/review/found.jsonl?struck=yes")).read()).decode().splitlines()
    assert [json.loads(line)["outcome"] for line in lines] == ["repaired"]
    assert fake.ledger.kept[-1].body["page"] == "download jsonl"
    assert fake.ledger.kept[-1].body["wanted"] == {"struck": "yes"}
    assert (await reviewer.get("/review/found.xls")).status == 404


async def test_where_nothing_was_found_no_file_is_offered(reviewer: Client) -> None:
    text = await (await reviewer.get("/review?words=teapot")).text()
    assert "<strong>0</strong> entries" in text
    assert "/review/found." not in text
    assert 'href="/review?words=teapot">a link</a>' in text
    assert "/review/found.zip?words=kettle" in await (await reviewer.get("/review?words=kettle")).text()


async def test_a_bundle_that_cannot_be_made_leads_back_to_the_search(reviewer: Client) -> None:
    response = await reviewer.get("/review/found.zip?words=teapot&user=%22%3E%3Cscript%3E")
    text = await response.text()
    assert (response.status, "<title>This cannot be bundled · Attest</title>" in text) == (409, True)
    assert "the search finds nothing that could be bundled." in text
    assert "Code: <code>no_bundle</code>" in text
    assert 'action="/review/sign-out"' in text, "the header of who is signed in"
    assert "<script>" not in text
    (back,) = re.findall(r'href="(/review\?[^"]+)">Back to the search</a>', text)
    again = await (await reviewer.get(back.replace("&amp;", "&"))).text()
    assert 'name="words" value="teapot"' in again


async def test_a_sample_keeps_its_address(reviewer: Client) -> None:
    response = await reviewer.get("/review/sample?kind=turn&n=1", allow_redirects=False)
    assert response.status == 303
    place = response.headers["Location"]
    first = await numbers(reviewer, place)
    assert len(first) == 2, "one answered, one repaired"
    assert await numbers(reviewer, place) == first
    assert len(await numbers(reviewer, "/review/sample?kind=turn&n=2&by=none&seed=3")) == 2
    assert len(await numbers(reviewer, "/review/sample?kind=turn&n=x&by=y&seed=3")) == 3


async def test_a_sample_is_downloaded_as_it_was_drawn(reviewer: Client, fake: Fake) -> None:
    page = "/review/sample?kind=turn&n=1&by=outcome&seed=0"
    shown = await numbers(reviewer, page)
    text = await (await reviewer.get(page)).text()
    links = [link.replace("&amp;", "&") for link in re.findall(r'href="(/review/found\.[^"]+)"', text)]
    assert [link.split("?")[0] for link in links] == [f"/review/found.{form}" for form in ("csv", "jsonl", "zip")]
    response = await reviewer.get(links[0])
    assert response.headers["Content-Disposition"] == 'attachment; filename="sample.csv"'
    rows = list(csv.DictReader(io.StringIO((await response.read()).decode("utf-8-sig"), newline="")))
    assert [row["seq"] for row in rows] == shown
    assert fake.ledger.kept[-1].body["wanted"] == {"kind": "turn", "n": "1", "by": "outcome", "seed": "0"}
    lines = (await (await reviewer.get(links[1])).read()).decode().splitlines()
    assert [str(json.loads(line)["seq"]) for line in lines] == shown


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("outcome=bogus", "“bogus” is no outcome"),
        ("since=foo", "“foo” is no day"),
        ("version=abc", "version was left out"),
        ("colour=red", "“colour” was left out"),
        ("n=999&seed=1", "“999” is no number of entries for a sample: allowed is 1 to 50 of each"),
        ("by=mood&seed=1", "“mood” is nothing to spread a sample over"),
        ("seed=abc", "“abc” is no seed: another sample was drawn"),
    ],
)
async def test_no_file_leaves_out_what_it_was_asked_to_search_for(reviewer: Client, query: str, said: str) -> None:
    for form in ("csv", "jsonl", "zip"):
        response = await reviewer.get(f"/review/found.{form}?{query}")
        assert response.status == 400
        assert said in html.unescape(await response.text())
    page = html.unescape(await (await reviewer.get(f"/review/sample?{query}")).text())
    assert said in page, "a page says it, and shows what it found without"


async def test_a_file_of_half_a_sample_is_refused(reviewer: Client) -> None:
    response = await reviewer.get("/review/found.csv?n=5&by=outcome")
    assert (response.status, "its seed is missing" in await response.text()) == (400, True)


async def test_what_narrows_no_document_is_no_condition(reviewer: Client) -> None:
    text = await (await reviewer.get("/review?version=abc&use=evidence&user=alice")).text()
    assert "version was left out" in text
    assert 'href="/review/found.csv?user=alice"' in text
    assert "Searched for: <strong>user</strong> <bdi>alice</bdi>." in text


async def test_on_paper_a_list_says_what_was_searched_for(reviewer: Client) -> None:
    text = await (await reviewer.get("/review?user=alice&words=%3Cb%3E&before=9")).text()
    (line,) = re.findall(r'<p class="print-only">(.*)</p>', text)
    assert line == (
        "Searched for: <strong>words</strong> <bdi>&lt;b&gt;</bdi>; <strong>user</strong> <bdi>alice</bdi>; entries before no. 9."
    )
    assert "Searched for: everything." in await (await reviewer.get("/review")).text()


async def test_a_search_leads_to_what_it_found(reviewer: Client) -> None:
    """By keyboard: what follows the form, not its thirty fields once more."""
    text = await (await reviewer.get("/review?user=alice")).text()
    assert 'action="/review#found"' in text
    assert '<p class="found" id="found" tabindex="-1"' in text


async def test_an_id_that_nobody_has_brings_those_that_hold_it(reviewer: Client) -> None:
    text = await (await reviewer.get("/review?user=LIC")).text()
    assert 'Did you mean <a href="/review?user=alice"><bdi>alice</bdi></a>?' in text
    for query in ("user=Alice&words=nothing", "user=zoe"):
        assert "Did you mean" not in await (await reviewer.get(f"/review?{query}")).text()


async def test_no_sign_that_turns_a_line_round_reaches_a_page(reviewer: Client, fake: Fake) -> None:
    await fake.turns.answer(Ask("gnp\u202eexe.kettle", user="mallory\u202egnp.exe", channel="http"), None)
    (entry,) = [e.entry_id for e in fake.ledger.kept if e.kind == "turn" and "mallory" in str(e.body["ask"]["user"])]
    for path in ("/review?words=kettle", f"/review/{entry}", f"/review/{entry}/replay", "/review/queue"):
        text = await (await reviewer.get(path)).text()
        assert "\u202e" not in text
    assert "mallory⟦U+202E⟧gnp.exe" in await (await reviewer.get("/review?words=kettle")).text()
    typed = await (await reviewer.get("/review?words=a%E2%80%AEb")).text()
    assert 'value="a\u202eb"' in typed, "what was typed goes back as it was typed"


async def test_every_search_is_an_entry(reviewer: Client, fake: Fake) -> None:
    await reviewer.get("/review?words=kettle&user=alice")
    entry = fake.ledger.kept[-1]
    assert (entry.kind, entry.body["page"]) == ("read", "list")
    assert entry.body["wanted"] == {"words": "kettle", "user": "alice"}


async def test_nothing_that_was_recorded_or_asked_becomes_markup(reviewer: Client) -> None:
    for path in ("/review", "/review?words=%3Cimg+src%3Dx%3E", "/review/sample?seed=1&user=%22%3E%3Cscript%3E"):
        text = await (await reviewer.get(path)).text()
        assert "<img src=x" not in text
        assert "<script>" not in text
        assert 'value=""><script' not in text


async def test_a_file_is_refused_while_the_read_cannot_be_recorded(aiohttp_client: AiohttpClient, fake: Fake) -> None:
    shut = ShutLedger()
    shut.shut = False
    client = await aiohttp_client(build_app(replace(fake.system, ledger=shut), review_token="once"))
    assert (await client.get("/review?token=once")).status == 200
    shut.shut = True
    for path in ("/review/found.csv", "/review/sample?seed=1"):
        assert (await client.get(path)).status == 503


async def test_a_page_is_shown_while_another_process_holds_the_index(reviewer: Client, fake: Fake) -> None:
    """It says up to where it goes; what is new is found when the other has ended."""
    assert reviewer.app is not None
    desk = reviewer.app[DESK]
    assert (await desk.follow(fake.ledger)).is_whole
    await fake.turns.answer(Ask("a kettle of now", channel="http"), None)

    async def held(*_given: object) -> Reach:
        raise StoreError("the index of the reviewers' desk cannot be used: another process holds it locked")

    with patch.object(Desk, "follow", held):
        text = await (await reviewer.get("/review?words=kettle")).text()
    assert re.findall(r'<td class="num">(\d+)</td>', text) == ["1"]
    assert re.search(r"goes up to entry \d+ of \d+", text)
    assert len(await numbers(reviewer, "/review?words=kettle")) == 2


async def test_reasons_to_look_at_turns_are_a_click_each(reviewer: Client) -> None:
    text = await (await reviewer.get("/review")).text()
    (queues,) = re.findall(r'<p class="queues">(.*?)</p>', text)
    found = {
        name: await numbers(reviewer, address.replace("&amp;", "&"))
        for address, name in re.findall(r'<a href="([^"]+)">([^<]+)</a>', queues)
    }
    assert found["a value was struck"] == ["2"]
    assert found["thumbs down"] == ["1"]
    assert found.keys() >= {"withheld", "refusals called wrong", "unanswered questions", "failed"}
    chosen = await (await reviewer.get("/review?struck=yes")).text()
    assert 'href="/review?struck=yes" aria-current="page">a value was struck</a>' in chosen
