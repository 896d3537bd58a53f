"""Key-value table of the store about itself: digest and generation, the next number of a chunk, the names of saved indexes."""

from __future__ import annotations

import sqlalchemy as sa

from grounding.store.tables import META

_PUT = sa.text("INSERT INTO meta (name, value) VALUES (:n, :v) ON CONFLICT (name) DO UPDATE SET value = excluded.value")


class Meta:
    """Repository of the table `meta`, over one connection."""

    def __init__(self, db: sa.Connection) -> None:
        self._db = db

    def value(self, name: str) -> str | None:
        """The value under `name`; None if there is none."""
        return self._db.execute(sa.select(META.c.value).where(META.c.name == name)).scalar()

    def number(self, name: str) -> int:
        """The number kept under `name`; 0 if there is none."""
        return int(self.value(name) or 0)

    def values(self) -> dict[str, str]:
        """All values, by name."""
        return dict(self._db.execute(sa.select(META.c.name, META.c.value)).all())

    def put(self, name: str, value: str) -> None:
        """Set the value under `name`."""
        self._db.execute(_PUT, {"n": name, "v": value})

    def bump(self) -> None:
        """Increment the generation, the number of commits that changed what can be found: running servers look at their next search."""
        self.put("generation", str(self.number("generation") + 1))
