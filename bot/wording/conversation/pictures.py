"""Whether a question is about the picture that hangs on it, or about a text that was not typed, so that its words alone ask nothing."""

from __future__ import annotations

import re
from functools import cache

from bot.wording.notices import in_languages
from bot.wording.refusals import FALLBACK
from grounding.text import STOP_WORDS

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


def asks_about_unsaid(question: str) -> bool:
    """True for "what does this error mean?", "what does the error code mean?": it asks for a code or message, says nothing of what that says, and names nothing else."""
    said = frozenset(_WORD.findall(question.lower()))
    points = _words("points") | _words("points_back")
    rest = said - points - _words("shows") - _words("reads") - _words("asks") - STOP_WORDS - _FUNCTION
    asked = all(said & told for told in (points | _ARTICLES, _words("reads"), _words("asks")))
    return asked and not rest and not any(c.isdigit() for c in question)


def what_it_says(language: str) -> str:
    """The question for the code or the words that were not typed."""
    table = in_languages("pictures.yaml")
    return (table.get(language) or table[FALLBACK])["asked"]


_ARTICLES = frozenset("the der die das le la les el los il lo i o a os de het l".split())
_FUNCTION = frozenset(
    "please hi hello here there now customer gets sees got was wie welche welcher bedeuten que quoi quel quelle est ce qué cuál significa che cosa quale o que qual wat welke wil zeggen".split()
)
"""Small words of other languages than English, and of whoever asks for somebody."""
