"""Prompt templates: text files under `prompts/`, loaded and filled in a single pass.

A placeholder is a name in single braces, as the source documents write them: `{question}`. Other braces, such as those of JSON, stay as
they are.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")


@cache
def template(name: str) -> str:
    """The text of the template `name`, without its final line break."""
    return files("grounding.model_calls").joinpath("prompts", f"{name}.txt").read_text("utf-8").rstrip("\n")


@cache
def template_names() -> tuple[str, ...]:
    """Names of all templates, sorted."""
    folder = files("grounding.model_calls").joinpath("prompts")
    return tuple(sorted(f.name.removesuffix(".txt") for f in folder.iterdir() if f.name.endswith(".txt")))


def fill(name: str, **values: str) -> str:
    """The template `name` with each placeholder replaced by its value; a value that looks like a placeholder stays text.

    Raises KeyError for a placeholder without a value.
    """
    return _PLACEHOLDER.sub(lambda match: values[match.group(1)], template(name))


def placeholders(name: str) -> frozenset[str]:
    """Names of the placeholders in the template `name`."""
    return frozenset(_PLACEHOLDER.findall(template(name)))


def blank(name: str, **values: str) -> str:
    """The template `name` with the placeholders that have no value here left empty: only text that the product wrote."""
    return _PLACEHOLDER.sub(lambda match: values.get(match.group(1), ""), template(name))
