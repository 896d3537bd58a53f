"""`/source/ENTRY/N`: the passage in its document, for who may read it."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlsplit

import pytest

from bot.http.app_keys import LINKS
from bot.records import Ask
from bot.wording.evidence import EvidenceWords
from tests.bot.http.conftest import Client, Start
from tests.fakes.ledger import ShutLedger
from tests.fakes.library import passage_of
from tests.fakes.outcomes import answered
from tests.fakes.shop import ESCALATION, RETURNS
from tests.fakes.system import Fake, fake_system
from tests.fakes.turn_body import turn_body

KEY = {"Authorization": "Bearer first-key"}
FAR = {"X-Forwarded-For": "203.0.113.9", "Host": "attest.example"}


async def asked(client: Client, question: str = "How do I return something?", user: str | None = None) -> str:
    form = {"question": question} | ({"as": user} if user else {})
    reply = await (await client.post("/api/ask", json=form, headers=KEY)).json()
    return str(reply["entry_id"])


async def about_escalation(fake: Fake, user: str | None) -> str:
    await fake.system.answer(_ask(user), None)
    reply, _ = answered()
    entry = await fake.ledger.append("turn", turn_body(_ask(user), reply, [passage_of(ESCALATION)]))
    return entry.entry_id


def _ask(user: str | None) -> Ask:
    return Ask("When is a credit too high?", user=user)


def signed(client: Client, entry: str, n: int, user: str | None, seconds: int = 60) -> str:
    assert client.app is not None
    parts = urlsplit(client.app[LINKS].link(entry, n, user, seconds))
    return f"{parts.path}?{parts.query}"


async def test_the_passage_is_shown_with_its_quote_highlighted(client: Client) -> None:
    entry = await asked(client)
    response = await client.get(f"/source/{entry}/1")
    text = await response.text()
    assert response.status == 200
    assert '<mark class="quote">You can return an unused item within 30 days of delivery.</mark>' in text
    assert "Return shipping costs €4.90" in text


async def test_a_signed_link_works_from_elsewhere(served: Client) -> None:
    entry = await asked(served)
    assert (await served.get(signed(served, entry, 1, None), headers=FAR)).status == 200


async def test_without_a_signature_only_local_mode_gets_in(client: Client, served: Client) -> None:
    for running, statuses in ((client, (200, 403)), (served, (403, 403))):
        entry = await asked(running)
        assert (await running.get(f"/source/{entry}/1", headers=KEY)).status == statuses[0]
        assert (await running.get(f"/source/{entry}/1", headers={"Host": "evil.example"})).status == statuses[1]


async def test_the_page_speaks_the_language_of_the_question(served: Client) -> None:
    entry = await asked(served, "Wie lange kann ich einen Artikel zurückgeben?")
    text = await (await served.get(signed(served, entry, 1, None), headers=FAR)).text()
    w = EvidenceWords("de")
    assert '<html lang="de">' in text
    for name in ("go_to_cited", "fact_document", "fact_characters", "not_internal", "trust_ordinary"):
        assert w(name) in text, name
    assert EvidenceWords("en")("go_to_cited") not in text


async def test_an_expired_link_says_so(served: Client) -> None:
    entry = await asked(served)
    response = await served.get(signed(served, entry, 1, None, seconds=-1), headers=FAR)
    assert response.status == 403
    text = await response.text()
    assert "This link has expired" in text
    assert RETURNS.title not in text


async def test_a_changed_link_is_refused(served: Client) -> None:
    entry = await asked(served)
    link = signed(served, entry, 1, None)
    for wrong in (
        link[:-1] + ("0" if link[-1] != "0" else "1"),
        link.replace("/1?", "/2?"),
        link.replace("sig=", "sig=0"),
    ):
        assert (await served.get(wrong, headers=FAR)).status == 403


async def test_an_entry_that_does_not_exist_is_not_told_apart_from_a_bad_link(client: Client, served: Client) -> None:
    await asked(client)
    link = signed(served, "e99999x7q", 1, "alice")
    assert (await served.get(link, headers=FAR)).status == 403
    assert (await client.get("/source/e99999x7q/1")).status == 404


@pytest.mark.parametrize("n", ["0", "3", "-1", "x", "99999", "٣"])
async def test_a_number_that_is_not_cited_is_not_found(client: Client, n: str) -> None:
    entry = await asked(client)
    assert (await client.get(f"/source/{entry}/{n}")).status == 404


async def test_access_is_checked_again_when_the_link_is_opened(served: Client, shared: Fake) -> None:
    entry = await about_escalation(shared, "alice")
    link = signed(served, entry, 1, "alice")
    response = await served.get(link, headers=FAR)
    assert response.status == 200
    assert "not for the customer" in await response.text()
    shared.directory.people["alice"] = frozenset()
    response = await served.get(link, headers=FAR)
    assert response.status == 403
    text = await response.text()
    assert ESCALATION.title not in text
    assert "Goodwill" not in text


async def test_a_directory_that_is_down_denies(client: Client, fake: Fake) -> None:
    entry = await about_escalation(fake, "alice")
    fake.directory.down = True
    assert (await client.get(f"/source/{entry}/1")).status == 403


async def test_a_stranger_never_sees_a_restricted_document(client: Client, fake: Fake) -> None:
    entry = await about_escalation(fake, None)
    assert (await client.get(f"/source/{entry}/1")).status == 403


async def test_a_document_that_became_restricted_is_closed_in_its_old_version_too(client: Client, fake: Fake) -> None:
    entry = await asked(client)
    fake.library.put(replace(RETURNS, groups=("billing",)))
    assert (await client.get(f"/source/{entry}/1")).status == 403


async def test_a_document_that_became_restricted_and_was_then_removed_stays_closed(client: Client, fake: Fake) -> None:
    entry = await asked(client)
    fake.library.put(replace(RETURNS, groups=("billing",)))
    await fake.library.remove("returns")
    assert (await client.get(f"/source/{entry}/1")).status == 403


async def test_a_removed_document_is_shown_as_it_was_and_said_to_be_gone(client: Client, fake: Fake) -> None:
    entry = await asked(client)
    await fake.library.remove("returns")
    text = await (await client.get(f"/source/{entry}/1")).text()
    assert "no longer in the knowledge base" in text
    assert "Return shipping costs €4.90" in text


async def test_a_changed_document_is_shown_as_it_was_cited(client: Client, fake: Fake) -> None:
    entry = await asked(client)
    fake.library.put(replace(RETURNS, text=RETURNS.text.replace("€4.90", "€6.90")))
    text = await (await client.get(f"/source/{entry}/1")).text()
    assert "has changed since" in text
    assert "€4.90" in text
    assert "€6.90" not in text


async def test_a_version_that_is_gone_altogether_says_so(client: Client, fake: Fake) -> None:
    entry = await asked(client)
    fake.library.current.clear()
    assert (await client.get(f"/source/{entry}/1")).status == 410


async def test_a_web_passage_is_shown_from_the_record(client: Client) -> None:
    entry = await asked(client, "What is a flat white?")
    text = await (await client.get(f"/source/{entry}/1")).text()
    assert "from a web search" in text
    assert "coffee.example (not on your list of trusted sites)" in text
    assert 'href="https://coffee.example/flat-white"' in text
    assert "microfoam" in text


async def test_what_a_document_says_is_text_and_its_script_url_no_link(client: Client) -> None:
    entry = await asked(client, "hostile")
    text = await (await client.get(f"/source/{entry}/1")).text()
    assert "document.title=" in text
    assert "<script>document" not in text
    assert "<img" not in text.replace('<img src="/static/mark.svg"', "")
    assert "javascript:" not in text


async def test_an_opened_source_is_an_entry_of_who_opened_what(
    client: Client, served: Client, fake: Fake, shared: Fake
) -> None:
    """Here the machine itself, there whoever holds the link that was made for somebody. What was not shown is none."""
    entry = await asked(client)
    await client.get(f"/source/{entry}/1")
    await client.head(f"/source/{entry}/1")
    await client.get(f"/source/{entry}/99")
    (opened,) = (e for e in fake.ledger.kept if e.kind not in ("turn", "delivery"))
    told = ("source_opened", entry, 1, RETURNS.doc_id)
    assert (opened.kind, *(opened.body[name] for name in ("entry_id", "n", "doc_id"))) == told
    assert (opened.body["actor"]["user"], opened.body["actor"]["authenticated_by"]) == (None, "local")
    made_for = await about_escalation(shared, "alice")
    link = signed(served, made_for, 1, "alice")
    assert (await served.get(link, headers=FAR)).status == 200
    assert (await served.get(link[:-1], headers=FAR)).status == 403
    actors = [e.body["actor"] for e in shared.ledger.kept if e.kind == "source_opened"]
    assert actors == [{"user": "alice", "authenticated_by": "link", "tenant": None}]


async def test_a_source_that_cannot_be_recorded_is_shown_and_told(
    start: Start, caplog: pytest.LogCaptureFixture
) -> None:
    ledger = ShutLedger()
    ledger.shut = False
    fake = fake_system()
    reply, _ = answered()
    entry = await ledger.append("turn", turn_body(_ask(None), reply, [passage_of(RETURNS)]))
    ledger.shut = True
    client = await start(replace(fake, system=replace(fake.system, ledger=ledger)))
    assert (await client.get(f"/source/{entry.entry_id}/1")).status == 200
    assert f"an opened source of entry {entry.entry_id} could not be recorded" in caplog.text
