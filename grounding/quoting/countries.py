"""Countries as tables write them, by a code, and as people say them: "who is open on Saturdays in Ireland" beside a column with IE, DE and FR."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

from babel import Locale
from babel.numbers import get_territory_currencies

from grounding.tables import table
from grounding.text import caseless

LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl")
_SAID = table(__file__)
"""`in_cells`: by code what a question may call a country that a cell gives by its code, adjectives too; `called`: names that people use and CLDR has not."""


@lru_cache(maxsize=512)
def country_names(code: str) -> tuple[str, ...]:
    """What a country is called that a cell gives by its two letters (ISO 3166-1, CLDR's names), without case; empty for what is no such code."""
    if len(code) != 2 or not (code.isascii() and code.isalpha() and code.isupper()):
        return ()
    named = [Locale(language).territories.get(code) for language in LANGUAGES]
    if named[0] is None:
        return ()
    return tuple(dict.fromkeys([*(caseless(name) for name in named if name), *_SAID["in_cells"].get(code, "").split()]))


_WORDS = re.compile(r"[^\W\d_][\w’'.-]*")
_ALSO_WORDS = frozenset(
    "turkey china jordan chad jersey guinea georgia island oman man us it in no so of la il el".split()
)
"""Names of countries that are words too, in lower case; they count with a capital alone."""
_NO_COUNTRIES = frozenset({"EU", "UN", "EZ", "ZZ", "XA", "XB"})
_LONGEST = 4
"""Words of a country's name, as in "Vereinigte Staaten von Amerika"."""


@cache
def _codes() -> dict[str, str]:
    """Each name of a country without case, and what people call it that is no adjective, to its code."""
    every = [str(code) for code in Locale("en").territories]
    codes = [code for code in every if len(code) == 2 and code.isalpha() and code not in _NO_COUNTRIES]
    named: dict[str, str] = {
        caseless(str(name)): code
        for code in codes
        for language in LANGUAGES
        if (name := Locale(language).territories.get(code))
    }
    called = {caseless(name): code for code, said in _SAID["called"].items() for name in said}
    return {**named, **called}


@cache
def _first_words() -> frozenset[str]:
    """What the name of a country begins with, without full stops: of most texts no word does."""
    return frozenset(name.split()[0].rstrip(".") for name in _codes())


def countries_in(text: str) -> Iterator[tuple[str, str]]:
    """The countries that a text names, in the order in which they stand: as they are written, and by their code (ISO 3166-1)."""
    words = list(_WORDS.finditer(text))
    at = 0
    while at < len(words):
        if caseless(words[at].group()).rstrip(".'’-") not in _first_words():
            at += 1
            continue
        for count in range(min(_LONGEST, len(words) - at), 0, -1):
            written = text[words[at].start() : words[at + count - 1].end()].rstrip("'’-")
            plain = caseless(written)
            code = _codes().get(plain) or _codes().get(plain.rstrip("."))
            if code and (written != plain or plain not in _ALSO_WORDS):
                yield written, code
                at += count - 1
                break
        at += 1


@dataclass(frozen=True, slots=True)
class _People:
    """Words for the people of countries. `named`: without case to the country's code; `whole` and `begun`: as they are written, small, alone and with up to three letters behind; `nouns`: those
    that stand for people by themselves; `beside`, `the`: words beside an adjective that make it one of people; `behind`: those behind it, where a word may stand between.
    """

    named: Mapping[str, str]
    whole: frozenset[str]
    begun: frozenset[str]
    nouns: frozenset[str]
    beside: frozenset[str]
    the: frozenset[str]
    behind: re.Pattern[str]

    def are_meant_by(self, word: str) -> bool:
        """Whether it is one of the words, small."""
        ends = (n for n in range(min(4, len(word))) if not n or word[-n:].isalnum())
        return word in self.whole or any(word[: len(word) - n] in self.begun for n in ends)

    def code(self, word: str) -> str | None:
        """The code of the country that the longest beginning of a word names."""
        plain = caseless(word)
        return next((self.named[plain[:n]] for n in range(len(plain), 2, -1) if plain[:n] in self.named), None)


@cache
def _people() -> _People:
    held = json.loads(files("grounding.quoting").joinpath("demonyms.json").read_text("utf-8"))
    named = {word: code for code, told in held["countries"].items() for word in told.split()}
    beside = "|".join(map(re.escape, held["with"].split()))
    return _People(
        {caseless(word.rstrip("*")): code for word, code in named.items()},
        frozenset(word for word in named if not word.endswith("*")),
        frozenset(word[:-1] for word in named if word.endswith("*")),
        frozenset(held["nouns"].split()),
        frozenset(held["with"].split()),
        frozenset(held["the"].split()),
        re.compile(rf"(?: [\w-]+)? (?:{beside})(?![^\W_])", re.IGNORECASE),
    )


_RUN = re.compile(r"[^\W_]+")
_ENDS = re.compile(r"\s*(?:$|[?.,;:!)])")
_NO_PEOPLE = ("in ", "en ", "auf ", "into ")
"""Before an adjective and a comma: that is a language."""


def people_in(text: str) -> Iterator[tuple[str, str]]:
    """The people of a country that a text speaks of ("a danish customer", "for the Dutch"): the word as it is written, and the country's code.

    An adjective alone is none: it may be of a language, or in a name ("American Express").
    """
    # each word is looked up: a pattern of all of them takes a fifth of a second to make
    people, runs, told = _people(), list(_RUN.finditer(text)), 0
    for n, run in enumerate(runs):
        if run.start() < told:
            continue
        joined = n + 1 < len(runs) and text[run.end() : runs[n + 1].start()] == "-"
        ends = (runs[n + 1].end(), run.end()) if joined else (run.end(),)
        before = runs[n - 1].group().lower() if n and text[runs[n - 1].end() : run.start()] == " " else ""
        for end in ends:
            word = text[run.start() : end]
            if _stands_for_people(people, text, word, before, run.start()) and (code := people.code(word)):
                yield word, code
                told = end
                break


def _stands_for_people(people: _People, text: str, word: str, before: str, start: int) -> bool:
    """Whether a word of a text, behind the word `before`, is one for people of a country, and means people there."""
    small, end = word.lower(), start + len(word)
    if small in people.nouns:
        return True
    return people.are_meant_by(small) and bool(
        people.behind.match(text, end)
        or before in people.beside
        or (text.startswith(", ", end) and not text[max(0, start - 5) : start].lower().endswith(_NO_PEOPLE))
        or (before in people.the and _ENDS.match(text, end))
    )


def is_of_a_country(word: str) -> bool:
    """Whether a word is what people or things of a country are called: "dutch"."""
    named, plain = _people().named, caseless(word)
    return any(plain[:n] in named for n in range(len(plain), max(2, len(plain) - 4), -1))


def spoken_countries(text: str) -> list[tuple[str, str]]:
    """The countries that somebody speaks of, by name or by their people, in the order in which they stand: as they are written, and by their code."""
    found = {**dict.fromkeys(countries_in(text)), **dict.fromkeys(people_in(text))}
    return sorted(found, key=lambda named: text.find(named[0]))


@lru_cache(maxsize=8192)
def spoken_codes(text: str) -> frozenset[str]:
    """The codes of the countries that somebody speaks of."""
    return frozenset(code for _, code in spoken_countries(text))


@lru_cache(maxsize=8192)
def country_codes(text: str) -> frozenset[str]:
    """The codes of the countries that a text names, in a table also by a code: beside its money ("BE EUR"), or below "country". Kept: blocks and lines come
    again with the next question about them.
    """
    priced = (
        (m[1] or m[3]).upper()
        for m in _PRICED.finditer(text)
        if (m[2] or m[4]).upper() in get_territory_currencies((m[1] or m[3]).upper())
    )
    listed = (m[1] for m in _LISTED.finditer(text) if country_names(m[1]))
    return frozenset((*(code for _, code in countries_in(text)), *priced, *listed))


_PRICED = re.compile(r"(?<![^\W_])(?:([A-Z]{2})[ _]([A-Z]{3}|[a-z]{3})|([a-z]{2})_([a-z]{3}))(?![^\W_])")
_LISTED = re.compile(
    r"(?<![^\W_])(?:country|land|pays|país|paese|market)(?:[ _]code)?: ([A-Z]{2})(?= \||\n|$)", re.IGNORECASE
)


_SIGNS = {
    "€": "EUR",
    "£": "GBP",
    "zł": "PLN",
    "CHF": "CHF",
    "CA$": "CAD",
    "C$": "CAD",
    "US$": "USD",
    "AU$": "AUD",
    "A$": "AUD",
    "NZ$": "NZD",
    "$": "USD CAD AUD NZD MXN SGD HKD",
    "kr": "SEK NOK DKK ISK",
    "EUR": "EUR",
    "USD": "USD",
    "GBP": "GBP",
    "CAD": "CAD",
    "PLN": "PLN",
    "SEK": "SEK",
    "NOK": "NOK",
    "DKK": "DKK",
}
"""Signs of money beside an amount, and what they may be (ISO 4217)."""
_SIGN = "|".join(sorted(map(re.escape, _SIGNS), key=len, reverse=True))
_MONEY = re.compile(rf"(?<![^\W_])({_SIGN}) ?\d|\d ?({_SIGN})(?![^\W_])")


def foreign_money(text: str, codes: frozenset[str]) -> bool:
    """Whether a text gives amounts, and none in money that is used today in one of these countries (CLDR)."""
    signs = {sign for match in _MONEY.finditer(text) for sign in match.groups() if sign}
    if not signs:
        return False
    used = {currency for code in codes for currency in get_territory_currencies(code)}
    return not any(used & set(_SIGNS[sign].split()) for sign in signs)


_BEFORE = re.compile(
    r"\b(?:in|to|from|for|of|nach|aus|für|en|au|aux|à|pour|vers|a|para|per|naar|voor|uit)(?:\s+(?:the|die|der|das|la|le|les|el|los|de))?\s*$",
    re.IGNORECASE,
)
"""What leads a country in: it goes with it."""


def without_country(text: str) -> str:
    """The text without the countries that somebody speaks of in it, and without what leads them in."""
    kept, at, named = "", 0, frozenset(countries_in(text))
    for written, code in spoken_countries(text):
        start = text.find(written, at)
        if start < 0:
            continue
        kept += _BEFORE.sub("", text[at:start]) if (written, code) in named else text[at:start]
        at = start + len(written)
    return " ".join((kept + text[at:]).split()) if at else text


def english_name(code: str) -> str:
    """What English documents call a country."""
    return str(Locale("en").territories.get(code, ""))


def language_of_countries(text: str) -> str:
    """The language (ISO 639-1) in which a text names a country, where one of `LANGUAGES` alone calls it so: "Frankreich", "Allemagne"; else empty."""
    for written, code in countries_in(text):
        plain = caseless(written)
        by = [name for name in LANGUAGES if caseless(str(Locale(name).territories.get(code, ""))) == plain]
        if len(by) == 1:
            return by[0]
    return ""


def as_said(value: str, question: str) -> str:
    """A cell as the question calls it: the name of the country where the cell is its code and the question says the name, else as it is."""
    plain = f" {' '.join(caseless(question).replace('?', ' ').replace(',', ' ').split())} "
    return next((name for name in country_names(value) if f" {name} " in plain), value)
