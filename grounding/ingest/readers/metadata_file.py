"""Metadata files beside documents: attest.yaml in the root of a folder, and the file of --acl."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from grounding.errors import InputError
from grounding.ingest.readers.metadata import FIELDS, BadField, checked, groups

METADATA_FILE = "attest.yaml"
_MAX_BYTES = 5_000_000
_GLOB = re.compile(r"\*+|\?|[^*?]+")


@dataclass(frozen=True, slots=True)
class Rules:
    """Ordered rules, each a pattern of document ids and the fields that it gives."""

    rules: tuple[tuple[re.Pattern[str], dict[str, Any]], ...]

    def fields(self, doc_id: str) -> dict[str, Any]:
        """For every field the value of the first rule that matches and has it. {path} in a url becomes the id."""
        found: dict[str, Any] = {}
        for pattern, values in self.rules:
            if pattern.fullmatch(doc_id):
                found = values | found
        if "url" in found:
            found["url"] = found["url"].replace("{path}", doc_id)
        return found


def read_rules(folder: Path) -> Rules:
    """Rules of the attest.yaml in `folder`; none if there is no such file. Raises InputError naming file and key."""
    path = folder / METADATA_FILE
    if not path.is_file():
        return Rules(())
    raw = _yaml(path)
    if not isinstance(raw, dict) or set(raw) - {"documents"}:
        extra = sorted(map(str, set(raw) - {"documents"})) if isinstance(raw, dict) else ["(not a mapping)"]
        raise InputError(f"{path}: {extra[0]} is not known; allowed: documents")
    rules = raw.get("documents") or []
    if not isinstance(rules, list):
        raise InputError(f"{path}: documents must be a list of rules")
    return Rules(tuple(_rule(path, number, rule) for number, rule in enumerate(rules, 1)))


def _rule(path: Path, number: int, rule: object) -> tuple[re.Pattern[str], dict[str, Any]]:
    where = f"{path}: documents, rule {number}"
    if not isinstance(rule, dict) or not isinstance(rule.get("match"), str) or not rule["match"].strip():
        raise InputError(f"{where}: match must be a pattern such as billing/*.md")
    if unknown := sorted(map(str, set(rule) - {"match", *FIELDS})):
        raise InputError(f"{where}: {unknown[0]} is not known; allowed: match, {', '.join(FIELDS)}")
    if rule.get("groups", "") is None:
        raise InputError(f"{where}: groups is empty; write [] for nobody or everyone")
    try:
        return glob(rule["match"]), checked(rule)
    except BadField as error:
        raise InputError(f"{where}: {error}") from None


def read_acl(path: Path) -> Rules:
    """Rules of an --acl file: pattern to list of groups, first match wins. Raises InputError naming file and key."""
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    raw = _yaml(path) or {}
    if not isinstance(raw, dict):
        raise InputError(f"{path}: must map patterns to lists of groups")
    rules = []
    for pattern, value in raw.items():
        try:
            rules.append((glob(str(pattern)), {"groups": groups(f"groups of {pattern}", value)}))
        except BadField as error:
            raise InputError(f"{path}: {error}") from None
    return Rules(tuple(rules))


def glob(pattern: str) -> re.Pattern[str]:
    """Compile a glob for whole ids: * is any run of characters, / included, so that internal/* holds all that lies below.

    ? is one character; a pattern without / matches in every folder.
    """
    text = pattern.strip().lstrip("/")
    parts = [".*" if bit.startswith("*") else "." if bit == "?" else re.escape(bit) for bit in _GLOB.findall(text)]
    return re.compile(("" if "/" in text else "(?:.*/)?") + "".join(parts), re.DOTALL)


def _yaml(path: Path) -> Any:
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise InputError(f"{path}: larger than {_MAX_BYTES:,} bytes")
        return yaml.safe_load(path.read_text(encoding="utf-8-sig"))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        raise InputError(f"{path}{line}: not valid YAML") from None
    except (OSError, ValueError, RecursionError) as error:  # ValueError: not UTF-8, or a date that does not exist
        raise InputError(f"{path}: cannot be read ({type(error).__name__})") from None
