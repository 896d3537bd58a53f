"""What becomes of documents in one run of an ingest: each is new, changed, unchanged or refused, and what is to be written of it waits in a tally."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from grounding.errors import InputError
from grounding.ingest.chunk import cut
from grounding.ingest.chunk_settings import READ_AT_ONCE, Chunking, marked, unmarked
from grounding.ingest.history import ChangeKind
from grounding.ingest.runs import ROOT
from grounding.ingest.sources import MISSING, SourceItem
from grounding.records import Chunk, Document, Refusal


class KnowsReaders(Protocol):
    """An index that knows who may read what."""

    def readers(self, doc_id: str) -> tuple[str, ...] | None:
        """Groups that may read a live document; None is everyone."""
        ...


@dataclass(slots=True)
class Tally:
    """Tally of one run. `known` is (root, stamp, version) by doc_id of what is there; `rechunked` maps the documents that are cut anew to
    the chunking that they had. `roots`: those whose documents this run may take over.
    """

    chunking: Chunking
    known: dict[str, tuple[str, str, str]]
    pulled: dict[str, tuple[str, str]]
    seen: set[str] = field(default_factory=set)
    kept: set[str] = field(default_factory=set)
    roots: set[str] = field(default_factory=set)
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    refused: list[Refusal] = field(default_factory=list)
    opened: list[str] = field(default_factory=list)
    changes: list[tuple[ChangeKind, str]] = field(default_factory=list)
    pending: list[tuple[Document, tuple[Chunk, ...], str, str]] = field(default_factory=list)
    touched: dict[str, str] = field(default_factory=dict)
    rechunked: dict[str, str] = field(default_factory=dict)
    long_chunks: int = 0


def take(target: KnowsReaders, run: Tally, item: SourceItem) -> None:
    """Find out what becomes of a document, read and cut where it is new or changed."""
    run.roots.add(item.root)
    if (refusal := refusal_of(run, item)) is not None:
        run.refused.append(refusal)
        return
    known = run.known.get(item.doc_id)
    stamp = marked(item.stamp, run.chunking)
    if known and known[:2] == (item.root, stamp):
        run.unchanged += 1
        run.kept.add(item.doc_id)
        return
    document = _read(run, item, stamp)
    if isinstance(document, Refusal):
        run.refused.append(document)
        return
    run.kept.add(item.doc_id)
    if known and known[0] == item.root and known[2] == document.version:
        run.unchanged += 1
        before = unmarked(known[1])[1]
        if before == str(run.chunking):
            run.touched[item.doc_id] = stamp
            return
        run.rechunked[item.doc_id] = before
    elif known:
        run.changed += 1
        run.changes.append(("changed", item.doc_id))
        if _is_wider(target.readers(item.doc_id), document.groups):
            run.opened.append(item.doc_id)
    else:
        run.added += 1
        run.changes.append(("added", item.doc_id))
    chunks = cut(document, run.chunking)
    run.long_chunks += sum(chunk.tokens > READ_AT_ONCE for chunk in chunks)
    run.pending.append((document, chunks, item.root, stamp))


def refusal_of(run: Tally, item: SourceItem) -> Refusal | None:
    """Reason why a document is not even read, or None."""
    if item.doc_id in run.seen:
        return Refusal(item.doc_id, "duplicate_id", "another document of this run has the same id")
    owner = _owner(run, item)  # whose own document may come yet: until then the id is not seen
    if owner is not None and owner.startswith(ROOT):
        return _taken(item, f"ingested with --root {owner.removeprefix(ROOT)}")
    if owner is not None and Path(owner).exists():
        return _taken(item, f"ingested from {owner}")
    run.seen.add(item.doc_id)
    if unmarked(run.pulled.get(item.doc_id, ("", ""))[0])[0] == item.stamp:
        return _out(item.doc_id)
    return None


def _read(run: Tally, item: SourceItem, stamp: str) -> Document | Refusal:
    """The document as it stands, or the reason why it is refused."""
    try:
        document = item.load()
    except InputError as error:
        if error.code == MISSING:  # it may stand where the run was planned: only a listing can tell that it is gone
            run.kept.add(item.doc_id)
        return Refusal(item.doc_id, error.code, str(error))
    if run.pulled.get(item.doc_id, ("", ""))[1] == document.version:
        run.touched[item.doc_id] = stamp
        return _out(item.doc_id)
    owner = _owner(run, item)
    if owner is not None and run.known[item.doc_id][2] != document.version:  # not moved: another, or the owner is away
        whose = f"of other content or rights ingested from {owner}, which is not here now"
        return _taken(item, f"{whose}; attest documents remove {item.doc_id} makes room for this one")
    return document


def _owner(run: Tally, item: SourceItem) -> str | None:
    """The root whose document has the id of this one, if it is none that this run may take over."""
    known = run.known.get(item.doc_id)
    return None if not known or known[0] == item.root or known[0] in run.roots else known[0]


def _taken(item: SourceItem, whose: str) -> Refusal:
    return Refusal(item.doc_id, "duplicate_id", f"the id is taken by a document {whose}")


def _out(doc_id: str) -> Refusal:
    reason = (
        "was removed by hand; it comes back when its content or its rights change, or by `attest documents restore`"
    )
    return Refusal(doc_id, "removed", reason)


def _is_wider(before: tuple[str, ...] | None, after: tuple[str, ...] | None) -> bool:
    """True if someone may read the document now who could not before."""
    return before is not None and (after is None or not set(after) <= set(before))


def leave_out(run: Tally, pulled_meanwhile: set[str]) -> None:
    """Drop from the run what a person removed since it began, although it was read before."""
    for document, _, _, _ in [item for item in run.pending if item[0].doc_id in pulled_meanwhile]:
        run.refused.append(_out(document.doc_id))
        if run.rechunked.pop(document.doc_id, None) is not None:
            run.unchanged -= 1
        elif document.doc_id in run.known:
            run.changed -= 1
        else:
            run.added -= 1
    run.changes[:] = [change for change in run.changes if change[1] not in pulled_meanwhile]
    run.pending[:] = [item for item in run.pending if item[0].doc_id not in pulled_meanwhile]
