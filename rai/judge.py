"""A chat model as judge of statements: one call for all, the sources as quoted data, the answer read with distrust."""

from __future__ import annotations

import json
import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from grounding.errors import ServiceReplyInvalid
from grounding.ports import ChatModel
from grounding.schema import NUMBER, WHOLE, fields, listed, maybe
from grounding.spotlight import block, new_marker
from rai.records import Source

REQUEST = "Judge every numbered statement."
"""The user message: all that is quoted stands in the system message, where the screen judges it as data."""
MOST_STATEMENTS = 40
"""Statements of one call; further ones are not judged."""
MOST_CHARS = 24_000
"""Characters of sources in one call, about 6,000 tokens; what goes beyond is cut off the last sources."""
LIKELIHOODS = fields(likelihoods=listed(fields(statement=WHOLE, likelihood=maybe(NUMBER))))
"""The form of the reply where a server can hold the model to one; elsewhere it is lines."""
REMEMBERED = 2000
"""Judgements that are kept: a repaired answer is checked again."""
_LINE = re.compile(
    r"^[ \t>*-]{0,4}\[?(\d{1,3})\]?[ \t]{0,3}[:.)=-][ \t]{0,3}(\d(?:\.\d{1,6})?|\.\d{1,6}|\?)[ \t]*$", re.MULTILINE
)
_FENCE = re.compile(r"^\s*```(?:json)?\s*\n(.*?)\n?\s*```\s*$", re.DOTALL)


@cache
def instructions() -> str:
    """The template; its lines are ours and trusted."""
    return files("rai").joinpath("prompts", "judge.txt").read_text("utf-8").rstrip("\n")


class ModelJudge:
    """StatementJudge over a chat model, which is expected to screen its prompts (`rai.screened.ScreenedModel`)."""

    def __init__(self, model: ChatModel, marker: Callable[[], str] = new_marker) -> None:
        self._model = model
        self._marker = marker
        self._said: OrderedDict[tuple[frozenset[Source], str], float | None] = OrderedDict()

    @property
    def name(self) -> str:
        return f"model:{self._model.name}"

    async def judge(self, statements: Sequence[str], sources: Sequence[Source]) -> tuple[float | None, ...]:
        """As the port says; a statement is asked about once for the same sources.

        Raises ServiceError, also for a reply that judges nothing, ContentFiltered or PromptBlocked.
        """
        whole = frozenset(sources)
        known = {s: self._said[whole, s] for s in statements if (whole, s) in self._said}
        asked = list(dict.fromkeys(s for s in statements if s not in known))[:MOST_STATEMENTS]
        if asked:
            known |= zip(asked, await self._ask(asked, sources), strict=True)
            self._said.update({(whole, s): known[s] for s in asked})
        while len(self._said) > REMEMBERED:
            self._said.popitem(last=False)
        return tuple(known.get(s) for s in statements)

    async def _ask(self, statements: Sequence[str], sources: Sequence[Source]) -> list[float | None]:
        reply = await self._model.complete(
            _prompt(statements, sources, self._marker()),
            REQUEST,
            purpose="judge",
            max_tokens=20 + 24 * len(statements),
            schema=LIKELIHOODS,
        )
        said = read(reply.text, len(statements))
        if not said:
            raise ServiceReplyInvalid(self.name, "the reply judges no statement")
        return [said.get(n) for n in range(1, len(statements) + 1)]


def read(reply: str, count: int) -> dict[int, float | None]:
    """What a reply says of statements 1 to `count`: lines as asked for, or the same as JSON.

    A number that is out of range, or that is given twice and not the same, judges nothing.
    """
    said: dict[int, float | None] = {}
    twice: set[int] = set()
    for n, likelihood in _pairs(reply):
        if not 1 <= n <= count or (likelihood is not None and not 0.0 <= likelihood <= 1.0):
            continue
        if n in said and said[n] != likelihood:
            twice.add(n)
        said[n] = likelihood
    return {n: None if n in twice else likelihood for n, likelihood in said.items()}


def _pairs(reply: str) -> Iterator[tuple[int, float | None]]:
    fenced = _FENCE.match(reply)
    body = fenced[1] if fenced else reply
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        for match in _LINE.finditer(body):
            yield int(match[1]), None if match[2] == "?" else float(match[2])
        return
    yield from _json_pairs(data)


def _json_pairs(data: object) -> Iterator[tuple[int, float | None]]:
    """The form of `LIKELIHOODS`, {"1": 0.9}, or [0.9, 0.1]; anything else in it is no judgement."""
    if isinstance(data, dict) and isinstance(data.get("likelihoods"), list):
        pairs = [p for p in data["likelihoods"] if isinstance(p, dict) and {"statement", "likelihood"} <= p.keys()]
        items: Iterable[tuple[Any, Any]] = [(p["statement"], p["likelihood"]) for p in pairs]
    else:
        items = data.items() if isinstance(data, dict) else enumerate(data, 1) if isinstance(data, list) else ()
    for key, value in items:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if str(key).isdecimal() and len(str(key)) <= 3 and (number or value is None):
            yield int(key), float(value) if number else None


def _prompt(statements: Sequence[str], sources: Sequence[Source], marker: str) -> str:
    left = MOST_CHARS
    listed = []
    for source in sources:
        text = source.text[:left]
        left -= len(text)
        if text:
            listed.append(block(f"{_line(source.title)}\n{text}", marker))
    numbered = "\n".join(f"{n}. {_line(s)}" for n, s in enumerate(statements, 1))
    before, _, rest = instructions().partition("{{sources}}")
    middle, _, after = rest.partition("{{statements}}")
    return "".join((before, "\n".join(listed) or "(none)", middle, block(numbered, marker), after))


def _line(text: str) -> str:
    return " ".join(text.split())
