"""Questions whether something may be told: everyday work of customer service, and the words of a request for somebody's data."""

from __future__ import annotations

import re

_WHO = r"(?:i|we|one|agents?|staff|my team|our team|the agent|a colleague)"
_TELL = r"(?:tell|give|share|disclose|say|send|read(?: back| out)?|confirm|pass on|reveal|ask(?: for)?|hand over|discuss|talk|request|require|need|store|keep)"
_ASKS = re.compile(
    rf"\b(?:may|must|should|are|am|is) (?:{_WHO})(?: even| also| legally)?(?: (?:allowed|permitted|supposed|obliged|entitled))? ?(?:to )?{_TELL}\b|"
    rf"\b(?:what|which|how much)(?: [\w'’-]+){{0,4}} (?:may|can|should|must|do|could) (?:i|we|one|agents?|staff)(?: legally| safely)? {_TELL}\b|"
    rf"\b(?:do|does) (?:our|the) (?:policy|rules|law|gdpr|terms)\b|\b(?:privacy|disclosure|data protection) (?:policy|rules?|law)\b|"
    r"\b(?:according to|under|by) (?:our )?(?:policy|gdpr|the law|data protection)\b",
    re.IGNORECASE,
)


def asks_permission(text: str) -> bool:
    """Whether a text asks what an agent may tell or must ask for, and not for the data itself."""
    return bool(_ASKS.search(text))
