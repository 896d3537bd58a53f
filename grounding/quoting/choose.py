"""Choice of the blocks to quote: for each part of a question the best one with what belongs to it, others near it, within a budget of
words.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from grounding.faq import question_and_answer
from grounding.query.answer_kind import KINDS, holds
from grounding.query.conversation import content
from grounding.quoting.blocks import LONG, Block, Cell, cells, is_empty
from grounding.quoting.countries import country_codes, spoken_codes
from grounding.quoting.features import SLIPPED, BlockCandidate, likeness
from grounding.quoting.question_parts import Part, Reading
from grounding.quoting.siblings import FEW, columns, is_label, rivals
from grounding.quoting.weighed import Weighed
from grounding.records import Passage
from grounding.text import BAR, terms

SHORT, AMPLE = 113, 212
"""Words of an answer with its marks: of one value or statement, and of steps, lists, comparisons or several parts. No more is read on the telephone."""
MARKS = 2
"""What the dash before and the marker behind a block count as words."""
LEAST = 8
"""Words left from which a further block is worth looking for."""
MOST = 4
"""Blocks for each part of a question after a value or a statement: nobody reads eight quotes on the telephone."""
NEAR_BEST = 0.5
"""A further block is quoted only if its score is at least this share of the best one's of its part."""
BESIDE_STEPS = 0.8
"""The same beside the steps of a procedure, which are whole by themselves."""
ALIKE = 3
"""Columns from which prices side by side are taken for those of several things."""
MONEY = next(kind for kind in KINDS if kind.name == "money")
PHONE = next(kind for kind in KINDS if kind.name == "phone")
CELLS_NEAR = 0.6
"""The share of what the best cell of a long row says of a question from which another is told as well."""
OTHER_VALUE = 0.8
"""The share of the score of a block that holds the wanted kind of value from which another with such a value is quoted beside it: a second amount on the
telephone is taken for the first one's.
"""
ABOUT_AS = 0.9
"""The share of the best score from which two blocks are about as likely."""
TOLD = 4
"""Steps of a procedure whose chances count together: a long one of steps that are beside the point is no likelier for that."""


def room(reading: Reading) -> int:
    """Budget of the answer in words."""
    return SHORT if reading.form == "value" and len(reading.parts) == 1 else AMPLE


def choose(weighed: Weighed) -> list[int]:
    """Indices into the blocks of those to quote, in the order in which they are read: the best first, steps and lists as they stand.

    For each part its best block with what belongs to it, then, as far as there is room, others that score near it and add something.
    """
    reading, found, passages, fitted = weighed.reading, weighed.found, weighed.passages, weighed.fitted
    chosen: list[int] = []
    together: dict[int, int] = {}
    left = room(reading)
    most = MOST * len(reading.parts)
    share = BESIDE_STEPS if reading.form == "steps" else NEAR_BEST
    firsts = []
    for part, values, own in zip(reading.parts, weighed.scores, weighed.alone, strict=True):
        best = _with_value(_likeliest(values, own, weighed), part, weighed, values)
        firsts.append(best)
        before = len(chosen)
        left -= _add(chosen, [best], found, left)
        beside = rivals(best, reading, found, fitted)
        if len(beside) <= FEW:
            left -= _add(chosen, [i for i in beside if values[i]], found, left)
        left -= _add(chosen, _other_side(best, own, weighed), found, left)
        left -= _add(chosen, belonging(best, reading, found, passages), found, left)
        if len(chosen) > before + 1:
            together |= dict.fromkeys(chosen[before:], best)
    for number, (own, first) in enumerate(zip(weighed.alone, firsts, strict=True)):
        order = sorted(range(len(found)), key=lambda i: (-own[i], i))
        for i in order:
            if own[i] < share * own[order[0]] or left < LEAST or (reading.form == "value" and len(chosen) >= most):
                break
            if i in chosen or _is_needless(i, first, number, chosen, weighed):
                continue
            if reading.form == "list" or not any(outdone(found[i], found[j], reading, passages) for j in chosen):
                left -= _add(chosen, [i], found, left)
    if whole := _unfinished(chosen, weighed):
        _add(chosen, whole, found, left + AMPLE - room(reading))
        together |= dict.fromkeys(whole, chosen[0])
    return _in_order(chosen, together, reading, found, passages)


def _other_side(best: int, own: Sequence[float], weighed: Weighed) -> list[int]:
    """Of a comparison the row to set beside the best one: the likeliest of the same table, where a row is a thing and not what several things have."""
    table = next((f.table for f in weighed.fitted if best in f.table.rows and not f.table.labelled), None)
    if weighed.reading.form != "compare" or table is None:
        return []
    return sorted((i for i in table.rows if i != best and own[i]), key=lambda i: (-own[i], i))[:1]


def _likeliest(values: Sequence[float], own: Sequence[float], weighed: Weighed) -> int:
    """The block that is likeliest to answer: of rows that compete none, though one of them may, where another block is likelier than each of them. Two lines
    on what an old device is worth are no answer to how long its warranty is.
    """
    best = max(range(len(values)), key=lambda i: (values[i], -i))
    group = rivals(best, weighed.reading, weighed.found, weighed.fitted)
    if not group:
        return best
    among = max(own[i] for i in group)
    return max((i for i, v in enumerate(values) if v and own[i] > among), key=lambda i: (own[i], -i), default=best)


def _in_order(
    chosen: Sequence[int],
    together: Mapping[int, int],
    reading: Reading,
    found: Sequence[BlockCandidate],
    passages: Sequence[Passage],
) -> list[int]:
    """What was chosen first comes first, and with it what is read with it: what belongs together and the sentences of one paragraph, as they stand. Rows of a table
    that the evidence cut apart stand as in their document.
    """
    if reading.form != "value":
        first = (
            found[chosen[0]].passage if reading.form == "steps" and chosen else -1
        )  # the procedure, then what is said beside it
        home: dict[str, int] = {}
        for i in sorted(chosen, key=lambda i: found[i].passage):
            home.setdefault(passages[found[i].passage].doc_id, found[i].passage)

        def place(i: int) -> tuple[int, ...]:
            passage = passages[found[i].passage]
            return (found[i].passage != first, home[passage.doc_id], passage.start, found[i].passage, i)

        return sorted(chosen, key=place)
    rank: dict[tuple[int, ...], int] = {}

    def group(i: int) -> tuple[int, ...]:
        if i in together:
            return (together[i],)
        stands_together = found[i].block.kind in ("text", "step")  # sentences of a paragraph, steps of a list
        return (found[i].passage, found[i].block.run) if stands_together else (found[i].passage, 0, i)

    for n, i in enumerate(chosen):
        rank.setdefault(group(i), n)
    return sorted(chosen, key=lambda i: (rank[group(i)], i))


def _with_value(best: int, part: Part, weighed: Weighed, values: Sequence[float]) -> int:
    """The block to quote in place of the best one where that has no value of the kind that is asked for: a row of the same table which has one, or what is about
    as likely and has one.
    """
    found, passages = weighed.found, weighed.passages
    if part.wants is None or holds(found[best].block.text, part.wants):
        return best
    least = [
        NEAR_BEST if _siblings(c, found[best], passages) else ABOUT_AS if weighed.reading.form == "value" else math.inf
        for c in found
    ]
    near = [i for i, v in enumerate(values) if v >= least[i] * values[best]]
    return max((i for i in near if holds(found[i].block.text, part.wants)), key=lambda i: (values[i], -i), default=best)


def _is_needless(index: int, first: int, number: int, chosen: Sequence[int], weighed: Weighed) -> bool:
    """True of a further block that would be taken for what it is not: a row beside one with the value, a step of another procedure, a less likely value beside the `first` one
    of the part of that `number`.
    """
    reading, found = weighed.reading, weighed.found
    part, own = reading.parts[number], weighed.alone[number]
    return (
        _says_no_value(index, first, part, chosen, weighed)
        or _of_another_procedure(index, chosen, reading, found)
        or (own[index] < OTHER_VALUE * own[first] and _says_another_value(index, first, part, weighed))
    )


def _says_another_value(index: int, first: int, part: Part, weighed: Weighed) -> bool:
    """True of a block with a value of the kind that is asked for, beside the first one of its part, which has one."""
    wants = part.wants
    return (
        wants is not None
        and weighed.reading.form == "value"
        and all(holds(weighed.found[i].block.text, wants) for i in (index, first))
    )


def _says_no_value(index: int, first: int, part: Part, chosen: Sequence[int], weighed: Weighed) -> bool:
    """True of a block without a value of the kind that is asked for: of a row beside a chosen one of its table that has one, the weight beside the price; and where
    a value is asked for, of a step beside the `first` block, which is no step and has one.
    """
    found, wants = weighed.found, part.wants
    if wants is None or holds(found[index].block.text, wants):
        return False
    if found[index].block.kind == "step":
        one = found[first].block
        return weighed.reading.form == "value" and one.kind != "step" and holds(one.text, wants)
    return found[index].block.kind == "row" and any(
        _siblings(found[index], found[j], weighed.passages) and holds(found[j].block.text, wants) for j in chosen
    )


def _of_another_procedure(index: int, chosen: Sequence[int], reading: Reading, found: Sequence[BlockCandidate]) -> bool:
    """True of a step beside a procedure that is told whole: alone it would be read as a step of that."""
    return (
        reading.form == "steps"
        and found[index].block.kind in ("step", "item")
        and any(found[i].block.kind == "step" for i in chosen)
    )


def belonging(index: int, reading: Reading, found: Sequence[BlockCandidate], passages: Sequence[Passage]) -> list[int]:
    """Indices of blocks without which a block is incomplete: all steps of its procedure, also in the passage beside it; the list that it
    leads in.
    """
    block, number = found[index].block, found[index].passage
    if reading.form == "steps" and block.kind in ("step", "text"):
        return _procedure(index, found, passages)
    if block.text.rstrip().endswith(":"):
        after = [i for i, c in enumerate(found) if c.passage == number and c.block.start > block.start]
        return [i for i in after if found[i].block.lead == block.text]
    return []


def _unfinished(chosen: Sequence[int], weighed: Weighed) -> list[int]:
    """All steps of a procedure that answers best and of which several steps are told: with one left out it is another procedure. Empty for one step alone, a value
    in it, and where they do not all fit; and where a value is asked for which the first step that was chosen does not have.
    """
    found, reading = weighed.found, weighed.reading
    first = found[chosen[0]].block
    if first.kind != "step" or (reading.form == "value" and not holds(first.text, reading.parts[0].wants)):
        return []
    whole = _procedure(chosen[0], found, weighed.passages)
    missing = sum(found[i].block.words + MARKS for i in whole if i not in chosen)
    told = sum(found[i].block.words + MARKS for i in chosen)
    return whole if sum(i in chosen for i in whole) > 1 and missing and told + missing <= AMPLE else []


def _procedure(index: int, found: Sequence[BlockCandidate], passages: Sequence[Passage]) -> list[int]:
    """Every step under the same heading of the same document, in order."""
    mine = found[index]
    home = passages[mine.passage]
    return [
        i
        for i, c in enumerate(found)
        if c.block.kind == "step"
        and passages[c.passage].doc_id == home.doc_id
        and (c.block.heading or passages[c.passage].locator) == (mine.block.heading or home.locator)
    ]


def procedures_together(
    scores: Sequence[Sequence[float]],
    reading: Reading,
    found: Sequence[BlockCandidate],
    passages: Sequence[Passage],
) -> list[list[float]]:
    """`scores` in which the steps of a procedure, where steps are asked for, have the chance that one of the likeliest of them answers: they are told together.

    Not those of a procedure of something else: where a block that is as likely by itself says all that the procedure does of the question, and more.
    """
    out = [list(part) for part in scores]
    if reading.form != "steps":
        return out
    asked = content(reading.text)
    for i, candidate in enumerate(found):
        if candidate.block.kind != "step":
            continue
        whole = _procedure(i, found, passages)
        said = frozenset().union(*(found[j].held for j in whole)) & asked
        for part, told in zip(scores, out, strict=True):
            near = sorted((part[j] for j in whole), reverse=True)[:TOLD]
            fuller = any(
                part[j] >= near[0] and said < found[j].held & asked for j in range(len(found)) if j not in whole
            )
            if part[i] and not fuller:
                told[i] = 1 - math.prod(1 - s for s in near)
    return out


def numbered(chosen: Sequence[int], found: Sequence[BlockCandidate], passages: Sequence[Passage]) -> dict[int, int]:
    """The number of each chosen step in its procedure, from 1, where another step of it is chosen too: one that is left out is missed by the reader."""
    out: dict[int, int] = {}
    for i in chosen:
        if found[i].block.kind == "step":
            whole = _procedure(i, found, passages)
            if sum(j in chosen for j in whole) > 1:
                out[i] = whole.index(i) + 1
    return out


def outdone(one: BlockCandidate, other: BlockCandidate, reading: Reading, passages: Sequence[Passage]) -> bool:
    """True if `one` stands in the same table or list as `other` and says less of what is asked: another row, of another product.

    What was asked last counts first: after "and for Germany?" the row of the Netherlands is not meant.
    """
    if not _siblings(one, other, passages):
        return False
    wider = content(reading.text)
    for part in reading.parts:
        own = content(part.text)
        mine, theirs = one.held & own, other.held & own
        if not (mine < theirs or (mine == theirs and one.held & wider < other.held & wider)):
            return False
    return True


def _siblings(one: BlockCandidate, other: BlockCandidate, passages: Sequence[Passage]) -> bool:
    """True for rows of one table, also where a passage ends within it, and for items of one list."""
    if one.block.kind != other.block.kind or one.block.kind not in ("row", "item"):
        return False
    if one.block.kind == "row" and passages[one.passage].doc_id == passages[other.passage].doc_id:
        return _headers(one.block.text) == _headers(other.block.text)
    return one.passage == other.passage and one.block.run == other.block.run


def _headers(row: str) -> tuple[str, ...]:
    """Column names of a row, the first ones: the last may be left out where nothing stands in them."""
    return tuple(c.header for c in cells(row))[:2]


def _add(chosen: list[int], more: Sequence[int], found: Sequence[BlockCandidate], left: int) -> int:
    """Add those of `more` that fit into `left` words to `chosen`; the first block of all always fits. Returns the number of words taken."""
    taken = 0
    for i in more:
        words = found[i].block.words + MARKS
        if i not in chosen and (not chosen or taken + words <= left):
            chosen.append(i)
            taken += words
    return taken


def _all_priced(priced: Sequence[Cell]) -> bool:
    """True if every column tells the same of another thing: prices in several countries, not price and deposit."""
    told = [c for c in priced if not is_empty(c)]
    return len(told) >= ALIKE and all(
        holds(c.span.text.removeprefix(f"{c.header}: "), MONEY) and not MONEY.asked.search(c.header) for c in told
    )


def _one_contact(row: str, found: Sequence[Cell], reading: Reading) -> str:
    """Of a row with several telephone numbers those whose columns the question names, behind what the row is about: whoever asks for the breakdown line is
    not to dial the office.
    """
    held = [c for c in found[1:] if holds(c.span.text.removeprefix(f"{c.header}: "), PHONE)]
    if len(held) < 2:
        return row
    named = columns([c.header for c in held], reading)
    return BAR.join([found[0].span.text, *(held[i].span.text for i in named)]) if named else row


def _of_the_country(found: Sequence[Cell], reading: Reading) -> str:
    """Of a row with columns of several countries what is of none, and those of the countries that the question names; empty of any other row."""
    codes = [country_codes(c.header) for c in found]
    asked = spoken_codes(reading.text)
    if sum(map(bool, codes)) < 2 or not any(asked & of for of in codes):
        return ""
    return BAR.join(c.span.text for c, of in zip(found, codes, strict=True) if not of or of & asked)


def _of_a_long_row(block: Block, found: Sequence[Cell], reading: Reading) -> str:
    """Of a row that is as long as a paragraph what it is about, and for each part of the question the cells that say most of what that asks, a question never without its
    answer; empty of any other row, and where no cell says anything of it. Words in many of its cells tell little.
    """
    if block.words <= LONG:
        return ""
    held = [frozenset(terms(c.span.text)) for c in found]
    kept = set[int]()
    for part in reading.parts:
        for question in (part.text, reading.text):
            said = {t: [i for i, h in enumerate(held) if likeness(t, h) >= SLIPPED] for t in content(question)}
            worth = [
                sum(1 / len(where) for where in said.values() if i in where and 0 not in where)
                for i in range(len(found))
            ]
            best = max(worth)
            if best:
                kept |= {i for i, w in enumerate(worth) if w >= CELLS_NEAR * best}
                break
    if kept and (places := question_and_answer([c.header for c in found])):
        kept |= set(places)
    return BAR.join(found[i].span.text for i in sorted({0, *kept})) if kept else ""


def shown(candidate: BlockCandidate, reading: Reading) -> str:
    """Text to quote for a candidate: of a row that sets several things side by side only the columns that the question names."""
    if candidate.block.kind != "row":
        return candidate.block.text
    found = cells(candidate.block.text)
    label, rest = found[0], found[1:]
    if len(rest) < 2 or not all(c.header for c in rest):
        return candidate.block.text
    if not (is_label(label.header) or _all_priced(rest) or all(country_codes(c.header) for c in rest)):
        return (
            _of_the_country(found, reading)
            or _of_a_long_row(candidate.block, found, reading)
            or _one_contact(candidate.block.text, found, reading)
        )
    headers = [c.header for c in rest]
    named = columns(headers, reading)
    one_side = reading.form == "compare" and len(named) == 1  # the other is said in words of its own
    if not named or one_side or len(named) == len(rest):
        return candidate.block.text
    return " | ".join([label.span.text, *(rest[i].span.text for i in named)])
