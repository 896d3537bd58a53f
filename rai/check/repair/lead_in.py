"""Lead-ins that count what follows ("There are three ways:"), when not all of it stays."""

from __future__ import annotations

import re

_WORDS = "one two three four five six seven eight nine ten eleven twelve".split()
_NUMBER = {word: n for n, word in enumerate(_WORDS, 1)} | {"both": 2, "a couple of": 2}
_COUNT = re.compile(
    rf"(?P<before>\b(?:the|these|those|our|your|all|following)\s+)?(?<![\w.,$€£])(?P<count>\d{{1,2}}|{'|'.join(_NUMBER)})(?= )(?! ?%)",
    re.IGNORECASE,
)
_PLURAL = re.compile(r"\s(?:[^\W\d_]+(?:-[^\W\d_]+)?\s){0,2}?(?P<noun>[^\W\d_]{2,}s)\b")
_BEFORE = re.compile(r"\b(are|were)(?=\s*$)", re.IGNORECASE)
_AFTER = re.compile(r"(?<=\s)(are|were|have|include|cost|come)\b", re.IGNORECASE)
_ONE = {"are": "is", "were": "was", "have": "has", "include": "includes", "cost": "costs", "come": "comes"}


def without_count(text: str, was: int, left: int) -> str:
    """A lead-in without the count `was`, worded for `left` things; unchanged if it does not count them, "" if it cannot be worded.

    Not another count: whether there are fewer, or only fewer that a source confirms, is not known.
    """
    match = next((m for m in _COUNT.finditer(text) if _value(m["count"]) == was), None)
    if match is None:
        return text
    start, end = match.span()
    plural = _PLURAL.match(text, end)
    if plural is None:
        return ""
    before = (match["before"] or "").strip()
    if left == 1:
        head, noun, tail = text[:start], singular(plural["noun"]), text[plural.end() :]
        adjectives = text[end : plural.start("noun")]
        own = before.lower() if before.lower() in ("our", "your", "the") else ""
        subject = _BEFORE.search(head) is None and not head.strip()
        head, tail = _for_one(head, _BEFORE), _for_one(tail, _AFTER) if subject else tail
        return _cased(f"{head}{own or 'this'}{adjectives}{noun}{tail}", text)
    kept = before if before.lower() in ("our", "your", "the", "these", "those", "following") else "these"
    return _cased(f"{text[:start]}{kept}{text[end:]}", text)


def _value(count: str) -> int:
    return int(count) if count.isdigit() else _NUMBER[count.lower()]


def _for_one(text: str, verb: re.Pattern[str]) -> str:
    """A lead-in with the verb that belongs to the count in the singular."""
    return verb.sub(lambda m: _ONE[m[1].lower()], text, count=1)


def _cased(text: str, like: str) -> str:
    first = next((i for i, c in enumerate(text) if c.isalpha()), 0)
    was = next((c for c in like if c.isalpha()), "a")
    return text[:first] + text[first].upper() + text[first + 1 :] if was.isupper() and text else text


def singular(noun: str) -> str:
    """The singular of a regular English plural: ways, categories, boxes."""
    low = noun.lower()
    if low.endswith("ies") and len(noun) > 4:
        return noun[:-3] + "y"
    if re.search(r"(?:s|x|z|ch|sh)es$", low):
        return noun[:-2]
    return noun[:-1] if low.endswith("s") and not low.endswith("ss") else noun
