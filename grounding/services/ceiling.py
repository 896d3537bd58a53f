"""The most tokens that an ingest may have embedded by a service."""

from __future__ import annotations

from dataclasses import dataclass

from grounding.errors import ServiceError


class CeilingReached(ServiceError):
    """A call was not made: it would take more tokens than a run or a day may."""

    code = "ceiling"


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The most tokens of a run and of a day (UTC); None: any number. `day_set_by`, `run_set_by`: the settings that say so, for whoever reads the reason."""

    run: int | None = None
    day: int | None = None
    run_set_by: str = ""
    day_set_by: str = ""

    @property
    def is_none(self) -> bool:
        """True if nothing is limited."""
        return self.run is None and self.day is None

    def waiting(self, tokens: int, spent: int) -> int:
        """How many of `tokens` a run would leave to later ones, after `spent` were taken this day."""
        room = [most for most in (self.run, None if self.day is None else max(0, self.day - spent)) if most is not None]
        return max(0, tokens - min(room, default=tokens))
