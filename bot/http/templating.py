"""Templates and the pages' own files, for the server and for pages written to a file. Templates escape everything."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from importlib.resources import files

from jinja2 import ChainableUndefined, Environment, PackageLoader, PrefixLoader

from bot.view.markup import visible
from bot.wording.evidence import EvidenceWords
from bot.wording.refusals import FALLBACK

_TYPES = {
    "html": "text/html",
    "css": "text/css",
    "js": "text/javascript",
    "svg": "image/svg+xml",
}


class _Typed(str):
    """What a field of a form holds: it goes back as it was typed, signs that are not seen too."""

    __slots__ = ()


def _seen(value: object) -> object:
    """What a page shows of a value: of plain text no sign that is unseen or that reorders what is, wherever it came from. Markup of ours and what was `typed` stay."""
    return visible(value) if type(value) is str else value


@lru_cache(maxsize=1)
def _environment() -> Environment:
    # `error.html` and `source.html` stand under `http/`, the reviewers' templates under `review/`
    rooms = ("http", "review", "evaluate")
    loaders = {room: PackageLoader(f"bot.{room}", "templates") for room in rooms}
    made = Environment(
        loader=PrefixLoader(loaders),
        autoescape=True,
        undefined=ChainableUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_seen,
    )
    made.filters["visible"] = visible
    made.filters["typed"] = _Typed
    made.globals["w"] = EvidenceWords(FALLBACK, for_reviewers=True)  # a page in another language gives its own
    return made


def rendered(name: str, **values: object) -> str:
    """The text of the template `ROOM/NAME`."""
    return _environment().get_template(name).render(**values)


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
