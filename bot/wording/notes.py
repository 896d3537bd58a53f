"""Which notes of a turn a person reads below an answer: what makes it less than it could be, never what is for the record."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bot.wording.evidence import EvidenceWords
from bot.wording.refusals import FALLBACK
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


PUBLIC_ONLY = "only what everyone may see was searched"
"""The note of a turn that saw no more than strangers do: in a group, or where the directory fails."""
_TOLD = {
    "note_read_as": re.compile("“(?P<typed>[^“”]+)” was read as “(?P<meant>[^“”]+)”"),
    "note_kb_only": re.compile("(?:[^;]+; )?answered from the knowledge base only"),
    "note_public_only": re.compile(f"(?:[^;]+; )?{PUBLIC_ONLY}"),
    "note_last_turn": re.compile("(?:[^;]+; )?the last turn is the query"),
    "note_stopped": re.compile("looking further was stopped after [0-9.e+]+ s"),
}
"""Notes that have words in each language; a note that is none of these is told in English, as the record has it."""


def for_person(notes: Iterable[str], language: str = FALLBACK) -> list[str]:
    """The notes that a person reads, in order: of one that names a service and its fault, only what that means for the answer."""
    w = EvidenceWords(language)
    read = [_in_words(note) for note in notes if not any(part in note for part in _FOR_THE_RECORD)]
    return [note if w.language == FALLBACK else _translated(note, w) for note in read if note.strip()]


def _translated(note: str, w: EvidenceWords) -> str:
    for name, form in _TOLD.items():
        if told := form.fullmatch(note):
            return w(name, **told.groupdict())
    return note


def _in_words(note: str) -> str:
    if _STAGE.match(note):
        return ""
    if not _OF_A_SERVICE.search(note):
        return note
    return "; ".join(part for part in note.split("; ") if not _OF_A_SERVICE.search(part))
