"""A company's own list of subjects that its assistant does not speak of, as a YAML file that is read again when it changes.

    - id: competitors
      about: other companies' offers
      phrases: ["better than Contoso", "switch to Fabrikam", "compar* with Contoso"]
      unless: ["move my number from Contoso"]

A phrase is found as whole words, whatever their case, accents and spaces; `*` at the end of a word stands for any ending.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from grounding.errors import InputError
from rai.screening.normal_forms import normal

LOG = logging.getLogger("attest")
_FIELDS = {"id", "about", "phrases", "unless"}
_MOST = 2000
"""Most phrases of one subject."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A subject that the company excludes: a text is on it if it has one of `phrases` and none of `unless`."""

    id: str
    about: str
    phrases: re.Pattern[str]
    unless: re.Pattern[str] | None

    def found_in(self, plain: str) -> bool:
        """True if a text in normal form is on this subject."""
        return bool(self.phrases.search(plain)) and not (self.unless is not None and self.unless.search(plain))


def parse(text: str, name: str) -> tuple[Subject, ...]:
    """The subjects of a list in YAML; `name`: of the file, for errors. Raises InputError with the place of the first mistake and what is allowed there."""
    try:
        rows = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise InputError(f"{name}{f', line {mark.line + 1}' if mark else ''}: this is no YAML") from None
    if rows is None:
        return ()
    if not isinstance(rows, list):
        raise InputError(f"{name}: a list of subjects is wanted, each with id, about and phrases")
    subjects = tuple(_subject(row, f"{name}, subject {i}") for i, row in enumerate(rows, 1))
    twice = {s.id for s in subjects if [t.id for t in subjects].count(s.id) > 1}
    if twice:
        raise InputError(f"{name}: the id {min(twice)} is given twice")
    return subjects


def load(path: Path) -> tuple[Subject, ...]:
    """The subjects of the list in a file. Raises InputError if it cannot be read, or is wrong."""
    try:
        return parse(path.read_text("utf-8"), path.name)
    except UnicodeDecodeError:
        raise InputError(f"{path.name} is no UTF-8 text; save it as UTF-8") from None
    except OSError as error:
        raise InputError(f"{path.name} cannot be read ({type(error).__name__})") from None


def _subject(row: Any, where: str) -> Subject:
    if not isinstance(row, dict) or not isinstance(row.get("id"), str) or not row["id"].strip():
        raise InputError(f"{where}: it needs an id in words, such as competitors")
    if unknown := sorted(set(map(str, row)) - _FIELDS):
        raise InputError(f"{where}: {unknown[0]} is not known; allowed are {', '.join(sorted(_FIELDS))}")
    phrases = _phrases(row.get("phrases"), f"{where}: phrases")
    if not phrases:
        raise InputError(f"{where}: phrases is empty")
    unless = _phrases(row.get("unless", []), f"{where}: unless")
    return Subject(
        row["id"].strip(), str(row.get("about") or row["id"]), _any(phrases), _any(unless) if unless else None
    )


def _phrases(value: Any, where: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(p, str) for p in value):
        raise InputError(f"{where}: a list of texts is wanted")
    if len(value) > _MOST:
        raise InputError(f"{where}: {len(value)} phrases; at most {_MOST} are allowed")
    for phrase in value:
        if len(re.sub(r"[\W_]", "", phrase)) < 3:
            raise InputError(f"{where}: “{phrase}” is shorter than three letters and would be found nearly everywhere")
    return list(value)


def _any(phrases: Sequence[str]) -> re.Pattern[str]:
    return re.compile("|".join(sorted((_pattern(normal(p)) for p in phrases), key=len, reverse=True)))


def _pattern(phrase: str) -> str:
    words = [re.escape(w.removesuffix("*")) + (r"\w*" if w.endswith("*") else "") for w in phrase.split()]
    return r"(?<!\w)" + r"\s+".join(words) + r"(?!\w)"


@dataclass(frozen=True, slots=True)
class Subjects:
    """The company's list of excluded subjects as it stood at some time."""

    listed: tuple[Subject, ...] = ()

    def found(self, text: str) -> Subject | None:
        """The first subject of the list that `text` is on, or None."""
        if not self.listed:
            return None
        plain = normal(text)
        return next((s for s in self.listed if s.found_in(plain)), None)


class OffPolicy:
    """The company's list of excluded subjects in a file that is followed: a change counts from the next question on.

    A list that became unreadable or wrong keeps what was valid before, and the log says so once for each change: a slip of an
    administrator must neither switch the list off nor stop the service. Raises InputError if there is a list and it is wrong at the start.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stamp = self._now()
        self._subjects = Subjects(load(path)) if self._stamp is not None else Subjects()

    def found(self, text: str) -> Subject | None:
        """The first subject of the list as it stands now that `text` is on, or None."""
        return self.current().found(text)

    def current(self) -> Subjects:
        """The list as it stands now."""
        self._follow()
        return self._subjects

    def _follow(self) -> None:
        stamp = self._now()
        if stamp == self._stamp:
            return
        self._stamp = stamp
        if stamp is None:
            LOG.warning("%s is gone: what it excluded stays excluded until the next start", self._path.name)
            return
        try:
            self._subjects = Subjects(load(self._path))
        except InputError as error:
            LOG.warning("the list of excluded subjects stays as it was: %s", error)

    def _now(self) -> tuple[int, int] | None:
        try:
            stat = self._path.stat()
        except OSError:
            return None
        return stat.st_mtime_ns, stat.st_size
