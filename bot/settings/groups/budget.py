"""Settings of what models cost, and what a turn may take of them."""

from __future__ import annotations

from pydantic import Field, field_validator

from bot.settings.forms import Price
from bot.settings.group import Conflicts, Group
from bot.settings.groups.embedding import Embedding
from grounding.services.ceiling import Ceiling


class ModelPrices(Group):
    """The prices of a million tokens, in one currency."""

    input: Price | None = Field(
        None,
        alias="price_input",
        description="price of a million prompt tokens; yours, as your contract has it: none is built in",
    )
    cached_input: Price | None = Field(
        None,
        alias="price_cached_input",
        description="price of a million prompt tokens that the service had cached; without it they cost like others",
    )
    output: Price | None = Field(
        None, alias="price_output", description="price of a million tokens that the model writes"
    )
    embedding: Price | None = Field(
        None, alias="price_embedding", description="price of a million tokens that are embedded by a service"
    )
    currency: str = Field("USD", alias="price_currency", description="currency of the prices of models")

    @field_validator("currency")
    @classmethod
    def _currency(cls, value: str) -> str:
        if not (len(value) == 3 and value.isascii() and value.isalpha() and value.isupper()):
            raise ValueError("three capital letters such as USD or EUR")
        return value


class Budget(Group):
    """The most that the chat model may take in a turn, in tokens and money."""

    tokens: int = Field(
        0,
        alias="turn_tokens",
        ge=0,
        description="tokens that the chat model may read and write in a turn; what does not fit is not asked; 0: any number",
    )
    cost: Price | None = Field(
        None,
        alias="turn_cost",
        description="what the chat model may cost in a turn, in the currency of the prices; 0 or empty: anything",
    )


class IngestCeiling(Group):
    """The most that an ingest may have embedded by a service, in tokens and money: in one run, and in all runs of a day."""

    run_tokens: int | None = Field(
        None,
        alias="ingest_run_tokens",
        ge=1,
        description="tokens that one ingest may have embedded; the rest waits for the next run",
    )
    day_tokens: int | None = Field(
        None,
        alias="ingest_day_tokens",
        ge=1,
        description="tokens that all ingests of a day (UTC) may have embedded; the rest waits for the next day",
    )
    run_cost: Price | None = Field(
        None,
        alias="ingest_run_cost",
        description="what one ingest may cost in embeddings, in the currency of the prices; 0 or empty: anything",
    )
    day_cost: Price | None = Field(
        None,
        alias="ingest_day_cost",
        description="what all ingests of a day (UTC) may cost in embeddings; 0 or empty: anything",
    )

    def within(self, prices: ModelPrices) -> Ceiling:
        """The ceiling in tokens: of what is given in tokens and in money the lower."""
        run, run_by = self._lower("run", prices)
        day, day_by = self._lower("day", prices)
        return Ceiling(run, day, run_by, day_by)

    def _lower(self, of: str, prices: ModelPrices) -> tuple[int | None, str]:
        tokens, cost = getattr(self, f"{of}_tokens"), getattr(self, f"{of}_cost")
        given = [(tokens, self.variable(f"{of}_tokens"))] if tokens is not None else []
        if cost and prices.embedding:
            given.append((int(cost * _MILLION / prices.embedding), self.variable(f"{of}_cost")))
        return min(given, default=(None, ""))


_MILLION = 1_000_000


def ceiling_conflicts(ceiling: IngestCeiling, prices: ModelPrices, embedding: Embedding) -> Conflicts:
    """Rules on the ceiling of an ingest: money needs a price, and nothing is limited that costs nothing."""
    given = sorted(ceiling.variable(field) for field in ceiling.model_fields_set if getattr(ceiling, field))
    yield (
        bool(given) and embedding.kind != "openai",
        f"{given[0] if given else ''} needs ATTEST_EMBEDDER=openai; the model on this machine costs nothing",
    )
    for field in ("run_cost", "day_cost"):
        yield (
            bool(getattr(ceiling, field)) and not prices.embedding,
            f"{ceiling.variable(field)} needs ATTEST_PRICE_EMBEDDING above 0",
        )


def price_conflicts(prices: ModelPrices, budget: Budget, embedding: Embedding) -> Conflicts:
    """Rules on prices: all that a turn costs has one, for a cost that leaves something out would be believed."""
    given = sorted(prices.variable(field) for field in prices.model_fields_set if getattr(prices, field) is not None)
    for field in ("input", "output"):
        yield (
            bool(given) and getattr(prices, field) is None,
            f"{given[0] if given else ''} needs {prices.variable(field)}",
        )
    cached, full = prices.cached_input, prices.input
    yield (
        cached is not None and full is not None and cached > full,
        "ATTEST_PRICE_CACHED_INPUT may be at most ATTEST_PRICE_INPUT",
    )
    yield (
        bool(given) and embedding.kind == "openai" and prices.embedding is None,
        "ATTEST_PRICE_INPUT with ATTEST_EMBEDDER=openai needs ATTEST_PRICE_EMBEDDING; 0 where embeddings cost nothing",
    )
    yield (
        bool(budget.cost) and not given,
        "ATTEST_TURN_COST needs ATTEST_PRICE_INPUT and ATTEST_PRICE_OUTPUT: no prices are built in",
    )
