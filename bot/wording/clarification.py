"""A clarifying question as a person uses it: apart from its options, and each option as the question that it completes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from grounding.quoting.countries import countries_in
from grounding.text import caseless


def question_alone(question: str, options: Sequence[str]) -> str:
    """`Which one do you mean?` of a question that goes on with its options; where they stand beside it, once is enough."""
    head, colon, _ = question.partition(f": {', '.join(options)} or another?")
    return f"{head}?" if options and colon else question


_COMPLETED = re.compile(r"For [^:\n]{1,200}: ")


def changed(question: str, about: str, before: Sequence[str] = ()) -> str:
    """The same question of something else. `about`: what is to be in view now, `before` what was: what came takes the place of what went, where the question
    names that, else it is completed with it.
    """
    named = _COMPLETED.match(question.strip())
    if named:
        return completed(question.strip()[named.end() :], about)
    now, came = _names(about), new_names(about, before)
    went = [name for name in before if caseless(name) not in map(caseless, now)]
    if len(came) != 1:
        return completed(question, about) if came else question
    places = [place for name in went if (place := _place_of(name)).search(question)]
    if len(places) > 1 and next(countries_in(came[0]), None):  # one country for another
        places = [
            place for name in went if next(countries_in(name), None) and (place := _place_of(name)).search(question)
        ]
    return places[0].sub(lambda _: came[0], question) if len(places) == 1 else completed(question, about)


def new_names(about: str, before: Sequence[str]) -> list[str]:
    """The names in `about`, which commas part, that were not in view before."""
    return [name for name in _names(about) if caseless(name) not in map(caseless, before)]


def _names(about: str) -> list[str]:
    return [name for part in about.split(",") if (name := " ".join(part.split()))]


def _is_country(name: str) -> bool:
    return next(countries_in(name), None) is not None


def _place_of(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)


def completed(question: str, option: str) -> str:
    """The question completed with the option that a person chose: `For Care+: What does it cost?`. The option comes first, so that "it" finds it."""
    return f"For {option}: {question.strip()}"
