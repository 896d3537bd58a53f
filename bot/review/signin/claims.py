"""What a validated token says of a person: who it is, and the role that their groups give."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bot.http.errors import Refused
from bot.review.roles import Role
from bot.review.session import Person
from bot.settings.forms import is_guid
from bot.settings.groups.reviewing import SignIn

_LONGEST = 256
OVERAGE = (
    "Your account is in more groups than Entra ID writes into a token, so your role cannot be told. "
    "The administrator of Entra ID mends it: app roles, or groups assigned to the application alone."
)


def person_of(claims: Mapping[str, Any], signin: SignIn) -> Person:
    """Who signed in. Raises Refused (403) where the claim that tells it is missing."""
    user = claims.get(signin.who)
    if not isinstance(user, str) or not user.strip() or len(user) > _LONGEST:
        message = f"The provider's token has no claim {signin.who}, by which people are known here."
        raise Refused(403, "sign_in_nobody", message, title="Not signed in")
    told = (claims.get(name) for name in ("name", "preferred_username", "email"))
    name = next((text for text in told if isinstance(text, str) and text.strip()), user)
    tenant = claims.get("tid")
    return Person(user, " ".join(name.split())[:_LONGEST], str(tenant or claims.get("iss") or "")[:_LONGEST])


def role_of(claims: Mapping[str, Any], signin: SignIn) -> Role:
    """The highest role that a group or app role of the token gives. Raises Refused (403) where none does."""
    held = set(_held(claims, signin.role_claims))
    given = (
        (Role.ADMINISTRATOR, signin.administrators),
        (Role.REVIEWER, signin.reviewers),
        (Role.READER, signin.readers),
    )
    for role, groups in given:
        if held & {_plain(group) for group in groups}:
            return role
    if is_overage(claims, signin.role_claims):
        raise Refused(403, "sign_in_overage", OVERAGE, title="Too many groups")
    message = "You are signed in at the provider, but none of your groups has a role here. Whoever runs this server can give one."
    raise Refused(403, "sign_in_no_role", message, title="No role here")


def is_overage(claims: Mapping[str, Any], names: tuple[str, ...]) -> bool:
    """True if Entra ID left groups out of the token because there are too many: then it says where they could be asked for."""
    elsewhere = claims.get("_claim_names")
    listed = isinstance(elsewhere, Mapping) and any(name in elsewhere for name in names)
    return listed or claims.get("hasgroups") in (True, "true")


def _held(claims: Mapping[str, Any], names: tuple[str, ...]) -> Iterator[str]:
    for name in names:
        value = claims.get(name)
        yield from (_plain(v) for v in (value if isinstance(value, list) else [value]) if isinstance(v, str))


def _plain(group: str) -> str:
    """Ids of Entra ID are the same in capitals and without; names of groups are not."""
    return group.lower() if is_guid(group) else group
