"""Names learnt from the knowledge base itself: its own titles, headings, tables and cues say what is a name, and of what.

Security. The list is learnt from documents that not every user may read, so it may type what a user's text already says
and nothing else: a look-up goes from the words of that text to a type. Only normal forms are kept, no document, no
group, no place; nothing hands out an entry that was not asked for, and no message may hold one. What becomes visible is
at most that a name which the user's own text holds is known to be a product, an organisation, a person or a town.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from grounding.text import STOP_WORDS, caseless, fold
from rai.claims.contacts import addresses
from rai.claims.names import names
from rai.claims.names.name_words import (
    CALENDAR,
    CAPITALISED,
    DESCRIPTORS,
    GENERIC_ACRONYMS,
    HONORIFIC,
    LEADING,
    ORGANISATION,
)
from rai.records import EntityType

_WORD = r"[A-ZÀ-ÖØ-Þ][\w&'’-]{0,30}"
_NAME = rf"{_WORD}(?: (?:(?:of|de|la|van|von|der|&) )?{_WORD}){{0,4}}"
_MODELLED = re.compile(
    rf"(?<![\w-])(?P<base>{_WORD}(?: {_WORD}){{0,2}}) (?P<model>(?=[A-Z-]{{0,6}}\d)(?=\d{{0,4}}-?[A-Za-z])[A-Z0-9]{{1,6}}(?:-[A-Z0-9]{{1,6}})?[a-z]{{0,3}})(?![\w-])"
)
_OFFERED = re.compile(
    rf"(?<=[a-z,|] )(?P<name>{_WORD}(?: {_WORD}){{0,2}}) (?P<kind>[Pp]lan|[Ee]dition|[Ss]ubscription|[Pp]ackage|[Tt]ier|[Bb]undle|[Mm]embership)\b"
)
_COMPANY = re.compile(rf"(?<![\w-])(?P<name>{_NAME})")
_TITLED = re.compile(rf"{HONORIFIC}\.? (?P<name>{_WORD}(?: (?:{_WORD}|[A-Z]\.)){{0,3}})")
_ROLE_WORD = r"(?:head|director|manager|chief|president|founder|owner|lead|officer|ceo|cto|cfo|supervisor|coordinator|secretary|chair)"
_IN_ROLE = re.compile(
    rf"(?<![\w-])(?P<name>{_WORD}(?: (?:[A-Z]\.|{_WORD})){{1,2}})(?:,| is| –| -) (?i:(?:(?:our|the|a|an) )?(?:[\w-]{{1,20}} ){{0,2}}{_ROLE_WORD}\b)"
)
_LABELS: dict[str, EntityType] = {
    **dict.fromkeys(
        ("product", "plan", "device", "model", "item", "service", "produkt", "produit", "tarif", "package", "edition"),
        "product",
    ),
    **dict.fromkeys(
        ("name", "contact", "person", "manager", "owner", "employee", "ansprechpartner", "responsable"), "person"
    ),
    **dict.fromkeys(
        ("shop", "store", "town", "city", "branch", "ort", "stadt", "ville", "magasin", "filiale"), "address"
    ),
    **dict.fromkeys(
        ("company", "organisation", "organization", "supplier", "partner", "firma", "societe"), "organisation"
    ),
}
_NOT_TOWNS = frozenset("suite ste unit floor apt apartment room building block".split())
_COUNTED = frozenset(
    "monthly yearly annual weekly free cancel change upgrade downgrade new old basic-rate any your our this that one two three four five six seven eight nine ten each every both new second third code error order step page unit".split()
)
_TOWN = re.compile(r"(?:, |\b\d{5} )(?P<town>[A-ZÀ-ÖØ-Þ][\w'’-]{2,30}(?: [A-ZÀ-ÖØ-Þ][\w'’-]{1,30}){0,2})")
_CELL = re.compile(r"\s*(?:\||\t)\s*")
_LOWER = re.compile(r"(?<![\w@./-])[a-zß-öø-ÿ][\w'’-]{1,30}")
_INSIDE = re.compile(rf"(?<=[a-zß-öø-ÿ,] )({_WORD}?)(?:['’]s)?(?![\w'’-])")
_TITLE_END = re.compile(r": | [-–—|] ")
_MARKER = re.compile(r"^\s*#{1,6}\s+")
_NOT_NAMES = CAPITALISED | CALENDAR | GENERIC_ACRONYMS | STOP_WORDS
_ORDER: tuple[EntityType, ...] = ("person", "organisation", "product", "address", "code")
_MOST_LINE = 2000  # characters of a line that are read for a table or heading; the rest is prose
MAX_WORDS = 6
CUED, SHOWN = 2, 1
_CUED_WEIGHT = 1_000_000  # one cue outweighs any number of places without


@dataclass(frozen=True, slots=True)
class Learnt:
    """What one document says: (name in normal form, type, strength), the words that it writes in lower case, and those
    that have a capital inside a sentence.

    Strength CUED: a suffix, a model number, an honorific or an address says what it is. SHOWN: it only stands where
    names stand, as a title, a heading, a cell of a table's first column or header.
    """

    names: frozenset[tuple[str, EntityType, int]]
    lower: frozenset[str]
    inside: frozenset[str] = frozenset()


def read_document(title: str, text: str) -> Learnt:
    """What a document says of names. Linear in its length."""
    found: set[tuple[str, EntityType, int]] = set()
    _read_title(title, found)
    table_row = 0
    for line in text.split("\n"):
        cells = (
            [c for c in _CELL.split(line[:_MOST_LINE].strip().strip("|").strip()) if c]
            if "|" in line or "\t" in line
            else []
        )
        table_row = table_row + 1 if len(cells) > 1 else 0
        if table_row:
            _read_cells(cells, found, header=table_row == 1)
        elif _MARKER.match(line):
            heading = _MARKER.sub("", line[:_MOST_LINE]).strip()
            if " " in heading:
                _add(found, heading, "product", SHOWN)
        _read_cues(line, found)
    for address in addresses.find(text):
        towns = [m["town"] for m in _TOWN.finditer(text, address.start, address.end)]
        for town in [t for t in towns if caseless(t.split()[0]) not in _NOT_TOWNS][-1:]:
            _add(found, town, "address", CUED)
    lower = frozenset(caseless(w) for w in _LOWER.findall(text))
    return Learnt(frozenset(found), lower, frozenset(caseless(w) for w in _INSIDE.findall(text)))


def combine(documents: Iterable[Learnt]) -> dict[str, EntityType]:
    """Name in normal form to type, over all documents: what is also written in lower case is a common word.

    A name of one word is dropped if a fifth as many documents write it in lower case as have it as a name, and if it only
    stands where names stand, unless some sentence has it with a capital and none without. One of more words that only
    stands where names stand is dropped if all its words are ordinary ones, as in a heading.
    """
    lower: Counter[str] = Counter()
    inside: set[str] = set()
    held: dict[str, Counter[EntityType]] = {}
    strength: dict[str, int] = {}
    for learnt in documents:
        lower.update(learnt.lower)
        inside |= learnt.inside
        for name, kind, strong in learnt.names:
            held.setdefault(name, Counter())[kind] += 1 if strong == SHOWN else _CUED_WEIGHT
            strength[name] = max(strength.get(name, 0), strong)
    return {
        name: _most(kinds)
        for name, kinds in sorted(held.items())
        if _stays(name, kinds, strength[name], lower)
        and (strength[name] == CUED or " " in name or caseless(name) in inside - lower.keys())
    }


def learn(documents: Iterable[tuple[str, str]]) -> dict[str, EntityType]:
    """Names of a knowledge base from its (title, text): normal form to type. Their order changes nothing."""
    return combine(read_document(title, text) for title, text in documents)


def _most(kinds: Mapping[EntityType, int]) -> EntityType:
    return max(kinds, key=lambda k: (kinds[k], -_ORDER.index(k)))


def _stays(name: str, kinds: Mapping[EntityType, int], strong: int, lower: Mapping[str, int]) -> bool:
    words = name.split()
    if len(words) == 1:
        documents = sum(v // _CUED_WEIGHT + v % _CUED_WEIGHT for v in kinds.values())
        return name not in _NOT_NAMES | DESCRIPTORS and lower.get(name, 0) * 5 < documents
    return strong == CUED or not all(lower.get(w) or w in _NOT_NAMES | DESCRIPTORS for w in words)


def _read_title(title: str, found: set[tuple[str, EntityType, int]]) -> None:
    head = _TITLE_END.split(title[:_MOST_LINE], maxsplit=1)[0].strip()
    _add(found, head, "product", SHOWN)
    _read_cues(title, found)


def _read_cells(cells: list[str], found: set[tuple[str, EntityType, int]], *, header: bool) -> None:
    """Adds the names that a row of a table holds. "Product: Wren X2 | Price: $129" says by its label what the cell names; in other rows the first
    column names, and the header.
    """
    for number, cell in enumerate(cells):
        label, colon, value = cell.partition(":")
        kind = _LABELS.get(caseless(label).strip()) if colon else None
        if kind:
            for name in re.split(r",| and ", value):
                _add(found, name, kind, SHOWN)
        elif not colon and (header or number == 0):
            _add(found, cell, "product", SHOWN)


def _read_cues(line: str, found: set[tuple[str, EntityType, int]]) -> None:
    for match in _MODELLED.finditer(line):
        base = _without_leading(match["base"])
        if base and not any(c.isdigit() for c in base) and caseless(base.split()[-1]) not in _NOT_NAMES | DESCRIPTORS:
            _add(found, f"{base} {match['model']}", "product", CUED)
            _add(found, base, "product", CUED)
    for match in _OFFERED.finditer(line):
        base = _without_leading(match["name"])
        if base:
            _add(found, f"{base} {match['kind'].lower()}", "product", CUED)
    for match in _TITLED.finditer(line):
        _add(found, match["name"], "person", CUED)
    for match in _IN_ROLE.finditer(line):
        name = match["name"]
        if all(w[0].isupper() for w in name.split()):
            _add(found, _without_leading(name), "person", CUED)
    for match in _COMPANY.finditer(line):
        words = _without_leading(match["name"]).split()
        if len(words) > 1 and caseless(words[-1]).strip(".") in ORGANISATION - {"company", "group", "association"}:
            _add(found, " ".join(words), "organisation", CUED)


def _without_leading(name: str) -> str:
    words = name.split()
    while words and caseless(words[0]) in LEADING | _COUNTED:
        words.pop(0)
    return " ".join(words)


def _add(found: set[tuple[str, EntityType, int]], name: str, kind: EntityType, strong: int) -> None:
    name = fold(name).strip(" .,:;*_'\"()").removesuffix("'s")
    words = name.split()
    if not 0 < len(words) <= MAX_WORDS or len(name) > 80 or not _reads_as_name(words, strong):
        return
    form = names.normal(name)
    if len(form) > 2 and not form.isdigit():
        found.add((form, kind, strong))


def _reads_as_name(words: list[str], strong: int) -> bool:
    """True if every word but the small ones begins with a capital or is a model number."""
    for word in words:
        if (
            word[0].islower()
            and word not in ("of", "the", "and", "de", "la", "van", "von", "der", "&")
            and strong == SHOWN
        ):
            return False
    if any(c in "".join(words) for c in "?!=<>{}[]/\\|@%€$£:°×+"):
        return False
    return (
        words[0][0].isupper()
        and any(c.islower() for c in "".join(words))
        and any(len(w) > 2 or len(words) == 1 for w in words)
    )
