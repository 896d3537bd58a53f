"""The provenance check: every claim of an answer traced to its sources, the relevance to its question, and the repair.

`check` is the whole; `check_claims` of `rai.match` is the plain part inside it, run in a thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from rai.claims.phones import REGIONS
from rai.match import check_claims
from rai.ports import AnswerScorer, EntityTagger
from rai.records import CONTACT_KINDS, Claim, EntityType, Report, Source, Status, Verdict
from rai.repair.drop import drop_unsupported
from rai.repair.replace import replace_unsupported
from rai.statements.entail import anywhere
from rai.statements.wording import substance
from rai.support.sources import prepare

REPAIR_ROUNDS = 3
_SUPPORTED: frozenset[Status] = frozenset({"exact", "normalised", "rounded", "derived", "entailed"})


@dataclass(frozen=True, slots=True)
class CheckPorts:
    """The seams the check may use; without one, what it would decide stays `unchecked`."""

    tagger: EntityTagger | None = None
    scorer: AnswerScorer | None = None


@dataclass(frozen=True, slots=True)
class CheckPolicy:
    """Thresholds in [0, 1] and the regions whose national phone numbers are read, most likely first."""

    unsupported_at: float = 0.5
    relevance_at: float = 0.3
    regions: tuple[str, ...] = REGIONS


@dataclass(frozen=True, slots=True)
class _Request:
    """What stays the same while an answer is checked, repaired and checked again."""

    sources: tuple[Source, ...]
    question: str | None
    given: tuple[str, ...]
    ports: CheckPorts
    policy: CheckPolicy


async def check(
    answer: str,
    sources: Sequence[Source],
    question: str | None = None,
    *,
    given: Sequence[str] = (),
    ports: CheckPorts | None = None,
    policy: CheckPolicy = CheckPolicy(),
) -> Report:
    """Check `answer` against `sources`. `given` may be repeated without a source; `relevance` needs a scorer and a question.

    `unsupported` if any claim is, or if the score exceeds the policy's threshold. `repaired` is set only when what is
    left of the answer was checked again and holds no unsupported claim.
    """
    request = _Request(tuple(sources), question, tuple(given), ports or CheckPorts(), policy)
    report = await _report(answer, request)
    if report.verdict != "unsupported":
        return report
    return await _repaired(answer, report, request)


async def _report(answer: str, request: _Request) -> Report:
    tags = await request.ports.tagger.tag(answer) if request.ports.tagger is not None else ()
    claims = await asyncio.to_thread(_claims, request, tags, answer)
    score = await asyncio.to_thread(unsupportedness, claims, request.sources, request.policy.regions)
    scorer, relevance = request.ports.scorer, None
    if scorer is not None and request.question:
        relevance = await scorer.relevance(request.question, answer)
    return Report(_verdict(claims, score, relevance, request.policy), score, claims, relevance)


def _claims(request: _Request, tags: Sequence[tuple[int, int, EntityType]], answer: str) -> tuple[Claim, ...]:
    return check_claims(
        answer, request.sources, request.question, given=request.given, regions=request.policy.regions, tags=tags
    )


def _verdict(claims: Sequence[Claim], score: float, relevance: float | None, policy: CheckPolicy) -> Verdict:
    if score > policy.unsupported_at or any(c.unsupported for c in claims):
        return "unsupported"
    if relevance is not None and relevance < policy.relevance_at:
        return "irrelevant"
    return "supported" if any(c.status in _SUPPORTED for c in claims) and not _untold(claims) else "unchecked"


def _untold(claims: Sequence[Claim]) -> bool:
    """True if a sentence of substance was neither decided nor holds a value that was: "Plus is free" names Plus, and that is all."""
    told = [c for c in claims if c.status in _SUPPORTED and c.kind not in ("statement", "entity")]
    open_ = [c for c in claims if c.kind == "statement" and c.status == "unchecked" and substance(c.text)]
    return any(not any(s.start <= c.start and c.end <= s.end for c in told) for s in open_)


def unsupportedness(claims: Sequence[Claim], sources: Sequence[Source], regions: tuple[str, ...] = REGIONS) -> float:
    """How sure the check is that something is unsupported, in [0, 1].

    An unsupported claim decides by its kind: contacts .98, other values and codes .95, names .8, statements .7 (half
    of what is left to 1 is added when there are several). Otherwise at most .5: half the share of content words of the
    least covered statement that stand in no source.
    """
    doubts = sorted((_certainty(c) for c in claims if c.unsupported), reverse=True)
    uncovered = _uncovered(claims, sources, regions)
    if not doubts:
        return round(0.5 * uncovered, 4)
    certainty = doubts[0] + (1 - doubts[0]) * 0.5 * min(1.0, (len(doubts) - 1 + uncovered) / 4)
    return round(certainty, 4)


def _certainty(claim: Claim) -> float:
    if claim.kind in CONTACT_KINDS:
        return 0.98
    if claim.kind == "statement":
        return 0.7
    if claim.kind == "entity" and claim.entity not in ("code", "address"):
        return 0.8
    return 0.95 if claim.status == "absent" else 0.85


def _uncovered(claims: Sequence[Claim], sources: Sequence[Source], regions: tuple[str, ...]) -> float:
    prepared = [prepare(source, regions) for source in sources]
    open_statements = [c for c in claims if c.kind == "statement" and c.status != "entailed" and substance(c.text)]
    return max((1.0 - anywhere(c.text, prepared) for c in open_statements), default=0.0)


async def _repaired(answer: str, report: Report, request: _Request) -> Report:
    """`report` with the repair of `answer`: what can be replaced is, what is unsupported still is dropped; checked each time."""
    text, now = answer, report
    how: Literal["replaced", "dropped"] = "replaced"
    replaced = await asyncio.to_thread(
        replace_unsupported,
        answer,
        report.claims,
        request.sources,
        partial(_claims, request, ()),
        request.policy.regions,
    )
    if replaced is not None:
        text, now = replaced, await _report(replaced, request)
    for _ in range(REPAIR_ROUNDS):
        if now.verdict != "unsupported":
            break
        left = drop_unsupported(text, now.claims)
        if left is None:
            return report
        text, now, how = left, await _report(left, request), "dropped"
    if now.verdict in ("unsupported", "irrelevant"):
        return report
    return replace(report, repaired=text, repair=how)
