"""`python -m tests.bench.channel_bot botbuilder|agents|echo HOME`: a bot in a process of its own, for the benchmark of the channel. Prints its address, serves until it is ended.

"botbuilder", "agents": the door of Attest on one of its SDKs, over a state on disk, with an answer that is there at once and no ledger, so that the channel alone is measured. "echo": the smallest bot of
botbuilder, `CloudAdapter` and a handler that sends the text back, with the one repair (a set in place of a list of status codes) that ours has too.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from aiohttp import web
from botbuilder.core import TurnContext
from botbuilder.core.teams import TeamsActivityHandler
from botbuilder.integration.aiohttp import CloudAdapter, ConfigurationBotFrameworkAuthentication
from msrest.universal_http.requests import ClientRetryPolicy

from bot.records import Ask, OnStage, Reply
from bot.settings.load import load_settings
from bot.teams.endpoint import PATH, add_routes
from rai.ports import Ledger
from rai.records import Entry, Outcome

REPLY = Reply(Outcome.ANSWERED, "Items may be returned within 30 days.", entry_id="entry-1")


class Unrecorded:
    """A ledger that keeps nothing: what a record costs is measured elsewhere."""

    async def append(self, kind: str, body: dict[str, Any]) -> Entry:
        return Entry("e1", 1, "2026-11-03T10:00:00Z", kind, body, "", "")

    async def get(self, _entry_id: str) -> Entry | None:
        return None

    async def entries(self, **_wanted: object) -> AsyncIterator[Entry]:
        none: tuple[Entry, ...] = ()
        for entry in none:
            yield entry


async def at_once(_ask: Ask, _on_stage: OnStage | None) -> Reply:
    """An answer that takes no time."""
    return REPLY


def ours(sdk: str, home: Path) -> web.Application:
    """Attest's door."""
    app = web.Application()
    settings = load_settings(home=home, bot_sdk=sdk, rate_per_minute=1_000_000)
    add_routes(app, settings, at_once, cast("Ledger", Unrecorded()))
    return app


def echo() -> web.Application:
    """Botbuilder as its samples have it."""
    ClientRetryPolicy.safe_codes = cast("Any", frozenset(ClientRetryPolicy.safe_codes))
    none = SimpleNamespace(APP_ID="", APP_PASSWORD="", APP_TYPE="MultiTenant", APP_TENANTID="")
    adapter = CloudAdapter(ConfigurationBotFrameworkAuthentication(none))

    class Echo(TeamsActivityHandler):  # type: ignore[misc]  # the package has no types
        async def on_message_activity(self, turn_context: TurnContext) -> None:
            await turn_context.send_activity(f"You said: {turn_context.activity.text}")

    bot = Echo()

    async def messages(request: web.Request) -> web.StreamResponse:
        return cast("web.StreamResponse", await adapter.process(request, bot)) or web.Response(status=201)

    app = web.Application()
    app.router.add_post(PATH, messages)
    return app


async def serve(app: web.Application) -> None:
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    sys.stdout.write(f"http://127.0.0.1:{runner.addresses[0][1]}{PATH}\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(echo() if sys.argv[1] == "echo" else ours(sys.argv[1], Path(sys.argv[2]))))
