"""Outcome to words. The texts are fixed, so that nothing is said that was not checked. Refusals: `bot.wording.refusals`."""

from __future__ import annotations

from bot.wording.refusals import refusal_text
from grounding.prompting.prompt import insufficient_sentence
from rai.records import Outcome

WITHHELD = (
    "I drafted an answer, but parts of it are not supported by the sources and nothing certain was left, so I am holding it back. "
    "The sources that I found are listed below."
)
UNFIT = (
    "I drafted an answer, but its wording was not fit to be sent, so I am holding it back. "
    "The sources that I found are listed below."
)
OVER_BUDGET = "Answering this would take more of the language model than one turn may, so no answer was made. Please tell your administrator."
STOPPED = "This was stopped before it was answered, and nothing was sent."
EMPTY = (
    "The knowledge base is empty, so there is nothing to answer from. `attest ingest PATH` fills it with your documents, "
    "`attest ingest --sample` with the sample."
)
FAILED: dict[str | None, str] = {
    "screen_unavailable": "The safety check did not answer, so the question was not passed on. Please try again in a moment.",
    "model_unavailable": "The language model did not answer. Please try again in a moment.",
    "search_unavailable": "The knowledge base could not be searched. Please try again in a moment.",
    "ledger_unavailable": "The record of this answer could not be written, so the answer is not shown. Please tell your administrator.",
    "deadline": "This took longer than allowed and was stopped. Please try again in a moment.",
    None: "Something went wrong on our side, and no answer was made. Please try again in a moment.",
}


def notice(outcome: Outcome, code: str | None = None) -> str:
    """The fixed text of an outcome that has no answer. `answered` and `repaired` have none."""
    if outcome is Outcome.INSUFFICIENT:
        return insufficient_sentence()
    if outcome is Outcome.BLOCKED:
        return refusal_text(None)
    if outcome is Outcome.WITHHELD:
        return WITHHELD
    return FAILED[code]
