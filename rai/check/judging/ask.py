"""The step of a check that asks a judge, once, about what rules leave in doubt, and verifies its word."""

from __future__ import annotations

from collections.abc import Sequence

from grounding.bounded.pool import Run
from grounding.errors import BudgetSpent, ContentFiltered, PromptBlocked, ServiceError, WorkError
from grounding.observe import record_degraded, rule_failed
from rai.check.judging.case import case_of
from rai.check.judging.values import Values
from rai.check.judging.verify import verified
from rai.judgement import Case, Proposal
from rai.ports import StatementJudge
from rai.records import Claim, Source


async def ask_judge(
    claims: Sequence[Claim],
    sources: Sequence[Source],
    said: Sequence[str],
    *,
    values: Values,
    judge: StatementJudge,
    run: Run,
) -> tuple[tuple[Claim, ...], tuple[str, ...]]:
    """The `claims`, the doubtful ones decided where the judge's word holds, and notes; where it could not be had they stay as they were.

    One call; none if nothing is in doubt, or there is no source. `said`: what the person said, the question first; `run`: runs the
    verification, in this process or another.
    """
    case = case_of(claims, sources, said)
    if not case.claims or not case.sources:
        return tuple(claims), ()
    proposals, note = await _proposed(case, judge)
    if note is not None:
        return tuple(claims), (f"claims in doubt were not judged: {note}",)
    try:
        after = await run(verified, tuple(claims), case, proposals, values, judge.name)
    except WorkError as error:
        return tuple(claims), (f"what {judge.name} says of claims in doubt could not be verified: {error}",)
    for rule in after.failed:
        rule_failed(rule)
    return after.claims, tuple(
        f"a rule failed, and what the judge says of a claim was not used: {r}" for r in after.failed
    )


async def _proposed(case: Case, judge: StatementJudge) -> tuple[tuple[Proposal, ...], str | None]:
    try:
        proposals = await judge.judge(case)
    except BudgetSpent as error:
        return (), str(error)
    except PromptBlocked:
        return (), f"the prompt of {judge.name} was blocked by the screen"
    except ContentFiltered:
        return (), f"the content filter of {judge.name} blocked the prompt"
    except ServiceError as error:
        record_degraded("judge")
        return (), str(error)
    if len(proposals) != len(case.claims):
        return (), f"{judge.name} answers for {len(proposals)} claims, asked about {len(case.claims)}"
    return tuple(proposals), None
