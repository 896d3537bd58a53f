"""JSON schemas of replies, in the subset that strict structured output takes: every field required, no others, no bounds on values.

They are the same for every call of their kind, so that a service works one out once and keeps its work on the beginning of
a prompt, which the schema is a part of.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Schema = Mapping[str, Any]
TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
WHOLE: Schema = {"type": "integer"}


def fields(**named: Schema) -> Schema:
    """An object of exactly these fields, in this order."""
    return {"type": "object", "properties": named, "required": list(named), "additionalProperties": False}


def listed(item: Schema) -> Schema:
    """A list of any length."""
    return {"type": "array", "items": item}


def one_of(*words: str) -> Schema:
    """One of these words."""
    return {"type": "string", "enum": list(words)}


def maybe(form: Schema) -> Schema:
    """This or null: a field cannot be left out."""
    return {"anyOf": [form, {"type": "null"}]}
