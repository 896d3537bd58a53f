"""A policy, and what it decided in a turn, in words: the same on the terminal, on the pages and in the docs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from grounding.policy import Policy

_SEARCH = {"hybrid": "words and meaning", "words": "words (BM25)", "meaning": "meaning (vectors)"}
_STYLES = {
    "score": "a score from 0 to 1",
    "label": "Awful, Poor, Good or Perfect, and why",
    "binary": "yes or no",
    "confidence": "a confidence and an extract",
    "none": "not graded",
}
_STEPS = {
    "rewrites": "{n} other phrasings",
    "hyde": "a hypothetical answer",
    "web": "the web",
    "plan": "plan, step, evaluate",
}
_ANSWERS = {
    "five-part": "five-part prompt",
    "hybrid-crag": "the document's prompt",
    "rag": "the document's prompt",
}
RULES: Mapping[str, str] = {
    "max_at_least_correct": "the best passage reaches what counts as correct",
    "max_below_correct": "the best passage is below what counts as correct",
    "max_below_keep": "no passage is good enough to be kept",
    "irrelevant_over_70": "share of passages that are irrelevant",
    "relevant_at_most_70": "share of passages that are relevant",
    "mean_kept": "mean of the passages that are kept",
    "mean_all_retrieved": "mean of all passages",
    "top_k": "the best passages are taken as they are",
    "nothing_retrieved": "nothing was found",
    "ungraded": "the grader did not answer",
}
"""What each rule compares, by the name that a record has."""


def rule_words(p: Policy) -> str:
    """When the passages are enough."""
    return {
        "max_score": f"best at {p.correct_at:g} or more",
        "irrelevant_over_70": "at most 70 % are irrelevant",
        "relevant_at_most_70": "more than 70 % are relevant",
        "mean_kept": f"mean of the kept at {p.correct_at:g} or more",
        "mean_all_retrieved": f"mean of all at {p.correct_at:g} or more",
        "top_k": "always",
    }[p.rule]


def _kept_words(p: Policy) -> str:
    if p.rule == "top_k":
        return "all, best first"
    if p.style == "binary":
        return "every yes"
    return f"{p.correct_at:g} if correct, else {p.keep_at:g}" if p.rule == "max_score" else f"{p.keep_at:g} or more"


def _step_words(p: Policy) -> str:
    web = f", {p.web_k} pages" + (", question rewritten" if p.web_query == "rewritten" else "")
    steps = [_STEPS[s].format(n=p.rewrites) + (web if s == "web" else "") for s in p.corrective]
    return "; then ".join(steps) or "nothing"


def _answer_words(p: Policy) -> str:
    extras = [
        f"at most {p.answer_sentences} sentences" if p.strict_sentences else "",
        "file names at the end" if p.file_names else "",
    ]
    return ", ".join([_ANSWERS[p.answer], *(e for e in extras if e)])


SIDE_BY_SIDE: Mapping[str, Callable[[Policy], str]] = {
    "query": lambda p: (
        "extracted, then key words by a model" if p.query == "keywords" else "extracted from the conversation"
    ),
    "search": lambda p: f"{p.retrieve_k} by {_SEARCH[p.search]}",
    "grades": lambda p: _STYLES[p.style] + ("" if p.style == "none" else f", {p.grade_k} passages"),
    "enough when": rule_words,
    "keeps": _kept_words,
    "otherwise": _step_words,
    "evidence": lambda p: f"{p.evidence_k} {p.evidence}, {p.evidence_tokens} tokens",
    "answer": _answer_words,
    "asks back": lambda p: "when it is left open what is meant" if p.clarify else "no",
}
"""What a person compares, in the order of a turn."""


def decision_words(decision: Mapping[str, Any] | None) -> str:
    """As `ambiguous: the best passage is below what counts as correct (0.62 against 0.8, by 0.18; max_below_correct)`."""
    if not decision:
        return ""
    rule = str(decision.get("rule", ""))
    said = RULES.get(rule, rule)
    if rule in ("ungraded", "top_k", "nothing_retrieved"):
        return f"{decision.get('action')}: {said} ({rule})"
    figures = "{value:.2f} against {threshold:g}, by {margin:.2f}".format(
        value=float(decision.get("value") or 0), threshold=float(decision.get("threshold") or 0), margin=float(decision.get("margin") or 0)
    )  # fmt: skip
    return f"{decision.get('action')}: {said} ({figures}; {rule})"


def correction_words(correction: Mapping[str, Any]) -> str:
    """A corrective step as a line: what was done, for what, and what came of it."""
    step = _STEPS.get(str(correction.get("step")), str(correction.get("step"))).replace("{n} ", "")
    queries: Sequence[str] = correction.get("queries") or ()
    asked = "; ".join(f"“{q}”" for q in queries)
    added = int(correction.get("added") or 0)
    came = f"{added} {'passage' if added == 1 else 'passages'} more" if queries else ""
    why = str(correction.get("why") or "")
    after = decision_words(correction.get("decision")) if queries else ""
    return " · ".join(part for part in (step, asked, came, why, after) if part)
