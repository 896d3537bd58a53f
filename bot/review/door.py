"""The door of the reviewers' desk: no handler below `/review` runs before the role that its route takes is there. What the table of roles does not name stays shut."""

from __future__ import annotations

from urllib.parse import quote

from aiohttp import web

from bot.http.app_keys import SYSTEM
from bot.http.errors import LOG, Handler, Refused
from bot.review.roles import BY_ROUTE, Right, Role
from bot.review.session import COOKIE, ReviewAccess, Session
from bot.settings.settings import Settings

ACCESS = web.AppKey("attest_review_access", ReviewAccess)
DESK = "/review"
NEW_LINK = "On the machine of the server, attest review-link prints a new one."
_SESSION = web.RequestKey("attest_review_session", Session)


@web.middleware
async def door(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Let a request for a page of the desk through to its handler, lead who has no session to where they get one, or raise Refused (403)."""
    resource = request.match_info.route.resource
    path = resource.canonical if resource is not None else ""
    if path == DESK or path.startswith(f"{DESK}/"):
        await _admit(request, path)
    return await handler(request)


def session_of(request: web.Request) -> Session:
    """The session that the door let in. Raises Refused (403) where it was not asked: a handler of a route before the door has none."""
    if _SESSION not in request:
        raise _closed(request)
    return request[_SESSION]


def sees_all(session: Session, settings: Settings) -> bool:
    """True if the turns of everybody are shown to this session."""
    return settings.reviewing.sees == "all" or session.role >= Role.ADMINISTRATOR


async def _admit(request: web.Request, path: str) -> None:
    right = BY_ROUTE.get((request.method, path))
    if right is None:
        LOG.error("%s %s has no role in bot/review/roles.py, so it is shut", request.method, path)
        raise Refused(403, "no_role_listed", "Nobody has a right to this page yet.", title="Shut")
    if right.least is None or _brings_link(request):
        return
    session = await request.app[ACCESS].admitted(request.cookies.get(COOKIE, ""))
    if session is None:
        raise _closed(request)
    _require(right, right.least, session, request.app[SYSTEM].settings)
    request[_SESSION] = session


def _require(right: Right, least: Role, session: Session, settings: Settings) -> None:
    if session.role < least:
        message = f"This takes the role {least.label}; yours is {session.role.label}: {right.what}."
        raise Refused(403, "role", message, title="Not with your role")
    if not (right.keeps_to_team or sees_all(session, settings)):
        message = f"You see the turns of your team alone, and this page cannot leave out the others: {right.what}."
        raise Refused(403, "team", message, title="Not with your view")


def _brings_link(request: web.Request) -> bool:
    """A link that works once: its handler lets the browser in, and shows nothing."""
    return request.method == "GET" and request.path == DESK and "token" in request.query


def _closed(request: web.Request) -> Exception:
    """What somebody without a session gets: the page to sign in, or what is missing."""
    settings = request.app[SYSTEM].settings
    if settings.signin.is_on:
        if request.method == "GET":
            return web.HTTPSeeOther(f"/review/sign-in?to={quote(request.rel_url.raw_path_qs, safe='')}")
        message = "Your session is over. Sign in again in another tab, open this page anew and send it again."
        return Refused(403, "review_closed", message, title="Signed out")
    message = f"These pages open with a link that works once and admits one browser. {NEW_LINK}"
    return Refused(403, "review_closed", message, title="Reviewers only")
