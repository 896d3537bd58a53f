"""Whether a repair took out of a draft what answered the question: what only stood beside it would be read as the answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bot.turn.draft.citations import markers, without_markers
from grounding.query.answer_kind import holds
from grounding.query.conversation import content
from grounding.quoting.blocks import cells
from grounding.quoting.coverage import coverage
from grounding.quoting.question_parts import Part, Reading
from grounding.text import BAR, sentences, terms

_OF_A_FORM = frozenset({"duration", "money", "percent", "phone", "email", "url"})
"""Kinds of values that are known by their form: where a text has none, it does not tell one. "9 to 17" is a time, and any digits may be a measure."""


KEPT = 0.4
"""Share of the terms of a step that what is made of it has at least; in its own words, it has the things and places."""
_STEP = re.compile(r"[ \t]*\d{1,2}[.)][ \t]+")
_NUMBER = re.compile(r"(?<![^\W\d_])\d+(?:[.,:]\d+){0,4}")


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
    kind that is asked for and something behind it has. "In businesses it is 12 months" is none to how long a customer's warranty is. Where every value of the kinds
    that are asked for is gone, so is the answer, whatever else is left: what a label costs is none to how long refunds take.

    Of several parts of a question the rest may answer one, and `coverage` tells what is missing.
    """
    lines = [units for line in draft.splitlines() if markers(line) and (units := _units(line))]
    if not lines:
        return False
    drafted = [unit for line in lines for unit in line]
    if all(_loses_its_values(part, drafted, repaired) for part in asked.parts):
        return True
    if len(asked.parts) > 1:
        return False
    part = asked.parts[0]
    of_the_kind = [unit for unit in drafted if unit.says(part)[0]]
    first = max(lines[0], key=lambda unit: unit.says(part))
    answering = first if first in of_the_kind or not of_the_kind else max(of_the_kind, key=lambda unit: unit.says(part))
    left = _left(drafted, [unit for line in repaired.splitlines() for unit in _units(line)])
    return answering not in left and all(unit.says(part) <= answering.says(part) for unit in left)


def lost_parts(asked: Reading, before: str, after: str, *, translated: bool) -> tuple[str, ...]:
    """The parts of a question that a text answers and another one that was made of it does not. `translated`: the other is in another language, in which only values
    tell. How something is done is lost with each of its steps.
    """
    units = [unit for line in before.splitlines() for unit in _units(line)]
    lost = [part.text for part in asked.parts if _loses_its_values(part, units, after)]
    if not translated:
        pairs = zip(coverage(asked, before), coverage(asked, after), strict=True)
        lost += [then.part for then, now in pairs if then.answered and not now.answered]
    if asked.form == "steps" and _loses_a_step(before, after, translated=translated):
        lost.append(" ".join(part.text for part in asked.parts))
    return tuple(dict.fromkeys(lost))


def _loses_a_step(before: str, after: str, *, translated: bool) -> bool:
    """Whether a text that tells how something is done has a step, or a value of one, that another one does not have: who waits no 10 seconds, or seeks no pin hole, does
    something else. Of a text in another language only numbers tell.
    """
    numbers, held = _numbers(after), frozenset(terms(without_markers(after)))
    pieces = [(_numbers(piece), frozenset(terms(piece))) for piece in _told_of_steps(before)]
    for n, (values, said) in enumerate(pieces):
        others = frozenset(term for at, (_, told) in enumerate(pieces) if at != n for term in told)
        own = said - others or said  # by what it has for itself: "tap the siren" stands in each step of the siren
        if values - numbers or (not translated and len(own & held) < KEPT * len(own)):
            return True
    return False


def is_step(line: str) -> bool:
    """Whether a line of an answer is a numbered step."""
    return _STEP.match(line) is not None


def _told_of_steps(text: str) -> list[str]:
    """What a procedure tells: its numbered lines; else of what is cited first the cells of rows behind what they are about, and the sentences that have a number."""
    lines = [without_markers(line) for line in text.splitlines() if markers(line)]
    if steps := [line[mark.end() :] for line in lines if (mark := _STEP.match(line))]:
        return steps
    first = next((markers(line)[0] for line in text.splitlines() if markers(line)), 0)
    cited = [without_markers(line) for line in text.splitlines() if first in markers(line)]
    told = [cell.span.text.removeprefix(f"{cell.header}:") for row in cited if BAR in row for cell in cells(row)[1:]]
    return told + [s.text for line in cited if BAR not in line for s in sentences(line) if _numbers(s.text)]


def _numbers(text: str) -> frozenset[str]:
    return frozenset(number.replace(",", ".") for number in _NUMBER.findall(without_markers(text)))


def _loses_its_values(part: Part, drafted: Sequence[_Unit], repaired: str) -> bool:
    """Whether a draft had values of the kind that a part of the question asks for, and the repaired text has none."""
    return (
        part.wants is not None
        and part.wants.name in _OF_A_FORM
        and any(holds(unit.text, part.wants) for unit in drafted)
        and not holds(without_markers(repaired), part.wants)
    )


def _left(drafted: list[_Unit], repaired: list[_Unit]) -> list[_Unit]:
    """The units of a draft that something in the repaired text is what is left of: of each the one that it is most like."""
    nearest = [max(drafted, key=unit.likeness) for unit in repaired]
    return [at for at, unit in zip(nearest, repaired, strict=True) if at.likeness(unit) > 0]


def _units(line: str) -> list[_Unit]:
    plain = without_markers(line)
    texts = [plain] if BAR in plain else [span.text for span in sentences(plain)]
    return [_Unit(text, told) for text in texts if (told := frozenset(terms(text)))]
