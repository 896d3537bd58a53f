"""A turn once more, of which nothing is recorded and no model asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.records import Ask, Rerun
from bot.settings.load import load_settings
from grounding.errors import UserError
from tests.knowledge_base import PAGE, running, take_in, take_in_page

QUESTION = "How much is Watch Plus a month?"


async def test_it_reads_with_the_rights_that_are_given_and_writes_nothing(tmp_path: Path) -> None:
    settings = load_settings()
    acl = tmp_path / "acl.yaml"
    acl.write_text("'*': [billing]\n", "utf-8")
    await take_in_page(settings, tmp_path / "kb", acl=acl, lexical_only=True)
    async with running(settings) as system:
        before = [e.entry_id async for e in system.ledger.entries()]
        denied = await system.rerun(Rerun(Ask(QUESTION, user="ada")))
        allowed = await system.rerun(Rerun(Ask(QUESTION, user="ada"), frozenset({"billing"})))
        stranger = await system.rerun(Rerun(Ask(QUESTION), frozenset({"billing"})))
        assert [e.entry_id async for e in system.ledger.entries()] == before
    assert [b["reply"]["outcome"] for b in (denied, allowed, stranger)] == ["insufficient", "answered", "insufficient"]
    assert allowed["access"]["groups"] == ["billing"]


async def test_a_policy_that_is_gone_is_the_default_one(tmp_path: Path) -> None:
    settings = load_settings()
    await take_in_page(settings, tmp_path / "kb", lexical_only=True)
    async with running(settings) as system:
        body = await system.rerun(Rerun(Ask(QUESTION, policy="retired")))
        assert body["policy"]["name"] == "attest"
        with pytest.raises(UserError):
            await system.rerun(Rerun(Ask("")))


async def test_a_recorded_draft_stands_in_for_a_model(tmp_path: Path) -> None:
    """The settings name a model that nobody could reach; the draft is checked on what is found, and without one the turn says so."""
    plain = load_settings()
    (tmp_path / "kb").mkdir()
    (tmp_path / "kb" / "plans.md").write_text(PAGE, "utf-8")
    await take_in(plain, tmp_path / "kb", lexical_only=True)
    settings = load_settings(
        generator="openai", openai_endpoint="http://127.0.0.1:9/v1", openai_api_key="x", openai_model="m"
    )
    async with running(settings) as system:
        drafted = Rerun(Ask(QUESTION), draft="Watch Plus costs $8.88 a month.", generator="model:m")
        body = await system.rerun(drafted)
        assert body["reply"]["mode"]["generator"] == "model:m"
        assert body["reply"]["outcome"] in ("repaired", "withheld")
        assert body["calls"] == []
        none = await system.rerun(Rerun(Ask(QUESTION), generator="model:m"))
        assert (none["reply"]["outcome"], none["reply"]["code"]) == ("failed", "model_unavailable")
        assert any("not asked again" in note for note in none["reply"]["notes"])
        assert none["calls"] == []
