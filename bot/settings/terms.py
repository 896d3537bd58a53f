"""Settings to what a turn may take of chat models, and at which prices."""

from __future__ import annotations

from decimal import Decimal

from bot.settings.load import Settings
from grounding.prompting.model_composer import DRAFT_TOKENS
from rai.account import Prices, Terms


def prices(settings: Settings) -> Prices | None:
    """The prices that were set; None if none were."""
    if settings.price_input is None or settings.price_output is None:
        return None
    return Prices(
        settings.price_input,
        settings.price_output,
        settings.price_cached_input,
        settings.price_embedding or Decimal(0),
        settings.price_currency,
    )


def terms(settings: Settings, room: int = 0) -> Terms:
    """What each turn is bounded by; 0 bounds nothing. `room`: tokens in a reply for a model that thinks before it writes."""
    return Terms(
        prices(settings),
        settings.turn_tokens or None,
        settings.turn_cost or None,
        DRAFT_TOKENS + room if settings.generator == "openai" else 0,
    )
