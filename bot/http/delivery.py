"""A response sent to its last byte, and whether its caller was still there to take it."""

from __future__ import annotations

from aiohttp import web

from bot.turn.entries.delivery import Delivery

GONE = "client_gone"
"""Why a response failed: the caller's connection was closed before the last byte was taken."""


async def sent_whole(request: web.Request, response: web.StreamResponse, delivery: Delivery) -> Delivery:
    """Send what is left of `response` and say what became of it. Delivered: this machine's network took every byte while the connection
    stood; whether a program behind it read them, HTTP does not tell.
    """
    wait_for_all(request)
    try:
        await response.prepare(request)
        delivery = delivery.began()
        await response.write_eof()
    except ConnectionError:
        return delivery.ended(GONE)
    return delivery.ended(GONE if is_gone(request) else None)


def wait_for_all(request: web.Request) -> None:
    """From now on sending to this caller ends when all is taken, not when most of it is."""
    if request.transport is not None:
        request.transport.set_write_buffer_limits(0)


def is_gone(request: web.Request) -> bool:
    """True if the caller hung up."""
    return request.transport is None or request.transport.is_closing()
