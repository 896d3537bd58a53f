"""The values of which a value of an answer may have been worked out: those it says close by, what was asked, what the sources say of the same."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from heapq import nlargest

from grounding.tables import table
from grounding.text import stem
from rai.check.answer import Answer, named
from rai.check.context import CheckContext, Finding
from rai.check.operands import Operand, nearest
from rai.check.reading.keys import Spoken, axes_of
from rai.check.reading.readings import readings
from rai.check.reading.role_words import numbered, role_terms
from rai.check.reading.sources import Place, Prepared, Unit
from rai.claims.found import Found
from rai.records import SUPPORTED, EvidenceSpan

MOST = 32
"""Most operands of one value."""
MOST_SAID = 30
"""Most values of the answer to each side that are operands."""
REACH = 7
"""Sentences of the answer to each side of a value whose values are operands."""
PASSAGES = 6
"""Most sentences and rows of the sources that count as speaking of what the value's sentence speaks of."""
_A_SENTENCE = 0.12
"""How much farther (`Operand.far`) an operand is for each sentence between."""
_FARTHEST = 0.8
"""How far one that the answer says is at most."""
_ASKED = 0.5
"""How far one of the question is."""
_ASKED_LINE = 0.7
"""How far an amount is whose line the question names by all its words (`is_asked_for`)."""
_IN_SOURCE = 1.0
"""How far one is of the passage that speaks most of the same."""
_ELSEWHERE = 2.0
"""How far one of any other passage is at most."""
_KINDS = ("number", "quantity", "money", "percent", "date", "time")
_BESIDE = 0.4
"""The weight of a word of the question or of the sentence before, beside 1 for one of the sentence itself."""


def operand_candidates(n: int, answer: Answer, findings: Mapping[int, Finding]) -> tuple[Operand, ...]:
    """The operands of the n-th value of `answer`, nearest first. `findings`: those of values that are decided."""
    before, behind = _unchanging(n, answer)
    every = (*before, *_said(n, answer, findings), *behind)
    return nearest((o for o in every if o.found.kind in _KINDS), MOST)


def _unchanging(n: int, answer: Answer) -> tuple[tuple[Operand, ...], tuple[Operand, ...]]:
    """The operands that hang on no findings, read once for each value: nearer than the answer's own (half, twice) and farther (question, sources)."""
    if n not in answer.operands:
        before = (*_implied(n, answer), *_one_of(n, answer))
        answer.operands[n] = (before, (*_asked(answer.values[n], answer.context), *_named(n, answer)))
    return answer.operands[n]


def _implied(n: int, answer: Answer) -> Iterator[Operand]:
    """Numbers that a word of the sentence stands for: half price, both, twice."""
    sentence = answer.sentence(n)
    for match in _WORDS.finditer(sentence):
        number = next(value for value, _ in _IMPLIED if match[f"n{_IMPLIED_AT[value]}"])
        yield Operand(Found("number", match.start(), match.end(), number, (number,), (number,)), match[0], 0.0)


_TABLE = table(__file__)
_IMPLIED: tuple[tuple[str, str], ...] = tuple((number, "|".join(words)) for number, words in _TABLE["implied"])
_IMPLIED_AT = {value: at for at, (value, _) in enumerate(_IMPLIED)}
_WORDS = re.compile("|".join(rf"(?P<n{at}>\b(?:{words})\b)" for at, (_, words) in enumerate(_IMPLIED)), re.IGNORECASE)


def _one_of(n: int, answer: Answer) -> Iterator[Operand]:
    """Spans of one that a text writes with an article, which finders leave out: ein Monat, un mois."""
    texts = [(answer.sentence(n), 0.0, ""), *((s.source.text, _IN_SOURCE, s.source.id) for s in answer.context.sources)]
    for text, far, source in texts:
        for start, end, unit in _ones(text[:LONGEST_TEXT]):
            value = f"1 {unit}"
            evidence = (EvidenceSpan(source, "text", start, end, text[start:end]),) if source else ()
            yield Operand(Found("quantity", start, end, value, (value,), ("1",)), text[start:end], far, evidence)


LONGEST_TEXT = 20_000
"""Most characters of a text that are read for such spans."""
_ONE = re.compile(
    r"\b(?:eine[mnrs]?|ein|une?|una|um|uma|een|één|jeden|jednego) (?P<unit>monate?s?|woche|jahre?s?|tag|mois|semaine|mes|semana|mese|settimana|mês|"
    r"maand|miesiąc\w*|tydzień|tygodnia|rok\w*|année|año|anno|ano|jaar)\b",
    re.IGNORECASE,
)
_ONES: dict[str, list[str]] = _TABLE["ones"]


@lru_cache(maxsize=1024)
def _ones(text: str) -> tuple[tuple[int, int, str], ...]:
    found = []
    for match in _ONE.finditer(text):
        word = match["unit"].lower()
        unit = next((u for u, names in _ONES.items() if any(word.startswith(n) for n in names)), "")
        if unit:
            found.append((*match.span(), unit))
    return tuple(found)


def _said(n: int, answer: Answer, findings: Mapping[int, Finding]) -> Iterator[Operand]:
    """Values that the answer says close by and a source supports, and small numbers of its sentence that none does: seven of "seven of them"."""
    here = answer.at[n]
    near = answer.near(n, REACH)
    for m in range(max(near.start, n - MOST_SAID), min(near.stop, n + MOST_SAID)):
        value, away = answer.values[m], abs(answer.at[m] - here)
        if m == n:
            continue
        finding = findings.get(m)
        held = finding is not None and (finding.status in SUPPORTED or finding.rule in _STANDING)
        figures = value.value.partition(" ")[0].removesuffix(".5")
        counts = away == 0 and value.kind in ("number", "quantity") and len(figures) <= 2
        if held or counts:
            evidence = finding.evidence if finding is not None and held else ()
            far = min(_FARTHEST, _A_SENTENCE * away)
            yield Operand(value, answer.written(m), far, evidence, of=_counted(value, answer.text))
            wanted = answer.values[n]
            if value.kind == "number" and (span := _span_of(value, answer.text)) is not None:
                yield Operand(span, answer.written(m), far, evidence)
            if value.kind == "number" and held and answer.written(m)[:1].isdigit():  # the 15th of "from the 15th"
                days = (r for r in readings(value, answer.text) if r.kind == "date")
                yield from (Operand(day, answer.written(m), far, evidence) for day in days)
            if (
                wanted.kind == "money"
                and value.kind == "number"
                and (_DECIMALS.search(answer.written(m)) or _is_an_amount(m, evidence, wanted, answer))
            ):
                amount = f"{value.value} {wanted.value.partition(' ')[2]}"
                yield Operand(
                    replace(value, kind="money", value=amount, readings=(amount,)), answer.written(m), far, evidence
                )


def _span_of(number: Found, text: str) -> Found | None:
    """A number as the span that the words behind it say it is: three unused days, three of six days; None if they say none."""
    match = _COUNTS_SPANS.match(text, number.end, number.end + _LONGEST_LABEL)
    if match is None:
        return None
    value = f"{number.value} {match['unit'].lower()}"
    return replace(number, kind="quantity", value=value, readings=(value,))


_COUNTS_SPANS = re.compile(
    r" (?:of (?:the |her |his |their |your )?(?:\w+[ -])?|[a-z]{3,12} )(?P<unit>day|night|week|month|hour|year)s\b",
    re.IGNORECASE,
)


def _counted(number: Found, text: str) -> str:
    """The stem of what a bare number counts: tray of "four trays"."""
    match = _NOUN.match(text, number.end) if number.kind == "number" else None
    return stem(match[1].lower()) if match else ""


def _each(place: Place) -> str:
    """The stem of what an amount of a source is the price of each: tray of "£20.00 a tray"."""
    match = _PER_NOUN.match(place.text(), place.found.end)
    return stem(match[1].lower()) if match else ""


_NOUN = re.compile(r"[ \u00a0]([^\W\d_]{3,20})s\b")
_PER_NOUN = re.compile(
    r"[ \u00a0]?(?:/[ ]?|(?:per|an?|each|every|for each|je|pro|par|por|al|a|per ogni|cada|za) )([^\W\d_]{3,20})\b",
    re.IGNORECASE,
)


def _is_an_amount(m: int, evidence: Sequence[EvidenceSpan], wanted: Found, answer: Answer) -> bool:
    """True of a number in digits that a source has as an amount in the currency of `wanted`: "$368 (148 for the frame, 165 for the lenses …)"."""
    code = wanted.value.partition(" ")[2]
    return answer.written(m)[:1].isdigit() and any(
        p.source.id == e.source
        and p.found.start <= e.start
        and e.end <= p.found.end
        and p.found.value.partition(" ")[2] == code
        for e in evidence
        for s in answer.context.sources
        for p in s.kinds.get("money", ())
    )


_STANDING = ("words-nearer", "part-row", "sources-disagree")
"""Rules that doubt a value which stands in a source: what is reckoned with it may be right."""


_AN_AMOUNT = 3
"""Fewest characters of a bare number of the question that may be an amount: 74,90, 249."""


def _asked(wanted: Found, context: CheckContext) -> Iterator[Operand]:
    for text in (*((context.question,) if context.question else ()), *context.given):
        for place in text.places:
            yield Operand(place.found, place.span().text, _ASKED)
            if wanted.kind == "money" and place.found.kind == "number" and len(place.found.value) >= _AN_AMOUNT:
                amount = f"{place.found.value} {wanted.value.partition(' ')[2]}"
                yield Operand(
                    replace(place.found, kind="money", value=amount, readings=(amount,)), place.span().text, _ASKED
                )


def _named(n: int, answer: Answer) -> Iterator[Operand]:
    """Values of the passages that the sentence speaks of, the one with the most of its words first."""
    layers, words = named_around(n, answer), role_terms(answer.sentence(n)[:LONGEST])
    for text, place, rank in _places(n, answer):
        if _is_anothers(place, layers):
            continue
        far = _ELSEWHERE if rank is None else min(_ELSEWHERE, _IN_SOURCE + 0.2 * rank)
        if place.found.kind == "money" and is_asked_for(place, answer):
            far = _ASKED_LINE
        if place.found.kind == "date" and _is_called_so(place, words):
            far = min(far, _ASKED_LINE)
        of = _each(place) if place.found.kind == "money" else ""
        yield Operand(priced(place, text), place.span().text, far, (place.span(),), id(place.unit), of)


def named_around(n: int, answer: Answer) -> tuple[Spoken, ...]:
    """What is named around the n-th value: by its sentence, by the one before, by the question."""
    at = answer.at[n]
    before = answer.sentences[at - 1].text[-LONGEST:] if at > 0 else ""
    return named(answer.sentence(n)[:LONGEST]), named(before), answer.asked


LONGEST = 2000
"""Most characters of a sentence that are read for what it names."""


def _is_anothers(place: Place, layers: Sequence[Spoken]) -> bool:
    """True of a value of a row, column, section or line with a name, where the answer or the question names another one of these and not this."""
    if place.unit.field != "text":
        return False
    for axis in axes_of(place.text(), place.found.start):
        for layer in layers:
            keys = axis.named(layer)
            if keys:
                if axis.own not in keys and axis.keys[axis.own].proper and any(axis.keys[k].proper for k in keys):
                    return True
                break
    return False


def _places(n: int, answer: Answer) -> Iterator[tuple[Prepared, Place, int | None]]:
    """Values of the sources with the rank of their passage; None for those that the sentence does not speak of, the first `MOST_ELSEWHERE` of them."""
    ranks = {id(unit): rank for rank, (_, unit) in enumerate(spoken_of(n, answer))}
    left = MOST_ELSEWHERE
    for text in answer.context.sources:
        for place in text.places:
            rank = ranks.get(id(place.unit))
            if rank is None:
                left -= 1
                if left < 0:
                    continue
            yield text, place, rank


def is_asked_for(place: Place, answer: Answer) -> bool:
    """True of an amount on a line of its own whose label the question says, words and numbers: "index 1.67 ..... + £75", asked for "index 1.67"."""
    question = answer.context.question
    if question is None or place.unit.field != "text" or place.unit.header:
        return False
    label = place.text()[place.unit.start : place.found.start]
    if len(label) > _LONGEST_LABEL or not (_LABEL_ENDS.search(label)):
        return False
    words = role_terms(label) | numbered(label)
    return bool(words) and words <= answer.context.question_terms | numbered(question.source.text[:LONGEST])


def _is_called_so(place: Place, words: frozenset[str]) -> bool:
    """True of a day on a line of its own whose label a sentence says: "Pickup: Friday, August 14" of 72 hours before pickup."""
    label = place.text()[place.unit.start : place.found.start]
    if place.unit.field != "text" or len(label) > _LONGEST_LABEL or not _LABEL_ENDS.search(label):
        return False
    called = role_terms(label)
    return bool(called) and called <= words


_LONGEST_LABEL = 60
_LABEL_ENDS = re.compile(r"(?::|\.{2,}| \.|\t| [-–—])[ +]*$")
MOST_ELSEWHERE = 80
"""Most operands out of passages that the sentence does not speak of."""
_DECIMALS = re.compile(r"\d[.,]\d\d$")


def priced(place: Place, text: Prepared) -> Found:
    """The value of a place; a bare number of a table as an amount where its document names one currency and its row has no amount: "25,60" below "tariff (EUR)"."""
    found = place.found
    if found.kind != "number" or not place.unit.row or len(found.forms) != 1 or not _DECIMALS.search(place.span().text):
        return found
    amounts = text.kinds.get("money", ())
    codes = {p.found.value.partition(" ")[2] for p in amounts}
    if len(codes) != 1 or any(p.unit is place.unit for p in amounts):
        return found
    value = f"{found.value} {codes.pop()}"
    return replace(found, kind="money", value=value, readings=(value,))


def spoken_of(n: int, answer: Answer) -> Sequence[tuple[Prepared, Unit]]:
    """The sentences and rows of the sources that share most words with the n-th value's sentence, then with the question; the best first."""
    at = answer.at[n]
    before = answer.sentences[at - 1].text if at > 0 else ""
    return _ranked(answer.sentence(n), before, answer.context.question_terms, answer.context)


def _ranked(
    sentence: str, before: str, asked: frozenset[str], context: CheckContext
) -> Sequence[tuple[Prepared, Unit]]:
    own = role_terms(sentence)
    beside = (role_terms(before) | asked) - own
    units = [(t, u) for t in context.sources for u in t.units[:MOST_UNITS]]
    by_sentence = nlargest(PASSAGES, units, key=lambda tu: _score(tu[1], own, beside))
    by_question = nlargest(_ASKED_FOR, units, key=lambda tu: len(asked & (tu[1].terms | tu[1].context)))
    chosen = [(t, u) for t, u in by_sentence if _score(u, own, beside) > 0]
    return chosen + [
        (t, u) for t, u in by_question if asked & (u.terms | u.context) and not any(u is v for _, v in chosen)
    ]


MOST_UNITS = 400
"""Most sentences and rows of one source that are looked at."""
_ASKED_FOR = 3
"""Most of those that the question alone speaks of."""


def _score(unit: Unit, own: frozenset[str], beside: frozenset[str]) -> float:
    words = unit.terms | unit.context
    return len(own & words) + _BESIDE * len(beside & words)
