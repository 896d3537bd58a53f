"""A clarifying question as a person uses it: apart from its options, and each option as the question that it completes."""

from __future__ import annotations

from collections.abc import Sequence


def question_alone(question: str, options: Sequence[str]) -> str:
    """`Which one do you mean?` of a question that goes on with its options; where they stand beside it, once is enough."""
    head, colon, _ = question.partition(f": {', '.join(options)} or another?")
    return f"{head}?" if options and colon else question


def completed(question: str, option: str) -> str:
    """The question again, now saying what it is about. The option comes first: what points at something finds it in what was said before."""
    return f"For {option}: {question.strip()}"
