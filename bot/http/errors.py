"""Errors as HTTP: one clear line for the caller, an id for what we did not foresee, never a traceback."""

from __future__ import annotations

import logging
import secrets
import traceback
from collections.abc import Awaitable, Callable, Mapping

from aiohttp import web

from bot.http.responses import page
from bot.wording.evidence import EvidenceWords
from bot.wording.refusals import FALLBACK
from grounding.errors import AttestError, InputError, ServiceError, StoreError, UserError, WorkOverran

LOG = logging.getLogger("attest.http")
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Refused(Exception):
    """A request that is understood and not served. `message` is one line for the caller, with its title in `language` where a page shows it."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        headers: Mapping[str, str] | None = None,
        *,
        title: str | None = None,
        language: str = FALLBACK,
    ) -> None:
        super().__init__(message)
        self.status, self.code, self.headers = status, code, dict(headers or {})
        self.title, self.language = title, language


def error_json(code: str, message: str) -> dict[str, dict[str, str]]:
    """The body of every error of the HTTP surface."""
    return {"error": {"code": code, "message": message}}


def describe(error: Exception) -> tuple[int, str, str]:
    """Status, code and message of an exception as the caller may see it; what is not ours gets an id and goes to the log."""
    match error:
        case Refused():
            return error.status, error.code, str(error)
        case InputError():
            return 400, error.code, str(error)
        case UserError():
            return 400, "bad_request", str(error)
        case ServiceError():
            return 503, error.code, str(error)
        case StoreError():
            return 503, "store_unavailable", str(error)
        case WorkOverran():
            return 500, error.code, str(error)
        case AttestError():
            return 500, "internal", _numbered(str(error))
        case web.HTTPException():
            return error.status, _slug(error.reason), error.reason
        case _:
            return _unforeseen(error)


def _slug(reason: str) -> str:
    return reason.lower().replace(" ", "_").replace("-", "_")


def _unforeseen(error: Exception) -> tuple[int, str, str]:
    # the text of a foreign exception can carry a customer's words, so the log gets its type and place alone
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "unknown"
    return 500, "internal", _numbered(f"{type(error).__name__} at {place}")


def _numbered(what: str) -> str:
    """What a caller is told of an error of ours; the log has `what` under the same number."""
    number = secrets.token_hex(6)
    LOG.error("unforeseen error %s: %s", number, what)
    return f"something went wrong; the log has it under {number}"


@web.middleware
async def errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Turn every exception of a handler into a response of the form that the route speaks."""
    try:
        return await handler(request)
    except web.HTTPRedirection:
        raise
    except Exception as error:  # noqa: BLE001 - the last place before the caller, who must never see a traceback
        status, code, message = describe(error)
        headers = _headers(error)
        if request.path.startswith("/api/") or request.path == "/metrics":
            return web.json_response(error_json(code, message), status=status, headers=headers)
        title = (error.title if isinstance(error, Refused) else None) or _title(status)
        w = EvidenceWords(error.language if isinstance(error, Refused) else FALLBACK)
        return page("error.html", status=status, headers=headers, w=w, title=title, message=message, code=code)


def _headers(error: Exception) -> dict[str, str]:
    if isinstance(error, Refused):
        return error.headers
    if isinstance(error, web.HTTPMethodNotAllowed):
        return {"Allow": error.headers.get("Allow", "")}
    return {}


def _title(status: int) -> str:
    titles = {403: "Not from here", 404: "Nothing here", 405: "Not like this", 410: "No longer here"}
    return titles.get(status, "That did not work")
