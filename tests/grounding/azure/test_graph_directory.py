"""Groups by Microsoft Graph: paging, keeping, failing, and what never counts as a right. A loopback server of the published form."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from azure.core.exceptions import ClientAuthenticationError

from grounding.azure.graph_directory import PAGE, GraphDirectory
from grounding.errors import (
    AttestError,
    ServiceError,
    ServiceRejected,
    ServiceReplyInvalid,
    ServiceTimeout,
    ServiceUnavailable,
    SettingsError,
)
from grounding.services.group_names import GroupNames
from grounding.services.remote import Remote
from tests.fakes import faults
from tests.fakes.clock import at_once
from tests.fakes.faults import Fault
from tests.fakes.graph_server import ROLE, TOKEN, GraphServer
from tests.fakes.tokens import Token

LEA = "11111111-2222-3333-4444-555555555555"
LEGAL = "aaaaaaaa-0000-0000-0000-000000000001"
NO_TYPE = json.dumps({"value": [{"id": LEGAL}]})


def group(n: int) -> str:
    return f"cccccccc-0000-0000-0000-{n:012d}"


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@asynccontextmanager
async def opened(server: GraphServer, **options: Any) -> AsyncIterator[GraphDirectory]:
    made = {"deadline_s": 5.0, "retries": 2, **{k: options.pop(k) for k in ("deadline_s", "retries") if k in options}}
    remote = Remote("directory", sleep=at_once, jitter=lambda: 0.0, **made)
    directory = GraphDirectory(server.root, options.pop("credential", Token()), remote, **options)
    try:
        yield directory
    finally:
        await directory.aclose()


async def test_nested_groups_are_asked_for_and_roles_are_none() -> None:
    async with GraphServer({LEA: [LEGAL]}) as server, opened(server) as directory:
        assert await directory.groups(LEA) == {LEGAL}
        assert server.bodies == [(f"/v1.0/users/{LEA}/transitiveMemberOf", {"$select": "id", "$top": str(PAGE)})]
        assert ROLE["id"] not in await directory.groups(LEA)


async def test_every_page_is_read() -> None:
    many = [group(n) for n in range(25)]
    async with GraphServer({LEA: many}, page=4) as server, opened(server) as directory:
        assert await directory.groups(LEA) == set(many)
        assert len(server.bodies) == 7


async def test_too_many_pages_are_an_error_and_not_a_part_of_the_groups() -> None:
    async with GraphServer({LEA: [group(n) for n in range(25)]}, page=1) as server, opened(server) as directory:
        with pytest.raises(ServiceReplyInvalid, match="more than 20 pages"):
            await directory.groups(LEA)


async def test_the_token_follows_no_link_to_another_host() -> None:
    async with GraphServer({}) as other, GraphServer({LEA: [LEGAL]}, page=1) as server, opened(server) as directory:
        for root in (
            other.root,
            server.root.replace("http", "https"),
            f"{server.root}@{other.root[7:]}",
            "//x.example",
        ):
            server.next_root = root
            with pytest.raises(ServiceRejected, match="another host"):
                await directory.groups(LEA)
        assert other.bodies == []


async def test_a_redirect_is_not_followed() -> None:
    async with GraphServer({}) as other, GraphServer({}) as server, opened(server) as directory:
        server.otherwise = faults.redirect(other.root)
        with pytest.raises(ServiceRejected, match="redirects"):
            await directory.groups(LEA)
        assert other.bodies == []


@pytest.mark.parametrize(
    "user", ["lea@contoso.example", "Lea_partner.example#EXT#@contoso.example", "o'hara@contoso.example"]
)
async def test_a_principal_name_goes_whole_into_the_path(user: str) -> None:
    async with GraphServer({user.lower(): [LEGAL]}) as server, opened(server) as directory:
        assert await directory.groups(user) == {LEGAL}


async def test_a_name_that_is_none_is_not_even_asked_for() -> None:
    async with GraphServer({}) as server, opened(server) as directory:
        for user in ("", "lea", "me", "$me@contoso.example", "a@b/c", f"{LEA}/x", "x" * 300 + "@contoso.example"):
            assert await directory.groups(user) == frozenset()
        assert server.bodies == []


# --- keeping


async def test_groups_are_kept_for_their_time_and_no_longer() -> None:
    clock = Clock()
    async with GraphServer({LEA: [LEGAL]}) as server, opened(server, keep_s=300, clock=clock) as directory:
        await directory.groups(LEA)
        server.people[LEA] = []
        clock.now += 299.9
        assert await directory.groups(LEA.upper()) == {LEGAL}
        clock.now += 0.1
        assert await directory.groups(LEA) == frozenset()
        assert len(server.bodies) == 2


async def test_what_was_kept_is_not_used_when_the_service_fails() -> None:
    """A stale right would outlive its being taken away for as long as somebody keeps the service from answering."""
    clock = Clock()
    async with GraphServer({LEA: [LEGAL]}) as server, opened(server, keep_s=300, clock=clock) as directory:
        await directory.groups(LEA)
        server.otherwise = faults.status(503)
        clock.now += 300
        for _ in range(2):
            with pytest.raises(ServiceUnavailable):
                await directory.groups(LEA)


async def test_a_stranger_is_kept_too_and_the_number_of_people_is_bound() -> None:
    async with GraphServer({}) as server, opened(server, most_held=3) as directory:
        for n in [0, 1, 2, 0, 3, 2, 3, 0]:  # 0 is the oldest, and out when 3 comes
            assert await directory.groups(group(n)) == frozenset()
        asked = [path.split("/")[3] for path, _ in server.bodies]
        assert asked == [group(n) for n in (0, 1, 2, 3, 0)]


async def test_questions_at_the_same_time_make_one_call() -> None:
    async with GraphServer({LEA: [LEGAL]}) as server, opened(server) as directory:
        assert await asyncio.gather(*(directory.groups(LEA) for _ in range(30))) == [{LEGAL}] * 30
        assert len(server.bodies) == 1


# --- names of groups


async def test_a_display_name_is_no_right() -> None:
    """Whoever may make a group could call it as the rights of documents do."""

    async def named(_request: web.Request) -> web.StreamResponse:
        entry = {"@odata.type": "#microsoft.graph.group", "id": LEGAL, "displayName": "hr"}
        return web.json_response({"value": [entry]})

    async with GraphServer({}, otherwise=named) as server, opened(server) as directory:
        assert await directory.groups(LEA) == {LEGAL}


async def test_the_file_of_names_gives_a_group_the_name_that_rights_use(tmp_path: Path) -> None:
    path = tmp_path / "groups.yaml"
    path.write_text(f"groups: {{{LEGAL.upper()}: legal, {group(1)}: hr}}", "utf-8")
    names = GroupNames(path).current
    async with GraphServer({LEA: [LEGAL, group(7)]}) as server, opened(server, names=names) as directory:
        assert await directory.groups(LEA) == {LEGAL, "legal", group(7)}
        path.write_text(f"groups: {{{group(1)}: hr, {group(7)}: press}}", "utf-8")
        assert await directory.groups(LEA) == {LEGAL, group(7), "press"}
        for wrong in ("groups: [legal]", "groups: {1: a}", f"groups: {{{LEGAL}: [a]}}", "groups: {", ""):
            path.write_text(wrong, "utf-8")
            with pytest.raises(ServiceUnavailable, match=r"groups\.yaml"):
                await directory.groups(LEA)
        path.unlink()
        with pytest.raises(ServiceUnavailable, match=r"groups\.yaml"):
            await directory.groups(LEA)


# --- failures

FAULTS: dict[str, tuple[Fault, type[AttestError], int]] = {
    "400": (faults.echoed(400), ServiceRejected, 1),
    "401": (faults.echoed(401), ServiceRejected, 1),
    "403": (faults.status(403), ServiceRejected, 1),
    "404 of something else": (faults.status(404), ServiceRejected, 1),
    "404 in HTML": (faults.html(404), ServiceError, 2),
    "429": (faults.status(429, Retry_After="0"), ServiceRejected, 3),
    "429 for a minute": (faults.status(429, Retry_After="60"), ServiceRejected, 1),
    "500": (faults.echoed(500), ServiceUnavailable, 3),
    "503": (faults.status(503), ServiceUnavailable, 3),
    "HTML": (faults.html(200), ServiceReplyInvalid, 2),
    "cut JSON": (faults.truncated(), ServiceReplyInvalid, 2),
    "closed socket": (faults.closed(), ServiceUnavailable, 6),  # aiohttp sends a GET again by itself, once
    "half a body": (faults.half(b'{"value": ['), ServiceError, 2),
    "a list": (faults.status(200, "[]"), ServiceReplyInvalid, 2),
    "no value": (faults.status(200, "{}"), ServiceReplyInvalid, 2),
    "no types": (faults.status(200, NO_TYPE), ServiceReplyInvalid, 2),
    "no ids": (
        faults.status(200, '{"value": [{"@odata.type": "#microsoft.graph.group", "id": "hr"}]}'),
        ServiceReplyInvalid,
        2,
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_failure_is_an_error_and_never_a_group(fault: str, caplog: pytest.LogCaptureFixture) -> None:
    answer, expected, calls = FAULTS[fault]
    async with GraphServer({LEA: [LEGAL]}, otherwise=answer) as server, opened(server) as directory:
        with pytest.raises(expected) as caught:
            await directory.groups(LEA)
        assert len(server.bodies) == calls
        assert TOKEN not in str(caught.value) + caplog.text
        server.otherwise = None
        assert await directory.groups(LEA) == {LEGAL}


async def test_a_service_that_does_not_answer_ends_with_the_deadline() -> None:
    async with GraphServer({}, otherwise=faults.slow()) as server, opened(server, deadline_s=0.2) as directory:
        with pytest.raises(ServiceTimeout):
            await directory.groups(LEA)


async def test_a_machine_that_cannot_sign_in_is_told_in_one_line() -> None:
    class Failing(Token):
        async def get_token(self, *scopes: str, **_: object) -> Any:
            raise ClientAuthenticationError("canary of the tenant")

    async with GraphServer({}) as server, opened(server, credential=Failing()) as directory:
        with pytest.raises(
            ServiceRejected, match=r"^directory: this machine could not sign in \(Microsoft Entra ID\)$"
        ):
            await directory.groups(LEA)


@pytest.mark.parametrize(
    "endpoint",
    [
        "http://graph.microsoft.com",
        "https://graph.microsoft.com.evil.example",
        "https://evil.example",
        "https://x@graph.microsoft.us",
        "x",
    ],
)
def test_nobody_else_gets_the_token(endpoint: str) -> None:
    with pytest.raises(SettingsError, match="ATTEST_GRAPH_ENDPOINT"):
        GraphDirectory(endpoint, Token(), Remote("directory"))
