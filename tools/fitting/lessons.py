"""Questions about invented companies, each with the lines of their pages that answer it: what the reader is taught, and what the choice of blocks is fitted on.

A company is a folder: `kb/`, its pages, and `asks.jsonl`, one object a line: `q` as it was typed, `lang`, `doc` the page that answers ("" where none does), `quote`
the lines of it that do, as they stand there. Pages and questions are by hand, by authors who had seen no code; a letter or two each under `tools/reading_lessons`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from bot.evaluate.rows import json_lines
from grounding.text import BAR

LESSONS = Path(__file__).parent.parent / "reading_lessons"
ASKS = "asks.jsonl"
MOST = 0.85
"""The share of the words of a line that a block must have to be that line, or of a block that the line must have, which may be cut into several blocks."""
FEW = 4
"""Different words below which a block is too short to be known as a part of a line."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Ask:
    """A question, its language (ISO 639-1), the name of the page that answers it and the lines of it that do; both are empty where nothing does."""

    question: str
    lang: str
    page: str
    quotes: tuple[str, ...]

    def answered_by(self, doc_id: str, block: str) -> bool:
        """Whether a block of a document is one of the lines that answer, or a part of one."""
        return bool(self.page) and doc_id.endswith(self.page) and any(is_of(line, block) for line in self.quotes)


def asks(company: Path) -> list[Ask]:
    """The questions of a company."""
    return [
        Ask(row["q"], row["lang"], row["doc"].rpartition("/")[2], tuple(row["quote"]))
        for row in json_lines(company / ASKS)
    ]


def companies(root: Path = LESSONS) -> list[Path]:
    """The folders of all companies, in the order of their names."""
    return sorted(path.parent for path in root.rglob(ASKS))


def is_of(line: str, block: str) -> bool:
    """Whether a block says a line of a page, or a part of it. A row of a table says the names of its columns besides."""
    said, held = _words([line]), _words([block])
    if not said or not held:
        return False
    both = said & held
    if len(both) >= MOST * len(said) or (len(held) >= FEW and len(both) >= MOST * len(held)):
        return True
    cells = _words(piece.partition(": ")[2] or piece for piece in block.split(BAR))
    return line.startswith("|") and len(said & cells) >= MOST * len(said)


def _words(texts: Iterable[str]) -> set[str]:
    return {word for text in texts for word in _WORD.findall(text.lower().replace("**", ""))}
