"""A check that knows amounts, phone numbers and numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot.system import CheckRequest
from rai.records import Claim, EvidenceSpan, Kind, Report, Source

_AMOUNT = re.compile(r"[€$£]\d+(?:\.\d\d)?|\+\d[\d ]{7,}\d|\d+(?: days)?")


async def check(request: CheckRequest) -> Report:
    """Amounts, phones and numbers: exact if a source has the same characters, absent otherwise."""
    claims = tuple(_check(m.start(), m.group(), request.sources) for m in _AMOUNT.finditer(request.answer))
    bad = [c for c in claims if c.unsupported]
    kept = [s for s in re.split(r"(?<=[.!?]) ", request.answer) if not any(c.text in s for c in bad)]
    return Report(
        "unsupported" if bad else "supported",
        0.97 if bad else 0.02,
        claims,
        None,
        " ".join(kept) if bad and kept else None,
    )


def _check(start: int, text: str, sources: Sequence[Source]) -> Claim:
    kind: Kind = "money" if text[0] in "€$£" else "phone" if text[0] == "+" else "number"
    for source in sources:
        at = source.text.find(text)
        if at >= 0:
            span = EvidenceSpan(source.id, "text", at, at + len(text), text)
            return Claim(kind, text, start, start + len(text), text, None, "exact", (span,), "stands so in the source")
    return Claim(kind, text, start, start + len(text), text, None, "absent", (), "no source has it")
