"""A chat model that grades as its prompt asks: it reads question and documents out of the prompt and compares their words."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from typing import Any

from grounding.grading.features import label_of
from grounding.grading.prompt import Style
from grounding.records import Completion
from grounding.text import terms
from grounding.tokens import count_tokens

_QUOTED = re.compile(r"^ ?<<<(\w{16})\n(.*?)\n\1>>> ?$", re.DOTALL | re.MULTILINE)
_QUESTION = re.compile(
    r"^(?:Query: (.+)|<question>\n(.+)| User question: (.+)|.+ answer the question: \n (.+))$", re.MULTILINE
)


class GradingModel:
    """Takes `seconds` for a call. `calls` and `prompt_tokens` count what it was asked, `at_once` how many calls there were at a time."""

    def __init__(self, style: Style, *, seconds: float = 0.0) -> None:
        self._style = style
        self._seconds = seconds
        self.calls = 0
        self.prompt_tokens = 0
        self.at_once = 0
        self._now = 0

    @property
    def name(self) -> str:
        return "comparing"

    async def complete(
        self, system: str, user: str, *, purpose: str, max_tokens: int = 800, schema: Mapping[str, Any] | None = None
    ) -> Completion:
        self.calls += 1
        self._now += 1
        self.at_once = max(self.at_once, self._now)
        try:
            await asyncio.sleep(self._seconds)
        finally:
            self._now -= 1
        self.prompt_tokens += count_tokens(system) + count_tokens(user)
        return Completion(self._reply(user), self.name)

    def _reply(self, user: str) -> str:
        found = _QUESTION.search(user)
        assert found is not None, "the prompt asks no question"
        asked = set(terms(next(filter(None, found.groups()))))
        documents = [text for _, text in _QUOTED.findall(user)]
        shares = [round(len(asked & set(terms(text))) / max(len(asked), 1), 2) for text in documents]
        if "There are several documents" not in user and self._style != "confidence":
            return self._one(shares[0])
        items = [
            {"id": n, **self._fields(share, text)}
            for n, (share, text) in enumerate(zip(shares, documents, strict=True), 1)
        ]
        return json.dumps({"answers" if self._style == "confidence" else "grades": items})

    def _one(self, share: float) -> str:
        if self._style == "label":
            return json.dumps({"ContextRelevance": self._fields(share, "")})
        return ("yes" if share >= 0.5 else "no") if self._style == "binary" else f"- Relevance Score: {share}"

    def _fields(self, share: float, text: str) -> dict[str, object]:
        if self._style == "score":
            return {"score": share}
        if self._style == "label":
            return {"Justification": "by its words", "ScoreLabel": label_of(share)}
        if self._style == "binary":
            return {"binary_score": "yes" if share >= 0.5 else "no"}
        return {"confidence": share, "relevant_text": text.splitlines()[-1] if text else ""}
