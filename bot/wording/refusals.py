"""A refusal in the user's language: it names the policy in plain words, never the rule or its score, and says what one can do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any

from grounding.query.trade_words import language_of_trade
from grounding.quoting.countries import language_of_countries
from grounding.records import Turn
from grounding.tables import yaml_table
from rai.records import Category
from rai.screening.languages import language

FALLBACK = "en"


@dataclass(frozen=True, slots=True)
class RefusalTexts:
    """The fixed texts of one language, as `refusals.yaml` has them."""

    sorry: str
    policy: str
    care: str
    what_now: str
    report: str
    comment: str
    reported: str
    policies: dict[Category, str]


@cache
def texts() -> dict[str, RefusalTexts]:
    """Language to its texts."""
    table = yaml_table(__file__, "refusals.yaml")
    return {code: RefusalTexts(**row) for code, row in table.items()}


EARLIER = 4
"""Turns before a question that are looked at for its language."""


def language_for(question: str, locale: str | None = None, earlier: Iterable[str] = ()) -> str:
    """The language to speak in: the question's, else of what was said `earlier`, newest first, else that of `locale` (as "de-AT"), the person's own program,
    else English. "und Watch Pro?" tells none, and the question before it does; "und in Frankreich?" does by the country's name, "preis perch d1" by a word of the
    trade.
    """
    hint = (locale or "").replace("_", "-").partition("-")[0].lower()
    said = (question, *islice(earlier, EARLIER))
    told = (language(text) or language_of_countries(text) or language_of_trade(text) for text in said)
    return next((code for code in (*told, hint) if code in texts()), FALLBACK)


def language_of(ask: Mapping[str, Any]) -> str:
    """The language to speak in of a turn that the ledger has: `ask` as its entry has it, of whatever form."""
    question, locale, history = (ask.get(name) for name in ("question", "locale", "history"))
    said = [turn for turn in history if isinstance(turn, Mapping)] if isinstance(history, list) else []
    earlier = [str(turn.get("text") or "") for turn in reversed(said) if turn.get("role") != "assistant"]
    return language_for(str(question or ""), locale if isinstance(locale, str) else None, earlier)


def spoken(turns: Sequence[Turn]) -> Iterator[str]:
    """What people said in a conversation, newest first."""
    return (turn.text for turn in reversed(turns) if turn.role != "assistant")


def refusal_text(category: Category | None, code: str = FALLBACK) -> str:
    """The notice of a refused question; without a category, as of a model service's own filter, it names no policy."""
    t = texts().get(code) or texts()[FALLBACK]
    named = t.policy.format(policy=t.policies[category]) if category in t.policies else ""
    care = t.care if category == "self_harm" else ""
    return " ".join(part for part in (t.sorry, named, care, t.what_now) if part)
