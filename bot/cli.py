"""The program `attest`: its list of commands, and the one place where errors become exit codes."""

from __future__ import annotations

import importlib
import os
import re
import sys
import traceback
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from bot.version import VERSION
from grounding.errors import AttestError, UserError

COMMANDS = {
    "serve": "Run the bot and the pages on this machine.",
    "ingest": "Take files, folders or a corpus into the knowledge base.",
    "index": "See the indexes behind the alias of Azure AI Search; use, go back, remove.",
    "documents": "List, show, remove, restore or back up what is in the knowledge base.",
    "ask": "Ask one question through the whole pipeline.",
    "query": "Make search queries from conversations.",
    "retrieve": "Find passages for a query or a conversation.",
    "grade": "Grade passages against a query and decide the action.",
    "screen": "Screen prompts and documents: allow or block.",
    "check": "Check answers against their sources.",
    "eval": "Measure the system on labelled data.",
    "refusals": "See and decide the refusals that people report as wrong.",
    "quarantine": "See and decide passages that were taken for planted orders.",
    "review": "See what waits for review, judge turns, list what is unanswered, show figures.",
    "review-link": "Print a link to the reviewers' pages that works once.",
    "ledger": "Read, verify, export and prove the provenance log.",
    "privacy": "Erase, hold, retain and hand out what people wrote.",
    "database": "Make and look at the database that several servers share.",
    "policies": "Show the retrieval and grading policies side by side.",
    "doctor": "Check settings and services, with the fix for each.",
    "settings": "Show every setting: name, default, value, meaning.",
}
"""Name and purpose of every command; the module is `bot.commands.NAME` unless `_MODULES` has another."""

_MODULES = {
    "doctor": "doctor.doctor",
    "eval": "evaluate",
    "index": "search_index",
    "ingest": "ingest.ingest",
    "ledger": "ledger.ledger",
    "quarantine": "reviewing.quarantine",
    "refusals": "reviewing.refusals",
    "review": "reviewing.review",
    "review-link": "reviewing.review_link",
}
"""Commands whose module below `bot.commands` is not called as they are."""
_EXAMPLES = re.compile(r"\n\n(Examples?:\n)")
_DONE, _BAD_INPUT, _SERVICE_FAILED, _INTERRUPTED = 0, 2, 3, 130


class LazyGroup(TyperGroup):
    """A group that imports a command's module when that command is run or its help is asked for.

    `attest --help` and a mistyped name must not pay for numpy, aiohttp and the channel's SDK. Beside `bot.compose.system` this
    module alone imports by need: the commands of the table above, and `bot.compose.system` itself.
    """

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - the base class decides the signature
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002 - as above
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"bot.commands.{_MODULES.get(cmd_name, cmd_name)}")
        command = get_command(module.app)
        command.name = cmd_name
        _keep_examples(command)
        return command

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - as above
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            close = get_close_matches(name, COMMANDS, n=1)
            hint = f"did you mean {close[0]}?" if close else f"commands: {', '.join(COMMANDS)}"
            raise UserError(f"no such command: {name}; {hint}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # typer would turn it into exit code 1, which says that a check found something
            return _reader_gone()


def _keep_examples(command: Any) -> None:
    """Mark the examples of every help text as preformatted: the form of click for that is a line with a backspace."""
    command.help = _EXAMPLES.sub("\n\n\b\n\\1", command.help or "")
    for part in getattr(command, "commands", {}).values():
        _keep_examples(part)


app = typer.Typer(
    cls=LazyGroup,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _say_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"attest {VERSION}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def attest(
    context: typer.Context,
    *,
    version: Annotated[  # noqa: ARG001 - the callback alone uses it
        bool, typer.Option("--version", callback=_say_version, is_eager=True, help="Show the version and end.")
    ] = False,
) -> None:
    """Attest answers from your knowledge base and traces every number, date, link and phone to its source.

    Start with: attest ingest --sample, then attest ask "How long do refunds take?", then attest serve.

    Every command takes --json, or reads and writes JSON lines with --jsonl; `attest COMMAND --help` has examples.
    Exit codes: 0 done, 1 the check found what it looks for, 2 bad input or settings, 3 a service did not answer,
    130 interrupted.
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def _real_wiring() -> Any:
    """The wiring of the product, imported when a command first needs the system."""
    compose = importlib.import_module("bot.compose.system")
    ingest = importlib.import_module("bot.compose.ingest")
    record = importlib.import_module("bot.compose.record")
    wiring = importlib.import_module("bot.commands.shared.wiring")
    return wiring.Wiring(
        compose.compose, ingest.open_ingester, ingest.open_history, record.open_record, record.open_ledger
    )


def main(arguments: Sequence[str] | None = None, wiring: Callable[[], Any] | None = None) -> int:
    """Run `attest` with `arguments` (default: the process's own). Returns the exit code of the contract.

    `wiring` makes a `bot.commands.shared.wiring.Wiring`; None means the real one.
    """
    _speak_utf8()
    try:
        code = get_command(app).main(
            args=arguments, prog_name="attest", standalone_mode=False, obj=wiring or _real_wiring
        )
    except KeyboardInterrupt:
        return _say("interrupted", _INTERRUPTED)
    except BrokenPipeError:
        return _reader_gone()
    except UserError as error:
        return _say(str(error), _BAD_INPUT)
    except AttestError as error:
        return _say(str(error), _SERVICE_FAILED)
    except typer.Abort:
        return _say("interrupted", _INTERRUPTED)
    except typer.TyperException as error:
        return _say(_usage(error), _BAD_INPUT)
    except Exception as error:  # noqa: BLE001 - the last line of defence: a bug still ends in one line
        return _bug(error)
    return code if isinstance(code, int) else _DONE


def _usage(error: typer.TyperException) -> str:
    context = getattr(error, "ctx", None)
    where = context.command_path if context is not None else "attest"
    message = " ".join(error.format_message().split()).rstrip(".")
    return f"{message}; see {where} --help"


def _say(message: str, code: int) -> int:
    line = " ".join(message.split())
    try:
        sys.stderr.write(f"attest: {line}\n")
        sys.stderr.flush()
    except BrokenPipeError:
        return _reader_gone()
    return code


def _bug(error: Exception) -> int:
    if _debugging():
        traceback.print_exception(error)
    message = f"unexpected {type(error).__name__}; this is a bug. ATTEST_LOG_LEVEL=debug shows where it happened"
    return _say(message, _SERVICE_FAILED)


def _debugging() -> bool:
    try:
        settings = importlib.import_module("bot.settings.load").load_settings()
    except Exception:  # noqa: BLE001 - what reports a bug must not end in a second one
        return False
    return bool(settings.log.level == "debug")


def _reader_gone() -> int:
    """The reader of our pipe has left: nothing more can be said, and Python must not try at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            os.dup2(nowhere, stream.fileno())
    return _INTERRUPTED


def _speak_utf8() -> None:
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="backslashreplace")
