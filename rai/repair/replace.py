"""Repair by replacing: an unsupported value gives way to the source's, where that is certain and the sentence still reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rai.claims.find import find_values
from rai.claims.found import Found
from rai.claims.phones import REGIONS
from rai.records import Claim, EvidenceSpan, Source, Status
from rai.repair.certain import alternatives, place_of, pointed_at
from rai.repair.wording import Rewrite, rewritten
from rai.support.sources import Place, Prepared, prepare

Check = Callable[[str], Sequence[Claim]]
"""An answer to its claims, judged: `rai.match.check_claims` with everything but the answer given."""

MOST_REPLACED = 8
"""Values of one answer above which nothing is replaced: an answer so wrong is not mended word by word."""
_STANDS: frozenset[Status] = frozenset({"exact", "normalised"})


def replace_unsupported(
    answer: str, claims: Sequence[Claim], sources: Sequence[Source], check: Check, regions: tuple[str, ...] = REGIONS
) -> str | None:
    """`answer` with each unsupported value replaced by the source's where `rai.repair.certain` allows it; None if nowhere.

    What was written is checked in its place; a replacement that the check does not take, or that makes another claim
    unsupported, is not made. CPU work: a few milliseconds for each candidate tried.
    """
    wrong = [c for c in claims if c.unsupported and c.kind != "statement"]
    if not wrong or len(wrong) > MOST_REPLACED:
        return None
    prepared = [prepare(source, regions) for source in sorted(set(sources), key=lambda s: (s.id, s.title, s.text))]
    text = answer
    for claim in sorted(wrong, key=lambda c: -c.start):
        text = _replaced(text, claim, prepared, check, regions) or text
    return text if text != answer else None


def _replaced(
    answer: str, claim: Claim, prepared: Sequence[Prepared], check: Check, regions: tuple[str, ...]
) -> str | None:
    found = next((f for f in find_values(answer, regions) if (f.start, f.end) == (claim.start, claim.end)), None)
    span = pointed_at(claim, found, prepared) if found else None
    place = place_of(span, prepared) if span else None
    others = alternatives(place, prepared) if place else None
    if found is None or span is None or place is None or others is None:
        return None
    change = _change(answer, found, place, span)
    if change is None or not _taken(answer, change, check):
        return None
    for other in others:
        rival = _change(answer, found, other, other.span())
        if rival is not None and _taken(answer, rival, check):
            return None
    return _with(answer, change)


def _change(answer: str, found: Found, place: Place, span: EvidenceSpan) -> Rewrite | None:
    return rewritten(answer, found, place.text(), place.found, (span.start, span.end))


def _with(answer: str, change: Rewrite) -> str:
    return answer[: change.start] + change.text + answer[change.end :]


def _taken(answer: str, change: Rewrite, check: Check) -> bool:
    """True if the check finds the new value supported in its place."""
    end = change.at + len(change.value)
    here = [c for c in check(_with(answer, change)) if c.kind != "statement" and c.start < end and change.at < c.end]
    return any(c.status in _STANDS for c in here) and not any(c.unsupported for c in here)
