"""Capitalised names of two words and more. One capitalised word alone is too often the start of a sentence."""

from __future__ import annotations

import re

from grounding.text import STOP_WORDS, caseless
from rai.claims.found import Found
from rai.records import EntityType

_CAP = r"(?:[A-Z][\w&'’-]{0,30}|[A-Z]\.)"
_LINK = r"(?:of|the|and|de|la|du|di|von|van|der|by|at|on|in|&)"
_NAME = re.compile(
    rf"(?<![\w.'’-]){_CAP}(?:(?: | {_LINK} | {_LINK} the ){_CAP}| \d{{1,4}}(?= [A-Z])){{0,9}}(?: \d{{1,4}}(?![\w.,:%-]\d|[\w%]))?"
)
_PLACING = frozenset({"at", "on", "in", "by", "the"})
_HONORIFIC = re.compile(r"(?:Mr|Mrs|Ms|Miss|Dr|Prof|Professor|Sir|Herr|Frau|Mme|M)\.?$")
_ORGANISATION = frozenset(
    [
        "inc",
        "ltd",
        "llc",
        "gmbh",
        "ag",
        "corp",
        "corporation",
        "company",
        "bank",
        "university",
        "institute",
        "hotel",
        "museum",
        "group",
        "association",
    ]
)
_LEADING = frozenset(
    STOP_WORDS
    | {
        "mr", "mrs", "ms", "dr", "prof", "sir", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday",
        "sunday", "january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
        "november", "december", "click", "select", "choose", "open", "go", "press", "tap", "use", "see", "visit",
        "note", "yes", "sure", "sorry", "dear", "call", "contact", "check", "although", "unfortunately", "however",
        "step", "since", "during", "according", "every", "many", "both", "another", "while", "unlike", "via", "parking",
    }
)  # fmt: skip


def find(text: str) -> list[Found]:
    """Names such as "Orchard Garden Hotel", without a leading "The" or a final 's."""
    found: list[Found] = []
    for match in _NAME.finditer(text):
        start, end = _trim(text, match.start(), match.end())
        if start < end and _is_name(text[start:end]) and not _is_heading(text, start, end):
            name = text[start:end]
            found.append(Found("entity", start, end, normal(name), entity=_type(text, start, name)))
    return found


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    words = [(m.start() + start, m.end() + start) for m in re.finditer(r"\S+", text[start:end])]
    # "Stay at the Orchard Garden Hotel": the first word of a sentence is a verb when a preposition follows
    if len(words) > 1 and text[slice(*words[1])] in _PLACING and _opens_sentence(text, start):
        words.pop(0)
    while words and (text[slice(*words[0])].lower().rstrip(".,") in _LEADING or text[words[0][0]].islower()):
        words.pop(0)
    while words and not (text[words[-1][0]].isupper() or text[words[-1][0]].isdigit()):
        words.pop()
    if not words:
        return start, start
    stop = words[-1][1]
    for ending in ("'s", "’s", "'", "’"):
        if text[:stop].endswith(ending) and stop - len(ending) > words[0][0]:
            return words[0][0], stop - len(ending)
    return words[0][0], stop


def _opens_sentence(text: str, start: int) -> bool:
    before = text[max(0, start - 3) : start].rstrip(" ")
    return not before or before[-1] in ".!?:\n-•*"


def _is_name(name: str) -> bool:
    capitals = [w for w in name.split() if w[0].isupper() and len(w) > 1 and w.lower() not in STOP_WORDS]
    return len(capitals) >= 2 and not name.isupper()


def _is_heading(text: str, start: int, end: int) -> bool:
    """A whole line in capitals or title case is a heading, not a statement about a name."""
    line = text[text.rfind("\n", 0, start) + 1 : (text.find("\n", end) + 1 or len(text) + 1) - 1].strip(" #*:-•")
    return "\n" in text and line == text[start:end]


def normal(name: str) -> str:
    """Lower case without accents, dashes as spaces, one space between words."""
    return " ".join(caseless(name).replace("-", " ").split())


def _type(text: str, start: int, name: str) -> EntityType | None:
    if _HONORIFIC.search(text[max(0, start - 12) : start].rstrip()):
        return "person"
    words = name.split()
    if words[-1].lower().strip(".") in _ORGANISATION:
        return "organisation"
    return "product" if words[-1].isdigit() else None
