"""Settings of signing in: what is missing, what would do nothing, and what somebody could listen to is refused in a line."""

from __future__ import annotations

from typing import Any

import pytest

from bot.settings.load import load_settings
from tests.bot.settings.facts import allowed, facts, refusal

TENANT = "9f0c2b7e-1111-4222-8333-444455556666"
ENTRA = f"https://login.microsoftonline.com/{TENANT}/v2.0"
RIGHT: dict[str, Any] = {
    "signin_issuer": ENTRA,
    "signin_client_id": "c",
    "signin_reviewers": "g",
    "public_url": "https://attest.example",
}


def without(*names: str, **more: Any) -> dict[str, Any]:
    return {name: value for name, value in (RIGHT | more).items() if name not in names}


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (without("signin_client_id"), "SIGNIN_ISSUER SIGNIN_CLIENT_ID"),
        (
            without("signin_reviewers"),
            "SIGNIN_ISSUER SIGNIN_READERS SIGNIN_REVIEWERS SIGNIN_ADMINISTRATORS",
        ),
        (without("signin_issuer"), "SIGNIN_CLIENT_ID SIGNIN_ISSUER"),
        ({"signin_client_secret": "canary"}, "SIGNIN_CLIENT_SECRET SIGNIN_ISSUER"),
        (without("public_url", api_keys="k"), "SIGNIN_ISSUER PUBLIC_URL"),
        (without(public_url="http://attest.example"), "PUBLIC_URL SIGNIN_ISSUER"),
        ({"review_sees": "team"}, "REVIEW_SEES=team SIGNIN_ISSUER"),
        (without(review_teams="north"), "REVIEW_TEAMS REVIEW_SEES=team"),
        ({"review_links": "off"}, "REVIEW_LINKS=off SIGNIN_ISSUER"),
    ],
)
def test_what_is_missing_is_named(given: dict[str, Any], named: str) -> None:
    line = refusal(**given)
    assert facts(line) == named
    assert "canary" not in line


@pytest.mark.parametrize(
    "issuer",
    [
        "http://idp.example",
        "https://login.microsoftonline.com/common/v2.0",
        "https://login.microsoftonline.com/organizations/v2.0",
        "https://login.microsoftonline.us/consumers/v2.0/",
        f"{ENTRA}/.well-known/openid-configuration",
        f"{ENTRA}?x=1",
        "idp.example",
    ],
)
def test_an_issuer_is_the_address_of_one_tenant_that_nobody_can_listen_to(issuer: str) -> None:
    line = refusal(**without(signin_issuer=issuer))
    assert line.startswith("ATTEST_SIGNIN_ISSUER")
    assert allowed(line)


def test_scopes_hold_openid() -> None:
    assert "openid" in allowed(refusal(**without(signin_scopes="profile")))


def test_what_fits_together() -> None:
    settings = load_settings(**RIGHT, signin_client_secret="canary", review_sees="team", review_teams="north,south")
    assert settings.signin.at_entra
    assert (settings.signin.who, settings.review_links) == ("oid", False)
    assert "canary" not in repr(settings)
    assert load_settings(**without(signin_issuer="https://idp.example/")).signin.who == "sub"
    assert load_settings(**RIGHT, review_links="on").review_links
    assert load_settings(**without("public_url", signin_issuer="http://127.0.0.1:8080")).local_mode


def test_without_any_setting_a_link_opens_the_desk() -> None:
    settings = load_settings()
    assert (settings.review_links, settings.signin.is_on, settings.reviewing.sees) == (True, False, "all")
