"""Surface forms of values (numbers, money, dates, phones, links) found in a text by plain patterns.

On purpose this shares nothing with the finders of the check: an instrument that read values as the check does could not
see what the check does not read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from grounding.tables import table

_TABLE: dict[str, list[str]] = table(__file__)
MONTHS, WEEKDAYS, UNITS = (tuple(_TABLE[name]) for name in ("months", "weekdays", "units"))

NUMBER = r"(?:\d{1,3}(?:,\d{3}){1,4}|\d{1,12})(?:\.\d{1,6})?"
_FREE = r"(?<![\w.,:/@#&=+~%°$€£\[(-])(?<!\d[–])"
_STOP = r"(?![\w²]|[.,:/@–-]\w|%)"
_MONTH = "|".join([*MONTHS, *(m[:3] + r"\.?" for m in MONTHS if m != "May"), r"Sept\.?"])
_UNIT = "|".join(re.escape(u) for u in sorted(UNITS, key=len, reverse=True))

_PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("email", re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{2,63}){1,4}(?!\w)")),
    (
        "url",
        re.compile(r"\bhttps?://[^\s<>\")\]|]{3,200}(?<![.,;:!?])|(?<![\w@/.-])www\.[^\s<>\")\]|]{3,200}(?<![.,;:!?])"),
    ),
    ("date", re.compile(rf"(?<![\w/-])\d{{1,2}}(?:st|nd|rd|th)? (?:of )?(?:{_MONTH})(?:,? \d{{4}})?(?!\w)")),
    ("date", re.compile(rf"(?<!\w)(?:{_MONTH}) \d{{1,2}}(?:st|nd|rd|th)?(?:, ?\d{{4}}|(?! ?\d))(?!\w)")),
    ("date", re.compile(r"(?<![\w/.-])\d{4}-\d{2}-\d{2}(?![\w/-])")),
    ("date", re.compile(rf"(?<!\w)(?:{'|'.join(WEEKDAYS)})(?!\w)")),
    ("date", re.compile(r"(?<=\b[Ii]n )(?:19|20)\d{2}(?![\w,.:/-]\d|[\w%-])")),
    ("time", re.compile(rf"{_FREE}\d{{1,2}}(?::\d{{2}})? ?[AaPp]\.?[Mm](?:\.|\b)|{_FREE}\d{{1,2}}:\d{{2}}(?![\w:-])")),
    ("phone", re.compile(r"(?<![\w.,/-])\+?\(?\d(?:[ ().-]{0,2}\d){6,14}(?![\w,:/-]|\.\d)")),
    (
        "money",
        re.compile(
            rf"(?<![\w.,])(?:US|C|A)?[$€£] ?{NUMBER}(?![\w]|[.,]\d)|{_FREE}{NUMBER} ?(?:€|(?:dollars|euros?|pounds|USD|EUR|GBP|CHF)\b)"
        ),
    ),
    ("percent", re.compile(rf"{_FREE}{NUMBER} ?(?:%|percent\b|per cent\b)")),
    ("quantity", re.compile(rf"{_FREE}{NUMBER}(?: |-)?(?:{_UNIT})(?![\w²/-])")),
    ("number", re.compile(rf"{_FREE}{NUMBER}{_STOP}")),
)
_TELLING = re.compile(rf"\d|@|www|http|{'|'.join(WEEKDAYS)}")
_MARKS = re.compile(
    r"\[\d{1,3}\]|^\s*\d{1,3}[.)]\s|^\s*\d{1,2}(?:\.\d{1,2}){1,3}\s|\b(?:step|page|figure|table|section|chapter) \d+",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Surface:
    """A value as it is written: `text[start:end]`."""

    kind: str
    start: int
    end: int
    text: str


@lru_cache(maxsize=8192)
def surfaces(text: str) -> tuple[Surface, ...]:
    """Values of `text` by start; of overlapping ones the earlier pattern wins; list, citation and step marks are none."""
    if not _TELLING.search(text):
        return ()
    taken = [m.span() for m in _MARKS.finditer(text)]
    found: list[Surface] = []
    for kind, pattern in _PATTERNS:
        for match in pattern.finditer(text):
            start, end = match.span()
            if all(end <= a or b <= start for a, b in taken):
                taken.append((start, end))
                found.append(Surface(kind, start, end, match.group()))
    return tuple(sorted(found, key=lambda s: s.start))


def digits_of(surface: Surface) -> list[int]:
    """Positions of digits within the surface's text."""
    return [i for i, c in enumerate(surface.text) if c.isdigit()]
