"""What the message extension asks of the system: passages that a person may read, and a check of a text against them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

from bot.events.digests import Digests
from bot.events.looks import record_check
from bot.records import Actor
from bot.system import CheckRequest, System
from bot.teams.extension.talk import HELD_BY_NOTHING
from bot.turn.access import restricted
from bot.turn.draft.contacts import elsewhere, looked_up
from bot.turn.draft.sources import as_sources
from bot.turn.entries.read_again import may_be_told, read_again, versions_of
from bot.wording.refusals import spoken
from grounding.errors import ServiceError
from grounding.evidence.choose import retired
from grounding.quoting.countries import countries_in, english_name, spoken_countries
from grounding.records import Access, Evidence, Passage, Query, Turn
from rai.check.contact_sources import is_contact, unvouched
from rai.claims.find import claims_of, find_values
from rai.records import Claim, Report
from rai.screening.languages import language

WITHIN_S = 5.0
"""Teams gives up on an extension that takes longer than some seconds."""
FOUND, CHECKED_AGAINST = 10, 8
"""Passages of one search; passages that a message is checked against."""
MOST_LOOKED_UP, HOLDING, TELLING = 6, 2, 3
"""Values that are looked for by themselves, passages that are taken for each, and digits from which that tells something."""
_NUMBER = re.compile(r"\d+(?:[.,]\d+)?")
NEAR = 0.3
"""The least cosine of a passage that shares no word with what is searched for: something is nearest to any words, "asdf qwer" come to 0.21, "lorem
ipsum dolor" to 0.29, "wlan einrichten" over English pages to 0.35.
"""


def _is_near(passage: Passage) -> bool:
    return passage.bm25 is not None or passage.semantic is None or passage.semantic >= NEAR


def _usable(passages: Sequence[Passage]) -> Sequence[Passage]:
    """What may be quoted to a customer, in its order, but replaced editions behind all else. A newer document of a like title replaces none: the hours over the
    holidays are not those of the shops.
    """
    usable = [p for p in passages if not p.internal and not p.screened and _is_near(p)]
    old = retired(usable)
    return sorted(usable, key=lambda p: p.chunk_id in old)


def _unfound(report: Report) -> Iterable[str]:
    """The values that no passage has, as documents may write them: amounts and measures of three digits and more, which stand nowhere by chance."""
    for claim in report.claims:
        if claim.rule in HELD_BY_NOTHING and claim.kind in ("money", "quantity", "percent", "number"):
            for number in _NUMBER.findall(claim.text):
                plain = number.replace(",", ".")
                whole, _, cents = plain.partition(".")
                if len(whole.lstrip("0") + cents) >= TELLING:
                    yield from dict.fromkeys((number, plain, plain.replace(".", ",")))


@dataclass(frozen=True, slots=True)
class PersonsKnowledge:
    """The knowledge base as one person may see it. `within_s`: seconds that the message extension waits for it, and for an answer."""

    system: System
    within_s: float = WITHIN_S

    async def search(self, text: str, user: str | None, k: int = FOUND) -> Sequence[Passage]:
        """What may be quoted to a customer of what `user` may read and has something to do with `text`, best first, replaced editions behind all else.
        Raises ServiceError, StoreError.
        """
        found = await self.system.retriever.retrieve(Query(text), await self.access(user), k)
        return _usable(found.passages)

    async def passage(self, place: Mapping[str, Any], user: str | None) -> Evidence | None:
        """The passage at a place of a document's version, with its words as they stand there; None if `user` may not read it, or it is gone."""
        evidence = await read_again(self.system.library, await self.access(user), {**place, "n": 1, "text": ""})
        then, _, _ = await versions_of(self.system.library, place)
        if evidence is None or then is None:
            return None
        start = min(max(evidence.passage.start, 0), len(then.text))
        text = then.text[start : max(start, min(int(place.get("end") or 0), len(then.text)))].strip()
        found = replace(evidence.passage, title=then.title, url=then.url, updated=then.updated, text=text)
        return replace(evidence, passage=found) if text else None

    async def check(self, text: str, user: str | None, actor: Actor) -> tuple[Report, Sequence[Passage]]:
        """A text against what is found for it; the record says that it was checked, and not what it says. Raises ServiceError, StoreError, WorkError."""
        passages = await self.search(text, user, CHECKED_AGAINST)
        request = CheckRequest(text, as_sources(passages))
        report = await self.system.check(request)
        if more := await self._holding(_unfound(report), passages, user):
            passages = [*passages, *more]
            request = CheckRequest(text, as_sources(passages))
            report = await self.system.check(request)
        digests = Digests(self.system.settings.files.ledger_key)
        await record_check(self.system.ledger, digests, actor, [(request, report)])
        claims = await self._with_trust(text, report.claims, passages, user)
        return replace(report, claims=claims), passages

    async def unvouched(self, passage: Passage, user: str | None) -> tuple[Claim, ...]:
        """The contacts in the text of a passage that nobody answers for."""
        contacts = [found for found in find_values(passage.text, self._regions) if is_contact(found)]
        said = [replace(claim, status="exact") for claim in claims_of(passage.text, contacts)]
        return tuple(c for c in await self._with_trust(passage.text, said, [passage], user) if c.trust is not None)

    async def _with_trust(
        self, text: str, claims: Sequence[Claim], passages: Sequence[Passage], user: str | None
    ) -> tuple[Claim, ...]:
        async def read(by: tuple[Passage, ...]) -> tuple[Claim, ...]:
            return await asyncio.to_thread(unvouched, text, tuple(claims), by, self._regions)

        search = partial(elsewhere, self.system.retriever, await self.access(user))
        return await looked_up(read, tuple(passages), search)

    @property
    def _regions(self) -> tuple[str, ...]:
        return tuple(self.system.settings.answering.phone_regions)

    async def _holding(self, values: Iterable[str], passages: Sequence[Passage], user: str | None) -> Sequence[Passage]:
        """Passages beside those found that have one of these values, digit for digit: the words of a message need not be theirs."""
        known = {p.chunk_id for p in passages}
        access = await self.access(user)
        found: dict[str, Passage] = {}
        for value in islice(dict.fromkeys(values), MOST_LOOKED_UP):
            looked = await self.system.retriever.retrieve(Query(value, by="words"), access, FOUND)
            digits = re.compile(rf"(?<![\d.,]){re.escape(value)}(?![.,]?\d)")
            holding = [p for p in _usable(looked.passages) if p.chunk_id not in known and digits.search(p.text)]
            found |= {p.chunk_id: p for p in holding[:HOLDING]}
        return tuple(found.values())

    async def in_view(self, turns: Sequence[Turn], user: str | None) -> tuple[str, ...]:
        """What a conversation has named that `user` may read of. Raises StoreError."""
        german = any(language(text) == "de" for text in islice(spoken(turns), 1))  # its nouns begin with a capital
        access = await self.access(user)
        names = await self.system.queries.in_view(turns, access, of_titles=german)
        region = await self._region(turns, access)
        held = frozenset(code for name in names for _, code in countries_in(name))
        return (*names, region) if region and not held else tuple(names)

    async def _region(self, turns: Sequence[Turn], access: Access) -> str:
        """The country that was spoken of last, as the documents call it; empty where none was, or no document has it."""
        code = next((codes[-1] for text in spoken(turns) if (codes := [c for _, c in spoken_countries(text)])), "")
        name = english_name(code) if code else ""
        return name if name and await self.system.queries.knows(name, access) else ""

    async def knows(self, name: str, user: str | None) -> bool:
        """Whether a document that `user` may read has a name, a country also in another language. Raises StoreError."""
        access, names = await self.access(user), {name, *(english_name(code) for _, code in countries_in(name))}
        return any([await self.system.queries.knows(each, access) for each in names])

    async def restricted(self, doc_ids: Iterable[str]) -> frozenset[str]:
        """Those of these documents that are not for everyone; a document that has gone counts as it was last, and all do where that cannot be told."""
        return await restricted(self.system.library, doc_ids)

    async def may_be_told(self, body: Mapping[str, Any], user: str | None) -> bool:
        """Whether `user` may still read all that a recorded reply rests on. Raises StoreError."""
        return await may_be_told(self.system.library, await self.access(user), body)

    async def access(self, user: str | None) -> Access:
        """The rights of `user`; a directory that does not answer leaves what everyone may read."""
        if user is None:
            return Access()
        try:
            return Access(user, await self.system.directory.groups(user))
        except ServiceError:
            return Access(user)
