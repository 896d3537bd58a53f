"""Edits of words: a name replaced by another, a negation put in or taken out."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from functools import lru_cache

from bot.evaluate.suites.provenance.mutate import membership
from bot.evaluate.suites.provenance.mutate.records import Edit, Supported
from grounding.tables import table

_TITLE = r"[A-Z][a-z’'é]+|[A-Z]{2,}[A-Za-z]*"
_NAME = re.compile(
    rf"(?<![\w.'’-])(?:{_TITLE})(?:(?: (?:of|the|and|&|de|van|von)){{0,2}} (?:{_TITLE})){{1,4}}(?![\w-])"
)
_TABLE = table(__file__)
_NOT_NAMES = re.compile(rf"^(?:{'|'.join(_TABLE['no_names'])})\b")
_KINDS: dict[str, frozenset[str]] = {kind: frozenset(words) for kind, words in _TABLE["name_types"].items()}
TYPED = frozenset(_KINDS)
"""Types that a word of the name tells."""
_AUXILIARY = re.compile(
    r"\b(?:is|are|was|were|can|will|must|should|may|does|do|did|has|have|could|would)\b(?! (?:not|no|never|n[’']t)\b)(?!n[’']t)"
)
_NEGATED = re.compile(
    r"\b(?P<verb>is|are|was|were|can|will|must|should|may|does|do|did|has|have|could|would)(?: not\b|n[’']t\b)|\b(?P<cannot>cannot)\b|\bwill never\b",
    re.IGNORECASE,
)
_COURTESY = re.compile(
    r"\b(?:anything else|help you|let me know|happy to|glad|enjoy|thank|sorry|welcome|would you like|hope)\b",
    re.IGNORECASE,
)
_CONTRACTED = frozenset("is are was were does do did has have could would should".split())
_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?](?=\w)[^.!?\n]+)*[.!?\n]?")
_TOO_COMMON = frozenset(_TABLE["common"])


def name_type(name: str) -> str:
    """A rough type by the words of a name, else by how many it has: only names of one type replace each other."""
    words = name.replace(".", "").split()
    for kind, telling_words in _KINDS.items():
        if any(word in telling_words for word in words):
            return kind
    return f"{len(words)} words"


@lru_cache(maxsize=65536)
def names(text: str) -> tuple[tuple[int, int, str], ...]:
    """Runs of at least two capitalised words that open no sentence and name no day: start, end, type."""
    named = (m for m in _NAME.finditer(text) if not _NOT_NAMES.match(m.group()) and not m.group().isupper())
    return tuple((m.start(), m.end(), name_type(m.group())) for m in named)


def another_name(supported: Supported, span: tuple[int, int, str], pool: list[str], rng: random.Random) -> Edit | None:
    """A name of the answer and its sources replaced by one of the same type that no text holds, nor its telling words."""
    start, end, kind = span
    was = supported.answer[start:end]
    if not _is_name(was, supported):
        return None
    for _ in range(6):
        now = rng.choice(pool)
        if now != was and not any(
            membership.holds_words(word, supported.texts) for word in now.split() if len(word) > 3
        ):
            return Edit("name", kind, start, end, now, "from another document")
    return None


def name_of_source(supported: Supported, span: tuple[int, int, str], rng: random.Random) -> Edit | None:
    """A name replaced by another of its type in the same sources, told of in other sentences only."""
    start, end, kind = span
    was = supported.answer[start:end]
    here = {t[a:b] for t in supported.texts for a, b, k in names(t) if k == kind}
    pool = sorted(n for n in here if n not in supported.answer and was not in n and n not in was)
    if not pool or not _is_name(was, supported):
        return None
    now = rng.choice(pool)
    told = [s.group() for t in supported.texts for s in _SENTENCE.finditer(t)]
    return (
        None
        if any(now in s and was in s for s in told)
        else Edit("name_of_source", kind, start, end, now, "from the same source")
    )


def _is_name(was: str, supported: Supported) -> bool:
    """True if the sources tell it, and never in lower case: a capitalised phrase that is an ordinary one elsewhere is no name."""
    return membership.holds_words(was, supported.texts) and not any(was.lower() in text for text in supported.texts)


def telling(supported: Supported) -> Iterator[tuple[int, int]]:
    """Sentences of the answer that tell something the sources are about: half of their longer words stand there."""
    for match in _SENTENCE.finditer(supported.answer):
        words = [w for w in re.findall(r"[a-z]{4,}", match.group().lower()) if w not in _TOO_COMMON]
        if len(words) < 3 or match.group().rstrip().endswith("?") or _COURTESY.search(match.group()):
            continue
        held = sum(any(w[:5] in t.lower() for t in supported.texts) for w in set(words))
        if held * 2 >= len(set(words)):
            yield match.span()


def negated(supported: Supported, span: tuple[int, int], rng: random.Random) -> Edit | None:
    """The first "not" of a sentence taken out, or one put in after its first auxiliary verb."""
    start, end = span
    sentence = supported.answer[start:end]
    there = _NEGATED.search(sentence)
    if there is not None:
        verb = there["verb"] or ("can" if there["cannot"] else "will always")
        edit = Edit("negation", "statement", start + there.start(), start + there.end(), verb, "taken out")
    else:
        found = _AUXILIARY.search(sentence)
        if found is None or re.search(
            r"\b(?:no|not|never|none|nor|neither|without|unless|nothing)\b|n[’']t\b", sentence, re.IGNORECASE
        ):
            return None
        contracted = rng.random() < 0.3 and found.group() in _CONTRACTED
        now = f"{found.group()}n't" if contracted else f"{found.group()} not"
        edit = Edit("negation", "statement", start + found.start(), start + found.end(), now, "put in")
    fresh = supported.answer[start : edit.start] + edit.now + supported.answer[edit.end : end]
    return None if membership.holds_words(fresh, supported.texts) else edit
