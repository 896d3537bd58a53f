"""What a model grader knows of one list of passages while it asks about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from grounding.records import Grade, Passage


@dataclass(slots=True)
class Work:
    """One list of passages on its way, by content: `why` what has no grade has none, `alone` and `never` what was refused
    with others or by itself, `unasked` what early exit left out, `spared` what a budget left out.
    """

    question: str
    passages: dict[str, Passage]
    graded: dict[str, Grade]
    why: dict[str, str] = field(default_factory=dict)
    alone: set[str] = field(default_factory=set)
    never: set[str] = field(default_factory=set)
    unasked: set[str] = field(default_factory=set)
    spared: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)

    def missing(self, keys: Sequence[str]) -> list[str]:
        return [key for key in keys if key not in self.graded]

    def lacks(self, keys: Sequence[str], why: str, note: str | None = None) -> None:
        """Remember why these have no grade; each note once."""
        self.why.update(dict.fromkeys(keys, why))
        if note is not None and note not in self.notes:
            self.notes.append(note)

    def refuse(self, keys: Sequence[str], who: str) -> None:
        """What somebody will not have asked; of a batch it is not known which passage is the reason."""
        (self.alone if len(keys) > 1 else self.never).update(keys)
        self.alone -= self.never
        said = f"a batch of {len(keys)}, graded one by one" if len(keys) > 1 else "one passage"
        self.lacks(keys, f"{who} refused to have it graded", f"{who} refused {said}")

    def spare(self, keys: Sequence[str], why: str) -> None:
        """What is not asked about because a budget has no room for it."""
        self.spared.update(keys)
        self.lacks(keys, f"not asked, {why}")

    def skip(self, keys: Sequence[str], why: str) -> None:
        """What is not asked about because the top is certain."""
        self.unasked.update(keys)
        self.lacks(keys, f"not asked, {why}", f"{len(keys)} texts not asked about, the first were certain")
