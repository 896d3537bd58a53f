"""A chat model as judge: one call for an answer, everything in it quoted data, its reply read with distrust."""

from __future__ import annotations

import hashlib
import re
from collections import OrderedDict
from collections.abc import Callable, Sequence

from grounding.errors import ServiceReplyInvalid
from grounding.model_calls.spotlight import new_marker
from grounding.ports import ChatModel
from rai.check.judging.prompt import REQUEST, prompt
from rai.check.judging.reply import FORM, read
from rai.judgement import UNSURE, Case, Judgement, Proposal
from rai.records import Claim
from rai.screening.turn import current_turn

REMEMBERED = 2000
"""Most proposals that are kept: a repaired answer is checked again."""
_CITATION = re.compile(r" ?\[\d{1,3}(?:, ?\d{1,3})*\]")
_REPLY_TOKENS = 60
_CLAIM_TOKENS = 110
"""Most tokens of a reply, and more for each claim in it: a quotation of a line or two and a formula."""


class ModelJudge:
    """A `rai.ports.StatementJudge` that asks a chat model, which is expected to screen its prompts (`rai.screening.model.ScreenedModel`)."""

    def __init__(self, model: ChatModel, marker: Callable[[], str] = new_marker) -> None:
        self._model = model
        self._marker = marker
        self._proposed: OrderedDict[bytes, Proposal] = OrderedDict()

    @property
    def name(self) -> str:
        return f"model:{self._model.name}"

    async def judge(self, case: Case) -> tuple[Proposal, ...]:
        """A proposal for each claim, as the port says; a claim is asked about once for the same sentence, sources and question.

        Raises ServiceError, also for a reply that judges nothing, ContentFiltered or PromptBlocked.
        """
        keys = _keys(case)
        known = {key: self._proposed[key] for key in keys if key in self._proposed}
        fresh = {key: claim for key, claim in zip(keys, case.claims, strict=True) if key not in known}
        if fresh:
            asked = Case(case.sentences, tuple(fresh.values()), case.sources, case.said)
            known |= zip(fresh, await self._ask(asked), strict=True)
            self._proposed.update({key: known[key] for key in fresh})
        while len(self._proposed) > REMEMBERED:
            self._proposed.popitem(last=False)
        return tuple(known[key] for key in keys)

    async def _ask(self, case: Case) -> Sequence[Proposal]:
        judging = prompt(case, self._marker())
        reply = await self._model.complete(
            judging.system,
            REQUEST,
            purpose="judge",
            max_tokens=_REPLY_TOKENS + _CLAIM_TOKENS * len(case.claims),
            schema=FORM,
        )
        if (turn := current_turn()) is not None:
            turn.judgements.append(Judgement(reply.model, judging.system, reply.text))
        said = read(reply.text, len(case.claims), judging.labels)
        if not said:
            raise ServiceReplyInvalid(self.name, "the reply judges no claim")
        return [said.get(n, UNSURE) for n in range(1, len(case.claims) + 1)]


def _keys(case: Case) -> list[bytes]:
    """The keys that proposals on claims are kept by: hashes, for the text may be personal."""
    parts = [*(part for s in case.sources for part in (s.id, s.title, s.text, s.updated or "")), *case.said]
    whole = _digest(parts)
    return [_digest([whole.hex(), *_of(claim, case.sentence_of(claim))]) for claim in case.claims]


def _of(claim: Claim, sentence: Claim) -> tuple[str, ...]:
    """A claim in its sentence, whatever citations were put into it since."""
    before = sentence.text[: claim.start - sentence.start]
    return (claim.kind, _uncited(claim.text), str(len(_uncited(before))), _uncited(sentence.text))


def _uncited(text: str) -> str:
    return _CITATION.sub("", text)


def _digest(parts: Sequence[str]) -> bytes:
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.digest()
