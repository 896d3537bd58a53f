"""Composer over a chat model, and the cleaning of its reply to what a draft may hold: text, and markers of evidence that exists."""

from __future__ import annotations

import re
from collections.abc import Collection

from grounding.errors import ServiceReplyInvalid
from grounding.ports import ChatModel
from grounding.records import Draft, Prompt
from grounding.text import seen

_CODE = re.compile(r"(```.*?```|`[^`\n]*`)", re.DOTALL)
_FENCED = re.compile(r"\A\s*```(?:markdown|md|text)?[ \t]*\n(.*?)\n?```\s*\Z", re.DOTALL | re.IGNORECASE)
_IMAGE = re.compile(r"!\[[^\]\n]{0,500}\](?:\([^)\n]{0,2000}\)|\[[^\]\n]{0,200}\])|<img\b[^>]{0,2000}>", re.IGNORECASE)
_MARKER = re.compile(
    r"([ \t]?)(?:\[\^?(\d{1,3}(?:[ \t]*[,;][ \t]*\d{1,3})*)\](?!\()|【(\d{1,3})(?:[:†][^】\n]{0,80})?】)"
)
_HEADING = r"(?:\#{1,6}[ \t]*)?[*_]{0,2}(?:sources?|references?|citations?|quellen?|fuentes|fonti|bronnen)[*_]{0,2}"
_SOURCES_LINE = re.compile(rf"\A{_HEADING}[ \t]*:[*_]{{0,2}}", re.IGNORECASE)
_SOURCES_HEADING = re.compile(rf"\A{_HEADING}[ \t]*:?[*_]{{0,2}}[ \t]*\Z", re.IGNORECASE)
_LISTED = re.compile(r"\A(?:[-*•][ \t]|\d{1,3}[.)]|\[|【|https?://)")
_STRONG = re.compile(r"(?<![\w*_])(\*\*\*?|__)(?=\S)([^*_\n]{1,500}?)(?<=\S)\1(?![\w*_])")
_TITLE = re.compile(r"^[ \t]{0,3}#{1,6}[ \t]+(?=\S)", re.MULTILINE)
_SPACES = re.compile(r"(?<![ \t])[ \t]+(?=\n|\Z)")
_BLANKS = re.compile(r"\n{3,}")


DRAFT_TOKENS = 800
"""The most that a draft takes."""


class ModelComposer:
    """Composer (prompt to draft) over a chat model."""

    def __init__(self, model: ChatModel, *, max_tokens: int = DRAFT_TOKENS) -> None:
        self._model = model
        self._max_tokens = max_tokens

    @property
    def name(self) -> str:
        """Name of the model."""
        return f"model:{self._model.name}"

    async def compose(self, prompt: Prompt) -> Draft:
        """A draft without markers, for those are set by code, without images and without a list of sources at its end.

        Raises ServiceError, also when nothing is left of the reply, ContentFiltered or PromptBlocked.
        """
        reply = await self._model.complete(
            prompt.system_text, prompt.user_text, purpose="compose", max_tokens=self._max_tokens
        )
        text = tidy(reply.text, frozenset())
        if not text:
            raise ServiceReplyInvalid(self.name, "the reply holds no answer")
        return Draft(text, self.name, reply.usage)


def tidy(text: str, numbers: Collection[int]) -> str:
    """`text` cleaned for a draft: without images (requirement 4-02), bold type, headings, a list of sources at its end, or markers not in
    `numbers`.

    `[1, 2]` and `【1】` become `[1][2]` and `[1]`. What stands in code quotes keeps its words.
    """
    text = seen(text)
    whole = _FENCED.match(text)
    body = whole.group(1) if whole and "```" not in whole.group(1) else text
    # Taking one thing away can bring another into being: "[<img>9]".
    while (cleaner := _tidied(body, numbers)) != body:
        body = cleaner
    return body


def _tidied(text: str, numbers: Collection[int]) -> str:
    parts = _CODE.split(_without_sources(text))
    parts[::2] = [_markers(_plain(_IMAGE.sub("", part)), numbers) for part in parts[::2]]
    return _BLANKS.sub("\n\n", _SPACES.sub("", "".join(parts))).strip()


def _plain(text: str) -> str:
    """`text` without bold type and headings: a human agent copies it into a chat that shows their signs."""
    return _TITLE.sub("", _STRONG.sub(r"\2", text))


def _markers(text: str, numbers: Collection[int]) -> str:
    """`text` with all markers in one form; 0 numbers no evidence, so `[0]` is text."""

    def known(match: re.Match[str]) -> str:
        listed = [int(n) for n in re.findall(r"\d+", match.group(2) or match.group(3))]
        if 0 in listed:
            return match.group()
        kept = "".join(f"[{n}]" for n in dict.fromkeys(listed) if n in numbers)
        return match.group(1) + kept if kept else ""

    return _MARKER.sub(known, text)


def _without_sources(text: str) -> str:
    """`text` without a list of sources at its end: the reply names its sources itself, from what was checked."""
    lines = text.rstrip().split("\n")
    while (end := _sources_begin(lines)) is not None:
        del lines[end:]
    return "\n".join(lines)


def _sources_begin(lines: list[str]) -> int | None:
    """Index of the line at which a list of sources begins that ends with the last line."""
    end = len(lines)
    while end and (not lines[end - 1].strip() or _LISTED.match(lines[end - 1].strip())):
        end -= 1
    last = lines[end - 1].strip() if end else ""
    listed = any(line.strip() for line in lines[end:])
    form = _SOURCES_HEADING if listed else _SOURCES_LINE
    return end - 1 if form.match(last) else None
