"""Reads JSON lines one by one, in bounded memory; a line that cannot be used comes with the reason."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from bot.rows.fields import wrong
from grounding.errors import InputError

MAX_LINE = 16 * 2**20
"""Bytes of the longest line that is read; a longer one is a bad line and is skipped without being held."""


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that cannot be used. `id` is the row's own if it could be read."""

    id: str | None
    error: InputError


@contextmanager
def open_source(source: str) -> Iterator[BinaryIO]:
    """Open a file for reading bytes, or take stdin for `-`. Raises InputError when it cannot be opened."""
    if source == "-":
        yield sys.stdin.buffer
        return
    with ExitStack() as stack:
        try:
            stream = stack.enter_context(Path(source).open("rb"))
        except OSError as error:
            raise InputError(f"{source}: {(error.strerror or 'cannot be read').lower()}", code="no_file") from None
        yield stream


def read_rows(stream: BinaryIO) -> Iterator[tuple[int, Mapping[str, Any] | BadLine]]:
    """Yield line numbers from 1, each with its row or the reason why it cannot be used. Empty lines are passed over."""
    number = 0
    while line := stream.readline(MAX_LINE + 1):
        number += 1
        if len(line) > MAX_LINE and not line.endswith(b"\n"):
            _skip_line(stream)
            yield number, BadLine(None, InputError(f"line is longer than {MAX_LINE} bytes", code="too_long"))
        elif line.strip():
            yield number, _row(line, first=number == 1)


def _skip_line(stream: BinaryIO) -> None:
    while (rest := stream.readline(MAX_LINE)) and not rest.endswith(b"\n"):
        pass


def _row(line: bytes, *, first: bool) -> Mapping[str, Any] | BadLine:
    try:
        value = json.loads(line.decode("utf-8-sig" if first else "utf-8"), parse_constant=_no_constant)
    except UnicodeDecodeError:
        return BadLine(None, InputError("line is not UTF-8", code="bad_encoding"))
    except json.JSONDecodeError as error:
        return BadLine(None, InputError(f"line is not JSON: {error.msg} at column {error.colno}", code="bad_json"))
    except InputError as error:
        return BadLine(None, error)
    except (ValueError, RecursionError):
        return BadLine(None, InputError("line is not JSON that can be read: too deep or too large", code="bad_json"))
    if not isinstance(value, dict):
        return BadLine(None, InputError("line is not a JSON object", code="bad_json"))
    given = value.get("id")
    if not isinstance(given, str):
        return BadLine(None, wrong("id", "a string", given))
    if b"\\u" in line and _has_lone_surrogate(value):
        known = None if _has_lone_surrogate({"id": given}) else given
        return BadLine(known, InputError("text holds half of a surrogate pair", code="bad_encoding"))
    return value


def _no_constant(name: str) -> NoReturn:
    raise InputError(f"line is not JSON: {name} is not allowed", code="bad_json")


def _has_lone_surrogate(value: dict[str, Any]) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False
