"""Retrieval of evidence for one query: search, grade, decide, correct. A turn and a measurement use the same code.

`find` and the corrective steps of `grounding.corrective.correct` work on an `EvidenceSearch`; its `result` is what was found. Passages are
graded against the question, whatever was searched for to find them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar

from grounding.corrective.decide import Decision, decide, taken_as_found
from grounding.errors import BudgetSpent, ContentFiltered, PromptBlocked, ServiceError
from grounding.evidence.fuse import reciprocal_ranks
from grounding.observe import Seam, record_degraded
from grounding.policy import Policy
from grounding.ports import ChatModel, Grader, Retriever, WebSearch
from grounding.query.conversation import content, question_of, without_excluded, without_names, without_words
from grounding.query.rewrite import keywords
from grounding.query.shorthand import said_as
from grounding.quoting.question_parts import read
from grounding.records import Access, Action, Grade, Grading, Passage, Query, Retrieval, WebResult
from grounding.services.together import together
from grounding.text import terms

T = TypeVar("T")
AGREEING = 9
"""The constant of reciprocal ranks by which search and grader agree on an order: less than the usual 60, since both have twenty passages."""
OF_PARTS = 6
"""Passages that the parts of a question add to those that were found for the whole: of two parts the best three that those lack."""


class Staging(Protocol):
    """Callable that runs work as a named stage of the turn: "retrieve", "grade", "rewrite", "plan", "act", "evaluate", "web"."""

    async def __call__(self, name: str, work: Awaitable[T], /) -> T: ...


def in_agreed_order(found: Sequence[Passage], grades: Mapping[str, float]) -> list[Passage]:
    """What was found, in the order that search and grader agree on: either alone misses what the other puts first. `grades` by chunk id."""
    graded = sorted(found, key=lambda p: -grades.get(p.chunk_id, 0.0))
    by_id = {p.chunk_id: p for p in found}
    return [by_id[p.chunk_id] for p in reciprocal_ranks((found, graded), AGREEING)]


@dataclass(frozen=True, slots=True)
class Finders:
    """The implementations that a search for evidence uses. `web` None: no web search; `model` rewrites, imagines and plans, None: those
    steps fall away.
    """

    retriever: Retriever
    grader: Grader
    web: WebSearch | None = None
    model: ChatModel | None = None


@dataclass(frozen=True, slots=True)
class Correction:
    """Record of a corrective step: what was searched for, how many passages it added, and what was decided after it.

    `why` says why it did nothing, or how it ended. `trail`: a line for each thing it did, as an operator reads it.
    """

    step: str
    queries: tuple[str, ...] = ()
    added: int = 0
    decision: Decision | None = None
    why: str = ""
    trail: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FoundEvidence:
    """Result of a search for evidence. `query` is what passages were graded against, `searched` what was searched for first.

    `retrieval`: what the knowledge base returned; `grades`: of everything that was graded, pages of the web included; `first`: what was
    decided before anything was corrected, None if the search did not come that far. `kept`: what may become evidence, passages of the
    knowledge base that the decision keeps, best first, then pages of the web; `filled`: the same, and after it under a policy that fills
    the rest of the knowledge base, best grade first.
    """

    query: Query = field(default_factory=lambda: Query(""))
    searched: str = ""
    retrieval: Retrieval = field(default_factory=lambda: Retrieval((), "", ""))
    grading: Grading = field(default_factory=lambda: Grading("graded", ()))
    first: Decision | None = None
    decision: Decision | None = None
    corrections: tuple[Correction, ...] = ()
    web: tuple[WebResult, ...] = ()
    notes: tuple[str, ...] = ()
    graded: tuple[Passage, ...] = ()
    kept: tuple[Passage, ...] = ()
    filled: tuple[Passage, ...] = ()

    @property
    def grades(self) -> tuple[Grade, ...]:
        """Grades of everything that was graded, pages of the web included."""
        return self.grading.grades

    @property
    def scores(self) -> dict[str, float]:
        """Score in [0, 1] by chunk id."""
        return {g.chunk_id: g.score for g in self.grades}


@dataclass(slots=True)
class EvidenceSearch:
    """State of a search for evidence under way.

    `excluded`: words that are taken out of every search. `wants_web`: the person who asks wants the web searched too, however good the passages are. `first`: what was decided before anything was corrected, None until then. `query`
    is what passages are graded against, `searched` what was searched for first. `passages`: of the knowledge base, those that were graded,
    best rank first; `pages`: web results as passages, those that are good enough, best first.
    """

    query: Query
    access: Access
    policy: Policy
    ports: Finders
    stage: Staging
    excluded: tuple[str, ...] = ()
    wants_web: bool = False
    searched: Query = field(default_factory=lambda: Query(""))
    found: Retrieval = field(default_factory=lambda: Retrieval((), "", ""))
    passages: list[Passage] = field(default_factory=list)
    grading: Grading = field(default_factory=lambda: Grading("graded", ()))
    decision: Decision = field(default_factory=lambda: decide(Grading("graded", ()), Policy()))
    first: Decision | None = None
    corrections: list[Correction] = field(default_factory=list)
    pages: list[Passage] = field(default_factory=list)
    page_grades: dict[str, Grade] = field(default_factory=dict)
    web: tuple[WebResult, ...] = ()
    notes: list[str] = field(default_factory=list)

    def result(self) -> FoundEvidence:
        """What was found so far; may be called at any point of the search."""
        by_id = {p.chunk_id: p for p in self.passages}
        kept = (*(by_id[i] for i in self.decision.kept if i in by_id), *self.pages)
        return FoundEvidence(
            query=self.query,
            searched=self.searched.text,
            retrieval=self.found,
            grading=replace(self.grading, grades=(*self.grading.grades, *self.page_grades.values())),
            first=self.first,
            decision=self.decision if self.first else None,
            corrections=tuple(self.corrections),
            web=self.web,
            notes=tuple(self.notes),
            graded=tuple(self.passages),
            kept=kept,
            filled=(*kept, *self._rest(kept)) if self.policy.fill else kept,
        )

    def _rest(self, kept: Sequence[Passage]) -> list[Passage]:
        taken = {p.chunk_id for p in kept}
        value = {g.chunk_id: g.score for g in self.grading.grades}
        return [p for p in in_agreed_order(self.passages, value) if p.chunk_id not in taken]

    def note(self, *texts: str | None) -> None:
        """Add remarks for the record, each once."""
        self.notes += [text for text in texts if text and text not in self.notes]

    async def grade(self, passages: Sequence[Passage]) -> Grading:
        """Grade `passages` against the question, in the policy's style."""
        if self.policy.style == "none":
            return taken_as_found(passages)
        graded = await self.stage("grade", self._graded(passages))
        if graded.status == "ungraded":
            record_degraded("grader")
        self.note(graded.note)
        return graded

    async def _graded(self, passages: Sequence[Passage]) -> Grading:
        """Grading by the grader, or ungraded when it is not done within `grade_seconds`: a turn must not be lost to it."""
        graded: Grading | None = None
        try:
            async with asyncio.timeout(self.policy.grade_seconds) as bound:
                graded = await self.ports.grader.grade(self.query.text, passages)
                if self.ports.model is not None:  # which reads every language, and what is said of every device
                    return graded
                if self.query.english:
                    graded = better_of(graded, await self.ports.grader.grade(self.query.english, passages))
                if about := {p.chunk_id for p in passages if _is_about(p, self.query.general)}:
                    beside = await self.ports.grader.grade(self.query.general, passages)  # each beside all the others
                    beside = replace(beside, grades=tuple(g for g in beside.grades if g.chunk_id in about))
                    graded = better_of(graded, beside)
                return graded
        except TimeoutError:
            if not bound.expired():
                raise
            if graded is not None:  # in its own language it was
                return graded
            none = tuple(Grade(p.chunk_id, 0.0, "Awful", "no", None, "not graded in time") for p in passages)
            return Grading("ungraded", none, f"the passages were not graded within {self.policy.grade_seconds:g} s")


def better_of(first: Grading, second: Grading) -> Grading:
    """Of two gradings of passages, the second of some of them, the higher grade for each; the first where one of them failed."""
    if "ungraded" in (first.status, second.status):
        return first
    other = {grade.chunk_id: grade for grade in second.grades}
    pairs = ((grade, other.get(grade.chunk_id, grade)) for grade in first.grades)
    return replace(first, grades=tuple(max(pair, key=lambda grade: grade.score) for pair in pairs))


def _told_by_name(query: Query, found: Sequence[Passage]) -> bool:
    """Whether a page of the things that a question names says what is asked to be done with them: what is said of every thing is then not looked for."""
    deeds, things = said_as(query.general), content(question_of(query)) - content(query.general)
    for passage in found:
        above = frozenset(terms(f"{passage.title} {passage.locator or ''}"))
        held = above | frozenset(terms(passage.text))
        if things <= above and all(any(way <= held for way in ways) for ways in deeds):
            return True
    return False


def _about(asked: Query, query: Query, found: Sequence[Passage]) -> tuple[Passage, ...]:
    """Of what was found for a question without the things that it names only what is about that, and nothing where it is not looked for."""
    if query.general and query.text == query.general:
        return tuple(p for p in found if _is_about(p, asked.general))
    return tuple(found)


def _is_about(passage: Passage, question: str) -> bool:
    """Whether a passage's title or heading says something of a question: what only its text says in passing, "tap Install", tells of something else."""
    above = frozenset(terms(f"{passage.title} {passage.locator or ''}"))
    return any(way <= above for ways in said_as(question) for way in ways)


async def find(f: EvidenceSearch) -> None:
    """Search, grade and decide. Where the names taken along from earlier turns find nothing that could be kept, the question is tried
    without them, for the topic may have changed.
    """
    f.searched = await _search_query(f)
    await look(f, [f.searched], parts=_of_parts(f.searched) if f.policy.fill else ())
    f.first = f.decision
    alone = without_excluded(without_names(f.query), f.excluded)
    if f.decision.action is Action.INCORRECT and f.query.entities and alone.text and not f.access.product:
        again = EvidenceSearch(
            alone,
            f.access,
            f.policy,
            f.ports,
            f.stage,
            excluded=f.excluded,
            searched=replace(alone, by=f.searched.by),
            notes=f.notes,
        )
        await look(again, [again.searched])
        if again.decision.action is not Action.INCORRECT:
            f.query, f.searched, f.found, f.passages = again.query, again.searched, again.found, again.passages
            f.grading, f.decision = again.grading, again.decision
            f.note("the question was read without the names of earlier turns")
    f.first = f.decision


def _of_parts(query: Query) -> list[Query]:
    """Of a question that asks several things a query for each: what only one of them needs is far down in what is found for all together; of one in another
    language one in English. For policies that fill their evidence: it is graded against the whole question, of which it answers a half.
    """
    parts = read(question_of(query)).parts
    texts = [p.text for p in parts] if len(parts) > 1 else []
    return [replace(query, text=text, sentences=()) for text in (*texts, *filter(None, [query.english, query.general]))]


async def _search_query(f: EvidenceSearch) -> Query:
    """The query to search for: the question, or the key words that a model makes of it where the policy wants them (0-03)."""
    query = replace(f.query, by=f.policy.search)
    if f.policy.query != "keywords" or f.ports.model is None:
        return query
    words, why = None, f"no key words within {f.policy.correct_seconds:g} s"
    try:
        async with asyncio.timeout(f.policy.correct_seconds) as bound:
            words, why = await value_or_reason(f.stage("rewrite", keywords(f.ports.model, f.query.text, f.excluded)))
    except TimeoutError:
        if not bound.expired():
            raise
    if words:
        return Query(words, by=f.policy.search)
    f.note(f"the question was searched for as it is: {why or 'the model wrote no key words'}")
    return query


async def value_or_reason(work: Awaitable[T], seam: Seam = "model") -> tuple[T | None, str]:
    """The result of work that asks a model or another `seam`, or None and the reason why there is none; the turn goes on without it.

    Raises PromptBlocked(unavailable=True): without the screen nothing goes on.
    """
    try:
        return await work, ""
    except PromptBlocked as error:
        if error.unavailable:
            raise
        return None, "the screen blocked its prompt"
    except ContentFiltered:
        return None, "the model service's content filter blocked it"
    except BudgetSpent as error:
        return None, str(error)
    except ServiceError as error:
        record_degraded(seam)
        return None, str(error)


async def look(
    f: EvidenceSearch, queries: Sequence[Query], stage: str = "retrieve", parts: Sequence[Query] = ()
) -> list[Passage]:
    """Search for `queries` together, grade what is new, and decide anew over all. Returns the passages that are new. `parts`: queries that add a few
    passages to those, and displace none.
    """
    results = await f.stage(stage, _search(f, [_allowed(q, f.excluded) for q in (*queries, *parts)]))
    if _told_by_name(f.query, results[0].passages[: f.policy.grade_k]):
        f.query = replace(f.query, general="")
    lists = [_about(f.query, q, r.passages) for q, r in zip((*queries, *parts), results, strict=True)]
    whole = [*([f.found.passages] if f.passages else []), *lists[: len(queries)]]
    merged = whole[0] if len(whole) == 1 else reciprocal_ranks(whole)
    more = [found for found in lists[len(queries) :] if found]
    every = reciprocal_ranks([merged, *more]) if more else merged
    f.found = replace(results[0], passages=every, notes=tuple(dict.fromkeys(n for r in results for n in r.notes)))
    f.note(*f.found.notes)
    if f.found.notes and f.found.mode.startswith("lexical") and queries[0].by != "words":
        record_degraded("embedder")
    known = {p.chunk_id for p in f.passages}
    sound = {p.chunk_id: p for p in safe(f) if p.chunk_id not in known}
    best = [p.chunk_id for p in merged if p.chunk_id in sound][: f.policy.grade_k]
    best += [name for name in sound if name not in best][: OF_PARTS if more else 0]
    f.passages = [p for p in every if p.chunk_id in known or p.chunk_id in best]
    f.grading = await f.grade(f.passages)
    f.decision = decide(f.grading, f.policy)
    return [p for p in f.passages if p.chunk_id not in known]


def safe(f: EvidenceSearch) -> list[Passage]:
    """The passages found so far without those that hold instructions to a model (prompt injection), of which a note is kept."""
    bad = sorted({p.doc_id for p in f.found.passages if p.screened})
    if bad:
        f.note(f"passages with hidden instructions were left out: {', '.join(bad)}")
    return [p for p in f.found.passages if not p.screened]


def _allowed(query: Query, excluded: Sequence[str]) -> Query:
    """The query without excluded words, also in the sentences whose meaning is searched for."""
    if not excluded:
        return query
    said = question_of(query)
    sentences = query.sentences if without_words(said, excluded) == " ".join(said.split()) else ()
    imagined = without_words(query.imagined, excluded)
    return replace(without_excluded(query, excluded), sentences=sentences, imagined=imagined)


async def _search(f: EvidenceSearch, queries: Sequence[Query]) -> list[Retrieval]:
    """One search for each, at the same time; the first that fails ends the others."""
    return await together(f.ports.retriever.retrieve(q, f.access, f.policy.retrieve_k) for q in queries)
