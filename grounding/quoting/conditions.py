"""Under what a question asks: in a country, for a period, for a contact. Blocks that hold under something else are given less, or nothing.

All functions take scores as lists of one for each part of the question with one for each block, and return them so.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from grounding.query.answer_kind import KINDS, holds
from grounding.query.conversation import FILLERS, content, goes_on, names, refers
from grounding.query.shorthand import said_as
from grounding.quoting.blocks import NOTHING, cells, is_empty
from grounding.quoting.choose import MONEY, NEAR_BEST
from grounding.quoting.countries import country_codes, foreign_money, spoken_codes, without_country
from grounding.quoting.coverage import GENERIC
from grounding.quoting.features import SLIPPED, WITHIN, BlockCandidate, likeness
from grounding.quoting.periods import periods_in
from grounding.quoting.question_parts import Part, Reading
from grounding.quoting.siblings import FittedTable, columns, named_among
from grounding.quoting.weighed import Weighed
from grounding.text import BAR, terms, words

ASIDE = 0.5
"""What a block keeps of its score that lacks what the question is about: it is then no further block beside the best one (`NEAR_BEST`)."""
LACKS = 0.1
"""What it keeps beside others where a contact is asked for and it has none."""
PHONE = next(kind.held for kind in KINDS if kind.name == "phone")
_PER = frozenset(terms("per"))
CONTACTS = frozenset({"phone", "email", "url"})
"""Kinds of values that a block has or has not, whatever its words."""


def with_the_value(
    scores: list[list[float]], reading: Reading, found: Sequence[BlockCandidate], fitted: Sequence[FittedTable] = ()
) -> list[list[float]]:
    """`scores` with less for blocks without a telephone number, an e-mail address or a link where a part asks for one, and some block has one; for rows that
    have nothing in the column that the question names; and for amounts of another period than it asks about: what a plan costs a month is not what it
    costs a year.
    """
    out = []
    bare, unpriced = _without_the_column(reading, fitted), _beside_the_price(reading, fitted)
    for part, told in zip(reading.parts, scores, strict=True):
        kind = part.wants.name if part.wants is not None and reading.form == "value" else ""
        has = [kind not in CONTACTS or part.wants is None or holds(c.block.text, part.wants) for c in found]
        fits = [not (_of_another_period(part, c) or _of_a_sibling(reading, c)) for c in found]
        lacks = LACKS if any(has) else 1.0
        out.append(
            [
                s
                * (1.0 if held else lacks)
                * (1.0 if fit else ASIDE)
                * (LACKS if i in bare else ASIDE if i in unpriced else 1.0)
                for i, (s, held, fit) in enumerate(zip(told, has, fits, strict=True))
            ]
        )
    return out


def _without_the_column(reading: Reading, fitted: Sequence[FittedTable]) -> frozenset[int]:
    """Rows without a value in the column that the question names, where others of their table have one: the breakdown line of a country that has none. A column of
    telephone numbers is named by half of its words, any other by all of them.
    """
    bare = set[int]()
    last = " ".join(part.text for part in reading.parts)
    for one in fitted if reading.form == "value" else ():
        if one.table.labelled:
            continue
        told = dict.fromkeys(header for row in one.table.cells for header, _ in row[1:] if header)
        headers = [header for header in told if not country_codes(header)]  # those are for `of_the_country`
        whole = {headers[i] for i in named_among([h.replace("_", " ") for h in headers], last, in_part=False)}
        half = {headers[i] for i in columns(headers, reading)}
        contacts = any(h in half and PHONE.search(v) for row in one.table.cells for h, v in row)
        named = half if contacts else whole
        if len(named) != 1:
            continue
        has = {
            i: any(h in named and v.lower() not in NOTHING for h, v in row)
            for i, row in zip(one.table.rows, one.table.cells, strict=True)
        }
        bare |= {i for i, full in has.items() if not full} if any(has.values()) else set()
    return frozenset(bare)


_MODEL = re.compile(r"(?<![\w-])([a-z]{1,2})(\d{1,3})(?![\w-])", re.IGNORECASE)


def _of_a_sibling(reading: Reading, candidate: BlockCandidate) -> bool:
    """Whether a sentence, an item or a step speaks of a sibling of the model that the question names, and not of that: of the X2, where the X1 is asked about."""
    if candidate.block.kind == "row":
        return False
    asked = {(m[1].lower(), m[2]) for m in _MODEL.finditer(reading.text)}
    told = {(m[1].lower(), m[2]) for m in _MODEL.finditer(candidate.block.text)} if asked else set()
    series = {letters for letters, _ in asked}
    return bool(told) and not told & asked and any(letters in series for letters, _ in told)


IN_OTHER_WORDS_AT = 0.3
"""The grade of the best passage from which what is quoted of a model may have none of the words that are asked of it: "Size and weight" to "is it big". What it refuses, rightly and
not, stands in docs/decisions/0014-quoting.md.
"""


def is_beside_the_point(weighed: Weighed, chosen: Sequence[int], grade: float) -> bool:
    """Whether of what is asked of a model ("is the Wren X1 waterproof") none of the blocks `chosen` to be quoted has a word, those of siblings apart: whatever else they say of the
    model is no answer. `grade`: of the best passage, 0 to 1; from `IN_OTHER_WORDS_AT` other words may answer, unless a block of a sibling has those asked for.
    """
    reading, found = weighed.reading, weighed.found
    wants = any(part.wants is not None for part in reading.parts)  # a value of that kind answers in whatever words
    if wants or reading.form != "value" or not _MODEL.search(reading.text):
        return False
    named = {t for name in names(reading.text) for t in terms(name)}
    own = {t for part in reading.parts for t in subject(part)} - FILLERS - GENERIC - named
    own = {t for t in own if not _MODEL.fullmatch(t)}
    says = {i for i, c in enumerate(found) if any(likeness(t, c.held | c.above) >= WITHIN for t in own)}
    others = any(_of_a_sibling(reading, found[i]) for i in says)
    told = any(i in says and not _of_a_sibling(reading, found[i]) for i in chosen)
    return bool(own) and not told and (others or grade < IN_OTHER_WORDS_AT)


def _beside_the_price(reading: Reading, fitted: Sequence[FittedTable]) -> frozenset[int]:
    """Rows of things side by side that tell another amount than the price, of which the question has no word, where it only asks how much something is: the
    share that a customer bears, the deposit.
    """
    if not all(part.wants is MONEY for part in reading.parts):
        return frozenset()
    asked = content(reading.text) - _PER
    other = set[int]()
    for table in (one.table for one in fitted if one.table.labelled):
        labels = [row[0][1] for row in table.cells]
        if any(MONEY.asked.search(label) for label in labels):
            other |= {
                i
                for i, label in zip(table.rows, labels, strict=True)
                if not MONEY.asked.search(label) and not asked & set(terms(label))
            }
    return frozenset(other)


def _of_another_period(part: Part, candidate: BlockCandidate) -> bool:
    """Whether the amounts of a block are for another period than a question names that asks for none but amounts, by its own words, else by what stands above it."""
    asked = periods_in(part.text) if part.wants is None or part.wants.name == "money" else frozenset()
    told = periods_in(_filled(candidate)) or periods_in(candidate.around)
    return bool(asked and told) and not told & asked


def in_english(reading: Reading, last: str, found: Sequence[BlockCandidate]) -> Reading | None:
    """The question in the words of English documents, where the query has some behind the `last` question, which is of another language: those, and what of the
    question some block says. Its own words, which no block says, would count against every one. None of several parts.
    """
    if not last.strip() or len(reading.parts) > 1:  # "Germany" without its country says nothing
        return None
    _, asked, gloss = reading.text.rpartition(last.strip())
    if not asked or not gloss.strip():
        return None
    known = frozenset().union(*(c.held | c.above for c in found))
    kept = [w.text for w in words(last) if terms(w.text) and known.issuperset(terms(w.text))]
    text = " ".join([*kept, *gloss.split()])
    return replace(reading, text=text, parts=(replace(reading.parts[0], text=text),))


def less_for_what_is_carried(
    scores: list[list[float]], reading: Reading, last: str, found: Sequence[BlockCandidate]
) -> list[list[float]]:
    """`scores` with less for blocks that have nothing in common with the `last` question but what is carried along from before, where another says all that it
    asks: the price of a router is no answer to "support phone number" after it. As they are where the question points back itself ("at that temperature").
    """
    carried = content(reading.text) - content(last)
    if not carried or len(reading.parts) > 1 or refers(last):
        return scores
    [part], [told] = reading.parts, scores
    own = subject(part) - FILLERS
    said = [sum(likeness(t, c.held | c.above) >= SLIPPED for t in own) for c in found]
    least = ASIDE * NEAR_BEST * max(told)
    if not own or not any(s >= least and n == len(own) for s, n in zip(told, said, strict=True)):
        return scores
    if goes_on(last):  # it names something else, of which the same is asked
        both = [n == len(own) and bool(carried & (c.held | c.above)) for c, n in zip(found, said, strict=True)]
        stands = any(b and s >= least for b, s in zip(both, told, strict=True))
        return [
            [
                s * (ASIDE if stands and n and not b else 1.0 if n else ASIDE)
                for s, n, b in zip(told, said, both, strict=True)
            ]
        ]
    return [[s * (1.0 if n else ASIDE) for s, n in zip(told, said, strict=True)]]


def less_for_the_name_alone(
    scores: list[list[float]], reading: Reading, found: Sequence[BlockCandidate], grades: Sequence[float]
) -> list[list[float]]:
    """`scores` with less for blocks that have nothing but a name in common with a question of how something is done, where a passage says what is to be done and is
    graded higher: a list on the page of a device is no answer on how to return it. `grades`: that of each passage.
    """
    named = {t for name in names(reading.text) for t in terms(name)}
    deeds = [way for ways in said_as(reading.text) if not ways[0] & named for way in ways]
    if reading.form != "steps" or not named or not deeds:
        return scores
    says = [any(all(likeness(t, c.held | c.above) >= SLIPPED for t in way) for way in deeds) for c in found]
    least = max((grades[c.passage] for c, said in zip(found, says, strict=True) if said), default=0.0)
    kept = [1.0 if said or grades[c.passage] >= least else LACKS for c, said in zip(found, says, strict=True)]
    return [[s * share for s, share in zip(part, kept, strict=True)] for part in scores]


def without_countries(reading: Reading) -> Reading:
    """The question without the countries that it names: they say where it is asked for, not what. A question that says nothing else stays as it is."""
    whole = without_country(reading.text)
    told = [without_country(part.text) for part in reading.parts]
    told = [text if _says_something(text) else whole for text in told]  # "and in Germany?" asks what was asked before
    parts = tuple(replace(part, text=text) for part, text in zip(reading.parts, told, strict=True))
    return replace(reading, text=whole, parts=parts) if parts != reading.parts and _says_something(whole) else reading


def _says_something(text: str) -> bool:
    return bool(set(terms(text)) - FILLERS)


def less_for_the_country(
    scores: list[list[float]], bare: list[list[float]], reading: Reading, found: Sequence[BlockCandidate]
) -> list[list[float]]:
    """`scores` with less for blocks that have nothing but a country in common with a question, or no value of the kind that it wants: a row is no answer
    because it says "Germany".

    `bare` and `reading`: the scores of the question without its countries, and that.
    """
    return [
        [
            ASIDE * min(whole, apart) if _countries(c) and not _is_about(part, c) else whole
            for whole, apart, c in zip(one, other, found, strict=True)
        ]
        for one, other, part in zip(scores, bare, reading.parts, strict=True)
    ]


def _is_about(part: Part, candidate: BlockCandidate) -> bool:
    """Whether a block has something of what a part asks about, and a value of the kind that it wants where it wants one."""
    held = part.wants is None or holds(candidate.block.text, part.wants)
    return held and bool(subject(part) & (candidate.held | candidate.above))


def subject(part: Part) -> set[str]:
    """Content terms of what a part asks about, without those that only say what kind of value is wanted; all where there are no others."""
    bare = content(part.wants.asked.sub(" ", part.text)) if part.wants is not None else set()
    return bare or content(part.text)


def of_the_country(weighed: Weighed) -> list[list[float]]:
    """The scores with 0 for blocks of other countries than the question names: the page for customers in France does not answer for Germany. Where
    something says it of that country, what names none gives way too: its price is some other country's.

    Where what comes nearest is of other countries alone, or a price in money that is none of that country, nothing is left: it differs by country, and of
    this one nobody tells.
    """
    asked = spoken_codes(weighed.reading.text)
    if not asked:
        return [list(part) for part in weighed.scores]
    told = [_countries(c) for c in weighed.found]
    out = []
    for part, scores in zip(weighed.reading.parts, weighed.scores, strict=True):
        priced = part.wants is not None and part.wants.name in ("money", "phone")
        near = [i for i, s in enumerate(scores) if s >= NEAR_BEST * max(scores)]
        ours = [i for i in near if told[i] & asked and not _of_another_period(part, weighed.found[i])]
        abroad = [i for i in near if told[i] and not told[i] & asked]
        if priced:
            abroad += [i for i in near if not told[i] and foreign_money(weighed.found[i].block.text, asked)]
        best = max(near, key=lambda i: (scores[i], -i))
        # by the month alone: nobody tells what it is by the year there
        others = [i for i, s in enumerate(scores) if s >= ASIDE * NEAR_BEST * scores[best] and told[i] & asked]
        otherwise = any(_of_another_period(part, weighed.found[i]) for i in others)
        if not ours and (best in abroad or (priced and abroad) or otherwise):
            out.append([0.0] * len(scores))
            continue
        stands = priced and bool(ours)
        out.append(
            [s if codes & asked or (not codes and not stands) else 0.0 for s, codes in zip(scores, told, strict=True)]
        )
    return out


def _countries(candidate: BlockCandidate) -> frozenset[str]:
    """The countries that a block is about, by its title, its heading and, of a row, its cells that hold a value."""
    return country_codes(f"{candidate.around}\n{_filled(candidate) if candidate.block.kind == 'row' else ''}")


def _filled(candidate: BlockCandidate) -> str:
    """The text of a block; of a row only the cells that hold a value: "Canada: –" tells nothing of Canada."""
    if candidate.block.kind != "row":
        return candidate.block.text
    return BAR.join(cell.span.text for cell in cells(candidate.block.text) if not is_empty(cell))
