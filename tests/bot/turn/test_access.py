"""What a turn reads with, and the groups that the record names beside it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.records import Actor, Ask, Reply
from bot.turn.access import HELD_S
from bot.turn.pipeline import answer_turn
from bot.wording.notes import for_person
from grounding.errors import ServiceUnavailable
from grounding.policy import Policy
from grounding.ports import Directory
from rai.records import Outcome
from tests.bot.turn.test_pipeline import SECRET, small

QUESTION = "Up to how much may agents refund?"
IN_GROUP = Ask(QUESTION, user=None, channel="msteams", actor=Actor("bella", "aad", "halden"))


class Asked:
    """A directory that remembers whom it was asked about; `error` is raised, `wait` seconds are taken."""

    def __init__(self, error: Exception | None = None, wait: float = 0.0) -> None:
        self.users: list[str] = []
        self.cancelled = False
        self._error, self._wait = error, wait

    async def groups(self, user: str) -> frozenset[str]:
        self.users.append(user)
        try:
            await asyncio.sleep(self._wait)
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        if self._error:
            raise self._error
        return frozenset({"billing", "agents"})


async def turn(folder: Path, ask: Ask, directory: Directory) -> tuple[Reply, dict[str, Any]]:
    """The reply, and what the ledger has of who asked and what they could read."""
    w = await small(folder, documents=[SECRET])
    reply = await answer_turn(ask, replace(w.seams, directory=directory), Policy())
    entry = await w.ledger.get(reply.entry_id)
    assert entry is not None
    return reply, {"groups": entry.body["actor"]["groups"], "access": entry.body["access"]}


async def test_a_group_reads_as_a_stranger_and_the_record_names_the_groups_of_who_asked(tmp_path: Path) -> None:
    """The document is for a group that who asks is in; the others who read along need not be."""
    reply, told = await turn(tmp_path, IN_GROUP, Asked())
    assert reply.outcome is Outcome.INSUFFICIENT
    assert "150" not in str(reply.as_json())
    assert told == {"groups": ["agents", "billing"], "access": {"user": None, "groups": []}}


async def test_alone_one_reads_with_the_groups_that_are_recorded(tmp_path: Path) -> None:
    directory = Asked()
    reply, told = await turn(tmp_path, replace(IN_GROUP, user="bella"), directory)
    assert "150" in reply.answer
    assert told == {"groups": ["agents", "billing"], "access": {"user": "bella", "groups": ["agents", "billing"]}}
    assert directory.users == ["bella"]


@pytest.mark.parametrize("error", [ServiceUnavailable("directory", "refused"), RuntimeError("words of somebody")])
async def test_a_directory_that_fails_leaves_them_open_and_the_turn_as_it_is(tmp_path: Path, error: Exception) -> None:
    reply, told = await turn(tmp_path, IN_GROUP, Asked(error))
    assert (reply.outcome, told["groups"]) == (Outcome.INSUFFICIENT, None)
    [note] = [note for note in reply.record.notes if "are not in the record" in note]
    assert "words of somebody" not in note
    assert note not in for_person(reply.record.notes)


async def test_alone_a_directory_that_fails_is_no_group_to_read_with_and_none_known(tmp_path: Path) -> None:
    down = Asked(ServiceUnavailable("directory", "refused"))
    reply, told = await turn(tmp_path, replace(IN_GROUP, user="bella"), down)
    assert reply.outcome is Outcome.INSUFFICIENT
    assert told == {"groups": None, "access": {"user": "bella", "groups": []}}


async def test_a_directory_that_hangs_does_not_hold_the_turn(tmp_path: Path) -> None:
    directory = Asked(wait=3600.0)
    async with asyncio.timeout(60):
        _, told = await turn(tmp_path, IN_GROUP, directory)
    await asyncio.sleep(0)
    assert (told["groups"], directory.cancelled) == (None, True)
    assert HELD_S <= 1


@pytest.mark.parametrize(
    "actor", [None, Actor(None, "key 0"), Actor("29:ada", "channel"), Actor("ada", "key 0"), Actor(None, "local")]
)
async def test_of_whom_the_directory_does_not_know_nothing_is_asked(tmp_path: Path, actor: Actor | None) -> None:
    directory = Asked()
    _, told = await turn(tmp_path, replace(IN_GROUP, actor=actor), directory)
    assert (directory.users, told["groups"]) == ([], None)
    assert told["access"] == {"user": None, "groups": []}
