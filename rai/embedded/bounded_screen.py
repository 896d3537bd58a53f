"""The embedded screen run in the pool's processes, so that no text holds this process, and one that cannot be judged fails alone."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from grounding.bounded.pool import Run
from grounding.errors import WorkError
from rai.embedded.classifier import Classifier
from rai.embedded.screen import EmbeddedScreen
from rai.records import DocumentScreening, Screening
from rai.screening.off_policy import OffPolicy, Subjects

UNJUDGED = "unjudged"
"""The rule of a passage that could not be judged: it is left out."""


@dataclass(frozen=True, slots=True)
class ScreenFacts:
    """Name and version of a screen."""

    name: str
    version: str


class BoundedScreen:
    """An `EmbeddedScreen` that `run` asks in another process; the company's list is followed in this one. Made by `bounded_screen`.

    A text that cannot be judged raises WorkError; a passage that cannot is blocked by the rule "unjudged", and noted.
    """

    def __init__(self, run: Run, classifier: Path | None, off_policy: OffPolicy, told: ScreenFacts) -> None:
        self._run, self._classifier, self._off_policy = run, classifier, off_policy
        self._name, self._version = told.name, told.version

    @property
    def name(self) -> str:
        return self._name

    @property
    def version(self) -> str:
        """Changes whenever a verdict on a document may change."""
        return self._version

    async def screen(self, text: str, documents: Sequence[str] = ()) -> Screening:
        """As `EmbeddedScreen.screen`; passages are judged side by side."""
        subjects = await asyncio.to_thread(self._off_policy.current)
        screening = await self._run(screened, self._classifier, subjects, text) if text.strip() else Screening("allow")
        judged = await asyncio.gather(*(self._document(document) for document in documents))
        told = tuple(replace(found, index=i) for i, (found, _) in enumerate(judged))
        notes = dict.fromkeys(note for _, note in judged if note)
        return replace(screening, documents=told, notes=(*screening.notes, *notes))

    async def _document(self, text: str) -> tuple[DocumentScreening, str]:
        """The decision on one passage, and a note if it could not be judged, "" otherwise."""
        try:
            return (await self._run(screened, self._classifier, Subjects(), "", text)).documents[0], ""
        except WorkError as error:
            return DocumentScreening(
                0, "block", UNJUDGED, 1.0
            ), f"a passage was left out, it could not be judged: {error}"


async def bounded_screen(run: Run, classifier: Path | None, off_policy: OffPolicy) -> BoundedScreen:
    """Makes the screen with the classifier in a file, None: by rules alone. Raises StoreError for a classifier that cannot be read."""
    return BoundedScreen(run, classifier, off_policy, await run(told_of, classifier))


def told_of(classifier: Path | None) -> ScreenFacts:
    """Name and version of the embedded screen with this classifier; run in a process of the pool."""
    made = EmbeddedScreen(_classifier(classifier))
    return ScreenFacts(made.name, made.version)


def screened(classifier: Path | None, subjects: Subjects, text: str, *documents: str) -> Screening:
    """The embedded screen's decision on a text and documents; run in a process of the pool."""
    return EmbeddedScreen(_classifier(classifier), subjects).judged(text, documents)


@cache
def _classifier(path: Path | None) -> Classifier | None:
    """The classifier in a file, read once in each process, for it is what is large in a screen."""
    return Classifier(path) if path else None
