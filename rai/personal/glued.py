"""Texts whose lines ran together: "name:Marta Kovaldob:03/11/1979policy:HH88120" is read as if each label began a line."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import pairwise

_LABEL = (
    r"(?:full[ ]?name|first[ ]?name|last[ ]?name|surname|name|dob|date[ ]of[ ]birth|born|policy(?:[ ]?no)?|tel(?:ephone)?|phone|mobile|e-?mail|address|postcode|zip|order(?:[ ]?no)?|"
    r"account|iban|bic|customer(?:[ ]?(?:no|id))?|member(?:[ ]?no)?|claim|contract|passport|ssn|vorname|nachname|geburtsdatum|geb|telefon|handy|adresse|anschrift|plz|ort|kundennummer|"
    r"vertrag|nom|prénom|téléphone|nombre|apellidos?|teléfono|dirección|nome|cognome|telefono|indirizzo|morada|naam|adres|telefoon|imię|nazwisko|adres|pesel|nif|dni)"
)
_GLUE = re.compile(rf"(?<=[a-zà-ÿ\d)])(?={_LABEL}[ ]?:[ ]?[^\s/])", re.IGNORECASE)
_BEGINS = re.compile(r"[^\W_]{0,30}$")
_WHOLE = re.compile(
    r"(?:user|file|host|sur|nick|pet|brand|product|pre|fore|sure|domain|screen|display|first|last|full|middle|company|street|family|maiden|kunden|vor|nach|familien|firmen|ho|mo|web|e|ip|mac|mail|"
    r"re|pre|back|un|in|post|transp|imp|exp|supp|sp|ress|ab|trans|sub|bio|pro|gen|cogn|re|ph|uniform|air|wall|roth|wand|mar|cas|pat|cart|chast|mot|in|pas|bra|capp|acc|anden|rahmen|miet)$",
    re.IGNORECASE,
)
"""What a label stands in as the end of a longer word: "username", "hotel", "reorder", "report"."""


def unglued(text: str) -> tuple[str, list[int]] | None:
    """`text` with a line break before each label that ran into the value before it, and where they were put in; None where nothing did."""
    if ":" not in text:
        return None
    places = [m.start() for m in _GLUE.finditer(text) if not _WHOLE.fullmatch(_word(text, m.start()))]
    if not places:
        return None
    parted = "\n".join(text[a:b] for a, b in pairwise([0, *places, len(text)]))
    return parted, [place + n for n, place in enumerate(places)]


def _word(text: str, at: int) -> str:
    match = _BEGINS.search(text, max(0, at - 30), at)
    return match.group() if match else ""


def back(places: list[int], offset: int) -> int:
    """An offset into what `unglued` gave, as one into the text that it was given."""
    return offset - bisect_right(places, offset - 1)
