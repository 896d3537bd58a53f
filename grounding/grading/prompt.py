"""Grading prompts for a chat model: four styles, documents as delimited data, as many in one call as fit.

One document is asked about in the source document's own words. Several stand in the same place, each under its id and a colon, and the
reply is asked for as JSON; the prompt of the confidence style is made for several as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from grounding.model_calls.schema import NUMBER, TEXT, WHOLE, Schema, fields, listed, one_of
from grounding.model_calls.spotlight import block, quoted
from grounding.model_calls.templates import fill, placeholders, template
from grounding.policy import LABELS
from grounding.records import Passage
from grounding.services.batches import in_batches
from grounding.tokens import count_tokens

Style = Literal["score", "label", "binary", "confidence"]
STYLES: tuple[Style, ...] = get_args(Style)
MOST_DOCUMENTS = 100
"""Documents of one call at most: ids have three digits."""
_LABELLED = {"Justification": TEXT, "ScoreLabel": one_of(*LABELS)}
_EACH: dict[Style, Schema] = {
    "score": fields(id=WHOLE, score=NUMBER),
    "label": fields(id=WHOLE, **_LABELLED),
    "binary": fields(id=WHOLE, binary_score=one_of("yes", "no")),
    "confidence": fields(id=WHOLE, confidence=NUMBER, relevant_text=TEXT),
}


def document_text(passage: Passage) -> str:
    """The passage as the prompt of the answer quotes it: title and place on the first line, if it has any, then the text."""
    place = f" · {passage.locator}" if passage.locator else ""
    return "\n".join(filter(None, (" ".join(f"{passage.title}{place}".split()), passage.text)))


def grade_prompt(style: Style, question: str, documents: Sequence[str], marker: str) -> tuple[str, str]:
    """System and user message that ask for grades of `documents`. `marker`: delimiter from `spotlight.new_marker`, one for a call."""
    asked = quoted(" ".join(question.split()), marker)
    listed = _listed(style, documents, marker)
    if style in ("label", "confidence"):
        asked = f"{asked}\n"  # what follows on its line is ours, and the screen knows our lines whole
    if style == "label":
        asked, listed = f"\n{asked}", f"\n{listed}\n"
    user = fill(f"grade_{style}", question=asked, document=listed)
    return _system(style), user if len(documents) == 1 or style == "confidence" else f"{user}\n\n{_several(style)}"


def grade_schema(style: Style, count: int) -> Schema | None:
    """JSON schema of the reply about `count` documents; None where the prompt asks for a number or a word and not for JSON."""
    if count == 1 and style == "label":
        return fields(ContextRelevance=fields(**_LABELLED))
    if count == 1 and style != "confidence":
        return None
    return fields(grades=listed(_EACH[style]))


def batches(texts: Sequence[str], most: int, tokens: int) -> list[list[int]]:
    """Indices of `texts` in order, in batches of at most `most` texts and `tokens` tokens; a longer text goes alone."""
    most_items = min(most, MOST_DOCUMENTS)
    numbered = range(len(texts))
    return list(in_batches(numbered, lambda n: count_tokens(texts[n]), most_items=most_items, most_size=tokens))


def own_texts() -> tuple[str, ...]:
    """All text that these prompts hold and the product itself wrote, without question and documents, for the screen that reads them."""
    prompts = [fill(name, **dict.fromkeys(placeholders(name), "\n")) for name in (f"grade_{style}" for style in STYLES)]
    additions = [_several(style) for style in STYLES if style != "confidence"]
    ids = "\n".join(f"{n}:" for n in range(1, MOST_DOCUMENTS + 1))
    return (*prompts, *additions, template("grade_binary_system"), template("grade_data"), ids)


def _listed(style: Style, documents: Sequence[str], marker: str) -> str:
    if len(documents) == 1 and style != "confidence":
        return block(documents[0], marker)
    return "\n".join(f"{n}:\n{block(text, marker)}" for n, text in enumerate(documents, 1))


def _system(style: Style) -> str:
    data = template("grade_data")
    return f"{template('grade_binary_system')}\n\n{data}" if style == "binary" else data


def _several(style: Style) -> str:
    return f"{template('grade_batch')}\n{template(f'grade_batch_{style}')}"
