"""Postal addresses in six languages: house number and street, PO boxes, with what follows of suite, town and postcode."""

from __future__ import annotations

import re

from grounding.tables import table
from grounding.text import caseless
from rai.claims.found import Found

_ABBREVIATED: dict[str, str] = table(__file__)["abbreviated"]
_STATE = (
    "AL|AK|AZ|AR|CA|CO|CT|DE|DC|FL|GA|HI|ID|IL|IN|IA|KS|KY|LA|ME|MD|MA|MI|MN|MS|MO|MT|NE|NV|NH|NJ|NM|NY|NC|ND|OH|OK|"
    "OR|PA|RI|SC|SD|TN|TX|UT|VT|VA|WA|WV|WI|WY|ON|QC|BC|AB|MB|SK|NS|NB"
)
_SUFFIX = (
    "Street|St|Avenue|Ave|Av|Road|Rd|Boulevard|Blvd|Lane|Ln|Ct|Pl|Sq|Highway|Hwy|Parkway|Pkwy|Terrace|Ter|Crescent|Quay|"
    "Embankment|Mews|Broadway|Wharf"
)
# words that are more often something else: only where no common word follows ("3 Big Close friends")
_SUFFIX_WORD = "Drive|Dr|Court|Place|Square|Way|Close|Row|Walk|Gardens|Plaza|Circle|Alley|Hill|Green"
_NO_WORD = r"(?! (?!(?:in|at|on|and|or|near|by|from|for|is|with|opposite|between)\b)[a-z])"
_CAP = r"[A-ZÀ-ÖØ-Þ][\w'’-]{0,30}"
_ROOM = r"(?:Suite|Ste|Floor|Fl|Unit|Apt|Apartment|Room|Building|Bldg)\.? ?#?\w{1,6}|\d{1,2}(?:st|nd|rd|th) [Ff]loor|#\d{1,5}"
_UK = r"[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}\b"
_POSTED = rf"(?:{_STATE})(?:,? \d{{5}}(?:-\d{{4}})?|,? [A-Z]\d[A-Z] \d[A-Z]\d)?(?!\w)|{_UK}|\d{{5}}(?:-\d{{4}})?(?!\w)"
_LETTERS = r"[A-ZÀ-ÖØ-Þ][^\W\d_]{0,30}(?:['’-][^\W\d_]{1,30}){0,3}"
_TOWN = rf"{_LETTERS}(?: {_LETTERS}){{0,3}}"
_TAIL = rf"(?:,? (?:{_ROOM})){{0,2}}(?:, {_TOWN}(?=,| (?:{_POSTED})|[.;)\s]|$))?(?:,? (?:{_POSTED}))?"
_PLACE = rf"(?:(?:,| -)? (?:(?:D|F|A|CH|E|I|P|B|L)-)?(?:\d{{4}}-\d{{3}}|\d{{4,5}}) {_CAP}(?:[ -]{_CAP}){{0,2}}(?: \([A-Z]{{2}}\))?)?"
_NUMBER = r"(?:,? (?:n[º°.] ?)?\d{1,4}(?: ?[a-zA-Z]\b)?(?:[-/]\d{1,4})?)"
_OF = r"(?:(?:de la|de los|de las|del|de|da|do|dos|das|della|delle|dei|di|du|des|la|le|les|l['’]|d['’]) ?)"
_PATTERNS = (
    re.compile(
        rf"(?<![\w.,-])\d{{1,5}}[A-Za-z]?(?:-\d{{1,5}})? (?:(?:[NSEW]|North|South|East|West)\.? )?"
        rf"(?:(?:{_CAP}|\d{{1,3}}(?:st|nd|rd|th)) ){{1,4}}(?:(?:{_SUFFIX})\b|(?:{_SUFFIX_WORD})\b{_NO_WORD})\.?(?: (?:[NSEW]{{1,2}}|North|South|East|West)\b)?{_TAIL}"
    ),
    re.compile(
        rf"\b(?:[A-ZÄÖÜ][\wäöüß-]{{1,30}}(?:straße|strasse|str\.|weg|platz|allee|gasse|ufer|damm|ring|markt)|"
        rf"(?:{_CAP} ){{1,2}}(?:Straße|Strasse|Str\.|Allee|Platz|Weg|Ring|Damm|Ufer)) "
        rf"\d{{1,4}} ?(?:[a-z]\b)?(?:[-–]\d{{1,4}})?{_PLACE}"
        rf"|\b(?:Am|An der|Unter den|Auf dem|Im|Zum|Zur) {_LETTERS} \d{{1,4}} ?[a-z]?,? (?:D-)?\d{{5}} {_LETTERS}"
    ),
    re.compile(
        rf"(?<![\w.,-])\d{{1,4}}(?: (?:bis|ter))?,? (?:rue|avenue|av\.|boulevard|bd\.?|place|quai|chemin|allée|impasse|cours|route|square)"
        rf" {_OF}{{0,2}}(?:{_CAP})(?:[ -](?:{_OF})?{_CAP}){{0,4}}{_PLACE}",
    ),
    re.compile(
        rf"\b(?:Calle|C/|Avenida|Avda\.|Plaza|Paseo|Carrer|Rua|R\.|Praça|Travessa|Estrada|Largo|Via|Viale|V\.le|Corso|C\.so|Piazza|P\.zza|Vicolo|Strada)"
        rf" {_OF}{{0,2}}{_CAP}(?: (?:{_OF})?{_CAP}){{0,4}}{_NUMBER}{_PLACE}"
    ),
    re.compile(
        rf"\b(?:P\.? ?O\.? ?Box|PO Box|Post Office Box|Postfach|Apartado(?: de Correos)?|Apdo\.|Casella Postale|Caixa Postal|Boîte postale|BP|B\.P\.) "
        rf"\d{{1,3}}(?: ?\d{{1,3}}){{0,3}}(?:(?:,? {_TOWN})?,? (?:(?:{_STATE}) \d{{5}}(?:-\d{{4}})?|{_UK})|{_PLACE})"
    ),
    # a town with its postcode alone
    re.compile(rf"(?<![\w-]){_TOWN}, (?:{_STATE}),? \d{{5}}(?:-\d{{4}})?(?!\w)"),
    re.compile(rf"(?<![\w-])(?:{_TOWN},? )?[A-Z]{{1,2}}\d[A-Z\d]? \d[A-Z]{{2}}(?!\w)"),
    re.compile(
        rf"(?<![\w-])(?:(?:D|F|A|CH|E|I|P|B|L)-\d{{4,5}}|(?:PLZ|CP|CAP|C\.P\.) \d{{4,5}}) {_CAP}(?:[ -]{_CAP}){{0,2}}"
    ),
)
_COUNTRY = re.compile(r"\b(?:d|f|a|ch|e|i|p|b|l)-(?=\d{4,5}\b)")
_NO_STREET = frozenset(
    "step steps question questions day days hour hours minute minutes item items people users".split()
)
_DIGIT = re.compile(r"\d")
_BOX = re.compile(
    r"\b(?:p o box|p\.o\. ?box|po box|post office box|postfach|apartado de correos|apartado|apdo|casella postale|caixa postal|boite postale|bp|b\.p\.)\b"
)


def find(text: str) -> list[Found]:
    """Finds postal addresses, each with a comparable form: lower case, "St" spelled out, punctuation dropped."""
    if _DIGIT.search(text) is None:
        return []
    found: list[Found] = []
    for pattern in _PATTERNS:
        for match in pattern.finditer(text):
            end = match.start() + len(match.group().rstrip(" ,."))
            value = normal(text[match.start() : end])
            if not _NO_STREET & set(value.split()):
                found.append(Found("entity", match.start(), end, value, entity="address"))
    return found


def normal(address: str) -> str:
    """The comparable form of an address: in lower case, with street types spelled out, postbox digits together, Hauptstr. as hauptstraße."""
    plain = _BOX.sub("box", caseless(address).replace("p. o. box", "po box"))
    if plain.startswith("box "):
        plain = re.sub(r"(?<=\d) (?=\d{1,3}(?!\d))", "", plain, count=3)
    words = re.findall(r"[\w'-]+", _COUNTRY.sub("", plain))
    return " ".join(_word(word) for word in words)


def _word(word: str) -> str:
    if len(word) > 5 and word.endswith(("strasse", "str")):
        return word.removesuffix("strasse").removesuffix("str") + "straße"
    return _ABBREVIATED.get(word, word)
