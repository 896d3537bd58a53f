"""What a turn decided on its passages, shaped for reading, from the JSON of its reply: which rule fired, by what margin, and what was done.

Old entries lack these fields; then there is nothing to show.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bot.view.claim_map import Tone
from bot.wording.reviewing.decisions import (
    StepWords,
    decision_words,
    reason_words,
    step_line,
    step_words,
    turn_words,
    verdict_words,
)

TONES: Mapping[str, Tone] = {"enough": "ok", "uncertain": "doubt", "not enough": "bad"}


@dataclass(frozen=True, slots=True)
class Verdict:
    """A decision: its word and tone, why, both as a line, and the rule by its name. `action` is the name that CRAG has for it."""

    word: str
    tone: Tone
    why: str
    line: str
    rule: str
    action: str


@dataclass(frozen=True, slots=True)
class Step:
    """A corrective step, and what was decided after it. `rule`: what the record names, also where nothing was searched for."""

    words: StepWords
    verdict: Verdict | None
    rule: str


@dataclass(frozen=True, slots=True)
class Decided:
    """The first decision, the corrective steps in order, and `line`, which says both at once: empty where the passages were enough."""

    first: Verdict | None = None
    steps: tuple[Step, ...] = ()
    line: str = ""

    def __bool__(self) -> bool:
        """Whether there is anything to show."""
        return self.first is not None or bool(self.steps)

    def lines(self) -> list[str]:
        """A line for the decision and one for each step after it, each with the rule by its name; none without a decision."""
        if self.first is None:
            return []
        lines = [_ruled(self.first.line, self.first.rule)]
        for step in self.steps:
            lines.append(_ruled(step_line(step.words), step.rule))
            lines += [f"  {line}" for line in step.words.trail]
        return lines


def decided(reply: Mapping[str, Any]) -> Decided:
    """What `reply` tells of its decisions; false if it tells nothing."""
    first = reply.get("decided_first") or reply.get("decision")
    corrections = [c for c in _list(reply.get("corrections")) if isinstance(c, Mapping)]
    return Decided(_verdict(first), tuple(map(_step, corrections)), turn_words(first, corrections))


def _step(correction: Mapping[str, Any]) -> Step:
    words, decision = step_words(correction), correction.get("decision")
    rule = str(decision.get("rule") or "") if isinstance(decision, Mapping) else ""
    return Step(words, _verdict(decision) if words.queries else None, rule)


def _verdict(decision: object) -> Verdict | None:
    if not isinstance(decision, Mapping) or not decision:
        return None
    word = verdict_words(decision)
    action, rule = str(decision.get("action") or ""), str(decision.get("rule") or "")
    return Verdict(word, TONES.get(word, "doubt"), reason_words(decision), decision_words(decision), rule, action)


def _ruled(words: str, rule: str) -> str:
    return f"- {words} · rule {rule}" if rule else f"- {words}"


def _list(value: object) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []
