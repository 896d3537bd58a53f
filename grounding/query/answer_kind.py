"""What kind of answer a question wants: an amount, a duration, a telephone number … (after Li & Roth 2002, coarse classes).

A sentence that holds no value of the wanted kind can hardly be the answer, however near it is in words and meaning.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from grounding.text import STOP_WORDS, stem

_NUMBER = r"(?:\d[\d.,]{0,24}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|sixty|ninety|a hundred|unlimited|no limit)"
_UNITS = r"seconds?|minutes?|min|hours?|h|days?|weeks?|months?|years?|sekunden?|minuten?|stunden?|tagen?|wochen?|monate?n?|jahre?n?|jours?|mois|ans?|heures?"


@dataclass(frozen=True, slots=True)
class AnswerKind:
    """A kind of answer: its name, what in the question asks for it, and what in a sentence can be it."""

    name: str
    asked: re.Pattern[str]
    held: re.Pattern[str]


def _kind(name: str, asked: str, held: str, flags: re.RegexFlag = re.IGNORECASE) -> AnswerKind:
    return AnswerKind(name, re.compile(asked, re.IGNORECASE), re.compile(held, flags))


KINDS: tuple[AnswerKind, ...] = (
    _kind("email", r"\be-?mail(?: address)?\b|\bmail address\b", r"\S@\S"),
    _kind(
        "phone",
        r"\b(?:phone|telephone|tele?fon\w*|call|ring|hotline|dial)\b.*\b(?:number|nummer|numéro)\b|\bnumber\b.*\b(?:call|ring|dial|phone)\b|\bphone\b|\b\w+ number please\b|\btelefonnummer\b",
        r"\+?\d[\d ()./-]{6,}\d",
    ),
    _kind("address", r"\b(?:postal |street )?address\b|\bwhere (?:do|can|should|must) (?:i|we|they) send\b|\badresse\b", r"\b\d{1,5}\b.*[A-Z]|[A-Z]\S+ \d{1,4}\b", re.RegexFlag(0)),
    _kind("url", r"\b(?:web ?site|web ?page|url|link)\b", r"https?://|\bwww\.|\w\.\w{2,}/"),
    _kind("percent", r"\b(?:per ?cent|percentage|what share|rate of)\b|%", r"\d\s*(?:%|per ?cent)"),
    _kind(
        "money",
        r"\b(?:costs?|price[ds]?|fees?|charge[ds]?|expensive|how much (?:is|are|does|do|will|would|must|money)|kosten|kostet|preise?|prix|coûte|combien|precio|cuesta|refund up to)\b",
        r"[$€£¥]\s?\d|\d\s?(?:[$€£¥]|USD|EUR|GBP|CAD|euros?|dollars?|pounds?)\b|\b(?:free|no charge|nothing|at our expense|kostenlos|gratis|gratuit\w*|included)\b|\b(?:USD|EUR|GBP|CHF|CAD|prices?|costs?|fees?|charges?|deposits?|rates?|amount)\b[^|\n:]{0,24}: ?\d",
    ),
    _kind("duration", rf"\b(?:how long|how soon|how often|for how (?:long|many)|how many (?:{_UNITS})|wie lange|wie oft|combien de temps|delay)\b", rf"\b{_NUMBER}[\s-]*(?:{_UNITS})\b|\b(?:lifetime|at once|immediately|daily|weekly|monthly|yearly|every|once|twice|forever)\b"),
    _kind("count", r"\b(?:how many|how much|wie viele?|combien)\b", rf"\b{_NUMBER}\b"),
    _kind("measure", r"\bhow (?:heavy|big|large|tall|high|wide|deep|far|fast|hot|cold|warm|loud|bright|strong)\b|\b(?:weight|weigh|size|range|speed|temperature|power use|capacity|biggest|largest|maximum|lumens|watts?)\b", r"\d"),
    _kind("time", r"\b(?:when|what time|until when|opening hours|which days?|which date|what date|wann|uhrzeit|quand)\b", r"\d{1,2}[:.]\d\d|\b\d{1,2}\s?(?:[ap]\.?m|Uhr)\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day|\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\b|\b\d{4}\b|\b(?:after|before|when|once|at once|day|days|hours|week)\b"),
    _kind("code", r"\b(?:part number|(?:service |error |discount |voucher )?code|version|firmware|model number|serial)\b", r"\b(?=[\w.-]{0,80}\d)[\w.-]{3,}\b|\b[A-Z]{4,}\d*\b"),
    _kind("person", r"\bwho\b|\bwhom\b|\bcontact person\b|\bname of the\b|\bwer\b", r"\b[A-Z][\w'’-]+ [A-Z][\w'’-]+", re.RegexFlag(0)),
)  # fmt: skip


def answer_kind(question: str) -> AnswerKind | None:
    """The first kind whose words the question uses, or None when it asks for no value."""
    return next((kind for kind in KINDS if kind.asked.search(question)), None)


_COUNTED = re.compile(r"\b(?:how many|how much|wie viele?|combien d[e'’])\s+([^\W\d_]{3,})", re.IGNORECASE)


def counted(question: str) -> str | None:
    """What is to be counted or measured, stemmed: "how many lumens" can only be answered where lumens are spoken of."""
    match = _COUNTED.search(question)
    return stem(match.group(1).lower()) if match and match.group(1).lower() not in STOP_WORDS else None


def holds(sentence: str, kind: AnswerKind | None) -> bool:
    """True if the sentence holds a value of the kind, or no kind is wanted."""
    return kind is None or kind.held.search(sentence) is not None
