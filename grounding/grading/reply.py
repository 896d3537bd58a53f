"""Parsing of grades from a model's reply: tolerant of its form, strict about its values.

JSON in fences, between prose, with trailing commas or cut in the middle, an object or a bare list; without JSON, lines such as "- Relevance
Score: [0.8]" or "2: yes". A number outside [0, 1], a label or word that is not of its scale, an id that was not asked for, and two answers
that differ for one id are no grade.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from grounding.grading.prompt import Style
from grounding.model_calls.loose_json import MOST_CHARACTERS, json_values
from grounding.records import Label

Value = float | str
"""A number in [0, 1] of the styles score and confidence, a `Label`, or "yes" or "no"."""
LABEL_NAMES: dict[str, Label] = {"awful": "Awful", "poor": "Poor", "good": "Good", "perfect": "Perfect"}
_MOST_JUSTIFICATION = 400
_DEEPEST = 8
_FIELDS: dict[Style, tuple[str, ...]] = {
    "score": ("relevancescore", "score", "relevance"),
    "label": ("scorelabel", "label"),
    "binary": ("binaryscore", "binary"),
    "confidence": ("confidence", "confidencescore"),
}
"""What the field of the grade may be called, letters only, the first as asked for."""
_EXTRACTS = ("relevanttext", "releventtext", "extract")
_JUSTIFICATIONS = ("justification", "reason", "reasoning", "explanation")
_NUMBER = r"[0-9](?:\.[0-9]{1,17})?|\.[0-9]{1,17}"
_WORDS: dict[Style, tuple[str, str]] = {
    "score": (r"(?:relevance[ _]?)?score|relevance", _NUMBER),
    "label": (r"score[ _]?label|label|score", "|".join(LABEL_NAMES)),
    "binary": (r"binary[ _]?score|binary|score|relevant|answer", "yes|no"),
    "confidence": (r"confidence(?:[ _]?score)?", _NUMBER),
}
_LINES = {
    style: re.compile(
        rf"\s*(?:[-•]\s+)?(?:\[?(\d{{1,3}})\]?\s*[:)]\s*)?(?:(?:{names})\s*[:=]\s*)?[\[(\"']*({value})[\])\"']*[.,]?\s*",
        re.IGNORECASE,
    )
    for style, (names, value) in _WORDS.items()
}
_MOST_LINE = 200
_NUMERIC: tuple[Style, ...] = ("score", "confidence")


@dataclass(frozen=True, slots=True)
class Said:
    """A model's answer about one document. `extract` is the text that it says it quotes, which may stand nowhere; None where it gave none."""

    value: Value
    justification: str = ""
    extract: str | None = None


def read_reply(reply: str, count: int, style: Style) -> dict[int, Said]:
    """The answers in `reply` about documents 1 to `count`, by document number; only those that are clear.

    Answers without ids count where there are as many as documents, in their order.
    """
    text = reply[:MOST_CHARACTERS].rpartition("</think>")[2]
    found = [item for value in json_values(text) for item in _items(value, style)]
    answers = [(i, said) for i, fields in found if (said := _said(fields, style)) is not None] or list(
        _lines(text, style)
    )
    if len(answers) == count and all(i is None for i, _ in answers):
        answers = [(n, said) for n, (_, said) in enumerate(answers, 1)]
    elif count == 1:
        answers = [(1 if i is None else i, said) for i, said in answers]
    return _agreed(answers, count)


def _agreed(answers: list[tuple[int | None, Said]], count: int) -> dict[int, Said]:
    said: dict[int, Said] = {}
    twice: set[int] = set()
    for i, answer in answers:
        if i is None or not 1 <= i <= count:
            continue
        if said.setdefault(i, answer).value != answer.value:
            twice.add(i)
    return {i: answer for i, answer in said.items() if i not in twice}


def _items(
    value: object, style: Style, own: int | None = None, depth: int = 0
) -> Iterator[tuple[int | None, dict[str, object]]]:
    """Objects that hold a grade, wherever they stand, with the id that they or what is around them give."""
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        for part in value:
            yield from _items(part, style, own, depth + 1)
    elif isinstance(value, dict):
        fields = {_letters(str(name)): part for name, part in value.items()}
        given = _id(fields["id"]) if "id" in fields else own
        if any(name in fields for name in _FIELDS[style]):
            yield given, fields
            return
        for name, part in value.items():
            inner = _id(name)
            if isinstance(part, dict | list):
                yield from _items(part, style, given if inner is None else inner, depth + 1)
            elif inner is not None:
                yield inner, {_FIELDS[style][0]: part}


def _said(fields: Mapping[str, object], style: Style) -> Said | None:
    given = next(fields[name] for name in _FIELDS[style] if name in fields)
    value = _value(given, style)
    if value is None:
        return None
    why = next((w for name in _JUSTIFICATIONS if isinstance(w := fields.get(name), str)), "")
    extract = next((e for name in _EXTRACTS if isinstance(e := fields.get(name), str) and e.strip()), None)
    return Said(value, " ".join(why.split())[:_MOST_JUSTIFICATION], extract)


def _lines(text: str, style: Style) -> Iterator[tuple[int | None, Said]]:
    """Answers from lines that are a grade and nothing else."""
    for line in text.replace("*", "").replace("`", "").splitlines():
        if len(line) <= _MOST_LINE and (match := _LINES[style].fullmatch(line)):
            value = _value(match[2], style)
            if value is not None:
                yield _id(match[1]), Said(value)


def _value(given: object, style: Style) -> Value | None:
    if isinstance(given, str):
        match = _LINES[style].fullmatch(given[:_MOST_LINE])
        word = match[2].lower() if match and match[1] is None else None
        if word is None or style in _NUMERIC:
            return _in_range(float(word)) if word else None
        return LABEL_NAMES[word] if style == "label" else word
    if style in _NUMERIC and isinstance(given, int | float) and not isinstance(given, bool):
        return _in_range(given)
    return None


def _in_range(number: float) -> float | None:
    """`number` if it lies in [0, 1], otherwise None; also for NaN, which compares false with everything."""
    return float(number) if 0.0 <= number <= 1.0 else None


def _id(given: object) -> int | None:
    if isinstance(given, str) and given.strip().isdecimal() and len(given.strip()) <= 3:
        return int(given)
    return given if isinstance(given, int) and not isinstance(given, bool) else None


def _letters(name: str) -> str:
    return "".join(c for c in name.lower() if c.isalpha())
