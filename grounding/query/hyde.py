"""HyDE, hypothetical document embeddings (Gao et al., arXiv 2212.10496): what a chat model imagines is searched by and never read.

At query time the answer to a question is imagined and searched for (`imagine`). At ingest the questions and answers of each passage are
(`hypothesize`); a hit on one of them is a hit on its passage (the .NET workshop's way, requirement 3-13). What a model writes here is
neither evidence nor shown; a reply that cannot be used costs the call and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from grounding.model_calls.spotlight import MARKER_LINE, block
from grounding.model_calls.templates import fill, template
from grounding.ports import ChatModel
from grounding.text import caseless, sentences, terms

EACH = 3
"""Hypotheticals of a passage, at most."""
LONGEST = 300
"""Characters of one hypothetical; a longer line is a lecture."""
LONGEST_ANSWER = 600
"""Characters of an imagined answer: some 150 word pieces, of the 256 that the embedding model reads."""
_TOKENS_EACH = 40
_NUMBER = re.compile(r"^[\s*_#>-]*(?:passage\s*)?\[(\d{1,3})\][\s*_:.)-]*", re.IGNORECASE)
_PLAIN_NUMBER = re.compile(r"^[\s*_#>-]*(\d{1,3})[.):][\s*_]*")
_LEAD = re.compile(r"^[\s*_>•–-]*(?:\d{1,2}[.)]\s+)?(?:(?:question|answer|q|a)\s*\d?\s*[:.]\s*)?", re.IGNORECASE)
_QUOTES = "\"'“”„«»`*_ \t"
_NONE = re.compile(r"^\W*none\W*$", re.IGNORECASE)
_REFUSES = re.compile(
    r"^\W*(?:(?:i['’ ]?m|i am|we are|we['’]re) (?:sorry|afraid|unable)\b|sorry\b|unfortunately\b|apologies\b|as an ai\b|es tut mir leid\b|"
    r"(?:i|we) (?:can(?:no|['’ ])?t|could(?: not|n['’]t)|will not|won['’]t) (?:help|assist|write|provide|comply|generate|fulfil|create|answer|do)\b|"
    r"(?:i|we) (?:do not|don['’]t) (?:have (?:enough |any )?(?:information|access|context)|know)\b|je suis désolée?\b|ich kann (?:das|dabei|dazu|hier)\b)",
    re.IGNORECASE,
)
"""A model that will not or cannot; "I can't log in" is what a customer says."""
_FENCE = re.compile(r"^\s*```.*$", re.MULTILINE)


async def imagine(model: ChatModel, question: str, marker: str) -> str:
    """A hypothetical answer to search for, of `LONGEST_ANSWER` characters at most; empty if the model refuses or says nothing.

    `marker`: of `spotlight.new_marker`. Raises ServiceError, ContentFiltered or PromptBlocked.
    """
    reply = await model.complete(template("hyde_query"), block(question, marker), purpose="hyde", max_tokens=200)
    lines = (line.strip() for line in _FENCE.sub("", reply.text).splitlines())
    text = " ".join(" ".join(line for line in lines if not MARKER_LINE.fullmatch(line)).split()).strip(_QUOTES)
    return "" if _REFUSES.match(text) or not terms(text) else _cut(text)


async def hypothesize(model: ChatModel, passages: Sequence[str], marker: str) -> list[tuple[str, ...] | None]:
    """Hypothetical questions and answers of each passage (its title on top), written by a model in one call; () where it says that there
    are none, None where its reply does not tell.

    The passages stand in the system message, which the screen judges as data. Raises ServiceError, ContentFiltered or PromptBlocked.
    """
    listed = "\n".join(f"[{n}]\n{block(text, marker)}" for n, text in enumerate(passages, 1))
    reply = await model.complete(
        fill("hyde_ingest", passages=listed),
        template("hyde_ingest_request"),
        purpose="hyde",
        max_tokens=60 + _TOKENS_EACH * EACH * len(passages),
    )
    return read_hypotheticals(reply.text, len(passages))


def read_hypotheticals(reply: str, count: int) -> list[tuple[str, ...] | None]:
    """Parse a reply to `hypothesize` into lines by passage.

    A line belongs to the number in brackets before it, or to the last such number above it; to the only passage if there is one. Numbers
    without brackets count where one stands more than once: otherwise they may be those of a list. A number that no passage has takes its
    lines with it.
    """
    lines = [line for line in _FENCE.sub("", reply).splitlines() if line.strip()]
    form = _NUMBER if any(_NUMBER.match(line) for line in lines) else _repeating(lines)
    found: dict[int, list[str]] = {}
    at = 1 if count == 1 else 0
    for line in lines:
        if form and (match := form.match(line)):
            at, line = int(match.group(1)), line[match.end() :]  # noqa: PLW2901 - the rest of the line
        if 1 <= at <= count and line.strip():
            found.setdefault(at, []).append(line)
    return [_kept(found[n]) if n in found else None for n in range(1, count + 1)]


def _repeating(lines: Sequence[str]) -> re.Pattern[str] | None:
    numbers = [match.group(1) for line in lines if (match := _PLAIN_NUMBER.match(line))]
    return _PLAIN_NUMBER if len(set(numbers)) < len(numbers) else None


def _kept(lines: Sequence[str]) -> tuple[str, ...] | None:
    """The usable ones of a passage's lines; () for "none", None if nothing is usable."""
    texts: dict[str, str] = {}
    for line in lines:
        text = " ".join(_LEAD.sub("", line).split()).strip(_QUOTES)
        if _is_hypothetical(text):
            texts.setdefault(caseless(text), text)
    if texts:
        return tuple(texts.values())[:EACH]
    return () if any(_NONE.match(line) for line in lines) else None


def _is_hypothetical(text: str) -> bool:
    return (
        bool(terms(text))
        and len(text) <= LONGEST
        and not text.endswith(":")
        and not _NONE.match(text)
        and not _REFUSES.match(text)
        and not MARKER_LINE.search(text)
    )


def _cut(text: str) -> str:
    """`text` up to the last sentence that ends within `LONGEST_ANSWER`, or up to a word there."""
    if len(text) <= LONGEST_ANSWER:
        return text
    end = max((s.end for s in sentences(text) if s.end <= LONGEST_ANSWER), default=0)
    return text[:end] if end else text[:LONGEST_ANSWER].rsplit(" ", 1)[0]
