"""What a reviewer can say of a turn: verdicts, and the reasons for which turns wait, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

Verdict = Literal["right", "partly", "wrong", "should_refuse", "wrongly_refused"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
VERDICT_WORDS: Mapping[str, str] = {
    "right": "Right",
    "partly": "Partly right",
    "wrong": "Wrong",
    "should_refuse": "Should not have been answered",
    "wrongly_refused": "Should have been answered",
}
VERDICT_MEANS: Mapping[str, str] = {
    "right": "what was done is what should have been done: a right answer, a right refusal, or rightly no answer",
    "partly": "something is missing, or something beside the question stands in it",
    "wrong": "it says something that is not so",
    "should_refuse": "it was answered, and the documents do not answer it, or it should have been refused",
    "wrongly_refused": "it was refused, withheld or not answered, and the documents answer it",
}
"""What each verdict says, for those who choose one."""
ON_ANSWERS: tuple[Verdict, ...] = ("right", "partly", "wrong", "should_refuse")
ON_NO_ANSWERS: tuple[Verdict, ...] = ("right", "wrongly_refused")
"""Verdicts that fit turns which delivered an answer, and those that fit turns which refused, withheld or did not answer: of what was not said nothing is wrong."""
REASON_WORDS: Mapping[str, str] = {
    "struck": "a value was struck",
    "withheld": "withheld",
    "disliked": "thumbs down",
    "sampled": "sampled",
    "refusal": "refusal called wrong",
    "quarantine": "a passage was kept out",
    "unanswered": "unanswered",
}
REASON_MEANS: Mapping[str, str] = {
    "struck": "something in the draft no source supports; it was taken out, or the draft was held back",
    "withheld": "a draft was made, and without what no source supports it did not answer the question",
    "disliked": "whoever asked marked the answer down",
    "sampled": "picked by chance for review",
    "refusal": "somebody reported the refusal as a mistake, and nobody has decided",
    "quarantine": "a passage that was found reads like an order to an assistant, and was not used",
    "unanswered": "the documents that the person may read do not answer it",
}
"""Why a turn waits for a reviewer."""
