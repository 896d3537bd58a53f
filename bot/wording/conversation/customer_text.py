"""An answer, or a passage, as plain text for a customer: what *Copy for customer* gives on every channel."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from bot.wording.contacts import unvouched_spans
from bot.wording.values import SIGN, joined, value_spans
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
_FIRST = 0xF0000
_HELD = f"{chr(_FIRST)}-{chr(0x10FFFD)}"
"""Characters for private use, each of which stands for a value while the form around it is changed."""
_HEADING = re.compile(rf"(?m)^[ \t]{{0,3}}#{{1,6}}[ \t]+(?:[^\n{_HELD}]{{0,300}}(?:\n|\Z))?")
"""A heading, or of one with a value its sign alone."""
_EMPHASIS = re.compile(
    r"(?<![^\s(\[{\"'“„«])(\*{2,3}|__|`{1,3})(?=\S)((?:(?!\1)[^\n]){1,1000})(?<!\s)\1(?=[]).,;:!?…}\"'”»]*+(?:\s|$))"
)
"""Words between two marks. Marks within a word stay: to join what they part could make a contact that nobody checked."""
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

    text, values = _held(answer.removeprefix(LEAD_IN).lstrip(), unvouched)
    text = _MARK.sub(kept, text)
    text = re.sub(rf"(?m)^{MISSING}[^\n]{{0,2000}}$", "", text)
    text = re.sub(r"(?m)^([ \t]*)[*+-][ \t]+", r"\1• ", text)
    text = _ANSWER.sub(r"\1", text)
    text = _HEADING.sub("", text)
    text = re.sub(rf"\[([^\]\[]{{1,300}})\]\((?:mailto:|tel:)?([{_HELD}]|https?://[^()\s]{{1,500}})\)", r"\1: \2", text)
    text = _plain(text)
    text = _ROW.sub(lambda m: m[1] + _spoken(m[2]), text)
    text = re.sub(r"\n{3,}", "\n\n", text).strip()
    return re.sub(f"[{_HELD}]", lambda found: values[ord(found[0]) - _FIRST], text)


def _held(text: str, unvouched: Sequence[str]) -> tuple[str, list[str]]:
    """The text with a character in the place of each contact and amount, and those in order, with a sign behind each that is `unvouched`."""
    signed = unvouched_spans(text, unvouched)
    spans = joined([*value_spans(text), *signed, *(m.span() for m in re.finditer(f"[{_HELD}]", text))])
    values, parts, end = list[str](), list[str](), 0
    for n, (start, stop) in enumerate(spans):
        parts += [text[end:start], chr(_FIRST + n)]
        values.append(text[start:stop] + (f" {SIGN}" if any(start <= a < stop for a, _ in signed) else ""))
        end = stop
    return "".join([*parts, text[end:]]), values


def _plain(text: str) -> str:
    """The text without marks of emphasis; what stands between those of code is literal."""
    return _EMPHASIS.sub(lambda found: found[2] if found[1][0] == "`" else _plain(found[2]), text)


def _spoken(row: str) -> str:
    """A row as one says it: what it is about, then each column with its value; nothing of columns that have none."""
    first, *rest = cells(row)
    named = first.header and not re.search(f"[{_HELD}]", first.header)
    about = first.span.text.removeprefix(f"{first.header}:").strip() if named else first.span.text.strip()
    told = [cell.span.text.strip() for cell in rest if cell.span.text.strip() and not is_empty(cell)]
    return f"{about} – {'; '.join(told)}" if told else about
