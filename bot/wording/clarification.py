"""A clarifying question as a person uses it: apart from its options, and each option as the question that it completes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from bot.wording.card import CardWords
from bot.wording.refusals import language_for
from grounding.quoting.countries import country_codes, spoken_countries
from grounding.text import caseless


@cache
def _completed() -> re.Pattern[str]:
    """What a completed question begins with, in any language of the card."""
    leads = sorted({row["for_option"].partition("{option}")[0] for row in CardWords.texts().values()})
    return re.compile(rf"(?:{'|'.join(map(re.escape, leads))})[^:\n]{{1,200}}: ")


def changed(question: str, about: str, before: Sequence[str] = ()) -> str:
    """The same question of something else. `about`: what is to be in view now, `before` what was: what came takes the place of what went, where the question
    names that, else it is completed with it.
    """
    named = _completed().match(question.strip())
    if named:
        return completed(question.strip()[named.end() :], about)
    now, came = _names(about), new_names(about, before)
    went = [name for name in before if caseless(name) not in map(caseless, now)]
    if len(came) != 1:
        return completed(question, about) if came else question
    if country_codes(came[0]):  # one country for another, whatever was in view
        there = [written for written, _ in spoken_countries(question)]
    else:
        there = [name for name in went if not country_codes(name) and _place_of(name).search(question)]
    return _place_of(there[0]).sub(lambda _: came[0], question) if len(there) == 1 else completed(question, about)


def new_names(about: str, before: Sequence[str]) -> list[str]:
    """The names in `about`, which commas part, that were not in view before."""
    return [name for name in _names(about) if caseless(name) not in map(caseless, before)]


def _names(about: str) -> list[str]:
    return [name for part in about.split(",") if (name := " ".join(part.split()))]


def _place_of(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)


def completed(question: str, option: str) -> str:
    """The question completed with the option that a person chose, in its language: `For Care+: What does it cost?`. The option comes first, so that "it"
    finds it.
    """
    return CardWords(language_for(question))("for_option", option=option) + question.strip()
