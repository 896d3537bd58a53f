"""Reads the settings: the only place that reads the environment.

Every setting is an environment variable `ATTEST_…` or a line of `.env` in the working folder; the environment wins.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_args

from dotenv import dotenv_values
from pydantic import ValidationError
from pydantic.fields import FieldInfo

from bot.settings.forms import PREFIX
from bot.settings.groups.files import Files
from bot.settings.settings import PLACES, Settings
from grounding.errors import SettingsError
from grounding.services.address import check_key

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # onnxruntime reads it at import; nothing imports it before this

SAMPLE = Path(__file__).parent.parent / "sample"
"""The knowledge base that comes with the product: kb/, web/, directory.yaml, golden.jsonl."""
_USERINFO = re.compile(r"(?<=://)[^/\s]*@")
_QUERY_VALUE = re.compile(r"(?<=[?&;#])([^=&;#\s]*=)[^&;#\s]*")
_SHOWN = 80


def load_settings(**overrides: object) -> Settings:
    """Read the settings from environment and `.env`, with `overrides` on top. Raises SettingsError: one line, no secret in it."""
    try:
        environment, file = _sources()
    except UnicodeDecodeError:
        raise SettingsError(".env: not readable as UTF-8; allowed is UTF-8 text, one NAME=VALUE to a line") from None
    except OSError as error:
        raise SettingsError(f".env: {(error.strerror or 'cannot be read').lower()}") from None
    given: dict[str, dict[str, object]] = {group: {} for group in Settings.model_fields}
    for name, place in PLACES.items():
        found = [values[name] for values in (overrides, environment, file) if name in values]
        if found:
            given[place.group][name] = found[0]
    try:
        files = Files.model_validate(given["files"])
        settings = Settings.model_validate({**given, "files": files}, context={"home": files.home})
    except ValidationError as error:
        raise SettingsError(_line(error, overrides)) from None
    broken = next((why for wrong, why in settings.conflicts() if wrong), None)
    if broken:
        raise SettingsError(broken)
    for backend in settings.model.backends or ():
        if backend.key_env is not None and not (key := variable(backend.key_env)):
            raise SettingsError(f"{backend.where}: key_env {backend.key_env}: allowed is a variable that is set")
        if backend.key_env is not None:
            check_key(key, f"{backend.where}: key_env {backend.key_env}")
    return settings


def variable(name: str) -> str:
    """The value of any variable, of the environment or else of `.env`; "" where there is none."""
    file = Path(".env")
    return os.environ.get(name) or (dotenv_values(file, encoding="utf-8").get(name) if file.is_file() else None) or ""


def as_given(name: str, value: object, given: Mapping[str, object] | None = None) -> str:
    """`ATTEST_PORT='abc' (environment)`: a setting's variable, its value unless it is a secret, and where it was set."""
    field, where = PLACES[name].info, _origin(name, given or {})
    shown = "" if _is_secret(field) else f"={_quoted(name, value)}"
    return f"{PREFIX}{name.upper()}{shown} ({where})"


def without_credentials(text: str) -> str:
    """`text` with user information and the values of the query masked in every URL."""
    return _QUERY_VALUE.sub(r"\1********", _USERINFO.sub("********@", text)) if "://" in text else text


def unknown_names() -> list[tuple[str, str | None]]:
    """Variables that look like settings but are none, in environment and `.env`, each with the nearest known name."""
    known = [PREFIX + name.upper() for name in PLACES]
    found = {PREFIX + name.upper() for values in _sources() for name in values} - set(known)
    return [(name, next(iter(get_close_matches(name, known, n=1)), None)) for name in sorted(found)]


def _sources() -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Settings of the environment and of `.env`, by name, the empty left out. Raises OSError, UnicodeDecodeError."""
    file = Path(".env")
    return _named(os.environ), _named(dotenv_values(file, encoding="utf-8") if file.is_file() else {})


def _named(variables: Mapping[str, str | None]) -> dict[str, str]:
    found = ((name.upper(), value) for name, value in variables.items())
    return {name.removeprefix(PREFIX).lower(): value for name, value in found if value and name.startswith(PREFIX)}


def _origin(name: str, given: Mapping[str, object]) -> str:
    if name in given:
        return "option"
    return next(
        (at for at, values in zip(("environment", ".env"), _sources(), strict=True) if name in values), "default"
    )


def _line(error: ValidationError, given: Mapping[str, object]) -> str:
    first = error.errors(include_url=False)[0]
    message = first["msg"].removeprefix("Value error, ")
    name = str(first["loc"][0 if error.title == Files.__name__ else 1])
    own = first["type"] == "value_error"
    return f"{as_given(name, _raw(name, given), given)}: allowed is {message if own else _allowed(name, message)}"


def _raw(name: str, given: Mapping[str, object]) -> object:
    return next((values[name] for values in (given, *_sources()) if name in values), None)


def _quoted(name: str, value: object) -> str:
    text = value if isinstance(value, str) else str(value)
    if name.endswith(("_url", "_endpoint")):
        text = without_credentials(re.sub(r"^(\w+://)?.*@", r"\1********@", text, flags=re.DOTALL))
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "…")


def _is_secret(field: FieldInfo) -> bool:
    return "SecretStr" in str(field.annotation)


def choices_of(field: FieldInfo) -> list[str]:
    """What a setting may be, where that is one of some words, or none of them if it is not set; else empty."""
    found = get_args(field.annotation)
    if type(None) in found:
        found = tuple(choice for kind in found if kind is not type(None) for choice in get_args(kind))
    return list(found) if all(isinstance(choice, str) for choice in found) else []


def _allowed(name: str, message: str) -> str:
    field = PLACES[name].info
    if choices := choices_of(field):
        return f"one of {', '.join(choices)}"
    if field.annotation in (int, int | None):
        low, high = _bound(field, "ge"), _bound(field, "le")
        return f"a whole number from {low} to {high}" if high is not None else f"a whole number of at least {low}"
    if field.annotation is float:
        return f"a number above {_bound(field, 'gt')}, at most {_bound(field, 'le')}"
    return message[:1].lower() + message[1:]


def _bound(field: FieldInfo, name: str) -> Any:
    return next((getattr(part, name) for part in field.metadata if hasattr(part, name)), None)
