"""Chunking of a document: by paragraph, or filled with characters or tokens up to a size, with or without overlap.

The filling is that of semantic-text-splitter: the text is divided at the largest units that fit, from runs of line breaks over sentences
(Unicode TR 29) and words down to characters, and a chunk takes as many as it holds; the chunk after it begins with as many of the last as
the overlap holds. LangChain's recursive splitter, which it follows, knows neither sentences nor words but what stands between spaces.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from semantic_text_splitter import TextSplitter

from grounding.ingest.chunk_paragraphs import Places, chunk_of, split
from grounding.ingest.chunk_settings import DEFAULT, Chunking
from grounding.ingest.readers.extract import PLACE
from grounding.records import Chunk, Document
from grounding.text import trim
from grounding.tokens import MODEL, count_tokens

_STRETCH = {"characters": 8, "tokens": 32}
"""Code points given to the library at once, in sizes of a chunk: a line of n characters takes it the square of n."""


def cut(document: Document, chunking: Chunking = DEFAULT) -> tuple[Chunk, ...]:
    """Chunks of `document`, ascending by start and by end, covering all that is not white space, at most `chunking.size` each.

    Only those of characters and tokens may share text, each with the one before and the one after, and none crosses from a page, slide,
    chapter, sheet or attachment into another, so that a place cited is the place.
    """
    if chunking.kind == "paragraphs":
        return split(document, minimum=chunking.minimum, maximum=chunking.size)
    places = Places(document.locators)
    return tuple(
        chunk_of(document, places, start, end, count_tokens(document.text[start:end]))
        for begin, stop in _parts(document)
        for start, end in _filled(document.text, begin, stop, chunking)
    )


def _parts(document: Document) -> Iterator[tuple[int, int]]:
    """The stretches of text on one page, slide or the like, into which a document is divided first; lines of a table are no such places."""
    begin = 0
    for place in sorted(document.locators, key=lambda place: place.start):
        if (
            PLACE.match(place.label)
            and not place.label.startswith("line ")
            and begin < place.start < len(document.text)
        ):
            yield begin, place.start
            begin = place.start
    yield begin, len(document.text)


def _filled(text: str, begin: int, stop: int, chunking: Chunking) -> Iterator[tuple[int, int]]:
    """Chunks of a long text, made stretch by stretch: each begins with the last chunk of the one before, which its end may have cut short.
    The chunk made there instead may add nothing to the one before it.
    """
    width, last = _STRETCH[chunking.kind] * chunking.size, begin
    while begin < stop:
        end = min(begin + width, stop)
        found = _splitter(chunking).chunk_indices(text[begin:end])
        spans = [trim(text, begin + at, begin + at + len(piece)) for at, piece in found]
        whole, begin = (spans, end) if end == stop or len(spans) < 2 else (spans[:-1], spans[-1][0])
        yield from (span for span in whole if span[1] > last)
        last = max([last, *(span[1] for span in whole)])


@lru_cache(maxsize=8)
def _splitter(chunking: Chunking) -> TextSplitter:
    if chunking.kind == "characters":
        return TextSplitter(chunking.size, chunking.overlap)
    return TextSplitter.from_tiktoken_model(MODEL, chunking.size, chunking.overlap)
