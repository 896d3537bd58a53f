"""Grading by a chat model, in four styles that end in one record: a score in [0, 1], a label, yes or no, perhaps an extract.

    | style      | asked for                                    | score                   | label            | binary         |
    | score      | a number in [0, 1]                           | the number              | by `label_of`    | by `binary_of` |
    | confidence | a number in [0, 1] and the text that answers | the number              | by `label_of`    | by `binary_of` |
    | label      | Awful, Poor, Good or Perfect, and why        | the number of the label | as said          | by `binary_of` |
    | binary     | yes or no                                    | 1 or 0                  | Perfect or Awful | as said        |

A yes is 1 and a no is 0, for the word knows no degrees and has to pass or fail every threshold that a policy may set. A number of a model
is **model-stated**: words that it wrote, not a probability that was measured, nor one of its tokens. Whatever a model does, each passage
has a grade, and where it does not come from the model the grade says so.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from grounding.errors import BudgetSpent, ContentFiltered, PromptBlocked, ServiceError
from grounding.grading.extract import locate
from grounding.grading.features import binary_of, label_of
from grounding.grading.prompt import Style, batches, document_text, grade_prompt, grade_schema
from grounding.grading.reply import LABEL_NAMES, Said, Value, read_reply
from grounding.model_calls.spotlight import new_marker
from grounding.policy import LABELS
from grounding.ports import ChatModel, Grader
from grounding.records import Grade, Grading, Label, Passage
from grounding.tokens import count_tokens

_REPLY_TOKENS: Mapping[Style, int] = {"score": 30, "binary": 30, "label": 160, "confidence": 60}
"""Room in the reply for one document; an extract takes as much again as its document. A bound, not a price."""
_ROOM = 300
_NO_GRADE = "the model's reply holds no grade of it"
_WHAT: Mapping[Style, str] = {"score": "score", "label": "label", "binary": "answer", "confidence": "confidence"}
"""What a model states, as reviewers read it."""


@dataclass(slots=True)
class _Work:
    """State of grading one list of passages: what is known of each, by content key, while the model is asked.

    `why`: why what has no grade has none. `alone` and `never`: refused with others, or by itself. `unasked`: left out because the top was
    certain. `spared`: left out by a budget.
    """

    question: str
    passages: dict[str, Passage]
    graded: dict[str, Grade]
    why: dict[str, str] = field(default_factory=dict)
    alone: set[str] = field(default_factory=set)
    never: set[str] = field(default_factory=set)
    unasked: set[str] = field(default_factory=set)
    spared: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)

    def missing(self, keys: Sequence[str]) -> list[str]:
        """Those of `keys` that have no grade yet."""
        return [key for key in keys if key not in self.graded]

    def lacks(self, keys: Sequence[str], why: str, note: str | None = None) -> None:
        """Remember why these have no grade; each note once."""
        self.why.update(dict.fromkeys(keys, why))
        if note is not None and note not in self.notes:
            self.notes.append(note)

    def refuse(self, keys: Sequence[str], who: str) -> None:
        """Remember that screen or filter refused these; of a batch it is not known which passage is the reason."""
        (self.alone if len(keys) > 1 else self.never).update(keys)
        self.alone -= self.never
        said = f"a batch of {len(keys)}, graded one by one" if len(keys) > 1 else "one passage"
        self.lacks(keys, f"{who} refused to have it graded", f"{who} refused {said}")

    def spare(self, keys: Sequence[str], why: str) -> None:
        """Remember that these are not asked about because a budget has no room for it."""
        self.spared.update(keys)
        self.lacks(keys, f"not asked, {why}")

    def skip(self, keys: Sequence[str], why: str) -> None:
        """Remember that these are not asked about because the top is certain."""
        self.unasked.update(keys)
        self.lacks(keys, f"not asked, {why}", f"{len(keys)} texts not asked about, the first were certain")


class ModelGrader:
    """Grader over a chat model, which is expected to screen its prompts (`rai.screening.model.ScreenedModel`).

    `batch`, `batch_tokens`: documents of one call and their tokens. `parallel`: calls at a time for one list. `certain_at`:
    as soon as `certain_n` of the first batch have this score, the rest is not asked about; None: all are. That suits
    policies that look at the best passages, not those that count all. `fallback` grades what the model leaves out.
    `remembered`: grades that are kept by what was graded, the least recently used dropped first.
    """

    def __init__(
        self,
        model: ChatModel,
        style: Style,
        *,
        fallback: Grader | None,
        batch: int = 10,
        batch_tokens: int = 3000,
        parallel: int = 8,
        certain_at: float | None = None,
        certain_n: int = 1,
        labels: Mapping[Label, float] = LABELS,
        remembered: int = 5000,
        marker: Callable[[], str] = new_marker,
    ) -> None:
        self._model = model
        self._style: Style = style
        self._fallback = fallback
        self._batch, self._batch_tokens, self._parallel = batch, batch_tokens, parallel
        self._certain_at, self._certain_n = certain_at, certain_n
        self._labels = dict(labels)
        self._marker = marker
        self._most = remembered
        self._known: OrderedDict[str, Grade] = OrderedDict()

    @property
    def name(self) -> str:
        """Name of the model."""
        return f"model:{self._model.name}/{self._style}"

    async def grade(self, question: str, passages: Sequence[Passage]) -> Grading:
        """One grade per passage, same order; `ungraded`, each with score 0, where the model gave none at all; the fallback's where a budget
        left no room to ask it.

        What is missing is asked for once more, and then graded by `fallback`, or 0 without one; `note` tells what happened. Raises
        PromptBlocked(unavailable=True) when the screen cannot decide: without it no prompt leaves.
        """
        keys = await asyncio.to_thread(lambda: [self._key(question, passage) for passage in passages])
        work = _Work(question, dict(zip(keys, passages, strict=True)), self._remembered(keys))
        await self._ask_all(work)
        if passages and not work.graded and not (self._fallback and work.spared.issuperset(keys)):
            return _ungraded(self.name, passages, keys, work)
        return await self._assembled(question, passages, keys, work)

    async def _ask_all(self, work: _Work) -> None:
        """Ask for all grades that are not known: the first batch alone where the top may be certain, the rest at once, what is missing
        again.
        """
        runs = await self._split(work, work.missing(list(work.passages)))
        alone = 0 if self._is_certain(work) else 1
        asked, rest = (runs, []) if self._certain_at is None else (runs[:alone], runs[alone:])
        await self._round(work, asked)
        if rest and self._is_certain(work):
            work.skip(_flat(rest), f"{self._certain_n} of the passages before it reached {self._certain_at:g}")
        else:
            await self._round(work, rest)
            asked = runs
        await self._round(work, await self._again(work, work.missing(_flat(asked))))

    def _is_certain(self, work: _Work) -> bool:
        least = self._certain_at if self._certain_at is not None else 2.0
        return sum(grade.score >= least for grade in work.graded.values()) >= self._certain_n

    async def _again(self, work: _Work, keys: Sequence[str]) -> list[list[str]]:
        """The batches to ask once more. Of a batch that was refused each passage stands alone now, so that one cannot take the others with
        it; one that was refused alone would be refused again.
        """
        together = [key for key in keys if key not in work.alone and key not in work.never]
        return [*await self._split(work, together), *([key] for key in keys if key in work.alone)]

    async def _split(self, work: _Work, keys: Sequence[str]) -> list[list[str]]:
        def split() -> list[list[str]]:
            texts = [document_text(work.passages[key]) for key in keys]
            return [[keys[i] for i in run] for run in batches(texts, self._batch, self._batch_tokens)]

        return await asyncio.to_thread(split)

    async def _round(self, work: _Work, runs: Sequence[Sequence[str]]) -> None:
        limit = asyncio.Semaphore(self._parallel)

        async def one(run: Sequence[str]) -> None:
            async with limit:
                await self._ask(work, run)

        try:
            async with asyncio.TaskGroup() as group:
                for run in runs:
                    group.create_task(one(run))
        except BaseExceptionGroup as failed:
            error = failed.exceptions[0]
            raise error from error.__cause__

    async def _ask(self, work: _Work, run: Sequence[str]) -> None:
        """Make one call. What goes wrong with it is kept in `work`, for the others are worth having."""
        texts = [document_text(work.passages[key]) for key in run]
        system, user = grade_prompt(self._style, work.question, texts, self._marker())
        try:
            reply = await self._model.complete(
                system, user, purpose="grade", max_tokens=self._room(texts), schema=grade_schema(self._style, len(run))
            )
        except ServiceError as error:
            work.lacks(run, "the model did not answer", str(error))
        except BudgetSpent as error:
            work.spare(run, str(error))
        except ContentFiltered:
            work.refuse(run, "the model service's content filter")
        except PromptBlocked as error:
            if error.unavailable:
                raise
            work.refuse(run, f"the prompt screen{f' ({error.rule})' if error.rule else ''}")
        else:
            said = read_reply(reply.text, len(run), self._style)
            work.lacks(run, _NO_GRADE)
            for place, key in enumerate(run, 1):
                if place in said:
                    work.graded[key] = self._remember(key, self._grade(said[place], work.passages[key]))

    def _room(self, texts: Sequence[str]) -> int:
        repeated = sum(map(count_tokens, texts)) if self._style == "confidence" else 0
        return _ROOM + _REPLY_TOKENS[self._style] * len(texts) + 2 * repeated

    def _grade(self, said: Said, passage: Passage) -> Grade:
        extract = locate(said.extract, passage.text) if said.extract is not None else None
        score, label, binary = self._scale(said.value)
        why = f"model-stated {_WHAT[self._style]} {said.value if isinstance(said.value, str) else f'{said.value:g}'}"
        why += f": {said.justification}" if said.justification else ""
        why += "; its extract is not in the passage" if said.extract is not None and extract is None else ""
        return Grade(passage.chunk_id, score, label, binary, extract, why)

    def _scale(self, value: Value) -> tuple[float, Label, Literal["yes", "no"]]:
        if isinstance(value, float):
            return value, label_of(value), binary_of(value)
        if value in ("yes", "no"):
            return (1.0, "Perfect", "yes") if value == "yes" else (0.0, "Awful", "no")
        label = LABEL_NAMES[value.lower()]
        return self._labels[label], label, binary_of(self._labels[label])

    async def _assembled(self, question: str, passages: Sequence[Passage], keys: Sequence[str], work: _Work) -> Grading:
        """The model's grades under each passage's own id, and the fallback's for what it left out."""
        missing = work.missing(keys)
        second = await self._second(question, passages) if missing else [None] * len(passages)
        grades = tuple(
            replace(work.graded[key], chunk_id=passage.chunk_id)
            if key in work.graded
            else self._substitute(passage, other, work, key)
            for key, passage, other in zip(keys, passages, second, strict=True)
        )
        unread = [key for key in missing if key not in work.unasked]
        if unread:
            by = f"graded by {self._fallback.name}" if self._fallback is not None else "counted as 0"
            work.notes.append(f"{len(unread)} of {len(passages)} passages without a grade of {self.name}, {by}")
        return Grading("graded", grades, "; ".join(work.notes) or None)

    async def _second(self, question: str, passages: Sequence[Passage]) -> Sequence[Grade | None]:
        """The fallback's grades of all passages, for it weighs words by how many passages hold them."""
        if self._fallback is not None:
            grading = await self._fallback.grade(question, passages)
            if grading.status == "graded":
                return grading.grades
        return [None] * len(passages)

    def _substitute(self, passage: Passage, other: Grade | None, work: _Work, key: str) -> Grade:
        """A grade that is not the model's. One that was not asked about does not outrank those that made it needless."""
        why = work.why[key]
        if other is None or self._fallback is None:
            return Grade(passage.chunk_id, 0.0, label_of(0.0), binary_of(0.0), None, f"{why}; counted as 0")
        score = min(other.score, self._certain_at) if key in work.unasked and self._certain_at else other.score
        kept = (
            other
            if score == other.score
            else replace(other, score=score, label=label_of(score), binary=binary_of(score))
        )
        return replace(kept, justification=f"{why}; {self._fallback.name}: {other.justification}")

    def _key(self, question: str, passage: Passage) -> str:
        parts = (self.name, question, passage.title, passage.locator or "", passage.text)
        return hashlib.sha256("\x00".join(parts).encode("utf-8", "surrogatepass")).hexdigest()

    def _remembered(self, keys: Sequence[str]) -> dict[str, Grade]:
        known = {key: self._known[key] for key in keys if key in self._known}
        for key in known:
            self._known.move_to_end(key)
        return known

    def _remember(self, key: str, grade: Grade) -> Grade:
        self._known[key] = grade
        self._known.move_to_end(key)
        while len(self._known) > self._most:
            self._known.popitem(last=False)
        return grade


def _flat(runs: Sequence[Sequence[str]]) -> list[str]:
    return [key for run in runs for key in run]


def _ungraded(name: str, passages: Sequence[Passage], keys: Sequence[str], work: _Work) -> Grading:
    """Scores of 0 throughout, so that the order of retrieval stands wherever grades are sorted."""
    grades = tuple(
        Grade(passage.chunk_id, 0.0, label_of(0.0), binary_of(0.0), None, f"ungraded: {work.why[key]}")
        for passage, key in zip(passages, keys, strict=True)
    )
    said = f"{name} graded none of {len(passages)} passages"
    return Grading("ungraded", grades, "; ".join([said, *work.notes]))
