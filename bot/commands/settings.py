"""`attest settings`: shows every setting with its variable, default, value and meaning."""

from __future__ import annotations

from typing import Annotated, Any, get_args

import typer
from pydantic import SecretStr
from pydantic.fields import FieldInfo

from bot.commands.shared import options
from bot.commands.shared.output import console, emit, table
from bot.commands.shared.startup import settings_of, warn_of_unknown_names
from bot.settings.forms import PREFIX
from bot.settings.load import without_credentials
from bot.settings.settings import PLACES, Settings

app = options.command_app()


@app.command()
def settings(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[WORD]…", help="Only settings that speak of all of these.", show_default=False),
    ] = None,
    given: Annotated[
        bool, typer.Option("--set", help="Only settings that are set, and not left at their default.")
    ] = False,
    json: options.JsonFlag = False,
) -> None:
    """Show every setting: its environment variable, default, current value (secrets masked) and meaning.

    A setting is an environment variable, or a line NAME=VALUE of the file .env in the working folder; the environment
    wins. Ready files for each way of running come with the product in env/.

    Examples:
      attest settings search
      attest settings --set
      attest settings --json
    """
    current = settings_of()
    rows = [row for row in describe(current) if not given or row["name"] in current.given()]
    rows = [row for row in rows if all(_speaks_of(row, word) for word in words or ())]
    warn_of_unknown_names()
    if json:
        emit({"settings": rows})
        return
    cells = [(row["env"], _shown(row["default"]), _shown(row["value"]), row["meaning"]) for row in rows]
    console().print(table(("variable", "default", "value", "meaning"), cells))


def _speaks_of(row: dict[str, Any], word: str) -> bool:
    return word.casefold() in f"{row['env']} {row['meaning']}".casefold()


def describe(current: Settings) -> list[dict[str, Any]]:
    """One object per setting: `name`, `env`, `default`, `value`, `meaning`, `allowed` (or None). No secret in it."""
    return [
        {
            "name": name,
            "env": PREFIX + name.upper(),
            "default": _masked(place.info.get_default(call_default_factory=True, validated_data={})),
            "value": _masked(current.value(name)),
            "meaning": _meaning(place.info),
            "allowed": _choices(place.info) or None,
        }
        for name, place in PLACES.items()
    ]


def _meaning(field: FieldInfo) -> str:
    choices = _choices(field)
    return f"{field.description} ({' | '.join(choices)})" if choices else field.description or ""


def _choices(field: FieldInfo) -> list[str]:
    choices = get_args(field.annotation)
    return list(choices) if choices and all(isinstance(c, str) for c in choices) else []


def _masked(value: Any) -> Any:
    if isinstance(value, SecretStr):
        return "********"
    if isinstance(value, tuple | list | set | frozenset):
        return [_masked(item) for item in value]
    if value is None or isinstance(value, bool | int | float):
        return value
    return without_credentials(str(value))


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "–"
    return "–" if value is None else str(value)
