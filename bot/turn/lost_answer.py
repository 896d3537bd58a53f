"""Whether a repair took out of a draft what answered the question: what only stood beside it would be read as the answer."""

from __future__ import annotations

from dataclasses import dataclass

from bot.turn.citations import markers, without_markers
from grounding.query.answer_kind import holds
from grounding.query.conversation import content
from grounding.quoting.question_parts import Part, Reading
from grounding.text import BAR, sentences, terms


@dataclass(frozen=True, slots=True)
class _Unit:
    """A row, or a sentence of a line that is none, with its terms."""

    text: str
    terms: frozenset[str]

    def says(self, part: Part) -> tuple[bool, int]:
        """How much it says of a part of the question: whether it has a value of the kind that is asked for beside one of its words, and how many of them."""
        shared = len(self.terms & content(part.text))
        return bool(shared) and part.wants is not None and holds(self.text, part.wants), shared

    def likeness(self, other: _Unit) -> float:
        """Of their terms the share that both have, 0 to 1."""
        return len(self.terms & other.terms) / len(self.terms | other.terms)


def loses_the_answer(draft: str, repaired: str, asked: Reading) -> bool:
    """Whether what answered is gone, and nothing that is left says more of the question. What a draft cites first answers best, unless it has no value of the
    kind that is asked for and something behind it has. "In businesses it is 12 months" is none to how long a customer's warranty is.

    Of several parts of a question the rest may answer one, and `coverage` tells what is missing.
    """
    lines = [units for line in draft.splitlines() if markers(line) and (units := _units(line))]
    if not lines or len(asked.parts) > 1:
        return False
    part = asked.parts[0]
    drafted = [unit for line in lines for unit in line]
    of_the_kind = [unit for unit in drafted if unit.says(part)[0]]
    first = max(lines[0], key=lambda unit: unit.says(part))
    answering = first if first in of_the_kind or not of_the_kind else max(of_the_kind, key=lambda unit: unit.says(part))
    left = _left(drafted, [unit for line in repaired.splitlines() for unit in _units(line)])
    return answering not in left and all(unit.says(part) <= answering.says(part) for unit in left)


def _left(drafted: list[_Unit], repaired: list[_Unit]) -> list[_Unit]:
    """The units of a draft that something in the repaired text is what is left of: of each the one that it is most like."""
    nearest = [max(drafted, key=unit.likeness) for unit in repaired]
    return [at for at, unit in zip(nearest, repaired, strict=True) if at.likeness(unit) > 0]


def _units(line: str) -> list[_Unit]:
    plain = without_markers(line)
    texts = [plain] if BAR in plain else [span.text for span in sentences(plain)]
    return [_Unit(text, told) for text in texts if (told := frozenset(terms(text)))]
