"""What signing in needs of a provider."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from bot.review.signin.flow import Flow


@dataclass(frozen=True, slots=True)
class ProviderFacts:
    """What a provider tells of itself: how many keys it signs with, and whether one can sign out there."""

    keys: int
    signs_out: bool


class IdentityProvider(Protocol):
    """Tells who somebody is. Every call raises ServiceError where the provider does not do its part."""

    @property
    def host(self) -> str:
        """Its name, for people."""
        ...

    async def way_there(self, flow: Flow, back: str, *, anew: bool = False) -> str:
        """Where somebody signs in, who then comes `back`."""
        ...

    async def claims(self, flow: Flow, back: str, code: str) -> dict[str, Any]:
        """What is known of who came back with `code`. Raises Refused where that does not hold."""
        ...

    async def way_out(self, back: str) -> str | None:
        """Where one signs out of the provider too; None where it has no such place."""
        ...

    async def look(self) -> ProviderFacts:
        """What it tells of itself."""
        ...
