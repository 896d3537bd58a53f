"""Which notes of a turn a person reads below an answer: what makes it less than it could be, never what is for the record."""

from __future__ import annotations

import re
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
    " documents were in doubt ",
    "the text was in doubt",
    "also looked for in English",
    "read without the names of earlier turns",
)
"""What such notes have in them: rules, paths, counts of passages. They stand in the record, in JSON and under `--verbose`."""


_STAGE = re.compile(
    r"(?:access|screen|query|retrieve|grade|rewrite|hyde|web|plan|act|evaluate|prompt|compose|check|record): "
)
"""What a note on a stage that ended the turn begins with; the notice of the outcome says it in words."""
_OF_A_SERVICE = re.compile(
    r": (?:failed|cannot |did not answer|the connection |it reports|answered in part|the search failed|the job failed|status|rejected)|\bstatus \d{3}\b"
)
"""What a service's name and its fault have in them."""


def for_person(notes: Iterable[str]) -> list[str]:
    """The notes that a person reads, in order: of one that names a service and its fault, only what that means for the answer."""
    read = [_in_words(note) for note in notes if not any(part in note for part in _FOR_THE_RECORD)]
    return [note for note in read if note.strip()]


def _in_words(note: str) -> str:
    if _STAGE.match(note):
        return ""
    if not _OF_A_SERVICE.search(note):
        return note
    return "; ".join(part for part in note.split("; ") if not _OF_A_SERVICE.search(part))
