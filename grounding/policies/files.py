"""Loading of policies from YAML files: those that come with the product, and a company's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml
from pydantic import TypeAdapter, ValidationError

from grounding.errors import InputError, SettingsError
from grounding.policy import DEFAULT_POLICY, PLAIN, Policy

ORDER = (DEFAULT_POLICY, "hybrid-crag", "superrag", "graph-crag", "agentic-crag", "dynamics")
"""The product's own, the default first, then in the order of the source documents."""
_SETTABLE = tuple(f.name for f in fields(Policy) if f.name != "name")
_NAMES = "lower-case letters, digits and hyphens"
_TYPED = TypeAdapter(Policy)


@cache
def built_in() -> Mapping[str, Policy]:
    """The policies that come with the product, by name."""
    folder = files("grounding.policies")
    return {name: _policy(name, _read(folder.joinpath(f"{name}.yaml").read_text("utf-8"), name), {}) for name in ORDER}


def read_policies(folder: Path | None = None) -> dict[str, Policy]:
    """The product's policies and those of `folder`/NAME.yaml, by name.

    Raises SettingsError that names file, field, and what is allowed.
    """
    known = dict(built_in())
    found = sorted(folder.iterdir()) if folder is not None and folder.is_dir() else []
    for path in found:
        if path.suffix == ".yml":
            raise SettingsError(f"{path}: policies are files NAME.yaml; rename it")
        if path.suffix == ".yaml":
            known[path.stem] = _own(path, known)
    return known


def policy_named(name: str, known: Mapping[str, Policy] | None = None) -> Policy:
    """The policy `name`; NAME:plain is NAME without grading and correction. Raises InputError that lists the names there are."""
    known = built_in() if known is None else known
    found = known.get(name.removesuffix(PLAIN))
    if found is None:
        raise InputError(f"policy {name!r} is not known; allowed: {', '.join(known)}, each also as NAME{PLAIN}")
    return found.plain() if name.endswith(PLAIN) else found


def _own(path: Path, known: Mapping[str, Policy]) -> Policy:
    name = path.stem
    if name == "all":
        raise SettingsError(f"{path}: all means every policy; give the file another name")
    if name in built_in():
        raise SettingsError(f"{path}: {name} is a policy of the product; give the file another name")
    if not name.replace("-", "").isalnum() or name != name.lower() or not name.isascii():
        raise SettingsError(f"{path}: {name!r} is no name for a policy; allowed: {_NAMES}")
    try:
        given = _read(path.read_text("utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: cannot be read as UTF-8 text ({type(error).__name__})") from None
    base = given.pop("base", DEFAULT_POLICY)
    if not isinstance(base, str) or base not in built_in():
        raise SettingsError(f"{path}: base is {base!r}; allowed: {', '.join(ORDER)}")
    start = known[base].as_json()
    return _policy(name, given, {k: v for k, v in start.items() if k not in ("name", "about")}, where=str(path))


class _DuplicateName(Exception):
    """A YAML mapping holds the same key twice."""


class _DistinctNamesLoader(yaml.SafeLoader):
    """YAML loader that refuses a key that stands twice in a mapping: the second would silently win."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # as in the base
        """The mapping of a YAML node. Raises _DuplicateName for a key that stands twice."""
        names = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise _DuplicateName(twice)
        return super().construct_mapping(node, deep=deep)


def _read(text: str, where: str) -> dict[str, Any]:
    try:
        given = yaml.load(text, _DistinctNamesLoader)  # noqa: S506  # a SafeLoader
    except _DuplicateName as error:
        raise SettingsError(f"{where}: {error} stands there twice") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f", line {mark.line + 1}" if mark else ""
        raise SettingsError(f"{where}{place}: not YAML") from None
    if given is None:
        return {}
    if not isinstance(given, dict) or not all(isinstance(key, str) for key in given):
        raise SettingsError(f"{where}: a policy is a list of names and values, such as `correct_at: 0.8`")
    return given


def _policy(name: str, given: Mapping[str, Any], start: Mapping[str, Any], *, where: str | None = None) -> Policy:
    where = where or name
    unknown = [key for key in given if key not in _SETTABLE]
    if unknown:
        raise SettingsError(f"{where}: {unknown[0]} is no field of a policy; allowed: {', '.join(_SETTABLE)}")
    try:
        policy = _TYPED.validate_python({**start, **given, "name": name}, strict=False)
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        said = "a list, such as [web]" if "tuple" in first["msg"] else first["msg"]
        raise SettingsError(f"{where}: {place}: {said}") from None
    broken = next((why for wrong, why in _conflicts(policy) if wrong), None)
    if broken:
        raise SettingsError(f"{where}: {broken}")
    return policy


def _conflicts(p: Policy) -> Iterator[tuple[bool, str]]:
    """Fields of a policy that contradict each other, with the line that says so."""
    yield p.keep_at > p.correct_at and p.rule == "max_score", "keep_at is above correct_at; allowed: at most correct_at"
    yield p.style == "none" and p.rule != "top_k", "style none grades nothing, so its rule can only be top_k"
    yield p.style == "none" and p.evidence == "extracts", "style none extracts nothing; allowed: evidence: passages"
    yield p.style != "binary" and p.rule.endswith("_70"), f"{p.rule} counts yes and no; allowed with style binary"
    numbers = [p.labels.get(label, -1.0) for label in ("Awful", "Poor", "Good", "Perfect")]
    yield -1.0 in numbers or numbers != sorted(numbers), "labels: all of Awful, Poor, Good, Perfect, in ascending order"
    yield (
        p.style == "binary" and p.keep_at == 0,
        "keep_at is 0, which keeps every no; allowed with style binary: above 0",
    )
    yield (
        p.rule != "max_score" and p.certain_at is not None,
        f"{p.rule} counts all passages; certain_at goes with max_score",
    )
    yield p.grade_k > p.retrieve_k, "grade_k is above retrieve_k; allowed: at most as many as are retrieved"
    yield len(set(p.corrective)) < len(p.corrective), "corrective names a step twice"
    yield p.rule == "top_k" and bool(p.corrective), "top_k is always correct: no corrective step would ever be taken"
