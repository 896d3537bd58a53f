"""No path reaches the web, and nothing comes from it, without the screen."""

from __future__ import annotations

import pytest

from grounding.errors import PromptBlocked
from grounding.records import WebResult
from grounding.web.sites import FilteredSearch, Sites
from rai.embedded.screen import EmbeddedScreen
from rai.personal.redact import Redactor
from rai.screening.turn import screened_turn
from rai.screening.web import ScreenedWeb
from tests.rai.screening.fakes import ATTACK, PASSAGE, Broken, Web


async def test_the_web_gets_no_personal_data_and_gives_no_orders() -> None:
    web = Web(WebResult("Hours", "https://a.example", PASSAGE), WebResult("Evil", "https://b.example", ATTACK))
    screened = ScreenedWeb(web, EmbeddedScreen(), Redactor())
    with screened_turn() as turn:
        found = await screened.search("My name is Anna Berg, anna@example.com, opening hours Lyon", 5)
    assert [r.title for r in found] == ["Hours"]
    assert web.queries == ["My name is, opening hours Lyon"]
    taken, dropped = turn.notes
    assert taken == "personal data was taken out of the web query"
    assert "1 of 2" in dropped


async def test_a_query_of_personal_data_alone_is_not_sent() -> None:
    web = Web()
    assert await ScreenedWeb(web, EmbeddedScreen(), Redactor()).search("anna@example.com", 5) == ()
    assert web.queries == []


@pytest.mark.row("3-18")
async def test_a_result_tells_the_query_that_was_really_sent() -> None:
    web = FilteredSearch(Web(WebResult("Hours", "https://a.example/", PASSAGE)), Sites())
    (found,) = await ScreenedWeb(web, EmbeddedScreen(), Redactor()).search(
        "anna@example.com asks: opening hours Lyon", 5
    )
    assert found.query == "asks: opening hours Lyon"


async def test_web_results_without_a_screen_are_closed() -> None:
    with pytest.raises(PromptBlocked):
        await ScreenedWeb(Web(WebResult("t", "u", "s")), Broken(), Redactor()).search("hours", 5)
