"""What a judge may say of statements that the check left open, and what it may not.

It decides only sentences of substance that are `unchecked`. A `contradicted` or `absent` sentence stays so, an
`entailed` one too, and no value, link or name changes its status: those are decided by characters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from grounding.errors import BudgetSpent, ContentFiltered, PromptBlocked, ServiceError
from grounding.observe import without
from rai.ports import StatementJudge
from rai.records import Claim, Source
from rai.statements.wording import substance

JUDGED_AT = 0.8
"""Likelihood from which a statement counts as entailed; from 1 - `JUDGED_AT` down it counts as absent."""


def undecided(claims: Sequence[Claim]) -> list[Claim]:
    """The statements that a judge is asked about, in order."""
    return [c for c in claims if c.kind == "statement" and c.status == "unchecked" and substance(c.text)]


def judged(
    claims: Sequence[Claim], answers: Sequence[float | None], threshold: float = JUDGED_AT, name: str = "the judge"
) -> tuple[Claim, ...]:
    """`claims` with `answers` to those that are `undecided`, in their order. `threshold` in (0.5, 1].

    A sentence that holds an unsupported value is never `entailed`. Without evidence: a judge points at no characters.
    """
    said = dict(zip(((c.start, c.end) for c in undecided(claims)), answers, strict=True))
    bad = [c for c in claims if c.unsupported]
    return tuple(
        _decided(c, said[c.start, c.end], threshold, name, bad)
        if c.kind == "statement" and said.get((c.start, c.end)) is not None and c.status == "unchecked"
        else c
        for c in claims
    )


def _decided(claim: Claim, likelihood: float | None, threshold: float, name: str, bad: Sequence[Claim]) -> Claim:
    assert likelihood is not None
    if likelihood <= 1 - threshold + 1e-9:
        return replace(claim, status="absent", why=f"{name} finds it in no source ({likelihood:.2f}).")
    if likelihood >= threshold and not any(claim.start <= c.start and c.end <= claim.end for c in bad):
        return replace(
            claim, status="entailed", why=f"{name} finds it in the sources ({likelihood:.2f}); no place was traced."
        )
    return replace(claim, why=f"{claim.why} {name} is not sure either ({likelihood:.2f}).".strip())


async def ask_judge(
    claims: Sequence[Claim], sources: Sequence[Source], judge: StatementJudge, threshold: float = JUDGED_AT
) -> tuple[tuple[Claim, ...], str | None]:
    """`claims` with the judge's word on what is undecided, and a note if it failed: then they stay as they were.

    One call, none if nothing is open.
    """
    open_ = undecided(claims)
    if not open_ or not sources:
        return tuple(claims), None
    try:
        answers = await judge.judge([c.text for c in open_], sources)
    except BudgetSpent as error:
        return tuple(claims), f"open statements were not judged: {error}"
    except PromptBlocked:
        return tuple(claims), f"open statements were not judged: the prompt of {judge.name} was blocked by the screen"
    except ContentFiltered:
        return tuple(claims), f"open statements were not judged: the content filter of {judge.name} blocked the prompt"
    except ServiceError as error:
        without("judge")
        return tuple(claims), f"open statements were not judged: {error}"
    return judged(claims, answers, threshold, judge.name), None
