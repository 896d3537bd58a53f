"""Text segmentation and normalisation: sentences, words, terms and folded forms, always with offsets into the given text.

Everything here is linear in the length of the text and keeps this promise: a span (start, end) that is returned for `text` satisfies `0 <=
start < end <= len(text)`; spans ascend and do not overlap.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from grounding.records import Span
from grounding.tables import table, word_set

_WORDS = table(__file__)
_ABBREVIATIONS = word_set(_WORDS["abbreviations"])
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_TERM = re.compile(rf"{_WORD.pattern}|(?<=[^\W_])\+(?![\w+])")
# a run of marks is tried from its first alone: what fails there fails from every later one
_BREAK = re.compile(r"\n+|(?<![.!?…])[.!?…]++[\"'”’)\]]*+(?=\s|$)|[。！？]+")
_LAST_TOKEN = re.compile(r"(\S{1,12})$")
_GERMAN_MONTH = re.compile(
    r" (?:Januar|Jänner|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember)\b"
)
_AMOUNT = re.compile(r"\d[ \u00a0]?$")  # the gram of "180 g." is no initial
_LEADER = re.compile(r"\.{4,}|(?<=[ \u00a0])\.{2,}|(?<=[ \u00a0])\.(?=[ \u00a0]+[+−-]? ?[\d$€£])")
"""Dots that lead from a label to its value: "Blue filter .......... £25"."""
_STRUCTURE = re.compile(r"^\s*(?:[-*•‣]\s+|\d{1,3}[.)]\s+|#{1,6}\s+|>\s+)?")
_UNSENDABLE = re.compile(r"[\x00\ud800-\udfff]")

DASHES = "‐‑‒–—―−﹘﹣－"
_SINGLE_QUOTES = "‘’‚"
_DOUBLE_QUOTES = "“”„«»"
_SPACES = "\u00a0\u202f\u2007\u2009\u200a\u3000"
_FOLD = {
    ord(char): plain
    for chars, plain in ((DASHES, "-"), (_SINGLE_QUOTES, "'"), (_DOUBLE_QUOTES, '"'), (_SPACES, " "))
    for char in chars
}

STOP_WORDS = word_set(_WORDS["stop_words"])


def sentences(text: str) -> list[Span]:
    """Sentences of `text` with offsets, trimmed of surrounding space.

    A line break ends a sentence (list items, table rows, headings); so does . ! ? … before white space, unless the
    full stop belongs to an abbreviation, an initial or a list number, or the dots lead from a label to its value. A table row ("Plan: Pro | Price: $9") is one sentence.
    """
    spans: list[Span] = []
    begin = 0
    line_end = bar = -1
    for match in _BREAK.finditer(text):
        if match.group()[0] != "\n":
            if match.start() > line_end:
                line_end = _line_end(text, begin)
                bar = text.rfind(" | ", begin, line_end)
            if bar >= begin or _continues(text, begin, match):
                continue
        _add(spans, text, begin, match.end())
        begin = match.end()
    _add(spans, text, begin, len(text))
    return spans


def _line_end(text: str, begin: int) -> int:
    end = text.find("\n", begin)
    return len(text) if end < 0 else end


def _continues(text: str, begin: int, match: re.Match[str]) -> bool:
    if _LEADER.fullmatch(text, match.start(), match.end()):
        return text[match.end() : match.end() + 1] not in ("", "\n")
    if match.group() != ".":
        return False
    token = _LAST_TOKEN.search(text, max(begin, match.start() - 14), match.start())
    if token is None:
        return match.start() > begin and not text[match.end() + 1 : match.end() + 2].isupper()
    word = token.group(1).lower().lstrip("(\"'“[")
    initial = (
        len(word) == 1 and word.isalpha() and not _AMOUNT.search(text, max(begin, token.start() - 4), token.start())
    )
    if word in _ABBREVIATIONS or initial:
        following = (
            text[match.end() :].lstrip(" ")[:1]
            if match.end() + 2 > len(text)
            else text[match.end() + 1 : match.end() + 2]
        )
        ends_here = following.isupper() and word in {
            "a.m",
            "p.m",
            "etc",
            "u.s",
            "u.k",
            "min",
            "max",
            "no",
            "inc",
            "ltd",
            "co",
        }
        return not ends_here
    if word.isdigit() and len(word) <= 2 and _GERMAN_MONTH.match(text, match.end()):
        return True
    return word.isdigit() and len(word) <= 3 and not text[begin : token.start()].strip()


def before_end(sentence: str) -> int:
    """Offset in `sentence` before its closing punctuation, where something can be inserted; behind a full stop that is part of its last
    word: "in the U.S.".
    """
    body = sentence.rstrip(".!?…")
    token = _LAST_TOKEN.search(body)
    if sentence[len(body) :] == "." and token and token.group(1).lower().lstrip("(\"'“[*_") in _DOTTED:
        return len(sentence)
    return len(body)


_DOTTED = frozenset("a.m p.m u.s u.k e.g i.e p.o etc approx inc ltd co corp z.b d.h bzw ca".split())
"""Abbreviations with which a sentence may end and that are none without their last dot."""


def _add(spans: list[Span], text: str, start: int, end: int) -> None:
    start, end = trim(text, start, end)
    if start < end:
        spans.append(Span(start, end, text[start:end]))


def trim(text: str, start: int, end: int) -> tuple[int, int]:
    """Start and end of `text[start:end]` without white space at its ends; an empty stretch comes back as (end, end)."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def body_start(sentence: str) -> int:
    """Offset at which the words of a line begin, after a list marker, heading sign or quote sign."""
    match = _STRUCTURE.match(sentence)
    return match.end() if match else 0


BAR = " | "
"""Between the cells of a row of a table, as the readers write it."""


def words(text: str) -> list[Span]:
    """Words (letters and digits, inner apostrophes kept) with offsets."""
    return [Span(m.start(), m.end(), m.group()) for m in _WORD.finditer(text)]


def terms(text: str) -> list[str]:
    """Index terms of `text`, in order: folded, lightly stemmed words without stop words. What lexical comparison works on. The sign behind a name is a word: mini, plus of
    "Mini+".
    """
    return list(_terms(text) if len(text) <= _SHORT else _terms.__wrapped__(text))


_SHORT = 200
"""Characters of a text whose terms are kept: sentences, cells and questions come again many times in a turn, passages have caches of their own."""


@lru_cache(maxsize=16384)
def _terms(text: str) -> tuple[str, ...]:
    found = (m.group().lower() for m in _TERM.finditer(fold(text)))
    return tuple(["plus" if w == "+" else stem(w) for w in found if w not in STOP_WORDS])


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """A light stem for English (S-stemmer of Harman 1991, plus -ed and -ing): never shorter than three letters."""
    if len(word) <= 3 or not word.isalpha():
        return word
    for suffix, keep in (("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("es", "e"), ("s", "")):
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            if suffix == "s" and word.endswith(("ss", "us", "is")):
                return word
            base = word[: -len(suffix)] + keep
            if suffix in ("ing", "ed") and len(base) > 3 and base[-1] == base[-2] and base[-1] not in "ls":
                base = base[:-1]
            return base.rstrip("e") if len(base) > 4 else base
    return word.rstrip("e") if len(word) > 4 else word


def fold(text: str) -> str:
    """`text` with dashes, quotes and exotic spaces replaced by plain ones. Same length as `text`, so offsets carry over."""
    return text.translate(_FOLD)


_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f"  # control characters
    "\xad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"  # unseen, or turning the line round
    "\U000e0000-\U000e007f]"  # tag characters, which hide whole sentences
)


def seen(text: str) -> str:
    """`text` without characters that nobody sees and that could part a number or an address in two: what is left reads as it looks."""
    return _UNSEEN.sub("", text)


def sendable(text: str) -> str:
    """`text` with what JSON for a service cannot carry (NUL, lone surrogates) as U+FFFD. Same length, so offsets carry over."""
    return _UNSENDABLE.sub("\ufffd", text)


def caseless(text: str) -> str:
    """`text` folded, in lower case and without accents; one code point for one, so offsets carry over."""
    return text.lower() if text.isascii() else text.translate(_CASELESS)


_KEPT_BELOW = 0x3000
"""Code points of scripts that are written with few letters: those beyond are a million, and have no case."""


class _Caseless(dict[int, str]):
    """By code point what `caseless` makes of it, worked out where it is first met: a text is then read at the speed of C."""

    def __missing__(self, code: int) -> str:
        char = fold(chr(code))
        base = unicodedata.normalize("NFD", char)[0].lower()
        plain = base if len(base) == 1 else char
        if code < _KEPT_BELOW:
            self[code] = plain
        return plain


_CASELESS = _Caseless()
