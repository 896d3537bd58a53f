"""Words of what stands behind an answer, in the language of the question: tags of sources, lines below the answer, the pages of the evidence and of a source."""

from __future__ import annotations

from bot.wording.words import Wording


class EvidenceWords(Wording):
    """The words of one language."""

    FILE = "evidence.yaml"

    @property
    def own(self) -> bool:
        """Whether the check's own reasons are in this language: they are written in English alone, for reviewers."""
        return self.language == "en"
