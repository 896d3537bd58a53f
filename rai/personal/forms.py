"""What its form alone gives away, a check digit where there is one: addresses of devices, national ids, vehicles, wallets, places, links, spelled-out contacts."""

from __future__ import annotations

import hashlib
import ipaddress
import re
from collections.abc import Callable, Iterator

from rai.personal.known import Kind

_MAC = re.compile(r"(?<![\w:-])[0-9A-Fa-f]{2}([:-])(?:[0-9A-Fa-f]{2}\1){4}[0-9A-Fa-f]{2}(?![\w:-])")
_MAC_DOTTED = re.compile(r"(?<![\w.])(?:[0-9A-Fa-f]{4}\.){2}[0-9A-Fa-f]{4}(?![\w.])")
_V4 = re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?:/\d{1,2})?(?![\w]|\.\d)")
_V6 = re.compile(
    r"(?<![\w:.])(?=[0-9A-Fa-f:]{0,30}:[0-9A-Fa-f]{0,4}:)[0-9A-Fa-f:]{3,39}(?:%\w{1,15}|/\d{1,3})?(?![\w:])"
)
_VERSION = re.compile(
    r"(?:\b(?:version|ver|firmware|release|build|update|driver|patch|v)\.?|\bsection|§)[ \t:]*$", re.IGNORECASE
)
_NINO = re.compile(r"(?<!\w)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D](?!\w)")
_DNI = re.compile(r"(?<![\w-])(?:\d{8}|[XYZ][ -]?\d{7}|\d{2}\.\d{3}\.\d{3})[ -]?[A-Z](?![\w-])", re.IGNORECASE)
_CODICE = re.compile(r"(?<!\w)[A-Z]{6}\d{2}[A-EHLMPRST]\d{2}[A-Z]\d{3}[A-Z](?!\w)", re.IGNORECASE)
_NIR = re.compile(r"(?<!\w)[12][ .-]?\d{2}[ .-]?\d{2}[ .-]?\d[\dAB][ .-]?\d{3}[ .-]?\d{3}[ .-]?\d{2}(?!\w)")
_LETTERED = re.compile(
    r"(?<![\w/=-])(?:[STFGM]\d{7}[A-Z]|[A-Z]{3}[PCHFATBLJG][A-Z]\d{4}[A-Z]|[1-9][A-Z][A-Z0-9]\d-?[A-Z][A-Z0-9]\d-?[A-Z]{2}\d{2}|[A-Z]{4}\d{6}[HM][A-Z]{5}[A-Z0-9]\d)(?![\w/-])"
)
"""Singapore's FIN, India's PAN, an MBI of Medicare, Mexico's CURP: letters and digits in an order of their own."""
_VIN = re.compile(r"(?<![\w/=])(?=[A-Z0-9]{0,12}[A-Z])(?=(?:[A-Z]*\d){6})[A-HJ-NPR-Z0-9]{13}\d{4}(?!\w)")
_UK_LICENCE = re.compile(r"(?<!\w)[A-Z9]{5} ?\d{6} ?[A-Z9]{2}\d?[A-Z]{1,2}(?: ?\d{2})?(?!\w)")
_VAT = re.compile(
    r"(?<!\w)(?:ATU\d{8}|BE ?[01]\d{9}|DE ?\d{3} ?\d{3} ?\d{3}|FR ?[A-Z0-9]{2} ?\d{9}|GB ?\d{3} ?\d{4} ?\d{2}|IT ?\d{11}|NL ?\d{9}B\d{2}|PL ?\d{10}|"
    r"PT ?\d{9}|ES ?[A-Z]\d{7}[A-Z0-9]|IE\d[A-Z0-9]\d{5}[A-Z]{1,2})(?!\w)"
)
_IMEI = re.compile(r"(?<![\w-])\d{2}[ -]?\d{6}[ -]?\d{6}[ -]?\d(?![\w-])")
_COIN = re.compile(
    r"(?<!\w)(?:bc1[02-9ac-hj-np-z]{25,59}|[13LD][1-9A-HJ-NP-Za-km-z]{25,34}|0x[0-9a-fA-F]{40}|4[0-9AB][1-9A-HJ-NP-Za-km-z]{93})(?!\w)"
)
_GPS = re.compile(
    r"(?<![\w.])[+-]?\d{1,2}\.\d{3,10}°?[ ]?[NSns]?[ \t]*[,;/ ][ \t]*[+-]?\d{1,3}\.\d{3,10}°?(?:[ ]?[EWOew](?!\w))?(?![\w]|\.\d)"
    r"|(?<!\w)[NS][ ]?\d{1,2}[°º]?[ ]\d{1,2}\.\d{1,6}['’′]?,?[ ]{1,2}[EWO][ ]?\d{1,3}[°º]?[ ]\d{1,2}\.\d{1,6}['’′]?"
    r"|(?<!\w)\d{1,2}[°º][ ]?\d{1,2}['’′][ ]?(?:\d{1,2}(?:\.\d{1,4})?[\"”″])?[ ]?[NS],?[ ]{0,2}\d{1,3}[°º][ ]?\d{1,2}['’′][ ]?(?:\d{1,2}(?:\.\d{1,4})?[\"”″])?[ ]?[EWO](?!\w)"
)
_LINK = re.compile(r"(?<![\w@])(?:[a-z]{2,9}://|www\.)[^\s<>\"'„“”»«|]{4,600}", re.IGNORECASE)
_LINK_VALUE = re.compile(
    r"[?&#;](?:[\w.-]{0,20}(?:token|key|sig|signature|session|sid|auth|otp|code|secret|pass(?:word)?|user(?:name|_?id)?|u?uid|email|mail|login|invite|"
    r"account|customer|member|name|phone|jwt|hash)|u)=([^&#;\s]{3,500})",
    re.IGNORECASE,
)
_LINK_USER = re.compile(
    r"/(?:~|@|(?:u|users?|profiles?|people|members?|accounts?|in|channel|reset|verify|confirm|invite|activate|unsubscribe|magic)/@?)([\w.%~+-]{3,200})",
    re.IGNORECASE,
)
_LINK_LOGIN = re.compile(r"://([^\s/@:]{1,64}(?::[^\s/@]{0,64})?)@")
_LINK_WORDS = frozenset(
    "me new edit all login signin settings help password index profile home list search default you us your".split()
)
_AT = r"[ \t]?[\[({<][ \t]?(?:at|ät|arobase|arroba|chiocciola|@)[ \t]?[\])}>][ \t]?"
_SAID_AT = r"[ \t]+(?:at|ät|arobase|arroba|chiocciola|@)[ \t]+"
_DOT = r"(?:[ \t]?[\[({<][ \t]?(?:dot|punkt|point|punto|ponto|\.)[ \t]?[\])}>][ \t]?|[ \t]+(?:dot|punkt|point|punto|ponto|punt|kropka)[ \t]+)"
_SEP = rf"(?:{_DOT}|\.|[ \t]+(?:underscore|dash|minus|hyphen|unterstrich|bindestrich)[ \t]+)"
_END = r"(?:com|org|net|edu|gov|info|io|me|eu|de|uk|co|fr|es|it|nl|pl|pt|at|ch|be|ie|us|ca|example|test)"
_SPELLED = re.compile(
    rf"(?<![\w.])[\w+-]{{1,40}}(?:{_SEP}[\w+-]{{1,40}}){{0,4}}(?:{_AT}[\w-]{{1,40}}(?:(?:{_DOT}|\.)[\w-]{{1,40}}){{0,3}}(?:{_DOT}|\.){_END}"
    rf"|(?:{_SAID_AT}|@)[\w-]{{1,40}}(?:(?:{_DOT}|\.)[\w-]{{1,40}}){{0,3}}{_DOT}{_END})(?!\w)",
    re.IGNORECASE,
)
"""An address that is spelled out. After a bare "at" the dot must be too: "open a ticket at shop.example" names a page."""
_DIGIT_WORD = (
    r"(?:oh|zero|nought|one|two|three|four|five|six|seven|eight|nine|double|triple|hundred|null|eins|zwei|zwo|drei|vier|fünf|sechs|sieben|acht|neun|"
    r"doppel|zéro|un|deux|trois|quatre|cinq|sept|huit|neuf|cero|uno|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|nul|een|twee|drie|vijf|zes|zeven|negen|"
    r"due|tre|quattro|cinque|sei|sette|otto|nove)"
)
_SPOKEN = re.compile(
    rf"(?<!\w)(?:plus[ \t]+)?{_DIGIT_WORD}(?:[ \t]*+[,…-]?+[ \t]*+(?<!\w)(?:{_DIGIT_WORD}|\d{{1,4}})(?!\w)){{5,24}}",
    re.IGNORECASE,
)
_ODD = re.compile(r"(?<![\w•·_*|~=])\+?\(?\d{1,5}\)?([•·_*|~=]|\.{2,3}|--)\d{1,5}(?:\1\d{1,5}){1,6}(?![\w•·_*|~=])")
_POSTCODE = re.compile(
    r"(?<![\w-])(?:AB|AL|B|BA|BB|BD|BH|BL|BN|BR|BS|BT|CA|CB|CF|CH|CM|CO|CR|CT|CV|CW|DA|DD|DE|DG|DH|DL|DN|DT|DY|E|EC|EH|EN|EX|FK|FY|G|GL|GU|GY|HA|HD|HG|"
    r"HP|HR|HS|HU|HX|IG|IM|IP|IV|JE|KA|KT|KW|KY|L|LA|LD|LE|LL|LN|LS|LU|M|ME|MK|ML|N|NE|NG|NN|NP|NR|NW|OL|OX|PA|PE|PH|PL|PO|PR|RG|RH|RM|S|SA|SE|SG|SK|SL|"
    r"SM|SN|SO|SP|SR|SS|ST|SW|SY|TA|TD|TF|TN|TQ|TR|TS|TW|UB|W|WA|WC|WD|WF|WN|WR|WS|WV|YO|ZE)\d[\dA-Z]?[ ]\d(?!GB|TB)[ABD-HJLNP-UW-Z]{2}(?![\w-])"
)
_CANADIAN = re.compile(r"(?<![\w-])[ABCEGHJ-NPRSTVXY]\d[ABCEGHJ-NPRSTV-Z][ ]\d[ABCEGHJ-NPRSTV-Z]\d(?![\w-])")
_CITY_ZIP = re.compile(
    r"(?<!\w)[A-Z][a-z.’'-]{1,20}(?:[ ][A-Z][a-z.’'-]{1,20}){0,2},[ ][A-Z]{2},?[ ]{1,2}\d{5}(?:-\d{4})?(?!\w)"
)
_WORDS3 = re.compile(r"(?<![\w/:])///[^\W\d_]{2,20}(?:\.[^\W\d_]{2,20}){2}(?!\w)")
_PLUS_CODE = re.compile(r"(?<!\w)(?:[2-9CFGHJMPQRVWX]{8}|[2-9CFGHJMPQRVWX]{4})\+[2-9CFGHJMPQRVWX]{2,3}(?!\w)")
_UUID = re.compile(r"(?<![\w/-])[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?![\w-])", re.IGNORECASE)
_KEY = re.compile(
    r"(?<![\w-])(?:(?:sk|pk|rk|api|key|tok|pat)[-_](?:live|test|prod|proj)?[-_]?(?=\w{0,30}\d)[\w-]{12,200}|gh[opsu]_\w{20,80}|xox[abprs]-[\w-]{10,90}|AKIA[A-Z0-9]{12,20}|AIza[\w-]{30,45}|"
    r"eyJ[\w-]{8,800}\.[\w-]{8,2000}(?:\.[\w-]{0,800})?)(?![\w-])"
)
_TAGGED = re.compile(r"(?<![\w#@])[^\W\d][\w.]{1,30}#\d{4}(?!\w)|(?<![\w/])u/[\w-]{3,20}(?!\w)")
_PROFILE = re.compile(
    r"(?<![\w@.-])(?:linkedin|facebook|fb|instagram|twitter|x|tiktok|github|gitlab|snapchat|youtube|twitch|vk|xing|paypal|t|wa|venmo)\.(?:com|me|tv)/"
    r"(?:in/|user/|add/|profile/|@)?@?([\w.-]{3,40}\w)(?![\w/])",
    re.IGNORECASE,
)
_LOOSE = re.compile(
    rf"(?<![\w.@])[\w.+-]{{1,40}}(?:[ ]@[ ]?|@[ ])[\w-]{{1,40}}(?:[ ]?\.[ ]?[\w-]{{1,40}}){{0,3}}[ ]?\.[ ]?{_END}(?!\w)",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"\d")


def find_forms(text: str) -> list[tuple[int, int, Kind]]:
    """The spans of what its form alone says to be somebody's, with their kinds, in no order, possibly overlapping."""
    found: list[tuple[int, int, Kind]] = [(*m.span(), "PHONE") for m in _SPOKEN.finditer(text)]
    if "@" in text or "at" in text.lower() or "arr" in text.lower() or "ät" in text or "chiocciola" in text:
        found += [(*m.span(), "EMAIL") for m in _SPELLED.finditer(text)]
    if "@" in text:
        found += [(*m.span(), "EMAIL") for m in _LOOSE.finditer(text)]
    if "/" in text or "#" in text:
        found += [(*m.span(1), "ONLINE") for m in _PROFILE.finditer(text)]
        found += [(*m.span(), "ONLINE") for m in _TAGGED.finditer(text)]
        found += [(*m.span(), "ADDRESS") for m in _WORDS3.finditer(text)]
    found += [(*m.span(), "SECRET") for m in _KEY.finditer(text)]
    if "://" in text or "www." in text.lower():
        found += [(*span, "ONLINE") for span in _in_links(text)]
    if ":" in text or "-" in text or "." in text:
        found += [
            (*m.span(), "ONLINE") for p in (_MAC, _MAC_DOTTED) for m in p.finditer(text) if _DIGITS.search(m.group())
        ]
        found += [(*span, "ONLINE") for span in _addresses_of_devices(text)]
    if not _DIGITS.search(text):
        return found
    for pattern, sound in _NUMBERS:
        found += [(*m.span(), "NUMBER") for m in pattern.finditer(text) if sound(m.group())]
    found += [
        (*m.span(), "ADDRESS") for p in (_GPS, _POSTCODE, _CANADIAN, _CITY_ZIP, _PLUS_CODE) for m in p.finditer(text)
    ]
    return found + [(*m.span(), "PHONE") for m in _ODD.finditer(text) if 9 <= len(_DIGITS.findall(m.group())) <= 15]


def _addresses_of_devices(text: str) -> Iterator[tuple[int, int]]:
    for match in _V4.finditer(text):
        if not _VERSION.search(text, max(0, match.start() - 20), match.start()) and _is_address(match.group()):
            yield match.span()
    for match in _V6.finditer(text):
        if _is_address(match.group()) and len(match.group()) > 3:
            yield match.span()


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text.partition("/")[0].partition("%")[0])
    except ValueError:
        return False
    return True


def _in_links(text: str) -> Iterator[tuple[int, int]]:
    """What in a link names or lets in one person: user names, addresses and tokens; the rest of it stays."""
    for link in _LINK.finditer(text):
        for pattern in (_LINK_VALUE, _LINK_USER, _LINK_LOGIN):
            for match in pattern.finditer(text, link.start(), link.end()):
                start, end = match.span(1)
                value = match[1].rstrip(".,;:!?)")
                if value.lower() not in _LINK_WORDS:
                    yield start, end - len(match[1]) + len(value)


def _luhn(text: str) -> bool:
    digits = [int(c) for c in reversed(text) if c.isdigit()]
    doubled = (d * 2 - 9 * (d > 4) for d in digits[1::2])
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0 and len(set(digits)) > 1


def _dni(text: str) -> bool:
    signs = [c for c in text.upper() if c.isalnum()]
    first = {"X": "0", "Y": "1", "Z": "2"}.get(signs[0], signs[0])
    return "TRWAGMYFPDXBNJZSQVHLCKE"[int("".join([first, *signs[1:-1]])) % 23] == signs[-1]


def _nir(text: str) -> bool:
    plain = "".join(c for c in text if c.isalnum())
    body = plain[:13].replace("2A", "19").replace("2B", "18")
    return body.isdigit() and 97 - int(body) % 97 == int(plain[13:])


_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def _coin(text: str) -> bool:
    """True for a wallet whose form is enough, or whose last four bytes are the hash of the others."""
    if not text.isalnum() or len(text) > 35 or text.startswith(("0x", "bc1")):
        return True
    number = 0
    for char in text:
        number = number * 58 + _BASE58.index(char)
    raw = number.to_bytes(27, "big")[-25:] if number.bit_length() <= 216 else b""
    return hashlib.sha256(hashlib.sha256(raw[:-4]).digest()).digest()[:4] == raw[-4:] and len(raw) == 25


def _any(_text: str) -> bool:
    return True


_NUMBERS: tuple[tuple[re.Pattern[str], Callable[[str], bool]], ...] = (
    (_NINO, _any),
    (_DNI, _dni),
    (_CODICE, _any),
    (_NIR, _nir),
    (_LETTERED, _any),
    (_VIN, _any),
    (_UK_LICENCE, _any),
    (_VAT, _any),
    (_IMEI, _luhn),
    (_COIN, _coin),
    (_UUID, _any),
)
