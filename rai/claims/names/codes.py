"""Identifiers: part numbers, versions, error codes, form numbers, command-line flags, file names, code in backticks."""

from __future__ import annotations

import re
from functools import lru_cache

from grounding.text import caseless
from rai.claims.found import Found
from rai.claims.names import identifiers
from rai.claims.numbers.units import unit_of

_TOKEN = re.compile(r"(?<![\w@/.])[^\W_][\w.-]{1,63}(?![\w@])")
_FLAG = re.compile(
    r"(?:(?<=[\s`'\"(])|^)(?P<dash>--?|[–—])(?P<name>[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)*)(?![\w-])", re.MULTILINE
)
_HANDLE = re.compile(
    r"(?<![\w@/.])(?:@[A-Za-z][\w.]{2,30}\w(?![\w@/(])|[A-Za-z][\w.]{1,30}#\d{4}(?!\w)|live:[\w.]{2,30}\w)"
)
"""A name by which somebody is reached in a messenger: @name, name#1234, live:name."""
_BACKTICKED = re.compile(r"`([^`\n]{1,80})`")
_VERSION = re.compile(
    r"v?\d{1,5}(?:\.\d{1,6}){2,4}(?:[-.]?(?:alpha|beta|rc|b|a)\.?\d*)?|v\d{1,4}(?:\.\d{1,6}){0,3}", re.IGNORECASE
)
_FORM = re.compile(r"\d{1,5}(?:-\d{1,5}){1,4}")
_COUNTED_RANGE = re.compile(r"\b[^\W\d_]{3,14}s (?=(?P<low>[1-9]\d{0,3})-(?P<high>[1-9]\d{0,3})(?![\w-]))")
"""Gates 201-214: the numbers of several, not the number of one."""
_HEX = re.compile(r"0x[0-9a-f]{2,16}", re.IGNORECASE)
_MIXED = re.compile(r"(?=[A-Za-z0-9.-]*[0-9])(?=[A-Za-z0-9.-]*[A-Za-z])[A-Za-z0-9]+(?:[-.][A-Za-z0-9]+)*")
_SNAKE = re.compile(r"[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+")
_CAMEL = re.compile(r"[a-z]+(?:[A-Z][a-z0-9]+)+|[A-Z][a-z]+-[A-Z][a-z]+[A-Z][A-Za-z]*")
_FILE = re.compile(
    r"[\w-]+\.(?:py|md|sh|js|ts|json|ya?ml|txt|exe|dll|ini|cfg|conf|csv|xlsx?|docx?|pptx?|pdf|zip|log|xml|html?|ps1|bat|sql)",
    re.IGNORECASE,
)
_CUED_DIGITS = re.compile(
    r"\b(?:error|code|form|part|model|ticket|order|case|invoice|article|ref(?:erence)?|serial|sku|id)(?: (?:no\.?|number|code|id))?:? ?#?(?P<id>[0-9]{3,20}(?:-[0-9]{1,5})*)(?![\w%]|[.,]\d| ?[x×] ?\d)",
    re.IGNORECASE,
)
# Numerals with a unit, ordinals, decades, dimensions: numbers written as one word
_MEASURE = re.compile(
    r"\d+(?:[.,]\d+)*(?:st|nd|rd|th|s|k|m|b|bn|mn|x|h|hr|hrs|min|mins|sec|ms|mm|cm|km|kg|g|mg|lb|lbs|oz|ml|l|gb|mb|kb|tb|w|kw|"
    r"kwh|v|c|ct|hz|khz|mhz|ghz|px|dpi|mah|ft|am|pm|a|p|in|usd|eur|gbp)|\d+(?:x\d+)+[a-z]{0,3}|\d+-(?:[a-z]+-?)+|\d+(?:\.\d+)?",
    re.IGNORECASE,
)
_SIZED = re.compile(r"\d+(?:[.,]\d+)?-([A-Za-z]{1,12})")
_SECTION = re.compile(
    r"(?:§{1,2} ?|\b(?:section|clause|article|artikel|art\.|paragraph) )(?P<id>[0-9]{1,4}[a-z])(?!\w)", re.IGNORECASE
)
_THOUSANDS = re.compile(r"\d{1,3}(?:\.\d{3})+")
_YEARS = re.compile(r"(?:19|20)\d{2}-(?:(?:19|20)?\d{2})|\d{1,2}-\d{1,2}|(?:19|20)\d{2}-\d{2}-\d{2}")


# "the middle of 2024" is as good as mid-2024, "the first floor" as the 1st-floor one: words with a number, not identifiers
_WORDED = re.compile(
    r"(?:mid|pre|post|sub|top|under|over|non|early|late|re|co|anti|multi|semi|half|one|two|three|up|and|to|in|jan|feb|mar|apr|may|jun|jul|aug|sep|"
    r"sept|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun|q[1-4])-\d+(?:st|nd|rd|th|s)?|\d+(?:st|nd|rd|th)-[a-z-]+|\d+-[a-z]+-\d+|\d+s|\d+(?:am|pm)-\d+(?:am|pm)",
    re.IGNORECASE,
)
_TIER = re.compile(
    r" (?:Pro Max|Pro Plus|Pro|Max|Plus|Mini|Lite|Ultra|Air|SE|XL|FE|Ti|Premium|Enterprise|Edge)(?![\w-])"
)
_LETTERS_DIGITS = re.compile(r"([a-z]{1,8})-?(\d{1,12})")


_AGES = re.compile(r"\d{1,3}-(?:to|bis|à|a)-\d{1,3}(?:\w?|-[a-z]{2,12}(?:-[a-z]{2,12})?)", re.IGNORECASE)
"""8-to-13s, 15-to-28-day: from so much to so much, and no identifier."""


def find(text: str) -> list[Found]:
    """Finds identifiers, with their caseless, dash-folded form. A flag's dashes count as one: –force-deletion, --force-deletion.

    `readings` are the other spellings of the same identifier: v2.3 and 2.3, ISO 27001 and ISO/IEC 27001. A tier is part of
    a model: X2 Pro is not X2.
    """
    found = [Found("entity", a, b, forms[0], forms, entity="code") for a, b, forms in identifiers.find(text)]
    found += [f for m in _FLAG.finditer(text) if (f := _flag(text, m))]
    lettered = (m for m in _BACKTICKED.finditer(text) if re.search(r"[^\W\d_]", m.group(1)))
    found += [_code(m.start(1), m.end(1), m.group(1)) for m in lettered]
    found += [_code(m.start("id"), m.end("id"), m["id"]) for m in _CUED_DIGITS.finditer(text)]
    found += [_code(m.start(), m.end(), m.group()) for m in _HANDLE.finditer(text)]
    found += [_code(m.start("id"), m.end("id"), m["id"]) for m in _SECTION.finditer(text)]
    ranges = {m.end() for m in _COUNTED_RANGE.finditer(text) if int(m["low"]) < int(m["high"])}
    for match in _TOKEN.finditer(text):
        if match.start() in ranges:
            continue
        token = match.group()
        if token.isalpha() and (token.islower() or token.istitle() or token.isupper()):
            continue
        token = token.rstrip(".-_")
        if len(token) > 1 and _is_code(token) and not _AGES.fullmatch(token):
            end = match.start() + len(token)
            tier = _TIER.match(text, end) if any(c.isdigit() for c in token) and len(token) <= 12 else None
            end = tier.end() if tier else end
            found.append(_code(match.start(), end, text[match.start() : end]))
    return found


def _flag(text: str, match: re.Match[str]) -> Found | None:
    name = match["name"]
    quoted = text[max(0, match.start() - 1) : match.start()] == "`"
    shaped = "-" in name or re.search("[a-z][A-Z]", name) is not None
    # a dash before a plain word is punctuation more often than a flag
    return _code(match.start(), match.end(), match.group()) if match["dash"] == "--" or shaped or quoted else None


def _code(start: int, end: int, token: str) -> Found:
    value = normal(token)
    return Found("entity", start, end, value, spellings(value), entity="code")


@lru_cache(maxsize=4096)
def spellings(value: str) -> tuple[str, ...]:
    """The normal form and what else says the same: v2.3 is 2.3, WPA-1234 is WPA1234 and WPA 1234."""
    if _VERSION.fullmatch(value):
        number = value.removeprefix("v")
        return (value, number if value[0] == "v" else f"v{number}") if "." in value else (value,)
    match = _LETTERS_DIGITS.fullmatch(value)
    if match is None:
        return (value,)
    letters, digits = match.groups()
    return tuple(dict.fromkeys((value, f"{letters}-{digits}", f"{letters} {digits}", f"{letters}{digits}")))


def normal(token: str) -> str:
    """The normal form of an identifier: lower case, dashes folded, leading dashes one, spaces one."""
    folded = re.sub(r"\s+", " ", caseless(token).strip())
    return re.sub(r"^-+", "-", folded)


@lru_cache(maxsize=8192)
def _is_code(token: str) -> bool:
    if (
        (_VERSION.fullmatch(token) and not _THOUSANDS.fullmatch(token))
        or _HEX.fullmatch(token)
        or _FILE.fullmatch(token)
    ):
        return True
    if _MEASURE.fullmatch(token) or _THOUSANDS.fullmatch(token) or _WORDED.fullmatch(token):
        return False
    if unit_of(token) or ((sized := _SIZED.fullmatch(token)) and unit_of(sized[1])):
        return False  # kWh, mAh, 0.75-litre
    if _FORM.fullmatch(token):
        return not _YEARS.fullmatch(token)
    return any(pattern.fullmatch(token) for pattern in (_MIXED, _SNAKE, _CAMEL))
