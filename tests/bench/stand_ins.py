"""`python -m tests.bench.stand_ins HOME MODEL FOLDER`: the stand-ins of all services in a process of their own, each as slow as it is told.

So what a turn costs can be told from what the services cost. Prints its addresses as one line of JSON and runs until its input ends.
A question that was asked before is answered from memory, so that this process stays out of the way.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import sys
import time
from pathlib import Path

from aiohttp import web

from tests.fakes.azure_stack import azure_stack
from tests.fakes.gate import Gate

IDENTITY = ("IDENTITY_ENDPOINT", "IDENTITY_HEADER", "AZURE_TOKEN_CREDENTIALS")
"""Variables by which azure-identity finds the managed identity of a process."""
SECONDS = {"model": 0.5}
OTHERS = 0.05
_MARKER = re.compile(rb"[0-9a-f]{16}(?=>>>)|(?<=<<<)[0-9a-f]{16}")


class Paced:
    """What makes a gate answer after `seconds`, and remember what it said and when it was busy."""

    def __init__(self, gate: Gate, seconds: float, busy: list[tuple[str, float, float]], name: str) -> None:
        self._gate, self._seconds, self._busy, self._name = gate, seconds, busy, name
        self._known: dict[str, tuple[int, bytes, str]] = {}
        gate.fault = self

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        began = time.monotonic()
        body = _MARKER.sub(b"", await request.read())
        asked = (request.method.encode(), request.raw_path.encode(), _sorted(body))
        key = hashlib.sha256(b"\x00".join(asked)).hexdigest()
        if key not in self._known:
            reply = await self._gate.forwarded(request)
            self._known[key] = (reply.status, bytes(reply.body or b""), reply.content_type)  # type: ignore[arg-type]
        status, said, kind = self._known[key]
        await asyncio.sleep(max(0.0, self._seconds - (time.monotonic() - began)))
        self._busy.append((self._name, began, time.monotonic()))
        return web.Response(status=status, body=said, content_type=kind)


def _sorted(body: bytes) -> bytes:
    """JSON in one spelling, so that a question is known again however it is written."""
    try:
        return json.dumps(json.loads(body), sort_keys=True).encode()
    except ValueError:
        return body


async def main(home: Path, model: Path, folder: Path) -> None:
    busy: list[tuple[str, float, float]] = []

    async def timeline(_request: web.Request) -> web.Response:
        told = list(busy)
        busy.clear()
        return web.json_response(told)

    async with azure_stack(home, model, folder) as stack:
        for name, gate in stack.gates.items():
            if not gate.of_a_part:
                Paced(gate, SECONDS.get(name, OTHERS), busy, name)
        app = web.Application()
        app.router.add_get("/", timeline)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        told = {
            "home": str(stack.home),
            "options": dict(stack.options),
            "identity": {name: os.environ[name] for name in IDENTITY},
            "timeline": runner.addresses[0][1],
        }
        sys.stdout.write(json.dumps(told, default=str) + "\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)
        await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(main(*(Path(argument) for argument in sys.argv[1:4])))
