"""Repair by dropping: the sentences, list items and table rows with unsupported claims are taken out of an answer."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rai.check.phrasing.plain import substance
from rai.check.repair.layout import TextPiece, layout, successor, within
from rai.check.repair.lead_in import without_count
from rai.records import Claim

_CONNECTIVE = re.compile(
    r"^(?:however|also|in addition|additionally|moreover|furthermore|therefore|thus|otherwise|instead|but|and|or|so|then|"
    r"second|secondly|third|thirdly|fourth|next|after that|afterwards),? +(?=\S)",
    re.IGNORECASE,
)
_BACKWARD = re.compile(
    r"^(?:this|that|these|those|it|they|both|the (?:former|latter|first|second|other)|otherwise|therefore|thus|then|if so|in that case)\b",
    re.IGNORECASE,
)
_STEP = re.compile(r"\b(steps? (?:no\. ?|number )?|points? |items? )(\d{1,3})\b(?!\.\d)", re.IGNORECASE)
_UNFINISHED = re.compile(r"(?:[,;]?\s+(?:and|or)|[,;])$", re.IGNORECASE)


def drop_unsupported(answer: str, claims: Sequence[Claim]) -> str | None:
    """The answer without each sentence, list item or table row that holds an unsupported claim, or None if no substance is left.

    A numbered or lettered list is numbered again, also where a step is referred to; an item goes with what is set in below it; a lead-in
    goes with its last item and loses its count with any, a heading with its last sentence, a table with its last row; a
    connective ("However,") or a sentence that points back ("This …") does not stay behind alone. Citation marks keep
    their numbers: they name evidence, not places in the text.
    """
    bad = [c for c in claims if c.unsupported]
    pieces = layout(answer)
    gone = {i for i, p in enumerate(pieces) if any(p.span.start < c.end and c.start < p.span.end for c in bad)}
    if not gone:
        return None
    before = -1
    while len(gone) != before:
        before = len(gone)
        gone |= _wholes(pieces, gone)
        gone |= _pointing_back(pieces, gone)
        gone |= _orphans(answer, pieces, gone)
    kept = [i for i in range(len(pieces)) if i not in gone]
    if not any(_says_something(pieces[i]) for i in kept):
        return None
    return _Writer(answer, pieces, gone).written() or None


def _says_something(piece: TextPiece) -> bool:
    return substance(piece.span.text) and not (piece.leads or piece.heading or piece.head)


def _wholes(pieces: Sequence[TextPiece], gone: set[int]) -> set[int]:
    """What goes with a part of it: the rest of a list item and what is set in below it, of a row, of a table without its head."""
    more: set[int] = set()
    rows = {pieces[i].line for i in gone if pieces[i].table >= 0}
    headless = {pieces[i].table for i in gone if pieces[i].head}
    for i, piece in enumerate(pieces):
        if piece.table >= 0 and (piece.line in rows or piece.table in headless):
            more.add(i)
        if i in gone and piece.item >= 0:
            more |= {piece.item, *within(pieces, piece.item)}
    return more


def _pointing_back(pieces: Sequence[TextPiece], gone: set[int]) -> set[int]:
    """The sentences that speak of a dropped one directly before them ("This applies …") or by its number ("repeat step 2")."""
    more: set[int] = set()
    for i, piece in enumerate(pieces):
        before = i - 1 in gone or i - 1 in more
        if i not in gone and before and not piece.marker and _BACKWARD.match(piece.span.text):
            more.add(i)
    steps = _steps(pieces)
    lost = {count for count, at in steps.items() if at in gone}
    return more | {i for i, p in enumerate(pieces) if any(m[2] in lost for m in _STEP.finditer(p.span.text))}


def _steps(pieces: Sequence[TextPiece]) -> dict[str, int]:
    """The numbers of the only numbered list that there is, with where they stand; empty if there are several."""
    numbered = [
        (p.marker.run, p.marker.count, i) for i, p in enumerate(pieces) if p.marker and p.marker.count.isdigit()
    ]
    return {count: i for _, count, i in numbered} if len({run for run, _, _ in numbered}) == 1 else {}


def _orphans(answer: str, pieces: Sequence[TextPiece], gone: set[int]) -> set[int]:
    """The lead-ins, headings and heads of tables after which nothing of their own is left."""
    more = set(gone)
    for i in range(len(pieces) - 1, -1, -1):
        piece = pieces[i]
        if i in more or not (piece.heading or piece.leads or piece.head):
            continue
        own = owned(answer, pieces, i)
        if own and all(j in more for j in own):
            more.add(i)
    return more - gone


def owned(answer: str, pieces: Sequence[TextPiece], i: int) -> list[int]:
    """The pieces that a heading (to the next of its rank), a table's head (its rows) or a lead-in (its list, its table, the next sentence) introduces."""
    piece = pieces[i]
    if piece.head:
        return [j for j, p in enumerate(pieces) if p.table == piece.table and not p.head]
    if piece.heading:
        following = range(i + 1, len(pieces))
        end = next((j for j in following if 0 < pieces[j].heading <= piece.heading), len(pieces))
        return list(range(i + 1, end))
    if piece.item >= 0 and (inside := [j for j in within(pieces, piece.item) if j > i]):
        return inside
    return _led(answer, pieces, i)


def _led(answer: str, pieces: Sequence[TextPiece], i: int) -> list[int]:
    own: list[int] = []
    for j in range(i + 1, len(pieces)):
        piece, before = pieces[j], pieces[j - 1]
        listed = piece.item >= 0 and (pieces[i].item < 0 or piece.indent > pieces[i].indent)
        tabled = piece.table >= 0 and (not own or piece.table == before.table)
        apart = "\n\n" in answer[before.span.end : piece.span.start]
        if piece.heading or (pieces[i].item >= 0 and piece.marker and not listed):
            break
        if own and not (listed or tabled) and (apart or piece.line != before.line):
            break
        own.append(j)
    return own


class _Writer:
    """Puts what is kept together again."""

    def __init__(self, answer: str, pieces: Sequence[TextPiece], gone: set[int]) -> None:
        self._answer = answer
        self._pieces = pieces
        self._gone = gone
        self._counts = self._renumbered()

    def written(self) -> str:
        parts: list[str] = []
        last = -1
        for i in range(len(self._pieces)):
            if i in self._gone:
                continue
            text = self._text(i)
            if text:
                parts.append((self._gap(last, i) if parts else "") + text)
            last = i
        return "".join(parts).strip()

    def _text(self, i: int) -> str:
        piece = self._pieces[i]
        text = piece.span.text
        body = text[len(piece.marker.text) :] if piece.marker else text
        if i - 1 in self._gone and not piece.marker:
            body = _reopened(body)
        body = self._recounted(i, _STEP.sub(self._step, body))
        if not body:
            return ""
        if piece.item >= 0:
            body = self._finished(i, body)
        if piece.marker is None:
            return body
        return piece.marker.text.replace(piece.marker.count, self._counts.get(i, piece.marker.count), 1) + body

    def _renumbered(self) -> dict[int, str]:
        """The new number or letter of each kept item: a list goes on from where it began."""
        now: dict[int, str] = {}
        following: dict[int, str] = {}
        for i, piece in enumerate(self._pieces):
            if piece.marker is None or piece.marker.run < 0:
                continue
            run = piece.marker.run
            count = following.setdefault(run, piece.marker.count)
            if i not in self._gone:
                now[i] = count
                following[run] = successor(count)
        return now

    def _step(self, match: re.Match[str]) -> str:
        at = _steps(self._pieces).get(match[2])
        return match.group() if at is None else match[1] + self._counts.get(at, match[2])

    def _recounted(self, i: int, text: str) -> str:
        """A sentence before a list that lost items does not keep their count; "" if it cannot do without."""
        pieces = self._pieces
        follows = i + 1 < len(pieces) and (pieces[i + 1].marker is not None or pieces[i + 1].table >= 0)
        if not (follows or pieces[i].leads) or pieces[i].table >= 0:
            return text
        own = owned(self._answer, pieces, i) if pieces[i].leads else _led(self._answer, pieces, i)
        rows = [j for j in own if pieces[j].marker or (pieces[j].table >= 0 and not pieces[j].head)]
        if not rows:
            return text
        margin = min(pieces[j].indent for j in rows)
        listed = list(dict.fromkeys(pieces[j].line for j in rows if pieces[j].indent == margin))
        lost = {pieces[j].line for j in rows if j in self._gone}
        left = [line for line in listed if line not in lost]
        if len(left) == len(listed):
            return text
        return without_count(text, len(listed), len(left)) or ("" if pieces[i].leads else text)

    def _finished(self, i: int, text: str) -> str:
        """The item that is now the last one of its list does not end in "; and"."""
        item = self._pieces[self._pieces[i].item]
        after = next((j for j in range(i + 1, len(self._pieces)) if self._pieces[j].item != self._pieces[i].item), None)
        if after is None or after not in self._gone or self._pieces[after].indent != item.indent:
            return text
        later = [p for j, p in enumerate(self._pieces) if j > i and j not in self._gone and p.marker]
        if any(p.indent == item.indent for p in later[:1]):
            return text
        return _UNFINISHED.sub(".", text)

    def _gap(self, last: int, i: int) -> str:
        """The white space before a kept sentence: the widest break between it and the one kept before."""
        answer, pieces = self._answer, self._pieces
        begin = max(last, 0)
        gaps = [answer[pieces[j].span.end : pieces[j + 1].span.start] for j in range(begin, i)]
        breaks = max(gap.count("\n") for gap in gaps)
        indent = gaps[-1].rpartition("\n")[2] if "\n" in gaps[-1] else ""
        return "\n" * min(breaks, 2) + indent if breaks else (gaps[0] or " ")


def _reopened(text: str) -> str:
    """A sentence whose predecessor is gone starts without its connective, in upper case."""
    opened = _CONNECTIVE.sub("", text)
    return opened[:1].upper() + opened[1:] if opened != text else text
