"""A second look at the claims of one sentence: a value that the answer itself uses rightly is nobody's rival.

"870 infections, with 457 deaths" of "870 people have been infected, and 457 deaths were reported": the 457 that would
stand for "reported" is used in its own role beside it. Two values that have changed places speak against each other,
and stay wrong.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from rai.records import Claim, EvidenceSpan

_USED = ("exact", "normalised")


def settled(claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """`claims` in their order; each must come after the statement that holds it."""
    used: dict[int, set[EvidenceSpan]] = defaultdict(set)
    sentence = [-1] * len(claims)
    at = -1
    for n, claim in enumerate(claims):
        at = n if claim.kind == "statement" else at
        sentence[n] = at
        if claim.status in _USED and claim.evidence:
            used[at].add(claim.evidence[0])
    return tuple(_kept(c) if _is_rivalled(c, used[sentence[n]]) else c for n, c in enumerate(claims))


def _is_rivalled(claim: Claim, used: set[EvidenceSpan]) -> bool:
    return claim.status == "wrong_role" and claim.instead in used and claim.evidence[:1] != (claim.instead,)


def _kept(claim: Claim) -> Claim:
    place = claim.evidence[0]
    if place.text == claim.text:
        why = f"Stands in the same characters in {place.source}."
        return replace(claim, status="exact", why=why, instead=None)
    return replace(claim, status="normalised", why=f"{place.source} writes it as {place.text}.", instead=None)
