"""The provenance check: every claim of an answer traced to its sources, the relevance to its question, and the repair.

`check` is the whole; `check_claims` of `rai.check.match` is the plain part inside it, run in a thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from grounding.bounded.pool import Run
from grounding.errors import ServiceError
from grounding.observe import record_degraded, rule_failed
from rai.check.judging.ask import ask_judge
from rai.check.judging.values import Values
from rai.check.match import Matched, match_claims
from rai.check.phrasing.plain import substance
from rai.check.phrasing.weigh import Weighing, weigh_claims
from rai.check.repair.drop import drop_unsupported
from rai.check.repair.replace import replace_unsupported
from rai.check.verdict import DEFAULT, CheckPolicy, certainty, layers_of, union_of
from rai.claims.contacts.regions import regions_of
from rai.ports import AnswerScorer, EntityTagger, StatementJudge
from rai.records import STRUCK_DOUBT, Claim, EntityType, Kind, Layer, Report, Source, Status

__all__ = ["CheckPolicy", "CheckPorts", "check"]

Tag = tuple[int, int, EntityType]
REPAIR_ROUNDS = 3
"""Most rounds of dropping and checking again in one repair."""


@dataclass(frozen=True, slots=True)
class CheckPorts:
    """The ports that the check may use; without one, what it would decide stays `unchecked`."""

    tagger: EntityTagger | None = None
    scorer: AnswerScorer | None = None
    judge: StatementJudge | None = None


@dataclass(frozen=True, slots=True)
class Basis:
    """All that an answer is matched with, as plain data that another process can be sent. The parts are as in `check`."""

    sources: tuple[Source, ...]
    question: str | None
    given: tuple[str, ...]
    regions: tuple[str, ...]
    at: datetime | None
    values_only: bool
    struck: frozenset[tuple[Kind, Status]] = STRUCK_DOUBT


@dataclass(frozen=True, slots=True)
class _Request:
    """What stays the same while an answer is checked, repaired and checked again."""

    basis: Basis
    ports: CheckPorts | None
    policy: CheckPolicy
    run: Run


async def check(
    answer: str,
    sources: Sequence[Source],
    question: str | None = None,
    *,
    given: Sequence[str] = (),
    ports: CheckPorts | None = None,
    policy: CheckPolicy = DEFAULT,
    at: datetime | None = None,
    run: Run = asyncio.to_thread,
) -> Report:
    """The report on `answer` against `sources`. `given`: texts that may be repeated without a source; `relevance` needs a scorer and a question.

    Without `ports` only values are judged, in milliseconds; names and statements are `unchecked`. `CheckPorts()` judges
    them by grammar and words, a tagger, scorer or judge in it adds what that finds. `at`: when the conversation takes
    place, in the customer's zone; without it "tomorrow" is `unchecked`. `run`: who does the plain part; over text that nobody
    vouches for a `Pool`, which ends what takes too long.

    A greeting, a question, a lead-in or a citation by itself claims nothing: it is no claim of the report.

    `unsupported` if any layer is. `repaired` is set only when what is left of the answer was checked again and holds no
    unsupported claim. A service that fails is noted in `notes`, and what it would have decided stays undecided; so is a rule that
    raises, and its claim is `unchecked`. Raises WorkError when the answer cannot be read at all, or not in time: then nothing may be said of it.
    """
    regions = await run(regions_of, [*(f"{s.title}\n{s.text}" for s in sources), question or ""], policy.regions)
    every = tuple(dict.fromkeys((*regions, *policy.regions)))
    basis = Basis(tuple(sources), question, tuple(given), every, at, values_only=ports is None, struck=policy.struck)
    request = _Request(basis, ports, policy, run)
    report = await _report(answer, request)
    if report.verdict == "unsupported":
        report = await _repaired(answer, report, request)
    return replace(report, claims=tuple(c for c in report.claims if c.kind != "statement" or substance(c.text)))


async def _report(answer: str, request: _Request) -> Report:
    notes: list[str] = []
    tags = await _tags(answer, request.ports, notes)
    weighing, failed = await request.run(weighed, request.basis, tags, answer)
    for rule in failed:
        rule_failed(rule)
        notes.append(f"a rule failed, and what it would have decided is open: {rule}")
    relevance = await _relevance(answer, request, notes)
    weighing, judge = await _judged(answer, weighing, request, notes)
    claims, doubt = weighing.claims, max(weighing.doubt, 0.5 * weighing.even_doubt)
    layers = (*layers_of(claims, doubt, relevance, request.policy), *judge)
    score = certainty(claims, weighing.even_doubt) or doubt
    return Report(union_of(layers, claims), score, claims, relevance, layers=layers, notes=tuple(notes))


async def _judged(
    answer: str, weighing: Weighing, request: _Request, notes: list[str]
) -> tuple[Weighing, tuple[Layer, ...]]:
    """The claims with the judge's word on those in doubt, weighed again, and its layer if it decided any."""
    if request.ports is None or request.ports.judge is None:
        return weighing, ()
    basis, claims = request.basis, weighing.claims
    said = (basis.question or "", *basis.given)
    after, said_of_it = await ask_judge(
        claims, basis.sources, said, values=Values(answer, basis.regions), judge=request.ports.judge, run=request.run
    )
    notes += said_of_it
    after = _ruled(after, basis)
    decided = [now for was, now in zip(claims, after, strict=True) if now.status != was.status]
    if not decided:
        return weighing, ()
    wrong = any(c.unsupported for c in decided)
    layer = Layer("judge", "unsupported" if wrong else "supported", certainty(decided))
    return await request.run(weigh_claims, after, basis.sources), (layer,)


async def _tags(answer: str, ports: CheckPorts | None, notes: list[str]) -> tuple[Tag, ...]:
    if ports is None or ports.tagger is None:
        return ()
    try:
        return await ports.tagger.tag(answer)
    except ServiceError as error:
        record_degraded("tagger")
        notes.append(f"names were found by grammar alone: {error}")
        return ()


async def _relevance(answer: str, request: _Request, notes: list[str]) -> float | None:
    question = request.basis.question
    if request.ports is None or request.ports.scorer is None or not question:
        return None
    try:
        return await request.ports.scorer.relevance(question, answer)
    except ServiceError as error:
        record_degraded("relevance")
        notes.append(f"relevance was not judged: {error}")
        return None


def weighed(basis: Basis, tags: Sequence[Tag], answer: str) -> tuple[Weighing, tuple[str, ...]]:
    """The claims of `answer`, matched and weighed, and the rules that raised meanwhile."""
    matched = _matched(basis, tags, answer)
    if basis.values_only:
        return Weighing(matched.claims, 0.0, 0.0), matched.failed
    return weigh_claims(matched.claims, basis.sources), matched.failed


def load() -> None:
    """Loads what the first answer would wait for: units, telephone numbers, the tables of words."""
    text = "From 3 May on the cable of 1 inch costs $5; call +1 415 555 0132 before 9:00."
    basis = Basis((Source("s", text),), None, (), ("US",), None, values_only=False)
    weighed(basis, (), text.replace("1 inch", "2.54 cm"))


def replaced(basis: Basis, answer: str, claims: tuple[Claim, ...]) -> str | None:
    """`answer` with what is unsupported replaced where that is certain, or None."""
    return replace_unsupported(
        answer, claims, basis.sources, lambda text, only: _matched(basis, (), text, only).claims, basis.regions
    )


def _matched(basis: Basis, tags: Sequence[Tag], answer: str, only: tuple[int, int] | None = None) -> Matched:
    matched = match_claims(
        answer,
        basis.sources,
        basis.question,
        given=basis.given,
        regions=basis.regions,
        tags=tags,
        at=basis.at,
        values_only=basis.values_only,
        only=only,
    )
    return replace(matched, claims=_ruled(matched.claims, basis))


def _ruled(claims: Sequence[Claim], basis: Basis) -> tuple[Claim, ...]:
    """`claims` with what a policy of its own strikes of them."""
    if basis.struck == STRUCK_DOUBT:
        return tuple(claims)
    return tuple(replace(c, struck=(c.kind, c.status) in basis.struck) for c in claims)


async def _repaired(answer: str, report: Report, request: _Request) -> Report:
    """`report` with the repair of `answer`: what can be replaced is, what is unsupported still is dropped; checked each time."""
    text, now = answer, report
    how: Literal["replaced", "dropped"] = "replaced"
    mended = await request.run(replaced, request.basis, answer, report.claims)
    if mended is not None:
        text, now = mended, await _report(mended, request)
    for _ in range(REPAIR_ROUNDS):
        if now.verdict != "unsupported":
            break
        left = await request.run(drop_unsupported, text, now.claims)
        if left is None:
            return report
        text, now, how = left, await _report(left, request), "dropped"
    if now.verdict in ("unsupported", "irrelevant"):
        return report
    return replace(report, repaired=text, repair=how)
