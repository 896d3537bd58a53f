"""The command line and the HTTP API read a `check` form alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bot.http.json_forms import parse_check
from bot.rows.forms import check_request
from bot.system import CheckRequest
from grounding.errors import InputError

SOURCE = {"id": "s", "text": "Open 9 to 5."}
FORMS: list[dict[str, Any]] = [
    {"answer": "a", "sources": []},
    {"answer": "a", "sources": [SOURCE], "question": "", "given": ["x"]},
    {"answer": "a", "sources": [{**SOURCE, "title": None}], "question": None, "given": None, "label": "supported"},
    {"answer": "", "sources": [SOURCE]},
    {"answer": "a" * 20_000, "sources": []},
    {"answer": "a" * 20_001, "sources": []},
    {"answer": "a", "sources": [SOURCE, SOURCE]},
    {"answer": "a", "sources": None},
    {"answer": "a", "sources": [], "given": "x"},
    {"answer": "a", "sources": [], "given": [1]},
    {"answer": "a", "sources": [], "question": 4},
    {"answer": "\ud83d", "sources": []},
    {"answer": "a", "sources": [{**SOURCE, "updated": "2026-03-01"}], "at": "2026-11-20T14:30+01:00"},
    {"answer": "a", "sources": [{**SOURCE, "updated": "1 March"}]},
    {"answer": "a", "sources": [SOURCE], "at": "tomorrow"},
]


def outcome(read: Callable[[dict[str, Any]], CheckRequest], form: dict[str, Any]) -> CheckRequest | str:
    try:
        return read(form)
    except InputError as error:
        return str(error)


@pytest.mark.parametrize("form", FORMS)
def test_both_take_and_refuse_the_same(form: dict[str, Any]) -> None:
    assert outcome(check_request, form) == outcome(parse_check, form)


def test_the_forms_above_hold_both_kinds() -> None:
    taken = [isinstance(outcome(parse_check, form), CheckRequest) for form in FORMS]
    assert (taken.count(True), taken.count(False)) == (5, 10)
