"""Repair: what is left of an answer when the sentences and list items with unsupported claims are taken out."""

from __future__ import annotations

import re
from collections.abc import Sequence

from grounding.records import Span
from grounding.text import body_start, sentences
from rai.records import Claim
from rai.statements.wording import substance

_MARKER = re.compile(r"^(\s*)(\d{1,3})([.)])(?=\s)")
_LEAD_IN = re.compile(r":\s*(?:\[\d{1,3}\]\s*)*$")
_CONNECTIVE = re.compile(
    r"^(?:however|also|in addition|additionally|moreover|furthermore|therefore|thus|otherwise|instead|but|and|or|so|then),? +(?=\S)",
    re.IGNORECASE,
)
_BACKWARD = re.compile(
    r"^(?:this|that|these|those|it|they|otherwise|therefore|thus|then|if so|in that case)\b", re.IGNORECASE
)
_HEADING = re.compile(r"^\s*#{1,6}\s")


def drop_unsupported(answer: str, claims: Sequence[Claim]) -> str | None:
    """`answer` without each sentence or list item that holds an unsupported claim, or None if no substance is left.

    A numbered list is numbered again; a lead-in that ends in a colon goes with its last item, a heading with its last
    sentence; a connective ("However,") or a sentence that points back ("This …") does not stay behind alone.
    Citation marks keep their numbers: they name evidence, not places in the text.
    """
    bad = [c for c in claims if c.unsupported]
    spans = sentences(answer)
    dropped = {i for i, s in enumerate(spans) if any(s.start < c.end and c.start < s.end for c in bad)}
    if not dropped:
        return None
    lines = _lines(answer, spans)
    dropped |= _rest_of_items(spans, dropped, lines)
    dropped |= _pointing_back(spans, dropped)
    dropped |= _orphans(answer, spans, dropped, lines)
    kept = [i for i in range(len(spans)) if i not in dropped]
    if not any(_says_something(spans[i].text) for i in kept):
        return None
    return _join(answer, spans, kept, dropped)


def _lines(answer: str, spans: Sequence[Span]) -> list[int]:
    """The number of the line that each sentence starts in."""
    numbers, line, at = [], 0, 0
    for span in spans:
        line += answer.count("\n", at, span.start)
        at = span.start
        numbers.append(line)
    return numbers


def _says_something(sentence: str) -> bool:
    return substance(sentence) and not _LEAD_IN.search(sentence) and not _HEADING.match(sentence)


def _rest_of_items(spans: Sequence[Span], dropped: set[int], lines: Sequence[int]) -> set[int]:
    """The other sentences of list items that lose one: an item goes as a whole."""
    items = {lines[i] for i in range(len(spans)) if body_start(spans[i].text) and not _HEADING.match(spans[i].text)}
    return {i for i in range(len(spans)) if lines[i] in items and any(lines[j] == lines[i] for j in dropped)}


def _pointing_back(spans: Sequence[Span], dropped: set[int]) -> set[int]:
    """Sentences that speak of a dropped one ("It costs …", "This applies …") directly before them."""
    more: set[int] = set()
    for i, span in enumerate(spans):
        if i not in dropped and (i - 1 in dropped or i - 1 in more) and _BACKWARD.match(span.text):
            more.add(i)
    return more


def _orphans(answer: str, spans: Sequence[Span], dropped: set[int], lines: Sequence[int]) -> set[int]:
    """Lead-ins and headings after which nothing of their own is left."""
    gone = set(dropped)
    for i in range(len(spans) - 1, -1, -1):
        text = spans[i].text
        heading = bool(_HEADING.match(text))
        if i in gone or not (heading or _LEAD_IN.search(text)):
            continue
        following = _own(spans, i, heading=heading, lines=lines, answer=answer)
        if following and all(j in gone for j in following):
            gone.add(i)
    return gone - dropped


def _own(spans: Sequence[Span], i: int, *, heading: bool, lines: Sequence[int], answer: str) -> list[int]:
    """What a heading (to the next one) or a lead-in (its list, or the next sentence) introduces."""
    own: list[int] = []
    for j in range(i + 1, len(spans)):
        if _HEADING.match(spans[j].text):
            break
        item = body_start(spans[j].text) > 0
        same_line = bool(own) and lines[j] == lines[j - 1]
        if not heading and own and not item and not same_line:
            break
        if not heading and own and "\n\n" in answer[spans[j - 1].end : spans[j].start] and not item:
            break
        own.append(j)
    return own


def _join(answer: str, spans: Sequence[Span], kept: Sequence[int], dropped: set[int]) -> str:
    parts: list[str] = []
    number = 0
    last = -1
    for i in kept:
        gap = _gap(answer, spans, last, i)
        text = spans[i].text
        if i - 1 in dropped:
            text = _reopened(text)
        marker = _MARKER.match(text)
        if marker:
            number = int(marker[2]) if number == 0 and i - 1 not in dropped else number + 1
            text = f"{marker[1]}{number}{marker[3]}{text[marker.end() :]}"
        elif "\n" in gap and not body_start(text):
            number = 0
        parts.append(gap + text)
        last = i
    return "".join(parts).strip()


def _gap(answer: str, spans: Sequence[Span], last: int, i: int) -> str:
    """The white space before a kept sentence: the widest break between it and the one kept before."""
    if last < 0:
        return ""
    gaps = [answer[spans[j].end : spans[j + 1].start] for j in range(last, i)]
    breaks = max(gap.count("\n") for gap in gaps)
    indent = gaps[-1].rpartition("\n")[2] if "\n" in gaps[-1] else ""
    return "\n" * min(breaks, 2) + indent if breaks else (gaps[0] or " ")


def _reopened(text: str) -> str:
    """A sentence whose predecessor is gone starts without its connective, in upper case."""
    opened = _CONNECTIVE.sub("", text)
    return opened[:1].upper() + opened[1:] if opened != text else text
