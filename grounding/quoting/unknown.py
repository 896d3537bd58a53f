"""Names in a question that the evidence does not have: a sibling that is not there ("Fixed 36"), a place or product that no passage names.

Such a question is about something that the documents do not have, and the values of its siblings are the likeliest wrong answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from grounding.grading.features import READ
from grounding.query.conversation import FILLERS, content, goes_on
from grounding.quoting.blocks import cells
from grounding.quoting.countries import (
    countries_in,
    country_codes,
    country_names,
    is_of_a_country,
    spoken_codes,
    spoken_countries,
)
from grounding.quoting.coverage import GENERIC
from grounding.quoting.features import KEYS, SLIPPED, BlockCandidate, likeness
from grounding.quoting.ranges import CALENDAR, days_of
from grounding.quoting.siblings import Table, tables
from grounding.records import Passage
from grounding.tables import table, word_set
from grounding.text import STOP_WORDS, caseless, terms

_NUMBERED = re.compile(
    r"\b([^\W\d_]+)[ -]?(\d{1,4})\b(?![.,:]\d|\s*(?:%|[€$£]|(?:euros?|eur|dollars?|pounds?|days?|weeks?|wks?|months?|years?|yrs?|hours?|hrs?|h|mins?|minutes?|kg|g|cm|mm|km|m|l|people|persons?|"
    r"times|pieces?|gb|mb|mbps|am|pm|uhr|tage?|wochen?|monate?|jahre?|jours?|mois|ans|personen|stück)\b))",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?:19|20)\d\d")
_NO_NAME = frozenset(
    "an in at on for of to by from than over under about only last next first and or with is are was has have had after before every each per until till within max min up page step no nr".split()
)
"""Words before a number that is a quantity or a date, not a part of a name."""
_WORDS = table(__file__)
_PLACES = frozenset(word_set(_WORDS["places"]))
_AREAS = _PLACES | frozenset(word_set(_WORDS["areas"]))
"""Names of columns whose values are places, and what kinds of places are called."""
_NO_AREAS = frozenset(word_set(_WORDS["no_places"]))
"""Words behind "in", "at" or "to" that are no place."""
_PLAIN = frozenset(word_set(_WORDS["no_names"]))
"""Words before the kind of a thing that describe it and name none: "the cheapest plan"."""
_TIMES = frozenset(
    terms("day days date week month year time season hours night tag tage datum woche monat jahr zeit jour mois heure")
)
"""Names of columns that say when, not what."""
_DID = re.compile(r"[^\W\d_]{3,}(?<!e)(?<!sh)(?<!b)ed")
"""A word that says what somebody did ("a woman in Lyon booked"), and is no kind of thing, though a column can be called so; a shed, a feed or a daybed is."""
_HYPHENED = re.compile(r"[^\W\d_]{1,20}-[^\W\d_]{1,20}")
_CODE = re.compile(r"([a-z]{1,3})(\d{1,5})")
_POSSESSIVE = re.compile(r"['’]s?$")
_WORD = re.compile(r"[^\W\d_][\w’'-]*")
_PRICED = re.compile(
    r"\b(?:charges?|costs?|price|fee|deposit|rent|bill)\b(?: (?:per|a|an) [^\W\d_]{1,30})?(?: as deposit)? (?:for|of)"
    r" (?:(?:an?|the|our|one|his|her|their|rented|hired) )*([^\W\d_][\w-]{0,30}(?: [^\W\d_][\w-]{0,30}){0,2}?)(?= ?$| ?[?.,;:!]| (?:in|at|on|for|with|and|or|to|from|by|per|is|if|when|what|how|over|during)\b)",
    re.IGNORECASE,
)
_PLACED = re.compile(
    r"\b(?:to|in|at|from|nach|aus|vers|à) (?:the |die |der |den )?([^\W\d_][\w’'-]*)(?=\s*(?:$|[?.,;:!)]|(?:pls|please|plz|bitte|svp|and|und|et|how|what|when|is|does|with|by)\b))",
    re.IGNORECASE,
)
_SHOP_IN = re.compile(
    rf"\b(?:{'|'.join(sorted(_PLACES))}) (?:in|at|of|à|de|van|te|von) (?:the |die |der |den )?([^\W\d_][\w’'-]*)",
    re.IGNORECASE,
)
_NAMING = frozenset("a an the my our your his her their of for with".split())
"""Words before a name."""
_ARTICLES = frozenset("a an the my his her their our your this that one".split())
_BEFORE_NEW = frozenset(
    "and in at to from for of about the a an und in nach für der die das et à en pour la le de y e".split()
)
"""Words before what a question puts in the place of something."""
MOST_NEW = 2
"""Terms of a question that only puts something else in the place of what was asked about."""
NAME_TERMS, NEAR = 4, 3
"""Terms of a row's name, and words between it and the strange one, up to which the one may stand in place of a word of the other."""
NAME_FROM = 4
"""Letters of a word that is taken for a name."""


def unknown_name(
    question: str, found: Sequence[BlockCandidate], passages: Sequence[Passage], best: int | None = None
) -> str | None:
    """A name in the question that the evidence does not have, as it was typed; None if there is none. `best`: index of the block that would be
    quoted first.
    """
    return (
        unknown_of_its_kind(question, passages)
        or _unknown_sibling(question, found, passages)
        or _unknown_thing(question, passages)
        or _unknown_shop(question, found, passages)
        or (None if best is None else _unknown_year(question, found[best], passages))
        or (None if best is None else _unknown_country(question, found[best], passages))
        or (None if best is None else _unknown_place(question, found[best], passages))
        or (None if best is None else _unknown_beside(question, found[best], passages))
    )


def unknown_in_follow_up(question: str, passages: Sequence[Passage]) -> str | None:
    """What a question that goes on puts in the place of the one before ("and Paris?", "telephone of the Dublin one?"), where no passage has it: it is answered with
    what was asked about before otherwise.
    """
    if not goes_on(question) or len(content(question)) > MOST_NEW:
        return None
    said = _said(passages)
    words = [(m.group(), question[: m.start()].split()) for m in _WORD.finditer(question)]
    strange = [
        (word, before)
        for word, before in words
        if _is_strange(word, said)
        and not set(terms(word)) & GENERIC
        and not days_of(word)
        and not any(_says_country(passages, *named) for named in countries_in(word))
    ]
    alone = len(strange) == len(content(question))
    named = [
        word
        for word, before in strange
        if (not before or caseless(before[-1]) in _BEFORE_NEW) and (alone or (word[0].isupper() and bool(before)))
    ]
    return _POSSESSIVE.sub("", named[0]) if named else None


def _unknown_year(question: str, best: BlockCandidate, passages: Sequence[Passage]) -> str | None:
    """A year that the document to be quoted does not name, where what would be quoted is of other years: the hours of this Christmas are not those of 2023."""
    asked = re.findall(rf"(?<![^\W_])(?:{_YEAR.pattern})(?![^\W_])", question)
    home = passages[best.passage].doc_id
    text = "\n".join(f"{p.title}\n{p.locator or ''}\n{p.text}" for p in passages if p.doc_id == home)
    if not asked or any(year in text for year in asked):
        return None
    return asked[0] if _YEAR.search(f"{best.around}\n{best.block.text}") else None


def _unknown_country(question: str, best: BlockCandidate, passages: Sequence[Passage]) -> str | None:
    """A country, in any of seven languages, that no passage names, where what would be quoted is the row of another one."""
    asked = spoken_countries(question)
    if not asked or not _is_of_countries(best):
        return None
    return None if any(_says_country(passages, written, code) for written, code in asked) else asked[0][0]


def _says_country(passages: Sequence[Passage], written: str, code: str) -> bool:
    """Whether a passage has a country, in whatever language or by its code."""
    text = "\n".join(f"{p.title}\n{p.locator or ''}\n{p.text}" for p in passages)
    plain, names = caseless(text), {caseless(written), *country_names(code)}
    named = any(re.search(rf"(?<![^\W_]){re.escape(name)}", plain) for name in names)
    return named or re.search(rf"\b{code}\b", text) is not None


def _is_of_countries(candidate: BlockCandidate) -> bool:
    """Whether a block is of one country: its title or heading names it ("Aide pour les clients en France"), or a row does in its first cells or the name of one."""
    if country_codes(candidate.around):
        return True
    return candidate.block.kind == "row" and any(
        bool({"country", "countries", "land", "länder", "pays"} & set(caseless(cell.header).split()))
        or bool(country_codes(cell.span.text))
        for cell in cells(candidate.block.text)[:KEYS]
    )


def _unknown_shop(question: str, found: Sequence[BlockCandidate], passages: Sequence[Passage]) -> str | None:
    """The place of a shop, branch or the like that no passage has ("the shop in Leeds"), where there are rows by place."""
    said = _said(passages)
    for match in _SHOP_IN.finditer(question):
        word = match.group(1)
        if _is_strange(word, said) and any(_is_of_places(c) for c in found):
            return word
    return None


def _is_of_places(candidate: BlockCandidate) -> bool:
    return candidate.block.kind == "row" and any(
        set(caseless(c.header).split()) & _AREAS for c in cells(candidate.block.text)[:KEYS]
    )


def _unknown_place(question: str, best: BlockCandidate, passages: Sequence[Passage]) -> str | None:
    """A place that no passage has ("delivery to Spain"), where what would be quoted is the row of another place."""
    keys = cells(best.block.text)[:KEYS] if best.block.kind == "row" else ()
    areas = [c.span.text.removeprefix(f"{c.header}: ") for c in keys if set(caseless(c.header).split()) & _AREAS]
    asked = frozenset(terms(question))
    if not areas or any(all(likeness(t, asked) >= SLIPPED for t in terms(area)) for area in areas):
        return None  # the row is of no place, or of one that is asked about beside the other
    said = _said(passages)
    for match in _PLACED.finditer(question):
        word = match.group(1)
        if _is_strange(word, said):
            return None if any(_says_country(passages, *named) for named in countries_in(word)) else word
    return None


def _unknown_beside(question: str, best: BlockCandidate, passages: Sequence[Passage]) -> str | None:
    """What a thing is for that no passage has ("the booster for a ferret"), where what would be quoted is the row of a sibling: "Dog booster"."""
    keys = cells(best.block.text)[:KEYS] if best.block.kind == "row" else ()
    names = [terms(c.span.text.removeprefix(f"{c.header}: ")) for c in keys]
    name = next((t for t in names if any(map(str.isalpha, t))), ())
    said_words = [w.group() for w in _WORD.finditer(question)]
    shared = [i for i, w in enumerate(said_words) if any(likeness(t, frozenset(name)) >= SLIPPED for t in terms(w))]
    asked = frozenset(terms(question))
    if not shared or not 1 < len(set(name)) <= NAME_TERMS or all(likeness(t, asked) >= SLIPPED for t in name):
        return None
    said, plain = _said(passages), [caseless(w) for w in said_words]
    for i, word in enumerate(said_words):
        behind = plain[max(0, i - 2) : i]
        named = behind[-1:] == ["for"] or (behind[:1] == ["for"] and behind[-1] in _ARTICLES)
        if not named or len(word) < NAME_FROM or plain[i] in _PLAIN | _NO_AREAS | STOP_WORDS:
            continue
        own = set(terms(word))
        if own and not own & (FILLERS | GENERIC) and not _known(word, said) and min(abs(i - j) for j in shared) <= NEAR:
            return word
    return None


def unknown_of_its_kind(question: str, passages: Sequence[Passage]) -> str | None:
    """A name with a number in the question that the passages know with other numbers alone ("Fixed 36" beside Fixed 12 and Fixed 24), or
    None.

    One other number is enough where the passages write the word as a name. Nor do they know a thing of which they have not even the word ("the
    warranty of the Falcon 9"), where it stands as a name and not as a count.
    """
    said = "\n".join(f"{p.title}\n{p.locator or ''}\n{p.text}" for p in passages)
    plain = caseless(said)
    for match in _NUMBERED.finditer(caseless(question)):
        word, number = match.groups()
        if word in _NO_NAME or word in CALENDAR or not terms(word) or _YEAR.fullmatch(number):
            continue
        places = list(re.finditer(rf"(?<![^\W_]){re.escape(word)}[ -]?(\d{{1,4}})(?!\d)", plain))
        known = {m.group(1) for m in places}
        named = sum(said[m.start()].isupper() for m in places) > 1
        if number not in known and (len(known) > 1 or (known and named)):
            return question[match.start() : match.end()]
        if not known and _stands_as_name(question, match) and not _known(word, _said(passages)):
            return question[match.start() : match.end()]
    return None


def _stands_as_name(question: str, match: re.Match[str]) -> bool:
    """True of a word with a number behind "the", "a", "our" or "of", or with a capital that is none of a sentence: "of the falcon 9", "an iPhone 15"."""
    before = _WORD.findall(question[: match.start()])
    shown = question[match.start()]
    articled = bool(before) and caseless(before[-1]) in _NAMING
    return len(match.group(1)) >= NAME_FROM and (articled or (shown.isupper() and bool(before)))


def _unknown_sibling(question: str, found: Sequence[BlockCandidate], passages: Sequence[Passage]) -> str | None:
    """A name before the kind of a thing, which is the name of a column or a kind of place: "Limerick branch" beside the rows of other
    branches, "Beacon Family plan" beside other Beacon plans.
    """
    said = _said(passages)
    kinds = list(_kinds(tables(found, passages), found))
    for before, word, kind in _runs(question):
        plain, head = caseless(word), set(terms(kind))
        if (
            len(word) < NAME_FROM
            or spoken_codes(f"{word} {kind}")
            or is_of_a_country(word)
            or plain in _PLAIN
            or plain in STOP_WORDS
            or not terms(word)
            or set(terms(word)) & FILLERS
            or _DID.fullmatch(caseless(kind))
        ):
            continue
        strange = not _known(word, said)
        if strange and caseless(kind) in _PLACES:
            return f"{word} {kind}"
        for header, values in kinds:
            if caseless(kind) not in header or head <= _TIMES or any(_known(word, frozenset(v)) for v in values):
                continue
            family = bool(terms(before)) and any(v[: len(terms(before))] == terms(before) for v in values)
            if strange or family:
                return f"{before} {word} {kind}" if family else f"{word} {kind}"
    return None


def _kinds(
    found_tables: Sequence[Table], found: Sequence[BlockCandidate]
) -> Iterator[tuple[set[str], list[list[str]]]]:
    """The columns that may say what a row is about: the words of their names, and the terms of each of their values, in order."""
    for rows in found_tables:
        if rows.labelled:
            continue
        headers = [c.header for c in cells(found[rows.rows[0]].block.text)[:KEYS]]
        for column, header in enumerate(headers):
            if any(map(str.isdigit, header)):
                continue  # "Wren X1" is a thing, and no kind of things
            yield set(caseless(header).split()), [terms(keys[column]) for keys in rows.keys if column < len(keys)]


def _runs(question: str) -> Iterator[tuple[str, str, str]]:
    """Words with the word before and the word after each, where only white space parts them; "" where there is none before."""
    words = list(_WORD.finditer(question))
    for i in range(len(words) - 1):
        if question[words[i].end() : words[i + 1].start()].strip():
            continue
        joined = i > 0 and not question[words[i - 1].end() : words[i].start()].strip()
        yield (words[i - 1].group() if joined else ""), _POSSESSIVE.sub("", words[i].group()), words[i + 1].group()


def _unknown_thing(question: str, passages: Sequence[Passage]) -> str | None:
    """What a price is asked of, where no passage has one of its words ("what do we charge for a packraft")."""
    said = _said(passages)
    for match in _PRICED.finditer(question):
        thing = match.group(1).strip()
        words = [
            w for w in _WORD.findall(thing) if terms(w) and caseless(w) not in _PLAIN and not set(terms(w)) & FILLERS
        ]
        if words and any(len(w) > NAME_FROM for w in words) and not any(_known(w, said) for w in words):
            return thing
    return None


def _said(passages: Sequence[Passage]) -> frozenset[str]:
    """The terms of all passages, those of a word with a hyphen also as people write it without: wifi of Wi-Fi."""
    return frozenset[str]().union(*(_said_in(f"{p.title} {p.locator or ''} {p.text}") for p in passages))


@lru_cache(maxsize=READ)
def _said_in(text: str) -> frozenset[str]:
    hyphened = dict.fromkeys(m.group().replace("-", "") for m in _HYPHENED.finditer(text))
    return frozenset(t for said in (text, *hyphened) for t in terms(said))


def _is_strange(word: str, said: frozenset[str]) -> bool:
    """True of a word that may be a name, and that no passage has. `said`: the terms of all of them."""
    if len(word) < NAME_FROM or caseless(word) in _PLAIN | _NO_AREAS | STOP_WORDS:
        return False
    own = set(terms(word))
    return bool(own) and not own & FILLERS and not _known(word, said)


def _known(word: str, said: frozenset[str]) -> bool:
    """True if a word, or one that it may be a slip of, is among the terms, or begins one of them; also a code that is written apart there: C421 of C-421."""
    if (code := _CODE.fullmatch(caseless(word))) and set(code.groups()) <= said:
        return True
    return any(likeness(t, said) >= SLIPPED or any(other.startswith(t) for other in said) for t in terms(word))
