"""Words of the card below an answer, in the language of the question."""

from __future__ import annotations

from bot.wording.words import Wording
from grounding.records import LEAD_IN
from rai.records import Status


class CardWords(Wording):
    """The words of one language."""

    FILE = "card.yaml"

    def status(self, status: Status) -> str:
        """What the check found of a value."""
        return self(f"status_{status}")

    def worded(self, answer: str) -> str:
        """An answer with our own words above quotes in this language."""
        return self("quoted") + answer.removeprefix(LEAD_IN) if answer.startswith(LEAD_IN) else answer
