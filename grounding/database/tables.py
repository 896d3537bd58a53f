"""What is said of a table by whoever takes it along to another database."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KeptTable:
    """A table as PostgreSQL and a file have it, with what a copy takes of it; all else is made anew where the copy arrives.

    `name`: in PostgreSQL, and in a file unless `in_file` says another; `columns`: separated by spaces; `order`: those that tell its rows apart, by which they are taken; `came`: they
    stand in the order in which they came, instead; `numbered`: the column whose numbers the database gives; `only`: the condition of rows that are taken; `made`: columns
    of a file that have one value where they arrive; `shared_alone`: no file has it, and nothing is lost with it.
    """

    name: str
    columns: str
    order: str
    in_file: str | None = None
    came: bool = False
    numbered: str | None = None
    only: str = "true"
    made: tuple[tuple[str, object], ...] = ()
    shared_alone: bool = False

    @property
    def file_name(self) -> str:
        """Its name in a file."""
        return self.in_file or self.name
