"""The reviewers' desk in a real browser: every question by keyboard alone, judging, and what comes out of a printer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio
from aiohttp import web
from playwright.async_api import Browser, Locator, Page, expect

from bot.records import Ask
from bot.server.app import build_app
from bot.system import CheckRequest
from grounding.records import Turn
from rai.records import Report
from tests.e2e.contrast import CONTRAST
from tests.fakes.shop import HOSTILE
from tests.fakes.system import Fake, fake_system

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]
QUESTIONS = ("How do I return something?", "repair it", "withhold it", "hostile", f"weather in Malta {HOSTILE}")
MOST_TABS = 90
PAGES = (
    "",
    "/queue",
    "/queue?reason=unanswered",
    "/unanswered?all=1",
    "/dashboard?until=2026-11-25",
    "/sample?seed=1&kind=turn",
    "/e00002x7q?queue=struck.right.e00003x7q",
    "/e00004x7q",
)
HIDDEN = """[...document.querySelectorAll('details > *, .claim-list li')].filter(
  (e) => !e.closest('.no-print, .find, .judge') && !e.checkVisibility({ contentVisibilityAuto: true })).map((e) => e.outerHTML.slice(0, 90))"""


@pytest.fixture
def fake(tmp_path: Path) -> Fake:
    return fake_system(home=tmp_path / "home")


@pytest_asyncio.fixture(loop_scope="module")
async def base(fake: Fake) -> AsyncIterator[str]:
    for question in QUESTIONS:
        ask = Ask(question, user="alice", channel="http", history=(Turn("customer", HOSTILE),), context=HOSTILE)
        await fake.turns.answer(ask, None)
    fake.library.old.append(fake.library.current.pop("returns"))

    async def recheck(request: CheckRequest, _policy: str) -> Report:
        return await fake.system.check(request)

    system = replace(fake.system, recheck=recheck)
    runner = web.AppRunner(build_app(system, review_token="once"), access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


@pytest_asyncio.fixture(loop_scope="module")
async def page(chromium: Browser, base: str) -> AsyncIterator[Page]:
    """The list, in a browser that fails the test on any script error or refused resource."""
    context = await chromium.new_context()
    tab = await context.new_page()
    faults: list[str] = []
    tab.on("pageerror", lambda error: faults.append(str(error)))
    tab.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    await tab.goto(f"{base}/review?token=once")
    yield tab
    await context.close()
    assert faults == []


async def tab_to(page: Page, wanted: Locator) -> None:
    """Press Tab until it has the focus, as somebody without a pointer does."""
    for _ in range(MOST_TABS):
        if await wanted.evaluate("e => e === document.activeElement"):
            return
        await page.keyboard.press("Tab")
    pytest.fail(f"{MOST_TABS} presses of Tab did not reach {wanted}")


async def press(page: Page, wanted: Locator) -> None:
    """Go there and press Enter: what a click is without a pointer."""
    await tab_to(page, wanted)
    await page.keyboard.press("Enter")


async def type_into(page: Page, name: str, text: str) -> None:
    await tab_to(page, page.get_by_label(name, exact=True).first)
    await page.keyboard.type(text)


async def expect_found(page: Page, *questions: str) -> None:
    await expect(page.locator(".entries .what a")).to_have_text(questions)


async def test_all_answers_that_quoted_a_document_in_two_clicks(page: Page) -> None:
    await press(page, page.locator(".find summary"))
    await type_into(page, "Document", "returns")
    await page.keyboard.press("Enter")
    await expect_found(page, "repair it", "How do I return something?")


async def test_all_that_somebody_asked_in_a_week_in_one_click(page: Page) -> None:
    await type_into(page, "From", "11162026")
    await type_into(page, "Until", "11222026")
    await type_into(page, "Asked by", "ALICE")
    await page.keyboard.press("Enter")
    await expect(page.locator(".found")).to_contain_text("5 entries")


async def test_all_with_a_value_struck_in_one_click(page: Page) -> None:
    await press(page, page.get_by_role("link", name="a value was struck"))
    await expect_found(page, "withhold it", "repair it")


async def test_all_that_would_be_different_today_in_two_clicks(page: Page) -> None:
    await press(page, page.get_by_role("link", name="Answers on text that has changed"))
    await press(page, page.locator("tbody a"))
    cards = page.locator("section.card")
    await expect(cards).to_have_count(2)
    await expect(cards.first).to_contain_text("repair it")
    await expect(cards.first.locator(".badge")).to_have_text("not supported now")


async def test_a_turn_is_judged_by_keyboard_and_the_next_one_comes(page: Page, fake: Fake) -> None:
    await press(page, page.get_by_role("link", name="To judge"))
    await press(page, page.get_by_role("link", name="withhold it"))
    await press(page, page.get_by_role("link", name="Judge", exact=True))
    await tab_to(page, page.get_by_role("radio").first)
    await page.keyboard.press("ArrowDown")
    await type_into(page, "Comment", HOSTILE)
    await type_into(page, "The answer as it should have been", "It costs €7.99.")
    await press(page, page.get_by_role("button", name="Save and next"))
    await expect(page.locator("h1")).to_have_text("repair it")
    await expect(page.get_by_text("Saved: Should have been answered on …003x7q")).to_be_in_viewport()
    (verdict,) = [e for e in fake.ledger.kept if e.kind == "verdict"]
    assert (verdict.body["verdict"], verdict.body["comment"]) == ("wrongly_refused", HOSTILE)
    await expect(page).to_have_title("Turn e00002x7q · Attest")


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_the_new_pages_can_be_read_on_a_telephone_and_on_paper(chromium: Browser, base: str, scheme: str) -> None:
    context = await chromium.new_context(color_scheme=scheme, viewport={"width": 360, "height": 700})  # type: ignore[arg-type]  # the two words that it allows
    page = await context.new_page()
    await page.goto(f"{base}/review?token=once")
    for place in PAGES:
        await page.goto(f"{base}/review{place}")
        await page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        assert await page.evaluate("document.documentElement.scrollWidth") == 360, place
        assert await page.evaluate(CONTRAST) == [], place
        assert await page.locator("main script, main img").count() == 0
    await page.goto(f"{base}/review/e00001x7q")
    await page.emulate_media(media="print")
    await expect(page.locator("#judge")).to_be_hidden()
    await page.emulate_media(media="screen")
    await expect(page.locator("#judge")).to_be_visible()
    await page.set_viewport_size({"width": 794, "height": 1123})  # A4 at 96 dots an inch
    await page.goto(f"{base}/review/e00002x7q")
    await page.emulate_media(media="print")
    ink, paper = "getComputedStyle(document.querySelector('.answer')).color", "getComputedStyle(document.body)"
    assert await page.evaluate(ink) == "rgb(0, 0, 0)"
    assert await page.evaluate(f"{paper}.backgroundColor") == "rgb(255, 255, 255)"
    assert await page.evaluate(CONTRAST) == []
    assert await page.evaluate(HIDDEN) == [], "what is folded stands open on paper"
    columns = "getComputedStyle(document.querySelector('.map')).gridTemplateColumns.split(' ').length"
    assert await page.evaluate(columns) == 2, "answer and sources side by side"
    await context.close()


async def test_all_turns_of_a_search_are_looked_at_in_one_go(page: Page, base: str, fake: Fake) -> None:
    for n in range(8):
        await fake.turns.answer(Ask(f"repair it {n}", user="alice", channel="http"), None)
    await page.goto(f"{base}/review/today?words=repair")
    found = page.locator("#found")
    await expect(found).to_contain_text("of 5 turns looked at would be different")
    await page.get_by_role("button", name="Look at all of them").press("Enter")
    await expect(found).to_contain_text("of 9 turns looked at would be different, and there are no more")
    await expect(page.get_by_role("button", name="Look at all of them")).to_have_count(0)
    await expect(page.locator('a[rel="next"]')).to_have_count(0)
    differing = int(await found.get_by_role("strong").inner_text())
    await expect(page.locator('section[data-differs="yes"]')).to_have_count(differing)
