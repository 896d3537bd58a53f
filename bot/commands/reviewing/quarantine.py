"""`attest quarantine`: lists passages that were taken for planted orders, and decides on them."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from bot.commands.shared import options
from bot.commands.shared.output import console, emit, note, plain, table
from bot.commands.shared.startup import run
from bot.commands.shared.wiring import opened
from bot.operator import operator
from bot.turn.entries.quarantine import as_json, named
from bot.turn.entries.quarantine import decide as decide_on
from rai.screening.quarantine import Decision, Quarantined

app = options.command_app("See and decide passages that were taken for planted orders.")
_SHOWN = 110
Id = Annotated[
    str, typer.Argument(metavar="ID", help="Id of the passage, as the list names it; its beginning is enough.")
]
Ids = Annotated[
    list[str],
    typer.Argument(metavar="ID…", help="Ids of passages, as the list names them; their beginnings are enough."),
]
Remark = Annotated[str, typer.Option("--note", metavar="TEXT", help="Why, for the record.")]


class ShownPassage(StrEnum):
    """Which passages are listed."""

    HELD = "held"
    RELEASED = "released"
    CONFIRMED = "confirmed"
    ALL = "all"


@app.command("list")
def list_(
    context: typer.Context,
    state: Annotated[ShownPassage, typer.Option(help="Which passages to list.")] = ShownPassage.HELD,
    json: options.JsonFlag = False,
) -> None:
    """List the passages that no answer uses because they read like orders to an assistant.

    Held: nobody has decided yet. Released: used again, until the text changes. Confirmed: stays out.

    Examples:
      attest quarantine list
      attest quarantine list --state all --json
    """
    found = [p for p in run(_passages(context)) if state in (ShownPassage.ALL, p.state)]
    if json:
        emit({"passages": [as_json(p) for p in found]})
        return
    if not found:
        note(
            "nothing in quarantine"
            if state in (ShownPassage.HELD, ShownPassage.ALL)
            else f"no passage is {state.value}"
        )
        return
    rows = [(p.id, p.state, p.rule, f"{p.score:.2f}", p.doc_id, _short(p.text)) for p in found]
    console().print(table(("id", "state", "rule", "score", "document", "passage"), rows, right=("score",)))


@app.command()
def show(context: typer.Context, passage_id: Id, json: options.JsonFlag = False) -> None:
    """Show one passage in full, with the rule that holds it, and its score.

    Example:
      attest quarantine show 3f9a
    """
    passage = named(run(_passages(context)), passage_id)
    if json:
        emit(as_json(passage))
        return
    out = console()
    place = " · ".join(dict.fromkeys(part for part in (passage.doc_id, passage.title, passage.locator) if part))
    out.print(plain(f"{passage.id} · {passage.state} · rule {passage.rule}, score {passage.score:.2f}"))
    out.print(plain(place), style="dim")
    if passage.decided:
        why = f": {passage.decided.note}" if passage.decided.note else ""
        out.print(plain(f"{passage.decided.decision} {passage.decided.at}{why}"), style="dim")
    out.print("\n" + plain(passage.text.strip()))


@app.command()
def release(context: typer.Context, ids: Ids, *, remark: Remark = "", json: options.JsonFlag = False) -> None:
    """Use honest passages again: they are found, quoted and shown to a model until their text changes.

    Read them first with `show`: whatever order stands in a released passage reaches the model. A running server follows at once.

    Examples:
      attest quarantine release 3f9a
      attest quarantine release 3f9a 77c0 --note "our own set-up steps"
    """
    _decide(context, ids, "released", remark, json=json)


@app.command()
def confirm(context: typer.Context, ids: Ids, *, remark: Remark = "", json: options.JsonFlag = False) -> None:
    """Keep passages out for good, until their text changes; also takes back a release.

    Example:
      attest quarantine confirm 3f9a --note "planted in a forum post"
    """
    _decide(context, ids, "confirmed", remark, json=json)


def _decide(context: typer.Context, ids: list[str], decision: Decision, remark: str, *, json: bool) -> None:
    done = run(_decided(context, ids, decision, remark))
    if json:
        emit({"decision": decision, "passages": [{"id": p.id, "doc_id": p.doc_id, "new": new} for p, new in done]})
        return
    for passage, new in done:
        console().print(plain(f"{passage.id} {decision if new else f'was {decision} before'} · {passage.doc_id}"))


async def _passages(context: typer.Context) -> tuple[Quarantined, ...]:
    async with opened(context) as system:
        return await system.quarantine.passages()


async def _decided(
    context: typer.Context, ids: list[str], decision: Decision, remark: str
) -> list[tuple[Quarantined, bool]]:
    """All ids are looked up before any is decided. Raises InputError."""
    async with opened(context) as system:
        held = await system.quarantine.passages()
        chosen = list({p.key: p for p in (named(held, given) for given in ids)}.values())
        return [
            (p, await decide_on(system.quarantine, system.ledger, p, decision, remark, channel="cli", by=operator()))
            for p in chosen
        ]


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _SHOWN else f"{words[:_SHOWN].rpartition(' ')[0]} …"
