"""What of a question the documents do not have, where nothing answers it: the words that none of the passages found says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from grounding.query.conversation import FILLERS
from grounding.quoting.coverage import GENERIC, Covered
from grounding.quoting.question_parts import Reading
from grounding.records import Passage
from grounding.text import terms
from rai.screening.languages import common_words, language

MOST = 3
"""Parts that are named; more would be the question once more."""
_WORD = re.compile(r"[^\W_](?:[\w.’'-]*[^\W_])?")


def what_is_missing(asked: Reading, found: Sequence[Passage], name: str = "") -> tuple[Covered, ...]:
    """The parts of a question that no passage answers. `name`: one in it that the documents do not have. Else the words beside each other that no passage has, in
    their order; where there are none, the parts of the question, and of one that has no parts nothing, for that would be the question again.
    """
    if name:
        return (Covered(name, answered=False),)
    held = frozenset(term for p in found for term in terms(f"{p.title}\n{p.locator or ''}\n{p.text}"))
    texts = [part.text for part in asked.parts]
    strange = list(dict.fromkeys(run for text in texts for run in _strange(text, held))) if held else []
    told = strange or (texts if len(texts) > 1 else [])
    return tuple(Covered(part, answered=False) for part in told[:MOST])


def _strange(text: str, held: frozenset[str]) -> Iterator[str]:
    """Runs of words that none of the terms is of; small words between two of them belong to the run."""
    small = common_words(language(text))
    begun = ended = -1
    for word in _WORD.finditer(text):
        own = [term for term in terms(word.group()) if term not in GENERIC and term not in FILLERS]
        if not own or word.group().lower() in small:
            continue
        if held.isdisjoint(own):
            begun, ended = (begun if begun >= 0 else word.start()), word.end()
        elif begun >= 0:
            yield text[begun:ended]
            begun = -1
    if begun >= 0:
        yield text[begun:ended]
