"""The reader of a judge's reply, tolerant of its form and not of what it says: what is not clear is no opinion.

Read is JSON of the form that was asked for, also in fences, between prose or cut in the middle. Two opinions on one claim that differ,
a claim that was not asked about and an opinion of other words are left out; so are quotations without a known place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import get_args

from grounding.model_calls.loose_json import json_values
from grounding.model_calls.schema import TEXT, WHOLE, fields, listed, maybe, one_of
from rai.check.judging.quotes import MOST_QUOTES
from rai.judgement import Opinion, Proposal, Quote

OPINIONS: tuple[str, ...] = get_args(Opinion)
"""The opinions as the reply names them."""
SAID = "question"
"""The source that the reply names for a quotation of what the person said."""
FORM = fields(
    claims=listed(
        fields(
            claim=WHOLE,
            verdict=one_of(*OPINIONS),
            quotes=listed(fields(source=TEXT, text=TEXT)),
            formula=maybe(TEXT),
            unsaid=maybe(TEXT),
        )
    )
)
"""The form of the reply where a server can hold the model to one."""
_DEEPEST = 6


def read(reply: str, count: int, labels: Mapping[str, str]) -> dict[int, Proposal]:
    """The proposals of a reply, by the number of the claim, 1 to `count`. `labels`: ids of the sources by what they were called, in lower case."""
    said: dict[int, Proposal] = {}
    twice: set[int] = set()
    for value in json_values(reply.rpartition("</think>")[2]):
        for item in _items(value):
            number, proposal = _number(item.get("claim")), _proposal(item, labels)
            if number is None or not 1 <= number <= count or proposal is None:
                continue
            if said.setdefault(number, proposal) != proposal:
                twice.add(number)
    return {number: proposal for number, proposal in said.items() if number not in twice}


def _items(value: object, depth: int = 0) -> Iterator[Mapping[str, object]]:
    """Every object of a value that judges a claim, wherever it stands in it."""
    if depth > _DEEPEST:
        return
    if isinstance(value, dict) and "claim" in value:
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _items(inner, depth + 1)


def _number(value: object) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 3:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _proposal(item: Mapping[str, object], labels: Mapping[str, str]) -> Proposal | None:
    opinion = next((o for o in get_args(Opinion) if o == item.get("verdict")), None)
    if opinion is None:
        return None
    quotes = tuple(_quotes(item.get("quotes"), labels))
    return Proposal(opinion, quotes, _text(item.get("formula")), _text(item.get("unsaid")))


def _quotes(value: object, labels: Mapping[str, str]) -> Iterator[Quote]:
    for item in value[:MOST_QUOTES] if isinstance(value, list) else ():
        if not isinstance(item, dict):
            continue
        text, named = _text(item.get("text")), _text(item.get("source"))
        label = named.strip("[]() ").casefold() if named else ""
        if text and label == SAID:
            yield Quote(None, text)
        elif text and label in labels:
            yield Quote(labels[label], text)


def _text(value: object) -> str | None:
    return value.strip() or None if isinstance(value, str) else None
