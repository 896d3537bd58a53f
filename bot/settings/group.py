"""The base of every group of settings, and how a group tells what contradicts it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Self

from pydantic import BaseModel, ConfigDict

from bot.settings.forms import PREFIX

Conflicts = Iterator[tuple[bool, str]]
"""Rules that settings of allowed values may still break: whether each is broken, and the line that says so."""


class Group(BaseModel):
    """A frozen record of the settings of one thing, such as one service. A field's alias is its name as a person gives it: `search_endpoint`."""

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True, extra="forbid", validate_default=True)

    def given(self) -> list[str]:
        """Names of the settings that were set and not left at their default, sorted."""
        fields = type(self).model_fields
        return sorted(fields[name].alias or name for name in self.model_fields_set)

    def changed(self, fields: Mapping[str, object]) -> Self:
        """A copy in which these fields have these values; nothing is checked anew, and nothing that was worked out from others is kept."""
        copy = self.model_copy(update=fields)
        for name in copy.__dict__.keys() - type(self).model_fields.keys():
            del copy.__dict__[name]
        return copy

    def variable(self, field: str) -> str:
        """The environment variable of a field: `ATTEST_SEARCH_ENDPOINT` for the endpoint of the search."""
        return PREFIX + (type(self).model_fields[field].alias or field).upper()
