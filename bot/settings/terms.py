"""Reads from the settings what models cost, and what a turn may take of them."""

from __future__ import annotations

from decimal import Decimal

from bot.settings.settings import Settings
from grounding.prompting.model_composer import DRAFT_TOKENS
from rai.account import Prices, Terms


def prices(settings: Settings) -> Prices | None:
    """The prices that were set; None if none were."""
    if settings.prices.input is None or settings.prices.output is None:
        return None
    return Prices(
        settings.prices.input,
        settings.prices.output,
        settings.prices.cached_input,
        settings.prices.embedding or Decimal(0),
        settings.prices.currency,
    )


def terms(settings: Settings, room: int = 0) -> Terms:
    """The bounds of each turn in tokens and money; a setting of 0 bounds nothing. `room`: tokens of a reply that a model thinks in before it writes."""
    return Terms(
        prices(settings),
        settings.budget.tokens or None,
        settings.budget.cost or None,
        DRAFT_TOKENS + room if settings.model.generator == "openai" else 0,
    )
