"""Server-rendered pages and their files, as responses. No page needs a script to be read."""

from __future__ import annotations

from collections.abc import Mapping

from aiohttp import web

from bot.http.templating import rendered, static_files


def page(
    template: str, *, status: int = 200, headers: Mapping[str, str] | None = None, **values: object
) -> web.Response:
    """An HTML page from a template; a name without a room is one of `bot.http`."""
    name = template if "/" in template else f"http/{template}"
    return web.Response(text=rendered(name, **values), status=status, content_type="text/html", headers=headers)


async def static(request: web.Request) -> web.Response:
    """One of those files, revalidated at each load so that an update is seen at once."""
    try:
        content, content_type, tag = static_files()[request.match_info["name"]]
    except KeyError:
        raise web.HTTPNotFound from None
    headers = {"ETag": tag, "Cache-Control": "no-cache"}
    if request.headers.get("If-None-Match") == tag:
        return web.Response(status=304, headers=headers)
    return web.Response(body=content, content_type=content_type, charset="utf-8", headers=headers)
