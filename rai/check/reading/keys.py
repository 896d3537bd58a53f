"""The keys that a source puts to a value: the row and column of its table, the label of its line, the heading above it.

These are the words by which a document tells the value of one plan from that of another, and the only ones by which the check says
that an answer has taken the wrong one. An axis is one way to tell: all rows of a table, all its columns, lines of one label below several headings.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from grounding.text import STOP_WORDS, fold, stem
from rai.check.reading.role_words import countries_named
from rai.claims.times import weekdays

Words = frozenset[str]
Span = tuple[int, int]
_HEADING = re.compile(r"\s*#{1,6}\s+.+|\s*\*\*[^*|]{2,80}\*\*:?\s*|\s*[^.!?|:\t]{2,70}:\s*")
_SHORT = re.compile(r"[^.!?|;\t]{2,80}")
_LABEL = re.compile(
    r"\s*+(?:[-*•‣·]\s++|\d{1,2}[.)]\s++|[–—-] )?(?P<label>\*{0,2}(?!\s)[^|\t]{2,60}?\*{0,2})(?: ?\.{3,} ?|\s[–—]\s|\s-\s|:\*{0,2}\s)"
)
_RULE = re.compile(r"[\s|:=-]+")
_CELL = re.compile(r"\s*\|\s*|\t+")
_TOKEN = re.compile(r"[^\W_]+(?:[.,]\d+)*")
_ROOT = 6
"""Letters that two words of one root share at the beginning."""
MOST_KEYS = 200
"""Most rows or columns of one axis; those of a larger table are not told apart."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """The words of a text, stemmed, and its numbers, each with the word before it: "stufe 2". `said`: the words as they are, in lower case."""

    words: Words
    roots: Words
    said: Words = frozenset()

    def has(self, word: str) -> bool:
        """True if the text says `word`, or one of its root."""
        return word in self.words or (len(word) > _ROOT and " " not in word and word[:_ROOT] in self.roots)


@dataclass(frozen=True, slots=True)
class Key:
    """The words of one key. `alone`: those that no other key of its axis has; `proper`: those of them that are names or numbers;
    `either`: where it names several things, the words of each that no other key has as a whole: "Spouse, partner, child". `plain`: whether `every`
    is all that it says, unlike "day" of "each further day".
    """

    every: Words
    alone: Words
    proper: Words
    either: tuple[Words, ...] = ()
    plain: bool = True

    def is_in(self, spoken: Spoken) -> bool:
        """True if a text says all of its words, half of those that are its alone, or a name that is."""
        said = {w for w in self.alone if spoken.has(w)}
        if said & self.proper or (said and 2 * len(said) >= len(self.alone)):
            return True
        if any(all(spoken.has(w) for w in thing) for thing in self.either):
            return True
        return bool(self.every) and all(spoken.has(w) for w in self.every)

    def is_namable(self) -> bool:
        """True if it has a word that an answer can be expected to say: no bare dates and numbers."""
        return any(w[0] != "=" or "." in w for w in self.every)


@dataclass(frozen=True, slots=True)
class Axis:
    """One way in which a source tells values apart that it writes side by side, seen from one of them: rows, columns, lines of a list.

    `by`: the name of the rule that goes by it; `own`: the number of the value's own key; `keys`: the words of each key, by number; `spans`:
    where the value of each key stands, half open.
    """

    by: str
    own: int
    keys: Mapping[int, Key]
    spans: Mapping[int, Span]

    def named(self, spoken: Spoken) -> frozenset[int]:
        """The numbers of the keys that a text names: by a word that is theirs alone, or by all of their words."""
        return frozenset(k for k, key in self.keys.items() if key.is_in(spoken))


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a text, `text[start:end]`. `kind`: row, heading, label or prose; `group`: the number of the block of lines it is in; `cells`: of a row;
    `label`: the words before its colon, which end before the offset `body`.
    """

    start: int
    end: int
    kind: str
    group: int
    cells: tuple[Span, ...] = ()
    label: str = ""
    body: int = 0

    def column(self, at: int) -> int:
        """The number of the cell that the offset `at` is in, from 0; -1 outside of cells."""
        return next((n for n, (a, b) in enumerate(self.cells) if a <= at < b), -1)


@dataclass(frozen=True, slots=True)
class _Page:
    """A text in lines. `headers`: the first row of each table; `headings`: above each group of lines."""

    lines: tuple[Line, ...]
    starts: tuple[int, ...]
    groups: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    headers: Mapping[int, int] = field(default_factory=dict)
    headings: Mapping[int, str] = field(default_factory=dict)


@lru_cache(maxsize=4096)
def spoken(text: str) -> Spoken:
    """The words of a text that may name a key; a country and a day of the week by any of its names."""
    plain, days = _without_days(fold(text))
    tokens = [t.lower() for t in _TOKEN.findall(countries_named(plain))]
    return spoken_words(frozenset(_words(tokens)) | days, frozenset(tokens))


def _without_days(text: str) -> tuple[str, Words]:
    """A text without its days of the week, and these: "day 1" to "day 4" of "Mon–Thu". "Sat" alone is a key that is a day."""
    days: set[str] = set()
    for found in reversed(weekdays.find(f"{text}:")):
        if found.start < len(text):
            days |= {f"day {n}" for n in weekdays.days_of(found.value)}
            text = f"{text[: found.start]} {text[found.end :]}"
    return text, frozenset(days)


def spoken_words(words: Words, said: Words = frozenset()) -> Spoken:
    """The words that may name a key, of words that are stemmed already."""
    return Spoken(words, frozenset(w[:_ROOT] for w in words if len(w) > _ROOT and " " not in w), said)


def _words(tokens: Sequence[str]) -> list[str]:
    found = []
    for at, token in enumerate(tokens):
        if token[0].isdigit() or len(token) == 1:
            before = tokens[at - 1] if at else ""
            pair = before and not before[0].isdigit() and before not in STOP_WORDS
            found.append(f"{stem(before)} {token}" if pair else f"={token}" if token[0].isdigit() else "")
            if "." in token:
                found.append(f"={token}")  # versions are said with a word before and without
        elif token not in STOP_WORDS:
            found.append(stem(token))
    return [word for word in found if word]


@lru_cache(maxsize=4096)
def axes_of(text: str, start: int) -> tuple[Axis, ...]:
    """The axes of the value that begins at `start` of `text`; none where it is a key itself or stands in running prose."""
    page = _page(text)
    at = bisect_right(page.starts, start) - 1
    if at < 0 or start >= page.lines[at].end:
        return ()
    line = page.lines[at]
    if line.kind == "row":
        return _of_table(text, page, at, start)
    if (days := _of_days(text, page, at, start)) is not None:
        return (days,)
    if line.kind == "label" and start >= line.body:
        return tuple(axis for axis in (_of_sections(page, at), _of_list(page, at)) if axis)
    return ()


NO_LINE = Line(0, 0, "", 0)


def line_at(text: str, start: int) -> Line:
    """The line that the offset `start` is in; an empty one between lines."""
    page = _page(text)
    at = bisect_right(page.starts, start) - 1
    return page.lines[at] if at >= 0 and start < page.lines[at].end else NO_LINE


def rows_of(text: str, line: Line) -> tuple[Line, ...]:
    """The rows of the table that `line` is in, without the one that names the columns."""
    page = _page(text)
    header, rows = page.headers.get(line.group), page.groups.get(line.group, ())
    if header is not None and _is_headed(text, [page.lines[n] for n in (header, *rows[1:2])]):
        rows = tuple(n for n in rows if n != header)
    return tuple(page.lines[n] for n in rows)


def header_of(text: str, line: Line) -> Line | None:
    """The first row of the table that the row `line` is in; None for that row itself."""
    page = _page(text)
    first = page.lines[page.headers[line.group]] if line.group in page.headers else line
    return None if first == line else first


def heading_above(text: str, start: int) -> str:
    """The heading that the line at `start` stands below; "" if there is none."""
    page = _page(text)
    at = bisect_right(page.starts, start) - 1
    return page.headings.get(page.lines[at].group, "") if at >= 0 else ""


def _of_table(text: str, page: _Page, at: int, start: int) -> tuple[Axis, ...]:
    line, header = page.lines[at], page.lines[page.headers[page.lines[at].group]]
    column = max(0, line.column(start))
    rows = [n for n in page.groups[line.group] if n != page.headers[line.group]]
    headed = _is_headed(text, [header, *(page.lines[n] for n in rows[:1])])
    if not headed:
        rows = list(page.groups[line.group])
    if (column == 0 and headed) or at not in rows:
        return ()
    found = []
    cells = {n: page.lines[n].cells for n in rows if column < len(page.lines[n].cells)}
    if column > 0:
        corner = text[slice(*header.cells[0])] if headed else ""
        label = _label_of_all(text, [c[0] for c in cells.values()])
        keys = _unique({n: _named(_key_of(text, c[:column], label), corner) for n, c in cells.items()})
        found.append(Axis("cell-row", at, keys, {n: c[column] for n, c in cells.items()}))
    named = _columns(text, line, header if headed else None)
    if column in named:
        found.append(Axis("cell-column", column, _unique(named), {n: line.cells[n] for n in named}))
    return tuple(a for a in found if len(a.keys) > 1)


def _columns(text: str, line: Line, header: Line | None) -> Mapping[int, str]:
    """What the columns of a row are called, by number: by the first row, or by what its cells say themselves. A first cell with a figure is no key: "Fee: $2"."""
    if header is not None and len(header.cells) == len(line.cells):
        return {n: text[slice(*c)] for n, c in enumerate(header.cells) if n > 0}
    cells = {n: c for n, c in enumerate(line.cells) if n > 0 or _FIGURE.search(text, *c)}
    named = {n: label_in(text, c) for n, c in cells.items()}
    # a machine writes "fri" where a person writes "Fri"
    return {n: label.capitalize() if label.islower() else label for n, label in named.items() if label}


def _key_of(text: str, cells: Sequence[Span], label: str) -> str:
    """The key of a row: its first cell without what it says of the key ("Netherlands: +31 20 555 01 37"), or without `label`, which all rows have ("Name: "),
    and the cells behind it up to the first with a figure: house, town and room.
    """
    first = text[slice(*cells[0])]
    head, colon, rest = first.partition(": ")
    key = [rest if head == label else head] if colon else [first]
    for cell in cells[1:] if not _FIGURE.search(first) else ():
        more = text[slice(*cell)]
        if _FIGURE.search(more):
            break
        key.append(more.rpartition(": ")[2])
    return " ".join(key)


_FIGURE = re.compile(r"(?<![^\W_])\d")


def rows_apart(text: str, start: int, other: str) -> tuple[Axis, ...]:
    """The axis of the row at `start` of `text` and the rows of `other`, where both say cell by cell what their columns are called, and the same: a long
    table that two passages share. Key -1 is the row's own; `spans` are those of `other`. () if there is no such table.
    """
    line = line_at(text, start)
    column = line.column(start)
    labels = _labels_of(text, line)[: column + 1]
    if line.kind != "row" or column < 1 or not labels[column]:
        return ()
    alike = _rows_called(other, labels)
    if not alike:
        return ()
    own = _key_of(text, line.cells[:column], labels[0])
    names = {n: _key_of(other, row.cells[:column], labels[0]) for n, row in enumerate(alike)}
    spans = {n: row.cells[column] for n, row in enumerate(alike) if names[n] != own}
    keys = _unique({-1: own, **{n: names[n] for n in spans}})
    return (Axis("cell-row", -1, keys, spans),) if spans else ()


@lru_cache(maxsize=1024)
def _rows_called(text: str, labels: tuple[str, ...]) -> tuple[Line, ...]:
    """The rows whose first cells say these names of columns. Cached: every value of a table asks for the same."""
    return tuple(n for n in _page(text).lines if n.kind == "row" and _labels_of(text, n)[: len(labels)] == labels)


def _labels_of(text: str, row: Line) -> tuple[str, ...]:
    return tuple(label_in(text, cell) for cell in row.cells)


def label_in(text: str, cell: Span) -> str:
    """What its column is called, of a cell that says so itself: "Price per month" of "Price per month: $7.50"; "" if it does not."""
    colon = text.find(": ", *cell)
    return text[cell[0] : colon] if colon >= 0 else ""


def _label_of_all(text: str, cells: Sequence[Span]) -> str:
    """What all first cells have before a colon; "" if they have not all the same."""
    labels = {text[slice(*c)].partition(": ")[0] for c in cells}
    return labels.pop() if len(labels) == 1 and len(cells) > 1 else ""


def _named(key: str, corner: str) -> str:
    """A key, a bare number with what its column is called: level 3."""
    return f"{corner} {key}" if key.strip().isdigit() else key


def _is_headed(text: str, rows: Sequence[Line]) -> bool:
    """True if the first of `rows`, the first two of a table, names the columns: none of its cells but the first holds a number with a sign or unit of a value."""
    header = rows[0]
    if all(": " in text[slice(*c)] for row in rows for c in row.cells[1:]):
        return False  # each cell says itself what its column is called
    return not any(re.search(r"\d[.,:]\d\d\b|[€$£%]|@", text[slice(*c)]) for c in header.cells[1:])


def _of_days(text: str, page: _Page, at: int, start: int) -> Axis | None:
    """The axis of lines that begin with days of the week: Fri–Sat 12:00–00:00, last orders 22:30."""
    line = page.lines[at]
    group = {n: page.lines[n] for n in page.groups[line.group]}
    days = {n: match for n, other in group.items() if (match := _DAYS.match(text, other.start, other.end))}
    named = {n: spoken(match["days"]).words for n, match in days.items()}
    named = {n: frozenset(w for w in words if w.startswith("day ")) for n, words in named.items()}
    named = {n: words for n, words in named.items() if words}
    if at not in named or start < days[at].end() or len(set(named.values())) < 2:
        return None
    keys = {n: Key(words, words, words, tuple(frozenset({w}) for w in words)) for n, words in named.items()}
    return Axis("day-line", at, keys, {n: (days[n].end(), group[n].end) for n in named})


_DAYS = re.compile(
    r"\s*(?:[-*•]\s+)?\**(?P<days>[^\W\d_]{2,12}(?:[ .]*(?:[-–,&/]|to|and|bis|und|au|et|a|y|e|al|t/m|en|do|i)[ .]*[^\W\d_]{2,12}){0,6})\.?\**:?\s+(?=\d|from|ab|von|de|à|dalle|das|van|od|closed|geschlossen)",
    re.IGNORECASE,
)


def _of_sections(page: _Page, at: int) -> Axis | None:
    """The axis of lines of one label below several headings."""
    line = page.lines[at]
    label = spoken(line.label).words
    alike = {
        n.group: n
        for n in page.lines
        if n.kind == "label" and page.headings.get(n.group) and spoken(n.label).words == label
    }
    if len(alike) < 2 or alike.get(line.group) is not line:
        return None
    keys = _unique({group: page.headings[group] for group in alike})
    return Axis("section", line.group, keys, {group: (n.body, n.end) for group, n in alike.items()})


def _of_list(page: _Page, at: int) -> Axis | None:
    """The axis of lines with a label, one below the other."""
    line = page.lines[at]
    labelled = {n: page.lines[n] for n in page.groups[line.group] if page.lines[n].kind == "label"}
    if len(labelled) < 2:
        return None
    keys = _unique({n: other.label for n, other in labelled.items()})
    return Axis("list-item", at, keys, {n: (other.body, other.end) for n, other in labelled.items()})


def _unique(names: Mapping[int, str]) -> Mapping[int, Key]:
    """The keys of an axis; none of one with more than `MOST_KEYS`."""
    return _keys(tuple(names.items())) if len(names) <= MOST_KEYS else {}


@lru_cache(maxsize=1024)
def _keys(named: tuple[tuple[int, str], ...]) -> Mapping[int, Key]:
    """The keys by their names, each with what it has alone. Cached: all values of a table have the same."""
    names = dict(named)
    words = {key: spoken(name).words for key, name in names.items()}
    counted: dict[str, int] = {}
    for own in words.values():
        for word in own:
            counted[word] = counted.get(word, 0) + 1
    alone = {
        key: frozenset(w for w in own if counted[w] == 1 and (len(w) > 2 or w[0] == "=")) for key, own in words.items()
    }
    things = {key: _things(name) for key, name in names.items()}
    every = [thing for group in things.values() for thing in group]
    either = {key: tuple(t for t in group if every.count(t) == 1) for key, group in things.items()}
    alone = {key: frozenset(w for w in own if not _YEAR.fullmatch(w)) or own for key, own in alone.items()}
    return {
        key: Key(
            own,
            alone[key],
            alone[key] & _proper(names[key]),
            either[key] if len(things[key]) > 1 else (),
            STOP_WORDS.isdisjoint(_TOKEN.findall(names[key].lower())),
        )
        for key, own in words.items()
    }


_YEAR = re.compile(r"=20\d\d")
"""A year as a word of a key, which names it only where nothing else does: "Early: to Sept 30, 2026"."""


_OR = re.compile(r",|/|;| (?:and|or|und|oder|et|ou|y|o|e|en|of|i|lub) | & ")


def _things(name: str) -> list[Words]:
    """The words of each thing that a key names."""
    parts = [words for part in _OR.split(name) if (words := spoken(part).words)]
    days = [word for word in spoken(name).words if word.startswith("day ")]
    parts = [w for w in parts if not all(_YEAR.fullmatch(word) for word in w)]
    return [w for w in parts if not w & frozenset(days)] + [frozenset({d}) for d in days]


_CAPITAL = re.compile(r"(?<=[\w,(] )[A-ZÀ-ÖØ-Þ][\w'-]+|\([A-ZÀ-ÖØ-Þ][\w'-]+")


def _proper(name: str) -> Words:
    """Words of a key with a capital that is not that of its first word, and numbers with the word before."""
    capitals = spoken(" ".join(_CAPITAL.findall(name))).words
    return capitals | frozenset(w for w in spoken(name).words if w[-1].isdigit())


@lru_cache(maxsize=512)
def _page(text: str) -> _Page:
    lines: list[Line] = []
    groups: dict[int, list[int]] = {}
    headers: dict[int, int] = {}
    headings: dict[int, str] = {}
    group, heading, before, at = 0, "", "", 0
    for raw in text.splitlines(keepends=True):
        line, start = raw.rstrip("\r\n"), at
        at += len(raw)
        if not line.strip():
            before = before if before == "heading" else ""
            continue
        if _RULE.fullmatch(line):
            continue
        cells = _cells_of(line, start)
        kind = "row" if len(cells) > 1 else "heading" if _is_heading(line, before) else ""
        label = _LABEL.match(line) if not kind else None
        kind = kind or ("label" if label else "prose")
        if kind == "heading" or (kind == "row") != (before == "row") or before == "":
            group += 1
        if kind == "heading":
            heading = line
        headings[group] = heading
        if kind == "row" and group not in headers:
            headers[group] = len(lines)
        groups.setdefault(group, []).append(len(lines))
        body = start + label.end() if label else start
        lines.append(Line(start, start + len(line), kind, group, cells, label["label"] if label else "", body))
        before = kind
    return _Page(
        tuple(lines), tuple(n.start for n in lines), {k: tuple(v) for k, v in groups.items()}, headers, headings
    )


def _cells_of(line: str, start: int) -> tuple[tuple[int, int], ...]:
    """The cells of `line`, which begins at `start` of its text: half open, in that text; none of a line without bars and tabs."""
    if "|" not in line and "\t" not in line:
        return ()
    found: list[tuple[int, int]] = []
    at = 0
    for match in _CELL.finditer(line):
        if at or line[: match.start()].strip():
            found.append((start + at, start + match.start()))
        at = match.end()
    if line[at:].strip():
        found.append((start + at, start + len(line)))
    return tuple(found)


def _is_heading(line: str, before: str) -> bool:
    if _HEADING.fullmatch(line) or _ROUTE.fullmatch(line):
        return True
    plain = line.strip()
    few = (
        len(_ASIDE.sub("", plain).split()) <= 9
        and _SHORT.fullmatch(plain) is not None
        and not plain.startswith(("-", "*", "•"))
    )
    return few and (
        plain.isupper() or (before == "" and ": " not in _ASIDE.sub("", plain) and not _VALUE.search(plain))
    )


_ROUTE = re.compile(r"[^.!?|:\t]{2,60} (?:->|→|➔) [^.!?|:\t]{2,60}")
_ASIDE = re.compile(r"\([^()]{1,80}\)")
_VALUE = re.compile(r"[$€£%@]|\d[.,:/]\d|\d{3}|\d ?[^\W\d_]")
"""What a line has that gives a value and is no heading; Level 3 may be one."""
