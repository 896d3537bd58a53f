"""Outcome to words, in the language of the question. The texts are fixed, so that nothing is said that was not checked. Refusals: `bot.wording.refusals`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from bot.wording.refusals import FALLBACK, refusal_text
from grounding.prompting.prompt import insufficient_sentence
from grounding.tables import yaml_table
from rai.records import Outcome

_CODES = ("screen_unavailable", "model_unavailable", "search_unavailable", "ledger_unavailable", "deadline")


@cache
def texts() -> Mapping[str, Mapping[str, str]]:
    """Language to its texts by name, as `notices.yaml` has them."""
    return in_languages("notices.yaml")


@cache
def in_languages(name: str) -> Mapping[str, Mapping[str, str]]:
    """A file of this folder that holds texts by language. Raises ValueError where a language lacks one that English has, or has another."""
    table = yaml_table(__file__, name)
    held: dict[str, dict[str, str]] = {code: dict(row) for code, row in table.items()}
    odd = [code for code, row in held.items() if row.keys() != held[FALLBACK].keys()]
    if odd:
        raise ValueError(f"{name}: other names than in English: {', '.join(odd)}")
    return held


def said(name: str, language: str = FALLBACK) -> str:
    """The text of that name, in English where there is none in the language."""
    return (texts().get(language) or texts()[FALLBACK])[name]


WITHHELD = said("withheld")
UNFIT = said("unfit")
OVER_BUDGET = said("over_budget")
STOPPED = said("stopped")
EMPTY = said("empty")
FAILED: dict[str | None, str] = {**{code: said(code) for code in _CODES}, None: said("failed")}


def notice(outcome: Outcome, code: str | None = None, language: str = FALLBACK) -> str:
    """The fixed text of an outcome that has no answer. `answered` and `repaired` have none."""
    if outcome is Outcome.INSUFFICIENT:
        return insufficient_sentence() if language == FALLBACK else said("insufficient", language)
    if outcome is Outcome.BLOCKED:
        return refusal_text(None, language)
    if outcome is Outcome.WITHHELD:
        return said("withheld", language)
    return said(code or "failed", language)


def tells_empty(answer: str) -> bool:
    """Whether an answer is the notice of an empty knowledge base, in any language."""
    return any(answer == row["empty"] for row in texts().values())
