"""The places of names and identifiers in texts: looked up by their characters, whatever names the finders read there."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal

from rai.check.reading.sources import Prepared, caseless_field
from rai.claims.found import Found
from rai.claims.names.name_words import SPELT_OUT
from rai.records import EvidenceSpan

_FIELDS: tuple[Literal["text", "title"], ...] = ("text", "title")
_GAP = r"[\s-]{1,4}"


@lru_cache(maxsize=4096)
def _pattern(value: str, entity: str | None) -> re.Pattern[str]:
    if entity == "code":
        return _code_pattern(value)
    if _is_acronym(value):
        # a short one stands in capitals, with or without dots: US is not the word "us"
        return re.compile(r"(?<![\w.])" + r"\.?".join(value) + r"(?!\w)")
    joined = _GAP.join(_either(p) for p in re.split(r"[\s-]+", value.lower()) if p)
    return re.compile(rf"(?<!\w){joined}(?:'?s)?(?!\w|[.,]\d)")


def _code_pattern(value: str) -> re.Pattern[str]:
    if value.startswith("-"):
        return re.compile(r"(?<![\w-])-{1,2}" + re.escape(value[1:]) + r"(?![\w-])")
    joined = r"\s+".join(re.escape(p) for p in value.split())
    # 354-01 is not in 354-01-2, nor 2.3 in 2.3.1
    return re.compile(rf"(?<![\w])(?<![\w][-.]){joined}(?!\w|[-.]\w)")


def _is_acronym(value: str) -> bool:
    return value.isupper() and value.isalpha() and len(value) < 4


def _either(piece: str) -> str:
    if piece in ("and", "&"):
        return "(?:and|&)"
    other = SPELT_OUT.get(piece.rstrip("."))
    return rf"(?:{re.escape(piece)}|{other})\.?" if other else re.escape(piece)


def match_named(found: Found, sources: Iterable[Prepared]) -> tuple[EvidenceSpan, ...]:
    """The first place in each field of each source that names it, in the order of `sources`. A plural or possessive is the same name."""
    texts = tuple(sources)
    if found.entity != "code":
        return _first_places(_pattern(found.value, found.entity), texts, raw=_is_acronym(found.value))
    each = (_first_places(_pattern(form, "code"), texts, raw=False) for form in found.forms)
    return next((spans for spans in each if spans), ())


def match_around(words: tuple[str, ...], sources: Iterable[Prepared]) -> tuple[EvidenceSpan, ...]:
    """As `match_named`, for the words of a name in this order with at most one word or initial between two: Maria T. Lopez."""
    return _first_places(_around(words), sources, raw=False)


@lru_cache(maxsize=1024)
def _around(words: tuple[str, ...]) -> re.Pattern[str]:
    joined = rf"{_GAP}(?:[\w'’]{{1,20}}\.?{_GAP})?".join(_either(w) for w in words)
    return re.compile(rf"(?<!\w){joined}(?:'?s)?(?!\w|[.,]\d)")


def _first_places(pattern: re.Pattern[str], sources: Iterable[Prepared], *, raw: bool) -> tuple[EvidenceSpan, ...]:
    spans = []
    for prepared in sources:
        for field in _FIELDS:
            text = prepared.source.text if field == "text" else prepared.source.title
            match = pattern.search(text if raw else caseless_field(text))
            if match:
                spans.append(EvidenceSpan(prepared.source.id, field, *match.span(), text[slice(*match.span())]))
    return tuple(spans)


def in_given(found: Found, texts: Iterable[Prepared]) -> bool:
    """True if one of `texts`, which may be repeated without a source, names it."""
    return bool(match_named(found, texts))
