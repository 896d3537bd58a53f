"""Supported answers that exist already: labelled rows, sentences of the corpora, sentences of the sample knowledge base."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from bot.evaluate.rows import json_lines
from bot.evaluate.suites.provenance.mutate.records import Supported
from bot.settings.load import SAMPLE
from grounding.ingest.readers.extract import Refused
from grounding.ingest.readers.read import read
from rai.records import Source

LONGEST_PASSAGE = 2000
"""Code points of a passage: what a chunk of the product holds at most, so that the rows are those of a turn."""
_UNIT = re.compile(r"[^\n.!?]+(?:[.!?](?=\w)[^\n.!?]+)*[.!?]*")


def labelled(path: Path, per_document: int = 6) -> Iterator[Supported]:
    """Rows of a provenance file that are labelled supported, the first few of each document: many say nearly the same."""
    seen: Counter[str] = Counter()
    for row in json_lines(path):
        if row.get("label") == "supported" and row.get("sources"):
            document = row["sources"][0]["text"]
            seen[document] += 1
            if seen[document] > per_document:
                continue
            sources = tuple(Source(s["id"], s["text"], s.get("title", "")) for s in row["sources"])
            given = tuple(row.get("given") or ())
            yield Supported(
                f"{path.stem}:{row['id']}", row["answer"], sources, row.get("question"), given, path.stem, path.stem
            )


def corpus(path: Path, per_document: int = 4) -> Iterator[Supported]:
    """Sentences of a corpus word for word; sources are the document and the two that follow it."""
    origin = f"corpus {path.parent.name}"
    documents = [Source(r["doc_id"], r["text"][:LONGEST_PASSAGE], r.get("title", "")) for r in json_lines(path)]
    yield from _sentences(documents, origin, per_document)


def sample(per_document: int = 60) -> Iterator[Supported]:
    """Sentences and rows of the sample knowledge base as its readers return them; passages are its paragraphs and tables."""
    passages: list[Source] = []
    for path in sorted((SAMPLE / "kb").rglob("*.*")):
        try:
            extract = read(path.read_bytes(), path.name)
        except Refused:
            continue
        text = extract.text
        for n, begin in enumerate(range(0, len(text), LONGEST_PASSAGE)):
            piece = text[begin : begin + LONGEST_PASSAGE]
            start = piece.find("\n") + 1 if n else 0
            end = piece.rfind("\n") if begin + LONGEST_PASSAGE < len(text) else len(piece)
            if end > start:
                passages.append(Source(f"{path.stem}#{n}", piece[start:end], extract.title))
    yield from _sentences(passages, "sample", per_document)


def _sentences(documents: Sequence[Source], origin: str, per_document: int) -> Iterator[Supported]:
    for number, document in enumerate(documents):
        beside = (documents[(number + 1) % len(documents)], documents[(number + 2) % len(documents)])
        sources = tuple(dict.fromkeys((document, *beside)))
        for at, told in enumerate(islice(_told(document.text), per_document)):
            yield Supported(
                f"{document.id}:{at}",
                told,
                sources,
                None,
                (),
                origin,
                f"{origin}, {'row' if ' | ' in told else 'sentence'}",
            )


def _told(text: str) -> Iterator[str]:
    """Sentences with their full stop, and rows, of 4 to 60 words."""
    for match in _UNIT.finditer(text):
        unit = match.group().strip()
        if (unit.endswith((".", "!")) or " | " in unit) and not unit.startswith("#") and 4 <= len(unit.split()) <= 60:
            yield unit
