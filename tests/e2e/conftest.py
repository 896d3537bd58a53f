"""A real browser for the tests of pages, Chromium, headless, kept to loopback; and the sample knowledge base, ingested once."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, async_playwright, expect

from bot.commands.ingest.sample import place_sample_directory
from bot.settings.load import SAMPLE
from tests.e2e.processes import settings_over
from tests.knowledge_base import take_in
from tests.shared import base_of_run, made_once

expect.set_options(
    timeout=60_000
)  # milliseconds; a page of a loaded machine is slow, and none is waited for longer than it takes
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def browser_path() -> str | None:
    """The browser of this machine: TEST_CHROMIUM, or the first that is on the path."""
    named = os.environ.get("TEST_CHROMIUM")
    return named or next((path for name in CHROMIUM if (path := shutil.which(name))), None)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def chromium() -> AsyncIterator[Browser]:
    """A running browser for the tests of a module, which are marked `asyncio(loop_scope="module")`. Without one the test is skipped, unless TEST_REQUIRE_BROWSER=1 makes that a failure."""
    path = browser_path()
    if path is None:
        reason = "no Chromium was found; install it or set TEST_CHROMIUM"
        if os.environ.get("TEST_REQUIRE_BROWSER") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        try:
            yield browser
        finally:
            await browser.close()


@pytest.fixture(scope="session")
def sample_home(model_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the sample knowledge base in it, words and vectors. Tests that write use `copy_of_home`."""
    return _sample("sample", model_file, tmp_path_factory)


@pytest.fixture(scope="session")
def quick_home(quick_model_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with the vectors of `quick_model_file`."""
    return _sample("quick-sample", quick_model_file, tmp_path_factory)


def _sample(name: str, model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    def make(folder: Path) -> None:
        settings = settings_over(folder / "home", model)
        place_sample_directory(settings)
        asyncio.run(take_in(settings, SAMPLE / "kb"))

    return made_once(base_of_run(tmp_path_factory) / name, make) / "home"
