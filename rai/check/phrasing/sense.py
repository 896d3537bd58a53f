"""The sense of a sentence, its content words with negations, bounds, conditions and quantifiers; and whether two say the same or the opposite.

Two sentences say the same only if every word of one stands in the other in the same place, articles and contractions aside:
small words ("only", "less", "unless", "by") turn the meaning of a sentence as surely as a negation does.
They are opposite if the same content is negated in one of them alone, under the same conditions. Negation is read in English,
German, French, Italian, Spanish and Portuguese; the language is told by its function words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from grounding.tables import table
from grounding.text import STOP_WORDS, fold
from rai.check.phrasing.antonyms import key, opposite

LONGER = 1.25
"""How many times as many content words the source's of two opposite sentences may have: what is added may be what is negated."""
LONGEST = 6000
"""Most characters of a sentence that are read; the rest of a longer one is not."""

_WORD = re.compile(r"(?<![\w-])-(?=\d)|[^\W_]+(?:[.,:/'-][^\W_]+)*|[$€£¥₹%°+]")
_UNITE = (
    (re.compile(r"\bcan ?not\b|\bcan't\b"), "can not"),
    (re.compile(r"\bwon't\b"), "will not"),
    (re.compile(r"\bshan't\b"), "shall not"),
    (re.compile(r"n't\b"), " not"),
    (re.compile(r"\b(it|that|there|here|he|she|who|what)'s\b"), r"\1 is"),
    (re.compile(r"'(ll|re|ve|m)\b"), r" '\1"),
    (re.compile(r"\bn'(?=\w)"), "ne "),
    (re.compile(r"\ba (few|little|lot)\b"), r"a\1"),
    (re.compile(r"\bno one\b"), "nobody"),
    (re.compile(r"\bno longer\b(?! than)"), "not anymore"),
    (re.compile(r"\bno\. ?(?=\d)"), "number "),
    (
        re.compile(
            r"\b(?:no|without) (?:(?:additional|extra|any) )?(?:charge|fee|cost)s?\b|\bfree of (?:charge|cost)\b"
        ),
        "free",
    ),
)
_NOT_MEANT = re.compile(
    r"\b(?:no|not) (?:later|more|less|fewer|earlier|sooner|longer|older|younger|larger|smaller|higher|lower|greater) than\b|"
    r"\bnot until\b|\b(?:nothing|nowhere|nobody|none|never) but\b|\b(?:whether )?or not\b|\bno (?:matter|doubt|wonder|problem)\b|"
    r"\b(?:not|nicht|pas|non|no|não|nao) (?:only|just|merely|simply|solely|nur|allein|seulement|uniquement|solo|soltanto|solamente|"
    r"sólo|só|somente|apenas)\b|\bnon seulement\b|"
    r", (?:but |and )?(?:never|not|nie|niemals|nicht|jamais|nunca|jamás|mai|nooit|niet|nigdy) [\w-]{3,20}(?=[.!;]|$)"
)
"""Negations that negate nothing: bounds (no later than), both parts (not only … but also), exceptions to all (nothing but), and those behind
the rest, which deny another thing (from the next month, never retroactively)."""

_PARTED = re.compile(r"[,;:] |\s[-|]\s|\b(?:and|or|but|also) (?:do |does |is |are |can )?not\b")
_SPELT = {"'ll": "will", "'re": "are", "'ve": "have", "'m": "am"}
_TABLE = table(__file__)
_ARTICLES: dict[str, frozenset[str]] = {code: frozenset(words) for code, words in _TABLE["articles"].items()}
_NEGATIONS: dict[str, frozenset[str]] = {code: frozenset(words) for code, words in _TABLE["negations"].items()}
_FUNCTION: dict[str, frozenset[str]] = {code: frozenset(words) for code, words in _TABLE["function"].items()}
_POLAR = frozenset("any anybody anyone anything ever either yet anymore at all".split())
"""Words that go with a negation and mean nothing without it."""
_PARTIAL = frozenset(
    "some several many few afew sometimes often certain manche einige viele manchmal oft quelques plusieurs parfois souvent "
    "alcuni alcune molti spesso talvolta algunos algunas muchos alguns algumas muitos".split()
)
"""Words for a part, at the beginning of a sentence: of some rooms, it and its negation are both true."""
GUARDS = frozenset(
    "only unless except if until till when whenever while before after since than above below over under up down off out more less fewer "
    "least most at-least all every each both whether during within between against other same own "
    "nur wenn falls außer bis vor nach seulement si sauf avant après jusque solo se tranne prima dopo fino sólo si salvo antes después "
    "hasta só depois até mit ohne avec sans senza sin com sem".split()
)
"""Words that bound, compare or set a condition: two sentences that differ in one of them are neither the same nor opposite."""
_MODALS = frozenset("can could may might must shall should will would need".split())
_SCOPED = frozenset("all every each any some both only must shall should need have always many most few".split())
CLAUSES = frozenset(
    "if when whenever while who whom whose which that because but although though unless before after so".split()
)
"""Words that open another clause, in which a negation may stand by itself."""
_AUXILIARIES = frozenset("is are was were am be been being do does did has have had can could may will would".split())
_FIRST, _SECOND = frozenset("i we us me our my".split()), frozenset("you your".split())


@dataclass(frozen=True, slots=True)
class Sense:
    """The sense of a sentence, as words that are compared.

    `words`: all but articles, in order, in lower case, contractions written out; `content`: the keys of those that tell something, `keys`
    the same as a set; `negations`: how many count; `single`: no comma, colon or the like parts it, so that a negation holds for all of it.
    """

    words: tuple[str, ...]
    content: tuple[str, ...]
    keys: frozenset[str]
    negations: int
    language: str
    single: bool


@lru_cache(maxsize=16384)
def sense(text: str) -> Sense:
    """The sense of a sentence. `text`: it without list marker, opening and citation marks (`plain.plain_words`)."""
    plain = fold(text[:LONGEST]).lower()
    for pattern, written in _UNITE:
        plain = pattern.sub(written, plain)
    plain = _NOT_MEANT.sub(lambda m: m.group().replace(" ", "-"), plain)
    spelt = [_SPELT.get(w, w) for w in re.findall(r"'(?:ll|re|ve|m)\b|" + _WORD.pattern, plain)]
    language = _language(spelt)
    words = tuple(w for w in spelt if w not in _ARTICLES[language])
    content = tuple(key(w) for w in words if _tells(w, language))
    return Sense(words, content, frozenset(content), _count(words, language), language, not _PARTED.search(plain))


def same(mine: Sense, theirs: Sense) -> bool:
    """True if the two say the same, or `mine` names one of two that `theirs` joins by "and"."""
    if mine.words == theirs.words:
        return True
    if mine.language != "en" or theirs.language != "en":
        return False
    return _same_negated(mine.words, theirs.words) or _one_of_two(mine.words, theirs.words)


def opposed(mine: Sense, theirs: Sense) -> bool:
    """True if the same content is negated in one of the two alone, under the same conditions, in the same order or one clause moved."""
    if len(mine.content) < 2 or not turned(mine, theirs) or not comparable(mine, theirs):
        return False
    if _in_order(mine.content, theirs.content) and len(theirs.content) <= len(mine.content) * LONGER:
        return True
    return _moved(mine, theirs)


def comparable(mine: Sense, theirs: Sense) -> bool:
    """True if a negation in one of two alone would turn it round: same conditions, not of a part, and no opposite beside it."""
    if mine.language != theirs.language or _bounds(mine) != _bounds(theirs):
        return False
    if answers_no(mine.words) or answers_no(theirs.words):
        return mine.negations != theirs.negations
    if _partial(mine) or _partial(theirs) or _exchange_persons(mine, theirs):
        return False
    other = theirs.keys - mine.keys
    return not any(opposite(a, b) for a in mine.keys - theirs.keys for b in other)


def turned(mine: Sense, theirs: Sense) -> bool:
    """True if one is negated and the other is not. In English two negations undo one another, elsewhere they agree."""
    if "en" in (mine.language, theirs.language):
        return mine.negations % 2 != theirs.negations % 2
    return (mine.negations > 0) != (theirs.negations > 0)


def _language(words: Sequence[str]) -> str:
    found = {name: sum(w in known for w in words) for name, known in _FUNCTION.items()}
    return max(found, key=lambda name: (found[name], name == "en"))


def _tells(word: str, language: str) -> bool:
    if word in _NEGATIONS[language] or word in _POLAR or word in GUARDS or word in _MODALS:
        return False
    return word not in (STOP_WORDS if language == "en" else _FUNCTION[language])


def _count(words: tuple[str, ...], language: str) -> int:
    """How many negations count: "nor" belongs to its "neither", and "ne … que" and the like are bounds."""
    found = [w for w in words if w in _NEGATIONS[language]]
    if answers_no(words):
        found = found[1:]
    if language == "fr":
        found = [w for w in found if w != "ne" or not {"que", "qu"} & set(words)]
    return len([w for w in found if w != "nor" or "neither" not in found])


def answers_no(words: tuple[str, ...]) -> bool:
    """True if a "no" at the beginning answers a question and negates nothing: "No the pool is not heated"."""
    return words[:1] == ("no",) and "not" in words


def _bounds(told: Sense) -> list[str]:
    return sorted(w for w in told.words if w in GUARDS or _NOT_MEANT.match(w.replace("-", " ")))


def _partial(told: Sense) -> bool:
    return not _PARTIAL.isdisjoint(told.words[:2])


def _exchange_persons(mine: Sense, theirs: Sense) -> bool:
    """True if the two exchange who does it and to whom: "we may charge you", "you may charge us"."""
    a, b = _persons(mine), _persons(theirs)
    return len(set(a)) == 2 and len(set(b)) == 2 and a[0] != b[0]


def _persons(told: Sense) -> list[int]:
    return [1 if w in _FIRST else 2 for w in told.words if w in _FIRST or w in _SECOND]


def _in_order(mine: Sequence[str], theirs: Sequence[str]) -> bool:
    rest = iter(theirs)
    return all(word in rest for word in mine)


def _moved(mine: Sense, theirs: Sense) -> bool:
    """True if one clause is put to the other end (in the app you can …; you can … in the app): the content is rotated."""
    a, b = mine.content, theirs.content
    if len(a) != len(b) or len(a) < 3 or mine.keys != theirs.keys:
        return False
    if not CLAUSES.isdisjoint(mine.words) or not CLAUSES.isdisjoint(theirs.words):
        return False
    return any(a == b[n:] + b[:n] for n in range(1, len(b)))


def _same_negated(mine: tuple[str, ...], theirs: tuple[str, ...]) -> bool:
    """True if two English sentences differ only in where they negate: "no pets are allowed", "pets are not allowed"."""
    a, b = _subject_negation(mine), _subject_negation(theirs)
    return a is not None and a == b


def _subject_negation(words: tuple[str, ...]) -> tuple[str, ...] | None:
    """The words without is, are and the one negation, if that is a "no" at the beginning or a "not" after the first auxiliary; else None.

    None too if a quantifier, an obligation or another clause may be in the negation's reach.
    """
    if sum(w in _NEGATIONS["en"] for w in words) != 1 or not _SCOPED.isdisjoint(words) or not CLAUSES.isdisjoint(words):
        return None
    if words[0] == "no" or words[:3] in (("there", "is", "no"), ("there", "are", "no")):
        return tuple(w for w in words if w not in ("no", "there", "is", "are"))
    first = next((n for n, w in enumerate(words) if w in _AUXILIARIES), None)
    if first is None or words[first + 1 : first + 2] != ("not",):
        return None
    return tuple(w for w in words if w not in ("not", "is", "are"))


def _one_of_two(mine: Sequence[str], theirs: Sequence[str]) -> bool:
    """True if `theirs` is `mine` with "and" and one word more. Not with numbers, conditions or negations, which hold for the two together."""
    if len(theirs) != len(mine) + 2 or any(not w.isalpha() for w in theirs):
        return False
    if any(w in GUARDS or w in _NEGATIONS["en"] or w in ("between", "or", "together", "combined") for w in theirs):
        return False
    start = next((n for n, (x, y) in enumerate(zip(mine, theirs, strict=False)) if x != y), len(mine))
    return any(
        at > 0 and list(mine) == [*theirs[:at], *theirs[at + 2 :]] and "and" in theirs[at : at + 2]
        for at in (start, start - 1)
    )
