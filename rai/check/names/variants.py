"""Names that no text writes as the answer does, and what texts have of them: variants, single words, and other names with these."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

from grounding.text import STOP_WORDS, stem, words
from rai.check.names.occurrences import match_around, match_named
from rai.check.reading.sources import Place, Prepared, caseless_field
from rai.claims.found import Found
from rai.claims.names.name_words import DESCRIPTORS
from rai.records import EvidenceSpan

_JOINT = re.compile(r" (?:and|&|of|at|on|in|by|the|de|la)(?: the)? ")
_COMPOUND = re.compile(
    r"-(?:based|centric|focused|oriented|related|style|like|wide|only|friendly|specific|branded|owned|made|themed|led|backed|sponsored)$"
)
_DEMONYM = frozenset("an ian n ns ans ians ish ese ic s".split())
_COUNTRY = frozenset(["", "a", "e", "i", "o", "y", "ia", "ey", "ca", "co"])
_SAME_NAMES = (
    frozenset({"US", "USA", "united states", "united states of america", "america"}),
    frozenset({"UK", "united kingdom", "britain", "great britain"}),
    frozenset({"EU", "european union"}),
    frozenset({"UN", "united nations"}),
    frozenset({"UAE", "united arab emirates"}),
    frozenset({"LA", "los angeles"}),
    frozenset({"NYC", "NY", "new york", "new york city"}),
    frozenset({"SF", "san francisco"}),
    frozenset({"amex", "american express"}),
    frozenset({"DC", "washington", "washington dc"}),
)


@lru_cache(maxsize=16384)
def core_words(value: str) -> tuple[str, ...]:
    """The words of a normal form that name; not "Dr", "Hotel" or "of", which say what kind of thing is named."""
    return tuple(
        w for w in re.split(r"[ -]+", value) if w.strip(".'") not in DESCRIPTORS | STOP_WORDS and len(w.strip(".&")) > 1
    )


def name_variant(found: Found, sources: Iterable[Prepared]) -> tuple[EvidenceSpan, ...]:
    """The places where texts write the name otherwise: shorter by what kind of thing it is, with a middle name, as its parts, in the singular,
    or as the acronym or the words that the acronym stands for.
    """
    texts = tuple(sources)
    for value in _other_forms(found.value):
        if spans := match_named(replace(found, value=value), texts):
            return spans
    core = core_words(found.value)
    if len(core) > 1 and (spans := match_around(core, texts)):
        return spans
    if core and core != tuple(found.value.split()):
        # the word "orchard" is not the Orchard Garden Hotel
        spans = match_named(replace(found, value=" ".join(core)), texts)
        if spans := tuple(s for s in spans if not s.text[0].islower() and not _goes_on(s, texts)):
            return spans
    parts = _JOINT.split(found.value)
    if len(parts) > 1:
        each = [match_named(replace(found, value=p), texts) for p in parts if p]
        if all(each):
            return tuple(s[0] for s in each)
    return _expansion(found.value, texts)


def _goes_on(span: EvidenceSpan, texts: tuple[Prepared, ...]) -> bool:
    """True if another capitalised word follows: the Orchard Inn is not the Orchard Hotel."""
    text = next(getattr(t.source, span.field) for t in texts if t.source.id == span.source)
    return bool(re.match(r" [^\W\d_a-zß-öø-ÿ]", text[span.end : span.end + 2]))


def _other_forms(value: str) -> list[str]:
    forms = [
        other for same in _SAME_NAMES if value in same or value.lower() in same for other in sorted(same - {value})
    ]
    forms += [value.rpartition("-")[0]] if _COMPOUND.search(value) else []
    singular = value[:-1] if value.endswith("s") and not value.endswith(("ss", "us", "is")) and len(value) > 4 else ""
    return [*forms, singular] if singular else forms


def _expansion(value: str, texts: tuple[Prepared, ...]) -> tuple[EvidenceSpan, ...]:
    """The words "Value Added Tax" by the letters VAT of a text, unless a text gives these letters other words; the letters
    by words of a text that begin with them, from three on.
    """
    parts = [w for w in value.split() if w not in STOP_WORDS]
    if len(parts) > 2 and all(p[0].isalpha() for p in parts):
        letters = "".join(p[0] for p in parts).upper()
        if len(parts) > MOST_LETTERS or any(_spelt_out(letters, t) for t in texts):
            return ()
        return match_named(Found("entity", 0, 1, letters), texts)
    if not (value.isupper() and len(value) > 2):
        return ()
    for text in texts:
        if match := _spelt_out(value, text):
            return (EvidenceSpan(text.source.id, "text", *match.span(), text.source.text[slice(*match.span())]),)
    return ()


MOST_LETTERS = 6
"""Letters of an acronym; a longer row of capitals is a word that shouts."""


def _spelt_out(letters: str, text: Prepared) -> re.Match[str] | None:
    """Words of a text that begin with these letters."""
    words = (rf"{c.lower()}[^\W\d_]{{1,20}}" for c in letters)
    joined = r"[\s-]{1,3}(?:(?:of|and|the|for)\s)?".join(words)
    return re.search(rf"(?<!\w){joined}(?!\w)", caseless_field(text.source.text))


def knows(text: Prepared, word: str) -> bool:
    """True if a text has the word or one of its family: Russia and Russian, Alex and Alexander."""
    vocabulary = _vocabulary(text.source.text, text.source.title)
    return (
        word in vocabulary
        or stem(word) in vocabulary
        or any(_kin(word, other) for other in _begins(vocabulary, word[:4]))
    )


@lru_cache(maxsize=1024)
def _vocabulary(text: str, title: str) -> frozenset[str]:
    plain = [w.text for w in words(caseless_field(title) + "\n" + caseless_field(text))]
    plain += [w.removesuffix("'s") for w in plain if w.endswith("'s")]
    return frozenset(plain) | frozenset(stem(w) for w in plain)


@lru_cache(maxsize=2048)
def _begins(vocabulary: frozenset[str], start: str) -> tuple[str, ...]:
    return tuple(w for w in vocabulary if w.startswith(start)) if len(start) > 3 else ()


def _kin(one: str, other: str) -> bool:
    shared = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    if shared == min(len(one), len(other)) or shared >= 6:
        return True
    ends = one[shared:], other[shared:]
    return any(a in _DEMONYM and b in _COUNTRY for a, b in (ends, ends[::-1]))


def named_with(word: str, sources: Iterable[Prepared]) -> EvidenceSpan | None:
    """A name of several words in a source that holds `word`."""
    return next((p.span() for s in sources for p in _names(s) if f" {word} " in f" {p.found.value} "), None)


def names_holding(core: tuple[str, ...], sources: Iterable[Prepared]) -> tuple[EvidenceSpan, ...]:
    """The other names that hold these words, one for each, if no source has one of the words outside such a name."""
    texts = tuple(sources)
    held = []
    for word in core:
        places = [p for s in texts for p in _names(s) if f" {word} " in f" {p.found.value} "]
        if not places or len(places) < sum(_count(s, word) for s in texts):
            return ()
        held.append(places[0].span())
    return tuple(dict.fromkeys(held))


def _names(text: Prepared) -> list[Place]:
    return [p for p in text.places if p.found.kind == "entity" and p.found.entity != "code" and " " in p.found.value]


def _count(text: Prepared, word: str) -> int:
    pattern = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")
    return sum(len(pattern.findall(caseless_field(field))) for field in (text.source.text, text.source.title))


def capitalised(core: tuple[str, ...], text: Prepared) -> bool:
    """True if the text writes these words, in this order, the first with a capital: "Plus" of the Plus plan, not "plus"."""
    spans = match_named(Found("entity", 0, 1, " ".join(core)), (text,))
    return any(s.text[0].isupper() or s.text[0].isdigit() for s in spans)


def misspelt(core: tuple[str, ...], texts: Iterable[Prepared]) -> EvidenceSpan | None:
    """A name of as many words that differs in one letter of one long word: Roster & Rice is Rooster & Rice, Joan is not Jon."""
    for place in (p for t in texts for p in _names(t)):
        other = core_words(place.found.value)
        differing = [(a, b) for a, b in zip(core, other, strict=False) if a != b]
        if (
            len(other) == len(core)
            and len(differing) == 1
            and min(map(len, differing[0])) > 5
            and _one_letter(*differing[0])
        ):
            return place.span()
    return None


def _one_letter(one: str, other: str) -> bool:
    """True if one letter was left out, added, changed or two neighbours were swapped."""
    head = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    a, b = one[head:], other[head:]
    return a[1:] == b[1:] or a[1:] == b or a == b[1:] or (a[:2] == b[:2][::-1] and a[2:] == b[2:])
