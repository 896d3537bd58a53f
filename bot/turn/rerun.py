"""A recorded turn once more: the same pipeline over the knowledge base as it is now, of which nothing is recorded and no model is asked unless it is wanted."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any, cast

from bot.records import Rerun
from bot.turn.pipeline import answer_turn
from bot.turn.seams import Seams
from grounding.errors import ServiceUnavailable
from grounding.policy import Policy
from grounding.records import Draft, Prompt
from rai.ports import Ledger
from rai.records import Entry

NOT_ASKED = "a model is not asked again"


async def rerun_turn(wanted: Rerun, seams: Seams, policy: Policy, *, drafted: bool) -> dict[str, Any]:
    """The body of the entry that the turn would leave now. `drafted`: the recorded draft takes the place of the composer. Raises UserError for a question that cannot be used."""
    kept = _Kept(seams.ledger)
    today = replace(
        seams,
        web=None,
        directory=_AsThen(wanted.groups),
        ledger=cast("Ledger", kept),
        composer=_Recorded(wanted.draft, wanted.generator) if drafted else seams.composer,
        reviser=seams.reviser if wanted.asks_model else None,
    )
    await answer_turn(replace(wanted.ask, policy=policy.name), today, policy)
    return kept.body


class _Kept:
    """What of a ledger a turn asks, with nothing in it: the entry is kept in memory, as it would be read again."""

    def __init__(self, recorded: Ledger) -> None:
        self._recorded = recorded
        self.body: dict[str, Any] = {}

    async def append(self, kind: str, body: dict[str, Any]) -> Entry:
        self.body = json.loads(json.dumps(body))
        return Entry("", 0, "", kind, self.body, "", "")

    async def get(self, entry_id: str) -> Entry | None:
        """What a reworked answer was made of is looked up in the record itself."""
        return await self._recorded.get(entry_id)

    async def entries(self, **_wanted: object) -> AsyncIterator[Entry]:
        none: tuple[Entry, ...] = ()
        for entry in none:
            yield entry


class _AsThen:
    """A directory that knows one person, with the groups that the turn read with."""

    def __init__(self, groups: frozenset[str]) -> None:
        self._groups = groups

    async def groups(self, _user: str) -> frozenset[str]:
        return self._groups


class _Recorded:
    """A composer that says what was drafted then."""

    def __init__(self, draft: str | None, generator: str) -> None:
        self._draft = draft
        self.name = generator

    async def compose(self, _prompt: Prompt) -> Draft:
        if self._draft is None:
            raise ServiceUnavailable("model", NOT_ASKED)
        return Draft(self._draft, self.name)
