"""Whose telephone numbers a text most likely holds: what its numbers, postcodes, currencies and country names say.

Regions are those of ISO 3166 (GB, DE), as phonenumbers has them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

import phonenumbers

from grounding.tables import table
from grounding.text import caseless

_REGION: dict[str, str] = {name: region for region, names in table(__file__).items() for name in names}
_COUNTRY = re.compile(
    rf"(?<![\w.-])(?:{'|'.join(re.escape(n) for n in sorted(_REGION, key=len, reverse=True))})(?![\w-])"
)
_INTERNATIONAL = re.compile(r"(?<![\w+])(?:\+|00)[1-9](?:[ ().-]{0,2}\d){7,13}(?!\w)")
_NORTH_AMERICAN = re.compile(r"(?<![\w.+-])(?:\([2-9]\d\d\) ?|[2-9]\d\d-)[2-9]\d\d-\d{4}(?![\w-])")
_STATES = (
    "AL|AK|AZ|AR|CA|CO|CT|DE|DC|FL|GA|HI|ID|IL|IN|IA|KS|KY|LA|ME|MD|MA|MI|MN|MS|MO|MT|NE|NV|NH|NJ|NM|NY|NC|ND|OH|OK|"
    "OR|PA|RI|SC|SD|TN|TX|UT|VT|VA|WA|WV|WI|WY"
)
_ADDRESSES = (
    ("US", re.compile(rf"\b(?:{_STATES}) \d{{5}}(?:-\d{{4}})?\b")),
    ("GB", re.compile(r"\b[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}\b")),
    (
        "DE",
        re.compile(
            r"\b[A-ZÄÖÜ][a-zäöüß-]{2,25}(?:straße|strasse|str\.|platz|allee) \d{1,4}[a-z]?,? \d{5}\b|\bD-\d{5} [A-ZÄÖÜ]"
        ),
    ),
    ("FR", re.compile(r"\b\d{1,4},? (?:rue|avenue|boulevard|place|quai) [^\n,]{2,40},? \d{5}\b|\bF-\d{5} [A-Z]")),
    ("ES", re.compile(r"\b(?:Calle|C/|Avenida|Plaza) [^\n,]{2,40},? \d{1,4},? \d{5}\b")),
    ("IT", re.compile(r"\b(?:Via|Piazza|Corso|Viale) [^\n,]{2,40},? \d{1,4},? \d{5}\b")),
    ("PT", re.compile(r"\b\d{4}-\d{3} [A-Z]")),
    ("CA", re.compile(r"\b[A-Z]\d[A-Z] \d[A-Z]\d\b")),
)
_HINTS = ((("£",), "GB"), (("₹",), "IN"))
_TLD = re.compile(r"(?<=[a-z0-9])\.(?:co\.)?(uk|de|fr|es|it|pt|at|ch|nl|be|ie|ca|au|nz|pl|se|dk)(?![\w.-]|\.\w)")
STRONG = 3
"""Weight of a number with country code or an address; a country's name, currency or domain weighs 1."""


def regions_of(texts: Iterable[str], default: tuple[str, ...]) -> tuple[str, ...]:
    """Regions whose national numbers `texts` (the knowledge base, or the sources of one answer) most likely hold.

    The likeliest first; ties in alphabetical order, so that the order of `texts` changes nothing. Without a number with
    country code and without an address the regions of `default` follow: a country's name alone drops nothing.
    """
    weights: Counter[str] = Counter()
    for text in texts:
        weights.update(dict(_weights(text)))
    learnt = tuple(sorted(weights, key=lambda r: (-weights[r], r)))
    if any(weight >= STRONG for weight in weights.values()):
        return learnt
    return (*learnt, *(r for r in default if r not in weights))


@lru_cache(maxsize=512)
def _weights(text: str) -> tuple[tuple[str, int], ...]:
    found: Counter[str] = Counter()
    for match in _INTERNATIONAL.finditer(text):
        region = _of_number(match.group())
        if region:
            found[region] += STRONG
    found["US"] += STRONG * len(_NORTH_AMERICAN.findall(text))
    for region, pattern in _ADDRESSES:
        found[region] += STRONG * len(pattern.findall(text))
    for signs, region in _HINTS:
        found[region] += any(sign in text for sign in signs)
    plain = caseless(text)
    for name in set(_COUNTRY.findall(plain)):
        found[_REGION[name]] += 1
    for ending in set(_TLD.findall(plain)):
        found["GB" if ending == "uk" else ending.upper()] += 1
    return tuple((region, n) for region, n in sorted(found.items()) if n)


@lru_cache(maxsize=4096)
def _of_number(raw: str) -> str | None:
    try:
        number = phonenumbers.parse("+" + raw[2:] if raw.startswith("00") else raw, None)
    except phonenumbers.NumberParseException:
        return None
    code = number.country_code or 0
    region = phonenumbers.region_code_for_number(number) or phonenumbers.region_code_for_country_code(code)
    # toll-free and unassigned numbers of +1 belong to all of North America
    return "US" if code == 1 and region != "CA" else region if region not in ("ZZ", "001") else None


def named_before(line: str) -> str | None:
    """The country that is named last in `line`, the text before a number in its own line."""
    names = _COUNTRY.findall(caseless(line))
    return _REGION[names[-1]] if names else None


def countries(text: str) -> frozenset[str]:
    """Regions of all countries that `text` names: Britain and the UK are both GB."""
    return frozenset(_REGION[name] for name in _COUNTRY.findall(caseless(text)))
