"""Markdown of an answer as the Teams client can show it with its citations alive. Pure functions; no word is lost.

The client replaces `[n]` by a citation in paragraphs alone: in a list without blank lines between its items the marks stay dead, and a text message
has no tables. So items are set apart, and each row of a table becomes an item that names its columns.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot.teams.shown.message_limits import MARKER

_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]")
_FENCE = ("```", "~~~")
_CELL = re.compile(r":?-{1,200}:?")
"""A cell of the line below a table's head."""
_BAR = re.compile(r"(?<!\\)\|")


def with_live_citations(text: str) -> str:
    """`text` with its tables as lists, and a blank line between the items of each list that cites something; a list of one item is a paragraph."""
    return "\n".join(_apart(_without_tables(text.split("\n"))))


def _without_tables(lines: Sequence[str]) -> list[str]:
    out: list[str] = []
    at = 0
    fenced = False
    while at < len(lines):
        fenced ^= lines[at].lstrip().startswith(_FENCE)
        rows = 0 if fenced else _rows(lines, at)
        if rows:
            head = _cells(lines[at])[0]
            if out and out[-1].strip():
                out.append("")
            out += [_item(head, line) for line in lines[at + 2 : at + 2 + rows]]
            at += 2 + rows
            if at < len(lines) and lines[at].strip():
                out.append("")
        else:
            out.append(lines[at])
            at += 1
    return out


def _rows(lines: Sequence[str], at: int) -> int:
    """How many rows the table has whose head stands at `at`; 0 if none stands there."""
    if at + 1 >= len(lines) or not _BAR.search(lines[at]) or not _is_rule(lines[at + 1]):
        return 0
    rows = 0
    while at + 2 + rows < len(lines) and _BAR.search(lines[at + 2 + rows]):
        rows += 1
    return rows


def _is_rule(line: str) -> bool:
    cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
    return "|" in line and all(_CELL.fullmatch(cell) for cell in cells)


def _cells(line: str) -> tuple[list[str], str]:
    """The cells of a row, and the citations that stand behind its last bar."""
    body = line.strip()
    cut = [match.end() for match in _BAR.finditer(body)]
    behind = body[cut[-1] :].strip() if cut else ""
    if behind and not MARKER.sub("", behind).strip():
        body = body[: cut[-1]]
    else:
        behind = ""
    cells = [cell.strip() for cell in _BAR.split(body)]
    return cells[1 if body.startswith("|") else 0 : -1 if body.endswith("|") else None], behind


def _item(head: Sequence[str], line: str) -> str:
    """A row as an item: what it is about in bold, then each column's name with its value."""
    cells, behind = _cells(line)
    first, rest = (cells[0], cells[1:]) if cells else ("", [])
    names = [*head[1:], *[""] * len(rest)]
    said = [f"{name}: {cell}" if name else cell for name, cell in zip(names, rest, strict=False) if cell]
    bold = f"**{first}**" if first and "*" not in first else first
    return "- " + " · ".join(part for part in (bold, *said) if part) + (f" {behind}" if behind else "")


def _apart(lines: Sequence[str]) -> list[str]:
    out: list[str] = []
    at = 0
    while at < len(lines):
        end = _list_end(lines, at)
        run = lines[at:end]
        if _ITEM.match(lines[at]) and any(MARKER.search(line) for line in run):
            if sum(bool(_ITEM.match(line)) for line in run) == 1 and not _is_one_of_several(out, lines[end:]):
                run = [_as_paragraph(run[0]), *run[1:]]
            for line in run:
                apart = _ITEM.match(line) or line is run[0]
                out += ["", line] if apart and out and out[-1].strip() else [line]
        else:
            out += run
        at = end
    return out


def _is_one_of_several(before: Sequence[str], after: Sequence[str]) -> bool:
    """Whether an item has another before or after it: a list of one has no blank line between its items, and stays tight."""
    last = next((line for line in reversed(before) if line.strip()), "")
    following = next((line for line in after if line.strip()), "")
    return bool(_ITEM.match(last) or _ITEM.match(following))


def _as_paragraph(item: str) -> str:
    """An item as a paragraph that looks like one."""
    mark = _ITEM.match(item)
    head = mark[0].strip() if mark else ""
    return (f"{head[:-1]}\\{head[-1]} " if head[:1].isdigit() else "• ") + item[len(mark[0]) if mark else 0 :]


def _list_end(lines: Sequence[str], at: int) -> int:
    """Where the stretch that begins at `at` ends: a list without blank lines, a fenced block, or one line of anything else."""
    if lines[at].lstrip().startswith(_FENCE):
        closing = (n for n in range(at + 1, len(lines)) if lines[n].lstrip().startswith(_FENCE))
        return next(closing, len(lines) - 1) + 1
    if not _ITEM.match(lines[at]):
        return at + 1
    end = at + 1
    while end < len(lines) and lines[end].strip() and not lines[end].lstrip().startswith(_FENCE):
        end += 1
    return end
