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
    "right": "Share of rows that meet every expectation.",
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
}
LESS = frozenset({"answered_though_absent", "refused_though_present"})
"""Figures of which less is better."""
NEITHER = frozenset({"corrected", "model_calls", "model_tokens"})
"""Figures that say what was done, not how well."""
MAIN: Mapping[str, str] = {"retrieval": "ndcg_10", "query": "rouge_1_f", "golden": "right"}
"""The figure that ranks questions from worst to best."""


def name_of(metric: str) -> str:
    """The figure's name for a person."""
    return NAMES.get(metric, metric.replace("_", " "))
