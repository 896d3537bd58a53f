"""A directory in memory."""

from __future__ import annotations

from dataclasses import dataclass, field

from grounding.errors import ServiceUnavailable


@dataclass
class FakeDirectory:
    """People and their groups; `down` makes it unreachable."""

    people: dict[str, frozenset[str]] = field(default_factory=dict)
    down: bool = False

    async def groups(self, user: str) -> frozenset[str]:
        if self.down:
            raise ServiceUnavailable("directory", "connection refused")
        return self.people.get(user, frozenset())
