"""Host names made to be taken for another: near spellings, signs that look alike, a known name under another ending or with a word added."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from grounding.tables import table
from rai.check.comparison.edit_distance import edit_distance
from rai.claims.contacts.links import unicode_host

# Signs that pass for others; letters of other scripts that look Latin (Unicode TR 39 confusables, the common ones)
_LATIN: dict[str, str] = table(__file__)["latin"]
_SIGNS = str.maketrans({sign: letter for letter, signs in _LATIN.items() for sign in signs})
_PAIRS = (("rn", "m"), ("vv", "w"), ("cl", "d"), ("i", "l"))
_SECOND = frozenset("co com org net ac gov edu or ne go".split())
_SHARED = frozenset(
    "github.io gitlab.io blogspot.com wordpress.com azurewebsites.net web.app firebaseapp.com netlify.app vercel.app pages.dev "
    "herokuapp.com appspot.com cloudfront.net amazonaws.com myshopify.com wixsite.com weebly.com sharepoint.com zendesk.com "
    "freshdesk.com workers.dev trycloudflare.com ngrok.io".split()
)
"""Under these every name is somebody else's, as under a top-level domain."""
_LURES = frozenset(
    "support help login signin secure security service services account accounts verify billing online pay payment update "
    "customer customers care app mail team official store shop portal center centre web site my info contact get hilfe kunden "
    "konto kundenservice compte aide cuenta ayuda".split()
)
LEAST_BRAND = 4
"""Fewest letters of a name that is taken for bait in another host; a shorter one stands there by chance."""


def looks_like(host: str, known: Iterable[str]) -> str | None:
    """The host of `known` that `host` could be taken for, or None; hosts of one registrable domain do not count.

    Likest first: same shape of signs, same name under another ending, name within another name, one or two letters off.
    """
    best: tuple[int, str] | None = None
    for other in sorted(set(known)):
        if registrable(host) == registrable(other):
            continue
        distance = _distance(host, other)
        if distance is not None and (best is None or distance < best[0]):
            best = (distance, other)
    return best[1] if best else None


@lru_cache(maxsize=8192)
def registrable(host: str) -> str:
    """The part of a host that somebody registers: contoso.co.uk of help.contoso.co.uk. An IP address is itself."""
    name = host.partition(":")[0].rstrip(".")
    labels = name.split(".")
    if _is_ip(name) or len(labels) < 3:
        return name
    shared = ".".join(labels[-2:]) in _SHARED
    second = labels[-2] in _SECOND and len(labels[-1]) == 2
    return ".".join(labels[-3:] if shared or second else labels[-2:])


def _is_ip(host: str) -> bool:
    return host.replace(".", "").isdigit()


@lru_cache(maxsize=65536)
def _distance(host: str, other: str) -> int | None:
    """How far two hosts are from being taken for each other, 0 for the likest; None if nobody would."""
    mine, theirs = registrable(host), registrable(other)
    if _is_ip(mine) or _is_ip(theirs):
        return None
    if skeleton(mine) == skeleton(theirs) or skeleton(host) == skeleton(other):
        return 0
    name, known = mine.partition(".")[0], theirs.partition(".")[0]
    if name == known or skeleton(name) == skeleton(known):
        return 0
    if _holds_brand(host, theirs):
        return 1
    allowed = 1 if len(theirs) < 9 else 2
    if _other_words(name, known):
        return None
    distance = edit_distance(mine, theirs, allowed)
    return distance + 1 if distance <= allowed else None


def _holds_brand(host: str, known: str) -> bool:
    """paypal.com.evil.io, paypal-support.com, supportpaypal.com, paypal.evil.io: the name of `known` used as bait."""
    brand = skeleton(known.partition(".")[0])
    if len(brand) < LEAST_BRAND:
        return f"{known}." in f"{host}." and not f".{host}".endswith(f".{known}")
    labels = host.partition(":")[0].split(".")
    for label in labels[:-1]:
        pieces = [skeleton(p) for p in label.split("-")]
        if brand in pieces or skeleton(label) == brand:
            return True
        whole = "".join(pieces)
        rest = (
            whole.removeprefix(brand)
            if whole.startswith(brand)
            else whole.removesuffix(brand)
            if whole.endswith(brand)
            else whole
        )
        if rest != whole and rest in _LURE_SHAPES:
            return True
    return False


def _other_words(name: str, known: str) -> bool:
    """Short names that are each a word of its own kind differ by more than a slip: two of five letters are no slip."""
    return min(len(name), len(known)) <= 5 and edit_distance(name, known, 1) > 1


@lru_cache(maxsize=8192)
def skeleton(host: str) -> str:
    """A host name as a quick eye sees it: confusable signs as one letter, without hyphens and accents. Names of one skeleton look alike."""
    plain = unicodedata.normalize("NFKD", unicode_host(host).lower())
    plain = "".join(c for c in plain if not unicodedata.combining(c)).translate(_SIGNS)
    for pair, sign in _PAIRS:
        plain = plain.replace(pair, sign)
    return plain.replace("-", "")


_LURE_SHAPES = frozenset(skeleton(word) for word in _LURES)
