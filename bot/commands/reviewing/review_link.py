"""`attest review-link`: prints a link to the reviewers' pages of the server on this machine, which works once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer

from bot.commands.shared import options
from bot.commands.shared.output import emit, note
from bot.commands.shared.startup import run, settings_of, warn_of_unknown_names
from bot.places import is_there, places_of
from bot.review.session import LINK_SECONDS, ReviewAccess
from bot.server.addresses import base_url, review_link
from bot.settings.settings import Settings
from bot.state import State
from grounding.errors import SettingsError

app = options.command_app()


@app.command()
def link(
    *,
    port: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, max=65535, help="Port that the server was started with; default: ATTEST_PORT."
        ),
    ] = None,
    revoke: Annotated[
        bool, typer.Option("--revoke", help="End every reviewer's session and every unused link, and print none.")
    ] = False,
    json: options.JsonFlag = False,
) -> None:
    """Print a link to the reviewers' pages. It works once, within 15 minutes, and admits that browser for eight hours.

    Where reviewers sign in (ATTEST_SIGNIN_ISSUER), links open nothing unless ATTEST_REVIEW_LINKS=on; --revoke ends sign-ins too.

    It is for the machine that the server runs on, by the user that it runs as: the link is written into the state of
    ATTEST_HOME, where the server finds it, however many workers it has. Nothing on the network makes one.

    Examples:
      attest review-link
      attest review-link --port 8080
      attest review-link --revoke
    """
    settings = settings_of(port=port)
    warn_of_unknown_names()
    token = run(_offered(settings, revoke=revoke))
    if token is None:
        _say_revoked(as_json=json)
        return
    until = datetime.now(UTC) + timedelta(seconds=LINK_SECONDS)
    found = review_link(base_url(settings, settings.serving.port), token)
    if json:
        emit({"review": found, "until": until.isoformat(timespec="seconds")})
        return
    typer.echo(found)
    note(f"works once, within {LINK_SECONDS // 60} minutes")


async def _offered(settings: Settings, *, revoke: bool) -> str | None:
    """The token of a new link; None if everything was revoked. Raises SettingsError where a link would open nothing, or no server has kept its state, StoreError."""
    if not revoke and not settings.review_links:
        raise SettingsError(
            "links open nothing here, because reviewers sign in; ATTEST_REVIEW_LINKS=on lets them, without a name in the record"
        )
    if not revoke and settings.serving.port == 0 and settings.serving.public_url is None:
        raise SettingsError("ATTEST_PORT=0 does not say where the server is: give its port with --port N")
    place = places_of(settings).state
    if not is_there(place):  # made here, it could belong to another user than the server's
        raise SettingsError(
            f"ATTEST_HOME={settings.files.home}: no server has run over this home; start attest serve first, or name its home"
        )
    state = State(place)
    await state.open()
    try:
        access = ReviewAccess(state)
        if not revoke:
            return await access.offer()
        await access.revoke()
        return None
    finally:
        await state.close()


def _say_revoked(*, as_json: bool) -> None:
    if as_json:
        emit({"revoked": True})
        return
    note("every reviewer's session is ended, and every unused link")
