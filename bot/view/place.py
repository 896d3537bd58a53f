"""Where in a document a passage stands, as a person reads it beside the document's title."""

from __future__ import annotations

from grounding.text import caseless

PARTS = " · "
"""What stands between the parts of a place: page, heading."""
_SITES = (" – ", " — ", " | ", " - ")
"""What stands between the title of a page and the name of its site."""


def place_in(title: str, locator: str | None) -> str:
    """What a locator says beyond the title: "page 1" of "page 1 · Warranty terms" in *Warranty terms*, nothing of a heading that the title begins with before the name
    of a site, and nothing twice. Empty where it says no more.
    """
    told = {caseless(title), *(caseless(title.rpartition(sign)[0]) for sign in _SITES)}
    parts = dict.fromkeys(part.strip() for part in (locator or "").split(PARTS))
    return PARTS.join(part for part in parts if part and caseless(part) not in told)


def named_place(title: str, locator: str | None) -> str:
    """A title and where in its document, in one line."""
    return PARTS.join(filter(None, (title, place_in(title, locator))))
