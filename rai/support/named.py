"""Names and identifiers where they stand: looked up in the text itself, so that it need not find the same name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal

from rai.claims.found import Found
from rai.records import EvidenceSpan
from rai.support.sources import Prepared, caseless_field


@lru_cache(maxsize=4096)
def _pattern(value: str, entity: str | None) -> re.Pattern[str]:
    pieces = re.split(r"[\s-]+" if entity != "code" else r"\s+", value)
    joined = (r"[\s-]+" if entity != "code" else r"\s+").join(re.escape(p) for p in pieces if p)
    if entity == "code" and value.startswith("-"):
        return re.compile(r"(?<![\w-])-{1,2}" + re.escape(value[1:]) + r"(?![\w-])")
    if entity == "code":
        # 354-01 is not in 354-01-2, nor 2.3 in 2.3.1
        return re.compile(rf"(?<![\w])(?<![\w][-.]){joined}(?!\w|[-.]\w)")
    return re.compile(rf"(?<!\w){joined}(?!\w|[.,]\d)")


def match_named(found: Found, sources: Iterable[Prepared]) -> tuple[EvidenceSpan, ...]:
    """Where each source names it, first place per field, in the order of `sources`."""
    pattern = _pattern(found.value, found.entity)
    spans = []
    fields: tuple[Literal["text", "title"], ...] = ("text", "title")
    for prepared in sources:
        for field in fields:
            text = prepared.source.text if field == "text" else prepared.source.title
            match = pattern.search(caseless_field(text))
            if match:
                spans.append(EvidenceSpan(prepared.source.id, field, *match.span(), text[slice(*match.span())]))
    return tuple(spans)


def in_given(found: Found, texts: Iterable[Prepared]) -> bool:
    """True if a text that may be repeated names it."""
    return bool(match_named(found, texts))
