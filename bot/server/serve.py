"""Runs the bot and the pages, in one process or in several that share one listening socket, until a signal asks to stop."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import multiprocessing
import os
import signal
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from multiprocessing.synchronize import Event

from aiohttp import web

from bot.compose.system import compose
from bot.events.running import recorded_run
from bot.http.app_keys import ANSWER, DELIVERIES, LIMITER
from bot.observability.logs import log_to_stderr
from bot.review.session import new_token
from bot.server.addresses import Addresses, addresses_of
from bot.server.app import build_app
from bot.settings.settings import Settings
from bot.system import System
from bot.teams.endpoint import add_routes
from bot.teams.extension.knowledge import PersonsKnowledge
from grounding.errors import ServiceUnavailable, SettingsError

log = logging.getLogger(__name__)

_BACKLOG = 512
_STARTING_S = 120.0
_AFTER_DRAIN_S = 5.0
MOST_ENDED, WITHIN_S = 5, 60.0
"""Processes that may end by themselves within so many seconds before the server gives up."""
MAX_WORKERS = 64
"""Processes that may share a socket."""


@dataclass(frozen=True, slots=True)
class ServingProcess:
    """One of the processes that share a socket. `token` opens the reviewers' pages once; None makes one in local mode, an empty one is none: another process keeps it."""

    worker: int = 1
    workers: int = 1
    token: str | None = None


ONLY = ServingProcess()


async def serve(settings: Settings, on_ready: Callable[[str], None]) -> None:
    """Serve until SIGTERM or SIGINT, then drain. `on_ready` gets four lines once requests are taken.

    Raises SettingsError for an address that cannot be used, and what `compose` raises.
    """

    def announce(addresses: Addresses) -> None:
        for line in addresses.lines():
            on_ready(line)

    with listening(settings) as listener:
        await serve_on(listener, settings, announce)


async def serve_on(
    listener: socket.socket,
    settings: Settings,
    announce: Callable[[Addresses], None],
    *,
    place: ServingProcess = ONLY,
    make: Callable[[Settings], Awaitable[System]] = compose,
) -> int:
    """Serve on a bound socket until a signal asks to stop. Returns the signal's number. Start and stop are recorded.

    `place`: which of the processes this is that share the socket.
    """
    system = await make(settings)
    try:
        async with recorded_run(system, place.worker, place.workers) as run:
            run.signal = await _served(system, listener, settings, announce, place)
            return run.signal
    finally:
        await system.close()


async def _served(
    system: System,
    listener: socket.socket,
    settings: Settings,
    announce: Callable[[Addresses], None],
    place: ServingProcess,
) -> int:
    """Take requests until a signal asks to stop, and finish those in hand. Returns the signal's number."""
    token = first_token(settings) if place.token is None else place.token
    app = build_app(system, review_token=token, worker=place.worker, workers=place.workers)
    add_routes(
        app,
        settings,
        app[ANSWER],
        system.ledger,
        deliveries=app[DELIVERIES],
        knowledge=PersonsKnowledge(system),
        limits=app[LIMITER],
    )
    runner = web.AppRunner(
        app,
        handle_signals=False,
        access_log=None,
        shutdown_timeout=settings.bounds.turn_deadline_s,
        auto_decompress=False,  # nobody who may send compresses, and a bomb would
    )
    await runner.setup()
    try:
        await web.SockSite(runner, listener, backlog=_BACKLOG).start()
        with _stop_signal() as stopped:
            announce(addresses_of(settings, listener.getsockname()[1], token))
            system.warm()
            return await stopped
    finally:
        await runner.cleanup()


@contextlib.contextmanager
def listening(settings: Settings) -> Iterator[socket.socket]:
    """A socket bound to the settings' address. Raises SettingsError: one line that says what to change."""
    if settings.bot.app_id is None and not settings.serving.api_keys and not settings.serving.on_loopback:
        raise SettingsError(
            f"ATTEST_HOST={settings.serving.host}: an anonymous bot serves this machine only; use --host 127.0.0.1, or set "
            "ATTEST_BOT_APP_ID and ATTEST_BOT_APP_PASSWORD, or ATTEST_API_KEYS"
        )
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            settings.serving.host, settings.serving.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except (OSError, UnicodeError):
        raise SettingsError(f"ATTEST_HOST={settings.serving.host}: not an address or name of this machine") from None
    with socket.socket(family, kind, protocol) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(address)
            listener.listen(_BACKLOG)  # now, not when requests are taken: two servers may bind, only one may listen
        except OSError as error:
            raise SettingsError(_cannot_bind(settings, error)) from None
        yield listener


def first_token(settings: Settings) -> str:
    """The token that opens the reviewers' pages once after a start. Empty outside local mode, where `attest review-link` makes one when it is wanted."""
    return new_token() if settings.local_mode and settings.review_links else ""


def serve_with_workers(
    settings: Settings,
    count: int,
    announce: Callable[[Addresses], None],
    *,
    make: Callable[[Settings], Awaitable[System]] = compose,
) -> int:
    """Serve with `count` processes that accept from one socket until a signal. Returns the signal's number.

    Each process builds its own system over the same home; the first is ready before the others start, so that files
    are made once. `make` must be a function of a module, for it is sent to the processes. Another takes the place of one that ends by itself. Raises ServiceUnavailable when
    they do so again and again (`MOST_ENDED` within `WITHIN_S`) or do not start: the others are stopped.
    """
    workers: list[BaseProcess] = []
    token = first_token(settings)
    with listening(settings) as listener, _waker() as (woken, received):

        def started(place: ServingProcess) -> BaseProcess:
            spawning = multiprocessing.get_context("spawn")
            ready = spawning.Event()
            args = (settings, listener, ready, make, place)
            worker = spawning.Process(target=_work, args=args, name=f"attest-worker-{place.worker}")
            worker.start()
            try:
                _await_ready(worker, ready, woken)
            except ServiceUnavailable:
                worker.kill()  # nobody else knows it, and it would be waited for
                raise
            return worker

        try:
            for number in range(count):
                workers.append(started(ServingProcess(number + 1, count, "" if workers else token)))
            if not received:
                announce(addresses_of(settings, listener.getsockname()[1], token))
            ended: list[float] = []
            while not received:
                wait([woken, *(worker.sentinel for worker in workers)])
                for at, worker in enumerate(workers):
                    if received or worker.is_alive():
                        continue
                    _count_ended(ended, worker)
                    log.error("worker %d %s; another takes its place", at + 1, _how(worker))
                    # one that is ended while it starts is looked at again
                    with contextlib.suppress(ServiceUnavailable):
                        workers[at] = started(ServingProcess(at + 1, count, ""))
            return received[0]
        finally:
            _stop(workers, settings.bounds.turn_deadline_s)


def _count_ended(ended: list[float], worker: BaseProcess) -> None:
    """Note that a worker ended or did not start. Raises ServiceUnavailable at the one of `WITHIN_S` seconds that is one too many."""
    ended[:] = [*(when for when in ended if when > time.monotonic() - WITHIN_S), time.monotonic()]
    if len(ended) > MOST_ENDED:
        raise ServiceUnavailable("serve", f"workers end again and again, the last {_how(worker)}")


def _how(worker: BaseProcess) -> str:
    """How a process ended: by which signal, or with which code."""
    code = worker.exitcode or 0
    if code >= 0:
        return f"ended with code {code}"
    return f"was ended by {signal.Signals(-code).name}"


def _work(
    settings: Settings,
    listener: socket.socket,
    ready: Event,
    make: Callable[[Settings], Awaitable[System]],
    place: ServingProcess,
) -> None:
    log_to_stderr(settings)
    threading.Thread(target=_end_with_parent, args=(settings.bounds.turn_deadline_s,), daemon=True).start()
    asyncio.run(serve_on(listener, settings, lambda _: ready.set(), make=make, place=place))


def _end_with_parent(drain_s: float) -> None:
    """Stop this process when the one that started it is gone, even by SIGKILL: nobody else would free the port."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return
    wait([parent.sentinel])
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(drain_s + _AFTER_DRAIN_S)
    os._exit(1)


def _await_ready(worker: BaseProcess, ready: Event, woken: Connection) -> None:
    waited = 0.0
    while not ready.wait(0.1) and not woken.poll():
        waited += 0.1
        if not worker.is_alive() or waited > _STARTING_S:
            raise ServiceUnavailable("serve", "a worker did not start; its reason stands above")


def _stop(workers: list[BaseProcess], drain_s: float) -> None:
    for worker in workers:
        worker.terminate()
    for worker in workers:
        worker.join(drain_s + _AFTER_DRAIN_S)
        if worker.is_alive():
            worker.kill()
            worker.join()


@contextlib.contextmanager
def _waker() -> Iterator[tuple[Connection, list[int]]]:
    """A connection that becomes readable at SIGTERM or SIGINT, and the list that then holds the signal's number."""
    reader, writer = multiprocessing.Pipe(duplex=False)
    received: list[int] = []

    def note(number: int, _frame: object) -> None:
        received.append(number)
        writer.send_bytes(b"!")

    before = {number: signal.signal(number, note) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield reader, received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        reader.close()
        writer.close()


@contextlib.contextmanager
def _stop_signal() -> Iterator[asyncio.Future[int]]:
    """A future of the first SIGTERM or SIGINT; a second one acts as if nobody listened, so that nobody is held up."""
    loop = asyncio.get_running_loop()
    stopped: asyncio.Future[int] = loop.create_future()
    numbers = (signal.SIGTERM, signal.SIGINT)

    def stop(number: int) -> None:
        for other in numbers:
            loop.remove_signal_handler(other)
        if not stopped.done():
            stopped.set_result(number)

    for number in numbers:
        loop.add_signal_handler(number, stop, number)
    try:
        yield stopped
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)


def _cannot_bind(settings: Settings, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"port {settings.serving.port} on {settings.serving.host} is taken; choose another with --port N (0 picks a free one)"
    if error.errno == errno.EACCES:
        return f"port {settings.serving.port} needs rights that this user does not have; choose one above 1023 with --port N"
    return f"ATTEST_HOST={settings.serving.host}: not an address of this machine"
