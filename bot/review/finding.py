"""`/review/found.csv`, `/review/found.jsonl` and `/review/sample`: what a search of the list found, as a file, and a few of it that chance picks."""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import AsyncIterator, Mapping
from typing import cast

from aiohttp import web

from bot.desk import table
from bot.desk.bundle import write_bundle
from bot.desk.index import STRATA, Desk, Draw
from bot.desk.search import DeskSearch, misread
from bot.http.app_keys import SYSTEM
from bot.http.background.desk import DESK
from bot.http.errors import Refused
from bot.review.desk_page import desk_page
from bot.review.listing import line, reached, refuse
from bot.review.pages import require_session, seen
from bot.review.session import Session
from bot.review.team import own_search
from grounding.errors import InputError

MOST = 50
"""Entries of each stratum that a sample has at most."""
_CHUNK = 64 * 1024
_DIGITS = 15
_BESIDE = ("before", "n", "by", "seed")
"""Names of an address that say which part of a search is meant."""


def draw_of(fields: Mapping[str, str]) -> Draw:
    """From a query string or a form; what is not known there is the default, and a seed that is not given is drawn."""
    given, number, by = fields.get("seed", ""), fields.get("n", ""), fields.get("by", "outcome")
    return Draw(
        min(MOST, max(1, int(number))) if number.isascii() and number.isdigit() and len(number) < 9 else 5,
        by if by in STRATA else "",
        int(given) if _is_seed(given) else secrets.randbelow(1_000_000),
    )


def _is_seed(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _DIGITS


def add_finding(app: web.Application) -> None:
    """The routes; to be added before those of `bot.review.pages`, whose `/review/{entry}` would take them for an entry."""
    app.router.add_get("/review/found.{form}", found, allow_head=False)
    app.router.add_get("/review/sample", sample, allow_head=False)


async def found(request: web.Request) -> web.StreamResponse:
    """All that a search found, or with a seed a sample of it, as a file that is written while it is read."""
    session = await require_session(request)
    form = request.match_info["form"]
    if form == "zip":
        return await _bundle(request, session)
    if form not in table.TYPES:
        raise Refused(404, "not_found", f"A list is downloaded as one of {', '.join(table.TYPES)}.")
    _refuse_misread(request)
    wanted = await own_search(request, DeskSearch.of(request.query).whole())
    desk = request.app[DESK]
    await desk.follow(request.app[SYSTEM].ledger)  # a file that leaves something out would not say so
    draw = _draw_in(request)
    await seen(request, session, f"download {form}", wanted=wanted.conditions | _recorded(draw))
    response = web.StreamResponse(
        headers={"Content-Disposition": f'attachment; filename="{_named(draw)}.{form}"', "Cache-Control": "no-store"}
    )
    response.content_type, response.charset = table.TYPES[form], "utf-8"
    await response.prepare(request)
    async for part in _parts(desk, wanted, draw, cast("table.Form", form)):
        await response.write(part.encode("utf-8", "replace"))
    await response.write_eof()
    return response


async def _bundle(request: web.Request, session: Session) -> web.StreamResponse:
    """What was found with its proofs."""
    _refuse_misread(request)
    system, desk = request.app[SYSTEM], request.app[DESK]
    wanted = await own_search(request, DeskSearch.of(request.query).whole())
    await desk.follow(system.ledger)
    draw = _draw_in(request)
    await seen(request, session, "download zip", wanted=wanted.conditions | _recorded(draw))
    with tempfile.TemporaryFile() as file:
        try:
            await write_bundle(file, desk, system.ledger, system.prove, wanted, draw=draw)
        except InputError as error:
            return _no_bundle(request, wanted, f"{error}.")
        response = web.StreamResponse(
            headers={"Content-Disposition": f'attachment; filename="{_named(draw)}.zip"', "Cache-Control": "no-store"}
        )
        response.content_type = "application/zip"
        response.content_length = file.tell()
        await response.prepare(request)
        file.seek(0)
        while part := file.read(_CHUNK):
            await response.write(part)
        await response.write_eof()
        return response


def _no_bundle(request: web.Request, wanted: DeskSearch, message: str) -> web.Response:
    """Why there is no bundle, with the way back to the search."""
    refused = {"title": "This cannot be bundled", "message": message, "code": "no_bundle", "back": wanted.address()}
    response = desk_page(request, "review/desk.html", refused=refused)
    response.set_status(409)
    return response


def _refuse_misread(request: web.Request) -> None:
    """A file shows no line above it that says what was left out of its search. Raises Refused."""
    told = misread(request.query, beside=_BESIDE) + _odd_draw(request.query)
    if not request.query.get("seed") and ("n" in request.query or "by" in request.query):
        told += ("n and by are of a sample, and its seed is missing",)
    refuse(told)


def _odd_draw(query: Mapping[str, str]) -> tuple[str, ...]:
    """What of a sample was asked for and is none, a line each."""
    number, by, seed = query.get("n", ""), query.get("by", ""), query.get("seed", "")
    told = []
    if seed and not _is_seed(seed):
        told.append(
            f"“{seed[:40]}” is no seed: another sample was drawn. Allowed: a number of at most {_DIGITS} digits"
        )
    if number and not (number.isascii() and number.isdigit() and 1 <= int(number[:9]) <= MOST):
        told.append(f"“{number[:40]}” is no number of entries for a sample: allowed is 1 to {MOST} of each")
    if by and by != "none" and by not in STRATA:
        told.append(f"“{by[:40]}” is nothing to spread a sample over: allowed is {', '.join(STRATA)}, none")
    return tuple(told)


def _draw_in(request: web.Request) -> Draw | None:
    """The sample that an address names; None where it names all that was found."""
    return draw_of(request.query) if request.query.get("seed") else None


def _address(draw: Draw) -> dict[str, str]:
    return {"n": str(draw.number), "by": draw.by or "none", "seed": str(draw.seed)}


def _recorded(draw: Draw | None) -> dict[str, str]:
    return {} if draw is None else _address(draw)


def _named(draw: Draw | None) -> str:
    return "found" if draw is None else "sample"


async def _parts(desk: Desk, wanted: DeskSearch, draw: Draw | None, form: table.Form) -> AsyncIterator[str]:
    part = (table.BYTE_ORDER_MARK if form == "csv" else "") + table.heading(form)
    async for row in desk.rows(wanted, draw):
        part += table.line(row, form)
        if len(part) >= _CHUNK:
            yield part
            part = ""
    yield part


async def sample(request: web.Request) -> web.Response:
    """A sample of a search. Without a seed one is drawn, and the address gets it: the same address shows the same again."""
    session = await require_session(request)
    wanted = await own_search(request, DeskSearch.of(request.query).whole())
    taken = draw_of(request.query)
    if not request.query.get("seed"):
        # all that was asked for goes along, so that what is not understood is told
        raise web.HTTPSeeOther(
            request.rel_url.update_query(_address(taken) | dict(request.query) | {"seed": str(taken.seed)})
        )
    address = wanted.address(**_address(taken))
    desk = request.app[DESK]
    reach = await reached(desk, request.app[SYSTEM].ledger)
    rows = await desk.sample(wanted, taken)
    counts = await desk.count(wanted)
    await seen(request, session, "sample", wanted=wanted.conditions | _recorded(taken))
    return desk_page(
        request,
        "review/sample.html",
        rows=[line(row, []) for row in rows],
        wanted=wanted,
        taken=taken,
        counts=counts,
        reach=reach,
        strata=STRATA,
        address=address,
        misread=misread(request.query, beside=_BESIDE) + _odd_draw(request.query),
    )
