"""Whom a token names, and which role its groups give."""

from __future__ import annotations

from typing import Any

import pytest

from bot.http.errors import Refused
from bot.review.roles import Role
from bot.review.session import Person
from bot.review.signin.claims import person_of, role_of
from bot.settings.groups.reviewing import SignIn
from bot.settings.load import load_settings

GROUP = "0A1B2C3D-1111-4222-8333-444455556666"
TENANT = "9f0c2b7e-1111-4222-8333-444455556666"


def signin(**overrides: object) -> SignIn:
    given = {"issuer": "https://idp.example", "client_id": "c", "readers": "read", "reviewers": f"judge,{GROUP}"}
    all_given = {f"signin_{name}": value for name, value in (given | {"administrators": "run"} | overrides).items()}
    return load_settings(local="off", public_url="https://attest.example", **all_given).signin


@pytest.mark.parametrize(
    ("claims", "role"),
    [
        ({"groups": ["read"]}, Role.READER),
        ({"groups": ["other", "judge"]}, Role.REVIEWER),
        ({"groups": ["read", "run", "judge"]}, Role.ADMINISTRATOR),
        ({"roles": ["judge"], "groups": ["read"]}, Role.REVIEWER),
        ({"groups": "judge"}, Role.REVIEWER),
        ({"groups": [GROUP.lower()]}, Role.REVIEWER),
        ({"groups": [GROUP], "_claim_names": {"groups": "src1"}}, Role.REVIEWER),
    ],
)
def test_the_highest_role_that_a_group_gives(claims: dict[str, Any], role: Role) -> None:
    assert role_of(claims, signin()) is role


@pytest.mark.parametrize(
    "claims",
    [
        {},
        {"groups": []},
        {"groups": None},
        {"groups": ["READ", "Judge", "read ", "reader", ""]},
        {"groups": [["judge"], {"judge": 1}, 7]},
        {"groups": {"judge": True}},
        {"wids": ["judge"], "group": ["judge"], "scp": "judge"},
        {"groups": "read,judge"},
    ],
)
def test_nobody_has_a_role_by_default(claims: dict[str, Any]) -> None:
    with pytest.raises(Refused, match="none of your groups") as refused:
        role_of(claims, signin())
    assert (refused.value.status, refused.value.code) == (403, "sign_in_no_role")


@pytest.mark.parametrize("claims", [{"_claim_names": {"groups": "src1"}}, {"hasgroups": True}, {"hasgroups": "true"}])
def test_groups_that_are_too_many_are_told_in_a_line(claims: dict[str, Any]) -> None:
    with pytest.raises(Refused) as refused:
        role_of(claims, signin())
    assert refused.value.code == "sign_in_overage"
    assert "\n" not in str(refused.value)
    assert "app roles" in str(refused.value)


def test_the_claims_of_roles_are_a_setting() -> None:
    told = signin(role_claims="https://attest.example/roles")
    assert role_of({"https://attest.example/roles": ["run"]}, told) is Role.ADMINISTRATOR
    with pytest.raises(Refused):
        role_of({"groups": ["run"]}, told)


def test_a_person_is_known_as_the_directory_knows_them() -> None:
    claims = {"iss": "https://idp.example", "sub": "s-1", "oid": "o-1", "tid": TENANT, "name": " Ada\n Lovelace "}
    assert person_of(claims, signin()) == Person("s-1", "Ada Lovelace", TENANT)
    entra = signin(issuer=f"https://login.microsoftonline.com/{TENANT}/v2.0")
    assert person_of(claims, entra).user == "o-1"
    assert person_of(claims | {"email": "ada@x"}, signin(user_claim="email")).user == "ada@x"


def test_without_a_name_or_a_tenant_the_next_best_is_told() -> None:
    claims = {"iss": "https://idp.example", "sub": "s-1"}
    assert person_of(claims, signin()) == Person("s-1", "s-1", "https://idp.example")
    assert person_of(claims | {"preferred_username": "ada@x"}, signin()).name == "ada@x"


@pytest.mark.parametrize("user", [None, "", " ", 7, ["s-1"], "x" * 257])
def test_nobody_comes_in_without_a_name_for_the_record(user: object) -> None:
    with pytest.raises(Refused, match="no claim sub"):
        person_of({"sub": user, "name": "Ada"}, signin())
