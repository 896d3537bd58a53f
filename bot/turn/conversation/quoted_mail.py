"""What an e-mail quotes below or between its own words: the mail that it answers, as mail programs set it apart in eight languages."""

from __future__ import annotations

import re
from collections.abc import Sequence

_WROTE = r"wrote|schrieb|a écrit|escribió|ha scritto|escreveu|schreef|napisał(?:\(a\)|a)?"
_ATTRIBUTION = re.compile(
    rf"[>\s]*(?:(?:on|am|le|el|il|em|op|w dniu|dnia|a)\b.{{4,200}}\b(?:{_WROTE})(?!\w).{{0,120}}|\d{{1,2}}\.? \w+\.? \d{{4}}.{{2,160}}\b(?:{_WROTE}))[ \u00a0]?:\s*",
    re.IGNORECASE,
)
"""The line above a quotation: "On 12 Nov 2026, at 10:12, Ann <ann@…> wrote:"."""
_SEPARATOR = re.compile(
    r"[>\s]*[-_*]{2,} ?(?:original(?: message|nachricht)|ursprüngliche nachricht|message d'origine|message original|mensaje original|messaggio originale|mensagem original|"
    r"oorspronkelijk(?:e)? bericht|oryginalna wiadomość|wiadomość oryginalna|forwarded message|weitergeleitete nachricht)\b.{0,20}|[_]{20,}\s*",
    re.IGNORECASE,
)
"""The line above an older mail: "-----Original Message-----", and the rule that Outlook draws."""
_LONGEST_LINE = 400
_FEWEST = 2
"""Lines that begin with ">", of a quotation that nothing announces."""


def own_and_quoted(lines: Sequence[str]) -> tuple[list[str], list[str]]:
    """The lines that the mail's author wrote, and those that they quote with what announces them; none of the second where nothing is quoted.

    Below a line that announces it the quotation is what begins with ">", where something does, else all that follows.
    """
    at = next((n for n in range(len(lines)) if _announces(lines, n)), None)
    if at is not None and not any(_is_marked(line) for line in lines[at + 1 :]):
        return list(lines[:at]), list(lines[at:])
    deep = any(map(_is_marked, lines))  # alone ">>>" points at the question, below ">" it is an older mail
    marked = [n for n, line in enumerate(lines) if deep and line.lstrip().startswith(">")]
    if at is None and len(marked) < _FEWEST:
        return list(lines), []
    announced = range(at, min([at + 2, *(n for n in marked if n > at)])) if at is not None else range(0)
    told = {*marked, *announced}
    return [line for n, line in enumerate(lines) if n not in told], [lines[n] for n in sorted(told)]


def _announces(lines: Sequence[str], n: int) -> bool:
    """True of the line, or of it and the next one as a mail program wraps it."""
    line = lines[n][:_LONGEST_LINE]
    if _ATTRIBUTION.fullmatch(line) or _SEPARATOR.fullmatch(line):
        return True
    after = lines[n + 1].lstrip("> ")[:_LONGEST_LINE] if n + 1 < len(lines) else ""
    return bool(line.strip() and after and _ATTRIBUTION.fullmatch(f"{line} {after}"))


def _is_marked(line: str) -> bool:
    return line.lstrip().startswith(">") and not line.lstrip().startswith(">>>")
