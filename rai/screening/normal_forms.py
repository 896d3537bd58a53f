"""Normal forms of a text, and texts hidden in it in another form: the screen reads what a model would read.

Decoding goes two layers deep and gives a bounded number of pieces; what is no readable text is dropped.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
import string
import unicodedata
import urllib.parse
from collections.abc import Callable, Iterator
from functools import cache, lru_cache

from grounding.tables import table, word_set, yaml_table

MOST_PIECES = 20
"""Most pieces that one text is decoded into."""
_LONGEST_BLOB = 4000
"""Most characters of an encoded piece that are decoded."""
_LONGEST_CIPHER = 2000
"""Most characters of a text that is tried as a cipher."""
_HIDDEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f\U000e0100-\U000e01ef]"
)
_TAGS = re.compile("[\U000e0020-\U000e007e]+")
_LOOKALIKES = str.maketrans(
    "аеорсухіјѕԁԛԝһѵґкмнтвАВЕКМНОРСТУХІЈЅαβεικνορτυχγηωΑΒΕΖΗΙΚΜΝΟΡΤΥΧıɡɑʟɴʀøøłđħ’‘‛`´“”„«»–—−‐‑",
    "aeopcyxijsdqwhvrkmhtbABEKMHOPCTYXIJSabeiknoptuxynwABEZHIKMNOPTYXigaLNRooldh'''''\"\"\"\"\"-----",
)
_SPACES = re.compile(r"[^\S\n]+")
_LINES = re.compile(r" ?\n[\s]*")
_LEET = str.maketrans("013457@$!|", "oieastasii")
_LEET_WORD = re.compile(r"(?<![a-z0-9@$!|])(?=[a-z]*[0-9@$!|])[a-z0-9@$!|]{2,24}(?![a-z0-9@$|])")
_SPREAD = re.compile(r"(?<!\w)(?:\w[ ._*-]){3,40}\w(?!\w)")


def normal(text: str) -> str:
    """A text in its normal form: compatibility forms, look-alike letters and accents made plain, no hidden characters, lower case, single spaces."""
    return plain_letters(text).lower()


def plain_letters(text: str) -> str:
    """A text in its normal form, but with its capitals."""
    if not text.isascii():
        text = _HIDDEN.sub("", unicodedata.normalize("NFKC", text)).translate(_LOOKALIKES)
        text = "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c))
    return _LINES.sub("\n", _SPACES.sub(" ", text)).strip()


def spelled_out(plain: str) -> Iterator[str]:
    """The normal form `plain` with disguises of its words undone: 1gn0re, i g n o r e, one word to a line; nothing if it has none."""
    triggers = _triggers()

    def leet(match: re.Match[str]) -> str:
        word = match.group().strip("!|").translate(_LEET)
        return word if word in triggers else match.group()

    def join(match: re.Match[str]) -> str:
        return re.sub(r"[ ._*-]", "", match.group())

    form = _SPREAD.sub(join, _LEET_WORD.sub(leet, plain))
    if form != plain:
        yield form
    breaks = plain.count("\n")
    if breaks > 2 and len(plain) < 24 * breaks:
        yield form.replace("\n", " ")


@cache
def _triggers() -> frozenset[str]:
    return frozenset(yaml_table(__file__, "rules/triggers.yaml"))


# --- what is hidden in another form -------------------------------------------------------------------------------


_BASE64 = re.compile(r"(?<![\w+/=-])[A-Za-z0-9+/_-]{20,}={0,2}(?![\w+/=])")
_HEX = re.compile(r"(?<![\w])(?:(?:\\x|0x)?[0-9a-fA-F]{2}[ ,]?){12,}(?![\w])")
_BITS = re.compile(r"(?<![\w])(?:[01]{8} ?){6,}(?![\w])")
_DECIMALS = re.compile(r"(?<![\w])(?:1?\d{2}[ ,]{1,2}){11,}1?\d{2}(?![\w])")
_ESCAPES = re.compile(r"(?:\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}){6,}(?:[ ]?(?:\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}))*")
_PERCENT = re.compile(r"(?:%[0-9a-fA-F]{2}[\w.~-]{0,12}){4,}")
_ENTITY = re.compile(r"(?:&(?:#\d{1,7}|#x[0-9a-fA-F]{1,6}|[a-z]{2,8});[\w ]{0,12}){4,}")
_BRAILLE = re.compile("[\u2800-\u28ff]{2}[\u2800-\u28ff ]{10,}")
_MORSE = re.compile(r"(?<![\w.-])(?:[.-]{1,5}(?: / | {1,3}|/|\n)){8,}[.-]{1,5}(?![\w.-])")
_KEPT = 10_000
"""Most characters of a text whose hidden forms are kept."""
_MIRRORED = re.compile("[\u202e\u202d]")
_PRINTABLE = frozenset(string.printable)
_BRAILLE_LETTERS = dict(zip("⠁⠃⠉⠙⠑⠋⠛⠓⠊⠚⠅⠇⠍⠝⠕⠏⠟⠗⠎⠞⠥⠧⠺⠭⠽⠵⠀", "abcdefghijklmnopqrstuvwxyz ", strict=True))
_MORSE_SIGNS = (
    ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --.."
)
_MORSE_LETTERS = dict(zip(_MORSE_SIGNS.split(), string.ascii_lowercase, strict=True))


def decoded(text: str, *, layers: int = 2) -> tuple[str, ...]:
    """Readable text hidden in `text` in another form, at most 20 pieces, and what is hidden in those.

    Forms: base64, hexadecimal, binary and decimal codes, Unicode, URL and HTML escapes, Braille, Morse, tag characters,
    letters moved along the alphabet, text written backwards, digits for letters.
    """
    return _kept(text, layers) if len(text) <= _KEPT else _decoded(text, layers)


def _decoded(text: str, layers: int) -> tuple[str, ...]:
    pieces = tuple(_found(text))
    if layers > 1:
        pieces += tuple(inner for piece in pieces[:4] for inner in decoded(piece, layers=layers - 1))
    return pieces


_kept = lru_cache(maxsize=64)(_decoded)  # the rules and the classifier each judge them; a megabyte is not kept


def _found(text: str) -> Iterator[str]:
    found = 0
    for piece in (*_blobs(text), *_ciphers(text)):
        if len(piece) >= 8 and all(c in _PRINTABLE for c in piece) and re.search(r"[a-zA-Z]{3}", piece):
            yield piece
            found += 1
        if found >= MOST_PIECES:
            return


def _blobs(text: str) -> Iterator[str]:
    for match in _TAGS.finditer(text):
        yield "".join(chr(ord(c) - 0xE0000) for c in match.group())
    for pattern, decode in _DECODERS:
        for match in pattern.finditer(text):
            yield decode(match.group()[:_LONGEST_BLOB])


def _base64(blob: str) -> str:
    body = blob.rstrip("=").replace("-", "+").replace("_", "/")
    body = body[: len(body) - (len(body) % 4 == 1)]
    try:
        return base64.b64decode(body + "=" * (-len(body) % 4), validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return ""


def _hex(blob: str) -> str:
    return bytes.fromhex(re.sub(r"\\x|0x|[ ,]", "", blob)[: _LONGEST_BLOB // 2 * 2]).decode("latin-1")


def _bits(blob: str) -> str:
    return "".join(chr(int(b, 2)) for b in re.findall("[01]{8}", blob))


def _decimals(blob: str) -> str:
    return "".join(chr(int(d)) for d in re.findall(r"\d+", blob))


def _escaped(blob: str) -> str:
    return re.sub(r"\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})", lambda m: chr(int(m.group(1) or m.group(2), 16)), blob)


def _braille(blob: str) -> str:
    return "".join(_BRAILLE_LETTERS.get(c, " ") for c in blob)


def _morse(blob: str) -> str:
    words = re.split(r" ?/ ?| {2,}|\n", blob)
    return " ".join("".join(_MORSE_LETTERS.get(c, "") for c in word.split()) for word in words)


_DECODERS: tuple[tuple[re.Pattern[str], Callable[[str], str]], ...] = (
    (_BASE64, _base64),
    (_ESCAPES, _escaped),
    (_HEX, _hex),
    (_BITS, _bits),
    (_DECIMALS, _decimals),
    (_PERCENT, urllib.parse.unquote),
    (_ENTITY, html.unescape),
    (_BRAILLE, _braille),
    (_MORSE, _morse),
)


# --- ciphers: tried only where the text is not already in a language ----------------------------------------------

_WORD = re.compile(r"[a-zA-Z]{2,}")
_MIXED = re.compile(r"[a-zA-Z][0134570@$]|[0134570@$][a-zA-Z]")
_LETTERED = re.compile(r"(?<!\w)(?:\w(?: \w)*(?: {2,}|\n)){2,}\w(?: \w)*(?!\w)")
_QUOTED = re.compile(r"[^.:!?\n\"“”]{12,}")
_WORDS = table(__file__)
_COMMON = word_set(_WORDS["common"])
_LETTERS = string.ascii_lowercase + string.ascii_uppercase


def _ciphers(text: str) -> Iterator[str]:
    """Texts hidden by ciphers: spaced letters, and stretches that read as English only once their letters are moved, turned round or written out."""
    if _MIRRORED.search(text):
        yield _HIDDEN.sub("", text)[::-1][:_LONGEST_CIPHER]
    if len(text) > _LONGEST_CIPHER:
        return
    for match in _LETTERED.finditer(text):
        yield " ".join(word.replace(" ", "") for word in re.split(r" {2,}|\n", match.group()))
    for match in _QUOTED.finditer(text):
        words = _WORD.findall(match.group())
        if len(words) >= 4 and not any(w.lower() in _COMMON for w in words):
            yield from _uncovered(match.group().strip())
    if len(_MIXED.findall(text)) >= 3:
        written = text.lower().translate(_LEET)
        if _english(written) > _english(text.lower()) + 0.1:
            yield written


def _uncovered(part: str) -> Iterator[str]:
    turned = [form for form in (part[::-1], " ".join(w[::-1] for w in part.split())) if _english(form) >= 0.3]
    if turned:
        yield from turned
        return
    for shift in range(1, 26):
        form = part.translate(_shifted(shift))
        if _english(form) >= 0.3:
            yield form
            return


@cache
def _shifted(by: int) -> dict[int, int]:
    low, high = string.ascii_lowercase, string.ascii_uppercase
    return str.maketrans(_LETTERS, low[by:] + low[:by] + high[by:] + high[:by])


def reads_as_english(text: str) -> bool:
    """True if at least a sixth of the words are among the commonest of English: a code or a list of fields has hardly any."""
    words = [w.lower() for w in _WORD.findall(text)]
    return len(words) > 2 and sum(w in _COMMON for w in words) * 6 >= len(words)


def _english(text: str) -> float:
    """The share of words that are among the commonest of English; 0 with fewer than three of them."""
    words = [w.lower() for w in _WORD.findall(text)]
    common = sum(w in _COMMON for w in words)
    return common / len(words) if common > 2 else 0.0
