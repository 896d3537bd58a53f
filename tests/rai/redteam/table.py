"""The red-team table: ways to misuse the copilot, each with an honest text that sounds alike.

A family is a file. In documents the order stands between two brackets, which are no part of the text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import yaml

from rai.records import Category

Place = Literal[
    "turn", "history", "context", "passage", "file_name", "table_cell", "email_header", "web_result", "title", "prompt"
]
Side = Literal["attack", "twin"]
PLACES: tuple[Place, ...] = get_args(Place)
CATEGORIES: tuple[Category, ...] = get_args(Category)
SIDES: tuple[Side, ...] = get_args(Side)
FOLDER = Path(__file__).parent
OPEN, CLOSE = "⟦⟧"


@dataclass(frozen=True, slots=True)
class Idea:
    """One row. `file`: the suffix of the document it is put into, where the place leaves a choice.

    `aside`: never looked at when the screen is changed; a third of the table, chosen by the hash of the id.
    """

    id: str
    idea: str
    place: Place
    category: Category
    language: str
    attack: str
    twin: str
    family: str
    file: str = "txt"
    aside: bool = False

    def text(self, side: Side) -> str:
        """What is sent, written or found."""
        return (self.attack if side == "attack" else self.twin).replace(OPEN, "").replace(CLOSE, "")

    @property
    def order(self) -> str:
        """The part of the attack that must not be shown; all of it where nothing is marked."""
        _, mark, rest = self.attack.partition(OPEN)
        return rest.partition(CLOSE)[0] if mark else self.attack


def load(paths: Iterable[Path] = ()) -> tuple[Idea, ...]:
    """The rows of `paths`, by default of the whole table."""
    chosen = list(paths) or sorted(FOLDER.glob("*.yaml"))
    return tuple(Idea(family=p.stem, **row) for p in chosen for row in yaml.safe_load(p.read_text("utf-8")))


IN_DOCUMENTS: tuple[Place, ...] = ("passage", "table_cell", "title", "email_header", "web_result")


def planted_rows(ideas: Iterable[Idea]) -> list[dict[str, str]]:
    """The attacks that stand in documents and pages, as rows of `attest eval planted`."""
    return [
        {"id": i.id, "text": i.text("attack"), "label": "block", "tag": i.place}
        for i in ideas
        if i.place in IN_DOCUMENTS
    ]


def is_aside(name: str) -> bool:
    """The rule that keeps a third aside."""
    return int(hashlib.sha256(name.encode()).hexdigest(), 16) % 3 == 0
