"""BM25 index over title and text with tantivy; groups and product are filters inside the query.

Only primary keys come back: title, text and rights are read from the store, which decides what is live.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import tantivy

from grounding.errors import StoreError
from grounding.query.typos import typos_allowed
from grounding.records import Access
from grounding.store.chunks import ChunkRow, embedding_text
from grounding.text import STOP_WORDS

_EVERYONE, _ANY = "*", "*"
_HEAP = 64_000_000
_TOKENIZER = "en_stem"
TITLE_BOOST = 0.3
"""The title stands before the text as well, where its words count as those of the text do."""
PHRASE_BOOST = 2.0
"""An identifier in pieces ("W-230") counts as a whole above its pieces, which may stand anywhere."""
MAX_TERMS, MAX_PHRASES = 64, 8
_IDENTIFIER = re.compile(r"\b(?=[\w.\-/]{0,80}\d)\w+(?:[.\-/]\w+)+\b|\b[A-Za-z]{3,} [A-Za-z]{1,2}\d{1,3}\b")


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("pk", stored=True, indexed=False)
    for name in ("doc_id", "groups", "product"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    for name in ("title", "body"):
        builder.add_text_field(name, tokenizer_name=_TOKENIZER, index_option="position")
    return builder.build()


class DamagedWordsError(StoreError):
    """The files of the word index contradict each other; it can be made again from the store."""


class WordIndex:
    """The BM25 index in one folder. Losing it loses nothing: it is rebuilt from the store."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.fresh = not (folder / "meta.json").exists()
        """True if there was no index: everything has to be added."""
        self._schema = _schema()
        try:
            self._index = _open(self._schema, folder)
        except ValueError:  # another schema, or damaged: start again
            self._start_again()
        self._analyzer = (
            tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
            .filter(tantivy.Filter.remove_long(40))
            .filter(tantivy.Filter.lowercase())
            .filter(tantivy.Filter.stemmer("English"))
            .build()
        )

    def _start_again(self) -> None:
        """Replace this index by an empty one. The folder goes by a rename, so that a kill leaves no half of it."""
        gone = self._folder.with_name(f"{self._folder.name}.gone")
        shutil.rmtree(gone, ignore_errors=True)
        if self._folder.exists():
            self._folder.rename(gone)
        shutil.rmtree(gone, ignore_errors=True)
        self.fresh = True
        self._index = _open(self._schema, self._folder)

    def clear(self) -> None:
        """Make the index empty, whatever state it is in. Readers go on with what was there, until a reload."""
        self._start_again()

    def reload(self) -> None:
        """Load what other processes have committed since."""
        self._index.reload()

    def count(self) -> int:
        """Number of chunks in the index."""
        return int(self._index.searcher().num_docs)

    def replace(self, doc_ids: Sequence[str], rows: Sequence[ChunkRow]) -> None:
        """Make the index hold exactly `rows` of these documents, durably. Raises StoreError if another writer is
        at work, DamagedWordsError if it cannot be written any more.
        """
        try:
            writer = self._index.writer(_HEAP, 1)
        except ValueError as error:
            raise StoreError("another ingest is writing to the index; wait for it to end") from error
        try:
            writer.garbage_collect_files()  # of a commit that was killed: tantivy would not write over them
            for doc_id in doc_ids:
                writer.delete_documents_by_term("doc_id", doc_id)
            for row in rows:
                writer.add_document(_entry(row))
            writer.commit()
            writer.wait_merging_threads()
        except ValueError as error:
            del writer  # it holds the lock of the folder
            raise DamagedWordsError(f"the word index is damaged ({error})") from error
        self._index.reload()

    def search(self, query: str, access: Access, k: int) -> list[tuple[int, float]]:
        """At most `k` (primary key, BM25 score), best first, of what `access` may read. BM25 with k1 1.2, b 0.75.

        Stop words of the query are left out, unless it holds nothing else.
        """
        analysed = list(dict.fromkeys(self._analyzer.analyze(query)))
        words = ([t for t in analysed if t not in STOP_WORDS] or analysed)[:MAX_TERMS]
        searcher = self._index.searcher()
        if not words or k < 1 or searcher.num_docs == 0:
            return []
        phrases = [self._analyzer.analyze(m.group()) for m in _IDENTIFIER.finditer(query)][:MAX_PHRASES]
        hits = searcher.search(self._query(words, [p for p in phrases if len(p) > 1], access), k, count=False).hits
        return [(int(searcher.doc(address)["pk"][0]), float(score)) for score, address in hits]

    def titled(self, name: str, query: str, access: Access, k: int) -> list[int]:
        """Primary keys of at most `k` chunks whose title holds `name`, those first that hold words of `query`."""
        title = self._phrase("title", name)
        if title is None or k < 1:
            return []
        words = [t for t in dict.fromkeys(self._analyzer.analyze(query)) if t not in STOP_WORDS][:MAX_TERMS]
        parts = [(tantivy.Occur.Must, tantivy.Query.const_score_query(title, 1.0)), *self._readable(access)]
        parts += [(tantivy.Occur.Should, tantivy.Query.term_query(self._schema, "body", word)) for word in words]
        searcher = self._index.searcher()
        hits = searcher.search(tantivy.Query.boolean_query(parts), k, count=False).hits
        return [int(searcher.doc(address)["pk"][0]) for _, address in hits]

    def named(self, name: str, access: Access) -> tuple[int, int]:
        """Number of chunks that `access` may read whose title holds `name`, and of others that only mention it."""
        title, text = self._phrase("title", name), self._phrase("body", name)
        if title is None or text is None:
            return 0, 0
        readable = self._readable(access)
        speaking = [(tantivy.Occur.Must, text), (tantivy.Occur.MustNot, title), *readable]
        return self._count([(tantivy.Occur.Must, title), *readable]), self._count(speaking)

    def holding(self, name: str, access: Access, k: int) -> list[int]:
        """Primary keys of at most `k` chunks that `access` may read whose text holds `name`, word after word."""
        text = self._phrase("body", name)
        searcher = self._index.searcher()
        if text is None or searcher.num_docs == 0:
            return []
        parts = [(tantivy.Occur.Must, text), *self._readable(access)]
        hits = searcher.search(tantivy.Query.boolean_query(parts), k, count=False).hits
        return [int(searcher.doc(address)["pk"][0]) for _, address in hits]

    def like(self, word: str, access: Access, k: int) -> list[int]:
        """Primary keys of at most `k` chunks that `access` may read which hold `word` or a misspelling of it: one edit away, or two in a
        long word.
        """
        lower = word.lower()
        forms = dict.fromkeys([lower, *self._analyzer.analyze(lower)])
        slips = typos_allowed(lower)
        near = [
            (tantivy.Occur.Should, tantivy.Query.fuzzy_term_query(self._schema, "body", form, slips, True, False))
            for form in forms
        ]
        parts = [(tantivy.Occur.Must, tantivy.Query.boolean_query(near)), *self._readable(access)]
        searcher = self._index.searcher()
        if searcher.num_docs == 0:
            return []
        hits = searcher.search(tantivy.Query.boolean_query(parts), k, count=False).hits
        return [int(searcher.doc(address)["pk"][0]) for _, address in hits]

    def _count(self, parts: list[tuple[tantivy.Occur, tantivy.Query]]) -> int:
        found = self._index.searcher().search(tantivy.Query.boolean_query(parts), 1, count=True)
        return int(found.count or 0)  # type: ignore[attr-defined]  # the stub leaves it out

    def _phrase(self, field: str, text: str) -> tantivy.Query | None:
        words = self._analyzer.analyze(text)
        if len(words) > 1:
            return tantivy.Query.phrase_query(self._schema, field, list(words))
        return tantivy.Query.term_query(self._schema, field, words[0]) if words else None

    def _query(self, words: Sequence[str], phrases: Sequence[list[str]], access: Access) -> tantivy.Query:
        wanted = [
            tantivy.Query.boost_query(tantivy.Query.term_query(self._schema, field, word), boost)
            for word in words
            for field, boost in (("title", TITLE_BOOST), ("body", 1.0))
        ]
        wanted += [
            tantivy.Query.boost_query(tantivy.Query.phrase_query(self._schema, field, list(phrase)), PHRASE_BOOST)
            for phrase in phrases
            for field in ("title", "body")
        ]
        must = [(tantivy.Occur.Must, tantivy.Query.boolean_query([(tantivy.Occur.Should, q) for q in wanted]))]
        return tantivy.Query.boolean_query([*must, *self._readable(access)])

    def _readable(self, access: Access) -> list[tuple[tantivy.Occur, tantivy.Query]]:
        """Query clauses that only what `access` may read meets; they add nothing to a score."""
        groups = [_EVERYONE, *(f"g:{g}" for g in sorted(access.groups))]
        clauses = [(tantivy.Occur.Must, self._one_of("groups", groups))]
        if access.product is not None:
            clauses.append((tantivy.Occur.Must, self._one_of("product", [_ANY, f"p:{access.product}"])))
        return clauses

    def _one_of(self, field: str, values: Sequence[str]) -> tantivy.Query:
        filters = tantivy.Query.term_set_query(self._schema, field, list(values))
        return tantivy.Query.const_score_query(filters, 0.0)


def _open(schema: tantivy.Schema, folder: Path) -> tantivy.Index:
    folder.mkdir(parents=True, exist_ok=True)
    index = tantivy.Index(schema, path=str(folder))
    index.config_reader(reload_policy="manual")
    index.reload()
    return index


def _entry(row: ChunkRow) -> tantivy.Document:
    groups = [_EVERYONE] if row.groups is None else [f"g:{g}" for g in row.groups]
    product = _ANY if row.product is None else f"p:{row.product}"
    document = tantivy.Document(
        pk=row.pk,
        doc_id=row.chunk.doc_id,
        product=product,
        title=row.title,
        body=embedding_text(row.title, row.chunk.text),
    )
    for group in groups:
        document.add_text("groups", group)
    return document
