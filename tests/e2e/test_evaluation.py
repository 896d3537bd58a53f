"""An evaluation as its user meets it: the folder of the documents' example, run by the program, and its page in a real browser."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from bot.evaluate.compare import over_plain
from bot.evaluate.page.page import eval_page
from bot.evaluate.questions import Question
from bot.evaluate.results import SetResult, SuiteResult
from bot.evaluate.suites.turns.facts import VERDICTS
from bot.evaluate.suites.turns.lost import STAGES
from tests.bot.evaluate.questions import HOSTILE, decided, question
from tests.e2e.contrast import CONTRAST
from tests.e2e.processes import ROOT, copy_of_home, environment_of

browser = pytest.mark.browser
in_module = pytest.mark.asyncio(loop_scope="module")


def example() -> str:
    """The rows that docs/evaluation.md tells people to begin with."""
    found = re.search(r"```jsonl\n(.*?)```", (ROOT / "docs" / "evaluation.md").read_text("utf-8"), re.DOTALL)
    assert found is not None
    return found[1]


def test_the_example_of_the_documents_runs(sample_home: Path, model_file: Path, tmp_path: Path) -> None:
    home = copy_of_home(sample_home, tmp_path / "home")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "questions.jsonl").write_text(example(), encoding="utf-8")
    command = ["eval", "retrieval", "--data", "mine", "--grades", "--html", "mine.html", "--json"]
    ran = subprocess.run(
        [sys.executable, "-m", "bot", *command],
        cwd=tmp_path,
        env=environment_of(home, model_file),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    (found,) = json.loads(ran.stdout)["suites"][0]["sets"]
    assert (found["name"], found["n"], found["metrics"]["without_relevant"]) == ("questions", 4, 1)
    assert (found["metrics"]["absent_n"], found["metrics"]["present_n"]) == (1, 4)
    assert found["metrics"]["recall_50"] == 1.0
    assert "can never be found" not in ran.stderr
    assert "<svg" in (tmp_path / "mine.html").read_text("utf-8")


def test_a_company_is_asked_in_a_home_that_is_left_only_when_asked_for(model_file: Path, tmp_path: Path) -> None:
    """Three documents and a row for each kind: whatever the answers are, every turn is judged, and each that was lost names a stage."""
    company = ROOT / "tests" / "bot" / "evaluate" / "suites" / "turns" / "company"
    command = ["eval", "turns", "--data", str(company), "--html", "turns.html", "--keep", "kept", "--json"]
    ran = subprocess.run(
        [sys.executable, "-m", "bot", *command],
        cwd=tmp_path,
        env=environment_of(tmp_path / "home", model_file),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    (suite,) = json.loads(ran.stdout)["suites"]
    whole = suite["sets"][0]
    assert whole["n"] == 21
    assert sum(whole["metrics"][v] for v in VERDICTS) == pytest.approx(1)
    assert len(suite["wrong"]) == round(whole["n"] * (1 - whole["metrics"]["right"]))
    assert {row["lost"] for row in suite["wrong"]} <= set(STAGES)
    assert whole["metrics"]["facts_found"] > 0.8
    restricted = next(part for part in suite["sets"] if part["name"] == "company:restricted")
    assert restricted["metrics"]["right"] == 1.0  # bob may not read the note on goodwill
    assert "<svg" in (tmp_path / "turns.html").read_text("utf-8")
    assert (tmp_path / "kept" / "company" / "ledger.db").is_file()
    assert not (tmp_path / "home" / "index" / "store.db").exists() or not _documents(tmp_path / "home", model_file)


def _documents(home: Path, model_file: Path) -> list[object]:
    ran = subprocess.run(
        [sys.executable, "-m", "bot", "documents", "list", "--json"],
        env=environment_of(home, model_file),
        capture_output=True,
        text=True,
        check=True,
    )
    return list(json.loads(ran.stdout)["documents"])


def asked() -> list[Question]:
    good = [question(f"good{n}", (1, 2), plain=(2, 3), tags=("billing",)) for n in range(6)]
    bad = [question(f"bad{n}", (None, 12), plain=(1, 4), tags=("devices",), said=HOSTILE) for n in range(4)]
    refused = decided("refused", "present", "incorrect", answered=False, kind="ANSWERABLE")
    return [*good, *bad, refused, decided("sure", "absent", "correct", answered=True, kind="UNANSWERABLE")]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = asked()
    part = SetResult(
        "mine", 10, {"ndcg_10": 0.6}, tuple(made), over_plain(made), ("mine: 1 question names no document",)
    )
    path = tmp_path_factory.mktemp("eval") / "eval.html"
    path.write_text(eval_page([SuiteResult("retrieval", (part,))], name="mine"), encoding="utf-8")
    return path


@pytest_asyncio.fixture(loop_scope="module")
async def page(chromium: Browser, file: Path) -> AsyncIterator[Page]:
    """The page without a script, which fails the test on any refusal of its policy and any request beyond the file."""
    context = await chromium.new_context(java_script_enabled=False)
    tab = await context.new_page()
    faults: list[str] = []
    tab.on("console", lambda message: faults.append(message.text))
    tab.on("request", lambda request: faults.append(request.url) if request.url != file.as_uri() else None)
    await tab.goto(file.as_uri())
    yield tab
    await context.close()
    assert faults == []


@browser
@in_module
async def test_the_page_has_figures_plots_and_the_worst_question_unfolded(page: Page) -> None:
    await expect(page.get_by_role("heading", level=1)).to_have_text("Evaluation of mine")
    await expect(page.locator("svg.plot:not(.span)")).to_have_count(5)
    for drawing in await page.locator("svg.plot").all():
        box = await drawing.bounding_box()
        assert box is not None
        assert box["width"] > 100
        assert await drawing.get_attribute("aria-label")
    worst = page.locator("details.q").first
    await expect(worst).to_have_attribute("open", "")
    await expect(worst.locator("mark")).to_contain_text("<script>")
    await expect(worst).to_contain_text("first right document at rank 12 · 1 of 2 found")


@browser
@in_module
async def test_a_folded_question_opens_by_keyboard_and_by_click(page: Page) -> None:
    folded = page.locator("details.q:not([open])").first
    name = await folded.get_attribute("id")
    body = page.locator(f"[id='{name}'] .q-body")
    await expect(body).to_be_hidden()
    await folded.locator("summary").focus()
    await page.keyboard.press("Enter")
    await expect(body).to_be_visible()
    await page.locator(f"[id='{name}'] summary").first.click()
    await expect(body).to_be_hidden()
    table = page.locator("details.numbers").first
    await table.locator("summary").click()
    await expect(table.locator("tbody tr").last).to_contain_text("50")


@browser
@in_module
async def test_on_paper_folded_questions_are_printed(page: Page) -> None:
    await page.emulate_media(media="print")
    await expect(page.locator("details.q:not([open]) .q-body").first).to_be_visible()
    await expect(page.locator(".top")).to_be_hidden()


@browser
@in_module
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
async def test_contrast_and_width(chromium: Browser, file: Path, scheme: str, width: int) -> None:
    context = await chromium.new_context(color_scheme=scheme, viewport={"width": width, "height": 700})  # type: ignore[arg-type]  # the two words that it allows
    tab = await context.new_page()
    await tab.goto(file.as_uri())
    assert await tab.evaluate("document.documentElement.scrollWidth") == width
    await tab.evaluate("document.querySelectorAll('details').forEach((d) => (d.open = true))")
    assert await tab.evaluate("document.documentElement.scrollWidth") == width
    assert await tab.evaluate(CONTRAST) == []
    faint = "all => all.map((t) => getComputedStyle(t).fill).filter((f) => f === 'rgb(0, 0, 0)')"
    assert await tab.locator("svg text").evaluate_all(faint) == []
    await expect(tab).to_have_title("Evaluation of mine · Attest")
    await context.close()


@browser
@in_module
async def test_the_policy_of_the_page_admits_no_script(chromium: Browser, file: Path, tmp_path: Path) -> None:
    forged = tmp_path / "forged.html"
    script = "<script>document.title = 'owned'</script></body>"
    forged.write_text(file.read_text("utf-8").replace("</body>", script), "utf-8")
    tab = await chromium.new_page()
    await tab.goto(forged.as_uri())
    await expect(tab).to_have_title("Evaluation of mine · Attest")
    await tab.close()
