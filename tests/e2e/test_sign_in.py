"""Signing in and out in a real Chromium: what browsers hold of cookies, policies and forms, nothing else does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from aiohttp import web
from playwright.async_api import Browser, expect

from bot.records import Ask
from bot.server.app import build_app
from tests.e2e.contrast import CONTRAST
from tests.fakes.identity_provider import CLIENT, SECRET, FakeProvider
from tests.fakes.system import Fake, fake_system

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(loop_scope="module")
async def provider() -> AsyncIterator[FakeProvider]:
    async with FakeProvider(asks=True) as made:
        made.person["groups"] = ["desk-administrators"]
        yield made


@pytest.fixture
def fake(provider: FakeProvider, tmp_path: Path) -> Fake:
    return fake_system(
        home=tmp_path / "home",
        signin_issuer=provider.root,
        signin_client_id=CLIENT,
        signin_client_secret=SECRET,
        signin_administrators="desk-administrators",
    )


@pytest_asyncio.fixture(loop_scope="module")
async def base(fake: Fake, provider: FakeProvider) -> AsyncIterator[str]:
    runner = web.AppRunner(build_app(fake.system), access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    # another name than the provider's: to a browser the two are sites of their own
    address = f"http://localhost:{runner.addresses[0][1]}"
    provider.redirects.add(f"{address}/review/signed-in")
    yield address
    await runner.cleanup()


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_a_reviewer_signs_in_reads_and_signs_out(
    chromium: Browser, base: str, fake: Fake, provider: FakeProvider, scheme: str
) -> None:
    """By keyboard alone where there is something to press; from the link to an entry to that entry, and out again here and there."""
    reply = await fake.turns.answer(Ask("How do I return something?", user="alice", channel="http"), None)
    context = await chromium.new_context(color_scheme=scheme, viewport={"width": 360, "height": 700})  # type: ignore[arg-type]  # the two words that it allows
    page = await context.new_page()
    faults: list[str] = []
    page.on(
        "console",
        lambda said: faults.append(said.text) if said.type == "error" and base in said.location["url"] else None,
    )

    async def looked_at() -> None:
        assert await page.evaluate("document.documentElement.scrollWidth") == 360
        assert await page.evaluate(CONTRAST) == []

    await page.goto(f"{base}/review/{reply.entry_id}")
    await looked_at()
    await page.get_by_role("link", name="Sign in", exact=True).press("Enter")
    await page.locator("#go").press("Enter")
    await expect(page).to_have_url(f"{base}/review/{reply.entry_id}")
    await expect(page.locator("header")).to_contain_text("Ada Lovelace administrator")
    await looked_at()
    await page.get_by_role("link", name="Sessions").press("Enter")
    await expect(page.locator("tbody tr")).to_have_count(1)
    await looked_at()
    await page.get_by_role("button", name="Sign out").press("Enter")
    await expect(page.get_by_role("heading")).to_have_text("You are signed out")
    await looked_at()
    await page.get_by_role("link", name="Sign out there too").press("Enter")
    await expect(page).to_have_url(f"{base}/review/sign-in")
    assert "logout" in provider.asked
    await page.goto(f"{base}/review")
    await expect(page.get_by_role("heading")).to_have_text("Reviewers' desk")
    await context.close()
    assert faults == []


async def test_who_has_no_role_is_told_why_and_can_be_somebody_else(
    chromium: Browser, base: str, provider: FakeProvider
) -> None:
    provider.person = {"sub": "eve", "_claim_names": {"groups": "src1"}}
    context = await chromium.new_context()
    page = await context.new_page()
    await page.goto(f"{base}/review/sign-in/go")
    await page.locator("#go").click()
    await expect(page.get_by_role("heading")).to_have_text("Too many groups")
    provider.person = {"sub": "ada", "groups": ["desk-administrators"]}
    await page.get_by_role("link", name="Sign in as somebody else").click()
    await page.locator("#go").click()
    await expect(page).to_have_url(f"{base}/review")
    assert provider.prompts[-1] == "login"
    await context.close()
