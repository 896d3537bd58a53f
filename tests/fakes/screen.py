"""A screen that knows one attack."""

from __future__ import annotations

from collections.abc import Sequence

from rai.records import Screening


class FakeScreen:
    """Blocks what asks for the instructions."""

    name = "words"

    async def screen(self, text: str, documents: Sequence[str] = ()) -> Screening:
        if "ignore your instructions" in text.lower():
            return Screening("block", "jailbreak", "ignore-instructions", 0.97)
        return Screening("allow")
