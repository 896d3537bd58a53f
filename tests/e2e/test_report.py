"""The page of a report in a real browser, opened from a file: no network, no server, and not even a script."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from bot.http.report_page import report_page
from bot.view.report import report_view
from rai.records import Claim, EvidenceSpan, Layer, Report, Source
from tests.e2e.contrast import CONTRAST

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

FILLER = "Wear, loss and theft are not covered by any plan. " * 60
CARE = f"{FILLER}Northwind Care costs €79.00 a year. {FILLER}"
SOURCES = [
    Source("kb-17", "Return shipping costs €4.90. Call +44 20 7946 0018.", "Returns", "2026-09-14"),
    Source("kb-22", CARE, "Care plans <script>document.title='owned'</script>"),
]
ANSWER = (
    "Return shipping costs €5.90 [1]. Northwind Care costs €79.00 a year [2]. <img src=x onerror=alert(1)> \u202eevil"
)


def claims() -> tuple[Claim, ...]:
    def span(source: Source, text: str) -> EvidenceSpan:
        at = source.text.index(text)
        return EvidenceSpan(source.id, "text", at, at + len(text), text)

    def at(text: str) -> tuple[str, int, int]:
        begin = ANSWER.index(text)
        return text, begin, begin + len(text)

    year = "Northwind Care costs €79.00 a year"
    return (
        Claim("statement", *at("Return shipping costs €5.90 [1]."), status="unchecked"),
        Claim(
            "money",
            *at("€5.90"),
            "5.9 EUR",
            status="wrong_role",
            evidence=(span(SOURCES[0], "€4.90"),),
            why="The source says €4.90 here.",
            instead=span(SOURCES[0], "€4.90"),
        ),
        Claim("statement", *at(f"{year} [2]."), status="entailed", evidence=(span(SOURCES[1], f"{year}."),)),
        Claim(
            "money",
            *at("€79.00"),
            "79 EUR",
            status="exact",
            evidence=(span(SOURCES[1], "€79.00"),),
            why="It stands there.",
        ),
    )


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    layers = (Layer("values", "unsupported", 0.98), Layer("statements", "supported", 0.1))
    repaired = "Return shipping costs €4.90 [1]. Northwind Care costs €79.00 a year [2]."
    report = Report("unsupported", 0.98, claims(), 0.8, repaired, layers)
    path = tmp_path_factory.mktemp("report") / "report.html"
    view = report_view("ticket 4417", ANSWER, report, SOURCES, question="What does it cost?")
    path.write_text(report_page([view], alone=True), "utf-8")
    return path


@pytest_asyncio.fixture(loop_scope="module")
async def page(chromium: Browser, file: Path) -> AsyncIterator[Page]:
    """The page, which fails the test on any error, refusal of its policy, or request beyond the file."""
    context = await chromium.new_context()
    tab = await context.new_page()
    faults: list[str] = []
    tab.on("pageerror", lambda error: faults.append(str(error)))
    tab.on("console", lambda message: faults.append(message.text))
    tab.on("request", lambda request: faults.append(request.url) if request.url != file.as_uri() else None)
    await tab.goto(file.as_uri())
    yield tab
    await context.close()
    assert faults == []


async def test_pointing_lights_both_sides_and_scrolls_the_evidence_into_view(page: Page) -> None:
    right = page.locator(".map-right")
    evidence = right.locator(".ev", has_text="€79.00")
    await expect(evidence).not_to_be_in_viewport()
    await page.locator(".answer .claim.value", has_text="€79.00").hover()
    await expect(right.locator(".ev.on")).to_have_text("€79.00")
    await expect(evidence).to_be_in_viewport()
    await expect(page.locator("[data-why]")).to_contain_text("The same characters stand in a source.")
    await expect(page.locator("[data-why]")).to_contain_text("79 EUR")
    await right.locator(".ev", has_text="€4.90").hover()
    await expect(page.locator(".answer .claim.on")).to_have_text("€5.90")
    await expect(page.locator("[data-why]")).to_contain_text("The source says €4.90 [1]")


async def test_a_click_keeps_what_is_lit_until_escape(page: Page) -> None:
    await page.locator(".answer .claim.value", has_text="€5.90").click()
    await page.locator("h1").hover()
    await expect(page.locator(".ev.on")).to_have_text("€4.90")
    assert page.url.endswith("report.html")
    await page.keyboard.press("Escape")
    await expect(page.locator(".ev.on")).to_have_count(0)


async def test_the_keyboard_goes_from_claim_to_claim_and_to_the_sentence(page: Page) -> None:
    await page.locator(".answer .claim.value", has_text="€5.90").focus()
    await expect(page.locator(".ev.on")).to_have_text("€4.90")
    await page.keyboard.press("Tab")
    await expect(page.locator(".cite", has_text="1")).to_be_focused()
    await page.keyboard.press("Tab")
    await expect(page.locator(".answer .claim.value", has_text="€79.00")).to_be_focused()
    await page.keyboard.press("Tab")
    await page.keyboard.press("Tab")
    await expect(page.locator(".sign.whole").last).to_be_focused()
    assert await page.locator(".ev.on").all_inner_texts() == ["Northwind Care costs ", "€79.00", " a year."]


async def test_the_card_never_lies_over_what_is_pointed_at(page: Page) -> None:
    await page.set_viewport_size({"width": 1000, "height": 420})
    for text in ("€5.90", "€79.00"):
        value = page.locator(".answer .claim.value", has_text=text)
        await value.hover()
        boxes = [await value.bounding_box(), await page.locator("[data-why]").bounding_box()]
        (top, bottom), (card, end) = [(b["y"], b["y"] + b["height"]) for b in boxes if b is not None]
        assert end <= top or bottom <= card


async def test_a_long_source_is_folded_and_unfolds(page: Page) -> None:
    hidden = page.locator("details.gap")
    await expect(hidden).to_have_count(2)
    assert not await hidden.first.evaluate("e => e.open")
    await page.get_by_role("button", name="Show all").click()
    assert await hidden.evaluate_all("all => all.every((e) => e.open)")
    await page.get_by_role("button", name="Fold").click()
    assert not await hidden.first.evaluate("e => e.open")


async def test_a_citation_shows_its_source(page: Page) -> None:
    await page.locator(".answer .cite", has_text="2").click()
    await expect(page.locator(".passage.lit h4")).to_be_in_viewport()
    await expect(page.locator(".passage.lit .n")).to_have_text("2")


async def test_status_is_told_without_colour_and_left_out_of_what_is_copied(page: Page) -> None:
    sign = page.locator(".answer .sign").first
    assert await sign.evaluate("e => getComputedStyle(e, '::after').content") == '"✗"'
    assert await sign.get_attribute("aria-label") == "wrong role"
    assert "✗" not in await page.locator(".answer").first.inner_text()


async def test_hostile_text_stays_text(page: Page) -> None:
    await expect(page).to_have_title("ticket 4417 · Attest")
    await expect(page.locator(".answer").first).to_contain_text("<img src=x onerror=alert(1)> ⟦U+202E⟧evil")
    assert await page.locator("img").count() == 0
    assert await page.locator("script").count() == 1


async def test_the_policy_of_the_page_admits_no_other_script(chromium: Browser, file: Path, tmp_path: Path) -> None:
    forged = tmp_path / "forged.html"
    forged.write_text(
        file.read_text("utf-8").replace("</body>", "<script>document.title = 'owned'</script></body>"), "utf-8"
    )
    page = await chromium.new_page()
    await page.goto(forged.as_uri())
    await expect(page).to_have_title("ticket 4417 · Attest")
    await page.close()


async def test_without_a_script_the_marks_are_links_both_ways(chromium: Browser, file: Path) -> None:
    context = await chromium.new_context(java_script_enabled=False)
    page = await context.new_page()
    await page.goto(file.as_uri())
    await page.locator(".answer .claim.value", has_text="€79.00").click()
    evidence = page.locator(".map-right .ev", has_text="€79.00")
    await expect(evidence).to_be_in_viewport()
    assert page.url.endswith("#" + str(await evidence.get_attribute("id")))
    await evidence.click()
    claim = page.locator(".answer .claim.value", has_text="€79.00")
    assert page.url.endswith("#" + str(await claim.get_attribute("id")))
    await expect(page.locator("[data-why]")).to_be_hidden()
    await expect(page.get_by_role("button", name="Show all")).to_be_hidden()
    await context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_contrast_and_width_on_a_phone(chromium: Browser, file: Path, scheme: str) -> None:
    context = await chromium.new_context(color_scheme=scheme, viewport={"width": 360, "height": 700})  # type: ignore[arg-type]  # the two words that it allows
    page = await context.new_page()
    await page.goto(file.as_uri())
    assert await page.evaluate("document.documentElement.scrollWidth") == 360
    left, right = await page.locator(".map-left").bounding_box(), await page.locator(".map-right").bounding_box()
    assert left is not None
    assert right is not None
    assert right["y"] >= left["y"] + left["height"]
    assert await page.evaluate(CONTRAST) == []
    await page.locator(".answer .claim.value").first.focus()
    assert await page.evaluate(CONTRAST) == []
    await context.close()


async def test_on_paper_both_sides_are_whole(page: Page) -> None:
    await page.emulate_media(media="print")
    await expect(page.locator("[data-why]")).to_be_hidden()
    assert await page.locator(".map-right").evaluate("e => e.scrollHeight <= e.clientHeight")
