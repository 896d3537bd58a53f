"""What every Directory promises: the groups of a person, none for a stranger, and an error, not a guess, when it cannot tell."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from grounding.azure.graph_directory import GraphDirectory
from grounding.embedded.directory import FileDirectory
from grounding.errors import ServiceError
from grounding.ports import Directory
from grounding.records import Access
from grounding.services.remote import Remote
from tests.fakes import faults
from tests.fakes.graph_server import GraphServer
from tests.fakes.tokens import Token

LEA = "11111111-2222-3333-4444-555555555555"
NOA = "66666666-7777-8888-9999-000000000000"
LEGAL, HR = "aaaaaaaa-0000-0000-0000-000000000001", "bbbbbbbb-0000-0000-0000-000000000002"
PEOPLE = {LEA: [LEGAL, HR], NOA: []}


@dataclass(frozen=True, slots=True)
class Subject:
    """A directory of PEOPLE, and how to break what stands behind it."""

    directory: Directory
    break_it: Callable[[], Awaitable[None]]


@asynccontextmanager
async def _file(folder: Path) -> AsyncIterator[Subject]:
    path = folder / "directory.yaml"
    lines = [f"  {user}: [{', '.join(groups)}]" for user, groups in PEOPLE.items()]
    path.write_text("users:\n" + "\n".join(lines), "utf-8")

    async def break_it() -> None:
        path.write_text("users: [", "utf-8")

    yield Subject(FileDirectory(path), break_it)


@asynccontextmanager
async def _graph(_folder: Path) -> AsyncIterator[Subject]:
    async with GraphServer(PEOPLE) as server:
        directory = GraphDirectory(server.root, Token(), Remote("directory", retries=0), keep_s=1e-9)

        async def break_it() -> None:
            server.otherwise = faults.status(500)

        yield Subject(directory, break_it)
        await directory.aclose()


@pytest.fixture(params=[_file, _graph], ids=["file", "graph"])
async def subject(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Subject]:
    async with request.param(tmp_path) as made:
        yield made


async def test_a_person_has_their_groups(subject: Subject) -> None:
    assert await subject.directory.groups(LEA) == {LEGAL, HR}
    assert await subject.directory.groups(NOA) == frozenset()


@pytest.mark.parametrize(
    "user",
    [
        "",
        " ",
        "nobody",
        "me",
        "*",
        "../groups",
        f"{LEA}/memberOf",
        f"{LEA}?x=",
        f"{LEA}\n",
        "\ud800",
        "%2e%2e",
        LEA[:-1],
    ],
)
async def test_a_stranger_has_none(subject: Subject, user: str) -> None:
    groups = await subject.directory.groups(user)
    assert groups == frozenset()
    assert not Access(user, groups).may_read((LEGAL,))


async def test_many_may_ask_at_once(subject: Subject) -> None:
    found = await asyncio.gather(*(subject.directory.groups(user) for user in [LEA, NOA, "x"] * 20))
    assert found == [{LEGAL, HR}, frozenset(), frozenset()] * 20


async def test_one_that_cannot_tell_says_so(subject: Subject) -> None:
    """Not the groups of before: somebody may have lost them meanwhile."""
    await subject.directory.groups(LEA)
    await subject.break_it()
    with pytest.raises(ServiceError, match=r"^directory: "):
        await subject.directory.groups(LEA)
