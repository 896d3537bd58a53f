"""Personal data that a conversation has given away, found again in any text: in any spelling of a number, any case, a name in part."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from rai.personal.names import NOT_NAMES, PARTICLES

Kind = Literal["PERSON", "EMAIL", "PHONE", "CARD", "IBAN", "NUMBER", "ADDRESS", "BIRTHDATE"]
"""Kinds of personal data; NUMBER is any reference or account that is none of the others."""
_DIGIT = re.compile(r"\d")
_PART = re.compile(r"[^\W\d_]+(?:[’'-][^\W\d_]+){0,3}")
_SIGNS = re.compile(r"[\W_]+")
_GAP = r"[\s()./–-]{0,3}"
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
            (kind, pattern)
            for kind, form in sorted(spread, key=lambda item: -len(item[1]))
            if (pattern := anywhere(kind, form)) and not self._owns(kind, form)
        ]

    def __bool__(self) -> bool:
        """False if there is nothing to find."""
        return bool(self._forms)

    def find(self, text: str) -> Iterator[Personal]:
        """Every place of the data in `text`, in no order, possibly overlapping."""
        for kind, pattern in self._forms:
            for match in pattern.finditer(text):
                yield Personal(match.start(), match.end(), kind, match.group())

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


def _forms(kind: Kind, value: str) -> Iterator[tuple[Kind, str]]:
    yield kind, value
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
        return re.compile(rf"(?<![\d])(?:\+?\(?\d{{1,4}}\)?{_GAP})?\(?(?:{spelled})(?!\d)")
    if len(text) < 2:
        return None
    if kind in ("NUMBER", "IBAN"):
        signs = r"[ \t./–-]?".join(re.escape(c) for c in text if c.isalnum())
        return re.compile(rf"(?<!\w){signs}(?!\w)", re.IGNORECASE) if signs else None
    spaced = r"\s+".join(map(re.escape, text.split()))
    return re.compile(rf"(?<!\w){spaced}(?!\w)", re.IGNORECASE)


def _name(text: str) -> re.Pattern[str] | None:
    """A pattern that finds a name; one that is a word as well only with its capital, one of two letters only as it is written."""
    words = text.split()
    if not words or len(text) < 2:
        return None
    spaced = r",?\s+".join(re.escape(w) for w in words)
    alone = len(words) == 1
    if alone and len(text) > 2 and text.casefold() in _COMMON | NOT_NAMES:
        capital = text[:1].upper() + text[1:].lower()
        return re.compile(rf"(?<!\w)(?:{re.escape(capital)}|{re.escape(text.upper())})s?(?!\w)")
    return re.compile(rf"(?<!\w){spaced}{'s?' if len(text) > 3 else ''}(?!\w)", re.IGNORECASE if len(text) > 2 else 0)
