"""What the human agent typed or pasted: a plain question, or a customer's conversation with its open question."""

from __future__ import annotations

import re
from dataclasses import dataclass

from grounding.records import Role, Turn

_LABEL = re.compile(
    r"^\s*(?:\[[^\]\n]{1,40}\]\s*)?(?:\*\*)?(customer|client|caller|agent|representative|rep)(?:\*\*)?\s*:(?:\*\*)?\s*(.*)$",
    re.IGNORECASE,
)
_AGENT = frozenset({"agent", "representative", "rep"})


@dataclass(frozen=True, slots=True)
class Pasted:
    """A pasted conversation: the customer's last turn is the question, what stands before it is the history."""

    question: str
    history: tuple[Turn, ...]


def read_transcript(text: str) -> Pasted | None:
    """The conversation in `text`, or None if its first line does not begin with "Customer:" or "Agent:".

    A line without a label goes on with the turn above it. What the agent said after the customer's last turn is
    dropped: it is not part of the question. None as well when no customer turn has words.
    """
    turns: list[tuple[Role, list[str]]] = []
    for line in text.strip().splitlines():
        label = _LABEL.match(line)
        if label:
            turns.append(("agent" if label[1].lower() in _AGENT else "customer", [label[2]]))
        elif turns:
            turns[-1][1].append(line)
        else:
            return None
    spoken = [Turn(role, joined) for role, lines in turns if (joined := "\n".join(lines).strip())]
    asked = [n for n, turn in enumerate(spoken) if turn.role == "customer"]
    if not asked:
        return None
    return Pasted(spoken[asked[-1]].text, tuple(spoken[: asked[-1]]))
