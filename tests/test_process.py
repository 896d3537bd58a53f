"""What a test changes in its process is not there for the next one, whatever the order."""

from __future__ import annotations

import logging
import os

import pytest

from tests.process import environment_as_it_was, logging_as_it_was


def test_loggers_are_put_back() -> None:
    """Level, handlers, filters and switches of a known logger and of the root; the process's threshold too."""
    known, handler = logging.getLogger("attest"), logging.NullHandler()
    loggers = (known, logging.getLogger())
    before = [(o.level, o.propagate, o.disabled, o.handlers[:], o.filters[:]) for o in loggers]
    with logging_as_it_was():
        for one in loggers:
            one.setLevel(1)
            one.propagate, one.disabled = False, True
            one.handlers[:] = [handler]
            one.addFilter(lambda _: False)
        logging.disable(logging.CRITICAL)
    assert [(o.level, o.propagate, o.disabled, o.handlers[:], o.filters[:]) for o in loggers] == before
    assert logging.root.manager.disable == logging.NOTSET


def test_a_logger_that_is_new_says_what_its_parent_says() -> None:
    with logging_as_it_was():
        made = logging.getLogger("attest.made.by.this.test")
        made.setLevel(logging.DEBUG)
        made.propagate = False
    assert (made.level, made.propagate) == (logging.NOTSET, True)


def test_what_a_logger_remembers_of_its_level_is_forgotten() -> None:
    """`isEnabledFor` keeps its answers; a level put back without clearing them would go on being the old one."""
    log = logging.getLogger("attest")
    with logging_as_it_was():
        log.setLevel(logging.DEBUG)
        assert log.isEnabledFor(logging.DEBUG)
    assert log.isEnabledFor(logging.DEBUG) is (log.getEffectiveLevel() <= logging.DEBUG)


def test_variables_are_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTEST_KEPT", "as it was")
    monkeypatch.setenv("ATTEST_TAKEN", "there")
    with environment_as_it_was():
        os.environ["ATTEST_KEPT"] = "changed"
        os.environ["ATTEST_NEW"] = "new"
        del os.environ["ATTEST_TAKEN"]
    assert (os.environ["ATTEST_KEPT"], os.environ["ATTEST_TAKEN"]) == ("as it was", "there")
    assert "ATTEST_NEW" not in os.environ


class TestEveryTest:
    """In either order: neither finds what the other left."""

    @pytest.mark.parametrize("turn", [1, 2])
    def test_begins_with_the_logging_and_the_environment_of_the_process(self, turn: int) -> None:
        assert logging.getLogger("attest").level == logging.NOTSET
        assert "ATTEST_LEFT_BEHIND" not in os.environ
        logging.getLogger("attest").setLevel(logging.DEBUG + turn)
        os.environ["ATTEST_LEFT_BEHIND"] = str(turn)
