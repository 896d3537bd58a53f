"""Repair by replacing: an unsupported value gives way to the source's, where that is certain and the sentence still reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rai.check.reading.sources import Place, Prepared, prepare
from rai.check.repair.certain import candidates, is_certain_alone, keeps_half, place_of, pointed_at
from rai.check.repair.phrases import Rewrite, rewritten
from rai.claims.contacts.phones import REGIONS
from rai.claims.find import find_values
from rai.claims.found import Found
from rai.records import CONTACT_KINDS, Claim, Kind, Source, Status

Check = Callable[[str, tuple[int, int]], Sequence[Claim]]
"""From an answer, and the offsets of the part that needs to be judged, to its claims: `rai.check.match.match_claims` with everything else given."""

MOST_REPLACED = 8
"""Most unsupported values of an answer in which any is replaced: one more wrong is not mended word by word."""
MOST_TRIED = 24
"""Most checks that replacing in one answer may cost; what is not decided by then is left to be dropped."""
_STANDS: frozenset[Status] = frozenset({"exact", "normalised"})
_Tried = tuple[Place, Rewrite, Sequence[Claim]]


def replace_unsupported(
    answer: str, claims: Sequence[Claim], sources: Sequence[Source], check: Check, regions: tuple[str, ...] = REGIONS
) -> str | None:
    """The answer with each unsupported value replaced by the source's where `rai.check.repair.certain` allows it; None if nowhere.

    What was written is checked in its place, and no replacement is made that the check does not take. CPU work: one
    check of the answer for each candidate.
    """
    wrong = [c for c in claims if c.unsupported and c.kind != "statement" and c.kind not in NEVER_SWAPPED]
    if not wrong or len(wrong) > MOST_REPLACED:
        return None
    prepared = [prepare(source, regions) for source in sorted(set(sources), key=lambda s: (s.id, s.title, s.text))]
    replacer = _Replacer(prepared, check, regions)
    text = answer
    for claim in sorted(wrong, key=lambda c: -c.start):  # from the end, so that offsets before stay right
        text = replacer.replaced(text, claim) or text
    return text if text != answer else None


NEVER_SWAPPED: frozenset[Kind] = CONTACT_KINDS | {"money"}
"""Kinds of which one is never written in the place of another: a wrong number to call is worse than none."""


@dataclass(slots=True)
class _Replacer:
    """Replaces one value after the other, within `left` checks."""

    sources: Sequence[Prepared]
    check: Check
    regions: tuple[str, ...]
    left: int = MOST_TRIED

    def replaced(self, answer: str, claim: Claim) -> str | None:
        """The answer with another value in the place of `claim`, or None."""
        values = find_values(answer, self.regions)
        found = next((f for f in values if (f.start, f.end) == (claim.start, claim.end)), None)
        if found is None:
            return None
        span = pointed_at(claim, found, self.sources)
        if span is None:
            return self._named(answer, claim, found)
        place = place_of(span, self.sources)
        change = rewritten(answer, found, place.text(), place.found, (span.start, span.end)) if place else None
        if place is None or change is None or not _taken(self._try(answer, change)):
            return None
        if is_certain_alone(claim, found, self.sources):
            return _with(answer, change)
        tried = self._candidates(answer, found)
        rivals = [p for p, _, claims in tried if _taken(claims) and not p.found.shares_form(place.found)]
        return _with(answer, change) if tried and not rivals else None

    def _named(self, answer: str, claim: Claim, found: Found) -> str | None:
        """The answer with the only value that the check takes here, if it names it when it refuses others. Not of contacts: too much hangs on one."""
        if claim.status not in ("absent", "wrong_role") or claim.kind in CONTACT_KINDS:
            return None
        tried = self._candidates(answer, found)
        taken = [(p, change) for p, change, claims in tried if _taken(claims)]
        if len(taken) != 1 or not keeps_half(found, taken[0][0].found):
            return None
        only, change = taken[0]
        named = [c.instead for _, _, claims in tried for c in claims if c.unsupported and c.instead]
        return _with(answer, change) if only.span() in named else None

    def _candidates(self, answer: str, found: Found) -> list[_Tried]:
        """Every value of the sources that could stand here, with what the check says of it there; none if they are too many."""
        places = candidates(found, self.sources)
        if len(places) > self.left:
            return []
        changes = [
            (p, c)
            for p in places
            if (c := rewritten(answer, found, p.text(), p.found, (p.found.start, p.found.end))) is not None
        ]
        return [(p, change, self._try(answer, change)) for p, change in changes]

    def _try(self, answer: str, change: Rewrite) -> Sequence[Claim]:
        """What the check says of the new value in its place."""
        self.left -= 1
        end = change.at + len(change.value)
        claims = self.check(_with(answer, change), (change.at, end))
        return [c for c in claims if c.kind != "statement" and c.start < end and change.at < c.end]


def _with(answer: str, change: Rewrite) -> str:
    return answer[: change.start] + change.text + answer[change.end :]


def _taken(claims: Sequence[Claim]) -> bool:
    return any(c.status in _STANDS for c in claims) and not any(c.unsupported for c in claims)
