"""What stands behind a label is found in its forms, and a label alone finds nothing."""

from __future__ import annotations

import re

from rai.personal.redact import Redactor
from tests.tables import Tables

TABLES = Tables(__file__)
REDACTOR = Redactor()
_MARKS = re.compile("⟦([^⟧]+)⟧")


@TABLES.each("found")
def test_found(kind: str, text: str) -> None:
    found = [(p.kind, p.value) for p in REDACTOR.find(_MARKS.sub(r"\1", text))]
    assert found == [(kind, value) for value in _MARKS.findall(text)]


@TABLES.each("left_alone")
def test_left_alone(text: str) -> None:
    assert REDACTOR.find(text) == []
