"""Which notes of a turn a person reads below an answer: what makes it less than it could be, never what is for the record."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from bot.wording.evidence import EvidenceWords
from bot.wording.refusals import FALLBACK
from grounding.query.query_vector import BY_WORDS
from rai.screening.markup import ACTIVE, CARRIES, IMAGE, SCHEME

PUBLIC_ONLY = "only what everyone may see was searched"
"""The note of a turn that saw no more than strangers do: in a group, or where the directory fails."""
_TOLD = {
    "note_read_as": re.compile("“(?P<typed>[^“”]+)” was read as “(?P<meant>[^“”]+)”"),
    "note_kb_only": re.compile("answered from the knowledge base only"),
    "note_public_only": re.compile(PUBLIC_ONLY),
    "note_last_turn": re.compile("the last turn is the query"),
    "note_stopped": re.compile("looking further was stopped after [0-9.e+]+ s"),
    "note_words_only": re.compile(f"{BY_WORDS}(?:; run attest ingest)?"),
    "note_ungraded": re.compile(r"[^;]* graded none of [0-9]+ passages"),
    "note_taken_out": re.compile(f"{IMAGE}|{ACTIVE}|{CARRIES}|{SCHEME}"),
}
"""Notes that a person reads, by the name of their words. All others are for the record, JSON and `--verbose`: they name services and their faults, rules, paths of
documents, scores, and how a question was searched for.
"""


def for_person(notes: Iterable[str], language: str = FALLBACK) -> list[str]:
    """The notes that a person reads, in order, each once and in their language. Of a note that begins with why ("tavily: failed (status 500); …") only what that means
    for the answer.
    """
    return list(dict.fromkeys(line for note in notes for line in _told(note, EvidenceWords(language))))


def _told(note: str, w: EvidenceWords) -> Iterator[str]:
    for name, form in _TOLD.items():
        if told := re.search(rf"(?:^|[;:] )(?:{form.pattern})(?:$|; )", note):
            yield w(name, **told.groupdict())
            return
