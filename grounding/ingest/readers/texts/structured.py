"""Reader of JSON and JSON lines as rows that carry their keys: `Plan: Basic | price.amount: 9.00`.

Numbers stay as they are written, since 9.00 and 9.0 are not the same on a bill. Keys that occur twice are both kept. A record with a question and its answer is
a section: the question its heading, the answer its text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from grounding.faq import question_and_answer
from grounding.ingest.readers import content_types
from grounding.ingest.readers.extract import Extract, Refused, Writer, one_line
from grounding.ingest.readers.texts.encoding import decode

MAX_DEPTH = 100
_LONG = 200  # characters from which a value is a paragraph of its own
_TITLES = ("title", "name", "subject", "heading", "question")
_TOO_DEEP = f"JSON nested more than {MAX_DEPTH} deep"


class Fields(list[tuple[str, Any]]):
    """A JSON object as its pairs of key and value, in order; a key that occurs twice is there twice."""


def parse(text: str) -> Any:
    """Parse a JSON value: objects as `Fields`, numbers as text. Raises ValueError, or Refused `too_large` if too deep."""
    try:
        value = json.loads(text, object_pairs_hook=Fields, parse_int=str, parse_float=str, parse_constant=str)
    except RecursionError:
        raise Refused("too_large", _TOO_DEEP) from None
    level, depth = [value], 0
    while level := [inner for item in level for inner in _inner(item)]:
        depth += 1
        if depth > MAX_DEPTH:
            raise Refused("too_large", _TOO_DEEP)
    return value


def _inner(value: Any) -> list[Any]:
    if isinstance(value, Fields):
        return [inner for _, inner in value]
    return value if isinstance(value, list) else []


def read_json(data: bytes, name: str) -> Extract:
    """Extract of a JSON file; places are paths such as plans[2]. Raises Refused."""
    writer = Writer()
    value = parse(decode(data).lstrip("\ufeff"))
    _write(value, "", writer)
    return writer.extract((_title(value) if isinstance(value, Fields) else "") or name, content_types.JSON)


def read_json_lines(data: bytes, name: str) -> Extract:
    """Extract of JSON lines with "line N" locators. Raises Refused `corrupt` naming the first line that is no JSON."""
    writer = Writer()
    for number, line in enumerate(decode(data).lstrip("\ufeff").split("\n"), 1):
        if not line.strip():
            continue
        try:
            value = parse(line)
        except ValueError:
            raise Refused("corrupt", f"line {number} is not JSON") from None
        writer.place(f"line {number}")
        _record(value, writer)
    return writer.extract(name, content_types.JSON_LINES)


def _write(value: Any, path: str, writer: Writer) -> None:
    """Write a value: an object of plain values is one record; larger ones have a heading for each key that holds more."""
    if isinstance(value, Fields):
        _object(value, path, writer)
    elif isinstance(value, list) and any(isinstance(item, list | Fields) for item in value):
        for number, item in enumerate(value):
            writer.place(f"{path}[{number}]")
            _write(item, f"{path}[{number}]", writer) if _is_large(item) else _record(item, writer)
    else:
        _record(value, writer)


def _object(fields: Fields, path: str, writer: Writer) -> None:
    own = Fields((key, value) for key, value in fields if not _has_parts(value))
    if own:
        _record(own, writer)
    for key, value in fields:
        if _has_parts(value):
            place = f"{path}.{key}" if path else key
            writer.heading(place)
            _write(value, place, writer)


def _has_parts(value: Any) -> bool:
    """True for what is more than one row: objects, and lists that hold any."""
    return isinstance(value, Fields) or (isinstance(value, list) and any(isinstance(v, list | Fields) for v in value))


def _is_large(value: Any) -> bool:
    """True for an object that holds lists of objects, which is no row."""
    if not isinstance(value, Fields):
        return False
    return any(_is_large(v) if isinstance(v, Fields) else _has_parts(v) for _, v in value)


def _record(value: Any, writer: Writer) -> None:
    """Write a record: one line of short values, each with its key; long ones are paragraphs under it. A title is its heading, and so is a question above its answer."""
    if isinstance(value, Fields) and _faq(value, writer):
        return
    title = _title(value) if isinstance(value, Fields) else ""
    pairs = list(_flat(value, ""))
    long = [(key, text) for key, text in pairs if len(text) > _LONG or "\n" in text]
    short = [(key, one_line(text)) for key, text in pairs if len(text) <= _LONG and "\n" not in text]
    if title and long:
        writer.heading(title, 2)
        short = [(key, text) for key, text in short if text != title]
    writer.block(" | ".join(f"{key}: {text}" if key else text for key, text in short))
    for key, text in long:
        writer.block(f"{key}: {text}" if key else text)


def _faq(fields: Fields, writer: Writer) -> bool:
    """Write a question with its answer, and under them whatever else the record says; False if it is none."""
    texts = [(key, text if isinstance(text, str) else "") for key, text in fields]
    places = question_and_answer([key if text.strip() else "" for key, text in texts])
    if places is None:
        return False
    question, answer = (texts[i][1] for i in places)
    writer.heading(question, 2)
    writer.block(answer)
    _record(Fields(pair for i, pair in enumerate(fields) if i not in places), writer)
    return True


def _title(fields: Fields) -> str:
    """The value of the first key that names things, if it is short."""
    named = {key.lower(): value for key, value in reversed(fields) if isinstance(value, str)}
    found = next((one_line(named[key]) for key in _TITLES if key in named), "")
    return found if len(found) <= _LONG else ""


def _flat(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Dotted key and text of every value below; nulls and empty texts are left out, lists of plain values joined."""
    if isinstance(value, Fields):
        for key, inner in value:
            yield from _flat(inner, f"{path}.{one_line(key)}" if path else one_line(key))
    elif isinstance(value, list) and not _has_parts(value):
        if text := ", ".join(_plain(item) for item in value if _plain(item)):
            yield path, text
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _flat(inner, f"{path}[{number}]")
    elif text := _plain(value):
        yield path, text


def _plain(value: Any) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)
