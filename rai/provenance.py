"""The provenance check: every claim of an answer traced to its sources, the relevance to its question, and the repair.

`check` is the whole; `check_claims` of `rai.match` is the plain part inside it, run in a thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Literal

from grounding.errors import ServiceError
from grounding.observe import without
from rai.claims.regions import regions_of
from rai.match import check_claims
from rai.ports import AnswerScorer, EntityTagger, StatementJudge
from rai.records import Claim, EntityType, Layer, Report, Source
from rai.repair.drop import drop_unsupported
from rai.repair.replace import replace_unsupported
from rai.statements.judged import ask_judge
from rai.statements.support import Weighing, weigh_claims
from rai.verdict import DEFAULT, CheckPolicy, certainty, layers_of, union_of

__all__ = ["CheckPolicy", "CheckPorts", "check"]

Tag = tuple[int, int, EntityType]
REPAIR_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class CheckPorts:
    """The seams the check may use; without one, what it would decide stays `unchecked`."""

    tagger: EntityTagger | None = None
    scorer: AnswerScorer | None = None
    judge: StatementJudge | None = None


@dataclass(frozen=True, slots=True)
class _Request:
    """What stays the same while an answer is checked, repaired and checked again."""

    sources: tuple[Source, ...]
    question: str | None
    given: tuple[str, ...]
    ports: CheckPorts | None
    policy: CheckPolicy
    regions: tuple[str, ...]
    at: datetime | None


async def check(
    answer: str,
    sources: Sequence[Source],
    question: str | None = None,
    *,
    given: Sequence[str] = (),
    ports: CheckPorts | None = None,
    policy: CheckPolicy = DEFAULT,
    at: datetime | None = None,
) -> Report:
    """Check `answer` against `sources`. `given` may be repeated without a source; `relevance` needs a scorer and a question.

    Without `ports` only values are judged, in milliseconds; names and statements are `unchecked`. `CheckPorts()` judges
    them by grammar and words, a tagger, scorer or judge in it adds what that finds. `at`: when the conversation takes
    place, in the customer's zone; without it "tomorrow" is `unchecked`.

    `unsupported` if any layer is. `repaired` is set only when what is left of the answer was checked again and holds no
    unsupported claim. A service that fails is noted in `notes`, and what it would have decided stays undecided.
    """
    regions = regions_of([*(f"{s.title}\n{s.text}" for s in sources), question or ""], policy.regions)
    every = tuple(dict.fromkeys((*regions, *policy.regions)))
    request = _Request(tuple(sources), question, tuple(given), ports, policy, every, at)
    report = await _report(answer, request)
    if report.verdict != "unsupported":
        return report
    return await _repaired(answer, report, request)


async def _report(answer: str, request: _Request) -> Report:
    notes: list[str] = []
    tags = await _tags(answer, request.ports, notes)
    weighing = await asyncio.to_thread(_weighed, request, tags, answer)
    relevance = await _relevance(answer, request, notes)
    doubt = max(weighing.doubt, 0.5 * weighing.even_doubt)
    claims, judge = await _judged(weighing.claims, request, notes)
    layers = (*layers_of(weighing.claims, doubt, relevance, request.policy), *judge)
    score = certainty(claims, weighing.even_doubt) or doubt
    return Report(union_of(layers, claims), score, claims, relevance, layers=layers, notes=tuple(notes))


async def _judged(
    claims: tuple[Claim, ...], request: _Request, notes: list[str]
) -> tuple[tuple[Claim, ...], tuple[Layer, ...]]:
    """`claims` with the judge's word on the open ones, and its layer if it decided any."""
    if request.ports is None or request.ports.judge is None:
        return claims, ()
    after, note = await ask_judge(claims, request.sources, request.ports.judge, request.policy.judge_at)
    notes += [note] if note else []
    decided = [now for was, now in zip(claims, after, strict=True) if now.status != was.status]
    wrong = any(c.unsupported for c in decided)
    layer = Layer("judge", "unsupported" if wrong else "supported", certainty(decided))
    return after, (layer,) if decided else ()


async def _tags(answer: str, ports: CheckPorts | None, notes: list[str]) -> tuple[Tag, ...]:
    if ports is None or ports.tagger is None:
        return ()
    try:
        return await ports.tagger.tag(answer)
    except ServiceError as error:
        without("tagger")
        notes.append(f"names were found by grammar alone: {error}")
        return ()


async def _relevance(answer: str, request: _Request, notes: list[str]) -> float | None:
    if request.ports is None or request.ports.scorer is None or not request.question:
        return None
    try:
        return await request.ports.scorer.relevance(request.question, answer)
    except ServiceError as error:
        without("relevance")
        notes.append(f"relevance was not judged: {error}")
        return None


def _weighed(request: _Request, tags: Sequence[Tag], answer: str) -> Weighing:
    claims = _claims(request, tags, answer)
    return Weighing(claims, 0.0, 0.0) if request.ports is None else weigh_claims(claims, request.sources)


def _claims(request: _Request, tags: Sequence[Tag], answer: str) -> tuple[Claim, ...]:
    return check_claims(
        answer,
        request.sources,
        request.question,
        given=request.given,
        regions=request.regions,
        tags=tags,
        at=request.at,
        values_only=request.ports is None,
    )


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
        request.regions,
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
