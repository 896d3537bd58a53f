"""JSON lines in, JSON lines out: same order, streamed, bounded memory; no row that fails ends a run."""

from __future__ import annotations

import json
import logging
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal, NoReturn

import typer

from bot.commands.fields import Json, wrong
from bot.commands.output import emit_line, note
from bot.commands.wiring import opened
from bot.system import System
from grounding.errors import AttestError, InputError, PromptBlocked, ServiceError, StoreError, UserError, WorkError
from grounding.mishap import kind_and_place, kind_and_way

MAX_LINE = 16 * 2**20
"""Bytes of the longest line that is read; a longer one is a bad line and is skipped without being held."""

LOG = logging.getLogger("attest")
Whose = Literal["line", "ours", "service"]
"""Whose fault it is that a row has no result."""
_TOLD: dict[Whose, tuple[str, str]] = {
    "line": ("bad line", "bad lines"),
    "ours": ("row failed for a reason of ours", "rows failed for reasons of ours"),
    "service": (
        "row was not answered by a service that it needs",
        "rows were not answered by a service that they need",
    ),
}
_NOT_OURS = (ServiceError, PromptBlocked, TimeoutError)
Handle = Callable[[Json], Awaitable[dict[str, Any]]]
Emit = Callable[[dict[str, Any]], None]


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that cannot be used. `id` is the row's own if it could be read."""

    id: str | None
    error: InputError


async def answer_lines(
    context: typer.Context, source: str, handler: Callable[[System], Handle], emit: Emit = emit_line
) -> int:
    """Write what `handler(system)` makes of each row of `source` (a path, or `-` for stdin). Returns an exit code: 0, 2 or 3.

    A row that fails gives an error object in its place, whoever's the fault is: 2 for a bad line or a fault of ours, 3 where a service
    did not answer and nothing was worse. A setting that cannot be used ends the run. The file is opened before the system is built, so
    that a slip in its name costs no time.
    """
    counts: Counter[Whose] = Counter()
    with open_source(source) as stream:
        async with opened(context) as system:
            await _answer(stream, handler(system), emit, counts)
    for whose, (one, many) in _TOLD.items():
        if count := counts[whose]:
            note(f"{source}: {count} {one if count == 1 else many}; each has an error object in the output")
    return 2 if counts["line"] or counts["ours"] else 3 if counts["service"] else 0


async def _answer(stream: BinaryIO, handle: Handle, emit: Emit, counts: Counter[Whose]) -> None:
    failed: Exception
    for number, row in read_rows(stream):
        if isinstance(row, BadLine):
            identifier, failed = row.id, row.error
        else:
            made = await _made(handle, row)
            if not isinstance(made, Exception):
                emit(made)
                continue
            identifier, failed = row["id"], made
        whose, code, message = _fault(failed)
        counts[whose] += 1
        emit({"id": identifier, "line": number, "error": {"code": code, "message": message}})


async def _made(handle: Handle, row: Json) -> dict[str, Any] | Exception:
    """The line for a row, or why there is none. Raises UserError where that is not of the row."""
    try:
        return await handle(row)
    except InputError as error:
        return error
    except UserError:
        raise
    except Exception as error:  # noqa: BLE001 - one row must not cost the others theirs
        return error


def _fault(error: Exception) -> tuple[Whose, str, str]:
    """Whose fault it is, its code, and one line that holds nothing of the row."""
    match error:
        case InputError():
            return "line", error.code, str(error)
        case PromptBlocked(unavailable=True, __cause__=Exception() as cause) if not isinstance(cause, _NOT_OURS):
            return _fault(cause)  # the screen is ours where no service is asked
        case PromptBlocked():
            return (
                ("service", "screen_unavailable", str(error)) if error.unavailable else ("line", "blocked", str(error))
            )
        case ServiceError():
            return "service", error.code, str(error)
        case StoreError():
            return "service", "store_unavailable", str(error)
        case WorkError():
            return "ours", error.code, str(error)
        case AttestError():  # the service's own filter, a budget that has no room
            return "line", "refused", str(error)
        case _:
            LOG.error("a row failed with %s", kind_and_way(error))
            return "ours", "internal", f"it failed inside ({kind_and_place(error)})"


@contextmanager
def open_source(source: str) -> Iterator[BinaryIO]:
    """The bytes of a file, or of stdin for `-`. Raises InputError when it cannot be opened."""
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
    """Line numbers from 1 with the row or why it cannot be used. Empty lines are passed over."""
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
