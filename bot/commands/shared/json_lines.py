"""Runs a command over JSON lines: a line out for each line in, in the same order, in bounded memory. A row that fails does not end the run."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any, BinaryIO, Literal

import typer

from bot.commands.shared.output import emit_line, note
from bot.commands.shared.wiring import opened
from bot.rows.fields import Json
from bot.rows.jsonl import BadLine, open_source, read_rows
from bot.system import System
from grounding.errors import (
    AttestError,
    InputError,
    PromptBlocked,
    ServiceError,
    StoreError,
    UserError,
    WorkError,
    kind_and_place,
    kind_and_way,
)

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
"""Makes the line that comes back of a row. Raises InputError for a bad row."""
Emit = Callable[[dict[str, Any]], None]
"""Writes a line."""


async def answer_lines(
    context: typer.Context, source: str, handler: Callable[[System], Handle], emit: Emit = emit_line
) -> int:
    """Read `source` (a path, or `-` for stdin) and write what `handler(system)` makes of each row. Returns an exit code: 0, 2 or 3.

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
