"""What the policy's source document asks of the form of an answer, kept in code rather than hoped for from a model."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot.records import Citation
from bot.wording.conversation.customer_text import MISSING
from grounding.policy import Policy
from grounding.prompting.prompt import insufficient_sentence
from grounding.quoting.coverage import Covered
from grounding.text import sentences, terms

_UNKNOWING = re.compile(
    r"\s*(?:i['’]m sorry,? (?:but )?)?i (?:do not|don['’]t) (?:know|have (?:enough|sufficient|that) information)\b[^.!?\n]*[.!?]?\s*",
    re.IGNORECASE,
)
REFERENCED = "Referenced files: "
MOST_QUESTIONS = 2
"""Sentences of a question back: "Is it the Brook? Or the Brook L?"."""


def admits_ignorance(draft: str) -> bool:
    """True if the draft says that the evidence does not hold the answer: by the fixed sentence (0-20), or as 2-17 has it."""
    return insufficient_sentence() in draft or _UNKNOWING.fullmatch(draft) is not None


def asks_back(draft: str) -> bool:
    """True if the draft is a question and nothing else: whoever wrote it must know more before it can answer."""
    said = [s.text.rstrip(' )]"”»') for s in sentences(draft)]
    return 0 < len(said) <= MOST_QUESTIONS and all(text.endswith(("?", "？")) for text in said)


def closing_question(draft: str) -> str:
    """The question with which a draft ends, for whoever reads it to answer; empty where it ends otherwise."""
    said = [s.text.strip() for s in sentences(draft)]
    return said[-1] if said and said[-1].rstrip(' )]"”»').endswith(("?", "？")) else ""


def shortened(draft: str, policy: Policy) -> str:
    """The draft's first `answer_sentences` where the policy holds to them (2-17); a line that leads in is not counted."""
    if not policy.strict_sentences:
        return draft
    said = [s for s in sentences(draft) if terms(s.text) and not s.text.rstrip().endswith(":")]
    return draft if len(said) <= policy.answer_sentences else draft[: said[policy.answer_sentences - 1].end].rstrip()


def with_what_is_missing(answer: str, parts: Sequence[Covered]) -> str:
    """The answer with the parts of the question that it does not answer at its end, where it answers others: a quote cannot say so itself."""
    missing = [p.part.strip(" ?.,") for p in parts if not p.answered]
    if not missing or len(missing) == len(parts):
        return answer
    return f"{answer}\n\n{MISSING} {'; '.join(f'“{part}”' for part in missing)}"


def with_file_names(answer: str, cited: Sequence[Citation], policy: Policy) -> str:
    """The answer with the names of the documents it cites at its end (0-21), from the citations and never from a model."""
    names = dict.fromkeys(c.url if c.origin == "web" and c.url else c.doc_id for c in cited)
    return f"{answer}\n\n{REFERENCED}{', '.join(names)}" if policy.file_names and names else answer
