"""A clarifying question as a person uses it: apart from its options, and each option as the question that it completes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from bot.wording.conversation.card import CardWords
from bot.wording.refusals import language_for
from grounding.query.conversation import leans
from grounding.quoting.countries import country_codes, spoken_countries
from grounding.text import caseless


@cache
def _completed() -> re.Pattern[str]:
    """What a completed question begins with, in any language of the card."""
    leads = sorted({row["for_option"].partition("{option}")[0] for row in CardWords.texts().values()})
    return re.compile(rf"(?:{'|'.join(map(re.escape, leads))})[^:\n]{{1,200}}: ")


def changed(question: str, about: str, before: Sequence[str] = ()) -> str:
    """The same question of something else. `about`: what is to be in view now, `before` what was: what came takes the place of what went, where the question
    names that, else it is completed with it; so too with what stayed in view, where a question hangs on that ("how much is it").
    """
    named = _completed().match(question.strip())
    if named:
        return completed(question.strip()[named.end() :], about)
    now, came = _names(about), new_names(about, before)
    went = [name for name in before if caseless(name) not in map(caseless, now)]
    hangs, beside = bool(came) and leans(question), list[str]()
    for name in now:
        alike = [other for other in came if bool(country_codes(other)) == bool(country_codes(name))]
        there = _in_its_place(question, name, went) if alike == [name] else []
        if len(there) == 1:
            question = _place_of(there[0]).sub(lambda _, name=name: name, question)  # type: ignore[misc]
        elif name in came or (hangs and not _place_of(name).search(question)):
            beside.append(name)
    return completed(question, ", ".join(beside)) if beside else question


def _in_its_place(question: str, name: str, went: Sequence[str]) -> list[str]:
    """What of the question a name may take the place of: one country of another, whatever was in view, and what is no country of what went."""
    if country_codes(name):
        return [written for written, _ in spoken_countries(question)]
    return [other for other in went if not country_codes(other) and _place_of(other).search(question)]


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
