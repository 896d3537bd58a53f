"""What a finder returns: a checkable piece of text with its exact span and normal forms."""

from __future__ import annotations

from dataclasses import dataclass

from rai.records import EntityType, Kind


@dataclass(frozen=True, slots=True)
class Found:
    """One checkable piece: `text[start:end]`, half open, in code points.

    `value` is the likeliest normal form; `readings` are all forms the characters may have (05/06/2026 has two), the
    likeliest first; `magnitudes` are the plain numbers in it ("30 days" holds 30), as canonical decimal strings.
    `half_given`: a time of which a.m. or p.m. is said. `per`: what an amount or quantity is per (`rates.per_of`).
    """

    kind: Kind
    start: int
    end: int
    value: str
    readings: tuple[str, ...] = ()
    magnitudes: tuple[str, ...] = ()
    entity: EntityType | None = None
    half_given: bool = False
    per: str = ""

    @property
    def forms(self) -> tuple[str, ...]:
        """Every normal form the characters may have; never empty."""
        return self.readings or (self.value,)

    def shares_form(self, other: Found) -> bool:
        """True if one of the normal forms is also one of the other's."""
        return not set(self.forms).isdisjoint(other.forms)
