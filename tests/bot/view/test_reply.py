"""A reply as people are shown it: alike from a reply and from its JSON, alike on every channel, and empty where there is nothing."""

from __future__ import annotations

import io
import json
from typing import Any

from aiohttp.test_utils import TestClient
from aiohttp.web import Application, Request
from hypothesis import given
from hypothesis import strategies as st
from pytest_aiohttp.plugin import AiohttpClient
from rich.console import Console

from bot.commands.shared.printed_reply import print_reply
from bot.records import Citation, InternalNote, Reply, Struck
from bot.server.app import build_app
from bot.teams.shown.render import render
from bot.view.reply import reply_view, view_of
from grounding.query.clarify import Clarification
from grounding.quoting.coverage import Covered
from grounding.records import WebResult
from rai.records import Claim, Outcome
from tests.fakes.replies import reply_of
from tests.fakes.system import fake_system

PHONE = Claim("phone", "020 7946 0388", 5, 18, status="absent", why="No source holds it.")
MONEY = Claim("money", "€4.90", 3, 8, status="exact")
WEB = Citation(2, "Fees", "https://fees.example/a", "w", "w1", None, "Fees are €4.90.", "web", "unlisted")
OWN = Citation(1, "", None, "plans/care.md", "c1", "Care plans", "Care costs €4.90.")
REPLY = reply_of(
    Outcome.REPAIRED,
    "It €4.90 [1] [2]",
    citations=(OWN, WEB),
    claims=(MONEY,),
    draft=Struck("Call 020 7946 0388", (PHONE,)),
    internal_notes=(InternalNote("Escalation", "e.md", "e1", "Call Wren."),),
    clarification=Clarification("Which plan: Care, Care+ or another?", ("Care", "Care+"), "two plans compete"),
    coverage=(Covered("what it costs", True), Covered("how long it runs", False)),
    notes=("only what everyone may see was searched", "1 passage(s) with hidden instructions left out"),
    usage={"calls": 1, "prompt_tokens": 900, "completion_tokens": 40},
    web=(WebResult("Fees", "https://fees.example/a", "Fees are €4.90.", tier="trusted"),),
)

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
FIELDS = sorted(set(REPLY.as_json()) - {"claims", "draft"})


def test_a_reply_and_its_json_are_told_alike() -> None:
    assert reply_view(json.loads(json.dumps(REPLY.as_json()))) == view_of(REPLY)


@given(st.dictionaries(st.sampled_from(FIELDS), ANYTHING, max_size=6))
def test_what_is_no_reply_is_empty_and_ends_no_page(reply: dict[str, Any]) -> None:
    view = reply_view(reply)
    assert view.claims == ()
    assert all(isinstance(text, str) for text in (view.outcome, view.answer, view.web_notice, *view.notes))


def test_a_source_without_a_title_goes_by_its_document() -> None:
    own, web = view_of(REPLY).citations
    assert (own.name, own.web) == ("plans/care.md", "")
    assert (web.name, web.web) == ("Fees", "web, unlisted site")


def test_only_a_checked_answer_is_delivered() -> None:
    delivered = {outcome for outcome in Outcome if view_of(reply_of(outcome, "x")).delivered}
    assert delivered == {Outcome.ANSWERED, Outcome.REPAIRED}
    assert not view_of(reply_of(Outcome.ANSWERED, "Hello!", intent="greeting")).delivered


def test_one_open_part_is_the_question_itself() -> None:
    assert view_of(REPLY).unanswered == ("how long it runs",)
    assert view_of(reply_of(Outcome.ANSWERED, "x", coverage=(Covered("all of it", False),))).unanswered == ()


def printed(reply: Reply) -> str:
    out = io.StringIO()
    print_reply(reply, out=Console(file=out, width=200))
    return out.getvalue()


async def test_every_channel_says_the_same_of_it(aiohttp_client: AiohttpClient) -> None:
    client: TestClient[Request, Application] = await aiohttp_client(build_app(fake_system().system))
    shown = await (await client.post("/chat/view", json=REPLY.as_json() | {"question": "What is it?"})).json()
    view, message = view_of(REPLY), json.dumps(render(REPLY, teams=False), ensure_ascii=False)
    asked = view.asked_back
    assert asked is not None
    assert shown["ask_back"]["question"] == asked.alone == "Which plan?"
    assert [c["web"] for c in shown["reply"]["citations"]] == [c.web for c in view.citations]
    for text in (printed(REPLY), message):
        assert "web, unlisted site" in text
        assert view.notes[0] in text
        assert "hidden instructions" not in text  # for the record alone
    assert asked.alone in printed(REPLY)
    assert asked.question in message


async def test_the_script_of_the_page_is_told_what_to_say(aiohttp_client: AiohttpClient) -> None:
    client: TestClient[Request, Application] = await aiohttp_client(build_app(fake_system().system))
    shown = (await (await client.post("/chat/view", json=REPLY.as_json())).json())["reply"]
    assert (shown["word"], shown["delivered"], shown["reportable"]) == ("Repaired", True, False)
    assert shown["summary"] == "1 value traced · 1 unsupported claim in the draft"
    assert shown["struck"] == [{"status": "absent", "text": "020 7946 0388", "why": "No source holds it."}]
    assert shown["citations"][0] == {
        "n": 1,
        "name": "plans/care.md",
        "place": "Care plans",
        "quote": "Care costs €4.90.",
        "web": "",
    }
    assert [page["web"] for page in shown["web"]] == ["web, trusted site"]
    assert shown["taken"] == "1 call of a model, 900 tokens in, 40 out"
