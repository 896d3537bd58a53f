"""What is said of an exception that nobody expected."""

from __future__ import annotations

import json
import re

from bot.rows.fields import text
from grounding.errors import kind_and_place, kind_and_way


def raised_in_ours() -> Exception:
    try:
        text(json.JSONDecoder, "Quillfeather")  # type: ignore[arg-type]  # no row: it has no get
    except Exception as error:  # noqa: BLE001 - whatever it is
        return error
    raise AssertionError


def raised_elsewhere() -> Exception:
    try:
        json.loads("Quillfeather")
    except ValueError as error:
        return error
    raise AssertionError


def test_the_place_is_the_last_of_our_own_code() -> None:
    assert re.fullmatch(r"\w+ at bot/rows/fields\.py:\d+", kind_and_place(raised_in_ours()))


def test_of_others_the_name_of_the_file_is_told_and_never_the_message() -> None:
    assert re.fullmatch(r"JSONDecodeError at decoder\.py:\d+", kind_and_place(raised_elsewhere()))
    way = kind_and_way(raised_elsewhere())
    assert re.fullmatch(r"JSONDecodeError by test_errors\.py:\d+ > __init__\.py:\d+ > (decoder\.py:\d+( > )?)+", way)


def test_an_exception_that_was_never_raised_has_no_place() -> None:
    assert kind_and_place(KeyError("Quillfeather")) == "KeyError at an unknown place"
    assert kind_and_way(KeyError("Quillfeather")) == "KeyError by an unknown way"
