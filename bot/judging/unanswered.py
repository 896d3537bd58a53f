"""Questions that the documents do not answer, near-equal ones together: what the owners of the knowledge base should write next."""

from __future__ import annotations

import asyncio
import csv
import io
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from bot.desk.index import Desk, UnansweredTurn
from bot.desk.search import DeskSearch
from bot.desk.table import cell
from grounding.text import terms

READ_MAX = 5_000
"""Unanswered turns that are read for a list, the newest ones."""
ALIKE = 0.6
"""Share of the words of two questions, stop words aside, from which on they are near-equal (Jaccard). tests/bot/judging/unanswered.yaml has the pairs that it was chosen by:
none of the sample's 60 questions, which are all different, fall together."""
COLUMNS = ("question", "times", "open", "first", "last", "newest_entry", "other_wordings")
WORDINGS = 5


@dataclass(slots=True)
class _Group:
    words: frozenset[str]
    turns: list[UnansweredTurn] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class UnansweredSubject:
    """Near-equal questions. `question`: as it was asked last; `wordings`: other ways of asking, the most frequent first; `open`: those that nobody has judged."""

    question: str
    times: int
    open: int
    first: str
    last: str
    entry_id: str
    wordings: tuple[str, ...]
    turns: tuple[UnansweredTurn, ...]

    def as_json(self) -> dict[str, Any]:
        """The form of `attest review unanswered --json`."""
        return {
            "question": self.question,
            "times": self.times,
            "open": self.open,
            "first": self.first,
            "last": self.last,
            "newest_entry": self.entry_id,
            "other_wordings": list(self.wordings),
            "entries": [turn.entry_id for turn in self.turns],
        }


@dataclass(frozen=True, slots=True)
class UnansweredList:
    """Subjects, those asked most often first. `turns`: of how many turns; `cut`: there are older ones that were not read."""

    subjects: tuple[UnansweredSubject, ...]
    turns: int
    cut: bool


async def unanswered(desk: Desk, wanted: DeskSearch) -> UnansweredList:
    """The unanswered questions of a search. Raises StoreError."""
    turns = await desk.unanswered(wanted, READ_MAX + 1)
    subjects = await asyncio.to_thread(grouped, turns[:READ_MAX])
    return UnansweredList(subjects, min(len(turns), READ_MAX), len(turns) > READ_MAX)


def grouped(turns: Iterable[UnansweredTurn]) -> tuple[UnansweredSubject, ...]:
    """Turns, the newest first, put together where they ask nearly the same: each joins the group whose newest question it shares most words with."""
    groups: list[_Group] = []
    holding: dict[str, list[int]] = {}
    for turn in turns:
        words = frozenset(terms(turn.subject)) or frozenset((turn.subject.casefold(),))
        shared = Counter(at for word in words for at in holding.get(word, ()))
        near = [(n / len(words | groups[at].words), -at) for at, n in shared.items()]
        share, place = max(near, default=(0.0, 0))
        if share >= ALIKE:
            groups[-place].turns.append(turn)
            continue
        for word in words:
            holding.setdefault(word, []).append(len(groups))
        groups.append(_Group(words, [turn]))
    return tuple(sorted(map(_subject, groups), key=lambda s: (-s.times, s.last), reverse=False))


def _subject(group: _Group) -> UnansweredSubject:
    newest, oldest = group.turns[0], group.turns[-1]
    asked = Counter(turn.question for turn in group.turns if turn.question != newest.question)
    return UnansweredSubject(
        newest.question,
        len(group.turns),
        sum(turn.is_open for turn in group.turns),
        oldest.at,
        newest.at,
        newest.entry_id,
        tuple(text for text, _ in asked.most_common(WORDINGS)),
        tuple(group.turns),
    )


def as_csv(subjects: Iterable[UnansweredSubject]) -> str:
    """The list for a spreadsheet."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for each in subjects:
        said = each.as_json() | {"other_wordings": " / ".join(each.wordings)}
        writer.writerow([cell(said[name]) for name in COLUMNS])
    return out.getvalue()
