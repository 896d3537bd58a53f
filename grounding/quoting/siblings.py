"""Siblings in tables: of the rows that differ only in what they are about (harbour, plan, size), those that a question means.

A question that names a place, a plan or a size is not answered from the row of another, and one that names none of a few gets all of them
side by side. What the last question says counts first, what it leaves open comes from the question before it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median_low

from grounding.query.conversation import content, goes_on
from grounding.quoting.blocks import cells
from grounding.quoting.countries import as_said, country_codes, spoken_codes
from grounding.quoting.dates import holds_day
from grounding.quoting.features import KEYS, SLIPPED, BlockCandidate, likeness
from grounding.quoting.question_parts import Reading
from grounding.quoting.ranges import SaidValues, equals, fits, said
from grounding.records import Passage
from grounding.text import STOP_WORDS, caseless, terms, words

FEW = 4
"""Rows that may be told side by side."""
NEAR = 0.5
"""Share of the best score that a table's best row needs for its exact row to come before all else."""
SHORT_KEY, NAME_WORDS = 8, 3
"""Words up to which a cell may be what a row is about, and those of a column of names on the median: a name is known by one of its words, a
description only whole."""
ATTRIBUTES = frozenset("property feature attribute specification spec eigenschaft merkmal caractéristique".split())
"""Names of a first column that holds attributes: the things that have them stand side by side."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows with the same columns in one document, also where a passage ends within it. `rows`: indices into the candidates; `cells`: for each
    row its cells, each with the name of its column; `labelled`: the columns stand beside each other, and a row is an attribute.
    """

    rows: tuple[int, ...]
    cells: tuple[tuple[tuple[str, str], ...], ...]
    labelled: bool

    @property
    def keys(self) -> tuple[tuple[str, ...], ...]:
        """For each row the first cells, without the names of their columns: among them stands what it is about."""
        return tuple(tuple(value for _, value in row[:KEYS]) for row in self.cells)


@dataclass(frozen=True, slots=True)
class Fit:
    """Which rows of a table a question means, by their positions. `left`: those that nothing named excludes; `sure`: those of them that
    are named; `exact`: by a number that the question says.
    """

    left: tuple[int, ...]
    sure: frozenset[int] = frozenset()
    exact: bool = False


def tables(found: Sequence[BlockCandidate], passages: Sequence[Passage]) -> list[Table]:
    """The tables of two rows and more among the blocks."""
    groups: dict[tuple[str, tuple[str, ...]], list[int]] = {}
    for i, candidate in enumerate(found):
        if candidate.block.kind == "row":
            headers = tuple(c.header for c in cells(candidate.block.text))[:2]
            if any(headers):
                groups.setdefault((passages[candidate.passage].doc_id, headers), []).append(i)
    return [
        Table(tuple(rows), tuple(_cells(found[i].block.text) for i in rows), labelled=is_label(headers[0]))
        for (_, headers), rows in groups.items()
        if len(rows) > 1
    ]


def is_label(header: str) -> bool:
    """True if the first cell of a row under this header is the attribute that the others tell of things side by side."""
    return not header or header.lower() in ATTRIBUTES


def without_label(row: str) -> str:
    """A row of an attribute without the name of the column of attributes: "Weight" says itself what it is."""
    header = cells(row)[0].header
    return row.removeprefix(f"{header}: ") if header.lower() in ATTRIBUTES else row


def _cells(row: str) -> tuple[tuple[str, str], ...]:
    return tuple(
        (c.header, c.span.text.removeprefix(f"{c.header}: ").strip() if c.header else c.span.text.strip())
        for c in cells(row)
    )


def fit(table: Table, reading: Reading) -> Fit:
    """The rows that a question means: in every column where it names something, those that it names.

    Where no row fits all that is named, those that fit what was asked last; all of them where none does.
    """
    every = set(range(len(table.rows)))
    left, latest, sure = set(every), set(every), set[int]()
    last = " ".join(part.text for part in reading.parts)
    keys = table.keys
    if (exact := _exactly(table, said(last).over(said(reading.text)), reading.text)) is not None:
        left, sure, latest = set(exact), set(exact), set(exact)
    for column in range(1 if table.labelled else KEYS):
        values = [as_said(row[column], reading.text) if column < len(row) else "" for row in keys]
        now = _meant(values, last, said(last), reading, ranges_only=table.labelled)
        wanted = now or _not_of_another_family(
            values,
            last,
            _meant(values, reading.text, said(last).over(said(reading.text)), reading, ranges_only=table.labelled),
        )
        if wanted is not None:
            left &= wanted.left
            sure |= wanted.sure
            latest &= now.left if now is not None else latest
    rows = left or latest
    if not rows or rows == every:
        return Fit(tuple(sorted(every)))
    return Fit(tuple(sorted(rows)), frozenset(sure & rows), exact is not None and rows <= exact)


_COUNT = re.compile(r"(?<![\w.,])(\d{1,4})(?![.,]?\d) +([^\W\d_]+)(?: +([^\W\d_]+))?")
_NUMBERED = re.compile(r"([^\W\d_]+)(?: +(?:no|nr|number|nummer|numéro)\.?)? +#?(\d{1,4})(?![\w]|[.,:]\d)")


def _counts(question: str) -> frozenset[tuple[str, str]]:
    """Numbers in a question, each with a term beside it: ("3", "flash") of "3 red flashes", ("2", "zone") of "zone 2"."""
    beside = [(m[1], word) for m in _COUNT.finditer(question) for word in m.groups()[1:] if word]
    beside += [(m[2], m[1]) for m in _NUMBERED.finditer(question)]
    return frozenset((number, term) for number, word in beside for term in terms(word))


def _is_counted(value: str, header: str, counts: frozenset[tuple[str, str]]) -> bool | None:
    """Whether a cell that is a number is the one that is said beside the name of its column; None where it is none, or none is said."""
    named = {number for number, term in counts if term in terms(header.replace("_", " "))}
    return value in named if named and value.isdigit() else None


def _exactly(table: Table, asked: SaidValues, question: str) -> frozenset[int] | None:
    """Positions of the rows in which a quantity or a number is just what the question says ("the 14 kilo bag", "3 red flashes"), or whose first cell is a date that holds
    the day which it names, where it is not in all; None where none has it.
    """
    counts = _counts(question)
    if table.labelled or not (asked.quantities or counts or asked.dates):
        return None
    told = [
        [
            holds_day(row[0][1], asked.dates),
            *(v for header, value in row for v in (equals(value, header, asked), _is_counted(value, header, counts))),
        ]
        for row in table.cells
    ]
    rows = frozenset(i for i, verdicts in enumerate(told) if True in verdicts)
    return rows if rows and len(rows) < len(told) else None


@dataclass(frozen=True, slots=True)
class _Wanted:
    left: frozenset[int]
    sure: frozenset[int]


def _meant(
    values: Sequence[str], question: str, asked: SaidValues, reading: Reading, *, ranges_only: bool
) -> _Wanted | None:
    """Positions of the values of a column that the question names or whose range holds what it says; None where it names none."""
    verdicts = [fits(value, asked) for value in values]
    if True in verdicts and False in verdicts:
        return _Wanted(
            frozenset(i for i, v in enumerate(verdicts) if v is not False),
            frozenset(i for i, v in enumerate(verdicts) if v),
        )
    if ranges_only:
        return None
    distinct = list(dict.fromkeys(v for v in values if v and len(v.split()) <= SHORT_KEY and any(map(str.isalpha, v))))
    if len(distinct) < 2:
        return None
    names = median_low(len(v.split()) for v in distinct) <= NAME_WORDS
    compared = reading.form == "compare"
    chosen = {distinct[i] for i in named_among(distinct, question, compared=compared, in_part=names)}
    if compared and len(chosen) == 1:  # the other side is said in words of its own
        return None
    if not chosen:  # "the red light" beside "Red, slow flashing"
        heads = [value.partition(",")[0] for value in distinct]
        short = list(dict.fromkeys(heads))
        meant = {short[i] for i in named_among(short, question, compared=compared, in_part=False)}
        chosen = {value for value, head in zip(distinct, heads, strict=True) if head in meant}
    rows = frozenset(i for i, value in enumerate(values) if value in chosen)
    texts = frozenset(i for i, value in enumerate(values) if len(value.split()) > SHORT_KEY)  # which may say it too
    return _Wanted(rows | texts, rows) if rows else None


_ANOTHER = re.compile(
    r"\b(?:the|an?)(?: (?!same\b|first\b)[\w-]+){1,3} (?:one|ones|version)\b|\bthe (?:one|ones) (?:for|with|without|that|which|who|in|on|you|they)\b"
    r"|\b(?:die|der|das|den) (?-i:[a-zäöü])\w{2,}er(?:e|en|es)\W*$|\bl[ae] plus \w+\W*$|\bcel(?:ui|le) (?:de|du|pour|avec|sans|en|qui)\b",
    re.IGNORECASE,
)
"""Speaks of another of the kind, by what sets it apart: "and the thicker one?"."""


def speaks_of_another(last: str) -> bool:
    """Whether a question goes on to another thing of the kind without its name: "and the one for the arm?"."""
    return goes_on(last) and _ANOTHER.search(last) is not None


def _not_of_another_family(values: Sequence[str], last: str, before: _Wanted | None) -> _Wanted | None:
    """What was asked about `before`, unless the `last` question says a word that several other values begin with: "what does the Swift cost" is not about the Roost;
    or it goes on with a word of another one: "and clogs?" beside "Shoes and clogs, unworn"; or to another one without its name.
    """
    if before is not None and before.sure and speaks_of_another(last):
        others = frozenset(range(len(values))) - before.sure
        return _Wanted(others, frozenset()) if others else before
    asked = content(last)
    family = frozenset(i for i, value in enumerate(values) if asked.intersection(terms(value)[:1]))
    if before is None:
        return None
    if len({values[i] for i in family}) > 1 and not family & before.left:
        return _Wanted(family, frozenset())
    put = frozenset(i for i, value in enumerate(values) if asked.intersection(terms(value.partition(",")[0])))
    return _Wanted(put, put) if put and goes_on(last) and not put & before.sure else before


def named_among(names: Sequence[str], question: str, *, compared: bool = False, in_part: bool = True) -> list[int]:
    """The names that a question says: those it says whole, the longest where one holds the other, or else, `in_part`, the one it says most of.

    `compared`: also the shorter one, where its words are said more than once ("the S2 Pro or the S2").
    """
    asked, times = frozenset(content(question)), Counter(terms(question))
    held = [frozenset(terms(h)) for h in names]
    counts = Counter(t for h in held for t in h)
    own = [{t: 1 / counts[t] for t in h if counts[t] < len(names)} for h in held]
    spoken = [{t for t in weighed if likeness(t, asked) >= SLIPPED} for weighed in own]
    plain = {caseless(w.text) for w in words(question)}
    little = [{caseless(w.text) for w in words(h)} & STOP_WORDS for h in names]
    whole = [
        i
        for i, weighed in enumerate(own)
        if spoken[i] == weighed.keys()
        and (weighed or (held[i] and little[i] <= plain and all(likeness(t, asked) >= SLIPPED for t in held[i])))
    ]
    whole = [
        i
        for i in whole
        if not any(spoken[i] < spoken[j] for j in whole) or (compared and all(times[t] > 1 for t in spoken[i]))
    ]
    if whole or not in_part:
        return whole
    worth = [
        sum(weighed[t] for t in spoken[i]) / sum(weighed.values()) if weighed else 0.0 for i, weighed in enumerate(own)
    ]
    best = max(worth, default=0.0)
    return [i for i, w in enumerate(worth) if w == best] if best >= 0.5 and worth.count(best) == 1 else []


@dataclass(frozen=True, slots=True)
class FittedTable:
    """A table among the blocks, and which of its rows the question means."""

    table: Table
    fit: Fit


def fitted_tables(
    reading: Reading, found: Sequence[BlockCandidate], passages: Sequence[Passage]
) -> tuple[FittedTable, ...]:
    """The tables among the blocks, each read once against the question."""
    return tuple(FittedTable(table, fit(table, reading)) for table in tables(found, passages))


def fitting(scores: Sequence[Sequence[float]], fitted: Sequence[FittedTable]) -> list[list[float]]:
    """`scores` with 0 for rows of siblings of what the question names; those that it names take the best score of their table's rows
    where they are few. A single row that has a number which the question says beside the name of its column, or with its unit, and whose table says something of
    it, comes before all else: "3 red flashes".
    """
    out = [list(part) for part in scores]
    known = [frozenset(terms(key)) for one in fitted for i in one.fit.sure for key in one.table.keys[i][:1]]
    for one in fitted:
        table, told = one.table, one.fit
        strange = (
            set() if told.sure or table.labelled else {i for i in told.left if _is_another(table.keys[i][0], known)}
        )
        left = {table.rows[i] for i in told.left if i not in strange}
        raised = {table.rows[i] for i in told.sure} if len(told.sure) <= FEW else set()
        for part in out:
            best = max(part[i] for i in table.rows)
            for i in table.rows:
                part[i] = 0.0 if i not in left else max(part[i], best) if i in raised else part[i]
            if told.exact and len(left) == 1 and best >= NEAR * max(part):
                [only] = left
                part[only] = (1 + max(part)) / 2
    return out


_ASIDE = re.compile(r"\([^()]{0,80}\)")


def _is_another(key: str, known: Sequence[frozenset[str]]) -> bool:
    """Whether a row is about a sibling of what the question names, by the rows of other tables: Watch Plus, where Watch Pro is asked about."""
    name = _ASIDE.sub(" ", key)  # "Wren S (first router)"
    own = frozenset(terms(name))
    return len(name.split()) <= NAME_WORDS and any(
        own & named and not named <= own and not own <= named for named in known
    )


def rivals(
    index: int, reading: Reading, found: Sequence[BlockCandidate], fitted: Sequence[FittedTable]
) -> tuple[int, ...]:
    """The rows that compete with a row to be meant, itself among them: they say the same of the question, and the question speaks of what
    they are about without telling them apart. Empty where none does, and where several things are asked for anyway.
    """
    if reading.form != "value":
        return ()
    mine_in = next((one for one in fitted if index in one.table.rows), None)
    if mine_in is None or mine_in.table.labelled:
        return ()
    table = mine_in.table
    asked = content(reading.text)
    mine = found[index].held & asked
    left = [i for i in mine_in.fit.left if found[table.rows[i]].held & asked == mine]
    keys = table.keys
    about = [asked & set(terms(" ".join(keys[i]))) for i in left]
    apart = len({keys[i] for i in left}) == len(left)
    return tuple(table.rows[i] for i in left) if len(left) > 1 and apart and all(about) else ()


def together(
    scores: Sequence[Sequence[float]],
    reading: Reading,
    found: Sequence[BlockCandidate],
    fitted: Sequence[FittedTable],
) -> list[list[float]]:
    """`scores` in which few rows that compete have the chance that one of them answers: they are told side by side."""
    out = [list(part) for part in scores]
    done: set[int] = set()
    for i, candidate in enumerate(found):
        if candidate.block.kind == "row" and i not in done:
            group = rivals(i, reading, found, fitted)
            done |= set(group)
            if 1 < len(group) <= FEW:
                for before, after in zip(scores, out, strict=True):
                    chance = 1 - math.prod(1 - before[j] for j in group)
                    for j in group:
                        after[j] = chance if before[j] else 0.0
    return out


def columns(headers: Sequence[str], reading: Reading) -> list[int]:
    """Of things side by side those that the question names, the last question first; none where it names none."""
    last = " ".join(part.text for part in reading.parts)
    of_countries = [country_codes(header) for header in headers]
    for question in (last, reading.text):
        asked = spoken_codes(question)
        if found := [i for i, codes in enumerate(of_countries) if codes & asked]:
            return found
    both = reading.form == "compare"
    for question in (last, reading.text):
        found = named_among(headers, question, compared=both)
        if found and question is not last and speaks_of_another(last):
            return [i for i in range(len(headers)) if i not in found]
        if found:
            return found
    return []


def names_a_cell(index: int, reading: Reading, fitted: Sequence[FittedTable]) -> bool:
    """Whether a question says a row's attribute whole and names some of the things side by side that have it: the width of the Ox 80 Tilt. Then it is sure enough what it asks."""
    one = next((f for f in fitted if f.table.labelled and index in f.table.rows), None)
    if one is None:
        return False
    (_, label), *rest = one.table.cells[one.table.rows.index(index)]
    asked = content(reading.text)
    told = set(terms(label))
    named = columns([header for header, _ in rest], reading)
    return bool(told) and all(likeness(t, frozenset(asked)) >= SLIPPED for t in told) and 0 < len(named) < len(rest)
