"""Personal data that a conversation has given away, found again in any text: in any spelling of a number, any case, a name in part."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Literal

from grounding.text import terms
from rai.personal.names import NOT_NAMES, PARTICLES

Kind = Literal[
    "PERSON", "EMAIL", "PHONE", "CARD", "IBAN", "NUMBER", "ADDRESS", "BIRTHDATE", "ONLINE", "SECRET", "COMPANY"
]
"""Kinds of personal data. NUMBER is any reference or account that is none of the others, ONLINE an address of a device, a user name or
a personal link, SECRET what opens an account, COMPANY the employer in somebody's signature. An age counts as BIRTHDATE."""
_WORD = re.compile(r"\w+")
_FREE_WORD = re.compile(r"(?<![\w@./-])\w+(?![\w@/-]|\.\w)")
"""A word that is no piece of an address."""
_NEAR = 40
"""Characters beside a word among which the next one is looked for."""
_DIGIT = re.compile(r"\d")
_PART = re.compile(r"[^\W\d_]+(?:[’'-][^\W\d_]+){0,3}")
_SIGNS = re.compile(r"[\W_]+")
_GAP = r"[\s()./–-]{0,3}"
_BEFORE = r"(?<![\w$€£¥])(?<!\d[.,])(?<![$€£¥][ ])"
_AFTER = (
    r"(?![\w%€£$¥]|[.,]\d|[ \t](?:[%€£$¥]|(?:EUR|USD|GBP|CHF|PLN|SEK|euros?|dollars?|pounds?|cents?|percent|Prozent|kg|km|cm|mm|m|g|l|ml|GB|MB|TB|MHz|GHz|W|V|"
    r"mAh|px|days?|hours?|hrs?|minutes?|mins?|seconds?|weeks?|months?|years?|Tagen?|Stunden?|Jahren?|jours|heures|ans|días|horas|años|cameras?|"
    r"units?|points?|Punkte|items?|pieces?|pcs|Stück|people|customers|users|steps?|times)(?!\w)))"
)
"""What a short run of digits must not stand in if it is to be somebody's number: an amount, a decimal, a measure."""
_USUAL = re.compile(r"[\d\s()+./–-]+")
_SHORT = re.compile(r"\d{2,6}|\d{3,4}[ -]\d{2,4}")
_YEAR = re.compile(r"(?:19|20)\d\d")
_LACKS = re.compile(r"\blacks ([^;\n]{1,400})")
"""The list of a question's words with which the grader closes its reason (`grounding.embedded.grader`)."""
_ITEM = re.compile(r"[^,\s][^,]*")
_GROUPED: frozenset[Kind] = frozenset({"CARD", "IBAN", "PHONE", "NUMBER"})
_SEVERAL = 7
"""Fewest digits of a number whose parts are telling."""
_CUT = re.compile(r"(?<=[.,\n])\s+")
_UNSPACED = re.compile(r"[\u0590-\u06ff\u0900-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_INFLECTED = re.compile(r"[А-Яа-яЁІЇЄҐёіїєґ]{4,}|[Ά-ώ]{4,}")
_COMMON = frozenset(
    """mark bill will rose grace hope may april june august summer art guy rich frank sue pat rob drew chase chance dawn faith joy iris ivy
    jack ray rusty sandy skip terry victor penny olive ruby amber crystal heather lily daisy holly robin carol sky star young long short brown
    green white black gray grey gold silver king page banks fields price cash case stone wood woods hill rivers lake field park day knight
    bishop cook baker smith miller mason carter porter parker fisher hunter miles bush reed moss snow winter love wise sharp small little
    wolf klein gross groß braun schwarz weiß koch bauer kaiser könig sommer stein berg wald feld lang kurz jung alt sonne roth kraft
    petit grand blanc noir roux marin leroy bon beau fleur pierre marie clé luz sol paz flores cruz reyes rey leon león blanco moreno rojo
    delgado bravo campos ríos""".split()
)  # names that are words as well: found only with their capital


@dataclass(frozen=True, slots=True, order=True)
class Personal:
    """Personal data in a text: `text[start:end]` of it is `value`."""

    start: int
    end: int
    kind: Kind
    value: str


class KnownPersonalData:
    """The personal data that a conversation holds, less what the company itself wrote, to be found in other texts.

    `found`: the personal data; `own`: the company's texts.
    """

    def __init__(self, found: Iterable[Personal], own: Sequence[str] = ()) -> None:
        self._own = "\n".join(own)
        self._plain = _plain(self._own)
        values = dict.fromkeys((p.kind, p.value) for p in found)
        spread = dict.fromkeys(form for kind, value in values for form in _forms(kind, value))
        self._forms = [
            (kind, pattern, kind == "PERSON" and len(form.split()) == 1)
            for kind, form in sorted(spread, key=lambda item: -len(item[1]))
            if (pattern := anywhere(kind, form)) and not self._owns(kind, form)
        ]
        told = [(kind, value) for kind, value in values if not self._owns(kind, value)]
        parts = {part: kind for kind, value in told for part in _parts(kind, value) if not self._holds(part)}
        if parts:
            longest = sorted(parts, key=len, reverse=True)
            self._forms.append(
                (
                    "NUMBER",
                    re.compile(rf"{_BEFORE}(?:{'|'.join(map(re.escape, longest))}){_AFTER}", re.IGNORECASE),
                    False,
                )
            )
        self._words = frozenset(word for _, value in told for word in terms(value) if len(word) > 2)

    def __bool__(self) -> bool:
        """False if there is nothing to find."""
        return bool(self._forms)

    def find(self, text: str) -> Iterator[Personal]:
        """Every place of the data in `text`, in no order, possibly overlapping."""
        for kind, pattern, is_part in self._forms:
            for match in pattern.finditer(text):
                if not is_part or not self.is_own_wording(text, *match.span()):
                    yield Personal(match.start(), match.end(), kind, match.group())
        for listed in _LACKS.finditer(text):
            for item in _ITEM.finditer(text, *listed.span(1)):
                if item.group().strip(" .)") in self._words:
                    yield Personal(item.start(), item.end(), "NUMBER", item.group())

    def is_own_wording(self, text: str, start: int, end: int) -> bool:
        """True if a word of `text` stands there beside a word that it stands beside in the company's own texts, or is written small in both: whoever
        calls himself Return blacks out no "you can return".
        """
        written = text[start:end]
        word = written.casefold()
        if word not in self._own_words:
            return False
        if written in self._own_lower:
            return True
        before = _WORD.findall(text[max(0, start - _NEAR) : start].casefold())[-1:]
        after = _WORD.findall(text[end : end + _NEAR].casefold())[:1]
        return any((one, word) in self._own_pairs for one in before) or any(
            (word, one) in self._own_pairs for one in after
        )

    @cached_property
    def _own_words(self) -> frozenset[str]:
        return frozenset(_WORD.findall(self._own.casefold()))

    @cached_property
    def _own_lower(self) -> frozenset[str]:
        return frozenset(word for word in _FREE_WORD.findall(self._own) if word.islower())

    @cached_property
    def _own_pairs(self) -> frozenset[tuple[str, str]]:
        return frozenset(pairwise(_WORD.findall(self._own.casefold())))

    def is_own(self, found: Personal) -> bool:
        """True if the company's own texts hold the same."""
        return self._owns(found.kind, found.value)

    def _owns(self, kind: Kind, value: str) -> bool:
        """True if the company's own texts hold a value; never of a single word: a customer called Mark is not the company's because a page says "mark"."""
        if not self._own or (kind == "PERSON" and len(value.split()) == 1):
            return False
        pattern = anywhere(kind, value)
        # what is only a little work comes first: the passages of a turn are long
        return _plain(value)[-6:] in self._plain and bool(pattern and pattern.search(self._own))

    def _holds(self, part: str) -> bool:
        """True if the company's own texts hold a part of a number as a number of its own."""
        return part in self._own and re.search(rf"(?<!\w){re.escape(part)}(?!\w)", self._own) is not None


def _parts(kind: Kind, value: str) -> Iterator[str]:
    """The parts of a value that say whose it is without the rest: groups of its digits, the last four, the year of a birth, a postcode.

    What may be a year is none, but at the end of a card's number.
    """
    digits = "".join(_DIGIT.findall(value))
    if kind == "BIRTHDATE":
        yield from _YEAR.findall(value)
    elif kind == "ADDRESS":
        yield from (w for w in re.findall(r"(?=\w*\d)\w{3,}", value) if not _YEAR.fullmatch(w))
        yield from re.findall(r"[A-Z]{1,2}\d[A-Z\d]?[ ]?\d[A-Z]{2}(?!\w)", value)
    elif kind in _GROUPED and len(digits) >= _SEVERAL:
        groups = set(re.findall(r"(?=[A-Z]*\d)[A-Z\d]{3,}", value, re.IGNORECASE))
        if kind in ("CARD", "IBAN"):
            plain = "".join(c for c in value if c.isalnum())
            groups |= {plain[at : at + 4] for at in range(0, len(plain), 4)}
            groups |= {plain[-4:]}
        last = digits[-4:]
        telling = {
            g for g in groups if sum(c.isdigit() for c in g) >= (4 if g[0] != "0" else 3) and not _YEAR.fullmatch(g)
        }
        yield from sorted(telling | ({last} if kind == "CARD" or not _YEAR.fullmatch(last) else set()))


def _forms(kind: Kind, value: str) -> Iterator[tuple[Kind, str]]:
    yield kind, value
    if kind == "ADDRESS":
        # what cuts a text into sentences or parts may cut here: "ul. Marszałkowskiej 12, 00-590 Warszawa"
        pieces = [piece.strip(" ,.\n") for piece in _CUT.split(value)]
        yield from (
            (kind, p) for p in pieces if p != value and _DIGIT.search(p) and len(_PART.findall(p)) and len(p) > 5
        )
    if kind != "PERSON":
        return
    words = [w.group() for w in _PART.finditer(value)]
    if len(words) > 1:
        yield kind, f"{words[0]} {words[-1]}"
        yield kind, f"{words[-1]} {words[0]}"
    for word in words:
        if len(word) > 1 and word.casefold() not in NOT_NAMES | PARTICLES:
            yield kind, word
        yield from ((kind, w) for w in re.split("-", word) if "-" in word and len(w) > 2)


def _plain(text: str) -> str:
    """The letters and digits of a text, without case: two spellings of a number share them, whatever stands between."""
    return _SIGNS.sub("", text).casefold()


@lru_cache(maxsize=8192)
def anywhere(kind: Kind, text: str) -> re.Pattern[str] | None:
    """A pattern that finds `text` again in other spellings; None if it is too short to be told from chance.

    Numbers are found whatever their separators and country code, codes whatever their separators and case, names with the genitive's s.
    """
    digits = "".join(_DIGIT.findall(text))
    if kind == "PERSON":
        return _name(text)
    if len(digits) >= 7 and not re.search(r"[^\W\d_]", text):
        core = digits.lstrip("0") or digits
        cores = {core, core[-10:] if len(core) > 10 else core}
        if kind == "PHONE" and len(core) > 8:
            cores.add(core[-9:] if len(core) > 9 else core)
        spelled = "|".join(_GAP.join(c) for c in sorted(cores, key=len, reverse=True))
        # the whole number first: with a prefix before its last ten digits, a card's first twelve would do for it
        whole = rf"\+?\(?0{{0,3}}{_GAP.join(core)}(?!\d)"
        numeral = rf"(?<![\d])(?:{whole}|(?:\+?\(?\d{{1,4}}\)?{_GAP})?\(?(?:{spelled})(?!\d))"
        return re.compile(numeral if _USUAL.fullmatch(text) else rf"{numeral}|(?<!\w){re.escape(text)}(?!\w)")
    if len(text) > 1 and _SHORT.fullmatch(text):
        return re.compile(rf"{_BEFORE}{'[ -]?'.join(digits)}{_AFTER}")
    if len(text) < 2:
        return None
    if kind in ("NUMBER", "IBAN"):
        signs = r"[ \t./–-]?".join(re.escape(c) for c in text if c.isalnum())
        return re.compile(rf"(?<!\w){signs}(?!\w)", re.IGNORECASE) if signs else None
    spaced = r"\s+".join(map(re.escape, text.split()))
    return re.compile(rf"(?<!\w){spaced}(?!\w)", re.IGNORECASE)


def _spelled(word: str) -> str:
    """A pattern for one word of a name: with either apostrophe; in Russian, Ukrainian and Greek with any ending."""
    if _INFLECTED.fullmatch(word):
        return re.escape(word.rstrip("аяйьоςσα") if len(word) > 4 else word) + r"[^\W\d_a-zA-Z]{0,3}"
    return re.sub("['’]", "['’]", re.escape(word))


def _name(text: str) -> re.Pattern[str] | None:
    """A pattern that finds a name; one that is a word as well only with its capital, one of two letters only as it is written."""
    words = text.split()
    if not words or len(text) < 2:
        return None
    spaced = r",?\s+".join(_spelled(w) for w in words)
    if _UNSPACED.search(text):  # scripts that set words side by side, or a particle before them
        return re.compile(spaced)
    alone = len(words) == 1
    if alone and len(text) > 2 and text.casefold() in _COMMON | NOT_NAMES:
        capital = text[:1].upper() + text[1:].lower()
        return re.compile(rf"(?<!\w)(?:{re.escape(capital)}|{re.escape(text.upper())})s?(?!\w)")
    return re.compile(rf"(?<!\w){spaced}{'s?' if len(text) > 3 else ''}(?!\w)", re.IGNORECASE if len(text) > 2 else 0)
