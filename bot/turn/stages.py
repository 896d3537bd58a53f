"""The stages of a turn: what a person is told while one runs, and the code of a turn that one of them ended."""

from __future__ import annotations

from bot.records import Code

LABELS = {
    "access": "Checking what you may read",
    "screen": "Screening the question",
    "query": "Reading the conversation",
    "retrieve": "Searching the knowledge base",
    "grade": "Grading the passages",
    "rewrite": "Asking in other words",
    "hyde": "Imagining an answer to search for",
    "web": "Searching trusted web sites",
    "plan": "Planning further searches",
    "act": "Taking a step of the plan",
    "evaluate": "Looking at what was found",
    "prompt": "Building the prompt",
    "compose": "Drafting the answer",
    "check": "Checking every value against its source",
    "record": "Writing the record",
}
CODES: dict[str, Code] = {
    "screen": "screen_unavailable",
    "query": "search_unavailable",
    "retrieve": "search_unavailable",
    "act": "search_unavailable",
    "compose": "model_unavailable",
    "record": "ledger_unavailable",
}
