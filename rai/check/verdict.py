"""The verdict on an answer by its claims: that of each layer, their union, and how sure the check is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from rai.check.phrasing.plain import substance
from rai.claims.contacts.phones import REGIONS
from rai.records import CONTACT_KINDS, STRUCK_DOUBT, SUPPORTED, Claim, Kind, Layer, Status, Verdict


@dataclass(frozen=True, slots=True)
class CheckPolicy:
    """The settings of a check.

    `unsupported_at`: the doubt above which statements are unsupported, `relevance_at`: the relevance below which an answer is irrelevant, both
    in [0, 1]; `regions`: those whose national phone numbers are read, most likely first; `struck`: which doubt of which kind is not delivered.
    """

    unsupported_at: float = 0.5
    relevance_at: float = 0.3
    regions: tuple[str, ...] = REGIONS
    struck: frozenset[tuple[Kind, Status]] = STRUCK_DOUBT


DEFAULT = CheckPolicy()
"""The settings where a caller names none."""


def struck_by(doubt: Mapping[Kind, str]) -> frozenset[tuple[Kind, Status]]:
    """The doubt that a policy strikes. `doubt`: for a kind all of it ("struck"), what sources disagree on ("conflict"), or none ("marked").

    A kind that it does not name stays as it is by default: contacts struck, amounts struck in conflict.
    """
    kept = {pair for pair in STRUCK_DOUBT if pair[0] not in doubt}
    named: set[tuple[Kind, Status]] = {
        (kind, status) for kind in get_args(Kind) for status in _STRUCK[doubt.get(kind, "marked")]
    }
    return frozenset(kept | named)


_STRUCK: Mapping[str, tuple[Status, ...]] = {
    "struck": ("unchecked", "conflict"),
    "conflict": ("conflict",),
    "marked": (),
}


def layers_of(claims: Sequence[Claim], doubt: float, relevance: float | None, policy: CheckPolicy) -> tuple[Layer, ...]:
    """The verdict of each layer by itself. `doubt` in [0, 1]: how sure the statements by themselves are that something is wrong.

    A layer without claims says nothing and is left out.
    """
    values = [c for c in claims if c.kind not in ("entity", "statement")]
    named = [c for c in claims if c.kind == "entity"]
    sentences = [c for c in claims if c.kind == "statement"]
    layers = []
    if values:
        layers.append(Layer("values", _of_claims(values), certainty(values)))
    if named:
        layers.append(Layer("entities", _of_claims(named), certainty(named)))
    if sentences:
        score = max(certainty(sentences), doubt)
        verdict: Verdict = "unsupported" if score > policy.unsupported_at else _of_claims(sentences)
        layers.append(Layer("statements", verdict, score))
    if relevance is not None:
        irrelevant = relevance < policy.relevance_at
        layers.append(Layer("relevance", "irrelevant" if irrelevant else "supported", round(1 - relevance, 4)))
    return tuple(layers)


def union_of(layers: Sequence[Layer], claims: Sequence[Claim]) -> Verdict:
    """The verdict of all layers: `unsupported` if any is, else `irrelevant` if any is, else `supported` if a claim is and no sentence stayed
    open, else `unchecked`.
    """
    verdicts = {layer.verdict for layer in layers}
    for decisive in ("unsupported", "irrelevant"):
        if decisive in verdicts:
            return decisive
    return "supported" if any(c.status in SUPPORTED for c in claims) and not _untold(claims) else "unchecked"


def certainty(claims: Sequence[Claim], doubt: float = 0.0) -> float:
    """The certainty, in [0, 1], that one of `claims` is unsupported; 0 if none is.

    The kind decides: contacts .98, other values and codes .95 (.85 where the value stands in a source), names .8, statements
    .7; half of what is left to 1 is added by further ones and by `doubt`, that of the statements.
    """
    sure = sorted((_certainty(c) for c in claims if c.unsupported), reverse=True)
    if not sure:
        return 0.0
    return round(sure[0] + (1 - sure[0]) * 0.5 * min(1.0, (len(sure) - 1 + doubt) / 4), 4)


def _of_claims(claims: Sequence[Claim]) -> Verdict:
    if any(c.unsupported for c in claims):
        return "unsupported"
    return "supported" if any(c.status in SUPPORTED for c in claims) else "unchecked"


def _certainty(claim: Claim) -> float:
    if claim.kind in CONTACT_KINDS:
        return 0.98
    if claim.kind == "statement":
        return 0.7
    if claim.kind == "entity" and claim.entity not in ("code", "address"):
        return 0.8
    return 0.95 if claim.status == "absent" else 0.85


def _untold(claims: Sequence[Claim]) -> bool:
    """True if a sentence of substance was neither decided nor holds a value that was: "Plus is free" names Plus, and that is all."""
    told = [c for c in claims if c.status in SUPPORTED and c.kind not in ("statement", "entity")]
    open_ = [c for c in claims if c.kind == "statement" and c.status == "unchecked" and substance(c.text)]
    return any(not any(s.start <= c.start and c.end <= s.end for c in told) for s in open_)
