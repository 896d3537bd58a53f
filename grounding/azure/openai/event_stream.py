"""Incremental parser of server-sent events (WHATWG HTML, 9.2.6), for streamed replies."""

from __future__ import annotations

import re
from collections.abc import Iterator

_BREAK = re.compile(rb"\r\n|\n|\r(?!\Z)")
"""Line ends of the standard. A CR at the end of what has come may be half of a CRLF."""


class EventLines:
    """Parser that is fed bytes and gives the `data` of each complete event.

    Bytes are cut at line ends before they are decoded: a chunk may end within a character, and a JSON text may hold U+2028, at which
    `str.splitlines` would cut it.
    """

    def __init__(self) -> None:
        self._held = bytearray()
        self._seen = 0  # of what is held, without a line end: a long line in small pieces is looked through once
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> Iterator[str]:
        """The data of the events that end in this chunk. An event without the empty line after it when the stream ends was cut, and is
        none.

        Raises UnicodeDecodeError.
        """
        self._held += chunk
        while end := _BREAK.search(self._held, self._seen):
            line = bytes(self._held[: end.start()])
            del self._held[: end.end()]
            self._seen = 0
            if not line:
                if self._data:
                    yield "\n".join(self._data)
                self._data = []
                continue
            name, _, value = line.partition(b":")
            if name == b"data":
                self._data.append(value.removeprefix(b" ").decode())
        self._seen = max(0, len(self._held) - 1)
