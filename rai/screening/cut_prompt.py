"""Prompts that a server cut without a word, because its context is too short for them: seen by the tokens that it says to have read."""

from __future__ import annotations

import asyncio

from grounding.observe import ChatCall
from grounding.records import Completion
from grounding.tokens import asked_tokens

LEAST_WINDOW = 256
"""Tokens of a prompt from which a count is one of the whole of it: a server that counts fewer leaves out what it had cached."""
CUT_BELOW = 0.6
"""Share of the tokens sent below which a count means a cut. Vocabularies differ by less; of what is too long Ollama reads half of its window."""


async def cut_prompt(asked: ChatCall, completion: Completion) -> str:
    """What to note if the service counts far fewer tokens than it was sent; empty if it does not, or does not tell."""
    told = completion.usage.get("prompt_tokens", 0) + completion.usage.get("cached_tokens", 0)
    if told < LEAST_WINDOW:
        return ""
    sent = await asyncio.to_thread(asked_tokens, asked.system, asked.user)
    if told >= CUT_BELOW * sent:
        return ""
    return f"the prompt for {asked.purpose} was cut: {asked.model} counts {told} of about {sent} tokens; the context of its server is too short"
