"""Postal addresses: house number and street, with what follows of suite, town and postcode."""

from __future__ import annotations

import re

from grounding.text import caseless
from rai.claims.found import Found

_ABBREVIATED = {
    "st": "street", "ave": "avenue", "av": "avenue", "rd": "road", "blvd": "boulevard", "dr": "drive", "ln": "lane",
    "ct": "court", "pl": "place", "sq": "square", "hwy": "highway", "pkwy": "parkway", "ter": "terrace", "str": "straße",
    "strasse": "straße", "n": "north", "s": "south", "e": "east", "w": "west",
}  # fmt: skip
_SUFFIX = (
    "Street|St|Avenue|Ave|Av|Road|Rd|Boulevard|Blvd|Drive|Dr|Lane|Ln|Court|Ct|Place|Pl|Square|Sq|Highway|Hwy|Parkway|Pkwy|"
    "Terrace|Ter|Way|Crescent|Close|Quay|Row|Walk|Embankment"
)
_CAP = r"[A-Z][\w'’-]{0,30}"
_TAIL = (
    rf"(?:,? (?:Suite|Ste|Floor|Unit|Apt|Apartment|Room)\.? ?#?\w{{1,6}})?(?:, {_CAP}(?: {_CAP}){{0,3}})?"
    r"(?:,? [A-Z]{2} \d{5}(?:-\d{4})?|,? [A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}\b)?"
)
_ENGLISH = re.compile(
    rf"(?<![\w.,-])\d{{1,5}}[A-Za-z]?(?:-\d{{1,5}})? (?:[NSEW]\.? )?(?:(?:{_CAP}|\d{{1,3}}(?:st|nd|rd|th)) ){{1,4}}(?:{_SUFFIX})\b\.?{_TAIL}"
)
_GERMAN = re.compile(
    r"\b[A-ZÄÖÜ][\wäöüß-]{1,30}(?:straße|strasse|str\.|weg|platz|allee|gasse|ufer) \d{1,4}[a-z]?\b(?:, \d{5} [A-ZÄÖÜ][\wäöüß-]{1,30})?"
)
_FRENCH = re.compile(
    rf"(?<![\w.,-])\d{{1,4}}(?: bis| ter)?,? (?:rue|avenue|boulevard|place|quai|chemin)(?: (?:de|du|des|la|le|les|l['’]))?(?: {_CAP}){{1,4}}(?:, \d{{5}} {_CAP})?"
)


def find(text: str) -> list[Found]:
    """Addresses with a comparable form: lower case, "St" spelled out, punctuation dropped."""
    found = []
    for pattern in (_ENGLISH, _GERMAN, _FRENCH):
        for match in pattern.finditer(text):
            end = match.start() + len(match.group().rstrip(" ,."))
            found.append(Found("entity", match.start(), end, normal(text[match.start() : end]), entity="address"))
    return found


def normal(address: str) -> str:
    """Words of an address in lower case with street types spelled out."""
    words = re.findall(r"[\w'-]+", caseless(address))
    return " ".join(_ABBREVIATED.get(word, word) for word in words)
