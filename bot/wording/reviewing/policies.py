"""A policy in words: the same on the terminal, on the pages and in the docs. What it decided in a turn: `bot.wording.reviewing.decisions`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

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


def rule_words(p: Policy) -> str:
    """When the passages are enough."""
    return {
        "max_score": f"best at {p.correct_at:g} or more",
        "irrelevant_over_70": "at most 70 % are irrelevant",
        "relevant_at_most_70": "more than 70 % are relevant",
        "mean_kept": f"average of the kept at {p.correct_at:g} or more",
        "mean_all_retrieved": f"average of all at {p.correct_at:g} or more",
        "top_k": "always",
    }[p.rule]


def _kept_words(p: Policy) -> str:
    if p.rule == "top_k":
        return "all, best first"
    if p.style == "binary":
        return "every yes"
    if p.rule == "max_score":
        return f"grades from {p.correct_at:g} if that is enough, else from {p.keep_at:g}"
    return f"grades from {p.keep_at:g}"


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


def _doubt_words(p: Policy) -> str:
    said = ", ".join(f"{kind} {_DOUBT[p.doubt[kind]]}" for kind in p.doubt)
    return f"contacts struck, amounts struck where sources disagree, the rest marked{f'; but {said}' if said else ''}"


_DOUBT = {"struck": "struck", "conflict": "struck where sources disagree", "marked": "marked"}


SIDE_BY_SIDE: Mapping[str, Callable[[Policy], str]] = {
    "query": lambda p: (
        "extracted, then key words by a model" if p.query == "keywords" else "extracted from the conversation"
    ),
    "search": lambda p: f"{p.retrieve_k} by {_SEARCH[p.search]}",
    "grades": lambda p: _STYLES[p.style] + ("" if p.style == "none" else f", {p.grade_k} passages"),
    "enough when": rule_words,
    "keeps": _kept_words,
    "otherwise": _step_words,
    "evidence": lambda p: f"{p.evidence_k} {p.evidence}, {p.evidence_tokens} tokens" + (", filled" if p.fill else ""),
    "answer": _answer_words,
    "asks back": lambda p: "when it is left open what is meant" if p.clarify else "no",
    "in doubt": _doubt_words,
}
"""What a person compares, in the order of a turn."""
