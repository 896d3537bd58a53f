"""The history of a conversation, as a transcript or as JSON, to turns.

A transcript has a line per message that begins with who speaks (`Customer:`, `Agent:`, or another of `SPEAKERS`; bold, or
with a time in brackets before it, is the same); lines that follow belong to the message above them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, get_args

from grounding.errors import InputError
from grounding.records import Role, Turn

ROLES: tuple[Role, ...] = get_args(Role)
SPEAKERS: dict[str, Role] = {
    **{role: role for role in ROLES},
    "client": "customer",
    "caller": "customer",
    "representative": "agent",
    "rep": "agent",
}
"""What a line of a transcript may begin with, in any case, and whose words follow."""
_SPEAKER = re.compile(
    rf"\s*(?:\[[^\]\n]{{1,40}}\]\s*)?(?:\*\*)?({'|'.join(SPEAKERS)})(?:\*\*)?\s*:(?:\*\*)?[ \t]*", re.IGNORECASE
)


def read_history(raw: str, where: str = "history") -> tuple[Turn, ...]:
    """Turns of a history file: JSON (a list of turns, or an object with `history`) or a transcript.

    `where` names the file in messages. Raises InputError.
    """
    text = raw.lstrip("\ufeff")
    if text.lstrip()[:1] not in ("[", "{") or _SPEAKER.match(text):
        return parse_transcript(text, where)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not readable as JSON ({_short(error)})", code="bad_json") from None
    if isinstance(value, Mapping):
        value = value.get("history")
    return turns_from_json(value, where)


def turns_from_json(value: Any, where: str = "history") -> tuple[Turn, ...]:
    """Turns of `[{"role": …, "text": …}]`. Raises InputError that names the place."""
    if not isinstance(value, list):
        raise InputError(f'{where}: a list of {{"role", "text"}} is needed', code="bad_field")
    return tuple(_turn(item, f"{where}[{index}]") for index, item in enumerate(value))


def parse_transcript(text: str, where: str = "transcript") -> tuple[Turn, ...]:
    """Turns of a transcript; a speaker without words (a trailing `Agent:`) is no turn. Raises InputError."""
    turns: list[tuple[Role, list[str]]] = []
    for number, line in enumerate(text.lstrip("\ufeff").splitlines(), start=1):
        speaker = _SPEAKER.match(line)
        if speaker:
            turns.append((SPEAKERS[speaker.group(1).lower()], [line[speaker.end() :]]))
        elif turns:
            turns[-1][1].append(line)
        elif line.strip():
            raise InputError(
                f"{where}, line {number}: does not say who speaks; lines begin with Customer: or Agent:",
                code="bad_transcript",
            )
    return tuple(Turn(role, said) for role, lines in turns if (said := "\n".join(lines).strip()))


def _turn(item: Any, where: str) -> Turn:
    if not isinstance(item, Mapping):
        raise InputError(f'{where}: an object with "role" and "text" is needed', code="bad_field")
    role, text = item.get("role"), item.get("text")
    if role not in ROLES:
        raise InputError(f"{where}.role: allowed are {', '.join(ROLES)}", code="bad_field")
    if not isinstance(text, str):
        raise InputError(f"{where}.text: a string is needed", code="bad_field")
    return Turn(role, text)


def _short(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"line {error.lineno}, column {error.colno}: {error.msg}"
    return "nested too deeply" if isinstance(error, RecursionError) else "a number is too long"
