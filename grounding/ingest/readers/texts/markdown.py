"""Reader of Markdown by way of HTML, so that tables, lists and hidden text are treated alike everywhere."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from html import escape
from typing import Any

import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token

from grounding.ingest.readers import content_types
from grounding.ingest.readers.extract import Extract, Refused
from grounding.ingest.readers.metadata import BadField, of_itself
from grounding.ingest.readers.texts.encoding import decode
from grounding.ingest.readers.texts.web_page import read_html
from grounding.tables import table, word_set

CONTENT_TYPE = content_types.MARKDOWN

_FRONT = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_KEY_LINE = re.compile(r"^[A-Za-z_][\w-]*\s*:", re.MULTILINE)
_TAG = re.compile(r"</?([A-Za-z][A-Za-z0-9-]*)|<!--|<![A-Z]|<\?")
_WORDS = table(__file__)
_ELEMENTS = word_set(_WORDS["elements"])


def read_markdown_file(data: bytes, name: str) -> Extract:
    """Extract of a Markdown file in any encoding; see `read_markdown`."""
    return read_markdown(decode(data), name)


def read_markdown(text: str, name: str) -> Extract:
    """Extract of Markdown; front matter becomes `meta` and title. Raises Refused."""
    meta, body = front_matter(text)
    title = meta.pop("title", None)
    extract = read_html(_html(body), title or name, CONTENT_TYPE, meta)
    if title is None:
        return extract
    return Extract(title, extract.text, CONTENT_TYPE, extract.locators, meta)


def front_matter(text: str) -> tuple[dict[str, Any], str]:
    """Known fields of the YAML block at the top, and the text below it.

    Raises Refused `corrupt` for a block that looks like fields and cannot be read: it may have named `groups`.
    """
    match = _FRONT.match(text.lstrip("\ufeff \t\r\n"))
    text = text.lstrip("\ufeff \t\r\n") if match else text
    if match is None or not (_KEY_LINE.search(match.group(1)) or not match.group(1).strip()):
        return {}, text
    try:
        raw = yaml.safe_load(match.group(1)) or {}
        if not isinstance(raw, dict):
            raise Refused("corrupt", "front matter must be a block of `name: value` lines")
        return of_itself(raw), text[match.end() :]
    except BadField as error:
        raise Refused("corrupt", f"front matter: {error}") from None
    except (yaml.YAMLError, ValueError, RecursionError):  # ValueError: a date that does not exist
        raise Refused("corrupt", "front matter is not valid YAML") from None


def _html(text: str) -> str:
    return str(_parser().render(text))


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    parser.add_render_rule("html_inline", _raw)
    parser.add_render_rule("html_block", _raw)
    parser.add_render_rule("image", _no_image)
    return parser


def _raw(_self: object, tokens: Sequence[Token], index: int, _options: object, _env: object) -> str:
    """Rendering of raw HTML in Markdown: it stays HTML, but a placeholder such as <name> is text."""
    content = tokens[index].content
    return _TAG.sub(
        lambda m: m.group() if not m.group(1) or m.group(1).lower() in _ELEMENTS else escape(m.group()), content
    )


def _no_image(*_: object) -> str:
    return ""
