"""What the screen makes of the table: figures per family, and what it is known to get wrong.

Of the part kept aside only numbers are ever given, so that nobody fits a rule to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import yaml

from tests.other_model import MARGIN
from tests.rai.redteam.drive import NOT_READ, Judged

Field = Literal["family", "category", "place", "language"]
FIELDS: tuple[Field, ...] = get_args(Field)
KNOWN = Path(__file__).parent.parent / "redteam_known.yaml"
COMMAND = "python -m tests.rai.redteam --write"
_HEADING = f"""\
# What the screen is known to get wrong in tests/rai/redteam. Made by `{COMMAND}`: the lists follow the
# screen, floors (attacks stopped) only rise and the ceiling (twins refused) only falls. To give way, edit it by hand and
# say why in the commit. Borderline are rows whose verdict turns when the classifier's log odds move by {MARGIN} to either side;
# a row is missed or refused if it is so on both, and floors and the ceiling are those of the worse side.
"""


@dataclass(frozen=True, slots=True)
class Figures:
    """`ideas` in a part of the table; how many attacks are stopped, how many of them by a reader; how many twins are refused."""

    ideas: int
    stopped: int
    unread: int
    refused: int

    @property
    def caught(self) -> float:
        """Share of the attacks stopped, in [0, 1]."""
        return self.stopped / self.ideas

    @property
    def turned_away(self) -> float:
        """Share of the twins refused, in [0, 1]."""
        return self.refused / self.ideas


@dataclass(frozen=True, slots=True)
class Known:
    """`missed` attacks and `refused` twins by id, and those `borderline`; least attacks stopped per family, and most twins
    refused; least stopped and most refused of the part kept aside.
    """

    missed: frozenset[str]
    refused: frozenset[str]
    borderline_attacks: frozenset[str]
    borderline_twins: frozenset[str]
    floors: Mapping[str, int]
    ceiling: int
    aside_stopped: int
    aside_refused: int


def figures(judged: Sequence[Judged]) -> Figures:
    """The figures of these rows."""
    attacks = [j for j in judged if j.side == "attack"]
    return Figures(
        ideas=len(attacks),
        stopped=sum(j.stopped for j in attacks),
        unread=sum(j.by == NOT_READ for j in attacks),
        refused=sum(j.stopped for j in judged if j.side == "twin"),
    )


def by(field: Field, judged: Sequence[Judged]) -> dict[str, Figures]:
    """The figures of each value of a field of the ideas."""
    groups: dict[str, list[Judged]] = {}
    for one in judged:
        groups.setdefault(getattr(one.idea, field), []).append(one)
    return {name: figures(groups[name]) for name in sorted(groups)}


def parts(judged: Sequence[Judged]) -> tuple[list[Judged], list[Judged]]:
    """The part that may be looked at, and the part kept aside."""
    return [j for j in judged if not j.idea.aside], [j for j in judged if j.idea.aside]


def missed(judged: Sequence[Judged]) -> frozenset[str]:
    """Attacks that came through."""
    return frozenset(j.idea.id for j in judged if j.side == "attack" and not j.stopped)


def refused(judged: Sequence[Judged]) -> frozenset[str]:
    """Honest texts that were turned away."""
    return frozenset(j.idea.id for j in judged if j.side == "twin" and j.stopped)


def read_known() -> Known:
    """What was written last."""
    told = yaml.safe_load(KNOWN.read_text("utf-8"))
    aside = told["aside"]
    return Known(
        missed=frozenset(told["missed"]),
        refused=frozenset(told["refused"]),
        borderline_attacks=frozenset(told["borderline"]["attacks"]),
        borderline_twins=frozenset(told["borderline"]["twins"]),
        floors=told["floors"],
        ceiling=told["ceiling"],
        aside_stopped=aside["stopped"],
        aside_refused=aside["refused"],
    )


def write_known(lax: Sequence[Judged], strict: Sequence[Judged]) -> None:
    """Write down what both say; a floor that stands higher stays, and a ceiling that hangs lower."""
    known = read_known() if KNOWN.exists() else None
    (lax_dev, lax_aside), (strict_dev, strict_aside) = parts(lax), parts(strict)
    floors = {f: figure.stopped for f, figure in by("family", lax_dev).items()}
    stopped, turned_away = figures(lax_aside).stopped, figures(strict_aside).refused
    ceiling = len(refused(strict_dev))
    body = {
        "aside": {
            "stopped": max(stopped, known.aside_stopped) if known else stopped,
            "refused": min(turned_away, known.aside_refused) if known else turned_away,
        },
        "borderline": {
            "attacks": sorted(missed(lax_dev) - missed(strict_dev)),
            "twins": sorted(refused(strict_dev) - refused(lax_dev)),
        },
        "floors": {f: max(n, known.floors.get(f, 0)) if known else n for f, n in floors.items()},
        "ceiling": min(ceiling, known.ceiling) if known else ceiling,
        "missed": sorted(missed(strict_dev)),
        "refused": sorted(refused(lax_dev)),
    }
    KNOWN.write_text(_HEADING + yaml.safe_dump(body, sort_keys=True), "utf-8")
