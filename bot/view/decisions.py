"""What a turn decided on its passages, shaped for reading, from the JSON of its reply: which rule fired, by what margin, and what was done.

Old entries lack these fields; then there is nothing to show.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bot.view.claim_map import Tone
from bot.wording.clarification import completed, question_alone
from bot.wording.decisions import StepWords, reason_words, step_words, verdict_words

TONES: Mapping[str, Tone] = {"enough": "ok", "uncertain": "doubt", "not enough": "bad"}


@dataclass(frozen=True, slots=True)
class Verdict:
    """A decision: its word and tone, why, and the rule by its name. `action` is the name that CRAG has for it."""

    word: str
    tone: Tone
    why: str
    rule: str
    action: str


@dataclass(frozen=True, slots=True)
class Step:
    """A corrective step, and what was decided after it."""

    words: StepWords
    verdict: Verdict | None


@dataclass(frozen=True, slots=True)
class Decided:
    """The first decision, the corrective steps in order, and the question to the human agent with what it may be about."""

    first: Verdict | None
    steps: tuple[Step, ...]
    question: str
    options: tuple[str, ...]
    why_asked: str


def decided(reply: Mapping[str, Any]) -> Decided | None:
    """What `reply` tells of its decisions; None if it tells nothing."""
    first = _verdict(reply.get("decided_first") or reply.get("decision"))
    steps = tuple(_step(c) for c in _list(reply.get("corrections")) if isinstance(c, Mapping))
    asked = reply.get("clarification")
    if not isinstance(asked, Mapping):
        asked = {}
    if first is None and not steps and not asked:
        return None
    options = _options(asked)
    question = question_alone(str(asked.get("question") or ""), options)
    return Decided(first, steps, question, options, str(asked.get("why") or ""))


def ask_back(reply: Mapping[str, Any], question: str) -> dict[str, Any] | None:
    """`{"question", "options": [{"title", "completed"}]}` of a reply to `question` that asks back; None for any other."""
    view = decided(reply)
    if view is None or not view.question:
        return None
    options = [{"title": option, "completed": completed(question, option)} for option in view.options]
    return {"question": view.question, "options": options}


def _step(correction: Mapping[str, Any]) -> Step:
    words = step_words(correction)
    return Step(words, _verdict(correction.get("decision")) if words.queries else None)


def _verdict(decision: object) -> Verdict | None:
    if not isinstance(decision, Mapping) or not decision:
        return None
    word = verdict_words(decision)
    action, rule = str(decision.get("action") or ""), str(decision.get("rule") or "")
    return Verdict(word, TONES.get(word, "doubt"), reason_words(decision), rule, action)


def _options(asked: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(o for o in _list(asked.get("options")) if isinstance(o, str))


def _list(value: object) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []
