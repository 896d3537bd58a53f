"""Telephone numbers, links, e-mail and postal addresses: when two are the same, and which one a wrong one comes near to.

A contact is the same or it is not: one digit, one letter, another extension, path or house number leads to somebody
else. What may be left out is what leads to the same end: a country code, an area code, the town after the street.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from grounding.text import caseless
from rai.check.comparison.edit_distance import edit_distance
from rai.check.comparison.lookalike_host import registrable
from rai.claims.contacts.links import Address, parse
from rai.claims.contacts.phones import area_code, country_code
from rai.claims.found import Found

LEAST_PARTIAL = 7
"""Fewest digits of a telephone number without its area code; fewer could be anything."""

_DIALLED = re.compile(
    r"\b(?:call|dial|phone|tel|telephone|text|sms|ring|number|hotline|helpline|emergency|notruf|message|line|contact|short ?code)",
    re.IGNORECASE,
)
"""A line with one of these may give a short number to dial in bare digits."""
_IDENTIFIES = re.compile(
    r"\b(?:order|ticket|invoice|case|reference|account|tracking|customer|serial|isbn|iban|part|model|sku|booking|confirmation|policy|contract|vat|"
    r"tax|passport|meter|parcel|bestell\w*|auftrags\w*|rechnungs\w*|kundennummer|artikel\w*|commande|facture|pedido|factura|ordine|fattura)\b",
    re.IGNORECASE,
)
_CALLS = re.compile(
    r"\b(?:call|dial|phone|tele\w*|tel|text|sms|ring|hotline|helpline|fax|mobile|whatsapp|handy|anruf\w*|appel\w*|llam\w*)\b",
    re.IGNORECASE,
)
"""In a line that identifies something and speaks of no call, bare digits are no telephone number."""


def agree(claim: Found, other: Found, around: str = "") -> str | None:
    """What differs in the writing if `other`, found in a source, is the contact that `claim` names; None if it is not.

    "": their forms are the same. Else what the claim leaves out or writes otherwise, as a sentence; the status is then `normalised`.
    `around`: the line of `other` with its title, for what may stand beside it.
    """
    kinds = (claim.kind, other.kind)
    if kinds == ("phone", "phone"):
        return _phones(claim, other)
    if "phone" in kinds:
        return _bare_digits(claim, other, around)
    if kinds == ("url", "url"):
        return _urls(claim.value, other.value)
    if kinds == ("email", "email"):
        return "" if claim.value == other.value else None
    if claim.entity == "address" == other.entity:
        return _addresses(claim.value, other.value, around)
    if "code" in (claim.entity, other.entity) and {claim.entity, other.entity} <= {"code", None}:
        return _codes(claim, other)
    return None


def _codes(claim: Found, other: Found) -> str | None:
    """As `agree`, for two identifiers, or a bare number ("a 404 page") and an identifier that it is the whole of ("error 404")."""
    if not {claim.kind, other.kind} <= {"entity", "number"}:
        return None
    if "number" not in (claim.kind, other.kind):
        return "" if claim.shares_form(other) else None
    # as a number version 6.0 is 6
    mine, theirs = ({form.removesuffix(".0") for form in found.forms} for found in (claim, other))
    return "" if mine & theirs else None


def _phones(claim: Found, other: Found) -> str | None:
    mine, extension = _split(claim.value)
    theirs, their_extension = _split(other.value)
    if extension != their_extension:
        return None
    # a number that the claim gives with its country is held to the likeliest reading of the source's
    open_ = len(claim.forms) > 1 or theirs.startswith("tel:")
    if set(claim.forms) & set(other.forms if open_ else (other.value,)):
        return ""
    if not mine.startswith("tel:") or theirs.startswith("tel:"):
        return None
    digits = mine.removeprefix("tel:")
    if len(digits) >= LEAST_PARTIAL and digits == _subscriber(theirs):
        return "The source gives it with its area code."
    if len(digits) > LEAST_PARTIAL and digits.lstrip("0") == theirs.removeprefix(country_code(theirs)).lstrip("0"):
        return "The source gives it with its country code."
    return None


def _split(value: str) -> tuple[str, str]:
    number, _, extension = value.partition(";ext=")
    return number, extension


def _subscriber(value: str) -> str:
    """The digits of a telephone number after its area code, or "" where its country has none."""
    area = area_code(value)
    return value.removeprefix(area) if area else ""


def _bare_digits(claim: Found, other: Found, around: str) -> str | None:
    """As `agree`, for a telephone number and digits that nothing in their own text shows to be one (a cell, "code 12345")."""
    phone, bare = (claim, other) if claim.kind == "phone" else (other, claim)
    if bare.kind != "number" and bare.entity != "code":
        return None
    digits = re.sub(r"\D", "", bare.value)
    number, extension = _split(phone.value)
    if extension or not digits or not re.fullmatch(r"[+\d .*#-]+", bare.value):
        return None
    if number.startswith("tel:") and len(number) < len("tel:") + LEAST_PARTIAL:
        called = not around or _DIALLED.search(around) is not None
        return "" if called and digits == re.sub(r"\D", "", number) else None
    if bare is other and _IDENTIFIES.search(around) and not _CALLS.search(around):
        return None
    whole = number.removeprefix("tel:").removeprefix("+")
    forms = {whole, number.removeprefix(country_code(number))} if number.startswith("+") else {whole}
    return "" if len(digits) >= LEAST_PARTIAL and digits.lstrip("0") in {f.lstrip("0") for f in forms} else None


def _urls(claim: str, other: str) -> str | None:
    mine, theirs = parse(claim), parse(other)
    if (
        mine is None
        or theirs is None
        or (mine.host, mine.scheme, mine.user) != (theirs.host, theirs.scheme, theirs.user)
    ):
        return None
    if mine.rest == theirs.rest:
        return ""
    if mine.page == theirs.page:
        return "The source's link goes to the same page."
    return "It is the site of the source's link." if not mine.rest else None


def _addresses(claim: str, other: str, around: str) -> str | None:
    """As `agree`, for postal addresses: the claim's words stand in the source's in order; the last of them may stand beside it (the town in the title)."""
    if claim == other:
        return ""
    mine, theirs = claim.split(), other.split()
    at, unmatched = 0, 0
    for n, word in enumerate(mine):
        if word in theirs[at:]:
            at = theirs.index(word, at) + 1
        else:
            unmatched = len(mine) - n
            break
    rest = mine[len(mine) - unmatched :]
    if unmatched and (len(mine) - unmatched < 2 or not any(w[0].isdigit() for w in mine[: len(mine) - unmatched])):
        return None
    beside = set(re.findall(r"[\w'-]+", caseless(around)))
    if any(word not in beside and word not in theirs for word in rest):
        return None
    return "The source gives the address with more to it." if not rest else "The rest of the address stands beside it."


def near(claim: Found, known: Sequence[Found]) -> tuple[int, str] | None:
    """The contact of `known` that `claim` comes nearest to: its index, and in what they differ, in words; None if none is near.

    Only contacts of one kind are compared. For the reason that is given with `absent`: nothing here supports a claim.
    """
    best: tuple[int, int, str] | None = None
    for n, other in enumerate(known):
        same_kind = other.kind == claim.kind and other.entity == claim.entity
        difference = _difference(claim, other) if same_kind else None
        if difference and (best is None or difference[0] < best[0]):
            best = (difference[0], n, difference[1])
    return (best[1], best[2]) if best else None


def _difference(claim: Found, other: Found) -> tuple[int, str] | None:
    if claim.kind == "phone":
        return _phone_difference(claim.value, other.value)
    if claim.kind == "url":
        return _url_difference(parse(claim.value), parse(other.value))
    if claim.kind == "email":
        return _email_difference(claim.value, other.value)
    return _address_difference(claim.value, other.value) if claim.entity == "address" else None


def _phone_difference(mine: str, theirs: str) -> tuple[int, str] | None:
    (number, extension), (other, other_extension) = _split(mine), _split(theirs)
    if number == other:
        return (
            0,
            "another extension"
            if extension and other_extension
            else "an extension more"
            if extension
            else "without its extension",
        )
    digits, known = re.sub(r"\D", "", number), re.sub(r"\D", "", other)
    code, known_code = country_code(number), country_code(other)
    if code and known_code and code != known_code and number.removeprefix(code) == other.removeprefix(known_code):
        return 1, "another country code"
    if len(known) > len(digits) >= 6 and known.endswith(digits):
        return 1, "digits at the beginning are missing"
    if not (code and known_code):
        digits, known = digits.removeprefix(code[1:]), known.removeprefix(known_code[1:])
    distance = edit_distance(digits, known, 2)
    if distance > 2 or min(len(digits), len(known)) < 5:
        return None
    if len(digits) < len(known):
        return 1 + distance, "a digit is missing" if distance == 1 else "digits are missing"
    if len(digits) > len(known):
        return 1 + distance, "a digit too many" if distance == 1 else "digits too many"
    swapped = distance == 1 and sorted(digits) == sorted(known)
    return 1 + distance, "two digits are swapped" if swapped else "another digit" if distance == 1 else "other digits"


def _url_difference(mine: Address | None, theirs: Address | None) -> tuple[int, str] | None:
    if mine is None or theirs is None:
        return None
    if mine.user:
        return (0, f"it leads to {mine.host}, whatever stands before the @") if theirs.host in mine.user else None
    if mine.host == theirs.host:
        path, known = mine.page.partition("?")[0], theirs.page.partition("?")[0]
        if path == known:
            return 1, "another query" if mine.scheme == theirs.scheme else "another scheme"
        return 2, "a shorter path" if known.startswith(f"{path}/") else "a longer path" if path.startswith(
            f"{known}/"
        ) else "another path"
    return (3, "another host of the same domain") if registrable(mine.host) == registrable(theirs.host) else None


def _email_difference(mine: str, theirs: str) -> tuple[int, str] | None:
    (name, _, host), (known, _, known_host) = mine.rpartition("@"), theirs.rpartition("@")
    if host == known_host:
        return (1, "another spelling") if edit_distance(name, known, 1) == 1 else (2, "another mailbox")
    if registrable(host) == registrable(known_host):
        return 3, "another host of the same domain"
    return (4, "another host") if name == known else None


def _address_difference(mine: str, theirs: str) -> tuple[int, str] | None:
    words, known = mine.split(), theirs.split()
    lost = [w for w in words if w not in known]
    if not lost or len(lost) * 2 > len(words):
        return None
    if words[0] != known[0] and words[0] in lost and words[0][0].isdigit():
        return 1, "another house number"
    return 1 + len(lost), f"other words: {', '.join(lost)}"
