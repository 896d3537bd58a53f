"""The first depth of the prompt screen: explained rules, no model, no network."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from rai.records import DocumentScreening, Screening
from rai.screen import Finding, judge

_INLINE = 200  # characters judged in less than the 5 ms that may be spent on the event loop


class RuleScreen:
    """A PromptScreen made of the rules in `rai/rules`. It needs nothing and never fails to decide."""

    @property
    def name(self) -> str:
        return "rules"

    async def screen(self, text: str, documents: Sequence[str] = ()) -> Screening:
        """Judge `text` as a request and each of `documents` as data. `score` in [0, 1]; block at 0.5 and above."""
        if len(text) + sum(map(len, documents)) <= _INLINE:
            return _screen(text, documents)
        return await asyncio.to_thread(_screen, text, tuple(documents))


def _screen(text: str, documents: Sequence[str]) -> Screening:
    judged = tuple(_document(i, judge(d, as_="document")) for i, d in enumerate(documents))
    found = judge(text, as_="request") if text else None
    screening = Screening("allow", documents=judged)
    if found is None:
        return screening
    if not found.blocked:
        return replace(screening, score=found.score)
    return Screening("block", found.category, found.rule, found.score, judged)


def _document(index: int, found: Finding | None) -> DocumentScreening:
    if found is None or not found.blocked:
        return DocumentScreening(index, "allow", None, found.score if found else 0.0)
    return DocumentScreening(index, "block", found.rule, found.score)
