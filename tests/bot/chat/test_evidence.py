"""`/evidence/ENTRY`: the answer with all its evidence, for who may read it."""

from __future__ import annotations

import html
import re
from urllib.parse import urlsplit

from bot.http.app_keys import LINKS
from bot.http.source_links import evidence_link
from bot.settings.load import load_settings
from bot.settings.settings import Settings
from bot.wording.evidence import EvidenceWords
from grounding.records import LEAD_IN
from tests.bot.http.conftest import Client
from tests.bot.http.test_source import FAR, KEY, about_escalation, asked, signed
from tests.fakes.shop import ESCALATION
from tests.fakes.system import Fake


def link(client: Client, entry: str, user: str | None, seconds: int = 60) -> str:
    assert client.app is not None
    parts = urlsplit(client.app[LINKS].evidence(entry, user, seconds))
    return f"{parts.path}?{parts.query}"


async def test_answer_and_passages_are_shown_and_each_opening_is_recorded(served: Client, shared: Fake) -> None:
    entry = await asked(served)
    response = await served.get(link(served, entry, None), headers=FAR)
    text = await response.text()
    assert response.status == 200
    assert "How do I return something?" in text
    assert "Answered" in text
    assert "accidental damage from the first day" in text
    opened = [e async for e in shared.ledger.entries() if e.kind == "source_opened"]
    assert opened
    assert {e.body["entry_id"] for e in opened} == {entry}
    assert {e.body["actor"]["authenticated_by"] for e in opened} == {"link"}


async def test_its_links_to_documents_end_with_the_link_to_it(served: Client) -> None:
    page = link(served, await asked(served), None)
    text = html.unescape(await (await served.get(page, headers=FAR)).text())
    ends = [int(expiry) for expiry in re.findall(r"/source/[^\"]*exp=(\d+)", text)]
    [over] = re.findall(r"exp=(\d+)", page)
    assert ends
    assert max(ends) <= int(over) + 1


GERMAN = "Wie lange kann ich einen Artikel zurückgeben?"


async def test_the_page_speaks_the_language_of_the_question(served: Client) -> None:
    entry = await asked(served, GERMAN)
    text = await (await served.get(link(served, entry, None), headers=FAR)).text()
    w = EvidenceWords("de")
    assert '<html lang="de">' in text
    for name in ("answer_and_evidence", "sources", "skip", "ended_answered", "meaning_answered", "point_and_keep"):
        assert w(name) in text, name
    assert LEAD_IN not in text
    english = EvidenceWords("en")
    for name in ("answer_and_evidence", "skip", "ended_answered", "point_and_keep", "no_passage"):
        assert english(name) not in text, name
    assert "held by" not in text, "names of rules are for reviewers"


async def test_it_says_nothing_of_rules_and_leads_to_the_documents(served: Client) -> None:
    entry = await asked(served)
    text = await (await served.get(link(served, entry, None), headers=FAR)).text()
    for inner in ("held by", "exact", "entailed", "read as"):
        assert f">{inner}" not in text, inner
        assert f" {inner} by" not in text, inner
    found = re.search(r'class="open" href="([^"]+)"', text)
    assert found is not None
    parts = urlsplit(html.unescape(found[1]))
    assert (await served.get(f"{parts.path}?{parts.query}", headers=FAR)).status == 200


async def test_a_link_that_is_over_says_so_in_that_language_and_a_changed_one_in_the_browsers(served: Client) -> None:
    entry = await asked(served, GERMAN)
    over = await served.get(link(served, entry, None, seconds=-1), headers=FAR)
    assert (over.status, EvidenceWords("de")("expired_title") in await over.text()) == (403, True)
    wrong = link(served, entry, "alice")
    for asked_in, language in (({}, "en"), ({"Accept-Language": "fr-CH, fr;q=0.9"}, "fr")):
        text = await (await served.get(wrong, headers={**FAR, **asked_in})).text()
        nothing = await (await served.get(wrong.replace(entry, "e99999x7q"), headers={**FAR, **asked_in})).text()
        assert EvidenceWords(language)("invalid_title").replace("'", "&#39;") in text
        assert text == nothing, "nobody learns whether there is such an entry"


async def test_only_a_link_that_is_good_or_this_machine_opens_it(client: Client, served: Client) -> None:
    entry = await asked(served)
    good = link(served, entry, None)
    for wrong in (
        good[:-1] + ("0" if good[-1] != "0" else "1"),
        link(served, entry, "alice"),
        link(served, entry, None, seconds=-1),
        f"/evidence/{entry}",
        signed(served, entry, 1, None).replace("/source/", "/evidence/").replace("/1?", "?"),
    ):
        assert (await served.get(wrong, headers={**FAR, **KEY})).status == 403, wrong
    own = await asked(client)
    assert (await client.get(f"/evidence/{own}")).status == 200
    assert (await client.get("/evidence/e99999x7q")).status == 404


async def test_what_may_no_longer_be_read_closes_it(served: Client, shared: Fake) -> None:
    entry = await about_escalation(shared, "alice")
    body = (await shared.ledger.get(entry)).body  # type: ignore[union-attr]  # it was just written
    body["reply"]["citations"][0]["chunk_id"] = body["evidence"][0]["chunk_id"]
    there = link(served, entry, "alice")
    assert (await served.get(there, headers=FAR)).status == 200
    shared.directory.people["alice"] = frozenset()
    response = await served.get(there, headers=FAR)
    assert response.status == 403
    assert ESCALATION.title not in await response.text()


def test_a_link_is_given_where_somebody_can_follow_it() -> None:
    def made(**settings: object) -> str:
        known: Settings = load_settings(**settings)
        return evidence_link(known, "e1", "alice")

    assert made(public_url="https://attest.example").startswith("https://attest.example/evidence/e1?exp=")
    assert made(port=4000).startswith("http://127.0.0.1:4000/evidence/e1?exp=")
    assert made(api_keys="k" * 20) == ""
