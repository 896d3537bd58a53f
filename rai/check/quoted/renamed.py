"""Names that an answer puts in the place of others in what it quotes: the source says it of somebody else.

Only where the whole name is other words (a longer, shorter or differently spelt form is no other name), where the source
has a name there too, and where nothing else that the sources say puts the answer's name to the same words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from grounding.text import STOP_WORDS
from rai.check.comparison.edit_distance import edit_distance
from rai.check.quoted.align import Alignment, Difference, Token, segments, tokens_of
from rai.claims.found import Found
from rai.records import Source

LEAST_SHARED = 3
"""Fewest content words that a sentence shares with the one it quotes before a name in it is held to that one's."""
_ALIKE = 4
"""Fewest letters that two words of one name begin with: Russia and Russian."""


def renamed(difference: Difference, mine: Sequence[Found], theirs: Sequence[Found]) -> tuple[Found, int, int] | None:
    """The name of the answer that stands where the source has other names, and the offsets where these begin and end; None if there is none.

    `mine`, `theirs`: values of the answer and of the source that the two sides of `difference` touch.
    """
    names = [v for v in mine if is_name(v)]
    others = [v for v in theirs if is_name(v)]
    here, there = _telling(difference.mine), _telling(difference.theirs)
    whole = (
        len(names) == 1 and _inside(names[0], difference.mine) and any(_inside(v, difference.theirs) for v in others)
    )
    parts = len(names) == 1 == len(others) and _within(here, names[0]) and _within(there, others[0])
    if not (whole or parts):
        return None
    if not here or not there or any(not t.text[0].isupper() for t in (*here, *there)):
        return None
    if _one_name(here, there):
        return None
    return names[0], others[0].start, others[-1].end


def is_told(name: Found, alignment: Alignment, texts: Sequence[Source]) -> bool:
    """True if the quoted unit has the name as often, or its title has it, or another unit has it with half of the sentence's other words."""
    own = {t.key for t in alignment.tokens if name.start < t.end and t.start < name.end}
    unit = alignment.segment
    said, has = Counter(t.key for t in alignment.tokens), Counter(t.key for t in unit.tokens)
    if own <= _title(unit.source) or all(said[key] <= has[key] for key in own):
        return True
    rest = {t.key for t in _telling(alignment.tokens)} - own
    if len(rest & {t.key for t in unit.tokens}) < LEAST_SHARED:
        return True
    return any(
        own <= (held := keys | _title(source)) and 2 * len(rest & held) >= len(rest)
        for source in texts
        for other, keys in segments(source)
        if source != unit.source or other.end <= unit.start or unit.end <= other.start
    )


def is_name(value: Found) -> bool:
    """True of a name of a person, an organisation or a thing, and not of a code or an address."""
    return value.kind == "entity" and value.entity not in ("code", "address")


def _inside(value: Found, tokens: Sequence[Token]) -> bool:
    return tokens[0].start <= value.start and value.end <= tokens[-1].end


def _within(tokens: Sequence[Token], value: Found) -> bool:
    return all(value.start < t.end and t.start < value.end for t in tokens)


def _telling(tokens: Sequence[Token]) -> tuple[Token, ...]:
    return tuple(t for t in tokens if t.text.lower() not in STOP_WORDS and len(t.text) > 1)


def _one_name(mine: Sequence[Token], theirs: Sequence[Token]) -> bool:
    """True if two names may be one: a word of one family or spelt otherwise, or the letters that the other's words begin with."""
    if any(a.key[:_ALIKE] == b.key[:_ALIKE] or _misspelt(a.key, b.key) for a in mine for b in theirs):
        return True
    return _stands_for(mine, theirs) or _stands_for(theirs, mine)


def _misspelt(one: str, other: str) -> bool:
    return min(len(one), len(other)) > _ALIKE and edit_distance(one, other, 1) <= 1


def _stands_for(letters: Sequence[Token], words: Sequence[Token]) -> bool:
    if len(letters) != 1 or not letters[0].text.isupper():
        return False
    initials = "".join(w.text[0] for w in words)
    return letters[0].text.startswith(initials) or initials.startswith(letters[0].text)


def _title(source: Source) -> frozenset[str]:
    return frozenset(t.key for t in tokens_of(source.title, 0, len(source.title)))
