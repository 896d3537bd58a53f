"""What the line of a refused setting tells as fact, apart from its words: variables with their values, numbers, what is allowed."""

from __future__ import annotations

import re

import pytest

from bot.settings.load import load_settings
from grounding.errors import SettingsError

_FACT = re.compile(r"ATTEST_([A-Z_]+(?:=[\w.-]+(?: or [a-z]+)?)?)|(?<![\w.-])(\d+(?:\.\d+)?)(?![\w-])")


def refusal(**overrides: object) -> str:
    """The line with which these settings are refused."""
    with pytest.raises(SettingsError) as caught:
        load_settings(**overrides)
    line = str(caught.value)
    assert "\n" not in line
    assert "Value error" not in line
    return line


def facts(line: str) -> str:
    """Variables without their prefix, with the value that is named beside them, and numbers, as they follow each other."""
    return " ".join(name or number for name, number in _FACT.findall(line))


def allowed(line: str) -> set[str]:
    """The words of what a line says is allowed."""
    _, told, rest = line.partition(": allowed is ")
    assert told, f"what is allowed is not said: {line}"
    return set(re.split(r",? |,$", rest))
