"""Two screens in a row: the fast one here first, a stronger one for what is left to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from grounding.errors import ServiceError, ServiceReplyInvalid
from rai.ports import PromptScreen
from rai.records import DocumentScreening, Screening

When = Literal["doubt", "always"]
"""What the second screen is asked about: what the first is in doubt about, or all that it allows."""
NONE_STRONGER = "no stronger screen is configured"
"""The reason noted for a doubt that nobody else decides."""


class CascadeScreen:
    """A `rai.ports.PromptScreen` of two. What `first` blocks stays blocked and goes no further; of the rest, `second` decides on what
    `first` is in doubt about (`when="doubt"`) or on all of it (`"always"`).

    Without a second screen, or where the second does not judge documents (`documents=False`), what is in doubt is allowed and
    noted. Raises ServiceError, naming the screen, when one of them cannot decide.
    """

    def __init__(
        self, first: PromptScreen, second: PromptScreen | None = None, *, when: When = "always", documents: bool = True
    ) -> None:
        self._first = first
        self._second = second
        self._always = when == "always"
        self._documents = documents

    @property
    def name(self) -> str:
        return self._first.name if self._second is None else f"{self._first.name}+{self._second.name}"

    async def screen(self, text: str, documents: Sequence[str] = ()) -> Screening:
        """The decision on `text` and on each of `documents`; `by` names who decided on `text`, `notes` tells of every doubt."""
        found = await self._first.screen(text, documents)
        found = replace(found, by=found.by or self._first.name)
        second = self._second
        if second is None:
            return _noted(found, found, NONE_STRONGER)
        goes = bool(text.strip()) and self._passes_on(found)
        judged = [d.index for d in found.documents if self._documents and self._passes_on(d)]
        decided = found
        if goes or judged:
            again = await _asked(second, text if goes else "", [documents[i] for i in judged])
            decided = _merged(found, again, second.name, judged, whole=goes or not text.strip())
        unable = "" if self._documents else f"{second.name} does not judge documents"
        return _noted(found, decided, unable)

    def _passes_on(self, found: Screening | DocumentScreening) -> bool:
        return found.verdict == "allow" and (self._always or found.doubtful)


async def _asked(screen: PromptScreen, text: str, documents: Sequence[str]) -> Screening:
    try:
        found = await screen.screen(text, documents)
    except ServiceError:
        raise
    except Exception as error:  # the record names the screen that failed, whatever it raised
        raise ServiceReplyInvalid(screen.name, f"the screen failed ({type(error).__name__})") from error
    if len(found.documents) != len(documents):
        raise ServiceReplyInvalid(screen.name, f"{len(found.documents)} of {len(documents)} documents were judged")
    return found


def _merged(found: Screening, again: Screening, name: str, judged: Sequence[int], *, whole: bool) -> Screening:
    """`found` with the second screen's decision on the documents `judged` and, if it had the `whole`, on the text."""
    documents = list(found.documents)
    for index, document in zip(judged, again.documents, strict=True):
        documents[index] = replace(document, index=index)
    base = replace(again, by=again.by or name) if whole else found
    return replace(base, documents=tuple(documents), notes=(*found.notes, *again.notes))


def _noted(found: Screening, decided: Screening, unable: str) -> Screening:
    """`decided` with a note on each doubt that `found` had. `unable`: why nobody decided on a doubt that is left."""
    notes = list(decided.notes)
    if found.doubtful:
        doubt = f"the text was in doubt (score {found.score:.2f}, blocks from {found.threshold:.2f})"
        notes.append(f"{doubt}; {_outcome(decided, found, unable)}")
    doubtful = [d for d in found.documents if d.doubtful]
    if doubtful:
        blocked = sum(decided.documents[d.index].verdict == "block" for d in doubtful)
        doubt = f"{len(doubtful)} of {len(found.documents)} documents were in doubt (highest score {max(d.score for d in doubtful):.2f})"
        notes.append(f"{doubt}; {f'{unable}, so they were allowed' if unable else f'{blocked} of them blocked'}")
    return replace(decided, notes=tuple(notes))


def _outcome(decided: Screening, found: Screening, unable: str) -> str:
    if decided.by == found.by:
        return f"{unable or NONE_STRONGER}, so it was allowed"
    return f"{decided.by} {'blocked' if decided.blocked else 'allowed'} it"
