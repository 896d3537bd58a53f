"""Statements that a source says word for word, or whose opposite it says, decided by their words alone.

entailed: the sentence stands in a source after folding dashes, quotes, case, spacing and citation marks, as a whole of its own;
or a sentence of a source says the same but for articles and contractions. contradicted: a sentence of a source says the
same with the opposite sense. Both at once, from different sources, decide nothing. Paraphrase is beyond words.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from grounding.text import BAR, caseless, fold
from rai.check.phrasing.antonyms import alike, generic, key
from rai.check.phrasing.denied import denies_another
from rai.check.phrasing.evidence import lines, spaced, whole_sentences
from rai.check.phrasing.plain import content_terms, plain_words
from rai.check.phrasing.sense import CLAUSES, Sense, comparable, opposed, same, sense, turned
from rai.check.reading.sources import Prepared, caseless_field
from rai.records import EvidenceSpan, Source

_ANSWERS = re.compile(r"(?:^|[\s.])(?:(?:yes|no),|(?:a|answer|note|tip|hinweis):)\s*$", re.IGNORECASE)
_MARKED = re.compile(r"(?:^|\n)[ \t]*(?:[-*•]|\d{1,3}[.)]|#{1,6})[ \t]+$")
_TAKES_BACK = re.compile(
    r"\s*(?:and |or |but )?(?:(?:but|except|unless|only|if|however|provided|not|excluding|as long as|when|though|although|on condition|"
    r"in case|otherwise|außer|nur|aber|sauf|mais|salvo|tranne|pero|mas)\b)",
    re.IGNORECASE,
)
_BOUNDS_LIST = re.compile(
    r"\b(?:not|no|never|none|neither|cannot|without|except|exclud\w*|prohibited|forbidden|unless|only|if|when|false|wrong|myths?|"
    r"nicht|kein\w*|außer|pas|sauf|non|não|[a-z]+n['’]t)\b",
    re.IGNORECASE,
)

_Groups = tuple[frozenset[str], ...]
"""For each word that a statement tells, the keys that may stand for it."""
_FEWEST_TOLD = 2
"""Fewest words that have to stand in the sentence itself; others may stand in the title of its source."""
_LIGHT = frozenset(
    key(w)
    for w in "offer have provide available there exist place option options able feature unfortunately currently also here".split()
)
_SOLID = re.compile(r"\S+")
TRIES = 100
"""Most occurrences in a text that are looked at for a sentence; one found so often within other words is no quotation."""


@dataclass(frozen=True, slots=True)
class Support:
    """What the sources make of a statement by its words: the status, the lines that show it, and the reason, a sentence for a person."""

    status: Literal["entailed", "contradicted", "unchecked"]
    evidence: tuple[EvidenceSpan, ...]
    why: str


def judge(sentence: str, sources: Sequence[Prepared]) -> Support | None:
    """Judges a sentence by the sentences and rows of `sources`; None if words alone cannot decide. Takes time linear in their text."""
    plain = plain_words(sentence)
    mine = sense(plain)
    if not mine.content:
        return None
    if row := _of_a_row(plain, sources):
        return Support("entailed", (row,), f"Stands in {row.source}, cell by cell.")
    held = _verbatim(plain, sources)
    for_it, opposite = (None, None) if plain.endswith("?") else _compared(mine, sources)
    held = held or for_it
    if held and opposite and opposite.source != held.source:
        return Support("unchecked", (held, opposite), f"{held.source} says so, {opposite.source} says the opposite.")
    if held:
        return Support(
            "entailed", (held,), f"Stands in {held.source}, word for word or but for small words that change nothing."
        )
    if opposite and not denies_another(plain, opposite.text):
        return Support("contradicted", (opposite,), f"{opposite.source} says the opposite in the same words.")
    return None if plain.endswith("?") else _covered(mine, sources)


def _covered(mine: Sense, sources: Sequence[Prepared]) -> Support | None:
    """`contradicted` if one sentence of a source tells in whatever order all that the statement does, and one of the two is negated; else None.

    "They do not serve breakfast" of "Breakfast is served at the inn". Only if no sentence that covers it has the same sense, under the
    same conditions, and if at least half of what the source's sentence tells is told by the statement too.
    """
    told = _told_by(mine)
    if len(told) < _FEWEST_TOLD:
        return None
    found = [
        (span, theirs) for p in sources for span, theirs in _senses(p.source) if _covers(told, theirs, _title(p.source))
    ]
    which = _opposite_of(mine, [theirs for _, theirs in found])
    if which is None:
        return None
    span = found[which][0]
    return Support("contradicted", (span,), f"{span.source} says the opposite of it.")


def _told_by(mine: Sense) -> _Groups:
    """The words that a statement tells something by; those that only say that something exists, or frame it, are left out."""
    told = dict.fromkeys(k for k in mine.content if k not in _LIGHT and not generic(k))
    return tuple(frozenset({k}) | alike(k) for k in told)


def _covers(told: _Groups, theirs: Sense, title: frozenset[str]) -> bool:
    """True if all of `told` stands in a sentence and the title above it."""
    inside = sum(not group.isdisjoint(theirs.keys) for group in told)
    if inside < _FEWEST_TOLD:
        return False
    return inside == len(told) or all(not g.isdisjoint(theirs.keys) or not g.isdisjoint(title) for g in told)


def _opposite_of(mine: Sense, covering: Sequence[Sense]) -> int | None:
    """The index of the first sentence of `covering` that says the opposite of `mine`; None if none does, or one of them agrees."""
    if mine.language != "en" or not CLAUSES.isdisjoint(mine.words) or any(not turned(mine, s) for s in covering):
        return None
    told = _told_by(mine)
    return next((n for n, s in enumerate(covering) if _is_opposite(mine, told, s)), None)


def _is_opposite(mine: Sense, told: _Groups, theirs: Sense) -> bool:
    if not CLAUSES.isdisjoint(theirs.words) or not comparable(mine, theirs):
        return False
    negated = mine if mine.negations else theirs
    if not negated.single or mine.negations + theirs.negations != 1:
        return False
    more = [k for k in theirs.content if k not in _LIGHT and not generic(k) and not any(k in g for g in told)]
    return 2 * len(more) <= len(theirs.content)


@lru_cache(maxsize=1024)
def _title(source: Source) -> frozenset[str]:
    return sense(source.title).keys


def anywhere(sentence: str, sources: Sequence[Prepared]) -> float:
    """The share of a statement's content words that stand anywhere in the sources or their titles, in [0, 1]."""
    mine = set(content_terms(plain_words(sentence)))
    if not mine:
        return 0.0
    return sum(any(term in _content(p.source) for p in sources) for term in mine) / len(mine)


@lru_cache(maxsize=1024)
def _content(source: Source) -> frozenset[str]:
    return frozenset(content_terms(source.text)) | frozenset(content_terms(source.title))


@lru_cache(maxsize=512)
def _senses(source: Source) -> tuple[tuple[EvidenceSpan, Sense], ...]:
    """The lines of a source that tell something, each with its sense."""
    told = [
        EvidenceSpan(source.id, "text", part.start, part.end, part.text)
        for sentence in whole_sentences(source.text)
        for part in spaced(sentence)
        if not part.text.rstrip(" *_").endswith("?")
    ]
    return tuple((span, sense(plain_words(span.text))) for span in told)


def _compared(mine: Sense, sources: Sequence[Prepared]) -> tuple[EvidenceSpan | None, EvidenceSpan | None]:
    """The first line that says the same, and the first that says the opposite."""
    held: list[EvidenceSpan] = []
    against: list[EvidenceSpan] = []
    for prepared in sources:
        for span, theirs in _senses(prepared.source):
            if not mine.keys <= theirs.keys:
                continue
            if same(mine, theirs):
                held += [span] if _stands_alone(prepared.source, span.start, span.end) else []
            elif opposed(mine, theirs):
                against.append(span)
    return _first(held), _first(against)


def _first(spans: Sequence[EvidenceSpan]) -> EvidenceSpan | None:
    return min(spans, key=lambda s: (s.source, s.start), default=None)


def _verbatim(plain: str, sources: Sequence[Prepared]) -> EvidenceSpan | None:
    pieces = caseless(plain).rstrip(".!").split()
    if not pieces:
        return None
    spelt = _spelling(plain)
    hits = []
    for prepared in sources:
        text = prepared.source.text
        place = _place(pieces, text)
        if place and _spelling(text[slice(*place)]) == spelt and _stands_alone(prepared.source, *place):
            hits.append(EvidenceSpan(prepared.source.id, "text", *place, text[slice(*place)]))
    return _first(hits)


def _of_a_row(plain: str, sources: Sequence[Prepared]) -> EvidenceSpan | None:
    """The row that has every cell of a quoted one: columns may be left out, and what they say ("Basic: no") takes nothing back."""
    if BAR not in plain:
        return None
    told = _cells(plain)
    for prepared in sources:
        at = 0
        for line in prepared.source.text.splitlines(keepends=True):
            if BAR in line and told <= _cells(line):
                row = line.rstrip()
                return EvidenceSpan(prepared.source.id, "text", at, at + len(row), row)
            at += len(line)
    return None


def _cells(row: str) -> frozenset[str]:
    return frozenset(" ".join(caseless(cell).strip(" -*.").split()) for cell in row.split(BAR))


def _place(pieces: Sequence[str], text: str) -> tuple[int, int] | None:
    """The first stretch of `text` that has the words `pieces`, whatever space is between them, and not as parts of other words."""
    flat, wanted = _flat(text), " ".join(pieces)
    at = flat.find(wanted)
    for _ in range(TRIES):
        if at < 0:
            return None
        end = at + len(wanted)
        if not (_wordlike(flat[at - 1 : at]) or _wordlike(flat[end : end + 1])):
            starts = _word_starts(text)
            first, last = flat.count(" ", 0, at), flat.count(" ", 0, end)
            return starts[first] + _into(flat, at), starts[last] + _into(flat, end)
        at = flat.find(wanted, at + 1)
    return None


def _into(flat: str, at: int) -> int:
    """How far into its word `at` is."""
    return at - flat.rfind(" ", 0, at) - 1


def _wordlike(char: str) -> bool:
    return char.isalnum() or char == "_"


@lru_cache(maxsize=512)
def _flat(text: str) -> str:
    return " ".join(caseless_field(text).split())


@lru_cache(maxsize=512)
def _word_starts(text: str) -> tuple[int, ...]:
    return tuple(m.start() for m in _SOLID.finditer(text))


def _spelling(text: str) -> str:
    """A text in lower case with single spaces and its accents: konnte is not könnte."""
    return " ".join(fold(text).lower().rstrip(".!").split())


def _stands_alone(source: Source, start: int, end: int) -> bool:
    """True if `source.text[start:end]` is a sentence of its own, which nothing beside it takes back.

    A part of a sentence may say the opposite of the whole ("It is free" of "It is free if …"); so may an item of a list
    under "We do not:", and a sentence that "Except on Sundays." follows.
    """
    text = source.text
    opening = text[max(0, start - 40) : start]
    begins = _begins(source)
    at = bisect_left(begins, start)
    first = (at < len(begins) and begins[at] == start) or opening.rstrip(" ")[-2:] in (" .", " !")
    listed = _MARKED.search(opening) is not None
    if not (first or listed or _ANSWERS.search(opening)):
        return False
    if not _ends(source, end) or _TAKES_BACK.match(text[end : end + 40].lstrip(" .!;:\"”'’)\n-")):
        return False
    return not _under_bound(text, start)


def _ends(source: Source, end: int) -> bool:
    after = source.text[end : end + 2]
    if not after.strip() or source.text[end - 1 : end] in (".", "!", "?"):
        return _line_ends(source, end)
    if after[0] == "\n":
        return _line_ends(source, end)
    return after[0] in ".!;" and (len(after) == 1 or not after[1].isalnum())


def _line_ends(source: Source, end: int) -> bool:
    """True if no sentence that is broken over lines goes on behind `end`."""
    at = bisect_left(_begins(source), end) - 1
    return at < 0 or end >= lines(source)[at].span.end


@lru_cache(maxsize=512)
def _begins(source: Source) -> tuple[int, ...]:
    return tuple(line.span.start for line in lines(source))


def _under_bound(text: str, start: int) -> bool:
    """True for a line under a lead-in that negates, excepts or sets a condition ("Not included:")."""
    lead = text.rfind(":\n", max(0, start - 600), start)
    if lead < 0 or "\n\n" in text[lead + 2 : start]:
        return False
    between = text[lead + 2 : start].split("\n")
    if any(line.strip() and not re.match(r"\s*(?:[-*•]|\d{1,3}[.)])\s", line) for line in between[:-1]):
        return False
    line = text[text.rfind("\n", 0, lead) + 1 : lead]
    return _BOUNDS_LIST.search(line) is not None
