"""Lenient extraction of JSON from model replies: inside code fences, between prose, with trailing commas, or cut off in the middle."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

MOST_CHARACTERS = 200_000
"""Of a reply; what goes beyond is not read."""
_MOST_FAILURES = 40
"""Brackets at which no value begins; each costs a pass over the text."""
_TRAILING = re.compile(r'"(?:[^"\\]|\\.)*+"|,(?=\s*[}\]])', re.DOTALL)
_OPENS = re.compile(r"[{\[]")
_DECODER = json.JSONDecoder(strict=False)


def json_values(text: str) -> Iterator[object]:
    """All JSON objects and lists in `text`, outermost first found. Where one is cut off or broken, the whole values inside it are returned."""
    text = _TRAILING.sub(lambda m: "" if m.group() == "," else m.group(), text[:MOST_CHARACTERS])
    at = failures = 0
    while failures < _MOST_FAILURES and (opening := _OPENS.search(text, at)):
        try:
            value, at = _DECODER.raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            at = opening.end()
            failures += 1
        else:
            yield value
