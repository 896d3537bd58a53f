"""Result types shared by all readers: extracted text, refusal, and the writer that keeps offsets exact while text is put together."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Literal

from grounding.errors import InputError
from grounding.records import Locator
from grounding.text import seen

MAX_FILE_BYTES = 50_000_000
MAX_TEXT_CHARS = 20_000_000

Reason = Literal["encrypted", "corrupt", "empty", "too_large", "too_slow", "crashed", "unsupported", "missing"]

PLACE = re.compile(
    r"(?:page|slide|chapter|line) \d+(?= · |$)|(?:sheet|attachment) "
)  # labels of places; others are headings

_NEWLINE = re.compile("\r\n|[\r\x0b\x0c\x1c-\x1f\x85\u2028\u2029]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_BLANKS = re.compile(r"\n{3,}")
_LIGATURES = {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "st", 0xFB06: "st"}


class Refused(InputError):
    """A file is not read. `code` is a `Reason`; the message says in one line why and what helps."""

    def __init__(self, code: Reason, message: str) -> None:
        super().__init__(message, code=code)


@dataclass(frozen=True, slots=True)
class Extract:
    """Text and title of a file. `locators` ascend by `start`, which indexes `text`.

    `meta` holds what the file says about itself: any of url, product, updated (str), internal (bool), groups (tuple of str, or None for
    everyone), trust.
    """

    title: str
    text: str
    content_type: str
    locators: tuple[Locator, ...] = ()
    meta: dict[str, Any] = field(default_factory=dict)


def clean(text: str) -> str:
    """`text` normalised: line feeds as line ends, no control or invisible characters, no space at line ends, no more than one blank line.

    Lone surrogates become U+FFFD and Latin ligatures their letters; blank lines around the text go.
    """
    text = _NEWLINE.sub("\n", text)
    text = _SURROGATE.sub("\ufffd", seen(text)).translate(_LIGATURES)
    return _BLANKS.sub("\n\n", "\n".join(line.rstrip() for line in text.split("\n"))).strip("\n")


def one_line(text: str) -> str:
    """Clean `text` with every run of white space as one space, for titles, headings and table cells."""
    return " ".join(clean(text).split())


class Writer:
    """Builder of an Extract, block by block. Every locator marks the first character of the text that follows it."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._locators: list[Locator] = []
        self._pending: list[str] = []

    def place(self, label: str) -> None:
        """Begin a new place such as a page or sheet: the next text stands at `label`."""
        self._pending.append(label)

    def heading(self, text: str, level: int = 1) -> None:
        """Write a heading of `level` 1 to 6, with # signs; a locator of its words is set."""
        words = one_line(text)
        if words:
            self._pending.append(words)
            self._put(f"{'#' * min(max(level, 1), 6)} {words}", "\n\n")

    def block(self, text: str) -> None:
        """Write a paragraph, set off by a blank line."""
        self._put(clean(text), "\n\n")

    def lines(self, lines: list[str]) -> None:
        """Write lines that belong together, such as rows or list items, as one block."""
        self._put("\n".join(kept for line in lines if (kept := clean(line).strip())), "\n\n")

    def line(self, text: str) -> None:
        """Write one more line under the block before it."""
        self._put(clean(text), "\n")

    def include(self, extract: Extract, label: str) -> None:
        """Write a whole other document under `label`, which stands before the names of its pages too."""
        if not extract.text.strip():
            return
        self.place(label)
        self._put(extract.text, "\n\n")
        base = self._length - len(extract.text)
        for place in extract.locators:
            inner = f"{label} · {place.label}" if PLACE.match(place.label) else place.label
            self._locators.append(Locator(base + place.start, inner))

    @property
    def empty(self) -> bool:
        """True while nothing is written."""
        return not self._length

    def extract(self, title: str, content_type: str, meta: dict[str, Any] | None = None) -> Extract:
        """The Extract of all that was written. Raises Refused `empty` when no text was found."""
        if self.empty:
            raise Refused("empty", "no text in the file")
        return Extract(one_line(title), "".join(self._parts), content_type, tuple(self._locators), meta or {})

    def _put(self, text: str, gap: str) -> None:
        if not text.strip():
            return
        if self._parts:
            self._parts.append(gap)
            self._length += len(gap)
        start = self._length + len(text) - len(text.lstrip())
        self._locators += [Locator(start, label) for label in self._pending]
        self._pending.clear()
        self._parts.append(text)
        self._length += len(text)
        if self._length > MAX_TEXT_CHARS:
            raise Refused("too_large", f"more than {MAX_TEXT_CHARS // 1_000_000} million characters of text")
