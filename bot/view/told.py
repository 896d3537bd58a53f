"""The values of a text as a person is told them: each once, whole, and called what it is where it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from grounding.quoting.blocks import cells
from grounding.text import BAR, STOP_WORDS
from rai.records import SUPPORTED, Claim
from rai.screening.languages import common_words, language


@dataclass(frozen=True, slots=True)
class Told:
    """A value with what it is called by itself: `Wren X2`, `Germany: €235.00`, `5 cameras`, `3 to 5 working days`. `doubt`: what is said of one that stands in a
    source and is to be looked at all the same.
    """

    claim: Claim
    title: str
    doubt: str = ""


_NAMED = re.compile(r"[^\s.!?:|] [^\W\d_a-z][\w-]*[ -]$|\b\w[\w-]*[A-Z][\w-]*[ -]$")
"""A word with a capital letter that does not begin a sentence or a cell, or with one within it."""
_LONGEST_NAME = 40
_BETWEEN = re.compile(r"[ \xa0]?(?:-|–|×|to|until|bis|à|a|al|tot)[ \xa0]?", re.IGNORECASE)
"""What stands between the ends of a span."""
_ENDS = frozenset({"number", "quantity", "money", "percent", "time", "date"})
_BEFORE = re.compile(r"(?<![\w-])[^\W\d_a-z][^\W_]*[ -]$")
"""A word with a capital letter before a model's number."""
_MODEL = re.compile(r"[ -][A-Z]{1,4}\d[\w-]*")
"""A model's number behind a name."""
_BEHIND = re.compile(r"[ \xa0]([^\W\d_][\w’'-]*)(?:[ ]([^\W\d_][\w’'-]*))?")
_NOT_COUNTED = frozenset({"per", "must", "may", "shall"})
_BULLET = re.compile(r"^\s*(?:[-*+•]|\d{1,2}[.)])\s+")
_LONGEST_HEADER = 40


def told_values(claims: Sequence[Claim], text: str) -> list[Told]:
    """The values: what is said twice once, pieces of a name and ends of a span together under what was found of the worst of them, and of what is supported neither
    a number within a name (the 7 of Wi-Fi 7), nor the column of a value, which that value is told with, nor a German noun, which only its capital letter makes look like a name.
    """
    values = sorted((c for c in claims if c.kind != "statement"), key=lambda c: (c.start, c.end))
    names = [c for c in values if c.kind == "entity"]
    code = language(text)
    small = STOP_WORDS | common_words(code)
    once: dict[tuple[object, ...], Told] = {}
    for group in _together(values, text):
        title = _title(group, text, small)
        unsure = [c for c in group if not _is_sure(c)]
        if not unsure and (_is_part(group, names, values, text) or (code == "de" and _is_noun(group, title))):
            continue
        for c in unsure or group[-1:]:
            place = "" if c.kind == "entity" else c.evidence[0].source if c.evidence else ""
            once.setdefault((title, c.text if unsure else "", c.status, c.trust, place), Told(c, title))
    return list(once.values())


def value_title(claim: Claim, text: str) -> str:
    """What a value is called where it stands in a text."""
    return _title([claim], text, STOP_WORDS | common_words(language(text)))


def _is_sure(claim: Claim) -> bool:
    return claim.status in SUPPORTED and claim.trust is None


def _together(values: Sequence[Claim], text: str) -> Iterator[list[Claim]]:
    """The values, those of one name and the ends of one span together."""
    group = list(values[:1])
    for before, after in pairwise(values):
        between = text[before.end : after.start]
        named = before.kind == after.kind == "entity" and between in ("", " ", "-")
        spans = before.kind in _ENDS and after.kind in _ENDS and _BETWEEN.fullmatch(between) is not None
        if (named or spans) and before.end <= after.start:
            group.append(after)
        else:
            yield group
            group = [after]
    if group:
        yield group


def _is_part(group: Sequence[Claim], names: Sequence[Claim], values: Sequence[Claim], text: str) -> bool:
    """Whether a value is told with another one: a number with the name that it is within, a column with the value below it."""
    if group[0].kind == "number" and len(group) == 1 and _within_name(group[0], names, text):
        return True
    cell = _cell(group[0].start, text)
    return (
        cell is not None
        and group[-1].end <= cell.start + len(cell.header)
        and any(cell.start + len(cell.header) < v.start < cell.end for v in values)
    )


def _is_noun(group: Sequence[Claim], title: str) -> bool:
    """Whether a name of a German text is a single word as any noun is."""
    [name, *more] = group
    return not more and name.kind == "entity" and name.text.isalpha() and name.text.istitle() and title == name.text


def _title(group: Sequence[Claim], text: str, small: frozenset[str]) -> str:
    start, end = group[0].start, group[-1].end
    said = text[start:end] if len(group) > 1 else group[0].text
    if group[0].kind == "entity":
        return _whole_name(said, text[max(0, start - _LONGEST_NAME) : start], text[end : end + _LONGEST_NAME], small)
    if group[-1].kind == "number":
        said += _what_is_counted(text[end : end + 2 * _LONGEST_NAME], small)
    cell = _cell(start, text)
    if cell is None or not cell.header or start < cell.start + len(cell.header):
        return said
    header = _BULLET.sub("", cell.header)
    return f"{header}: {said}" if len(header) <= _LONGEST_HEADER else said


def _whole_name(name: str, before: str, behind: str, small: frozenset[str]) -> str:
    """A name with the word or the number of a model beside it that the check read apart from it."""
    is_model = any(c.isdigit() for c in name)
    word = _BEFORE.search(before) if is_model else None
    model = None if is_model else _MODEL.match(behind)
    first = word.group() if word and word.group().rstrip(" -").lower() not in small else ""
    return f"{first}{name}{model.group() if model else ''}"


def _what_is_counted(behind: str, small: frozenset[str]) -> str:
    """The one or two words behind a number, as far as they say what there are so many of."""
    found = _BEHIND.match(behind)
    words = [word for word in found.groups() if word] if found else []
    kept = next((i for i, word in enumerate(words) if word.lower() in small or word in _NOT_COUNTED), len(words))
    return "".join(f" {word}" for word in words[:kept])


@dataclass(frozen=True, slots=True)
class _Cell:
    """A cell of a row: its column, and where it stands in the whole text."""

    header: str
    start: int
    end: int


def _cell(at: int, text: str) -> _Cell | None:
    """The cell of a row that holds a place; None where the line is no row."""
    begin, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
    line = text[begin : end if end >= 0 else len(text)]
    if BAR not in line:
        return None
    held = next((c for c in cells(line) if c.span.start <= at - begin < c.span.end), None)
    return _Cell(held.header, begin + held.span.start, begin + held.span.end) if held else None


def _within_name(number: Claim, names: Sequence[Claim], text: str) -> bool:
    """Whether a number belongs to the name before it."""
    beside = any(n.end <= number.start <= n.end + 1 and text[n.end : number.start] in (" ", "-", "") for n in names)
    return beside or _NAMED.search(text[max(0, number.start - _LONGEST_NAME) : number.start]) is not None
