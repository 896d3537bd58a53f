"""`/review/sign-in` and what follows it: to the provider, back from it, and out again."""

from __future__ import annotations

import re

from aiohttp import web

from bot.http.app_keys import SYSTEM
from bot.http.errors import LOG, Refused
from bot.http.forwarding import is_encrypted
from bot.http.responses import page
from bot.review.decision_form import own_form
from bot.review.door import ACCESS, session_of
from bot.review.session import COOKIE, SIGNING_IN_SECONDS
from bot.review.signin.claims import person_of, role_of
from bot.review.signin.flow import HOME, Flow, cookie_name, own_page
from bot.review.signin.ports import IdentityProvider
from grounding.errors import ServiceError

PROVIDER: web.AppKey[IdentityProvider] = web.AppKey("attest_identity_provider")
BACK = "/review/signed-in"
_CODE = re.compile(r"[a-z_]{1,40}")


def add_sign_in(app: web.Application, provider: IdentityProvider | None) -> None:
    """The routes; to be added before those of `bot.review.pages`, whose `/review/{entry}` would take them for an entry. Without a provider one can only sign out."""
    app.router.add_post("/review/sign-out", sign_out)
    app.router.add_get("/review/signed-out", signed_out, allow_head=False)
    if provider is not None:
        app[PROVIDER] = provider
        app.router.add_get("/review/sign-in", sign_in, allow_head=False)
        app.router.add_get("/review/sign-in/go", go, allow_head=False)
        app.router.add_get(BACK, signed_in, allow_head=False)


async def sign_in(request: web.Request) -> web.Response:
    """The page that says where one signs in, and leads there."""
    to = own_page(request.query.get("to", HOME))
    links = request.app[SYSTEM].settings.review_links
    return page("review/sign_in.html", to=to, host=request.app[PROVIDER].host, links=links)


async def go(request: web.Request) -> web.Response:
    """To the provider, with a cookie that ties the way to this browser."""
    flow = Flow.begin(request.query.get("to", HOME))
    there = await request.app[PROVIDER].way_there(flow, _address(request, BACK), anew="anew" in request.query)
    await request.app[ACCESS].begin(flow.secret)
    response = web.Response(status=303, headers={"Location": there})
    # Lax: the way back is a link that a foreign site follows, on which a strict cookie would stay behind
    response.set_cookie(
        cookie_name(flow.state),
        flow.cookie,
        max_age=SIGNING_IN_SECONDS,
        path=BACK,
        secure=is_encrypted(request, request.app[SYSTEM].settings),
        httponly=True,
        samesite="Lax",
    )
    return response


async def signed_in(request: web.Request) -> web.Response:
    """Back from the provider: who it is, with which role, in a session of its own; or why not, with the ways to try again."""
    try:
        return await _signed_in(request)
    except Refused as error:
        LOG.warning("a sign-in was refused: %s", error.code)
        why = str(error)
        return page("review/not_signed_in.html", status=error.status, title=error.title, message=why, code=error.code)


async def _signed_in(request: web.Request) -> web.Response:
    state = request.query.get("state", "")
    flow = await _flow(request, state)
    settings = request.app[SYSTEM].settings
    told = request.query.get("iss")
    if told is not None and told != settings.signin.issuer:
        raise Refused(403, "sign_in_issuer", "Another provider than ours sent you here.", title="Not signed in")
    _require_no_error(request.query.get("error"))
    code = request.query.get("code", "")
    claims = await request.app[PROVIDER].claims(flow, _address(request, BACK), code)
    person, role = person_of(claims, settings.signin), role_of(claims, settings.signin)
    session = await request.app[ACCESS].enter(person, role, request.cookies.get(COOKIE, ""))
    response = web.Response(status=303, headers={"Location": flow.to})
    response.del_cookie(cookie_name(state), path=BACK)
    # Lax: a link to an entry, in a mail or a chat, opens for who is signed in; forms carry a token of the session, and are taken from this site alone
    response.set_cookie(
        COOKIE,
        session.secret,
        max_age=int(settings.signin.hours * 3600),
        path=HOME,
        secure=is_encrypted(request, settings),
        httponly=True,
        samesite="Lax",
    )
    return response


async def sign_out(request: web.Request) -> web.Response:
    """End this session."""
    session = session_of(request)
    await own_form(request, session)
    await request.app[ACCESS].leave(session.secret)
    # the provider is left by a link of the next page: browsers hold a form to the sites that the policy names, also where it is sent on
    response = web.Response(status=303, headers={"Location": "/review/signed-out"})
    response.del_cookie(COOKIE, path=HOME)
    return response


async def signed_out(request: web.Request) -> web.Response:
    """What one sees then, with the way out at the provider where it has one."""
    provider = request.app.get(PROVIDER)
    out = None
    if provider is not None:
        try:
            out = await provider.way_out(_address(request, "/review/sign-in"))
        except ServiceError as error:
            LOG.warning("no way out at the provider is shown: %s", error)
    return page("review/signed_out.html", host=provider.host if provider else "", out=out)


async def _flow(request: web.Request, state: str) -> Flow:
    """The flow of this browser that `state` belongs to, used up. Raises Refused (403)."""
    flow = Flow.of_cookie(request.cookies.get(cookie_name(state), ""))
    if not flow.secret or not flow.is_of(state) or not await request.app[ACCESS].end(flow.secret):
        message = "This sign-in was not begun in this browser, took longer than ten minutes or was used before. Open /review and sign in again."
        raise Refused(403, "sign_in_state", message, title="Not signed in")
    return flow


def _require_no_error(error: str | None) -> None:
    if error is not None:
        said = error if _CODE.fullmatch(error) else "an error"
        raise Refused(403, "sign_in_refused", f"The provider did not sign you in: {said}.", title="Not signed in")


def _address(request: web.Request, path: str) -> str:
    """The address of a page as the provider must send people to it: below the public URL; of this machine alone, as it was asked for."""
    public = request.app[SYSTEM].settings.serving.public_url
    return (public.rstrip("/") if public else f"http://{request.host}") + path
