"""Identifiers of more than one word or of a form of their own: standards, flights, IBANs, paths, key combinations, versions.

Each reads as (start, end, forms): the normal form first, then the other spellings of the same identifier.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from grounding.tables import table
from grounding.text import caseless

Identifier = tuple[int, int, tuple[str, ...]]

_STANDARD = re.compile(
    r"\b(?P<body>(?:ISO|IEC|DIN|EN|BS|RFC|IEEE|ANSI|NIST|ETSI|ASTM|UL|SAE|SOC|PCI[ -]DSS|FIPS|ITU-T)(?:[/ -](?:IEC|EN|ISO|SP)){0,2})[ -]?"
    r"(?P<number>[A-Z]?\d{1,6}(?:[-.:]\d{1,5}){0,3})(?![\w]|[-.]\w)"
)
_FLIGHT = re.compile(
    r"\b(?:flight|flug|vol|vuelo|volo|voo)(?: (?:no\.?|number|nr\.?))? (?P<line>[A-Z]{2}|[A-Z]\d|\d[A-Z]) ?(?P<number>\d{1,4})(?!\w)",
    re.IGNORECASE,
)
_IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b")
_GROUPED_IBAN = re.compile(r"[A-Z]{2}\d{2}(?: [A-Z0-9]{4}){3,7}(?: [A-Z0-9]{1,3})?")
_NATIONAL = re.compile(r"(?<![\w.,])\d{2}(?: \d{4}){6}(?!\w)")
"""A Polish account without its country."""
_REGISTRY = re.compile(
    r"(?<![\w\\])(?:HKEY_[A-Z_]{2,30}|HK(?:LM|CU|CR|CC|U)|[A-Za-z]:)(?:\\[^\s\\/:*?\"<>|,;]{1,80}){1,24}\\?"
)
_PATH = re.compile(
    r"(?<![\w/.:~])(?:~|/(?:etc|usr|var|opt|home|tmp|bin|sbin|dev|proc|srv|root|mnt|lib|sys|Library|Users|Applications))(?:/[\w.@+-]{1,60}){1,20}"
)
_KEY = r"(?:[A-Za-z0-9]{1,2}|F\d{1,2}|Del(?:ete)?|Entf|Ins(?:ert)?|Einfg|Enter|Return|Esc(?:ape)?|Tab|Space|Home|End|Pos1|Ende|PgUp|PgDn|Up|Down|Left|Right|Backspace|Plus|Minus)"
_MODIFIER = r"(?:Ctrl|Control|Strg|Alt|AltGr|Option|Opt|Shift|Umschalt|Maj|Cmd|Command|Win|Windows|Fn|⌘|⌥|⇧)"
_KEYS = re.compile(rf"(?<!\w){_MODIFIER}(?: ?[+-] ?{_MODIFIER}){{0,3}} ?[+-] ?{_KEY}(?![\w-])", re.IGNORECASE)
_SAME_KEY: dict[str, str] = table(__file__)["same_key"]
_VERSION = re.compile(r"(?<=[ :])\d{1,5}(?:\.\d{1,6}){1,3}(?![\w%]|[.-]\w)")
_VERSIONED = re.compile(
    r"\b(?:version|release|firmware|build|ios|ipados|android|macos|python|java|node(?:\.js)?|php|bluetooth|usb|hdmi|wcag|tls)[ :]{1,2}$",
    re.IGNORECASE,
)
_MAC = re.compile(r"(?<![\w:.-])[0-9A-Fa-f]{2}(?:[:-][0-9A-Fa-f]{2}){5}(?![\w:-])")
_FEATURE = re.compile(
    r"(?<![\w$€£.,-])(?:[2-6]G(?! of\b)|[234]D|\d{3,4}[pi]|[458]K(?= (?:video|resolution|display|tv|uhd|monitor|streaming|hdr|ultra|screen|camera|quality|movie|content)))(?![\w-])"
)


def find(text: str) -> Iterator[Identifier]:
    """Finds all of them, in no order; they may overlap each other and what other patterns find."""
    yield from _standards(text)
    yield from _flights(text)
    yield from _accounts(text)
    yield from _keys(text)
    for match in _VERSION.finditer(text):
        if _VERSIONED.search(text[max(0, match.start() - 14) : match.start()]):
            yield match.start(), match.end(), (match.group(), f"v{match.group()}")
    for match in (*_REGISTRY.finditer(text), *_PATH.finditer(text)) if "\\" in text or "/" in text else ():
        written = match.group().rstrip(".\\")
        yield match.start(), match.start() + len(written), (caseless(written),)
    for match in _MAC.finditer(text):
        plain = match.group().lower().replace("-", ":")
        yield match.start(), match.end(), (plain, plain.replace(":", "-"))
    for match in _FEATURE.finditer(text):
        yield match.start(), match.end(), (match.group().lower(),)


def _standards(text: str) -> Iterator[Identifier]:
    """Finds standards: ISO 27001, ISO/IEC 27001:2022. The body that comes first says as much as all of them."""
    for match in _STANDARD.finditer(text):
        body, number = caseless(match["body"]).replace("-", " "), caseless(match["number"])
        first = body.partition("/")[0].partition(" ")[0]
        bodies = dict.fromkeys((body, body.replace("/", " "), body.replace(" ", "/"), first))
        forms = [f"{b}{sign}{number}" for b in bodies for sign in (" ", "-", "")]
        yield match.start(), match.end(), tuple(dict.fromkeys(forms))


def _flights(text: str) -> Iterator[Identifier]:
    """Finds numbers of flights, behind the word flight: LH 400, also written LH400 and LH 0400."""
    for match in _FLIGHT.finditer(text):
        line, number = match["line"].lower(), match["number"].lstrip("0") or "0"
        forms = [f"{line} {number}", f"{line}{number}", f"{line} {match['number']}", f"{line}{match['number']}"]
        yield match.start("line"), match.end(), tuple(dict.fromkeys(forms))


def _accounts(text: str) -> Iterator[Identifier]:
    """Finds IBANs, and Polish accounts in groups of four without their country. In groups of four the form says enough: one whose check digits are wrong is a claim as well."""
    for match in _NATIONAL.finditer(text):
        yield match.start(), match.end(), (match.group().replace(" ", ""), match.group())
    for match in _IBAN.finditer(text):
        compact = match.group().replace(" ", "")
        if _GROUPED_IBAN.fullmatch(match.group()) or _checks(compact):
            grouped = " ".join(compact[n : n + 4] for n in range(0, len(compact), 4))
            yield match.start(), match.end(), (compact.lower(), grouped.lower())


def _keys(text: str) -> Iterator[Identifier]:
    """Finds key combinations: Ctrl+Alt+Del in any language and with any sign between; a hyphen before a word in lower case is a hyphen."""
    for match in _KEYS.finditer(text):
        written = match.group()
        keys = [_SAME_KEY.get(k, k) for k in re.split(r" ?[+-] ?", written.lower())]
        last = re.split(r"[+-] ?", written)[-1]
        if "+" not in written and len(keys) == 2 and len(last) > 1 and last.islower():
            continue
        forms = ("+".join(keys), " + ".join(keys), "-".join(keys), written.lower())
        yield match.start(), match.end(), tuple(dict.fromkeys(forms))


def _checks(iban: str) -> bool:
    """The check digits of ISO 13616: the rearranged number leaves 1 when divided by 97."""
    return 15 <= len(iban) <= 34 and int("".join(str(int(c, 36)) for c in iban[4:] + iban[:4])) % 97 == 1
