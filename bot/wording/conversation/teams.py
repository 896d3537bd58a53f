"""What Teams says by itself, in the language of the question, else of the person's own program."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from bot.wording.notices import in_languages
from bot.wording.refusals import FALLBACK


@cache
def texts() -> Mapping[str, Mapping[str, str]]:
    """Language to its texts by name, as `teams.yaml` has them."""
    return in_languages("teams.yaml")


def say(name: str, language: str = FALLBACK) -> str:
    """The text of that name, in English where there is none in the language."""
    return (texts().get(language) or texts()[FALLBACK])[name]


APOLOGY, RESTARTED, TOO_FAST, HELP = (say(name) for name in ("apology", "restarted", "too_fast", "help"))


def welcome(company: str, language: str = FALLBACK) -> str:
    """The first message in a conversation. `company`: its name in the settings; one that nobody gave is not told."""
    named = say("welcome", language).format(company=company) if company != "the company" else ""
    return f"{named or say('welcome_unnamed', language)}\n\n{say('help', language)}"
