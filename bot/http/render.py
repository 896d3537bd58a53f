"""Server-rendered pages and their files. Templates escape everything; no page needs a script to be read."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files

from aiohttp import web
from jinja2 import ChainableUndefined, Environment, PackageLoader, PrefixLoader

_TYPES = {
    "html": "text/html",
    "css": "text/css",
    "js": "text/javascript",
    "svg": "image/svg+xml",
}


@lru_cache(maxsize=1)
def environment() -> Environment:
    """Templates of all rooms: `error.html` and `source.html` of this one, `review/NAME` of the reviewers'."""
    loaders = {"http": PackageLoader("bot.http", "templates"), "review": PackageLoader("bot.review", "templates")}
    return Environment(
        loader=PrefixLoader(loaders),
        autoescape=True,
        undefined=ChainableUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def page(
    template: str, *, status: int = 200, headers: Mapping[str, str] | None = None, **values: object
) -> web.Response:
    """An HTML page from a template; a name without a room is one of `bot.http`."""
    name = template if "/" in template else f"http/{template}"
    text = environment().get_template(name).render(**values)
    return web.Response(text=text, status=status, content_type="text/html", headers=headers)


@lru_cache(maxsize=1)
def static_files() -> dict[str, tuple[bytes, str, str]]:
    """Name to content, content type and ETag of every file the pages load. Read once: nothing else can be asked for."""
    found = {}
    for item in files("bot.chat").joinpath("static").iterdir():
        suffix = item.name.rpartition(".")[2]
        if suffix in _TYPES:
            content = item.read_bytes()
            found[item.name] = (content, _TYPES[suffix], f'"{hashlib.sha256(content).hexdigest()[:20]}"')
    return found


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
