"""The comparison of two documents by age: by when they were changed, by a date or year in their titles, or by their versions."""

from __future__ import annotations

import re

from rai.check.reading.sources import Prepared
from rai.claims.find import find_values
from rai.records import Source

_YEAR = re.compile(r"(?<![\w.-])(?:19|20)\d{2}(?![\w-]|\.\d)")
_VERSION = re.compile(
    r"\b(?:v|ver\.?|version|rev\.?|revision|edition|release) ?(\d{1,6}(?:\.\d{1,6}){0,4})\b", re.IGNORECASE
)
_UPDATED = re.compile(
    r"\b(?:updated|revised|edited|effective|valid|as of|last change[d]?|last modified|published|stand|gültig|fassung|mis à jour|vigente)\b[^.\n]{0,20}$"
    r"|^(?:date|sent|datum|gesendet|fecha|data)\b[^.\n]{0,20}$",
    re.IGNORECASE | re.MULTILINE,
)
_LONGEST_TITLE = 120
"""Most characters of a first line that stands for the title of a text without one."""
_DATED = re.compile(r"\d{4}(?:-\d{2}(?:-\d{2})?)?")


def newer_of(first: Prepared, second: Prepared) -> Source | None:
    """The newer of two documents, or None if that is not known. Of two of which one has been replaced it is the other."""
    if bool(first.source.replaced_by) != bool(second.source.replaced_by):
        return second.source if first.source.replaced_by else first.source
    a, b = _date(first), _date(second)
    if a and b and a[: len(b)] != b[: len(a)]:
        return first.source if a > b else second.source
    if a or b:
        return None
    mine, theirs = _version(first.source.title), _version(second.source.title)
    if mine and theirs and mine != theirs:
        return first.source if mine > theirs else second.source
    return None


def _date(prepared: Prepared) -> str:
    """The date of a document in ISO 8601, as far as it is known: 2026-03-03, 2026; "" if nothing says."""
    source = prepared.source
    if source.updated:
        return source.updated
    title = source.title or _first_line(source.text)
    titled = [v.value for v in find_values(title) if v.kind == "date" and _DATED.fullmatch(v.value)]
    titled += _YEAR.findall(title) if not titled else []
    if titled:
        return max(titled)
    text = source.text
    said = [
        p.found.value
        for p in prepared.places
        if p.found.kind == "date"
        and p.unit.field == "text"
        and _DATED.fullmatch(p.found.value)
        and _UPDATED.search(text[max(0, p.found.start - 40) : p.found.start])
    ]
    return max(said, default="")


def _first_line(text: str) -> str:
    """The line that stands for the title of a text without one: the first of several, if it is short and no sentence."""
    line, _, more = text.strip("# \n").partition("\n")
    return line if more and len(line) <= _LONGEST_TITLE and not line.endswith((".", ":", "!", "?")) else ""


def _version(title: str) -> tuple[int, ...]:
    found = _VERSION.findall(title)
    return max((tuple(int(n) for n in v.split(".")) for v in found), default=())
