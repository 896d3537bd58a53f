"""Owners of contacts: the words that a source puts to a number, link or address, and whether a claim names another's.

"Support: 030 1234567, Billing: 030 7654321", "For returns call X; for sales call Y", "Maria Lopez (maria@…), John …":
each contact belongs to the words of its clause, cell and heading. A claim takes another's contact if it names words that
only the other's have, and none that only its own has.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from grounding.tables import table
from grounding.text import fold, terms
from rai.check.reading.sources import Place
from rai.claims.contacts.regions import countries

Words = frozenset[str]

_CONTACT = re.compile(
    r"[^\s@<>()\[\],;|]{1,64}@[^\s@<>()\[\],;|]{3,80}|(?:https?://|www\.)[^\s<>()|]{1,300}|[^\s<>()|/]{2,60}\.(?:com|org|net|io|de|fr|uk|example)\b[^\s<>()|,;]{0,200}"
    r"|[+(]{0,2}\d(?:[ ().\-/]{0,3}\d){5,18}|(?<!\w)[*#]?\d{3,6}#?(?!\w)|\b1-8\d\d-[A-Z0-9-]{4,12}"
)
_CUT = re.compile(
    r"\|+|[;\n]|,\s|\.\s|\s(?:and|or|while|whereas|but|und|oder|et|ou|y|o|e)\s|\s[-–—•·/]\s", re.IGNORECASE
)
_FORWARD = re.compile(
    r"\s*(?:for|to|if|in|at|from|with|für|bei|in|aus|pour|en|à|para|si|per|se|of)\b|.*:\s*$", re.IGNORECASE
)
_HEADING = re.compile(r"\s*(?:#{1,6}\s+.*|\*\*.*\*\*:?|(?![-*•·]\s)[^.!?|:]{1,90}:?)\s*")
_FACT = re.compile(r"\d ?(?:lbs?|kg|g|t|km|miles?|min|hours?|h|days?|%|[€$£])(?!\w)|[€$£] ?\d", re.IGNORECASE)
"""A line with a measure or an amount tells something of an owner and names none: "Drop-off up to 50 lb"."""
WINDOW = 1000
"""Characters before and after a contact in which its clause is looked for."""
HEADING_LINES = 12
"""Lines above a contact in which its headings are looked for."""
_TABLE = table(__file__)
_GENERIC: frozenset[str] = frozenset(_TABLE["generic"])
_CALLED = re.compile(
    r"\b(?:call|dial|ring|phone|tele\w*|tel|anruf\w*|appel\w*|llam\w*|chiam\w*|lig\w*)\b", re.IGNORECASE
)
_WEAK: frozenset[str] = frozenset(_TABLE["weak"])
"""Words that many owners share: alone they name nobody, unless the owner has no others."""
_CLASSES: list[list[str]] = _TABLE["classes"]
_CLASS = {terms(word)[0]: f"class:{names[0]}" for names in _CLASSES for word in names if terms(word)}


@lru_cache(maxsize=4096)
def label_words(text: str) -> Words:
    """The content words of a label or clause without figures and contacts; words of one department and one country are one."""
    plain = _CONTACT.sub(" ", fold(text))
    words = {w for w in terms(plain) if not w[0].isdigit()} - _GENERIC_TERMS
    people = {_PEOPLES[w] for w in re.findall(r"[a-z]+", plain.lower()) if w in _PEOPLES}
    return frozenset({_CLASS.get(w, w) for w in words} | {f"region:{r}" for r in (*countries(plain), *people)})


_PEOPLES: dict[str, str] = _TABLE["peoples"]
"""Of which country what is so called is: the Dutch line."""


_GENERIC_TERMS = frozenset(t for word in _GENERIC for t in terms(word))
_WEAK_TERMS = frozenset(t for word in _WEAK for t in terms(word))


@lru_cache(maxsize=16384)
def owner(place: Place) -> Words:
    """The words that say whose contact it is: those of its clause or cell, its row's first cell, and the headings above it."""
    return _clause_words(place) | _heading_words(place)


def anothers(claim_clause: str, sentence: str, question: str, place: Place, rivals: Sequence[Place]) -> Place | None:
    """The rival whose owner the claim names, although `place` holds the value; None if nothing speaks against `place`.

    `claim_clause`: the clause of the claim, `sentence`: the whole sentence, `question`: what was asked ("" if nothing). A
    later one counts only where the earlier names neither. `rivals`: other contacts of the same kind, of any source. A value
    that stands in several places is another's only if that holds of each of them.
    """
    mine = owner(place)
    if faxed := _fax_for_phone(claim_clause, place, mine, rivals):
        return faxed
    others = [(rival, _owner_against(place, rival, mine)) for rival in rivals if rival.found.value != place.found.value]
    telling = [(rival, theirs - mine, mine - theirs) for rival, theirs in others if theirs - mine]
    for said in map(label_words, (claim_clause, sentence, question)):
        if not said:
            continue
        named = [
            (len(hits), rival)
            for rival, theirs, ours in telling
            if (hits := _hits(theirs, said)) and not _touches(ours, said)
        ]
        if named:
            return max(named, key=lambda n: (n[0], -n[1].found.start))[1]
        if any(_touches(ours, said) for _, _, ours in telling):
            return None  # it says itself whose it is
    return None


def _fax_for_phone(claim_clause: str, place: Place, mine: Words, rivals: Sequence[Place]) -> Place | None:
    """The telephone number beside a fax number that the claim gives as one to call."""
    if place.found.kind != "phone" or "fax" not in mine or "fax" in label_words(claim_clause):
        return None
    if not _CALLED.search(claim_clause):
        return None
    return next((r for r in rivals if r.source == place.source and "fax" not in owner(r)), None)


def _owner_against(place: Place, rival: Place, mine: Words) -> Words:
    """The rival's words, with those of its title only where both titles are of one kind ("Berlin office", "London office")."""
    theirs = owner(rival)
    if rival.source == place.source:
        return theirs
    title, other = label_words(place.source.title), label_words(rival.source.title)
    return theirs | (other - title) if title & other and not (mine & (other - title)) else theirs


def _hits(theirs: Words, said: Words) -> Words:
    """Words of the rival alone that the claim says; weak ones count only where the rival has no others, and then all of them."""
    strong = frozenset(w for w in theirs if w not in _WEAK_TERMS)
    if strong:
        return strong & said
    return theirs if theirs <= said else frozenset()


def _touches(ours: Words, said: Words) -> bool:
    """True if the claim says a word of the owner, or one that begins alike (tech, technical)."""
    if ours & said:
        return True
    return any(
        a.startswith(b) or b.startswith(a) for a in ours if len(a) >= 4 and ":" not in a for b in said if len(b) >= 4
    )


def _clause_words(place: Place) -> Words:
    text = place.text()
    if place.unit.field != "text":
        return label_words(text)
    line, at = text[place.unit.start : place.unit.end], place.found.start - place.unit.start
    begin = max(0, at - WINDOW)
    line, at = line[begin : at + WINDOW], at - begin
    row = _row_words(line, at, place.unit.header)
    if row:
        return row
    clause = next((line[a:b] for a, b in clauses(line) if a <= at < b), line)
    words = label_words(clause)
    if words:
        return words
    above = text[: place.unit.start].rstrip().rpartition("\n")[2]
    if _FACT.search(above):
        return frozenset()
    return label_words(above) if above and len(above) <= 80 and not _CONTACT.search(fold(above)) else frozenset()


def _row_words(line: str, at: int, header: str) -> Words | None:
    """The words of a table row that tell whose a contact is: its first cell, the cell itself, and the name of its column; None for prose."""
    if "|" not in line:
        return None
    column = line.count("|", 0, at)
    cells, names = line.split("|"), header.split("|")
    words = label_words(cells[column])
    first = next((c for c in cells if c.strip()), "")
    words |= label_words(first.rpartition(": ")[2])
    if header != line and len(names) == len(cells):
        words |= label_words(names[column])
    return words


def clauses(line: str) -> list[tuple[int, int]]:
    """The clauses of a sentence, each with one contact at least where the sentence has any: what has none joins its neighbour.

    It joins the next if it opens ("Support, daily: …") or announces something ("for sales …"), else the one before.
    """
    folded = fold(line)
    contacts = [m.span() for m in _CONTACT.finditer(folded)]
    edges = [0, *(m.end() for m in _CUT.finditer(folded) if not any(a < m.end() < b for a, b in contacts)), len(line)]
    pieces = [(a, b) for a, b in pairwise(edges) if b > a]
    has = [any(a <= c < b for c, _ in contacts) for a, b in pieces]
    opens = bool(pieces) and not has[0] and bool(label_words(line[slice(*pieces[0])]))
    joined: list[tuple[int, int]] = []
    start: int | None = None
    for (a, b), holds in zip(pieces, has, strict=True):
        begin = a if start is None else start
        if holds:
            joined.append((begin, b))
            start = None
        elif opens or not joined or start is not None or _FORWARD.match(line[a:b]):
            start = begin
        else:
            joined[-1] = (joined[-1][0], b)
    if start is not None:
        last = joined.pop() if joined else (start, start)
        joined.append((last[0], len(line)))
    return joined


@lru_cache(maxsize=4096)
def _headings(text: str) -> tuple[tuple[int, Words], ...]:
    """Where each line that can be a heading ends, and its words, with those of headings right above it: a name, and below it what that is for."""
    found, at, above = list[tuple[int, Words]](), 0, Words()
    for line in text.split("\n"):
        if line.strip() and _HEADING.fullmatch(line) and not _FACT.search(line) and not _CONTACT.search(fold(line)):
            above |= label_words(line)
            found.append((at + len(line), above))
        else:
            above = Words()
        at += len(line) + 1
    return tuple(found)


def _heading_words(place: Place) -> Words:
    """The nearest heading above, if it stands within `HEADING_LINES`."""
    if place.unit.field != "text":
        return frozenset()
    text = place.source.text
    above = [(end, words) for end, words in _headings(text) if end < place.unit.start]
    if not above:
        return frozenset()
    end, words = above[-1]
    return words if text.count("\n", end, place.unit.start) <= HEADING_LINES else frozenset()
