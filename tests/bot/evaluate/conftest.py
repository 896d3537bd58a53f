"""The evaluation runs over the small system in memory that the command line's tests use."""

from __future__ import annotations

from tests.bot.commands.conftest import attest, lines, small

__all__ = ["attest", "lines", "small"]
