"""Builders for the JSON schemas of model replies, in the subset that strict structured output accepts: every field required, no others, no
bounds on values.

Schemas are the same for every call of their kind, so that a service compiles one once and its prompt cache, which includes the schema,
stays valid.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Schema = Mapping[str, Any]
TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
WHOLE: Schema = {"type": "integer"}


def fields(**named: Schema) -> Schema:
    """Schema of an object with exactly these fields, all required, in this order."""
    return {"type": "object", "properties": named, "required": list(named), "additionalProperties": False}


def listed(item: Schema) -> Schema:
    """Schema of a list, of any length, whose items follow `item`."""
    return {"type": "array", "items": item}


def one_of(*words: str) -> Schema:
    """Schema of a string that is one of `words`."""
    return {"type": "string", "enum": list(words)}


def maybe(form: Schema) -> Schema:
    """Schema of `form` or null: strict output cannot leave a field out."""
    return {"anyOf": [form, {"type": "null"}]}
