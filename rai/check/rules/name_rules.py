"""Names and codes of an answer: whether a source has one, perhaps written otherwise, whether it belongs to something else there, and when no source knows it.

A name is wrong where a source has another one in its place: a sibling in the same table or list, a name that shares a word with it, the
same word with another number. One word with a capital that no source has is doubt: languages, customs and courtesy capitalise more than
names.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from itertools import islice

from grounding.text import caseless
from rai.check.answer import Answer
from rai.check.context import CheckContext, Finding, name_of
from rai.check.lexicon.load import rows
from rai.check.names.entities import match_name
from rai.check.names.variants import core_words, misspelt, names_holding
from rai.check.reading.cards import cards_of
from rai.check.reading.keys import line_at, spoken
from rai.check.reading.role_words import role_terms
from rai.check.reading.sources import Place, caseless_field
from rai.check.rules.place_rules import layers_of
from rai.check.rules.rivals import rival_of
from rai.claims.found import Found
from rai.claims.languages import language
from rai.claims.names.names import normal
from rai.records import Claim, EvidenceSpan

_VERSION = re.compile(r"(?:[^\W\d_]{2,20} )?\d{1,4}(?:\.\d{1,4}){0,3}")
_HOLIDAY = re.compile(
    r"\b(?:christmas|easter|good friday|whit|boxing day|new year|thanksgiving|halloween|independence day|labou?r day|memorial day|bank holiday|weihnacht\w*|oster\w*|pfingst\w*|"
    r"silvester|neujahr|pâques|noël|ascension|pentecôte|navidad|semana santa|pascua|natale|pasqua|primo maggio|ferragosto|natal|páscoa|kerst\w*|pasen|boże narodzenie|wielkanoc)\b",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"(?P<name>\D*?[^\W\d]) ?(?P<number>\d{1,4})")
_WORD = re.compile(r"\S+")


def named(n: int, claim: Claim, answer: Answer) -> Finding:
    """The finding of the n-th value, a name or code."""
    value, context = answer.values[n], answer.context
    finding = match_name(claim, value, answer.around[value], context)
    if finding.status in ("exact", "normalised") and finding.evidence:
        return _anothers(n, claim, answer) or replace(finding, rule=finding.rule or "name")
    asked = context.question.source.text if context.question else ""
    known = caseless(claim.text) in caseless(asked) or _HOLIDAY.search(claim.text)
    if finding.status == "wrong_role" and (known or _VERSION.fullmatch(claim.text)):
        spans = _written(claim.text, context)
        return _exact(spans) if spans else replace(finding, rule="name-role")
    if finding.status == "wrong_role" and (spans := _on_its_card(n, finding, answer)):
        return _exact(spans)
    if finding.status not in ("absent", "unchecked"):
        return replace(finding, rule=finding.rule or "name-role")
    if spans := _written(claim.text, context):
        return _exact(spans)
    shorter = (
        ""
        if claim.entity in ("person", "organisation")
        else _without_first(claim.text, answer.text, claim.start, context)
    )
    code = language(answer.words)
    shorter = _without_function_words(shorter or claim.text, code) or shorter
    if shorter and (spans := _written(shorter, context)):
        return Finding("normalised", spans, f"{spans[0].source} has {spans[0].text}.", rule="name")
    name = shorter or claim.text
    found = _of_several(name, context) or _unwritten(name, claim, finding, value, context)
    if code == _CAPITAL_NOUNS and value.entity not in ("code", "address") and _may_be_nouns(name, found, claim):
        return Finding(
            "unchecked",
            (),
            f"No source has {name}; nouns have capitals there, and it may be no name.",
            rule="name-alone",
        )
    return found


def _may_be_nouns(name: str, found: Finding, claim: Claim) -> bool:
    """True of what no source names, of no known kind or with a common noun in it: Kurstag, Jahresbeginn 2025."""
    if found.rule == "no-name" and not claim.entity:
        return True
    return found.rule in ("no-name", "name-sibling") and any(_NOUN.search(word) for word in name.split())


_NOUN = re.compile(
    r"(?:ung|heit|keit|schaft|tion|zeit|tag|beginn|ende|jahr|monat|woche|kosten|preis|gebühr|frist|nummer|karte|kurs|fahrt|stunde|termin|rechnung|adresse|daten)(?:e?[nrs]?)$",
    re.IGNORECASE,
)


_CAPITAL_NOUNS = "de"
"""The language in which every noun has a capital: two of them in a row are no name for that."""


def _without_function_words(name: str, code: str) -> str:
    """A name without the articles and prepositions that it begins with, which have their capital from the beginning of the sentence: "Mit der Backup Box"; "" if there are none."""
    small = _function_words(code) if code else frozenset[str]()
    words = list(_WORD.finditer(name))
    first = next((at for at, word in enumerate(words) if word[0].lower() not in small), 0)
    return name[words[first].start() :] if first else ""


@lru_cache(maxsize=16)
def _function_words(code: str) -> frozenset[str]:
    return frozenset(rows("function")["function"][code])


def _exact(spans: tuple[EvidenceSpan, ...]) -> Finding:
    return Finding("exact", spans, f"Stands in the same characters in {spans[0].source}.", rule="name")


def _on_its_card(n: int, finding: Finding, answer: Answer) -> tuple[EvidenceSpan, ...]:
    """The place of a name if the sentence says a word of its card that no other card has, else nothing; a card is lines with labels between blank lines."""
    span = finding.evidence[0] if finding.evidence and finding.evidence[0].field == "text" else None
    text = next((s.source.text for s in answer.context.sources if span and s.source.id == span.source), "")
    if span is None or answer.written(n) != span.text:
        return ()
    label = _CARD_LABEL.search(text, max(0, span.start - 60), span.start)
    if label is None:
        return ()
    cards = [(a, b) for a, b in cards_of(text) if label[0].strip() in text[a:b]]
    mine = [text[a:b] for a, b in cards if a <= span.start < b]
    rest = role_terms(answer.sentence(n).replace(answer.written(n), " "))
    others = frozenset().union(*(role_terms(text[a:b]) for a, b in cards if not a <= span.start < b))
    return (span,) if len(cards) > 1 and mine and rest & role_terms(mine[0]) - others else ()


_CARD_LABEL = re.compile(r"[^\n:]{2,30}: ?$")


def _unwritten(name: str, claim: Claim, finding: Finding, value: Found, context: CheckContext) -> Finding:
    """The finding of a name that no source writes: wrong where one has another in its place, else absent if it has several words, doubtful if one."""
    if other := _other_number(name, context):
        return Finding(
            "absent", (other,), f"{other.source} names {other.text}, not {name}.", instead=other, rule="name-number"
        )
    if (joined := _JOINED.fullmatch(name)) and (spans := _written(joined["name"], context)):
        return Finding("normalised", spans, f"{spans[0].source} has {spans[0].text}.", rule="name")
    core = core_words(normal(name))
    same = _over_commas(name, context) or (_names_like(core, _differ_in_endings, context) if len(core) > 1 else ())
    if same:
        return Finding("normalised", same, f"{same[0].source} writes it as {same[0].text}.", rule="name")
    if system := _system_of(name, context):
        return Finding(
            "unchecked", (system,), f"{system.source} names {system.text}, which it may stand for.", rule="name-alone"
        )
    if value.entity in ("code", "address"):
        return replace(finding, rule="no-name")
    if len(core) > 1 and finding.status == "unchecked" and misspelt(core, context.sources):
        return replace(finding, rule="name-spelling")
    if len(core) > 1 and (others := names_holding(core, context.sources) or _names_like(core, _differ_in_one, context)):
        why = f"{others[0].source} names {others[0].text}, but no source names {name}."
        return Finding("absent", others[:1], why, rule="name-sibling")
    if _HOLIDAY.search(name):
        return Finding("unchecked", (), f"No source has {claim.text}; it is a day that calendars name.", rule="holiday")
    told = claim.entity and not any(c.isdigit() for c in name)
    if (len(core) > 1 or told) and finding.status == "absent":
        return replace(finding, rule="no-name")
    return Finding("unchecked", (), f"No source has {claim.text}; one word alone may be no name.", rule="name-alone")


def _over_commas(name: str, context: CheckContext) -> tuple[EvidenceSpan, ...]:
    """The places of a name of three words and more that sources write with a comma, a dash or a cell's edge in it: "Fennel Ridge, Pinot Noir 2022"."""
    words = name.split()
    if len(words) < _PARTED:
        return ()
    joint = r"(?: |, ?| [|–-] |: )"
    pattern = re.compile(rf"(?<![^\W_]){joint.join(map(re.escape, words))}(?![^\W_])", re.IGNORECASE)
    return tuple(
        EvidenceSpan(prepared.source.id, "text", *m.span(), m.group())
        for prepared in context.sources
        for m in pattern.finditer(prepared.source.text)
    )


_PARTED = 3


_LINKED = re.compile(
    r" (?:in|im|at|the|der|die|das|den|dem|für|for|from|aus|zum|zur|vom|von|à|au|aux|en|pour|del|per|nel|voor|bij|uit) "
)
_OWN = re.compile(
    r"(?:our|your|my|their|unser\w{0,2}|eur\w{1,2}|ihr\w{0,2}|mein\w{0,2}|notre|nos|votre|vos|nuestr\w{1,2}|vuestr\w{1,2}|nostr\w|vostr\w|onze|ons|uw|jullie|noss\w{1,2}|voss\w{1,2}) .*",
    re.IGNORECASE,
)


def _of_several(name: str, context: CheckContext) -> Finding | None:
    """The finding of names that little words join or that a possessive begins ("Unser Hub in Leipzig", "Utrecht the Fern Duo"): each counts by itself, and what is
    called by a common word is none. None of a name without them, and where one of several words is in no source.
    """
    parts = [part for part in _LINKED.split(name) if not _OWN.fullmatch(part)]
    if parts == [name]:
        return None
    written = {part: _written(part, context) for part in parts}
    if any(not spans and " " in part for part, spans in written.items()):
        return None
    held = next((spans for spans in written.values() if spans), ())
    if held and all(written.values()):
        return Finding("normalised", held, f"{held[0].source} has {held[0].text}.", rule="name")
    return Finding("unchecked", held, f"No source has {name}; one word alone may be no name.", rule="name-alone")


def _system_of(name: str, context: CheckContext) -> EvidenceSpan | None:
    """The place of the operating system that a device runs, where the answer names the device (iPhone) and a source the system (iOS)."""
    system = _SYSTEMS.get(caseless(name), "")
    spans = _written(system, context) if system else ()
    return spans[0] if spans else None


_SYSTEMS = {"iphone": "iOS", "iphones": "iOS", "ipad": "iOS", "ipads": "iOS", "mac": "macOS", "macbook": "macOS"}
_JOINED = re.compile(r"(?P<name>[^\W\d_a-zß-ÿ].*)-[a-zß-ÿ]{3,}")
"""A name that is joined to a word of the language: Brightmere-installed, Lisbon-based."""


def _names_like(
    core: tuple[str, ...], alike: Callable[[tuple[str, ...], tuple[str, ...]], bool], context: CheckContext
) -> tuple[EvidenceSpan, ...]:
    """The places of the sources' names whose words are `alike` to those of a name."""
    places = (p for s in context.sources for p in s.kinds.get("entity", ()))
    return tuple(p.span() for p in places if alike(core, core_words(p.found.value)))


def _differ_in_one(mine: tuple[str, ...], theirs: tuple[str, ...]) -> bool:
    """True if two names share all words of the first but one, and their numbers of words differ by one at the most: Jonas Reisinger, Jonas Reitinger."""
    shorter, longer = sorted((mine, theirs), key=len)
    return len(longer) - len(shorter) <= 1 and len(set(mine) & set(theirs)) == len(mine) - 1 > 0


def _differ_in_endings(mine: tuple[str, ...], theirs: tuple[str, ...]) -> bool:
    """True if two names are the same but for the endings of words: Agnieszka Wrzos, Agnieszki Wrzos."""
    if len(mine) != len(theirs):
        return False
    return all(
        a == b or (len(a) > _STEM and a[:-2] == b[: len(a) - 2] and abs(len(a) - len(b)) <= 1)
        for a, b in zip(mine, theirs, strict=True)
    )


_STEM = 5
"""Letters that a word needs more of before its ending may differ."""


def numbered_name(claim: Claim, answer: Answer) -> Finding | None:
    """`absent` for a number behind a name that sources number otherwise: SlimFix 65, where they have SlimFix 70 alone."""
    before = _NAME_BEFORE.search(answer.text, max(0, claim.start - 32), claim.start)
    if claim.kind != "number" or before is None or not claim.text.isdigit():
        return None
    name = f"{before['name']} {claim.text}"
    other = _other_number(name, answer.context)
    plural = re.compile(rf"(?<!\w){re.escape(name)}['’]?s\b", re.IGNORECASE)  # only Loma 200s are rented out
    if other is None or before["name"].lower() in _COUNTED or _stands_somewhere(plural, answer.context):
        return None
    why = f"{other.source} names {other.text}, not {name}."
    return Finding("absent", (other,), why, rule="name-number")


def _stands_somewhere(pattern: re.Pattern[str], context: CheckContext) -> bool:
    return any(pattern.search(text.source.text) for text in context.sources)


_NAME_BEFORE = re.compile(r"(?<=[\w,] )(?P<name>[A-ZÄÖÜ][\w'-]{2,30}) $")
_COUNTED = frozenset(
    "january february march april may june july august september october november december level step page section chapter article room line option "
    "monday tuesday wednesday thursday friday saturday sunday january".split()
)


def _written(name: str, context: CheckContext) -> tuple[EvidenceSpan, ...]:
    """Every place where a source's text writes a name as whole words, in letters of any case."""
    pattern = re.compile(rf"(?<![^\W_])(?<!\d\.){re.escape(caseless(name))}(?![^\W_]|\.\d)")
    found = []
    for prepared in context.sources:
        plain = caseless_field(prepared.source.text)
        if len(plain) != len(prepared.source.text):
            continue
        text = prepared.source.text
        found += [
            EvidenceSpan(prepared.source.id, "text", *m.span(), text[slice(*m.span())]) for m in pattern.finditer(plain)
        ]
    return tuple(found)


def _without_first(name: str, text: str, start: int, context: CheckContext) -> str:
    """A name at the start of a sentence without its first word, which has its capital from there: Adding Home 300."""
    before = text[max(0, start - 3) : start].rstrip(' *_"„“«»(')
    words = list(_WORD.finditer(name))
    if len(words) < 2 or (before and before[-1] not in ".!?:\n-•–"):
        return ""
    begins = re.compile(rf"\b{re.escape(words[0][0])} [A-ZÀ-ÖØ-Þ]")
    if any(begins.search(s.source.text) for s in context.sources):
        return ""  # a name of its own: Callum Marsh of Callum Reyes and Tendai Marsh
    return name[words[1].start() :]


def _other_number(name: str, context: CheckContext) -> EvidenceSpan | None:
    """The first place where a source puts another number behind the same word, if none puts this one: SlimFix 70 for SlimFix 65."""
    match = _NUMBERED.fullmatch(name)
    if match is None:
        return None
    word = re.escape(caseless(match["name"].split()[-1]))
    pattern = re.compile(rf"(?<!\w){word}[ -]?(?P<number>\d{{1,4}})(?![\w.,]\d|\w)")
    found = []
    for prepared in context.sources:
        plain = caseless_field(prepared.source.text)
        if len(plain) == len(prepared.source.text):
            found += [(prepared.source, m.span(), m["number"]) for m in pattern.finditer(plain)]
    if not found or any(number == match["number"] for _, _, number in found):
        return None
    source, span, _ = found[0]
    return EvidenceSpan(source.id, "text", *span, source.text[slice(*span)])


def _anothers(n: int, claim: Claim, answer: Answer) -> Finding | None:
    """`wrong_role` if every place of the name belongs to another row or line than the answer names; else None."""
    value, context = answer.values[n], answer.context
    if claim.entity == "code":
        return None
    every = [p for s in context.sources for p in s.kinds.get("entity", ()) if p.unit.field == "text"]
    places = [p for p in every if p.found.value == value.value]
    others = [p for p in every if p.found.value != value.value and p.found.entity != "code"]
    layers = layers_of(n, answer)
    rivals = [rival_of(p, others, layers, spoken(claim.text)) for p in places]
    first = rivals[0] if rivals else None
    if first is None or None in rivals or any(caseless(first.place.span().text) in caseless(s) for s in (answer.text,)):
        return None
    if _is_for_another_value(n, first.place, answer):
        return None
    spans = (places[0].span(), first.place.span())
    why = f"{name_of(places[0])} names {spans[0].text} for something else; here {name_of(first.place)} says {spans[1].text}."
    return Finding("wrong_role", spans[:1], why, instead=spans[1], rule=first.by)


def _is_for_another_value(n: int, rival: Place, answer: Answer) -> bool:
    """True if another value of the sentence stands in the line of the rival, which is named for that: "extension 31 is for parking; else ask …"."""
    line = line_at(rival.text(), rival.found.start)
    near = islice((m for m in answer.near(n, 0) if m != n), _MOST_BESIDE)
    places = (p for m in near for p in answer.standing(m))
    return any(p.source == rival.source and line.start <= p.found.start < line.end for p in places)


_MOST_BESIDE = 12
