"""Settings of the reviewers' desk: who may come in, by signing in or by a link, with which role, and whose turns they see."""

from __future__ import annotations

import re
from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, field_validator

from bot.settings.forms import CommaList, Url
from bot.settings.group import Conflicts, Group
from bot.settings.groups.serving import Serving
from grounding.services.address import is_loopback

WELL_KNOWN = "/.well-known/openid-configuration"
"""Where a provider tells of itself, below its issuer."""
_ENTRA = re.compile(r"login\.(?:microsoftonline\.(?:com|us|de)|partner\.microsoftonline\.cn|chinacloudapi\.cn)")
_MANY_TENANTS = ("common", "organizations", "consumers")


class SignIn(Group):
    """Signing in by OpenID Connect. Without an issuer nobody signs in; without a group of a role nobody has it."""

    issuer: Url | None = Field(
        None,
        alias="signin_issuer",
        description="issuer of the OpenID Connect provider that reviewers sign in at, as its discovery document says it",
    )
    client_id: str | None = Field(
        None, alias="signin_client_id", description="id of this application at the provider of ATTEST_SIGNIN_ISSUER"
    )
    client_secret: SecretStr | None = Field(
        None,
        alias="signin_client_secret",
        description="secret of this application at that provider; none where it is registered as a public client",
    )
    readers: CommaList = Field(
        (),
        alias="signin_readers",
        description="groups or app roles, as the token names them, that may read at the reviewers' desk, comma-separated",
    )
    reviewers: CommaList = Field(
        (),
        alias="signin_reviewers",
        description="groups or app roles that may also decide and download at the reviewers' desk, comma-separated",
    )
    administrators: CommaList = Field(
        (),
        alias="signin_administrators",
        description="groups or app roles that may also see every turn and end the sessions of others, comma-separated",
    )
    role_claims: CommaList = Field(
        ("roles", "groups"),
        alias="signin_role_claims",
        description="claims of the ID token in which those groups or app roles stand, comma-separated",
    )
    user_claim: str | None = Field(
        None,
        alias="signin_user_claim",
        description="claim that tells who it is as the directory knows people; without it oid at Entra ID, else sub",
    )
    scopes: CommaList = Field(
        ("openid", "profile"),
        alias="signin_scopes",
        description="scopes that are asked for, comma-separated; openid is one of them",
    )
    hours: float = Field(
        8.0, alias="signin_hours", gt=0, le=168, allow_inf_nan=False, description="hours after which one signs in again"
    )
    idle_minutes: float = Field(
        60.0,
        alias="signin_idle_minutes",
        gt=0,
        le=1440,
        allow_inf_nan=False,
        description="minutes without a page after which one signs in again",
    )

    @field_validator("issuer")
    @classmethod
    def _plain(cls, value: str | None) -> str | None:
        if value is not None and (WELL_KNOWN in value or urlsplit(value).query or urlsplit(value).fragment):
            raise ValueError(f"an issuer without {WELL_KNOWN} and without a query")
        return value

    @field_validator("scopes")
    @classmethod
    def _asks_who(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if "openid" not in value:
            raise ValueError("a list with openid in it, such as openid,profile")
        return value

    @property
    def is_on(self) -> bool:
        """True if reviewers sign in."""
        return self.issuer is not None

    @property
    def at_entra(self) -> bool:
        """True if the provider is Microsoft Entra ID."""
        return _ENTRA.fullmatch(urlsplit(self.issuer or "").hostname or "") is not None

    @property
    def who(self) -> str:
        """The claim that tells who it is."""
        return self.user_claim or ("oid" if self.at_entra else "sub")


class Reviewing(Group):
    """Who may come to the reviewers' desk by a link, and whose turns are seen there."""

    links: Literal["auto", "on", "off"] = Field(
        "auto",
        alias="review_links",
        description="whether a link made on this machine opens the reviewers' desk, to somebody without a name; auto: unless reviewers sign in",
    )
    sees: Literal["all", "team"] = Field(
        "all",
        alias="review_sees",
        description="whose turns readers and reviewers see: all, or those of people with whom they share a group of the directory",
    )
    teams: CommaList = Field(
        (),
        alias="review_teams",
        description="groups of the directory that count as a team, comma-separated; without it every group does",
    )


def reviewing_conflicts(signin: SignIn, reviewing: Reviewing, serving: Serving, *, local: bool) -> Conflicts:
    """Rules on signing in: all that it takes is there, over a way that nobody can listen to, and nothing is set that would do nothing."""
    for field in sorted(signin.model_fields_set - {"issuer"}):
        yield signin.issuer is None, f"{signin.variable(field)} needs ATTEST_SIGNIN_ISSUER; without it nobody signs in"
    on, url = signin.is_on, signin.issuer or ""
    yield on and not signin.client_id, "ATTEST_SIGNIN_ISSUER needs ATTEST_SIGNIN_CLIENT_ID"
    nobody = on and not (signin.readers or signin.reviewers or signin.administrators)
    roles = "ATTEST_SIGNIN_READERS, ATTEST_SIGNIN_REVIEWERS or ATTEST_SIGNIN_ADMINISTRATORS"
    yield nobody, f"ATTEST_SIGNIN_ISSUER needs {roles}: a group that nobody named has no role"
    clear = url.lower().startswith("http://") and not is_loopback(url)
    yield clear, "ATTEST_SIGNIN_ISSUER: allowed is https, whoever is on the way could sign in as anybody"
    first = urlsplit(url).path.strip("/").partition("/")[0]
    many = signin.at_entra and first in _MANY_TENANTS
    yield many, f"ATTEST_SIGNIN_ISSUER: allowed is the issuer of one tenant, with its id in place of {first}"
    yield on and not local and not serving.public_url, _NEEDS_ADDRESS
    public = serving.public_url or ""
    unsafe = on and public.lower().startswith("http://") and not is_loopback(public)
    yield unsafe, "ATTEST_PUBLIC_URL: allowed beside ATTEST_SIGNIN_ISSUER is https, sessions would travel in the clear"
    team = "ATTEST_REVIEW_SEES=team needs ATTEST_SIGNIN_ISSUER: who comes by a link is in no team"
    yield reviewing.sees == "team" and not on, team
    yield bool(reviewing.teams) and reviewing.sees != "team", "ATTEST_REVIEW_TEAMS needs ATTEST_REVIEW_SEES=team"
    shut = "ATTEST_REVIEW_LINKS=off needs ATTEST_SIGNIN_ISSUER: nobody could come in"
    yield reviewing.links == "off" and not on, shut


_NEEDS_ADDRESS = "ATTEST_SIGNIN_ISSUER needs ATTEST_PUBLIC_URL: the provider sends people back to an address that is registered there"
