"""What a person reads is trimmed by their groups in Microsoft Graph: answers, sources, and what is left when Graph fails."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.commands.doctor.built_system import DIRECTORY, check_system
from bot.commands.doctor.diagnosis import Diagnosis
from bot.http.source import reader
from bot.records import Ask
from bot.settings.load import load_settings
from bot.system import System
from grounding.records import Access, Query
from rai.records import Outcome
from tests.fakes import faults
from tests.fakes.graph_server import GraphServer
from tests.fakes.identity_server import IdentityServer
from tests.knowledge_base import running, take_in

LEA = "11111111-2222-3333-4444-555555555555"
NOA = "66666666-7777-8888-9999-000000000000"
LEGAL, HR = "aaaaaaaa-0000-0000-0000-000000000001", "bbbbbbbb-0000-0000-0000-000000000002"
PAGES = {
    "public.md": "# Opening hours\nThe office opens at 9:15 on weekdays.",
    "legal.md": "# Nightjar\nThe Nightjar settlement is 48,200 dollars.",
    "hr.md": "# Parking\nThe Quillon parking bonus is 75 dollars a month.",
}
ACL = f"legal.md: ['{LEGAL}']\nhr.md: [hr]\n"
SECRET = "How much is the Nightjar settlement?"
BONUS = "How much is the Quillon parking bonus?"


@dataclass(frozen=True, slots=True)
class Site:
    system: System
    graph: GraphServer


@pytest.fixture
async def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Site]:
    async with _site(tmp_path, monkeypatch) as made:
        yield made


@asynccontextmanager
async def _site(folder: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Site]:
    pages = folder / "kb"
    pages.mkdir()
    for name, text in PAGES.items():
        (pages / name).write_text(text, "utf-8")
    acl, names = folder / "acl.yaml", folder / "groups.yaml"
    acl.write_text(ACL, "utf-8")
    names.write_text(f"groups: {{{HR}: hr}}", "utf-8")
    async with IdentityServer() as identity, GraphServer({LEA: [LEGAL], NOA: [HR]}) as graph:
        identity.install(monkeypatch)
        settings = load_settings(
            home=folder / "home",
            ledger_key_file=folder / "ledger.key",
            retries=0,
            directory="graph",
            graph_endpoint=graph.root,
            graph_groups_file=names,
            directory_cache_s=0.001,
        )
        await take_in(settings, pages, acl=acl, lexical_only=True)
        async with running(settings) as system:
            yield Site(system, graph)


async def told(system: System) -> Diagnosis:
    """What `attest doctor` says of the directory."""
    return next(found for found in await check_system(system) if found.name == DIRECTORY)


@pytest.mark.parametrize(("user", "sees", "misses"), [(LEA, SECRET, BONUS), (NOA, BONUS, SECRET)])
async def test_each_reads_what_their_groups_may(site: Site, user: str, sees: str, misses: str) -> None:
    """One group by its object id, one by the name that the file gives it."""
    assert (await site.system.answer(Ask(sees, user=user), None)).outcome is Outcome.ANSWERED
    hidden = await site.system.answer(Ask(misses, user=user), None)
    assert hidden.outcome is Outcome.INSUFFICIENT
    assert not {"48,200", "75"} & set(hidden.answer.replace(".", " ").split())


@pytest.mark.parametrize("user", [None, "stranger", "hr", LEGAL, "99999999-9999-9999-9999-999999999999"])
async def test_a_stranger_reads_what_everyone_may(site: Site, user: str | None) -> None:
    assert (await site.system.answer(Ask("When does the office open?", user=user), None)).outcome is Outcome.ANSWERED
    for question in (SECRET, BONUS):
        assert (await site.system.answer(Ask(question, user=user), None)).outcome is Outcome.INSUFFICIENT


FAULTS = {
    "500": faults.status(500),
    "403": faults.status(403),
    "429": faults.status(429, Retry_After="60"),
    "HTML": faults.html(200),
    "cut JSON": faults.truncated(),
    "closed socket": faults.closed(),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_without_graph_everyone_is_a_stranger_and_the_record_says_so(site: Site, fault: str) -> None:
    """Also who had their rights a moment ago; and the page of a source that was cited closes too."""
    reply = await site.system.answer(Ask(SECRET, user=LEA), None)
    assert reply.outcome is Outcome.ANSWERED
    site.graph.otherwise = FAULTS[fault]
    denied = await site.system.answer(Ask(SECRET, user=LEA), None)
    assert denied.outcome is Outcome.INSUFFICIENT
    entry = await site.system.ledger.get(denied.entry_id)
    assert entry is not None
    assert "only what everyone may see was searched" in str(entry.body)
    assert await reader(site.system, LEA) == Access(LEA)
    assert (await told(site.system)).status == "fail"


async def test_a_right_that_is_taken_away_ends(site: Site) -> None:
    assert await reader(site.system, LEA) == Access(LEA, frozenset({LEGAL}))
    site.graph.people[LEA] = []
    access = await reader(site.system, LEA)
    assert access == Access(LEA)
    assert all(
        "Nightjar" not in p.text for p in (await site.system.retriever.retrieve(Query(SECRET), access, 9)).passages
    )
    assert (await told(site.system)).status == "ok"
