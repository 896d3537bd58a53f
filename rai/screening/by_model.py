"""A chat model as the stronger screen, for what the embedded one is in doubt about: everything in its prompt quoted data, its reply read strictly.

It is given a model in its wrapper (`rai.screening.model.ScreenedModel` over the embedded screen), so that here, too, no text reaches a model unscreened. All
that is quoted stands in the system message, where that wrapper judges it as data: a text that orders the model about is blocked before it is read. What a
model that is taken in all the same can do is to allow what the embedded screen allows without it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files
from typing import get_args

from grounding.errors import ContentFiltered, PromptBlocked, ServiceReplyInvalid, ServiceUnavailable
from grounding.model_calls.loose_json import json_values
from grounding.model_calls.schema import WHOLE, fields, listed, maybe, one_of
from grounding.model_calls.spotlight import block, new_marker
from grounding.ports import ChatModel
from rai.records import Category, DocumentScreening, Screening

MOST_CHARS = 8_000
"""Most characters of one text; a longer one is blocked unread."""
MOST_TEXTS = 8
"""Most documents of one call, with `MOST_CHARS` together."""
MOST_CALLS = 4
"""Most calls of one decision; documents beyond them are left out unread."""
TOO_LONG, TOO_MANY, FILTERED, ORDERS = "model/too-long", "model/too-many", "model/filtered", "model/orders"
"""The rules of what was not read: too long, one of too many, refused by the service's own filter, or blocked on its way by the wrapper's screen."""
REQUEST = "Judge every numbered text."
"""The user message."""
CATEGORIES: tuple[Category, ...] = tuple(c for c in get_args(Category) if c != "off_policy")
FORM = fields(
    findings=listed(fields(text=WHOLE, verdict=one_of("allow", "block"), category=maybe(one_of(*CATEGORIES))))
)
_REPLY_TOKENS, _TEXT_TOKENS = 60, 40
_Finding = tuple[str, Category | None] | None
"""The rule that blocks a text and its category; None allows it."""


class ModelScreen:
    """A `rai.ports.PromptScreen` that asks a chat model, which is expected to screen its prompts.

    `score` is 1 of what it blocks and 0 of all else: a model's own figure would say no more. Raises ServiceError where anything was not judged.
    """

    def __init__(self, model: ChatModel, marker: Callable[[], str] = new_marker) -> None:
        self._model = model
        self._marker = marker

    @property
    def name(self) -> str:
        return f"model:{self._model.name}"

    async def screen(self, text: str, documents: Sequence[str] = ()) -> Screening:
        """Judges `text` as a request and each of `documents` as a passage, documents of a call together."""
        said = await self._all([text] if text.strip() else [], "request")
        judged = await self._all(documents, "document")
        told = tuple(
            DocumentScreening(i, "block", found[0], 1.0) if found else DocumentScreening(i, "allow", None, 0.0)
            for i, found in enumerate(judged)
        )
        if said and said[0] is not None:
            rule, category = said[0]
            return Screening("block", category, rule, 1.0, told, by=self.name)
        return Screening("allow", documents=told, by=self.name)

    async def _all(self, texts: Sequence[str], kind: str) -> list[_Finding]:
        found: list[_Finding] = [None] * len(texts)
        for at, text in enumerate(texts):
            if len(text) > MOST_CHARS:
                found[at] = TOO_LONG, "injection"
        groups = _groups([(at, text) for at, text in enumerate(texts) if text.strip() and found[at] is None])
        for group in groups[:MOST_CALLS]:
            for at, finding in zip([at for at, _ in group], await self._ask([t for _, t in group], kind), strict=True):
                found[at] = finding
        for group in groups[MOST_CALLS:]:
            for at, _ in group:
                found[at] = TOO_MANY, "injection"
        return found

    async def _ask(self, texts: Sequence[str], kind: str) -> list[_Finding]:
        marker = self._marker()
        quoted = "\n".join(f"{n}. {kind}\n{block(text, marker)}" for n, text in enumerate(texts, 1))
        try:
            reply = await self._model.complete(
                f"{instructions()}\n{quoted}",
                REQUEST,
                purpose="screen",
                max_tokens=_REPLY_TOKENS + _TEXT_TOKENS * len(texts),
                schema=FORM,
            )
        except PromptBlocked as error:
            if error.unavailable:
                raise ServiceUnavailable(self.name, "its own prompt could not be screened") from error
            return await self._apart(texts, kind, (ORDERS, "injection"))
        except ContentFiltered:
            return await self._apart(texts, kind, (FILTERED, "dangerous_help"))
        return read(reply.text, len(texts), self.name)

    async def _apart(self, texts: Sequence[str], kind: str, alone: tuple[str, Category]) -> list[_Finding]:
        """What a call that was refused comes to: of one text the finding on it, of several each asked about by itself."""
        return [alone] if len(texts) == 1 else [(await self._ask([text], kind))[0] for text in texts]


@cache
def instructions() -> str:
    """The template of the prompt; its lines are ours and trusted."""
    return files("rai").joinpath("prompts", "screen.txt").read_text("utf-8").rstrip("\n")


def own_lines() -> str:
    """All that a prompt has of ours."""
    numbered = [f"{n}. {kind}" for n in range(1, MOST_TEXTS + 1) for kind in ("request", "document")]
    return "\n".join([instructions(), REQUEST, *numbered])


def read(reply: str, texts: int, name: str) -> list[_Finding]:
    """The finding on each of `texts`. Raises ServiceReplyInvalid unless the reply is one object that judges every text once and in its form."""
    values = list(json_values(reply))
    try:
        (value,) = values
        assert isinstance(value, dict)
        assert set(value) == {"findings"}
        rows = value["findings"]
        assert [row["text"] for row in rows] == list(range(1, texts + 1))
        return [_finding(row) for row in rows]
    except (ValueError, AssertionError, KeyError, TypeError) as error:
        raise ServiceReplyInvalid(
            name, f"the reply judges not every text in its form ({type(error).__name__})"
        ) from None


def _finding(row: object) -> _Finding:
    assert isinstance(row, dict)
    assert set(row) == {"text", "verdict", "category"}
    verdict, category = row["verdict"], row["category"]
    assert type(row["text"]) is int  # true is 1 too
    assert verdict in ("allow", "block")
    assert category is None or category in CATEGORIES
    if verdict == "allow":
        return None
    return f"model/{str(category or 'unnamed').replace('_', '-')}", category


def _groups(texts: Sequence[tuple[int, str]]) -> list[list[tuple[int, str]]]:
    """Texts in order, as many to a call as it takes."""
    groups: list[list[tuple[int, str]]] = []
    room = 0
    for at, text in texts:
        if not groups or len(groups[-1]) == MOST_TEXTS or len(text) > room:
            groups.append([])
            room = MOST_CHARS
        groups[-1].append((at, text))
        room -= len(text)
    return groups
