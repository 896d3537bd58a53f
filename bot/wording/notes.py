"""Which notes of a turn a person reads below an answer: what makes it less than it could be, never what is for the record."""

from __future__ import annotations

from collections.abc import Iterable

from rai.screening.languages import UNREAD

_FOR_THE_RECORD = (
    UNREAD,
    "hidden instructions",
    "they give orders",
    "that give orders",
    " is older than ",
    "placeholder",
    "failed inside",
    "second draft",
    "was told what was unsupported",
    "are not in the record",
)
"""What such notes have in them: rules, paths, counts of passages. They stand in the record, in JSON and under `--verbose`."""


def for_person(notes: Iterable[str]) -> list[str]:
    """The notes that a person reads, in order."""
    return [note for note in notes if note.strip() and not any(part in note for part in _FOR_THE_RECORD)]
