"""Tables of words, codes and names: read from the JSON or YAML file beside a module, or made of pairs."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml


def table(module: str) -> Any:
    """The table of a module: `table(__file__)` in `currencies.py` is what `currencies.json` beside it holds."""
    return json.loads(Path(module).with_suffix(".json").read_text("utf-8"))


def yaml_table(module: str, name: str) -> Any:
    """What the YAML file `name` in the folder of a module (`__file__`) or below it holds; by libyaml where that is there, which reads in 10 ms what takes 150."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load((Path(module).parent / name).read_text("utf-8"), loader)  # noqa: S506 - both are safe loaders


def both_ways(pairs: Iterable[tuple[str, str]]) -> dict[str, frozenset[str]]:
    """For each word of `pairs`, the words that it stands in a pair with, on either side."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for one, other in pairs:
        found[one].add(other)
        found[other].add(one)
    return {word: frozenset(others) for word, others in found.items()}


def slashed(pairs: str) -> Iterable[tuple[str, str]]:
    """The pairs of a text such as "with/without before/after"."""
    return ((one, other) for pair in pairs.split() for one, _, other in (pair.partition("/"),))


def word_set(lines: Iterable[str]) -> frozenset[str]:
    """The words of `lines`, which a table holds as text of many words to a line."""
    return frozenset(word for line in lines for word in line.split())
