"""What the calls of a turn took, as one short line."""

from __future__ import annotations

from collections.abc import Mapping


def usage_words(usage: Mapping[str, object]) -> str:
    """As `2 calls of a model, 1,830 tokens in (512 cached), 240 out, 0.00041 USD`; empty where nothing was called.

    `usage`: of a reply, or of its JSON. A cost that leaves calls out, for nobody told their tokens, is a least one.
    """
    calls, embedded, untold = (_count(usage, n) for n in ("calls", "embedding_tokens", "uncounted_calls"))
    parts = []
    if calls:
        cached = f" ({_count(usage, 'cached_tokens'):,} cached)" if _count(usage, "cached_tokens") else ""
        parts.append(f"{calls} {'call' if calls == 1 else 'calls'} of a model")
        parts.append(f"{_count(usage, 'prompt_tokens'):,} tokens in{cached}")
        thought = (
            f" ({_count(usage, 'reasoning_tokens'):,} of them thought)" if _count(usage, "reasoning_tokens") else ""
        )
        parts.append(f"{_count(usage, 'completion_tokens'):,} out{thought}")
    if embedded:
        parts.append(f"{embedded:,} {'tokens ' if not calls else ''}embedded")
    if untold:
        parts.append(f"{untold} not counted by the service")
    if usage.get("cost") is not None and (parts or untold):
        parts.append(f"{'at least ' if untold else ''}{usage['cost']} {usage.get('currency', '')}".strip())
    return ", ".join(parts)


def _count(usage: Mapping[str, object], name: str) -> int:
    value = usage.get(name)
    return value if isinstance(value, int) else 0


def price_words(prices: Mapping[str, object]) -> str:
    """As `0.15 USD a million tokens in, 0.075 cached, 0.6 out`, of an entry's prices; empty without them."""
    if not prices:
        return ""
    more = {"cached_input": "cached", "output": "out", "embedding": "embedded"}
    said = [f"{prices.get('input')} {prices.get('currency')} a million tokens in"]
    return ", ".join(
        [*said, *(f"{prices[name]} {word}" for name, word in more.items() if prices.get(name) is not None)]
    )
