"""Placeholders for personal data: `[PERSON_1]` goes to the model, the name comes back in the answer.

One count runs through all kinds, so that a number alone says what is meant. A number that a prompt holds already, as
`[PERSON_1]` or anything like it, is not given out for that prompt: `restore(replace(x)) == x` for every text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import get_args

from rai.personal.known import Kind, Personal

_KIND = "|".join(get_args(Kind))
_LIKE = re.compile(rf"(?:{_KIND})[\s_\\*`-]{{0,6}}([0-9]+)", re.IGNORECASE)
_EXACT = re.compile(rf"\[({_KIND})_([0-9]{{1,6}})\]")
_MANGLED = re.compile(
    rf"\\?\[{{1,2}}[ \t*_`]{{0,2}}({_KIND})[ \t]?\\?[_ \t-]?[ \t]?([0-9]{{1,6}})[ \t*_`]{{0,2}}\\?\]{{1,2}}"
    rf"|[({{<【〔]{{1,2}}[ \t]?({_KIND})\\?[_-]([0-9]{{1,6}})[ \t]?[)}}>】〕]{{1,2}}"
    rf"|(?<!\w)({_KIND})\\?_([0-9]{{1,6}})(?!\w)",
    re.IGNORECASE,
)
_BARE = re.compile(rf"\\?\[({_KIND})\\?\]")


@dataclass(frozen=True, slots=True)
class Restored:
    """A completion with the personal data put back. `unknown`: how many placeholders stood for nothing and were taken out."""

    text: str
    unknown: int = 0


@dataclass(frozen=True, slots=True)
class PlaceholderKey:
    """What the placeholders of one prompt stand for, by number, and the way back.

    `literal`, `bare`: numbers and kinds ("[PERSON]") that the prompt's own text holds like placeholders; these stay as they are.
    """

    values: dict[int, tuple[Kind, str]]
    literal: frozenset[int] = frozenset()
    bare: frozenset[str] = frozenset()

    @property
    def counts(self) -> dict[str, int]:
        """How many placeholders there are of each kind, for the record, which holds no values."""
        return dict(Counter(kind for kind, _ in self.values.values()))

    def restore(self, text: str) -> Restored:
        """`text` with the value for every placeholder, also for one whose case, brackets or separators the model changed."""
        parts: list[str] = []
        last = unknown = 0
        for match in _EXACT.finditer(text):
            if (value := self._value(match[1], match[2])) is not None:
                rest, strange = self._tolerant(text[last : match.start()])
                parts += [rest, value]
                last, unknown = match.end(), unknown + strange
        rest, strange = self._tolerant(text[last:])
        return Restored("".join([*parts, rest]), unknown + strange)

    def _value(self, kind: str, number: str) -> str | None:
        given, value = self.values.get(int(number), (None, None))
        return value if given == kind.upper() else None

    def _tolerant(self, text: str) -> tuple[str, int]:
        unknown = 0

        def back(match: re.Match[str]) -> str:
            nonlocal unknown
            kind, number = (group for group in match.groups() if group is not None)
            if int(number) in self.literal:
                return match.group()
            value = self._value(kind, number)
            if value is not None:
                return value
            if not _EXACT.fullmatch(match.group()):
                return match.group()
            unknown += 1
            return ""

        def alone(match: re.Match[str]) -> str:
            nonlocal unknown
            if match[1] in self.bare:
                return match.group()
            values = [value for kind, value in self.values.values() if kind == match[1]]
            unknown += len(values) != 1
            return values[0] if len(values) == 1 else ""

        pieces = []
        last = 0
        for match in _MANGLED.finditer(text):  # what is put back is not read again
            pieces += [_BARE.sub(alone, text[last : match.start()]), back(match)]
            last = match.end()
        return "".join([*pieces, _BARE.sub(alone, text[last:])]), unknown


@dataclass(slots=True)
class Pseudonyms:
    """The placeholders of one turn: the same value has the same one in every prompt that does not use it otherwise."""

    _numbers: dict[tuple[Kind, str], int] = field(default_factory=dict)
    _last: int = 0

    def replace(
        self, texts: Sequence[str], find: Callable[[str], Sequence[Personal]]
    ) -> tuple[list[str], PlaceholderKey]:
        """The `texts` of one prompt with placeholders for what `find` finds in them (ascending, not overlapping), and the way back."""
        cut = [_cut(text, find(text)) for text in texts]
        kept = [piece for pieces in cut for piece in pieces if isinstance(piece, str)]
        literal = frozenset(int(m[1]) for piece in kept for m in _LIKE.finditer(piece) if len(m[1]) < 10)
        bare = frozenset(m[1] for piece in kept for m in _BARE.finditer(piece))
        values: dict[int, tuple[Kind, str]] = {}

        def written(piece: str | Personal) -> str:
            if isinstance(piece, str):
                return piece
            number = self._number(piece, literal)
            values[number] = (piece.kind, piece.value)
            return f"[{piece.kind}_{number}]"

        return ["".join(map(written, pieces)) for pieces in cut], PlaceholderKey(values, literal, bare)

    def _number(self, personal: Personal, literal: frozenset[int]) -> int:
        value = (personal.kind, personal.value)
        if self._numbers.get(value, 0) in literal | {0}:
            self._last += 1
            while self._last in literal:
                self._last += 1
            self._numbers[value] = self._last
        return self._numbers[value]


def _cut(text: str, found: Sequence[Personal]) -> list[str | Personal]:
    pieces: list[str | Personal] = []
    last = 0
    for personal in found:
        pieces += [text[last : personal.start], personal]
        last = personal.end
    return [*pieces, text[last:]]
