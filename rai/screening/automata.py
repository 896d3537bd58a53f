"""Patterns that are matched in time linear in the text, by the automata of RE2, which also give the interpreter free meanwhile.

The syntax is that of `re` without captures and back references; `()` marks where a hit begins. RE2 knows no assertions of
what stands around, (?=, (?!, (?<= and (?<!: they are taken out of the pattern, and the place where each stood is looked at
once a match is found. If one refuses it, the character before that place is blotted out and the match is looked for again.

A text is read as ASCII, sign by sign, so that offsets stay: the automata would be a hundred times larger with all letters of
Unicode. A letter of another script is read as "_", a digit as "0", any other sign as one that no pattern names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import re2

MEMORY = 16 << 20
"""Most bytes that one pattern and its states take; past it RE2 forgets states, and is slower. See docs/decisions/0012."""
_UNNAMED = "\x7f"
"""A sign that no pattern names."""
_ASSERTION = re.compile(r"\(\?<?[=!]")


@dataclass(frozen=True, slots=True)
class Hit:
    """A place where a pattern was found: `text[start:end]`, in code points. `start`: where `()` was passed in the pattern, else where the match begins."""

    start: int
    end: int


class Linear:
    """A compiled pattern that is matched in linear time. Raises ValueError if RE2 cannot read it."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        plain, groups = _apart(pattern)
        self._groups = tuple(re.compile(text) if text else None for text in groups)
        try:
            self._automaton = re2.compile(plain.encode("ascii", "replace"), _options())
        except re2.error as error:
            raise ValueError(f"RE2 cannot read {pattern[:60]!r}: {error}") from None

    def search(self, text: str) -> Hit | None:
        """The first place where the pattern is found."""
        return next(self.hits(as_ascii(text)), None)

    def hits(self, data: bytes) -> Iterator[Hit]:
        """Every place where the pattern is found in a text given by `as_ascii`, from left to right, none overlapping."""
        seen, at = bytearray(data), 0
        text = data.decode("ascii")
        while (match := self._automaton.search(bytes(seen) if seen != data else data, at)) is not None:
            refused = self._refused(match, text)
            if refused is None:
                yield Hit(self._begin(match), match.end())
                at = max(match.end(), match.start() + 1)
                continue
            at = match.start()
            blot = refused - 1 if refused > at else refused
            sign = _blotted(text[blot : blot + 1])
            if text[blot : blot + 1] in ("", sign) or seen[blot] == ord(sign):
                at += 1
            else:
                seen[blot] = ord(sign)

    def _refused(self, match: re2.Match, text: str) -> int | None:
        """The offset of the first assertion that does not hold, or None."""
        for number, assertion in enumerate(self._groups, 1):
            at: int = match.start(number)
            if assertion is not None and at >= 0 and assertion.match(text, at) is None:
                return at
        return None

    def _begin(self, match: re2.Match) -> int:
        marks: list[int] = [match.start(n) for n, assertion in enumerate(self._groups, 1) if assertion is None]
        return max([int(match.start()), *marks])


def as_ascii(text: str) -> bytes:
    """`text` with one ASCII sign for each of its characters, as patterns read it."""
    if not text.isascii():
        text = "".join(c if c.isascii() else _sign(c) for c in text)
    return text.encode("ascii")


def _sign(character: str) -> str:
    if character.isdecimal():
        return "0"
    if character.isspace():
        return " "
    return "_" if character.isalnum() else _UNNAMED


def _blotted(character: str) -> str:
    """The sign that blots another out: one that no pattern names, "_" for letters and digits, so that words still end where they did."""
    return "_" if character.isalnum() else _UNNAMED


def _options() -> re2.Options:
    options = re2.Options()
    options.max_mem = MEMORY
    options.log_errors = False
    options.encoding = re2.Options.Encoding.LATIN1
    return options


def _apart(pattern: str) -> tuple[str, list[str]]:
    """The pattern with `()` in place of each assertion, and what stood at each `()`: an assertion, or "" for a mark."""
    out, groups, at = [], list[str](), 0
    while at < len(pattern):
        end = at + (2 if pattern[at] == "\\" else 1)
        if pattern[at] == "[":
            end = _class_end(pattern, at)
        elif _ASSERTION.match(pattern, at):
            end = _group_end(pattern, at)
            groups.append(pattern[at:end])
            out.append("()")
            at = end
            continue
        elif pattern.startswith("()", at):
            groups.append("")
        out.append(pattern[at:end])
        at = end
    return "".join(out), groups


def _class_end(pattern: str, at: int) -> int:
    """Where the character class that begins at `at` ends."""
    at += 2 if pattern.startswith("[^", at) else 1
    first = at
    while pattern[at] != "]" or at == first:
        at += 2 if pattern[at] == "\\" else 1
    return at + 1


def _group_end(pattern: str, at: int) -> int:
    """Where the group that begins at `at` ends."""
    depth = 0
    while True:
        sign = pattern[at]
        depth += (sign == "(") - (sign == ")")
        at = _class_end(pattern, at) if sign == "[" else at + (2 if sign == "\\" else 1)
        if not depth:
            return at
