"""Extractive composer: an answer made of quoted blocks of the evidence, which says that it is. It cannot invent."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from grounding.errors import StoreError
from grounding.evidence.choose import retired, superseded
from grounding.ports import BlockReader, Vectors
from grounding.prompting.prompt import insufficient_sentence
from grounding.query.answer_kind import holds
from grounding.quoting.blocks import cells
from grounding.quoting.choose import ABOUT_AS, MONEY, NEAR_BEST, choose, numbered, procedures_together, shown
from grounding.quoting.conditions import (
    in_english,
    is_beside_the_point,
    less_for_the_country,
    less_for_the_name_alone,
    less_for_what_is_carried,
    of_the_country,
    subject,
    with_the_value,
    without_countries,
)
from grounding.quoting.countries import without_country
from grounding.quoting.features import KEYS, MEANING, PIECES, BlockCandidate, candidates, feature_rows, score
from grounding.quoting.filters import Filtered, filtered, shown_cells
from grounding.quoting.periods import periods_in
from grounding.quoting.question_parts import Part, Reading, read
from grounding.quoting.siblings import fitted_tables, fitting, names_a_cell, rivals, together, without_label
from grounding.quoting.sureness import NEAR, may_quote
from grounding.quoting.tariffs import worked_out
from grounding.quoting.unknown import unknown_in_follow_up, unknown_name
from grounding.quoting.weighed import Weighed
from grounding.records import LEAD_IN, Draft, Evidence, Passage, Prompt
from grounding.text import BAR, body_start, terms

LOG = logging.getLogger("attest")

LOOKED_AT = 32
"""Blocks whose meaning is looked at: those that score best by words. The rest count as the farthest of them."""
REPLACED_BY = 0.3
"""The score from which a block stands in place of what an edition says that was replaced."""
SAME_SUBJECT = 0.4
"""The share of the terms of a block of an old edition that the newer edition's must have to stand in its place."""
TRANSLATED = 0.25
"""What a block keeps of the odds that it has for a question put into English: one in the question's own language comes first. Of the odds and not of the score,
so that a block that stands out still does.
"""
OLDER = 0.7
"""What a block keeps of its score beside a newer document about the same thing."""


_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")


class ExtractiveComposer:
    """Composer (prompt to draft) that quotes the blocks of the evidence with the highest scores; with a reader by words and meaning,
    without one by words alone.
    """

    name = "extractive"

    def __init__(self, reader: BlockReader | None) -> None:
        self._reader = reader

    async def compose(self, prompt: Prompt) -> Draft:
        """A draft that quotes the blocks which answer each part of the question, each with its [n]; the insufficient sentence where it is
        not sure enough that they do.
        """
        weighed = await self.weighed(prompt)
        if weighed is None:
            return Draft(insufficient_sentence(), self.name)
        asked = " ".join(part.text for part in weighed.reading.parts)
        kept, rest = filtering(weighed)
        first = kept.rows[0] if kept else weighed.best
        unknown = unknown_in_follow_up(prompt.last, weighed.passages)
        if unknown := unknown or unknown_name(asked, weighed.found, weighed.passages, first):
            return Draft(insufficient_sentence(), self.name, unknown=unknown)
        lines = filter_quotes(weighed, kept, prompt.evidence) if kept else []
        best = max(e.score for e in prompt.evidence)
        if rest is not None:
            left = of_the_country(rest)
            apart = [
                [a if s else 0.0 for a, s in zip(own, part, strict=True)]
                for own, part in zip(rest.alone, left, strict=True)
            ]
            rest = replace(rest, scores=left, alone=apart)
            chosen = choose(rest)
            if names_a_cell(rest.best, rest.reading, rest.fitted) or (
                may_quote(rest.reading, rest.found, rest.scores, rest.near, best)
                and not is_beside_the_point(rest, chosen, best)
            ):
                lines = [
                    *quotes(rest, chosen, prompt.evidence),
                    *worked_quotes(rest, chosen, prompt.last, prompt.evidence),
                    *lines,
                ]
        if not lines:
            return Draft(insufficient_sentence(), self.name)
        told = rest if rest is not None and not kept else None
        return Draft("\n".join((LEAD_IN, *dict.fromkeys(lines))), self.name, rivals=named_rivals(told) if told else ())

    async def weighed(self, prompt: Prompt) -> Weighed | None:
        """The blocks of the evidence with their scores; None where there are none."""
        question = prompt.query or prompt.question
        passages = [e.passage for e in prompt.evidence]
        reading = await asyncio.to_thread(read, question, prompt.last)
        found = await asyncio.to_thread(candidates, passages)
        if not found:
            return None
        fitted = await asyncio.to_thread(fitted_tables, reading, found, passages)
        scores, _, near = await self._in_both_languages(reading, prompt.last, found, passages)
        bare = without_countries(reading)
        if bare is not reading:
            last = without_country(prompt.last)
            apart, said, _ = await self._in_both_languages(bare, last, found, passages)
            scores = less_for_the_country(scores, apart, said, found)
        grades = [e.score for e in prompt.evidence]
        scores = less_for_the_name_alone(scores, reading, found, grades)
        alone = fitting(less_for_what_is_carried(scores, reading, prompt.last, found), fitted)

        def under_what_is_asked(told: list[list[float]]) -> list[list[float]]:
            if not _YEAR.search(reading.text):  # who names a year may mean what held then
                told = without_retired(told, found, passages)
            return with_the_value(without_strangers(told, reading, found, passages), reading, found, fitted)

        told = under_what_is_asked(
            procedures_together(together(alone, reading, found, fitted), reading, found, passages)
        )
        return Weighed(reading, found, passages, fitted, told, under_what_is_asked(alone), near)

    async def _in_both_languages(
        self, reading: Reading, last: str, found: Sequence[BlockCandidate], passages: Sequence[Passage]
    ) -> tuple[list[list[float]], Reading, list[float]]:
        """The scores of the question, or of what the glossary makes of it in English where that says more; the reading to which more of it applies; and how near
        blocks are in meaning.
        """
        scores, near = await self.scores(reading, found, passages)
        if (english := in_english(reading, last, found)) is None:
            return scores, reading, near
        told, nearer = await self.scores(english, found, passages)
        both = [
            [max(own, _less_likely(other, TRANSLATED)) for own, other in zip(*pair, strict=True)]
            for pair in zip(scores, told, strict=True)
        ]
        return both, english, [max(pair) for pair in zip(near, nearer, strict=True)]

    async def scores(
        self, reading: Reading, found: Sequence[BlockCandidate], passages: Sequence[Passage]
    ) -> tuple[list[list[float]], list[float]]:
        """For each part of the question, one probability for each candidate that it answers that part; and how near candidates are in meaning."""
        rows, near = await self.features(reading, found, passages)
        old = superseded(passages)
        kept = [OLDER if passages[c.passage].chunk_id in old else 1.0 for c in found]
        return [[score(row) * share for row, share in zip(part, kept, strict=True)] for part in rows], near

    async def features(
        self, reading: Reading, found: Sequence[BlockCandidate], passages: Sequence[Passage]
    ) -> tuple[list[list[list[float]]], list[float]]:
        """For each part of the question the features of each candidate, columns as in `NAMES`; and how near each is in meaning, about `NEAR` where nobody tells."""
        rows = [await asyncio.to_thread(feature_rows, reading, part, found, passages) for part in reading.parts]
        near = [NEAR] * len(found)
        if self._reader is not None:
            try:
                near = await self._with_meaning(self._reader, reading, found, rows)
            except StoreError as error:
                LOG.warning("quotes are chosen by words alone: %s", error)
                self._reader = None
        return rows, near

    async def _with_meaning(
        self,
        reader: BlockReader,
        reading: Reading,
        found: Sequence[BlockCandidate],
        rows: Sequence[list[list[float]]],
    ) -> list[float]:
        """Fill in how near blocks are to each part: as a whole to the part and to all of the question alike, piece by piece to the part. Of each block the nearness
        to that of the question which it is nearest to.
        """
        by_words = [max(score(part[i]) for part in rows) for i in range(len(found))]
        looked_at = sorted(range(len(found)), key=lambda i: (-by_words[i], i))[:LOOKED_AT]
        asked = [reading.text, *(part.text for part in reading.parts)]
        near = await reader.near(asked, [found[i].embedded_as for i in looked_at])
        for k, part in enumerate(rows, start=1):
            whole = near.whole[0] if len(rows) == 1 else (near.whole[0] + near.whole[k]) / 2
            for column, told in ((MEANING, _standard(whole)), (PIECES, _standard(near.pieces[k]))):
                least = min(told)
                for row in part:
                    row[column] = least
                for i, value in zip(looked_at, told, strict=True):
                    part[i][column] = value
        nearest = near.whole.max(axis=0)
        out = [float(nearest.min())] * len(found)
        for i, value in zip(looked_at, nearest, strict=True):
            out[i] = float(value)
        return out


def _standard(values: Vectors) -> list[float]:
    """Standard scores: how many standard deviations each lies above their mean; zeros where all are alike."""
    return [float(x) for x in (values - values.mean()) / (values.std() + 1e-6)]


def _less_likely(score: float, share: float) -> float:
    """A probability whose odds are `share` of those of `score`."""
    return share * score / (1 - score + share * score)


def without_retired(
    scores: list[list[float]], found: Sequence[BlockCandidate], passages: Sequence[Passage]
) -> list[list[float]]:
    """`scores` with 0 for blocks of an edition that another has replaced, unless no other block may stand in their place. What the newer edition says on
    the same subject takes their score: it may say so in other words than the question.
    """
    gone = retired(passages)
    heirs = {
        i: _heir(i, found, passages, gone[passages[c.passage].chunk_id])
        for i, c in enumerate(found)
        if passages[c.passage].chunk_id in gone
    }
    left = [[0.0 if i in heirs else s for i, s in enumerate(part)] for part in scores]
    for part, kept in zip(scores, left, strict=True):
        for old, new in heirs.items():
            if new is not None:
                kept[new] = max(kept[new], part[old])
    return left if max(max(part) for part in left) >= REPLACED_BY else scores


def without_strangers(
    scores: list[list[float]], reading: Reading, found: Sequence[BlockCandidate], passages: Sequence[Passage]
) -> list[list[float]]:
    """`scores` with 0 for pages of the web wherever the knowledge base says something that is about as likely, with a value of the kind that is asked for
    half as likely: a shop's advertisement is no second opinion on the company's own price. What says less of the subject than the web's best is about
    something else: a charger's hours are no answer on how long lithium-ion batteries last.
    """
    own = [passages[c.passage].origin == "kb" for c in found]
    if all(own):
        return scores
    out = []
    for part, told in zip(reading.parts, scores, strict=True):
        ours = max((i for i, is_own in enumerate(own) if is_own), key=lambda i: told[i], default=None)
        typed = ours is not None and part.wants is not None and holds(found[ours].block.text, part.wants)
        least = max(REPLACED_BY, (NEAR_BEST if typed else ABOUT_AS) * max(told))
        theirs = max((i for i, is_own in enumerate(own) if not is_own), key=lambda i: told[i])
        stands = ours is not None and told[ours] >= least and _says(part, found[ours]) >= _says(part, found[theirs])
        out.append([0.0 if stands and not is_own else s for s, is_own in zip(told, own, strict=True)])
    return out


def _says(part: Part, candidate: BlockCandidate) -> int:
    """How many terms of what a part asks about, without those that only say what kind of value is wanted, stand in a block or above it."""
    return len(subject(part) & (candidate.held | candidate.above))


def _period_above(row: str, candidate: BlockCandidate, passage: Passage) -> str:
    """The heading that says for which period the amounts of a row are; empty where the row says it, has none, or no heading does."""
    if periods_in(row) or not holds(row, MONEY):
        return ""
    above = [candidate.block.heading, *reversed((passage.locator or "").split(" · "))]
    return next((h.removeprefix("sheet ") for h in above if periods_in(h)), "")


def _heir(old: int, found: Sequence[BlockCandidate], passages: Sequence[Passage], newer: frozenset[str]) -> int | None:
    """The block of a newer edition that says most of what an old one says; None where none says much of it."""
    mine = frozenset(terms(found[old].block.text))
    shares = {
        i: len(mine.intersection(terms(c.block.text))) / max(len(mine), 1)
        for i, c in enumerate(found)
        if passages[c.passage].doc_id in newer
    }
    best = max(shares, key=shares.__getitem__, default=None)
    return best if best is not None and shares[best] >= SAME_SUBJECT else None


def filtering(weighed: Weighed) -> tuple[Filtered | None, Weighed | None]:
    """What a part of the question filters, and what is left of the question beside it: all of it where no part filters anything, None where nothing is left."""
    reading = weighed.reading
    for at, part in enumerate(reading.parts):
        if (kept := filtered(replace(reading, parts=(part,)), weighed.fitted)) is not None:
            others = [i for i in range(len(reading.parts)) if i != at]
            left = replace(reading, parts=tuple(reading.parts[i] for i in others))
            rest = replace(
                weighed,
                reading=left,
                scores=[weighed.scores[i] for i in others],
                alone=[weighed.alone[i] for i in others],
            )
            return kept, rest if others else None
    return None, weighed


def quotes(weighed: Weighed, chosen: Sequence[int], evidence: Sequence[Evidence]) -> list[str]:
    """The chosen blocks, each with its [n]."""
    numbers = numbered(chosen, weighed.found, weighed.passages)
    return [
        quoted(weighed.found[i], weighed.reading, evidence[weighed.found[i].passage], numbers.get(i)) for i in chosen
    ]


def worked_quotes(weighed: Weighed, chosen: Sequence[int], asked: str, evidence: Sequence[Evidence]) -> list[str]:
    """What the only tariff of the chosen lines comes to for the quantity that is asked about, with its [n]; of a table the row above or below may say what is paid before,
    and is quoted with it. Empty where none of them is a tariff, several are, or more is asked.
    """
    reading, found = weighed.reading, weighed.found
    wants = reading.parts[0].wants
    if reading.form in ("compare", "list") or len(reading.parts) > 1 or not (wants is None or wants is MONEY):
        return []
    told = {said: lines for i in chosen for said, lines in _worked(i, asked, weighed)}
    if len(told) != 1:
        return []
    [(said, (first, *beside))] = told.items()
    number = evidence[found[first].passage]
    more = [quoted(found[i], reading, number) for i in beside if i not in chosen]
    return [*more, f"- {said} [{number.n}]"]


def _worked(index: int, asked: str, weighed: Weighed) -> Iterator[tuple[str, tuple[int, ...]]]:
    """What a line comes to, alone or else with the row above or below, and which lines that rests on; at most one."""
    found, row = weighed.found, weighed.found[index].block.kind == "row"
    around = [i for i in (index - 1, index + 1) if row and 0 <= i < len(found)]
    beside = [i for i in around if found[i].passage == found[index].passage and found[i].block.kind == "row"]
    for lines in ((index,), *((index, i) for i in beside)):
        if said := worked_out(BAR.join(found[i].block.text for i in lines), asked, weighed.reading.text):
            yield said, lines
            return


def named_rivals(weighed: Weighed) -> tuple[str, ...]:
    """What the rows are about that answer as well as the best one does, the likeliest first; empty where the question tells them apart, asks for several, or where
    something else is read first.
    """
    rows = rivals(weighed.best, weighed.reading, weighed.found, weighed.fitted)
    if rows and choose(weighed)[0] not in rows:
        return ()
    ranked = sorted(rows, key=lambda i: (-max(part[i] for part in weighed.scores), i))
    keys = [
        [c.span.text.removeprefix(f"{c.header}: ").strip() for c in cells(weighed.found[i].block.text)] for i in ranked
    ]
    column = next((n for n in range(KEYS) if len({row[n] for row in keys if n < len(row)}) == len(keys)), None)
    names = [row[column] for row in keys] if column is not None and keys else []
    return tuple(names) if all(any(map(str.isalpha, name)) for name in names) else ()


def filter_quotes(weighed: Weighed, kept: Filtered, evidence: Sequence[Evidence]) -> list[str]:
    """Of each row what it is about and the column that decides, each with its [n]."""
    lines = []
    for i in kept.rows:
        row = cells(weighed.found[i].block.text)
        told = BAR.join(row[k].span.text for k in shown_cells(row, kept.column))
        lines.append(f"- {told} [{evidence[weighed.found[i].passage].n}]")
    return lines


def quoted(candidate: BlockCandidate, reading: Reading, evidence: Evidence, number: int | None = None) -> str:
    """The block as a list item, of a procedure with the `number` of the step, and its marker before the full stop, so that it belongs to its sentence. A row of
    amounts below "Plans per month" says so, and one of an attribute does not say that it is one.
    """
    sign = "-" if number is None else f"{number}."
    text = shown(candidate, reading)
    body = text[body_start(text) :].strip() or text.strip()
    if BAR in body:
        body = without_label(body)
        period = _period_above(body, candidate, evidence.passage)
        return f"{sign} {body}{f' ({period})' if period else ''} [{evidence.n}]"
    core = body.rstrip(".!?…")
    return f"{sign} {core} [{evidence.n}]{body[len(core) :]}"
