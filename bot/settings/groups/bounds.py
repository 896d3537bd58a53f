"""Settings of how long things may take, and how long they are kept."""

from __future__ import annotations

from pydantic import Field, field_validator

from bot.settings.forms import CommaList, Seconds, days_of_kinds
from bot.settings.group import Conflicts, Group


class Bounds(Group):
    """The deadlines in seconds, the tries, and the calls at the same time."""

    turn_deadline_s: Seconds = Field(
        45.0, alias="turn_deadline_s", description="seconds in which a turn ends, one way or the other"
    )
    call_deadline_s: Seconds = Field(
        20.0, alias="call_deadline_s", description="seconds for one call of a remote service, retries included"
    )
    retries: int = Field(2, alias="retries", ge=0, le=5, description="further tries of a failed remote call")
    concurrent_calls: int = Field(
        100,
        alias="concurrent_calls",
        ge=1,
        le=1000,
        description="calls of one service at the same time; further ones wait within their deadline",
    )
    breaker_s: Seconds = Field(
        30.0, alias="breaker_s", description="seconds for which a service that failed five times in a row is left alone"
    )


class Retention(Group):
    """The days for which things are kept."""

    state_days: int = Field(
        30,
        alias="state_days",
        ge=1,
        description="days after which a conversation's kept turns are deleted from state.db; at the latest with the turns of the ledger",
    )
    days: int | None = Field(
        None,
        alias="retention_days",
        ge=1,
        description="days after which a turn, and what refers to it, is erased from the ledger; empty: never",
    )
    kinds: CommaList = Field(
        (),
        alias="retention_kinds",
        description="days after which entries of other kinds are erased, if earlier than their turn, such as feedback=90,refusal_report=180",
    )

    @field_validator("kinds")
    @classmethod
    def _kinds(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        days_of_kinds(value)
        return value


def bound_conflicts(bounds: Bounds) -> Conflicts:
    """The rule that a call may not take longer than its turn."""
    longer = "call_deadline_s" in bounds.model_fields_set and bounds.call_deadline_s > bounds.turn_deadline_s
    yield longer, f"ATTEST_CALL_DEADLINE_S may be at most ATTEST_TURN_DEADLINE_S, here {bounds.turn_deadline_s:g}"
