"""The record tells what never arrived: a connector that refuses, a process that is killed while it sends."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from aiohttp import ClientSession

from tests.e2e.processes import address_of, copy_of_home, environment_of, started
from tests.fakes.channel import FakeChannel, Fault, post

QUESTION = "What does the Wren X2 cost in the United Kingdom?"
Json = dict[str, Any]


def is_message(body: Json) -> bool:
    return body.get("type") == "message"


def attest(env: dict[str, str], home: Path, *arguments: str) -> Json:
    """The document that a command prints."""
    command = [sys.executable, "-m", "bot", *arguments, "--json"]
    done = subprocess.run(command, env=env, cwd=home.parent, capture_output=True, text=True, check=True, timeout=120)
    return dict(json.loads(done.stdout))


async def until_recorded(session: ClientSession, base: str, count: int) -> None:
    """Wait for so many deliveries to stand in the ledger."""
    async with asyncio.timeout(120):
        while True:
            async with session.get(f"{base}/metrics") as response:
                figures = await response.text()
            if sum(float(n) for n in re.findall(r"attest_deliveries_total{[^}]*} (\S+)", figures)) >= count:
                return
            await asyncio.sleep(0.05)


async def test_what_did_not_arrive_is_told(quick_home: Path, quick_model_file: Path, tmp_path: Path) -> None:
    """An answer that arrives, one that the connector refuses, one over the API, and one during which the process is killed."""
    home = copy_of_home(quick_home, tmp_path / "told" / "home")
    env = environment_of(home, quick_model_file)
    async with FakeChannel() as channel, ClientSession() as session:
        with started("serve", "--port", "0", "--json", env=env, cwd=home.parent) as server:
            base = address_of(server)

            async def say() -> None:
                await post(session, f"{base}/api/messages", channel.inbound(QUESTION, channelId="emulator"))

            await say()
            await channel.until_messages(1)
            channel.faults.append(Fault(500, "Refused", "words of the channel", applies=is_message))
            await say()
            await channel.until_messages(2)
            async with session.post(f"{base}/api/ask", json={"question": QUESTION}) as response:
                assert (await response.json())["entry_id"]
            await until_recorded(session, base, 3)
            channel.go_on.clear()  # the connector has the answer and says nothing
            await say()
            await channel.until(lambda c: len(c.messages) == 3)
            server.kill()
            await asyncio.to_thread(server.wait)
            channel.go_on.set()
    entries = attest(env, home, "ledger", "list", "--kind", "all", "--limit", "100")["entries"]
    cut, api, refused, sent = [e for e in entries if e["kind"] == "turn"]
    assert [(e["delivery"]["mark"], e["delivery"]["failed"]) for e in (cut, api, refused, sent)] == [
        ("recorded", None),
        ("delivered", None),
        ("failed", "500"),
        ("delivered", None),
    ]
    assert len([e for e in entries if e["kind"] == "delivery"]) == 3
    assert "words of the channel" not in json.dumps(entries)
    undelivered = attest(env, home, "ledger", "list", "--undelivered")["entries"]
    assert [e["entry_id"] for e in undelivered] == [cut["entry_id"], refused["entry_id"]]
    assert attest(env, home, "ledger", "show", refused["entry_id"])["delivery"] == refused["delivery"]
    assert attest(env, home, "ledger", "verify")["ok"]
