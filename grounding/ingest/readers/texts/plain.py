"""Reader of plain text; lines that were only wrapped to the width of somebody's window are joined again."""

from __future__ import annotations

import re
from itertools import pairwise

from grounding.ingest.readers import content_types
from grounding.ingest.readers.extract import Extract, Writer, clean, one_line
from grounding.ingest.readers.texts.encoding import decode

CONTENT_TYPE = content_types.PLAIN

_OWN_LINE = re.compile(r"^\s*(?:[-*•‣–+]\s|\d{1,3}[.)]\s|[#>|]|\w[\w .&/()-]{0,40}:\s)|\t|\S {2,}\S| \| ")
_UNDERLINED = re.compile(r"([^\n]{1,120})\n(={3,}|-{3,})(?:\n|$)")
_NARROWEST = 45
_TITLE_LENGTH = 120


def usual_width(lengths: list[float]) -> float:
    """The width to which lines are wrapped: the third longest, so that two odd ones do not count; 0 without lines."""
    longest = sorted(lengths, reverse=True)[:3]
    return longest[-1] if longest else 0


def unwrap(paragraph: str, width: float) -> str:
    """Join lines that were broken only because the next word did not fit in `width`; lists, rows, short lines stay."""
    lines = paragraph.split("\n")
    if len(lines) < 2 or width < _NARROWEST:
        return paragraph
    joined = [lines[0]]
    for before, line in pairwise(lines):
        first = line.split(maxsplit=1)[0] if line.strip() else ""
        if first and len(before) + 1 + len(first) > width and not _OWN_LINE.search(line):
            joined[-1] = joined_lines(joined[-1], line)
        else:
            joined.append(line)
    return "\n".join(joined)


def joined_lines(before: str, line: str) -> str:
    """Two wrapped lines as one; a hyphen that ends the first is kept and nothing put behind it: 555-0100 stays a number."""
    after = line.strip()
    glue = "" if before.endswith("-") and before[-2:-1].isalnum() and after[:1].isalnum() else " "
    return before + glue + after


def paragraphs(text: str) -> list[str]:
    """The paragraphs of a text, cleaned and unwrapped."""
    text = clean(text)
    width = usual_width([len(line) for line in text.split("\n") if len(line) >= _NARROWEST])
    return [unwrap(part, width) for part in text.split("\n\n") if part.strip()]


def read_plain_file(data: bytes, name: str) -> Extract:
    """Extract of a text file in any encoding; see `read_plain`."""
    return read_plain(decode(data), name)


def read_plain(text: str, name: str) -> Extract:
    """Extract of plain text by its paragraphs; the first line is the title when it stands alone and is short.

    Raises Refused.
    """
    writer = Writer()
    parts = paragraphs(text)
    for part in parts:
        underlined = _UNDERLINED.match(part)
        if underlined is None:
            writer.block(part)
            continue
        writer.heading(underlined.group(1), 1 if underlined.group(2).startswith("=") else 2)
        writer.block(part[underlined.end() :])
    first = parts[0] if parts else ""
    if underlined := _UNDERLINED.match(first):
        return writer.extract(underlined.group(1), CONTENT_TYPE)
    alone = len(parts) > 1 and "\n" not in first and len(first) <= _TITLE_LENGTH and first[-1:] not in ".:;,!"
    return writer.extract(one_line(first) if alone else name, CONTENT_TYPE)
