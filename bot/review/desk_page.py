"""Pages of the desk: with who is signed in, the way out, and what their role allows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aiohttp import web

from bot.http.responses import page
from bot.review.door import session_of
from bot.review.roles import least_role
from bot.review.session import form_token

WITH_FORM = {"Referrer-Policy": "same-origin"}
"""Headers of a page that posts a form: under `no-referrer` a browser sends `Origin: null`, which the guard turns away."""


def desk_page(
    request: web.Request, template: str, *, headers: Mapping[str, str] | None = None, **values: Any
) -> web.Response:
    """A page from a template that extends `review/desk.html`. In it `session` is who reads, `form` what each form carries, and
    `may(METHOD, PATTERN)` tells whether their role allows a route. Raises Refused (403) without a session.
    """
    session = session_of(request)

    def may(method: str, path: str) -> bool:
        least = least_role(method, path)
        return least is None or session.role >= least

    all_headers = {**WITH_FORM, **(headers or {})}
    return page(template, headers=all_headers, session=session, form=form_token(session), may=may, **values)
