"""Names of persons, organisations, places and products by their shape: capital letters inside a sentence.

A name of two words and more is found anywhere; one word alone only where its capital can come from nothing else: not at
the start of a sentence, and no weekday, month, nationality or word of the trade.
"""

from __future__ import annotations

import re

from grounding.text import STOP_WORDS, caseless, fold
from rai.claims.found import Found
from rai.claims.names.name_words import CAPITALISED, GENERIC_ACRONYMS, HONORIFIC, HONORIFICS, LEADING, ORGANISATION
from rai.records import EntityType

_UPPER = "A-ZÀ-ÖØ-Þ"
_CAP = rf"(?:[{_UPPER}][\w&'’-]{{0,30}}|[{_UPPER}]\.)"
_LINK = r"(?:of|the|and|de|la|du|di|von|van|der|by|at|on|in|&)"
_NAME = re.compile(
    rf"(?<![\w.'’-]){_CAP}(?:(?: | {_LINK} | {_LINK} the ){_CAP}| \d{{1,4}}(?= [A-Z])){{0,9}}(?: \d{{1,4}}(?![\w.,:%-]\d|[\w%]))?"
)
_DOTTED = re.compile(r"(?<![\w.])(?:[A-Z]\.){2,5}(?!\w)")
_DOTTED_WHOLE = re.compile(r"(?:[A-Za-z]\.){2,5}")
_WHOLE_ACRONYM = re.compile(r"[A-Z]{2,6}")
_ACRONYM = re.compile(r"[A-Z]{2,6}")
_MODEL = re.compile(r"(?=[\w-]*\d)[\w-]{1,20}")
_PLACING = frozenset({"at", "on", "in", "by", "the"})
_TITLED = re.compile(rf"(?:{HONORIFIC})\.? ?$")
_WORD = re.compile(r"\S+")
_AND = re.compile(r" and ")


_LETTERED = re.compile(r"[A-Z]-[a-z]+")
"""X-rays, T-shirt, E-bike: a word that begins with a letter, and no name."""


def find(text: str) -> list[Found]:
    """Finds names such as "Orchard Garden Hotel", without a leading "The" or a final 's; "Abby and Gail" are two."""
    found: list[Found] = []
    for match in _NAME.finditer(text):
        for start, end in _parts(text, *_trim(text, match.start(), match.end())):
            if _LETTERED.fullmatch(text, start, end):
                continue
            if start < end and _is_name(text, start, end) and not _is_heading(text, start, end):
                name = text[start:end]
                found.append(Found("entity", start, end, normal(name), entity=_type(text, start, name)))
    for match in _DOTTED.finditer(text):
        end = match.end()
        if caseless(match.group()) not in ("a.m.", "p.m.", "p.s.", "n.b.") and all(
            f.end <= match.start() or end <= f.start for f in found[-40:]
        ):
            found.append(Found("entity", match.start(), end, normal(match.group())))
    return sorted(found, key=lambda f: f.start)


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    words = [(m.start() + start, m.end() + start) for m in _WORD.finditer(text[start:end])]
    # "Stay at the Orchard Garden Hotel": the first word of a sentence is a verb when a preposition follows
    if len(words) > 1 and text[slice(*words[1])] in _PLACING and _opens_sentence(text, start):
        words.pop(0)
    while words and (text[slice(*words[0])].lower().rstrip(".,") in LEADING or text[words[0][0]].islower()):
        words.pop(0)
    # a model number is an identifier and found as one; the name before it stays
    while len(words) > 1 and _MODEL.fullmatch(text[slice(*words[-1])]) and not text[slice(*words[-1])].isdigit():
        words.pop()
    while words and text[slice(*words[-1])].rstrip(".") in HONORIFICS:
        words.pop()
    while words and not (text[words[-1][0]].isupper() or text[words[-1][0]].isdigit()):
        words.pop()
    if not words:
        return start, start
    stop = words[-1][1]
    for ending in ("'s", "’s", "'", "’"):
        if text[:stop].endswith(ending) and stop - len(ending) > words[0][0]:
            return words[0][0], stop - len(ending)
    return words[0][0], stop


def _parts(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The names within a run of capitalised words. Two of equal length joined by "and" are two; a possessive ends one: "Ukraine's Kyiv"."""
    cut = next((m for m in re.finditer(r"['’]s ", text[start:end])), None)
    if cut:
        return [(start, start + cut.start()), *_parts(text, *_trim(text, start + cut.end(), end))]
    halves = list(_AND.finditer(text, start, end))
    if len(halves) == 1:
        left, right = text[start : halves[0].start()].split(), text[halves[0].end() : end].split()
        if len(left) == len(right) <= 2 and all(len(w) > 2 for w in left + right):
            return [(start, halves[0].start()), (halves[0].end(), end)]
    return [(start, end)]


def _opens_sentence(text: str, start: int) -> bool:
    before = text[max(0, start - 3) : start].rstrip(" ")
    return not before or before[-1] in ".!?:\n-•*"


def _is_name(text: str, start: int, end: int) -> bool:
    name = text[start:end]
    capitals = [w for w in name.split() if w[0].isupper() and len(w) > 1 and w.lower() not in STOP_WORDS]
    if len(capitals) >= 2:
        return not name.isupper() and not all(w.lower() in GENERIC_ACRONYMS for w in capitals)
    return len(capitals) == 1 and len(name.split()) <= 2 and _is_single_name(text, start, capitals[0])


def _is_single_name(text: str, start: int, word: str) -> bool:
    """True if nothing but being a name gives `word` its capital."""
    if _TITLED.search(text[max(0, start - 12) : start]):
        return True
    if _ACRONYM.fullmatch(word):
        return word.lower() not in GENERIC_ACRONYMS and _inside_sentence(text, start)
    plain = caseless(word)
    shaped = len(word) > 2 and word[1:].islower()
    plainly = not {plain, plain.rstrip("s"), plain.partition("-")[0]} & CAPITALISED
    return shaped and plainly and _inside_sentence(text, start)


def _inside_sentence(text: str, start: int) -> bool:
    """True after a word or a comma of the same sentence: not after a full stop, a quote, a bracket or a line break."""
    before = text[max(0, start - 24) : start]
    match = re.search(r"([\w'’)]+),? $", before)
    if not match or (last := match.group(1)) == "":
        return False
    # in Title Case Lines capitals say nothing
    return last[0].islower() or last.isdigit() or last == "I"


def is_inside(text: str, start: int) -> bool:
    """True if a capital stands at `start` that is not the first of its sentence."""
    return text[start].isupper() and _inside_sentence(text, start)


def _is_heading(text: str, start: int, end: int) -> bool:
    """A whole line in capitals or title case is a heading, not a statement about a name."""
    line = text[text.rfind("\n", 0, start) + 1 : (text.find("\n", end) + 1 or len(text) + 1) - 1].strip(" #*:-•")
    return "\n" in text and line == text[start:end]


def normal(name: str) -> str:
    """The normal form of a name: lower case without accents, dashes as spaces, one space between words; an acronym of up to six letters in capitals.

    "U.S." and "US" are US, which the word "us" is not. Idempotent: the form of a form is itself.
    """
    folded = " ".join(fold(name).replace("-", " ").split())
    letters = folded.replace(".", "") if _DOTTED_WHOLE.fullmatch(folded) else folded
    if _WHOLE_ACRONYM.fullmatch(letters):
        return letters
    return " ".join(caseless(letters).split())


def _type(text: str, start: int, name: str) -> EntityType | None:
    if _TITLED.search(text[max(0, start - 12) : start]):
        return "person"
    words = name.split()
    if words[-1].lower().strip(".") in ORGANISATION:
        return "organisation"
    return "product" if words[-1].isdigit() else None
