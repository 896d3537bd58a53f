"""What was decided in a turn, in words: the same on the terminal, on the pages and in a channel.

They read records as JSON, for an entry of the ledger may be older than a field, and what a page is given may be anything.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

VERDICTS = {"correct": "enough", "ambiguous": "uncertain", "incorrect": "not enough"}
"""An action of CRAG, as a person says it of what was found."""
_HEADS = {"ambiguous": "uncertain from the knowledge base alone", "incorrect": "not enough in the knowledge base"}
_NOTHING_KEPT = "no passage is good enough to be kept"
_SENTENCES: Mapping[str, Mapping[str, str]] = {
    "max_at_least_correct": {"correct": "the best passage is good enough"},
    "max_below_correct": {"ambiguous": "the best passage helps, but is not good enough by itself"},
    "max_below_keep": {"incorrect": _NOTHING_KEPT},
    "irrelevant_over_70": {
        "correct": "few enough passages are irrelevant",
        "ambiguous": "too many passages are irrelevant",
        "incorrect": "no passage is relevant",
    },
    "relevant_at_most_70": {
        "correct": "enough passages are relevant",
        "ambiguous": "too few passages are relevant",
        "incorrect": "no passage is relevant",
    },
    "mean_kept": {
        "correct": "the passages that are kept are good enough on average",
        "ambiguous": "the passages that are kept are not good enough on average",
        "incorrect": _NOTHING_KEPT,
    },
    "mean_all_retrieved": {
        "correct": "the passages are good enough on average",
        "ambiguous": "the passages are not good enough on average",
        "incorrect": _NOTHING_KEPT,
    },
    "top_k": {"correct": "the best passages are taken, the rule sets no bar", "incorrect": _NOTHING_KEPT},
    "nothing_retrieved": {"incorrect": "nothing was found"},
    "ungraded": {"ambiguous": "there is no readable grade, so every passage is kept"},
}
"""By the rule that fired and what it decided."""
_MEASURED = {
    "max_at_least_correct": "best",
    "max_below_correct": "best",
    "max_below_keep": "best",
    "irrelevant_over_70": "irrelevant",
    "relevant_at_most_70": "relevant",
    "mean_kept": "average of the kept",
    "mean_all_retrieved": "average of all",
}
"""What a rule compares with its threshold; the other rules compare nothing."""
_NEEDED = {"irrelevant_over_70": "at most {} allowed", "relevant_at_most_70": "more than {} needed"}
_SHARES = frozenset(_NEEDED)
_DONE = {
    "rewrites": "asked in other words",
    "hyde": "searched for an imagined answer",
    "web": "searched the web",
    "plan": "searched by a plan",
}
_NOT_DONE = {
    "rewrites": "not asked in other words",
    "hyde": "no answer imagined to search for",
    "web": "the web was not searched",
    "plan": "no plan was followed",
}
_PLACES = {"knowledge_base: ": "in the knowledge base: ", "web: ": "on the web: "}


def decision_words(decision: object) -> str:
    """As `not enough: no passage is good enough to be kept (best 0.20, needed 0.40, short by 0.20)`; "" without one."""
    if not isinstance(decision, Mapping) or not decision:
        return ""
    return f"{verdict_words(decision)}: {reason_words(decision)}"


def verdict_words(decision: Mapping[str, Any]) -> str:
    """`enough`, `uncertain` or `not enough`."""
    action = str(decision.get("action"))
    return VERDICTS.get(action, action)


def reason_words(decision: Mapping[str, Any]) -> str:
    """Why it was decided so: a sentence, and the figures of the comparison with its margin."""
    rule = str(decision.get("rule"))
    sentence = _SENTENCES.get(rule, {}).get(str(decision.get("action")), rule)
    figures = _figures(decision, rule)
    return f"{sentence} ({figures})" if figures else sentence


def turn_words(first: object, corrections: Sequence[object]) -> str:
    """One line on a turn whose passages were not enough at once, and what was done about it; "" where they were.

    As `not enough in the knowledge base (best passage 0.31, needed 0.40): searched the web, 2 pages kept`.
    """
    if not isinstance(first, Mapping) or str(first.get("action")) not in _HEADS:
        return ""
    head = _HEADS[str(first["action"])]
    rule = str(first.get("rule"))
    figures = ", ".join(_comparison(first, rule)).replace("best ", "best passage ", 1)
    why = figures or _SENTENCES.get(rule, {}).get(str(first["action"]), rule)
    steps = [step_words(c) for c in corrections if isinstance(c, Mapping)]
    done = "; ".join(f"{step.done}, {step.came}" for step in steps if step.queries)
    enough = "; that was enough" if steps and steps[-1].verdict == "enough" else ""
    return f"{head} ({why})" + (f": {done}{enough}" if done else "")


@dataclass(frozen=True, slots=True)
class StepWords:
    """A corrective step: what was done, what was searched for, what came of it, how it ended, and what was decided after it."""

    done: str
    queries: tuple[str, ...]
    came: str
    why: str
    verdict: str
    after: str
    rule: str
    trail: tuple[str, ...]


def step_words(correction: Mapping[str, Any]) -> StepWords:
    """The parts of a `Correction`. A step that searched for nothing came to nothing, and `why` says why."""
    step = str(correction.get("step"))
    queries = tuple(_query(q) if step == "plan" else q for q in _texts(correction.get("queries")))
    decision = correction.get("decision")
    after = decision if queries and isinstance(decision, Mapping) else {}
    return StepWords(
        done=(_DONE if queries else _NOT_DONE).get(step, step),
        queries=queries,
        came=_came(step, int(_number(correction.get("added")))) if queries else "",
        why=str(correction.get("why") or ""),
        verdict=verdict_words(after) if after else "",
        after=reason_words(after) if after else "",
        rule=str(after.get("rule") or ""),
        trail=tuple(_texts(correction.get("trail"))),
    )


def step_line(step: StepWords) -> str:
    """A corrective step as a line, as `asked in other words: “a”; “b” · 1 more passage · enough: the best passage …`."""
    asked = "; ".join(f"“{q}”" for q in step.queries)
    if not asked:
        return f"{step.done}: {step.why}" if step.why else step.done
    decided = f"{step.verdict}: {step.after}" if step.after else ""
    return " · ".join(part for part in (f"{step.done}: {asked}", step.came, step.why, decided) if part)


def _came(step: str, added: int) -> str:
    if step == "web":
        return f"{added or 'no'} {'page' if added == 1 else 'pages'} kept"
    return f"{added} more {'passage' if added == 1 else 'passages'}" if added else "nothing new"


def _query(text: str) -> str:
    """A query; that of a step of a plan begins with where it was searched for."""
    place = next((p for p in _PLACES if text.startswith(p)), "")
    return _PLACES[place] + text.removeprefix(place) if place else text


def _figures(decision: Mapping[str, Any], rule: str) -> str:
    compared = _comparison(decision, rule)
    return ", ".join([*compared, _distance(decision, rule)]) if compared else ""


def _comparison(decision: Mapping[str, Any], rule: str) -> list[str]:
    """What was measured and what was needed."""
    if rule not in _MEASURED:
        return []
    value, threshold = (_shown(decision, rule, name) for name in ("value", "threshold"))
    return [f"{_MEASURED[rule]} {value}", _NEEDED.get(rule, "needed {}").format(threshold)]


def _distance(decision: Mapping[str, Any], rule: str) -> str:
    """By how much: records round a margin to four places."""
    value, threshold, margin = (_number(decision.get(name)) for name in ("value", "threshold", "margin"))
    enough = decision.get("action") == "correct"
    if not margin:
        return "exactly on the line" if enough or rule in _SHARES else "short by less than 0.0001"
    by = _shown(decision, rule, "margin")
    if (value < threshold) if rule == "irrelevant_over_70" else (value > threshold):
        return f"{by} to spare"
    return f"{by} too many" if rule == "irrelevant_over_70" else f"short by {by}"


def _shown(decision: Mapping[str, Any], rule: str, name: str) -> str:
    """A figure with as many digits as the comparison needs to add up: `best 0.796, needed 0.800, short by 0.004`."""
    number = _number(decision.get(name))
    if rule in _SHARES:
        points = " points" if name == "margin" else " %"
        return f"{round(100 * number, 1):g}{points}"
    value, threshold, margin = (_number(decision.get(key)) for key in ("value", "threshold", "margin"))
    for digits in (2, 3):
        gap = abs(round(value, digits) - round(threshold, digits))
        if (not margin or round(margin, digits)) and math.isclose(gap, round(margin, digits), abs_tol=1e-9):
            return f"{number:.{digits}f}"
    return f"{number:.4f}"


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else 0.0


def _texts(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list | tuple) else []
