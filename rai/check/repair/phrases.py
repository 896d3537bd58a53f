"""A value of a source put in the place of another so that the sentence still reads: figure, unit, number, article, capitals."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from grounding.text import body_start
from rai.claims.found import Found

_DIGITS = re.compile(r"\d[\d.,'\u00a0\u202f ]*\d|\d")
_FIGURES = re.compile(r"\d+(?:[.,]\d+)*")
_TOKEN = re.compile(r"([^\s-]+)([\s\u00a0-]+)(.+)", re.DOTALL)
_WORD = re.compile(r"[^\W\d_]+")
_AGREES = frozenset(
    "is are was were has have does do this that these those every each another both all many few several other per".split()
)
_ARTICLE = re.compile(r"(?<![\w'’])(an?)([ \u00a0\"'(]{1,2})$", re.IGNORECASE)
_VOWEL_FIGURE = re.compile(r"[^\w]*(?:8|1[18](?:\D|$)|1[18],\d{3}\b)")
_LOWERED = frozenset({"number", "quantity", "percent"})
_NEIGHBOURS = 3


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A change of the answer: `answer[start:end]` becomes `text`. The value itself then stands at `[at:at + len(value)]` of the new answer."""

    start: int
    end: int
    text: str
    at: int
    value: str


def rewritten(answer: str, mine: Found, source: str, theirs: Found, span: tuple[int, int]) -> Rewrite | None:
    """The change that writes the value `source[span]`, read as `theirs`, in place of `mine` in `answer`; None if it would not read well."""
    was = answer[mine.start : mine.end]
    now = _shaped(was, mine, source[span[0] : span[1]], theirs)
    if now is None or _part_of_more(answer, mine):
        return None
    now = _cased(answer, mine, now)
    end, following = mine.end, ""
    if _is_one(mine) is not _is_one(theirs):
        noun = (mine.end, "") if mine.kind == "quantity" else _noun(answer, mine.end, source, span[1])
        if noun is None or _agrees(answer, mine.start, noun[0]):
            return None
        end, following = noun
    article = _ARTICLE.search(answer, max(0, mine.start - 6), mine.start)
    if article is None:
        return Rewrite(mine.start, end, now + following, mine.start, now)
    fit = _article(article[1], now) + article[2]
    return Rewrite(article.start(), end, fit + now + following, article.start() + len(fit), now)


def _shaped(was: str, mine: Found, now: str, theirs: Found) -> str | None:
    """The source's characters, with the unit of the answer where the source writes it elsewhere or joins it otherwise."""
    if mine.kind != theirs.kind and not (theirs.kind == "number" and mine.kind in ("money", "quantity", "percent")):
        return None
    if mine.kind == "date" and _precision(mine.value) != _precision(theirs.value):
        return None
    if mine.kind == "url" and "://" not in was:
        return re.sub(r"^[a-z]+://", "", now, flags=re.IGNORECASE)
    if mine.kind == "quantity" and len(_FIGURES.findall(now)) > len(_FIGURES.findall(was)):
        return None  # 3 hours 15 minutes for the 15 minutes of "3 hours 15 minutes"
    bare = theirs.kind == "number" and mine.kind != "number"
    if not bare and (mine.kind != "quantity" or _hyphened(was) == _hyphened(now)):
        return now
    return _figure(was, now, one=_is_one(mine) is _is_one(theirs) or _hyphened(was))


def _figure(was: str, now: str, *, one: bool) -> str | None:
    """The value `was` with the figure of `now`; None where the unit would have to change its number with it."""
    if not one:
        return None
    mine, theirs = _DIGITS.search(was), _DIGITS.search(now)
    if mine and theirs:
        return was[: mine.start()] + theirs.group() + was[mine.end() :]
    unit, figure = _TOKEN.fullmatch(was), _TOKEN.fullmatch(now)
    return f"{figure[1]}{unit[2]}{unit[3]}" if unit and figure else None


def _hyphened(text: str) -> bool:
    return bool(re.match(r"[^\s-]+-[^\W\d_]", text))


def _precision(value: str) -> tuple[Literal[True, False], ...]:
    """Which parts of a date are said: of a day and month those, of a year that."""
    return tuple(part.isdigit() for part in value.split("-"))


def _is_one(found: Found) -> bool:
    return found.kind in ("number", "quantity") and found.value.partition(" ")[0] == "1"


def _noun(answer: str, at: int, source: str, end: int) -> tuple[int, str] | None:
    """Where the noun after a bare number ends in the answer, and that noun in the number that the source gives it."""
    own, their = _WORD.match(answer, at + 1), _WORD.match(source, end + 1)
    if own is None or their is None or own.group().rstrip("s").lower() != their.group().rstrip("s").lower():
        return None
    return own.end(), answer[at : own.start()] + their.group().lower()


def _agrees(answer: str, start: int, end: int) -> bool:
    """True if a word close by shows number and would have to change with it: is, are, these."""
    line = answer[answer.rfind("\n", 0, start) + 1 : start]
    before = [m.group().lower() for m in _WORD.finditer(line)][-2:]
    after = [m.group().lower() for m in _WORD.finditer(answer, end, end + 40)][:_NEIGHBOURS]
    return not _AGREES.isdisjoint({*before, *after})


def _part_of_more(answer: str, mine: Found) -> bool:
    """True within a citation mark, whose number names evidence, and of digits that go on before or after (0117 496 0818)."""
    before, after = answer[max(0, mine.start - 8) : mine.start], answer[mine.end : mine.end + 2]
    if mine.kind != "number":
        return False
    mark = re.search(r"\[[\d, ]*$", before) and after[:1] in ("]", ",")
    return bool(mark or re.search(r"\d[ \u00a0/.-]$", before) or re.match(r"[ \u00a0/.-]\d", after))


def _cased(answer: str, mine: Found, now: str) -> str:
    line = answer[answer.rfind("\n", 0, mine.start) + 1 : mine.start]
    opens = not line[body_start(line) :].strip(" *_\"'“(") or bool(re.search(r"[.!?][\"'”)*]*\s+$", line))
    if opens and now[:1].islower() and mine.kind not in ("url", "email"):
        return now[:1].upper() + now[1:]
    if not opens and mine.kind in _LOWERED and now[:1].isupper() and now[1:2].islower():
        return now[:1].lower() + now[1:]
    return now


def _article(was: str, now: str) -> str:
    """The article as `now` is spoken: an 8-day, an 11th, an 18, an eight-hour, a 14-day."""
    vowel = bool(_VOWEL_FIGURE.match(now)) if re.match(r"\W*\d", now) else now[:1].lower() in "aeio"
    article = "an" if vowel else "a"
    return article.capitalize() if was[:1].isupper() else article
