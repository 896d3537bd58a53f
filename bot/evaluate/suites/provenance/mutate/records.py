"""A supported answer, the values in it, and what becomes of it when one is changed."""

from __future__ import annotations

from dataclasses import dataclass

from bot.evaluate.rows import kept_aside
from rai.records import Source

KINDS = ("digit", "sibling", "plan", "date", "unit", "name", "name_of_source", "phone", "host", "negation")
"""Kinds of mutation, in the order in which they are reported."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A value of known role: `answer[start:end]`.

    `kind`: money, quantity, percent, number, time, date, weekday, phone, url, email, person, doctor, organisation,
    product, code, address. `siblings`: what stands in the same column for other subjects, written the same way.
    `prose`: the page tells it in sentences, not in a table.
    """

    kind: str
    start: int
    end: int
    siblings: tuple[str, ...] = ()
    prose: bool = False


@dataclass(frozen=True, slots=True)
class Supported:
    """An answer that its sources support. `origin`: where it comes from; `form`: how it was made, for reading errors.

    `slots` of a generated answer are known; those of a collected one are looked for by `surfaces`.
    """

    id: str
    answer: str
    sources: tuple[Source, ...]
    question: str | None
    given: tuple[str, ...]
    origin: str
    form: str = ""
    slots: tuple[Slot, ...] = ()

    @property
    def kept_aside(self) -> bool:
        """True for a third of the documents, told by the text of the first source."""
        return bool(self.sources) and kept_aside(self.sources[0].text)

    @property
    def texts(self) -> tuple[str, ...]:
        """Everything that the answer may lean on."""
        told = [part for source in self.sources for part in (source.title, source.text)]
        return (*told, self.question or "", *self.given)


@dataclass(frozen=True, slots=True)
class Edit:
    """`answer[start:end]` becomes `now`. `value`: kind of the value; `how`: which way of the kind of mutation."""

    kind: str
    value: str
    start: int
    end: int
    now: str
    how: str = ""


@dataclass(frozen=True, slots=True)
class Mutant:
    """`supported` after `edit`: `answer[start:end]` is what is wrong in it."""

    id: str
    supported: Supported
    edit: Edit

    @property
    def answer(self) -> str:
        before = self.supported.answer
        return before[: self.edit.start] + self.edit.now + before[self.edit.end :]

    @property
    def span(self) -> tuple[int, int]:
        """Where the change stands; at least one character, so that a removal overlaps its sentence."""
        end = self.edit.start + len(self.edit.now)
        return self.edit.start, max(end, self.edit.start + 1)
