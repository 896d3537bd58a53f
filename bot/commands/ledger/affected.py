"""`attest ledger affected`: past answers that stood on text which has changed or gone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from bot.commands.ledger.search import brought_up
from bot.commands.shared import options
from bot.commands.shared.output import console, emit, note, plain, table
from bot.commands.shared.startup import run, settings_of
from bot.commands.shared.wiring import opened
from bot.desk.index import Desk
from bot.desk.search import is_day
from bot.places import places_of
from bot.replay.affected import AffectedTurn, ChangedDocument, Untouched, changed_documents, require_document
from bot.replay.affected import affected as affected_turns
from grounding.errors import InputError

_QUESTION = 200
"""Characters of a question that are shown."""


@dataclass(frozen=True, slots=True)
class _AffectedFound:
    """What was found: documents, turns, how many of those that were looked at quote words that still stand, and where the next begin, None if there are none."""

    documents: tuple[ChangedDocument, ...]
    turns: tuple[AffectedTurn, ...]
    untouched: int
    before: int | None


def affected(
    context: typer.Context,
    document: Annotated[str, typer.Argument(metavar="DOC", help="Id of a document, as citations name it.")] = "",
    *,
    since: Annotated[
        str, typer.Option(metavar="DAY", help="All documents that changed or went since this day (UTC), as 2026-11-25.")
    ] = "",
    limit: Annotated[
        int, typer.Option(metavar="N", min=1, max=10_000, help="Turns looked at, the newest first.")
    ] = 100,
    before: Annotated[int, typer.Option(metavar="SEQ", min=0, help="Only turns before this number.")] = 0,
    json: options.JsonFlag = False,
) -> None:
    """Find past answers that stood on text which has changed or gone, and what of them would not be supported now.

    A turn counts if its answer quotes a passage whose words stand no longer in the document. Its answer is checked on the
    recorded evidence and on the text of today, by rules alone; what only the first supports is named. Nothing is written.
    Exit code 1 if any claim is not supported now.

    Examples:
      attest ledger affected orders/returns.md
      attest ledger affected --since 2026-11-01
      attest ledger affected orders/returns.md --json
    """
    if not document and not since:
        raise InputError("nothing is named: allowed are a document's id, --since DAY, or both")
    if since and not is_day(since):
        raise InputError(f"--since {since!r} is no day: allowed is one as 2026-11-25")
    found = run(_found(context, document, since, limit, before))
    fallen = any(turn.fallen for turn in found.turns)
    if json:
        emit(
            {
                "documents": [each.as_json() for each in found.documents],
                "entries": [turn.as_json() for turn in found.turns],
                "untouched": found.untouched,
                "before": found.before,
            }
        )
        raise typer.Exit(1 if fallen else 0)
    _print(found)
    raise typer.Exit(1 if fallen else 0)


def _print(found: _AffectedFound) -> None:
    if not found.documents:
        note("no answer quotes a document that has changed or gone")
        return
    out = console()
    rows = [(d.doc_id, d.state, d.since[:10] or "not recorded", d.turns) for d in found.documents]
    out.print(table(("document", "is", "since", "turns"), rows, right=("turns",)))
    for turn in found.turns:
        told = ", ".join(f"{name} {state}" for name, state in turn.documents.items())
        out.print(plain(f"\n{turn.entry.at[:19]} · {turn.entry.entry_id} · {told}"))
        out.print(plain(f"  {shortened(turn.question)}"))
        for line in lines_of(turn):
            out.print(plain(f"  {line}"))
    fallen = sum(bool(turn.fallen) for turn in found.turns)
    note(
        f"{len(found.turns)} answers stood on text that is no longer there, {fallen} of them with claims that are not supported "
        f"now; {found.untouched} quote words that still stand"
    )
    if found.before is not None:
        note(f"more turns: --before {found.before}")


def shortened(question: str) -> str:
    """A question on one line of bounded length."""
    line = " ".join(question.split())
    return line if len(line) <= _QUESTION else f"{line[:_QUESTION]}…"


def lines_of(turn: AffectedTurn) -> Sequence[str]:
    """What became of a turn's claims, a line each."""
    if turn.why:
        return (f"not checked: {turn.why}",)
    if not turn.fallen:
        return (f"all {turn.claims} claims are supported by the text of today",)
    return tuple(
        f"{'✗' if claim.is_wrong else '?'} {claim.kind} “{claim.text}” was {claim.then}, is {claim.now} now"
        + (f": the text says “{claim.instead}”" if claim.instead else "")
        for claim in turn.fallen
    )


async def _found(context: typer.Context, document: str, since: str, limit: int, before: int) -> _AffectedFound:
    desk = Desk(places_of(settings_of()).desk)
    try:
        async with opened(context) as system:
            await brought_up(desk, system.ledger)
            if document:
                await require_document(system, desk, document)
            changed = await changed_documents(system, desk, document, since)
            turns, untouched, last = list[AffectedTurn](), 0, None
            async for turn in affected_turns(system, desk, changed, before=before, size=limit):
                if isinstance(turn, Untouched):
                    untouched += 1
                    last = turn.seq
                else:
                    turns.append(turn)
                    last = turn.entry.seq
            seen = len(turns) + untouched
            return _AffectedFound(changed, tuple(turns), untouched, last if seen == limit else None)
    finally:
        await desk.close()
