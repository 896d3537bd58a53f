"""One chat model for all that a policy asks of it: it grades as it is told to, and says what is written down for each purpose."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from grounding.grading.features import label_of
from grounding.policy import Style
from grounding.records import Completion
from grounding.text import sentences
from tests.fakes.clock import time_passes
from tests.fakes.model import Call

Say = str | Exception | Sequence[str | Exception] | Callable[[str, str], str] | None
"""A reply each time, an error that is raised, one after the other (the last for ever), or made of the prompt; None: never answers, while a minute passes."""
_QUOTED = re.compile(r"^ ?<<<(\w{16})\n(.*?)\n\1>>> ?$", re.DOTALL | re.MULTILINE)


class PolicyModel:
    """Grades by `scores`: a document has the score of the first of these words that it holds, else 0; `replies` by purpose:
    "rewrite", "hyde", "plan", "evaluate", "compose", and "grade" in place of its own grading. What nobody scripted is an error.
    """

    name = "scripted"

    def __init__(self, style: Style, scores: Mapping[str, float], **replies: Say) -> None:
        self._style, self._scores = style, scores
        self._replies = replies
        self.calls: list[Call] = []

    def asked(self, purpose: str) -> list[Call]:
        return [call for call in self.calls if call.purpose == purpose]

    async def complete(
        self, system: str, user: str, *, purpose: str, max_tokens: int = 800, schema: Mapping[str, Any] | None = None
    ) -> Completion:
        self.calls.append(Call(system, user, purpose, max_tokens))
        if purpose == "grade" and purpose not in self._replies:
            return Completion(self._graded(user), self.name, temperature=0.0)
        say = self._replies[purpose]
        if isinstance(say, list | tuple):
            say = say[min(len(self.asked(purpose)), len(say)) - 1]
        if say is None:
            time_passes(60)
            await asyncio.sleep(60)
            raise AssertionError("nobody stopped it")
        if isinstance(say, Exception):
            raise say
        text = say(system, user) if callable(say) else str(say)
        return Completion(text, self.name, {"prompt_tokens": 10, "completion_tokens": 5}, 0.0)

    def _graded(self, user: str) -> str:
        items = [{"id": n, **self._fields(text)} for n, (_, text) in enumerate(_QUOTED.findall(user), 1)]
        return json.dumps({"answers" if self._style == "confidence" else "grades": items})

    def _fields(self, text: str) -> dict[str, object]:
        word, score = next(((w, s) for w, s in self._scores.items() if w in text), ("", 0.0))
        if self._style == "label":
            return {"Justification": "as written down", "ScoreLabel": label_of(score)}
        if self._style == "binary":
            return {"binary_score": "yes" if score >= 0.5 else "no"}
        if self._style == "score":
            return {"score": score}
        said = next((s.text.strip() for s in sentences(text) if word and word in s.text), "")
        return {"confidence": score, "relevant_text": said}
