"""The page of answers on text that has changed."""

from __future__ import annotations

from pathlib import Path

from pytest_aiohttp.plugin import AiohttpClient

from bot.records import Ask
from bot.server.app import build_app
from bot.settings.load import load_settings
from tests.knowledge_base import PAGE, running, take_in_page


async def test_from_the_list_to_what_no_longer_stands(aiohttp_client: AiohttpClient, tmp_path: Path) -> None:
    await take_in_page(load_settings(), tmp_path / "kb", lexical_only=True)
    async with running(load_settings()) as system:
        entry = (await system.answer(Ask("How much is Watch Plus a month?"), None)).entry_id
    await take_in_page(load_settings(), tmp_path / "kb", PAGE.replace("$9.99", "$12.50"), lexical_only=True)
    async with running(load_settings()) as system:
        client = await aiohttp_client(build_app(system, review_token="once"))
        assert (await client.get("/review/affected")).status == 403
        start = await (await client.get("/review?token=once")).text()
        assert 'href="/review/affected"' in start
        documents = await (await client.get("/review/affected")).text()
        assert 'href="/review/affected?document=plans.md"' in documents
        text = await (await client.get("/review/affected?document=plans.md")).text()
        assert "not supported now" in text
        assert (
            "money “$9.99”. Then: The same characters stand in a source. Now: <strong>No source holds it</strong>"
            in text
        )
        assert f'href="/review/{entry}/replay"' in text
        (last,) = [e async for e in system.ledger.entries(newest_first=True, limit=1)]
        assert (last.kind, last.body["page"], last.body["wanted"]) == ("read", "affected", {"document": "plans.md"})
        for query in ("document=%3Cscript%3E", "document=none", "since=2199-01-01", "since=x&before=y"):
            response = await client.get(f"/review/affected?{query}")
            assert response.status == 200
            assert "<script>" not in await response.text()
        for wrong in ("plans", "Plans.MD"):
            text = await (await client.get(f"/review/affected?document={wrong}&since=soon&page=2")).text()
            assert f"No document has or had the id <bdi>{wrong}</bdi>. Did you mean " in text
            assert '<a href="/review/affected?document=plans.md"><bdi>plans.md</bdi></a>?' in text
            assert "No answer quotes" not in text, "nobody has looked at the document that was meant"
            assert "“soon” is no day: it was left out" in text
            assert "“page” was left out: nothing here is called so" in text
        turn = await (await client.get(f"/review/{entry}")).text()
        assert "<code>plans.md</code>" in turn
        assert 'href="/review?document=plans.md"' in turn
        assert 'href="/review/affected?document=plans.md"' in turn
        await client.close()
