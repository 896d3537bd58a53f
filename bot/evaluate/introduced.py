"""Numbers that an edit brought into an answer: how many stand elsewhere in the source, where membership cannot see them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from bot.evaluate.bench import SetResult
from bot.evaluate.metrics import defined, share
from bot.evaluate.mutate.holds import numbers
from bot.evaluate.mutate.surfaces import NUMBER
from rai.records import Claim

_SPOKEN = "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
_NUMBER = re.compile(rf"(?<![\w.]){NUMBER}(?!\w)|\b(?:{_SPOKEN})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CheckedAnswer:
    """A checked answer, its label, what it leans on, and its claims."""

    answer: str
    source: str
    unsupported: bool
    claims: tuple[Claim, ...]


def introduced(name: str, rows: Sequence[CheckedAnswer]) -> SetResult:
    """Numbers of unsupported answers that no supported answer to the same source has.

    n counts them; `flagged` is the share that an unsupported value covers; `elsewhere_n` and `elsewhere_flagged` are the
    same of those that the source holds in another place. Sources without a supported answer are left out.
    """
    known: dict[str, set[Decimal]] = {}
    for row in rows:
        if not row.unsupported:
            known.setdefault(row.source, set()).update(numbers(row.answer))
    found = [hit for row in rows if row.unsupported and row.source in known for hit in _hits(row, known[row.source])]
    elsewhere = [flagged for flagged, held in found if held]
    measured = defined(flagged=share([flagged for flagged, _ in found]), elsewhere_flagged=share(elsewhere))
    return SetResult(name, len(found), {**measured, "elsewhere_n": float(len(elsewhere))})


def _hits(row: CheckedAnswer, known: set[Decimal]) -> Iterable[tuple[bool, bool]]:
    """Of each introduced number: whether it is flagged, and whether the source holds it."""
    for match in _NUMBER.finditer(row.answer):
        values = numbers(match.group())
        if values and not values & known:
            covered = [
                c for c in row.claims if c.kind != "statement" and c.start < match.end() and match.start() < c.end
            ]
            yield any(c.unsupported for c in covered), bool(values & numbers(row.source))
