"""An answer, or a passage, as plain text for a customer: what *Copy for customer* gives on every channel."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from bot.wording.contacts import with_marks
from grounding.quoting.blocks import cells, is_empty
from grounding.records import LEAD_IN
from grounding.text import BAR

MISSING = "Not found in the sources:"
"""Before the parts of a question that an answer does not answer; said to the human agent."""
_MARK = re.compile(r"[ \t]*\[([1-9]\d{0,2})\]")
_ANSWER = re.compile(
    r"(?m)^([ \t]*(?:[-*+•][ \t]+)?)\**(?:Answer|Antwort|Réponse|Respuesta|Risposta|Resposta|Antwoord) ?:\**[ \t]+"
)
"""What stands before an answer where questions of others are answered: the customer has asked one of their own."""
_ROW = re.compile(rf"(?m)^([ \t]*(?:[-*+•]|\d{{1,2}}\.)?[ \t]*)([^\n]*{re.escape(BAR)}[^\n]*)$")


def without_marks(text: str) -> str:
    """The text without the [n] of its citations."""
    return _MARK.sub("", text)


def for_customer(
    answer: str, unvouched: Sequence[str] = (), *, internal: Collection[int] = (), mark: str = "internal"
) -> str:
    """An answer as plain text that can be pasted: no citation marks, no headings, no markdown, rows of tables as one says them. What keeps a mark, so that nobody sends
    it on without a look: `unvouched` contacts, and what cites one of the sources `internal`, which not everyone may read (`mark`, in brackets).
    """

    def kept(found: re.Match[str]) -> str:
        return f" [{mark}]" if int(found[1]) in internal else ""

    text = _MARK.sub(kept, answer.removeprefix(LEAD_IN).lstrip())
    text = re.sub(rf"(?m)^{MISSING}[^\n]{{0,2000}}$", "", text)
    text = with_marks(_ANSWER.sub(r"\1", text), unvouched)
    text = re.sub(r"(?m)^[ \t]{0,3}#{1,6}[ \t]+[^\n]{0,300}\n?", "", text)
    text = re.sub(r"\[([^\]\[]{1,300})\]\((https?://[^()\s]{1,500})\)", r"\1: \2", text)
    text = re.sub(r"(\*\*|__|`)", "", text)
    text = _ROW.sub(lambda m: m[1] + _spoken(m[2]), text)
    text = re.sub(r"(?m)^([ \t]*)[*+-][ \t]+", r"\1• ", text)
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def _spoken(row: str) -> str:
    """A row as one says it: what it is about, then each column with its value; nothing of columns that have none."""
    first, *rest = cells(row)
    about = first.span.text.removeprefix(f"{first.header}:").strip() if first.header else first.span.text.strip()
    told = [cell.span.text.strip() for cell in rest if cell.span.text.strip() and not is_empty(cell)]
    return f"{about} – {'; '.join(told)}" if told else about
