"""Whether a question is about the picture that hangs on it, so that its words alone ask nothing."""

from __future__ import annotations

import re
from functools import cache

from bot.wording.notices import in_languages

_WORD = re.compile(r"[^\W\d_]+")


@cache
def _words(name: str) -> frozenset[str]:
    """The words of that name in all languages: a question of a few words does not tell its own."""
    return frozenset(word for row in in_languages("pictures.yaml").values() for word in row[name].split())


def is_about_picture(question: str, *, named: bool) -> bool:
    """True for "what does this error mean?" beside a picture. `named`: the question names something that the knowledge base has; then "is this covered
    by Halden Care?" asks something by itself, and "this error on the Wren X1" does not.
    """
    said = frozenset(_WORD.findall(question.lower()))
    return bool(said & _words("points")) and (not named or bool(said & _words("shows")))
