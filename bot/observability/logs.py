"""Writes the log to stderr: text for a person, or one JSON object a line for a collector; without keys, and without foreign words.

Only our own loggers speak below WARNING. SDKs and HTTP clients write addresses with their query, headers and whole
bodies at DEBUG, so what they say of less than a warning is not asked for, and what they say of more is cut down to where
it happened. As the last net the values of all secret settings, and whatever looks like a credential, are masked.
"""

from __future__ import annotations

import json
import logging
import re
import sys
import traceback
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from types import TracebackType
from typing import TextIO

from pydantic import SecretStr

from bot.observability.turn_mark import current_mark
from bot.settings.load import without_credentials
from bot.settings.settings import PLACES, Settings
from grounding.errors import AttestError

MASK = "********"
OURS = ("attest", "bot", "grounding", "rai")
"""Beginnings of the names of our own loggers."""
_SHORTEST_SECRET = 6
"""A shorter key would mask ordinary words; no service gives one out."""
_CREDENTIAL = re.compile(
    r"(?i)\b(bearer\s+|(?:authorization|(?:ocp-apim-)?(?:subscription|api)[-_ ]?key|instrumentationkey|access[-_]?token|client[-_]?secret|password|sig)"
    r"[\"']?\s*[:=]\s*[\"']?(?:bearer\s+)?)[^\s\"',;&]+"
)
_PLACE = re.compile(r"%(?:\(\w+\))?[-#0 +]*[\d.*]*[a-zA-Z]")
_VARIES = re.compile(r"[:'\"{\[(<=\n]")
_LONGEST_FIXED = 80
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


def log_to_stderr(settings: Settings, *, quiet: bool = False) -> None:
    """Log records go to stderr as the settings want them. `quiet`: a one-shot command, which speaks only when something is wrong."""
    level = settings.log.level if not quiet or settings.log.level in ("debug", "error") else "warning"
    log_to(sys.stderr, settings, level, times=not quiet or level == "debug")


def log_to(stream: TextIO, settings: Settings, level: str, *, times: bool) -> None:
    """Let the log go to any stream: of our loggers what is at `level` or above, of others warnings and errors."""
    handler = logging.StreamHandler(stream)
    handler.setLevel(level.upper())
    handler.addFilter(_fit)  # a library may have set a level of its own on a logger of its own
    masker = Masker(_secrets(settings))
    handler.setFormatter(JsonLines(masker) if settings.log.format == "json" else TextLines(masker, times=times))
    logging.basicConfig(level="ERROR" if level == "error" else "WARNING", handlers=[handler], force=True)
    for name in OURS:
        logging.getLogger(name).setLevel(level.upper())


def is_ours(name: str) -> bool:
    """Whether a logger is one of this product's."""
    return name.split(".", 1)[0] in OURS


def _fit(record: logging.LogRecord) -> bool:
    return is_ours(record.name) or record.levelno >= logging.WARNING


class Masker:
    """Replaces credentials in a text by asterisks: the given ones wherever they stand, others by what stands before them."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        known = sorted({s for s in secrets if len(s) >= _SHORTEST_SECRET}, key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, known))) if known else None

    def __call__(self, text: str) -> str:
        if self._known is not None:
            text = self._known.sub(MASK, text)
        return without_credentials(_CREDENTIAL.sub(rf"\g<1>{MASK}", text))


class JsonLines(logging.Formatter):
    """Formats a record as one JSON object a line: time (RFC 3339, UTC), level, logger, message, the turn, and what a record carries beside its text."""

    def __init__(self, masker: Masker) -> None:
        super().__init__()
        self._mask = masker

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        line: dict[str, object] = {
            "time": at,
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": self._mask(said(record)),
            **_turn(),
        }
        if is_ours(record.name):
            extra = {k: v for k, v in vars(record).items() if k not in _STANDARD}
            line |= {k: self._mask(v) if isinstance(v, str) else v for k, v in extra.items()}
        return json.dumps(line, ensure_ascii=False, default=str)


class TextLines(logging.Formatter):
    """Formats a record as `time LEVEL logger: message`, or as `attest: message` without times."""

    def __init__(self, masker: Masker, *, times: bool) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s" if times else "attest: %(message)s")
        self._mask = masker

    def format(self, record: logging.LogRecord) -> str:
        record.message = self._mask(said(record))
        record.asctime = self.formatTime(record)
        return self.formatMessage(record)


def said(record: logging.LogRecord) -> str:
    """The text of a record on one line: of a foreign logger its fixed words alone, of an exception its type and its way through the code."""
    error = record.exc_info[1] if record.exc_info else None
    text = record.getMessage() if is_ours(record.name) else _fixed_words(record)
    if error is not None:
        words = f": {error}" if isinstance(error, AttestError) else ""
        text = f"{text} ({type(error).__name__}{words}{_way(error.__traceback__)})"
    return " ".join(text.split())


def _fixed_words(record: logging.LogRecord) -> str:
    """The words of a foreign message that stand in its program: what is filled into them may be an address, a body, a customer's words."""
    template = str(record.msg)
    return _PLACE.sub("…", template) if record.args else _VARIES.split(template, maxsplit=1)[0][:_LONGEST_FIXED]


def _way(trace: TracebackType | None) -> str:
    places = [f"{f.name}:{f.lineno}" for f in traceback.extract_tb(trace)[-4:]]
    return f", by {' > '.join(places)}" if places else ""


def _turn() -> dict[str, str]:
    mark = current_mark()
    if mark is None:
        return {}
    fields = {"turn_id": mark.turn_id, "trace_id": mark.trace_id, "entry_id": mark.entry_id}
    return {name: value for name, value in fields.items() if value}


def _secrets(settings: Settings) -> Iterator[str]:
    for name in PLACES:
        value = settings.value(name)
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, SecretStr):
                yield part.get_secret_value()
