"""`attest serve`: runs the bot and the pages until it is stopped."""

from __future__ import annotations

import signal
from collections.abc import Callable
from dataclasses import asdict
from typing import Annotated

import typer

from bot.commands.ingest.sample import SAMPLE_COMPANY, ingest_sample
from bot.commands.shared import options
from bot.commands.shared.output import emit_line, note
from bot.commands.shared.startup import make_home, run, settings_of, warn_of_unknown_names
from bot.commands.shared.wiring import wiring_of
from bot.observability.logs import log_to_stderr
from bot.server.addresses import Addresses
from bot.server.serve import MAX_WORKERS, listening, serve_on, serve_with_workers
from bot.settings.settings import Settings

app = options.command_app()


@app.command()
def serve(
    context: typer.Context,
    *,
    host: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Address to listen on; default: ATTEST_HOST, 127.0.0.1.")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=0, max=65535, help="Port to listen on, 0 picks a free one; default: ATTEST_PORT, 3978."
        ),
    ] = None,
    workers: Annotated[
        int,
        typer.Option(metavar="N", min=1, max=MAX_WORKERS, help="Processes that share the port."),
    ] = 1,
    sample: Annotated[
        bool, typer.Option("--sample", help="Take in the knowledge base that comes with the product first.")
    ] = False,
    json: options.JsonFlag = False,
) -> None:
    """Run the bot and the pages until Ctrl-C or SIGTERM; turns in hand are finished first.

    Prints the chat page, the endpoint for Bot Framework Emulator or Agents Playground, the reviewers' page with a link
    that works once, and what local mode means. ATTEST_BOT_APP_ID, ATTEST_API_KEYS, ATTEST_PUBLIC_URL or a host off
    loopback end local mode: then there is no chat page, and every request needs a key or a token of the channel.

    Examples:
      attest serve --sample
      attest serve --port 8080
      attest serve --host 0.0.0.0 --workers 4
    """
    settings = served(host, port, sample=sample)
    log_to_stderr(settings)
    warn_of_unknown_names()
    announce = _as_json if json else _as_lines
    if sample:
        with listening(settings):  # a port that is taken is said before the work, not after it
            ingest_sample(settings)
    make_home(settings)
    if workers > 1:
        stopped_by = serve_with_workers(settings, workers, announce, make=wiring_of(context).compose)
    else:
        stopped_by = run(_serve(context, settings, announce))
    note("stopped")
    raise typer.Exit(130 if stopped_by == signal.SIGINT else 0)


def served(host: str | None, port: int | None, *, sample: bool) -> Settings:
    """The settings of a server; one over the sample calls the company by its name, unless they name another. Raises SettingsError."""
    settings = settings_of(host=host, port=port)
    named = not sample or "company" in settings.answering.model_fields_set
    return settings if named else settings_of(host=host, port=port, company=SAMPLE_COMPANY)


async def _serve(context: typer.Context, settings: Settings, announce: Callable[[Addresses], None]) -> int:
    with listening(settings) as listener:
        return await serve_on(listener, settings, announce, make=wiring_of(context).compose)


def _as_json(addresses: Addresses) -> None:
    emit_line(asdict(addresses))


def _as_lines(addresses: Addresses) -> None:
    for line in addresses.lines():
        typer.echo(line)
