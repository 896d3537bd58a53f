"""What tests share whether they like it or not: the logging and the environment of their process, put back as they were found."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_State = tuple[int, bool, bool, tuple[logging.Handler, ...], tuple[Any, ...]]
"""Level, propagate, disabled, handlers, filters: a plain tuple, since some thousand loggers are read around each test."""


@contextmanager
def logging_as_it_was() -> Iterator[None]:
    """Afterwards every logger has the level, handlers, filters and switches that it had; what the block made says what its parent says.

    The handlers of a new logger stay: libraries hang an empty one on theirs when they are imported, which happens once.
    """
    held = {name: _read(logger) for name, logger in _loggers().items()}
    threshold = logging.root.manager.disable
    yield
    logging.disable(threshold)
    for name, logger in _loggers().items():
        now = _read(logger)
        was = held.get(name) or (logging.NOTSET, True, False, now[3], ())
        if now != was:
            _write(logger, was)


@contextmanager
def environment_as_it_was() -> Iterator[None]:
    """Afterwards the variables of the process are those that it had."""
    held = dict(os.environ)
    yield
    for name in os.environ.keys() - held.keys():
        del os.environ[name]
    os.environ.update({name: value for name, value in held.items() if os.environ.get(name) != value})


def _loggers() -> dict[str, logging.Logger]:
    named = {n: held for n, held in logging.root.manager.loggerDict.items() if isinstance(held, logging.Logger)}
    return {"": logging.root, **named}


def _read(logger: logging.Logger) -> _State:
    return logger.level, logger.propagate, logger.disabled, tuple(logger.handlers), tuple(logger.filters)


def _write(logger: logging.Logger, was: _State) -> None:
    level, logger.propagate, logger.disabled, handlers, filters = was
    if logger.level != level:
        logger.setLevel(level)  # clears what every logger remembers of its level
    logger.handlers[:], logger.filters[:] = handlers, filters
