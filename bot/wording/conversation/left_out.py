"""What a question names to be left out of its answer: "Please leave this out: 48 months". It is told to whoever drafts, and is nothing that the person says of the case."""

from __future__ import annotations

import re
from functools import cache

from bot.wording.conversation.card import CardWords


@cache
def _naming() -> re.Pattern[str]:
    """The line that *Ask without it* adds to a question, in any language of the card."""
    leads = {words["without"].partition("{values}")[0].strip() for words in CardWords.texts().values()}
    return re.compile(rf"(?:{'|'.join(map(re.escape, sorted(leads)))})[^\n]*", re.IGNORECASE)


def without_left_out(text: str) -> str:
    """The text without such a line: a value that is named there counts as said by nobody."""
    return _naming().sub("", text).strip()
