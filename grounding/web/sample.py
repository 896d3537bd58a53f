"""Web search over bundled sample pages: the fallback can be seen, and shown, without a key and without the network."""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from grounding.errors import InputError
from grounding.records import WebResult
from grounding.text import sentences, terms

TITLE_WEIGHT = 2.0
BEST_SENTENCES = 3


@dataclass(frozen=True, slots=True)
class _Page:
    title: str
    url: str
    snippet: str
    sentences: tuple[str, ...]
    in_title: frozenset[str]
    words: frozenset[str]


class SamplePages:
    """WebSearch over a JSONL file of pages `{"title","url","snippet","text"}`.

    A page's score is the summed inverse document frequency (Spärck Jones, 1972) of the query's words that it holds,
    those in its title doubled. Raises InputError that names the line of a page that cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self._pages = tuple(_load(path))
        held = Counter(word for page in self._pages for word in page.words)
        self._idf = {word: math.log(1 + len(self._pages) / count) for word, count in held.items()}

    @property
    def name(self) -> str:
        """Name of the service: "sample"."""
        return "sample"

    async def search(self, query: str, k: int) -> tuple[WebResult, ...]:
        """At most `k` pages that share a word with `query`, best first. Never fails."""
        wanted = frozenset(terms(query))
        scored = [(self._score(page, wanted), page) for page in self._pages]
        ranked = sorted((pair for pair in scored if pair[0] > 0), key=lambda pair: -pair[0])
        return tuple(self._result(page, wanted) for _, page in islice(ranked, max(k, 0)))

    def _score(self, page: _Page, wanted: frozenset[str]) -> float:
        return self._weight(wanted & page.words) + (TITLE_WEIGHT - 1) * self._weight(wanted & page.in_title)

    def _weight(self, words: frozenset[str]) -> float:
        return math.fsum(self._idf[word] for word in words)

    def _result(self, page: _Page, wanted: frozenset[str]) -> WebResult:
        """A page as a result: its snippet and, as a search engine does, its sentences nearest to the query, in the page's order."""
        weights = [self._weight(wanted & frozenset(terms(s)) & page.words) for s in page.sentences]
        best = sorted(sorted(range(len(weights)), key=lambda i: (-weights[i], i))[:BEST_SENTENCES])
        extra = [page.sentences[i] for i in best if weights[i] > 0 and page.sentences[i] not in page.snippet]
        return WebResult(page.title, page.url, "\n".join([*([page.snippet] if page.snippet else []), *extra]))


def _load(path: Path) -> list[_Page]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read as UTF-8 text ({type(error).__name__})") from None
    return [_page(line, f"{path}:{n}") for n, line in enumerate(lines, 1) if line.strip()]


def _page(line: str, where: str) -> _Page:
    try:
        data: Any = json.loads(line)
    except ValueError:
        raise InputError(f"{where}: not JSON") from None
    fields = ("title", "url", "snippet", "text")
    if not isinstance(data, dict) or not all(isinstance(data.get(f), str) for f in fields):
        raise InputError(f"{where}: a page is an object with the strings {', '.join(fields)}")
    title, url, snippet, text = (data[f] for f in fields)
    if not title.strip() or not url.startswith(("http://", "https://")) or not (snippet.strip() or text.strip()):
        raise InputError(f"{where}: a page needs a title, an http or https url, and a text")
    return _Page(
        title=title,
        url=url,
        snippet=snippet.strip(),
        sentences=tuple(s.text for s in sentences(text)),
        in_title=frozenset(terms(title)),
        words=frozenset(terms(f"{title}\n{snippet}\n{text}")),
    )
