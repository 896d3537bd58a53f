"""Contacts of which the source says whose they are, in the words of the answer with another name: "our Munich store", where only "Berlin store" stands before the number."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from grounding.text import STOP_WORDS, fold
from rai.check.answer import Answer
from rai.check.context import Finding, name_of
from rai.check.reading.sources import Place
from rai.records import CONTACT_KINDS

_NAME = r"(?P<name>[A-ZÀ-ÖØ-Þ][\w'’-]+)"
_PLACES = "Agence|Agência|Atelier|Branch|Büro|Campus|Clinic|Depot|Filiale?|Geschäft|Hotel|Klinik|Laden|Loja|Magasin|Negozio|Niederlassung|Oddział|Office|Oficina|Praxis|Salon|Shop|Sklep|Standort|Station|Store|Studio|Sucursal|Tienda|Ufficio|Vestiging|Werk|Winkel|Zweigstelle"
"""What has a capital and still tells one of several of its kind by the name behind it; behind a company's own name stands whatever it has."""
_NAMED = (
    re.compile(rf"(?<![\w'’-])(?={_NAME} (?P<kind>[a-zà-öø-ÿ]{{4,}})(?![\w-]))"),
    re.compile(rf"(?<![\w-])(?=(?P<kind>[a-zà-öø-ÿ]{{4,}}|{_PLACES}) (?:in )?{_NAME}(?![\w-]))"),
)
"""A name before what it is of ("Munich store"), or behind it ("Filiale München", "store in Munich")."""
_BACK = 1_500
"""Characters before a contact in which it is looked for whose it is."""
_FEW = 8
"""Places of a contact that are looked at: one that stands often is everybody's."""
_REACH = 300
"""Characters of the answer around a contact that are read."""


def another_named(n: int, places: Sequence[Place], rivals: Sequence[Place], answer: Answer) -> Finding | None:
    """`unchecked` for a contact before each place of which stands, of the kind that the answer names, another than it names; else None."""
    value, at = answer.values[n], answer.at[n]
    if value.kind not in CONTACT_KINDS or at < 0 or len(places) > _FEW:
        return None
    span = answer.sentences[at]
    said = answer.text[max(span.start, value.start - _REACH) : min(span.end, value.end + _REACH)]
    for kind, names in _by_kind(said).items():
        others = [_nearest(place, rivals, kind, names) for place in places]
        if others and all(others):
            why = f"{name_of(places[0])} has {places[0].span().text} for {others[0]}."
            return Finding("unchecked", (places[0].span(),), why, rule="another-named")
    return None


def _by_kind(text: str) -> dict[str, set[str]]:
    """What a text names, by what it is: {"store": {"munich"}}."""
    found: dict[str, set[str]] = {}
    for kind, name in _pairs(text):
        found.setdefault(kind, set()).add(fold(name).lower())
    return found


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    for named in _NAMED:
        for match in named.finditer(text):
            if match["kind"].lower() not in STOP_WORDS and fold(match["name"]).lower() not in STOP_WORDS:
                yield match["kind"].lower(), match["name"]


def _nearest(place: Place, rivals: Sequence[Place], kind: str, names: set[str]) -> str:
    """What the source names last of a kind before a contact, or in its title; "" where it is one of `names`, or nothing, or where the line of the contact has one, or where
    one stands before it and no other contact between.
    """
    text, start = place.text(), place.found.start
    line = text[place.unit.start : place.unit.end][:_BACK]
    if any(name in fold(line).lower() for name in names):
        return ""
    near = (r.found.end for r in rivals if r.source is place.source and r.found.end <= start)
    since = max(start - _BACK, 0, *near)
    if any(
        _is_same(fold(name).lower(), one) for other, name in _pairs(text[since:start]) if other == kind for one in names
    ):
        return ""
    for before in (text[max(0, start - _BACK) : start], place.source.title):
        alike = [name for other, name in _pairs(before) if other == kind]
        if alike:
            last = fold(alike[-1]).lower()
            return "" if any(_is_same(last, name) for name in names) else f"{alike[-1]} ({kind})"
    return ""


def _is_same(one: str, other: str) -> bool:
    """Also a name in another case: Agnieszka, Agnieszki."""
    return one[: max(4, len(other) - 2)] == other[: max(4, len(other) - 2)]
