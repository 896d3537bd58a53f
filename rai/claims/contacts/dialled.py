"""Numbers that are written for the ear or the keypad: vanity numbers, digits in words, short and star codes."""

from __future__ import annotations

import re
from collections.abc import Iterator

Dialled = tuple[int, int, str]
"""Start, end, and what is dialled."""

_KEYS = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "22233344455566677778889999")
_VANITY = re.compile(
    r"(?<![\w+-])(?P<country>\+?1[ .-])?\(?(?P<area>8(?:00|33|44|55|66|77|88))\)?[ .-](?=[A-Z0-9.-]{0,16}[A-Z])"
    r"(?P<rest>[A-Z0-9]{1,9}(?:[.-][A-Z0-9]{1,9}){0,3}(?: [A-Z]{2,8}\b)?)(?![\w-])"
)
_LETTERED = re.compile(
    r"(?:\b(?:call|dial|phone|tel|ring)\b[^.!?\n\d]{0,20})(?P<all>\(?(?P<area>[2-9]\d\d)\)?[ .-](?P<rest>(?=[A-Z0-9-]{0,8}[A-Z])[A-Z0-9]{3}-?[A-Z0-9]{4}))(?![\w-])"
)
_DIGIT = dict.fromkeys(("zero", "oh", "o", "nought"), "0")
_DIGIT |= {word: str(digit) for digit, word in enumerate("one two three four five six seven eight nine".split(), 1)}
_DIGIT |= {"hundred": "00"}
_TIMES = {"double": 2, "triple": 3}
_WORD = rf"(?:{'|'.join([*_DIGIT, *_TIMES])})"
_SPOKEN = re.compile(rf"\b{_WORD}\b(?:(?:, |[ -]){_WORD}\b){{3,24}}", re.IGNORECASE)
_SPOKEN_CUE = re.compile(r"\b(?:call|phone|tel|telephone|dial|ring|fax|number|hotline|reach|text)\b", re.IGNORECASE)
LEAST_SPOKEN = 7
"""Digits in words below which they count something rather than dial."""

_SERVICES = frozenset(
    "112 911 999 000 110 111 101 105 119 118 115 113 116117 116123 15 17 18 211 311 411 511 611 711 811 988".split()
)
_AFTER = r"(?=[.,;:!?)\]]?(?:\s*$|\n|[.!?]\s)|[,;)\]]|\s(?:for|to|if|in|or(?! more\b)|and|from|immediately|now|free|within|when|at once|on your|via|as)\b)"
_SHORT = re.compile(
    r"\b(?P<verb>call(?:ing)?|dial(?:ling|ing)?|ring|phone|press|notruf|appelez|composez|wählen sie|llame al|marque el|chiamare il|ligue)"
    r" (?:the )?(?:(?:emergency )?(?:number|services|line|hotline)(?: on| at)? |unter |us on |us at )?(?:\*\*)?(?P<number>[*#]{0,2}\d{2,6}#?)(?:\*\*)?(?!\w|[.,:/%-]\d)"
    + _AFTER,
    re.IGNORECASE | re.MULTILINE,
)
_MESSAGE = re.compile(
    r"\b(?:text|sms|send|message)\b[^.!?\n]{0,40}?\b(?:to|an|au|al) (?:short ?code )?(?P<number>\d{3,6}(?:[- ]\d{3})?)(?!\w|[.,:/%-]\d)"
    + _AFTER,
    re.IGNORECASE | re.MULTILINE,
)
_TEXTED = re.compile(
    r"\b(?i:text|sms)(?i: us)?(?: on| at| an| au| al)? (?P<number>\d{5,6})(?!\w|[.,:/%-]\d)"
    r"|\b[A-ZÄÖÜÀ-Ý]{2,12}\b[^.!?\n\d]{0,30}?(?: to| an| an die| au| al| ao| naar| pod| na| ->| →) (?P<behind>\d{5,6}|\d\d \d{3})(?![\w%]|[.,:/-]\d| ?(?:[€£$]|EUR\b))"
)
"""A number that a word is sent to: "text 70701", "STOP to 72013"."""
_CODE = re.compile(r"(?:\bshort ?code:? |\btel:)(?P<number>[*#]{0,2}\d{2,6}#?)(?![\w.-])", re.IGNORECASE)
_STAR = re.compile(r"(?<![\w*#])\*#?\d{2,4}(?:\*\d{1,6}){0,3}#(?!\w)")


def vanity(text: str) -> Iterator[Dialled]:
    """Finds telephone numbers that are written in letters: 1-800-FLOWERS as +18003569377. Letters beyond the seventh are not dialled. Other area codes need "call" before."""
    for match in _VANITY.finditer(text):
        end = match.end()
        rest = _keys(match["rest"])
        if " " in match["rest"] and len(_keys(match["rest"].partition(" ")[0])) >= 7:
            end = match.start("rest") + match["rest"].index(" ")
            rest = _keys(text[match.start("rest") : end])
        if len(rest) >= 7:
            yield match.start(), end, f"+1{match['area']}{rest[:7]}"
    for match in _LETTERED.finditer(text):
        if not match["area"].startswith("8"):
            yield match.start("all"), match.end("all"), f"+1{match['area']}{_keys(match['rest'])}"


def _keys(letters: str) -> str:
    return "".join(c for c in letters.translate(_KEYS) if c.isdigit())


def spoken(text: str) -> Iterator[Dialled]:
    """Finds telephone numbers in words ("eight hundred, five five five, oh one three two") if a cue is near and at least seven."""
    lowered = text.lower()
    if sum(lowered.count(word) for word in _DIGIT if len(word) > 2) < 4:
        return
    for match in _SPOKEN.finditer(text):
        digits, times = "", 1
        for word in re.findall(r"[a-z]+", match.group().lower()):
            if word in _TIMES:
                times = _TIMES[word]
            else:
                digits, times = digits + _DIGIT[word] * times, 1
        if len(digits) >= LEAST_SPOKEN and _SPOKEN_CUE.search(text[max(0, match.start() - 40) : match.start()]):
            yield match.start(), match.end(), _national(digits)


def _national(digits: str) -> str:
    """A number that was read out as E.164, if it is a North American one, with or without its 1; else its digits."""
    if len(digits) == 11 and digits[0] == "1":
        return f"+{digits}"
    return f"+1{digits}" if len(digits) == 10 and digits[0] not in "01" else digits


_HARMONISED = re.compile(
    r"(?<![\w.,:/+-])(?<!\d )116[ .-]?(?:000|006|111|116|117|123)(?![\w%]|[ .,:/-]?\d| (?:euro|pounds|dollars|€|£))"
)
"""Numbers of social value that are the same all over Europe (Decision 2007/116/EC), and Germany's for blocking cards; no cue is needed."""


def short(text: str) -> Iterator[Dialled]:
    """Finds short numbers: 911, *611, text STOP to 12345. A number of two or three digits after "call" is one only if it is a known service."""
    seen: set[int] = set()
    for match in (*_SHORT.finditer(text), *_MESSAGE.finditer(text), *_TEXTED.finditer(text), *_CODE.finditer(text)):
        name = "number" if match["number"] else "behind"
        number = match[name]
        verb = (match.groupdict().get("verb") or "dial").lower()
        counted = (
            number.isdigit()
            and len(number) < 5
            and number not in _SERVICES
            and not verb.startswith(("dial", "compos", "wähl", "marq"))
        )
        if match.start(name) in seen or counted or (verb == "press" and number.isdigit()):
            continue
        seen.add(match.start(name))
        yield match.start(name), match.end(name), re.sub(r"[- ]", "", number)
    for match in _HARMONISED.finditer(text):
        if match.start() not in seen:
            yield match.start(), match.end(), re.sub(r"\D", "", match.group())
    for match in _STAR.finditer(text):
        if match.start() not in seen:
            yield match.start(), match.end(), match.group()
