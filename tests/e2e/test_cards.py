"""Every card in Microsoft's own renderer, with Teams' own looks, light and dark: nothing is refused, nothing overflows, and what is folded unfolds.

`make teams-tools` installs the renderer into build/teams (TEST_TEAMS names another folder); nothing is installed from here. The schema of Adaptive Cards, which no
package carries, is used where it lies beside it: schemas/1.5.0/adaptive-card.json of github.com/microsoft/AdaptiveCards, as build/teams/adaptive-card.json.
CARD_SHOTS=FOLDER keeps the pictures.
"""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page

from bot.records import Refusal, Reply
from bot.teams.extension.cards import answered, inserted_answer, inserted_passage, working
from bot.teams.extension.checked import checked
from bot.teams.shown.answer_card import Shown, answer_card
from bot.teams.shown.message_limits import check_card
from bot.teams.shown.refusal_card import report_card
from bot.view.reply import view_of
from bot.wording.conversation.card import CardWords
from bot.wording.conversation.extension import ExtensionWords
from grounding.quoting.coverage import Covered
from grounding.records import Passage
from rai.records import Outcome, Report
from tests.bot.teams.shown.test_answer_card import ALL, FIVE, HELD, REPAIRED, REWORKS, SHOWN, claim

ROOT = Path(__file__).parents[2]
TOOLS = Path(os.environ.get("TEST_TEAMS") or ROOT / "build" / "teams")
RENDERER = TOOLS / "node_modules" / "adaptivecards" / "dist" / "adaptivecards.min.js"
LOOKS = TOOLS / "node_modules" / "adaptivecards-designer" / "lib" / "hostConfigs"
SCHEMA = TOOLS / "adaptive-card.json"
BACKGROUNDS = {"light": "#ffffff", "dark": "#292929"}

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(not RENDERER.is_file(), reason="Microsoft's renderer is not installed: make teams-tools"),
]
Json = dict[str, Any]
EN = ExtensionWords("en")
PASSAGE = Passage(
    "c1", "manual", "Manual", "It charges in 5 h.", url="https://x.example/m", locator="Battery", updated="2026-03-01"
)
LONG = "Wren X2 with the long charging cable and the second battery for outdoor use in winter"


def cards() -> dict[str, Json]:
    """Every card that leaves the program, by what it is; those of an answer in full, and with the longest words."""
    full = replace(SHOWN, reworks=REWORKS, view=("Wren X2", "Watch Plus", "Austria"))
    missing = replace(ALL["insufficient"], coverage=(Covered("glass break sensor", answered=False),))
    made = {name: _content(reply, full) for name, reply in {**ALL, "withheld": HELD, "insufficient": missing}.items()}
    made["nothing in view"] = _content(ALL["answered"], replace(full, view=()))
    for code in ("de", "fr"):
        made[f"repaired {code}"] = _content(REPAIRED, replace(full, words=CardWords(code), language=code))
    long = replace(full, asked=LONG, view=(LONG, LONG), choices=tuple((LONG, LONG) for _ in range(3)))
    made["long words"] = _content(replace(REPAIRED, citations=(replace(REPAIRED.citations[0], title=LONG * 2),)), long)
    text = "It charges in 4 h and weighs 2 kg. It stays out for 5 h."
    moved = (claim("5 h", text), claim("It stays out for 5 h.", text, "statement", "unchecked"))
    wrong = claim("4 h", text, status="contradicted", instead=FIVE)
    report = Report("unsupported", 0.9, (wrong, claim("2 kg", text), *moved), None)
    refused = report_card(view_of(Reply(Outcome.BLOCKED, "No.", entry_id="e1", refusal=Refusal("jailbreak", "en"))))
    assert refused
    made |= {
        "refused": refused[0]["content"],
        "gap reported": _content(ALL["insufficient"], replace(full, gap_told=WORDS("gap_told"))),
        "dialog working": _dialog(working("0" * 32, EN)),
        "dialog answer": _dialog(answered(view_of(REPAIRED), "0" * 32, full, EN)),
        "dialog check": _dialog(checked(text, report, [PASSAGE], EN, WORDS)),
        "inserted passage": _inserted(inserted_passage(PASSAGE, EN)),
        "inserted answer": _inserted(inserted_answer(view_of(REPAIRED), full.dates, EN)),
    }
    return made


WORDS = CardWords("en")


def _content(reply: Reply, shown: Shown) -> Json:
    made = answer_card(view_of(reply), shown)
    assert made is not None
    return dict(made["content"])


def _dialog(task: Json) -> Json:
    return dict(task["task"]["value"]["card"]["content"])


def _inserted(made: Json) -> Json:
    return dict(made["composeExtension"]["attachments"][0]["content"])


CARDS = cards()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def renderer(chromium: Browser) -> AsyncIterator[Page]:
    """A page with the renderer in it, as wide as a card in a chat of Teams."""
    page = await chromium.new_page(viewport={"width": 560, "height": 400})
    await page.set_content(
        "<!doctype html><meta charset=utf-8><body style='margin:0;padding:12px;font-family:sans-serif'><div id=card></div>"
    )
    await page.add_style_tag(path=str(RENDERER.with_name("adaptivecards.css")))
    await page.add_script_tag(path=str(RENDERER))
    yield page
    await page.close()


DRAW = """([content, look, background]) => {
  const card = new AdaptiveCards.AdaptiveCard();
  card.hostConfig = new AdaptiveCards.HostConfig(look);
  const context = new AdaptiveCards.SerializationContext(AdaptiveCards.Versions.v1_5);
  card.parse(content, context);
  const events = [];
  for (let i = 0; i < context.eventCount; i++) events.push(context.getEventAt(i).message);
  card.validateProperties().validationEvents.forEach(event => events.push(event.message));
  document.body.style.background = background;
  document.getElementById('card').replaceChildren(card.render());
  return events;
}"""
CUT = "() => [...document.querySelectorAll('#card button')].filter(b => b.offsetParent && [b, ...b.children].some(e => e.scrollWidth > e.clientWidth + 1)).map(b => b.textContent)"
OVERFLOW = "() => [...document.querySelectorAll('#card *')].filter(e => e.getBoundingClientRect().right > innerWidth).map(e => e.textContent)"


@pytest.mark.parametrize("name", CARDS)
@pytest.mark.parametrize("look", BACKGROUNDS)
async def test_microsofts_renderer_takes_and_shows_each_card(renderer: Page, name: str, look: str) -> None:
    content = CARDS[name]
    style = json.loads((LOOKS / f"microsoft-teams-{look}.json").read_text("utf-8-sig"))
    assert await renderer.evaluate(DRAW, [content, style, BACKGROUNDS[look]]) == []
    assert await renderer.evaluate(OVERFLOW) == []
    folded = [item["id"] for item in content["body"] if item.get("isVisible") is False]
    rows = [*(item["actions"] for item in content["body"] if item["type"] == "ActionSet"), content.get("actions", ())]
    titles = [action["title"] for row in rows for action in row if action["type"] == "Action.ToggleVisibility"]
    if name != "long words":
        assert await renderer.evaluate(CUT) == []
    await _shot(renderer, name, look, "")
    for part, title in zip([p for p in folded if p != "view"], titles, strict=True):
        await renderer.get_by_role("button", name=title, exact=True).last.click()
        assert await renderer.locator(f"#{part}").is_visible()
        assert await renderer.evaluate(OVERFLOW) == []
        assert name == "long words" or await renderer.evaluate(CUT) == []
        await _shot(renderer, name, look, part)


@pytest.mark.skipif(not SCHEMA.is_file(), reason=f"the schema of Adaptive Cards 1.5 does not lie at {SCHEMA}")
@pytest.mark.parametrize("name", CARDS)
async def test_each_card_keeps_microsofts_schema(name: str) -> None:
    schema = json.loads(SCHEMA.read_text("utf-8-sig"))
    content = {key: value for key, value in CARDS[name].items() if key != "msteams"}  # what Teams adds to the schema
    assert [error.message for error in jsonschema.Draft6Validator(schema).iter_errors(content)] == []
    assert check_card(content) == []


async def _shot(page: Page, name: str, look: str, part: str) -> None:
    if folder := os.environ.get("CARD_SHOTS"):
        file = Path(folder) / f"{'-'.join([*name.split(), *part.split(), look])}.png"
        await page.locator("body").screenshot(path=file)
