"""`POST /api/ask` and `POST /api/check`: the contract's JSON forms over HTTP."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Awaitable
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeVar

from aiohttp import web

from bot.events.digests import Digests
from bot.events.looks import record_check
from bot.http import json_forms
from bot.http.app_keys import ANSWER, DELIVERIES, LIMITER, METRICS, SYSTEM
from bot.http.delivery import GONE, is_gone, sent_whole, wait_for_all
from bot.http.errors import Refused, describe, error_json
from bot.http.guard import caller
from bot.http.rate_limit import CHECK_COST
from bot.http.report_page import report_page
from bot.records import Actor, Ask, Reply, Stage
from bot.system import CheckRequest
from bot.turn.entries.delivery import Delivery
from bot.turn.entries.disputes import Reporter, report
from bot.view.report import report_view
from grounding.errors import InputError
from rai.records import Report

T = TypeVar("T")
Checked = tuple[CheckRequest, Report]
LOOK_SECONDS = 0.2
"""How often a running turn looks whether its caller is still there."""
PING_SECONDS = 10.0
"""Silence on an event stream after which a comment is sent, so that proxies keep it open."""


class ClientGone(Exception):
    """The caller hung up; nobody waits for the result."""


async def ask(request: web.Request) -> web.StreamResponse:
    """One turn: JSON, or events when the caller accepts `text/event-stream`. A caller who leaves cancels the turn."""
    turn = json_forms.parse_ask(await _body(request), request.app[SYSTEM].settings.answering.policy)
    _require_stranger(request, turn.user)
    turn = replace(turn, actor=_actor(request, turn.user))
    await _spend(request, f"as {turn.user}" if turn.user else caller(request), 1.0)
    if "text/event-stream" in request.headers.get("Accept", ""):
        return await _stream(request, turn)
    try:
        reply = await _while_connected(request, request.app[ANSWER](turn, None))
    except ClientGone:
        return web.Response(status=499, reason="Client Closed Request")
    response = web.json_response(reply.as_json())
    request.app[DELIVERIES].soon(await sent_whole(request, response, Delivery(reply.entry_id, turn.channel)))
    return response


async def check(request: web.Request) -> web.Response:
    """One `check` form, or `{"items": [...]}` with many; a bad item gives an error in its place.

    A caller who accepts `text/html` and not JSON gets one form's report as a page. What was checked is recorded before it leaves: where
    that cannot be, nothing does.
    """
    data = await _body(request)
    items = json_forms.parse_items(data) if "items" in data else None
    await _spend(request, f"check {caller(request)}", CHECK_COST * max(1, len(items or ())))
    done: list[Checked] = []
    if items is None and _wants_page(request):
        response = await _check_page(request, data, done)
    elif items is None:
        response = web.json_response(await _check_one(request, data, done))
    else:
        results = [await _check_item(request, item, index + 1, done) for index, item in enumerate(items)]
        response = web.json_response({"items": results})
    await _record_checks(request, done, refused=len(items or done) - len(done))
    return response


async def report_refusal(request: web.Request) -> web.Response:
    """Report the refusal of one's own question as wrong: `{"entry_id", "comment"?, "as"?}`; a second time changes nothing."""
    form = json_forms.parse_report(await _body(request))
    _require_stranger(request, form.user)
    await _spend(request, f"as {form.user}" if form.user else caller(request), CHECK_COST)
    who = Reporter(form.user, "http", actor=_actor(request, form.user))
    try:
        entry, new = await report(request.app[SYSTEM].ledger, form.entry_id, who, form.comment)
    except InputError as error:
        raise Refused(404, error.code, str(error)) from None
    return web.json_response({"entry_id": form.entry_id, "report": entry.entry_id, "new": new})


def _actor(request: web.Request, user: str | None) -> Actor:
    """Who asks, for the record."""
    return Actor(user, caller(request).replace("-", " "))


def _require_stranger(request: web.Request, user: str | None) -> None:
    if user is not None and not request.app[SYSTEM].settings.local_mode:
        raise Refused(403, "as_not_allowed", "as works in local mode only; a key asks as a stranger")


def _wants_page(request: web.Request) -> bool:
    accepted = [kind.partition(";")[0].strip() for kind in request.headers.get("Accept", "").lower().split(",")]
    return "text/html" in accepted and "application/json" not in accepted


async def _check_page(request: web.Request, data: dict[str, Any], done: list[Checked]) -> web.Response:
    identifier, form = json_forms.check_id(data), json_forms.parse_check(data)
    report = await _checked(request, form, done)
    view = report_view(identifier, form.answer, report, form.sources, question=form.question)
    return web.Response(text=report_page([view], alone=False), content_type="text/html")


async def _check_one(request: web.Request, data: dict[str, Any], done: list[Checked]) -> dict[str, Any]:
    identifier = json_forms.check_id(data)
    return json_forms.report_json(identifier, await _checked(request, json_forms.parse_check(data), done))


async def _checked(request: web.Request, form: CheckRequest, done: list[Checked]) -> Report:
    report = await request.app[SYSTEM].check(form)
    request.app[METRICS].checks.labels(report.verdict).inc()
    done.append((form, report))
    return report


async def _record_checks(request: web.Request, done: list[Checked], *, refused: int) -> None:
    """One entry for the request, none if nothing of it could be checked. Raises StoreError."""
    if done:
        system = request.app[SYSTEM]
        digests = Digests(system.settings.files.ledger_key)
        await record_check(system.ledger, digests, _actor(request, None), done, refused=refused)


async def _check_item(request: web.Request, item: Any, line: int, done: list[Checked]) -> dict[str, Any]:
    try:
        if not isinstance(item, dict):
            raise InputError(f"items[{line - 1}] must be an object in the check form")
        return await _check_one(request, item, done)
    except InputError as error:
        identifier = item.get("id") if isinstance(item, dict) else None
        known = identifier if isinstance(identifier, str) else ""
        return {"id": known, "line": line, **error_json(error.code, str(error))}


async def _body(request: web.Request) -> dict[str, Any]:
    if request.content_type != "application/json":
        raise Refused(415, "unsupported_media_type", "Content-Type must be application/json")
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise Refused(415, "unsupported_media_type", "a compressed body is not read; send it as it is")
    return json_forms.parse_json(await request.read())


async def _spend(request: web.Request, who: str, cost: float) -> None:
    wait = await request.app[LIMITER].take(who, cost)
    if wait:
        allowed = request.app[SYSTEM].settings.serving.rate_per_minute
        seconds = max(1, math.ceil(wait))
        message = f"too many requests: {allowed} turns a minute are allowed; try again in {seconds} s"
        raise Refused(429, "rate_limited", message, {"Retry-After": str(seconds)})


async def _while_connected(request: web.Request, work: Awaitable[T]) -> T:
    """The result of `work`, which is cancelled if the caller hangs up first. Raises ClientGone."""
    task = asyncio.ensure_future(work)
    try:
        while not task.done():
            await asyncio.wait({task}, timeout=LOOK_SECONDS)
            if not task.done() and is_gone(request):
                raise ClientGone
        return task.result()
    finally:
        await _end(task)


async def _end(task: asyncio.Future[Any]) -> None:
    if not task.done():
        task.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await task


class _Events:
    """An open event stream."""

    def __init__(self, response: web.StreamResponse) -> None:
        self._response = response

    async def send(self, name: str, data: object) -> None:
        text = json.dumps(data, ensure_ascii=False)
        await self._response.write(f"event: {name}\ndata: {text}\n\n".encode())

    async def ping(self) -> None:
        await self._response.write(b": still working\n\n")


async def _stream(request: web.Request, turn: Ask) -> web.StreamResponse:
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    response = web.StreamResponse(headers=headers)
    response.content_type = "text/event-stream"
    response.charset = "utf-8"
    wait_for_all(request)
    await response.prepare(request)
    events = _Events(response)
    stages: asyncio.Queue[Stage] = asyncio.Queue()
    task = asyncio.ensure_future(request.app[ANSWER](turn, stages.put))
    try:
        await _play(request, task, stages, events)
    except (ClientGone, ConnectionError):
        delivery = Delivery("", turn.channel).ended(GONE)
    else:
        delivery = await sent_whole(request, response, Delivery("", turn.channel))
    if reply := _ended_with(task):
        request.app[DELIVERIES].soon(replace(delivery, entry_id=reply.entry_id))
    return response


def _ended_with(task: asyncio.Future[Reply]) -> Reply | None:
    """The reply of a turn that has one; None for one that was broken off or raised."""
    return None if not task.done() or task.cancelled() or task.exception() else task.result()


async def _play(
    request: web.Request, task: asyncio.Future[Reply], stages: asyncio.Queue[Stage], events: _Events
) -> None:
    """Stages as they begin, then the reply or an error. Raises ClientGone or ConnectionError."""
    quiet = 0.0
    try:
        while not (task.done() and stages.empty()):
            stage = await _next(stages, task)
            if stage is not None:
                await events.send("stage", {"name": stage.name, "label": stage.label})
                quiet = 0.0
                continue
            if is_gone(request):
                raise ClientGone
            quiet += LOOK_SECONDS
            if quiet >= PING_SECONDS:
                await events.ping()
                quiet = 0.0
        await _conclude(task, events)
    finally:
        await _end(task)


async def _next(stages: asyncio.Queue[Stage], task: asyncio.Future[Any]) -> Stage | None:
    """The next stage, or None when the turn ended or nothing happened for a while."""
    getter = asyncio.ensure_future(stages.get())
    try:
        await asyncio.wait({getter, task}, timeout=LOOK_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        return getter.result() if getter.done() else None
    finally:
        getter.cancel()


async def _conclude(task: asyncio.Future[Any], events: _Events) -> None:
    error = task.exception()
    if error is None:
        await events.send("reply", task.result().as_json())
        return
    if not isinstance(error, Exception):
        raise error
    status, code, message = describe(error)
    await events.send("error", {"status": status, **error_json(code, message)})
