"""Prompt templates: files under `prompts/`, filled in one pass.

A placeholder is a name in single braces, as the source documents write them: `{question}`. Other braces, such as those of
JSON, stay as they are.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")


@cache
def template(name: str) -> str:
    """A template file without its final line break."""
    return files("grounding.asking").joinpath("prompts", f"{name}.txt").read_text("utf-8").rstrip("\n")


@cache
def template_names() -> tuple[str, ...]:
    """Every template, by name."""
    folder = files("grounding.asking").joinpath("prompts")
    return tuple(sorted(f.name.removesuffix(".txt") for f in folder.iterdir() if f.name.endswith(".txt")))


def fill(name: str, **values: str) -> str:
    """The template with its placeholders replaced; a value that looks like a placeholder stays text.

    Raises KeyError for a placeholder without a value.
    """
    return _PLACEHOLDER.sub(lambda match: values[match.group(1)], template(name))


def placeholders(name: str) -> frozenset[str]:
    """Names of the placeholders of a template."""
    return frozenset(_PLACEHOLDER.findall(template(name)))


def blank(name: str, **values: str) -> str:
    """The template as far as it is ours: placeholders that have no value here are empty."""
    return _PLACEHOLDER.sub(lambda match: values.get(match.group(1), ""), template(name))
