"""A clarifying question as a person uses it: apart from its options, and each option as the question that it completes."""

from __future__ import annotations

import re
from collections.abc import Sequence


def question_alone(question: str, options: Sequence[str]) -> str:
    """`Which one do you mean?` of a question that goes on with its options; where they stand beside it, once is enough."""
    head, colon, _ = question.partition(f": {', '.join(options)} or another?")
    return f"{head}?" if options and colon else question


_COMPLETED = re.compile(r"For [^:\n]{1,200}: ")


def changed(question: str, option: str) -> str:
    """The same for another option, in the place of one that the question was completed with before."""
    named = _COMPLETED.match(question.strip())
    return completed(question.strip()[named.end() :] if named else question, option)


def completed(question: str, option: str) -> str:
    """The question completed with the option that a person chose: `For Care+: What does it cost?`. The option comes first, so that "it" finds it."""
    return f"For {option}: {question.strip()}"
