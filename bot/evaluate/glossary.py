"""What each figure is called and what it means, for pages and documents."""

from __future__ import annotations

from collections.abc import Mapping

NAMES: Mapping[str, str] = {
    "ndcg_10": "nDCG@10",
    "mrr": "MRR",
    "recall_5": "Recall@5",
    "recall_50": "Recall@50",
    "recall_5_graded": "Recall@5 after grading",
    "rouge_1_f": "ROUGE-1 F",
    "right": "Right in everything",
    "outcome": "Right outcome",
    "cite": "Right source cited",
    "must": "Says what it must",
    "must_not": "Says nothing it must not",
    "balanced_accuracy": "Balanced accuracy",
    "answered_though_absent": "Answered though absent",
    "refused_though_present": "Refused though present",
    "evidence_recall": "Evidence holds it",
    "corrected": "Passages not enough",
    "model_calls": "Model calls a turn",
    "model_tokens": "Model tokens a turn",
    "long": "Right but long",
    "half": "Half",
    "beside": "Beside the point",
    "wrong": "Wrong",
    "refused": "Refused",
    "broken": "Broken",
    "facts_found": "Facts found",
    "facts_in_first_five": "Facts in the first five",
    "facts_graded": "Facts graded enough",
    "facts_kept": "Facts kept",
    "facts_in_prompt": "Facts in the prompt",
    "facts_said": "Facts in the answer",
    "words": "Words of an answer",
    "ms_p50": "Milliseconds of a turn",
}
MEANINGS: Mapping[str, str] = {
    "ndcg_10": "How high the right documents stand among the first ten: 1 when they lead the list, less the lower they stand, 0 when none "
    "is there. A document at rank r counts 1 / log2(r + 1), divided by what the best order would give.",
    "mrr": "1 / rank of the first right document among fifty, 0 without one; the mean over questions.",
    "recall_5": "Share of the right documents that stand among the first five.",
    "recall_50": "Share of the right documents that stand among the first fifty: what no later step can find again.",
    "recall_5_graded": "Recall@5 once the passages that were graded stand in the order of their grades.",
    "rouge_1_f": "Overlap of the words of the query with those of the question as a person rewrote it: harmonic mean of how many of its words "
    "are wanted and how many of the wanted it has.",
    "right": "Share of rows that meet every expectation (turns: every fact, nothing wrong, and not too long; or rightly no answer).",
    "outcome": "Share of rows whose outcome is one of those expected.",
    "cite": "Share of rows with a citation of one of the documents expected.",
    "must": "Share of rows whose answer has every text that it must have.",
    "must_not": "Share of rows whose answer has no text that it must not have.",
    "balanced_accuracy": "Whether it is known when there is an answer: the mean of the share answered where there is one and the share refused where there "
    "is none. 0.5 is chance.",
    "answered_though_absent": "Of the questions whose answer is not in the knowledge base, the share for which something was kept to answer "
    "from (golden: an answer was given).",
    "refused_though_present": "Of the questions whose answer is in the knowledge base, in whole or in part, the share for which nothing was "
    "kept to answer from (golden: no answer was given).",
    "evidence_recall": "Of the rows that expect a citation, the share whose evidence held one of the documents expected: what the draft could be made of.",
    "corrected": "Share of turns whose passages were not enough by the policy's rule, so that it corrected or gave up.",
    "model_calls": "Calls of a chat model, mean of a turn: queries, grades, plans and drafts.",
    "model_tokens": "Tokens of those calls, prompt and reply together, as far as the service counts them.",
    "long": "Share of turns whose answer has every fact, in more words than an answer of its kind may have.",
    "half": "Share of turns whose answer has some of the facts.",
    "beside": "Share of turns that were answered without any of the facts, or though the documents do not answer them.",
    "wrong": "Share of turns whose answer says what only a wrong one says.",
    "refused": "Share of turns that can be answered and were not.",
    "broken": "Share of turns that ended failed, withheld or blocked.",
    "facts_found": "Of the turns that can be answered, the share of which every fact stands in a passage that the search found.",
    "facts_in_first_five": "The same among the first five passages.",
    "facts_graded": "The same in passages whose grade is enough to be kept.",
    "facts_kept": "The same in passages that the decision kept.",
    "facts_in_prompt": "The same in the evidence of the prompt.",
    "facts_said": "The same in the answer.",
    "words": "Median length of what was answered.",
    "ms_p50": "Median time of a turn on this machine.",
}
LESS = frozenset(
    {"answered_though_absent", "refused_though_present", "long", "half", "beside", "wrong", "refused", "broken"}
)
"""Figures of which less is better."""
NEITHER = frozenset({"corrected", "model_calls", "model_tokens", "words", "ms_p50"})
"""Figures that say what was done, not how well."""
WHOLE = frozenset({"without_relevant", "words", "ms_p50"})
"""Figures that are counts, no shares."""
MAIN: Mapping[str, str] = {"retrieval": "ndcg_10", "query": "rouge_1_f", "golden": "right", "turns": "right"}
"""The figure that ranks questions from worst to best."""


def name_of(metric: str) -> str:
    """The figure's name for a person."""
    return NAMES.get(metric, metric.replace("_", " "))
