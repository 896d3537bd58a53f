"""The list of backends of ATTEST_OPENAI_BACKENDS, a YAML file: which deployments of a chat model and of an embedding model there are.

    boundaries: [eu]
    chat:
      - name: sweden
        base_url: https://contoso-sweden.openai.azure.com/openai/v1/
        model: gpt-5.4-mini
        boundary: eu
        key_file: /run/secrets/sweden

What is wrong with it is one line: where, what, what is allowed. No key stands in it, only the file or the variable that holds one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from bot.settings.forms import is_scope, is_url
from grounding.errors import SettingsError
from grounding.services.key_file import read_key

VARIABLE = "ATTEST_OPENAI_BACKENDS"
AUTHS = ("bearer", "api-key", "both")
MOST_ORDER, MOST_WEIGHT = 100, 1000
_TOP = ("boundaries", "chat", "embeddings")
_FIELDS = (
    "name",
    "base_url",
    "model",
    "deployment",
    "order",
    "weight",
    "boundary",
    "key_file",
    "key_env",
    "auth",
    "scope",
)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
_ENV = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,199}")
_FIELD = re.compile(r"[a-z_-]{1,24}")
_WORDS = "letters, digits, dots, - and _, 40 at most"


@dataclass(frozen=True, slots=True)
class ListedBackend:
    """One deployment of the list. `model`: what it holds; `deployment`: its name there; `dimensions`: of an embedding model's vectors, None for
    those that it has by itself. `where`: its place in the list, for messages.
    """

    where: str
    name: str
    base_url: str
    model: str
    deployment: str
    order: int = 1
    weight: float = 1.0
    boundary: str | None = None
    key_file: Path | None = None
    key_env: str | None = None
    auth: str = "bearer"
    scope: str | None = None
    dimensions: int | None = None

    @property
    def has_key(self) -> bool:
        """True if a key is named; without one an Azure address gets this machine's identity, another nothing."""
        return self.key_file is not None or self.key_env is not None


@dataclass(frozen=True, slots=True)
class BackendList:
    """The backends of a file. `boundaries`: of data, that a turn may use; empty: nothing is bounded."""

    chat: tuple[ListedBackend, ...]
    embeddings: tuple[ListedBackend, ...]
    boundaries: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[ListedBackend]:
        yield from (*self.chat, *self.embeddings)

    def is_within(self, backend: ListedBackend) -> bool:
        """True if a turn may use it: its boundary is listed, or none are."""
        return not self.boundaries or backend.boundary in self.boundaries

    @property
    def chat_within(self) -> tuple[ListedBackend, ...]:
        """The chat models that a turn may use, in their order."""
        return tuple(sorted(filter(self.is_within, self.chat), key=lambda backend: backend.order))

    def embeddings_within(self, model: str, width: int, known: Mapping[str, int]) -> tuple[ListedBackend, ...]:
        """The backends that give vectors of this model and width and that a turn may use. `known`: widths of models by their names."""
        return tuple(
            backend
            for backend in filter(self.is_within, self.embeddings)
            if backend.model == model and (backend.dimensions or known.get(model)) == width
        )


def read_backends(path: Path) -> BackendList:
    """The list in the file `path`. Raises SettingsError."""
    try:
        text = path.read_text("utf-8")
    except (OSError, ValueError) as error:
        why = (error.strerror or "cannot be read").lower() if isinstance(error, OSError) else "no UTF-8 text"
        raise SettingsError(f"{VARIABLE}={str(path)!r}: {why}; allowed is a YAML file of backends") from None
    return parsed(text, path)


def parsed(text: str, path: Path) -> BackendList:
    """The list in `text`; relative paths in it are those of the folder of `path`. Raises SettingsError with the place of the first mistake."""
    where = f"{VARIABLE}, {path.name}"
    try:
        given = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise SettingsError(f"{where}{f', line {mark.line + 1}' if mark else ''}: this is no YAML") from None
    if not isinstance(given, dict) or not (given.get("chat") or given.get("embeddings")):
        raise SettingsError(f"{where}: allowed is chat: or embeddings:, each a list of backends")
    _known(given, _TOP, where)
    boundaries = given.get("boundaries", [])
    if not isinstance(boundaries, list) or not all(isinstance(b, str) and _NAME.fullmatch(b) for b in boundaries):
        raise SettingsError(f"{where}: boundaries: allowed is a list of names such as [eu], each of {_WORDS}")
    chat, embeddings = (_backends(given, kind, where, path.parent) for kind in _TOP[1:])
    found = BackendList(chat, embeddings, tuple(boundaries))
    _check_boundaries(found, where, listed="boundaries" in given)
    _check_models(found, where)
    return found


def _backends(given: Mapping[str, Any], kind: str, where: str, folder: Path) -> tuple[ListedBackend, ...]:
    rows = given.get(kind) or []
    if not isinstance(rows, list):
        raise SettingsError(f"{where}: {kind}: allowed is a list of backends, each with name, base_url and model")
    found = tuple(_Row(row, f"{where}: {kind} {i}", kind, folder).backend() for i, row in enumerate(rows, 1))
    names = [backend.name for backend in found]
    if twice := [name for name in names if names.count(name) > 1]:
        raise SettingsError(f"{where}: {kind} {twice[0]}: the name stands twice: allowed is one backend of each name")
    return found


class _Row:
    """One backend of the file as it is read: each method reads a field, or raises SettingsError."""

    def __init__(self, row: object, where: str, kind: str, folder: Path) -> None:
        if not isinstance(row, dict):
            raise SettingsError(f"{where}: allowed is a backend with name, base_url and model")
        self._row: dict[Any, Any] = row
        self._where, self._embeds, self._folder = where, kind == "embeddings", folder
        self._name = self._word("name", _NAME, _WORDS)
        self._where = f"{where.rpartition(' ')[0]} {self._name}"

    def backend(self) -> ListedBackend:
        _known(self._row, (*_FIELDS, "dimensions") if self._embeds else _FIELDS, self._where)
        model = self._text("model")
        backend = ListedBackend(
            where=self._where,
            name=self._name,
            base_url=self._url(),
            model=model,
            deployment=self._text("deployment") if "deployment" in self._row else model,
            order=int(self._number("order", 1, 1, MOST_ORDER, whole=True)),
            weight=self._number("weight", 1, 0, MOST_WEIGHT),
            boundary=self._word("boundary", _NAME, _WORDS) if "boundary" in self._row else None,
            key_file=self._folder / self._text("key_file") if "key_file" in self._row else None,
            key_env=self._word("key_env", _ENV, "the name of a variable") if "key_env" in self._row else None,
            auth=self._auth(),
            scope=self._scope(),
            dimensions=int(self._number("dimensions", 0, 8, 4096, whole=True)) if "dimensions" in self._row else None,
        )
        self._check_key(backend)
        return backend

    def _check_key(self, backend: ListedBackend) -> None:
        if backend.key_file is not None and backend.key_env is not None:
            raise self._wrong("key_file and key_env", "one of them")
        if backend.auth != "bearer" and not backend.has_key:
            raise self._wrong(
                f"auth {backend.auth}", "it with key_file or key_env; without a key there is none to send"
            )
        if backend.scope is not None and backend.has_key:
            raise self._wrong("scope", "it without a key; with one no token is asked for")
        if backend.key_file is not None:
            read_key(backend.key_file, f"{self._where}: key_file")

    def _text(self, field: str) -> str:
        value = self._row.get(field)
        if not isinstance(value, str) or not value.strip():
            raise self._wrong(field, "a text", missing=value is None)
        return value.strip()

    def _word(self, field: str, form: re.Pattern[str], allowed: str) -> str:
        value = self._row.get(field)
        if not isinstance(value, str) or not form.fullmatch(value):
            raise self._wrong(field, allowed, missing=value is None)
        return value

    def _url(self) -> str:
        value = self._text("base_url")
        if not is_url(value) or urlsplit(value).query or urlsplit(value).username is not None:
            raise self._wrong("base_url", "an address such as https://NAME.openai.azure.com/openai/v1/, no key in it")
        return value

    def _number(self, field: str, default: float, low: float, high: float, *, whole: bool = False) -> float:
        value = self._row.get(field, default)
        fits = type(value) is int or (type(value) is float and not whole)
        if not fits or not (low <= value <= high if whole else low < value <= high):
            kind = f"a whole number from {low:g}" if whole else f"a number above {low:g}, up"
            raise self._wrong(f"{field} {value!r}" if isinstance(value, int | float) else field, f"{kind} to {high:g}")
        return float(value)

    def _auth(self) -> str:
        value = self._row.get("auth", "bearer")
        if value not in AUTHS:
            raise self._wrong("auth", f"one of {', '.join(AUTHS)}")
        return str(value)

    def _scope(self) -> str | None:
        value = self._row.get("scope")
        if value is not None and not (isinstance(value, str) and is_scope(value)):
            raise self._wrong("scope", "one that ends in /.default, such as https://ai.azure.com/.default")
        return value

    def _wrong(self, what: str, allowed: str, *, missing: bool = False) -> SettingsError:
        return SettingsError(f"{self._where}: {what}{' is missing' if missing else ''}: allowed is {allowed}")


def _known(given: Mapping[Any, Any], allowed: Sequence[str], where: str) -> None:
    """Raise SettingsError for a field that is not known. Its name alone is told: what stands there may be a key."""
    for field in given:
        if field not in allowed:
            shown = field if isinstance(field, str) and _FIELD.fullmatch(field) else "a field"
            hint = ""
            if isinstance(field, str) and "key" in field.lower():
                hint = "; a key stands in a file (key_file) or a variable (key_env), never here"
            raise SettingsError(f"{where}: {shown} is not known: allowed are {', '.join(allowed)}{hint}")


def _check_boundaries(found: BackendList, where: str, *, listed: bool) -> None:
    """Where data is bounded, it is said which boundaries a turn may use, and each kind has a backend within them."""
    if listed and not found.boundaries:
        raise SettingsError(f"{where}: boundaries is empty: allowed is a list of those that a turn may use")
    bounded = next((backend for backend in found if backend.boundary is not None), None)
    if bounded is not None and not listed:
        allowed = f"boundaries: [{bounded.boundary}], a list of those that a turn may use"
        raise SettingsError(f"{bounded.where}: boundary needs boundaries at the top of the file: allowed is {allowed}")
    for kind, backends in (("chat", found.chat), ("embeddings", found.embeddings)):
        if backends and not any(map(found.is_within, backends)):
            allowed = f"one at least with boundary {' or '.join(found.boundaries)}"
            raise SettingsError(f"{where}: {kind}: no backend is within the boundaries: allowed is {allowed}")


def _check_models(found: BackendList, where: str) -> None:
    """Chat models of one order are the same, or chance would decide which of two answers is the usual one."""
    for order in {backend.order for backend in found.chat}:
        models = sorted({backend.model for backend in found.chat if backend.order == order})
        if len(models) > 1:
            raise SettingsError(
                f"{where}: chat, order {order}: {' and '.join(models)}: allowed is one model in an order; give the other a higher one"
            )
