"""The page of a replay."""

from __future__ import annotations

import html
import re
from pathlib import Path

from pytest_aiohttp.plugin import AiohttpClient

from bot.records import Ask
from bot.server.app import build_app
from bot.settings.load import load_settings
from tests.knowledge_base import PAGE, running, take_in_page


async def test_a_click_on_a_turn_shows_what_differs(aiohttp_client: AiohttpClient, tmp_path: Path) -> None:
    await take_in_page(load_settings(), tmp_path / "kb", lexical_only=True)
    async with running(load_settings()) as system:
        entry = (await system.answer(Ask("How much is Watch Plus a month? <script>x</script>"), None)).entry_id
    await take_in_page(load_settings(), tmp_path / "kb", PAGE.replace("$9.99", "$12.50"), lexical_only=True)
    async with running(load_settings()) as system:
        client = await aiohttp_client(build_app(system, review_token="once"))
        assert (await client.get(f"/review/{entry}/replay")).status == 403
        assert (await client.get("/review?token=once")).status == 200
        assert f'href="/review/{entry}/replay"' in await (await client.get(f"/review/{entry}")).text()
        text = await (await client.get(f"/review/{entry}/replay")).text()
        assert "The answer is not as it was" in text
        assert "its text is another" in text
        assert "How much is Watch Plus a month? &lt;script&gt;" in text
        then, now = re.findall(r'<td><div class="pre diff">(.*?)</div></td>', text, re.DOTALL)[-2:]
        assert '<del class="minus">- Watch Plus costs $9.99' in html.unescape(then)
        assert '<ins class="plus">- Watch Plus costs $12.50' in html.unescape(now)
        assert "$12.50" not in then
        assert "$9.99" not in now
        assert "<script>x" not in text
        whole = await (await client.get(f"/review/{entry}/replay?all")).text()
        assert len(whole) > len(text)
        assert '<tr class="differs">' in whole
        (last,) = [e async for e in system.ledger.entries(newest_first=True, limit=1)]
        assert (last.kind, last.body["page"], last.body["entry_id"]) == ("read", "replay", entry)
        assert (await client.get("/review/none/replay")).status == 404
        listed = await (await client.get("/review?words=watch")).text()
        assert 'href="/review/today?words=watch">What of it would be different today' in listed
        today = await (await client.get("/review/today?words=watch&since=soon")).text()
        assert "<strong>1</strong> of 1 turn looked at would be different" in today
        assert "<strong>words</strong> <bdi>watch</bdi>" in today
        assert f'href="/review/{entry}/replay"' in today
        assert "+- Watch Plus costs $12.50" in today
        assert "“soon” is no day: it was left out" in today
        assert "<script>x" not in today
        (last,) = [e async for e in system.ledger.entries(newest_first=True, limit=1)]
        assert (last.body["page"], last.body["wanted"]) == ("today", {"words": "watch"})
        assert "No turn matches." in await (await client.get("/review/today?words=zebra")).text()
        (first,) = [e async for e in system.ledger.entries(limit=1)]
        refused = await client.get(f"/review/{first.entry_id}/replay")
        assert refused.status == 409
        assert "only turns are replayed" in await refused.text()
        await client.close()
