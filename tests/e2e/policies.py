"""A whole turn under a policy, over a real engine, check and ledger, with one scripted model and a scripted web."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.records import Ask, Reply
from bot.turn.pipeline import answer_turn
from grounding.policy import Policy
from grounding.records import Document
from tests.e2e.support import ScriptedWeb, under, world
from tests.fakes.embedder import HashEmbedder
from tests.fakes.policy_model import PolicyModel, Say


@dataclass(frozen=True, slots=True)
class Turned:
    """A turn that was answered: the reply, its record, and what model and web were asked."""

    reply: Reply
    body: dict[str, Any]
    model: PolicyModel
    web: ScriptedWeb

    @property
    def stages(self) -> list[str]:
        """Stages by the names of the source document where it has one, screens and checks left out."""
        return [
            s.get("node", s["name"])
            for s in self.body["stages"]
            if s["name"] not in ("access", "screen", "query", "check", "record")
        ]

    @property
    def origins(self) -> list[str]:
        return [e["origin"] for e in self.body["evidence"]]

    @property
    def prompt(self) -> str:
        call = self.model.asked("compose")[0]
        return f"{call.system}\n{call.user}"


async def turn(
    folder: Path,
    policy: Policy,
    documents: Sequence[Document],
    ask: Ask,
    scores: Mapping[str, float],
    *,
    web: ScriptedWeb | None = None,
    **replies: Say,
) -> Turned:
    """One turn under `policy`; the model gives a document the score of the first of these words that it holds."""
    web = web or ScriptedWeb()
    model = PolicyModel(policy.style, scores, **replies)
    w = await world(folder, documents, HashEmbedder())
    reply = await answer_turn(ask, under(w.seams, policy, model, web), policy)
    entry = await w.ledger.get(reply.entry_id)
    assert entry is not None
    assert entry.body["policy"]["name"] == policy.name
    return Turned(reply, entry.body, model, web)
