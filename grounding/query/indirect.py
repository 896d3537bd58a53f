"""What is asked where somebody tells it: "customer wants to know how long refunds take" asks how long refunds take, "she wants to return a router" how to return one."""

from __future__ import annotations

import re
from functools import cache

from grounding.tables import yaml_table

_END = r"[\s.!]*$"
_BEGIN = r"^\W*(?:(?:hi|hello|hey|hallo)\W+)?"


@cache
def _forms() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Patterns of a whole question, each with what is asked of the rest of it."""
    table: dict[str, dict[str, str]] = yaml_table(__file__, "indirect.yaml")
    forms = []
    for row in table.values():
        asked = rf"{_BEGIN}{row['who']} ?(?:{row['asks']})[,:]? (?P<rest>(?:{row['question']})\b.+)$"
        wanted = rf"{_BEGIN}{row['who']} ?(?:{row['wants']}) (?!(?:{row['not']})\b)(?P<rest>[^?.!]+){_END}"
        forms += [(asked, "{}"), (wanted, f"{row['how']} {{}}")]
    return tuple((re.compile(form, re.IGNORECASE), asks) for form, asks in forms)


def asked_directly(question: str) -> str:
    """The question itself where somebody only tells that it is asked, or what somebody wants to do; else `question` as it is.

    Only of one sentence, and never where it asks something besides: "she wants to cancel, what does it cost" stays.
    """
    text = " ".join(question.split())
    if len(text) > _LONGEST:
        return question
    for form, asks in _forms():
        found = form.match(text)
        if found and not (asks != "{}" and _ALSO_ASKS.search(found["rest"])):
            return asks.format(found["rest"])
    return question


_LONGEST = 160
_ALSO_ASKS = re.compile(
    r"\b(?:how|what|when|where|which|who|why|ok|okay|possible|allowed|works|price|fee|charge|cost|costs|steps?|extra|but|wie|was|wann|wo|geht das|möglich|kostet|gebühr)\b|[,;:]",
    re.IGNORECASE,
)
"""What in the rest asks something, or goes on with another thing."""
