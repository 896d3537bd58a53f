"""Edits of contact data: digits of a phone number, a lookalike host in a link or an e-mail address; none that any source holds."""

from __future__ import annotations

import random
import re

from bot.evaluate.suites.provenance.mutate import membership
from bot.evaluate.suites.provenance.mutate.records import Edit, Supported
from bot.evaluate.suites.provenance.mutate.surfaces import Surface, digits_of

_ALIKE = {
    "l": "1",
    "o": "0",
    "i": "l",
    "m": "rn",
    "w": "vv",
    "e": "a",
    "a": "e",
    "s": "z",
    "n": "m",
    "t": "f",
    "u": "v",
}
_ENDINGS = (".com", ".org", ".net", ".co", ".info", ".test", ".example", ".invalid", ".help")
_WAYS = ("letter", "letter", "swapped", "doubled", "left out", "ending", "hyphen", "in front", "behind")


def phone(supported: Supported, surface: Surface, rng: random.Random, siblings: tuple[str, ...] = ()) -> Edit | None:
    """One digit, two swapped digits, or the number of another in the same source."""
    if surface.kind != "phone":
        return None
    others = [s for s in siblings if s != surface.text and s not in supported.answer]
    if others and rng.random() < 1 / 3:
        return Edit("phone", "phone", surface.start, surface.end, rng.choice(others), "another of the source")
    places = digits_of(surface)[2:]
    rng.shuffle(places)
    swap = rng.random() < 0.5
    for at in places:
        now = _swapped(surface.text, at) if swap else _replaced(surface.text, at, rng)
        if now is not None and not membership.holds_digits(now, supported.texts):
            return Edit(
                "phone", "phone", surface.start, surface.end, now, "two digits swapped" if swap else "one digit"
            )
    return None


def _replaced(text: str, at: int, rng: random.Random) -> str:
    return text[:at] + rng.choice([d for d in "0123456789" if d != text[at]]) + text[at + 1 :]


def _swapped(text: str, at: int) -> str | None:
    after = next((i for i in range(at + 1, len(text)) if text[i].isdigit()), None)
    if after is None or text[after] == text[at]:
        return None
    return text[:at] + text[after] + text[at + 1 : after] + text[at] + text[after + 1 :]


def host(supported: Supported, surface: Surface, rng: random.Random) -> Edit | None:
    """A host that looks like the one of the source."""
    match = (
        re.search(r"(?:@|https?://|^)((?:[\w-]+\.)+[\w-]+)", surface.text) if surface.kind in ("url", "email") else None
    )
    if match is None:
        return None
    way = rng.choice(_WAYS)
    now = _lookalike(match[1], way, rng)
    if now is None or now == match[1] or any(now.lower() in text.lower() for text in supported.texts):
        return None
    start = surface.start + match.start(1)
    return Edit("host", surface.kind, start, start + len(match[1]), now, way)


def _lookalike(was: str, way: str, rng: random.Random) -> str | None:
    *front, name, ending = was.split(".")
    before = "".join(f"{part}." for part in front)
    at = rng.randrange(len(name))
    changed = {
        "letter": name[:at] + _ALIKE.get(name[at], "x") + name[at + 1 :],
        "swapped": name[: at - 1] + name[at] + name[at - 1] + name[at + 1 :] if at else name,
        "doubled": name[:at] + name[at] + name[at:],
        "left out": name[:at] + name[at + 1 :],
        "hyphen": f"{name[:at]}-{name[at:]}" if at > 0 else name,
    }
    if way in changed:
        fresh = changed[way]
        return f"{before}{fresh}.{ending}" if len(name) > 3 and fresh.strip("-") == fresh else None
    if way == "ending":
        return f"{before}{name}{rng.choice([e for e in _ENDINGS if e != '.' + ending])}"
    if way == "in front":
        return f"{'-'.join(front) or 'my'}-{name}.{ending}"
    return f"{was}.{rng.choice(('example', 'test'))}-site.net"
