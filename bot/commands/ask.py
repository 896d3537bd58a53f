"""`attest ask`: asks one question through the whole pipeline, and prints the reply."""

from __future__ import annotations

import json as jsonlib
import sys
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from bot.commands.shared import options
from bot.commands.shared.output import emit
from bot.commands.shared.printed_reply import print_reply, stage_line
from bot.commands.shared.startup import run, settings_of
from bot.commands.shared.wiring import opened
from bot.records import Actor, Ask, Reply
from bot.turn.conversation.transcript import read_history
from bot.turn.entries.delivery import Deliveries, Delivery
from grounding.errors import InputError
from grounding.policies.files import policy_named
from rai.records import Outcome

app = options.command_app()
UNPRINTED = "not_printed"
"""Why a reply was not delivered: nobody read what was printed, or it could not be."""
_MAX_FILE = 4 * 2**20


@app.command()
def ask(
    context: typer.Context,
    *,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What the customer, or you, want to know.")],
    history: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The conversation so far: JSON turns, or lines Customer: … / Agent: …"),
    ] = None,
    agent_context: Annotated[
        Path | None,
        typer.Option("--context", metavar="FILE", help="What the human agent knows beside it: text, or JSON."),
    ] = None,
    user: options.AsUser = None,
    product: options.Product = None,
    policy: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Which corrective system runs, see `attest policies`; NAME:plain is without correction. Default: ATTEST_POLICY.",
        ),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(metavar="WORD", help="A word that is never searched for; may be given more than once."),
    ] = None,
    web: options.Web = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show every claim, the draft before the check, and all timings.")
    ] = False,
    json: options.JsonFlag = False,
) -> None:
    """Ask one question: retrieve, grade, draft, and check every claim of the draft before you see it.

    The reply shows its outcome, the answer with [n], the sources with the exact quote, what was checked, and whatever
    you should look at yourself. Outcomes: answered, repaired, insufficient, blocked, withheld; failed ends with exit
    code 3.

    Examples:
      attest ask "How long do refunds take?"
      attest ask "And for gift cards?" --history call.txt --as anna@contoso.com
      attest ask "Is it waterproof?" --product "Trail Pro" --json
      attest ask "How long do refunds take?" --verbose
      attest ask "How long do refunds take?" --policy hybrid-crag
    """
    if not question.strip():
        raise InputError("QUESTION is empty; give a question")
    settings = settings_of()
    asked = Ask(
        question=question,
        history=read_history(_read(history), str(history)) if history else (),
        context=_context_text(_read(agent_context)) if agent_context else None,
        product=product,
        user=user,
        actor=Actor(user, "cli"),
        policy=policy_named(policy or settings.answering.policy, settings.files.policies).name,
        at=datetime.now().astimezone(),
        excluded=tuple(exclude or ()),
        web=web,
    )
    raise typer.Exit(run(_answered(context, asked, verbose=verbose, as_json=json)))


def _told(reply: Reply, asked: Ask, *, verbose: bool, as_json: bool) -> int:
    """Show the reply; the exit code."""
    if as_json:
        emit(reply.as_json())
    else:
        print_reply(reply, verbose=verbose, user=asked.user)
    return 3 if reply.outcome is Outcome.FAILED else 0


async def _answered(context: typer.Context, asked: Ask, *, verbose: bool, as_json: bool) -> int:
    """Ask, show the reply, then record whether it was taken; the exit code."""
    async with opened(context) as system:
        with stage_line(shown=not as_json) as on_stage:
            reply = await system.answer(asked, on_stage)
        deliveries, delivery = Deliveries(system.ledger), Delivery(reply.entry_id, asked.channel).began()
        try:
            code = _told(reply, asked, verbose=verbose, as_json=as_json)
            sys.stdout.flush()
        except (Exception, SystemExit):  # rich ends so where the reader of a pipe has left
            await deliveries.write(delivery.ended(UNPRINTED))
            raise
        await deliveries.write(delivery.ended())
        return code


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > _MAX_FILE:
            raise InputError(f"{path}: larger than {_MAX_FILE} bytes", code="too_long")
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{path}: {(error.strerror or 'cannot be read').lower()}", code="no_file") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: not UTF-8 text", code="bad_encoding") from None


def _context_text(raw: str) -> str:
    """Agent context as text: a JSON string or an object with `context`, or the file as it is."""
    try:
        value = jsonlib.loads(raw)
    except (ValueError, RecursionError):
        return raw.strip()
    if isinstance(value, dict):
        value = value.get("context")
    return value if isinstance(value, str) else raw.strip()
