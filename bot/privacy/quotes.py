"""Words that stand again in later turns: the history of a turn quotes what was asked and answered before it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bot.privacy.facts import Facts, Place, object_of, text_of
from rai.records import Entry

Where = Place | str | tuple[str, str, str]
"""A conversation, a person, or the callers of a channel who are known in the same way."""
_GAPS = re.compile(r"\s+")
_MASK = "\N{FULL BLOCK}"
_LEAST = 12
"""Characters from which on a text is found inside another; a shorter one must be all of it."""


class Quoted:
    """What was asked and answered in turns that go, by conversation, or by person where there is none. Where there is neither, what was asked by whoever holds the same key: an
    answer is the same for all who ask for it.
    """

    def __init__(self) -> None:
        self._said: dict[Where, set[str]] = {}

    def add(self, entry: Entry, facts: Facts) -> None:
        """Takes in a turn that goes."""
        for where in _where(entry, facts):
            self._said.setdefault(where, set()).update(text for text in _own(entry, facts) if text)

    def stands_in(self, entry: Entry, facts: Facts) -> bool:
        """True if the history of a turn quotes one that goes. What is masked in either of the two is taken to be the same."""
        said = [text for where in _where(entry, facts) for text in self._said.get(where, ())]
        return any(_is_quoted(text, told) for told in _history(entry) for text in said) if said else False


def _where(entry: Entry, facts: Facts) -> Iterable[Where]:
    if facts.place is not None:
        return (facts.place,)
    ask, actor = object_of(entry.body.get("ask")), object_of(entry.body.get("actor"))
    key = (text_of(ask.get("channel")) or "", "", text_of(actor.get("authenticated_by")) or "")
    return facts.users or (key,)


def _own(entry: Entry, facts: Facts) -> list[str]:
    ask, reply = object_of(entry.body.get("ask")), object_of(entry.body.get("reply"))
    parts = (ask.get("question"), reply.get("answer") if facts.place or facts.users else None)
    return [_folded(part) for part in parts if isinstance(part, str)]


def _history(entry: Entry) -> list[str]:
    ask = entry.body.get("ask")
    turns = ask.get("history") if isinstance(ask, dict) else None
    texts = [turn.get("text") for turn in turns if isinstance(turn, dict)] if isinstance(turns, list) else []
    return [_folded(text) for text in texts if isinstance(text, str)]


def _folded(text: str) -> str:
    return _GAPS.sub(" ", text).strip().casefold()


def _is_quoted(said: str, told: str) -> bool:
    short, long = sorted((said, told), key=len)
    if _MASK not in short and _MASK not in long:
        return short in long if len(short) >= _LEAST else short == long
    if len(short) < _LEAST:
        return len(short) == len(long) and _alike(short, long)
    return any(_alike(short, long[at : at + len(short)]) for at in range(len(long) - len(short) + 1))


def _alike(one: str, other: str) -> bool:
    return all(a == b or _MASK in (a, b) for a, b in zip(one, other, strict=True))
