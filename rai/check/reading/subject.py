"""The subject of a value, as a title, a heading or the key of a row says it: the same in two versions of one document."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from grounding.text import caseless, stem, terms
from rai.check.reading.role_words import role_terms
from rai.check.reading.sources import Place
from rai.claims.find import find_values

NEUTRAL = frozenset(
    stem(word)
    for word in (
        "page list guide faq faqs overview information info document documentation doc docs handbook manual policy policies summary "
        "official current currently new newest latest updated update revised revision effective version edition draft final copy "
        "archive archived old older previous now today please note also still simply always usually details detail terms conditions "
        "general our frequently asked questions question answers help centre center sheet pdf html docx"
    ).split()
)
"""Words that say nothing of what a text is about."""

_VERSION = re.compile(
    r"\b(?:v|ver\.?|version|rev\.?|revision|edition|release) ?\d+(?:\.\d+)*\b|\b(?:19|20)\d{2}\b|\bq[1-4]\b",
    re.IGNORECASE,
)
_LOOK_BACK = 4000
_CUT = re.compile(r" \| |\t")
_EDGES = " |\t"


@lru_cache(maxsize=2048)
def spoken_of(title: str) -> frozenset[str]:
    """The words of a title without dates, versions and those that are `NEUTRAL`; numbers stay: Camera 2 is not Camera 3."""
    plain = title
    for value in find_values(title):
        if value.kind == "date":
            plain = plain[: value.start] + " " * (value.end - value.start) + plain[value.end :]
    plain = _VERSION.sub(" ", plain)
    return (role_terms(plain) | {t for t in terms(plain) if t[0].isdigit()}) - NEUTRAL


def heading_of(place: Place) -> str:
    """The line with a heading sign, or the short line that ends in a colon, which a value stands below; "" if there is none near."""
    text = place.text()
    above = text[max(0, place.unit.start - _LOOK_BACK) : place.unit.start]
    for line in reversed(above.split("\n")):
        stripped = line.strip()
        if stripped.startswith("#") or (stripped.endswith(":") and 0 < len(stripped) <= 80):
            return stripped.strip("# :")
    return ""


@dataclass(frozen=True, slots=True)
class RowSubject:
    """The key of a value's row, the label of its column, and its other cells that hold no amount, by label."""

    key: str
    column: str
    rest: dict[str, str]


def key_and_cells(place: Place) -> RowSubject | None:
    """The parts of a value's row that say what it is; None for the key itself, and in a table without labels and heading."""
    row = place.text()[place.unit.start : place.unit.end]
    cells = _CUT.split(row.strip(_EDGES))
    lead = len(row) - len(row.lstrip(_EDGES))
    at = len(_CUT.findall(row[lead : place.found.start - place.unit.start]))
    heads = _CUT.split(place.unit.header.strip(_EDGES))
    labelled = ": " in cells[0]
    if at == 0 or at >= len(cells) or not (labelled or (len(heads) == len(cells) and place.unit.header != row)):
        return None
    named = [c.partition(": ")[::2] for c in cells] if labelled else [(h, c) for h, c in zip(heads, cells, strict=True)]
    rest = {
        caseless(n).strip(): caseless(c).strip()
        for i, (n, c) in enumerate(named)
        if i not in (0, at) and not _amount(c)
    }
    key = f"{named[0][0]} {named[0][1]}"
    return RowSubject(caseless(key).strip(), caseless(named[at][0]).strip(), rest)


def _amount(cell: str) -> bool:
    """True if a cell holds a value that two versions of a row may have otherwise; a year or a bare number may be its key."""
    return any(v.kind in ("money", "quantity", "percent", "phone", "time", "url", "email") for v in find_values(cell))
