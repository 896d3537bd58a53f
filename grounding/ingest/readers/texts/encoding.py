"""Detection of a text's character encoding where it does not say so: the one under which its letters are those of some language.

Byte order marks come first, then UTF-16 by its zero bytes, then UTF-8. What is left is old: each candidate decodes the beginning, and the
share of letters that one language uses decides; among equals the candidate named first.
"""

from __future__ import annotations

import codecs
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.resources import files

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SAMPLE = 65_536
_ENOUGH = 0.85  # of the letters beyond ASCII must be of the language
_PAIRED = 0.06  # for encodings that most sequences of bytes break

_THAI = "".join(map(chr, range(0x0E01, 0x0E5C)))


def _one_byte() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Single-byte encodings, with the letters of each of the languages that they were made for, from `alphabets.json`."""
    table = json.loads(files("grounding.ingest.readers.texts").joinpath("alphabets.json").read_text("utf-8"))
    letters = {**table["letters beyond ASCII"], "thai": {"Thai": _THAI}}
    for encoding, script in table["encodings of one byte"]:
        yield encoding, tuple(letters[script].values())


_ALONE = tuple(_one_byte())
_FREQUENT = frozenset("оеаинтсрвлαουετνιςיולהמארתاليمنوترานรกอเง่ยม")  # the usual letters of these scripts
_SINGLE = frozenset("авикосуяєіїжбοηήàéèòóáåö")  # words of one letter
_SIGNS = frozenset("€£¥§©®°±²³µ·¼½¾×÷–—‘’‚“”„†‡•…‰‹›™«»¿¡ªº\xa0\xad№")
_SIGN_IN_WORD = re.compile(r"(?<=[^\W\d_])[€£¥§©®±²³¼½¾×÷†‡•…‰‹›™«»¿¡ªº\xad](?=[^\W\d_])")
_LETTERS = re.compile(r"[^\W\d_]+")
_RUN = re.compile(r"[^\x00-\x7f]+")
_AT_LATIN = re.compile(r"(?<=[A-Za-z])[^\x00-\x7f]+|[^\x00-\x7f]+(?=[a-z])")


def decode(data: bytes) -> str:
    """Text of `data` in its detected encoding; bytes that stand for nothing become U+FFFD; a byte order mark goes. Linear, never raises."""
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    if wide := _wide(data[:4096]):
        return data.decode(wide, "replace")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("utf-8", "replace")
        broken = text.count("\ufffd")
        beyond_ascii = len(text) - len(text.encode("ascii", "ignore")) - broken
        return text if beyond_ascii > 4 * broken else data.decode(_old(data), "replace")
    if "\x1b$" in text[:_SAMPLE] and _sample(data, "iso2022_jp"):
        return data.decode("iso2022_jp", "replace")
    return text


def _wide(head: bytes) -> str | None:
    even, odd = head[0::2].count(0), head[1::2].count(0)
    half = len(head) // 2
    if half < 2 or even + odd < half * 0.3:
        return None
    if odd > 8 * even:
        return "utf-16-le"
    return "utf-16-be" if even > 8 * odd else None


def _old(data: bytes) -> str:
    """Name of the legacy encoding; Windows-1252 when none is convincing."""
    best, name = _ENOUGH, "cp1252"
    for encoding, measure in _MULTIBYTE:
        if (text := _sample(data, encoding)) and (share := _common(text, measure)) > best:
            best, name = share, encoding
    for encoding, alphabets in _ALONE:
        if (text := _sample(data, encoding)) and (share := _of_a_language(text, alphabets)) > best:
            best, name = share, encoding
    return name


def _sample(data: bytes, encoding: str) -> str:
    """The beginning of `data` decoded with `encoding`, or "" if it cannot be that."""
    try:
        return codecs.getincrementaldecoder(encoding)().decode(data[:_SAMPLE], final=len(data) <= _SAMPLE)
    except UnicodeDecodeError:
        return ""


def _common(text: str, measure: Callable[[str], bool]) -> float:
    """Share of the characters beyond ASCII that are in common use by `measure`; 0 if most touch Latin words."""
    beyond = Counter(c for c in text if c > "\x7f")
    if beyond.total() < 3 or len(_AT_LATIN.findall(text)) * 2 > len(_RUN.findall(text)):
        return 0.0
    return sum(count for c, count in beyond.items() if measure(c)) / beyond.total() + _PAIRED


def _of_a_language(text: str, alphabets: tuple[str, ...]) -> float:
    """Share of the characters beyond ASCII that the best-fitting alphabet has, less a penalty for signs of a wrong encoding: signs that no
    text has or that stand inside words, words of two scripts, capitals behind small letters.
    """
    beyond = Counter(c for c in text if c > "\x7f")
    letters = Counter({c: n for c, n in beyond.items() if c.isalpha() or unicodedata.combining(c) or c in _THAI})
    signs = beyond - letters
    odd = sum(n for c, n in signs.items() if c not in _SIGNS) + len(_SIGN_IN_WORD.findall(text))
    if not letters:
        return 0.0 if odd else _ENOUGH + 0.01
    if letters.total() < 3 and min(letters) > "\u024f":
        return 0.0
    total = letters.total() + odd
    share = (
        max(sum(n for c, n in letters.items() if c in alphabet or c.lower() in alphabet) for alphabet in alphabets)
        / total
    )
    frequent = sum(n for c, n in letters.items() if c in _FREQUENT) / total
    words = [word for word in _LETTERS.findall(text) if not word.isascii()]
    return share - 0.5 * sum(map(_is_odd, words)) / max(len(words), 1) + 0.2 * frequent


def _is_odd(word: str) -> bool:
    """True for a word that a wrong encoding makes: letters of two scripts, a capital behind a small letter, a letter that is no word."""
    if len(word) == 1:
        return word.lower() not in _SINGLE
    if 0 < sum(c > "\u024f" for c in word) < len(word):
        return True
    return word != word.lower() and word != word.upper() and not word[1:].islower()


def _row(char: str, encoding: str) -> int:
    try:
        code = char.encode(encoding)
    except UnicodeEncodeError:
        return 0
    return code[0] if len(code) == 2 else 0


def _is_japanese(char: str) -> bool:
    """True for kana, signs, wide letters and the 2,965 characters of the first level of JIS X 0208."""
    row = _row(char, "euc_jp")
    return 0xA1 <= row <= 0xA5 or 0xB0 <= row <= 0xCF


def _is_korean(char: str) -> bool:
    return "\uac00" <= char <= "\ud7a3" or 0xA1 <= _row(char, "euc_kr") <= 0xA3


def _is_simplified(char: str) -> bool:
    row = _row(char, "gb2312")
    return 0xA1 <= row <= 0xA3 or 0xB0 <= row <= 0xD7


def _is_traditional(char: str) -> bool:
    return 0xA1 <= _row(char, "big5") <= 0xC6


_MULTIBYTE = (
    ("cp932", _is_japanese),
    ("cp949", _is_korean),
    ("gb18030", _is_simplified),
    ("big5", _is_traditional),
    ("euc_jp", _is_japanese),
)
