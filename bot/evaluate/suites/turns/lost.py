"""Error attribution of a turn: each fact followed through search, screen, grading, decision, evidence and answer to the stage that lost it.

A fact is at a stage if a passage there says it, of the documents that the row names, or of any where it names none. A fact
that none of its documents says in a spelling that was given counts as said by all of their passages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from bot.evaluate.suites.turns.facts import TurnRow, Verdict, holds, normal
from bot.system import System
from grounding.corrective.decide import value_of
from grounding.policy import Policy
from grounding.records import Grade, Passage

Stage = Literal["reading", "screen", "search", "grading", "decision", "evidence", "answer"]
STAGES: tuple[Stage, ...] = get_args(Stage)
"""The places where a turn is lost, in the order of the turn. `reading`: small talk was not seen as such; `screen`: the question was blocked,
or the passage taken for a planted order."""
FIRST = 5
_TOLD = 3
"""Facts of a turn that are told in words."""


@dataclass(frozen=True, slots=True)
class Held:
    """What the turn had in its hands, passage texts included. `evidence`: chunk id to text, of what stood in the prompt."""

    found: tuple[Passage, ...]
    grades: Mapping[str, Grade]
    kept: frozenset[str]
    evidence: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Trail:
    """One fact on its way through a turn, and the stages that still had it. `place`: of the first passage of the search that says it, from 1; `grade`: the best of those that say it."""

    fact: str
    place: int | None = None
    screened: str | None = None
    grade: float | None = None
    passed: bool = False
    kept: bool = False
    shown: bool = False
    said: bool = False

    @property
    def lost(self) -> Stage | None:
        """The first stage that no longer had it; None if the answer says it."""
        if self.said:
            return None
        if self.place is None:
            return "search"
        if self.screened:
            return "screen"
        if not (self.passed or self.kept or self.shown):
            return "grading"
        if not (self.kept or self.shown):
            return "decision"
        return "answer" if self.shown else "evidence"

    def words(self) -> str:
        """What became of it, for a person."""
        if self.place is None:
            return f"{self.fact!r} is in no passage that was found"
        at = f"{self.fact!r} was found at {self.place}"
        graded = f", graded {self.grade:.2f}" if self.grade is not None else ""
        return {
            "search": at,
            "screen": f"{at}, taken for a planted order ({self.screened})",
            "grading": f"{at}{graded}: too low to be kept" if graded else f"{at}, too far down to be graded",
            "decision": f"{at}{graded}, which is enough, but others alone were kept",
            "evidence": f"{at}{graded}, kept, but not put into the prompt",
            "answer": f"{at}{graded}, in the prompt, not in the answer",
            None: f"{at}, in the answer",
        }[self.lost]


class PassageTexts:
    """Documents of one knowledge base, read once each."""

    def __init__(self, system: System) -> None:
        self._system = system
        self._held: dict[str, str] = {}

    async def of(self, doc_id: str) -> str:
        """The whole text of a document; empty where there is none."""
        if doc_id not in self._held:
            found = await self._system.library.document(doc_id)
            self._held[doc_id] = found.text if found else ""
        return self._held[doc_id]


async def held_in(body: Mapping[str, Any], grades: Sequence[Grade], texts: PassageTexts) -> Held:
    """What the record of a turn says that it had. Passages are read from their documents, for the record masks personal data."""
    found = []
    for item in body.get("passages") or ():
        whole = await texts.of(str(item["doc_id"]))
        found.append(
            Passage(
                item["chunk_id"],
                item["doc_id"],
                item.get("title") or "",
                whole[item.get("start", 0) : item.get("end", 0)],
                score=item.get("score") or 0.0,
                bm25=item.get("bm25"),
                semantic=item.get("semantic"),
                screened=item.get("screened"),
            )
        )
    cut = set((body.get("prompt") or {}).get("cuts") or ())
    evidence = {}
    for item in body.get("evidence") or ():
        if f"evidence [{item['n']}]" not in cut:
            whole = await texts.of(str(item["doc_id"])) if item.get("origin") == "kb" else ""
            evidence[item["chunk_id"]] = "\n".join(
                (item.get("title") or "", item["text"], whole[item["start"] : item["end"]])
            )
    return Held(
        tuple(found),
        {grade.chunk_id: grade for grade in grades},
        frozenset((body.get("decision") or {}).get("kept") or ()),
        evidence,
    )


async def trails(row: TurnRow, held: Held, answer: str, policy: Policy, texts: PassageTexts) -> tuple[Trail, ...]:
    """Each fact of the row on its way through the turn."""
    whole = [normal(await texts.of(doc)) for doc in row.docs]
    passages = [(p, normal(f"{p.title}\n{p.text}")) for p in held.found if not row.docs or p.doc_id in row.docs]
    said = normal(answer)
    out = []
    for fact in row.facts:
        spelled = not row.docs or any(holds(text, fact) for text in whole)
        holding = [p for p, text in passages if not spelled or holds(text, fact)]
        shown = any(
            holds(normal(held.evidence[p.chunk_id]), fact) or not spelled
            for p in holding
            if p.chunk_id in held.evidence
        )
        trail = _trail(fact[0], holding, held, policy)
        out.append(replace(trail, shown=shown, said=holds(said, fact)))
    return tuple(out)


def _trail(fact: str, holding: Sequence[Passage], held: Held, policy: Policy) -> Trail:
    if not holding:
        return Trail(fact)
    order = {p.chunk_id: place for place, p in enumerate(held.found, 1)}
    clean = [p for p in holding if not p.screened]
    grades = [held.grades[p.chunk_id] for p in clean if p.chunk_id in held.grades]
    return Trail(
        fact,
        place=order[holding[0].chunk_id],
        screened=None if clean else holding[0].screened,
        grade=max((g.score for g in grades), default=None),
        passed=any(value_of(g, policy) >= policy.keep_at for g in grades),
        kept=any(p.chunk_id in held.kept for p in clean),
    )


def lost_at(row: TurnRow, verdict: Verdict, reply: Mapping[str, Any] | None, ways: Sequence[Trail]) -> Stage | None:
    """The first stage that lost the turn; None if it was right."""
    if verdict == "right":
        return None
    if row.expect == "smalltalk" or reply is None:
        return "reading"
    if reply.get("outcome") == "blocked" or reply.get("code") == "screen_unavailable":
        return "screen"
    if reply.get("code") == "search_unavailable":
        return "search"
    if verdict == "broken":
        return "answer"
    if not row.has_facts:  # nothing answers it, or it had to be asked back: something was kept all the same
        return "decision"
    return min((way.lost for way in ways if way.lost), key=STAGES.index, default="answer")


def why_lost(row: TurnRow, verdict: Verdict, reply: Mapping[str, Any] | None, ways: Sequence[Trail]) -> tuple[str, ...]:
    """In words, for each fact that the answer lacks."""
    if reply is None:
        return ("the question was not taken",)
    if row.expect == "smalltalk":
        return ("small talk was searched for",)
    if verdict == "broken":
        return (f"ended {reply.get('outcome')}" + (f", {reply['code']}" if reply.get("code") else ""),)
    text = normal(str(reply.get("answer") or ""))
    bad = tuple(f"says {s!r}" for part in row.parts for s in part.must_not if verdict == "wrong" and normal(s) in text)
    if not row.has_facts:
        asked = "it is open what is meant" if row.expect == "ask_back" else "the documents do not answer it"
        return (f"answered, though {asked}", *bad)
    long = (f"{len(text.split())} words",) if verdict == "long" else ()
    told = [way.words() for way in ways if way.lost]
    more = (f"and {len(told) - _TOLD} more",) if len(told) > _TOLD else ()
    return (*bad, *long, *told[:_TOLD], *more)
