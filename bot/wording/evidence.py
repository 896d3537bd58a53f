"""Words of what stands behind an answer, in the language of the question: tags of sources, lines below the answer, the pages of the evidence and of a source."""

from __future__ import annotations

from bot.wording.words import Wording


class EvidenceWords(Wording):
    """The words of one language."""

    FILE = "evidence.yaml"

    def __init__(self, language: str | None, *, for_reviewers: bool = False) -> None:
        """`for_reviewers`: with the check's own names of statuses and rules, and its reasons; they are in English alone."""
        super().__init__(language)
        self.own = for_reviewers
