"""`POST /api/messages`: the guarded way in. Every check stands here or in `guard.py`, before any SDK sees the request.

Status: 202 taken, the answer follows by itself · 200 answered in the body (invokes, expectReplies) · 400 not an
activity we can use · 401 not from the channel · 403 wrong tenant, or a foreign page · 413 too large · 415 not JSON ·
501 an invoke that the bot does not have · 503 try again later.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress

import aiohttp
from aiohttp import http_exceptions, web

from bot.http.delivery import sent_whole
from bot.http.forwarding import left_by_proxy
from bot.http.rate_limit import Limits, RateLimiter
from bot.places import places_of
from bot.records import Answer
from bot.settings.settings import Settings
from bot.state import State
from bot.teams.delivery.outbox import Outbox
from bot.teams.delivery.undelivered import Undelivered
from bot.teams.extension.knowledge import PersonsKnowledge
from bot.teams.guard import (
    MAX_BYTES,
    RefusedRequest,
    check_local_request,
    check_service_url,
    check_tenant,
    read_activity,
)
from bot.teams.handler import ActivityHandler, Result
from bot.teams.history import ConversationHistory
from bot.teams.inbox import LEASE_S, Inbox
from bot.teams.ports import Json, KeysUnavailable, SendFailed, Transport, Unauthorized
from bot.teams.transports.chosen import transport_for
from bot.teams.worker import Busy, Worker
from bot.turn.entries.delivery import Deliveries
from grounding.errors import AttestError, StoreError, kind_and_place
from rai.ports import Ledger

log = logging.getLogger(__name__)

PATH = "/api/messages"
READ_TIMEOUT_S = 30.0
TRIM_EVERY_S = 3600.0
TAKEN_OVER_AT_ONCE = 100
_BODY_UNREAD = frozenset({408, 413, 415})
"""After these the rest of the body may still be on its way; the connection is not used again."""


def add_routes(
    app: web.Application,
    settings: Settings,
    answer: Answer,
    ledger: Ledger,
    *,
    deliveries: Deliveries | None = None,
    transport: Transport | None = None,
    lease_s: float = LEASE_S,
    knowledge: PersonsKnowledge | None = None,
    limits: Limits | None = None,
) -> None:
    """Register the bot's route on `app`; it opens with the application and drains when that shuts down.

    `deliveries` writes what became of the replies, None: into `ledger`, uncounted; whoever gives it drains it. `knowledge`: what the message extension searches; None: there is none.
    `limits`: how often a person may ask; None: as the settings say, counted by this process. `transport` replaces
    that of the settings, `lease_s` is the time after which another process takes over unfinished turns. Raises SettingsError when the registration is incomplete.
    """
    endpoint = BotEndpoint(
        settings,
        answer,
        ledger,
        deliveries=deliveries or Deliveries(ledger),
        transport=transport or transport_for(settings),
        lease_s=lease_s,
        knowledge=knowledge,
        limits=limits or Limits(RateLimiter(settings.serving.rate_per_minute), None),
    )
    app.router.add_post(PATH, endpoint.handle)
    app.on_startup.append(endpoint.open)
    app.on_shutdown.append(endpoint.drain)
    app.on_cleanup.append(endpoint.close)


class BotEndpoint:
    """The handler with everything behind it, from start to shutdown."""

    def __init__(
        self,
        settings: Settings,
        answer: Answer,
        ledger: Ledger,
        *,
        deliveries: Deliveries,
        transport: Transport,
        lease_s: float,
        knowledge: PersonsKnowledge | None,
        limits: Limits,
    ) -> None:
        self._settings = settings
        self._deliveries = deliveries
        self._transport = transport
        self._lease = lease_s
        self._state = State(places_of(settings).state)
        self._inbox = Inbox(self._state, lease_s=lease_s)
        self._history = ConversationHistory(self._state, days=settings.retention.state_days)
        self._worker = Worker()
        self._turns = ActivityHandler(
            settings,
            answer,
            ledger,
            inbox=self._inbox,
            history=self._history,
            outbox=Outbox(transport),
            undelivered=Undelivered(self._state),
            deliveries=deliveries,
            worker=self._worker,
            limits=limits,
            knowledge=knowledge,
        )
        self._caretaker: asyncio.Task[None] | None = None
        self._draining = False
        self._tenants = settings.bot.tenants or ((settings.bot.tenant_id,) if settings.bot.tenant_id else ())

    async def open(self, _: web.Application) -> None:
        """Open the state, the transport, and take over what a process before this one left behind."""
        await self._state.open()
        await self._transport.start()
        self._caretaker = asyncio.create_task(self._care())
        if self._settings.bot.app_id is None and not self._settings.local_mode:
            log.warning("no ATTEST_BOT_APP_ID: %s refuses everyone, because this is not local mode", PATH)
        elif self._settings.bot.app_id and not self._tenants:
            log.warning("no ATTEST_TENANTS and no ATTEST_BOT_TENANT_ID: %s refuses every tenant", PATH)

    async def drain(self, _: web.Application) -> None:
        """Finish what is in hand; what cannot be finished is left to the next process."""
        self._draining = True  # from now on nothing is taken over, and what is in hand is held on to
        await self._worker.drain(self._settings.bounds.turn_deadline_s)
        if self._turns.extension is not None:
            await self._turns.extension.drain()
        if self._caretaker is not None:
            self._caretaker.cancel()
            await asyncio.gather(self._caretaker, return_exceptions=True)
        with suppress(StoreError):
            await self._turns.end_rest()
        await self._inbox.release(self._turns.working)

    async def close(self, _: web.Application) -> None:
        """Close the transport and the state, when it is written what became of the last replies."""
        await self._deliveries.drain()
        await self._transport.close()
        await self._state.close()

    async def handle(self, request: web.Request) -> web.Response:
        """Check, authenticate, hand over."""
        try:
            activity = await self._admit(request)
            result = await self._turns.receive(activity)
        except RefusedRequest as refusal:
            return _error(refusal.status, refusal.reason)
        except Unauthorized as error:
            log.info("unauthorized request: %s", error)
            return _error(401, "unauthorized")
        except KeysUnavailable:
            return _error(503, "signing keys unavailable")
        except (Busy, AttestError, SendFailed, TimeoutError) as error:
            log.warning("an activity was not taken: %s", type(error).__name__)
            return _error(503, "try again later")
        response = _response(result)
        if result.delivery is not None:
            self._deliveries.soon(await sent_whole(request, response, result.delivery))
        return response

    async def _admit(self, request: web.Request) -> Json:
        if request.content_type.lower() != "application/json" or "Content-Type" not in request.headers:
            raise RefusedRequest(415, "content type")
        if request.headers.get("Content-Encoding", "identity").lower() != "identity":
            raise RefusedRequest(415, "content encoding")  # no channel compresses; a bomb would
        if (request.content_length or 0) > MAX_BYTES:
            raise RefusedRequest(413, "size")
        activity = read_activity(await _read(request), request.charset)
        hosts, on_loopback = self._settings.bot.service_url_hosts, self._settings.serving.on_loopback
        check_service_url(activity["serviceUrl"], hosts, loopback=on_loopback)
        if self._settings.bot.app_id is None:
            if not self._settings.local_mode:
                raise Unauthorized("anonymous requests are for local mode only")
            if left_by_proxy(request) is not None:
                raise RefusedRequest(403, "forwarded")
            check_local_request(request.headers.get("Host"), request.headers.get("Origin"))
        await self._transport.authenticate(activity, request.headers.get("Authorization", ""))
        if self._settings.bot.app_id is not None:
            check_tenant(activity, self._tenants)
        return activity

    async def _care(self) -> None:
        """Renew the leases in hand, take over lapsed ones, deliver what waits, delete what is old."""
        trimmed, told = 0.0, ""
        while True:
            try:
                await self._inbox.renew(dict(self._turns.working))
                await self._turns.end_rest()
                if not self._draining:
                    await self._take_over()
                    await self._turns.deliver_waiting()
                now = asyncio.get_running_loop().time()
                if not trimmed or now - trimmed > TRIM_EVERY_S:
                    trimmed = now
                    await self._inbox.trim(self._settings.retention.state_days * 86400.0)
                if told:
                    log.info("looking after the inbox: as before")
                told = ""
            except Exception as error:  # noqa: BLE001  # without it nothing is held on to, and others do everything again
                known = isinstance(error, AttestError | Busy)
                why = f"{type(error).__name__}: {error}" if known else kind_and_place(error)
                if told != (told := why):  # it is tried every second
                    log.warning("looking after the inbox: %s", told)
            await asyncio.sleep(self._lease / 3.5)

    async def _take_over(self) -> None:
        """Go on with what was left, as much as there is room for; what there is none for, for new work came meanwhile, is let go of again. Raises StoreError."""
        claimed = await self._inbox.take_over(min(TAKEN_OVER_AT_ONCE, self._worker.room))
        for n, found in enumerate(claimed):
            try:
                await self._turns.resume(found)
            except Busy:
                await self._inbox.release({left.key: left.number for left in claimed[n:]})
                return


async def _read(request: web.Request) -> bytes:
    """The body, up to the limit whatever its headers say. Raises RefusedRequest."""
    parts = bytearray()
    try:
        async with asyncio.timeout(READ_TIMEOUT_S):
            async for part in request.content.iter_any():
                parts += part
                if len(parts) > MAX_BYTES:
                    raise RefusedRequest(413, "size")
    except TimeoutError:
        raise RefusedRequest(408, "body") from None
    except (aiohttp.ClientPayloadError, http_exceptions.HttpProcessingError, web.RequestPayloadError):
        raise RefusedRequest(400, "body") from None
    return bytes(parts)


def _error(status: int, reason: str) -> web.Response:
    headers = {"Retry-After": "5"} if status == 503 else None
    response = web.json_response({"error": reason}, status=status, headers=headers)
    if status in _BODY_UNREAD:
        response.force_close()
    return response


def _response(result: Result) -> web.Response:
    if result.body is None:
        return web.Response(status=result.status)
    return web.json_response(result.body, status=result.status)
