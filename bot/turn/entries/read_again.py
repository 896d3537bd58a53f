"""A recorded passage once more: whether whoever asks may still read it, and as evidence for another check."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from bot.view.reply import reply_view
from grounding.ports import Library
from grounding.records import Access, Document, Evidence, Passage, Trust


async def versions_of(
    library: Library, recorded: Mapping[str, Any]
) -> tuple[Document | None, Document | None, Document | None]:
    """The document of a recorded piece of evidence as it was cited, as it stands now, and as it stands or stood last; None for what is gone."""
    doc_id = str(recorded.get("doc_id", ""))
    then = await library.document(doc_id, recorded.get("version") or None)
    return then, await library.document(doc_id), await library.last(doc_id)


def may_see(access: Access, *versions: Document | None) -> bool:
    """True if every version that is still there may be read: rights that were narrowed close the old text, also of what was taken out since."""
    return all(d is None or access.may_read(d.groups) for d in versions)


async def may_be_told(library: Library | None, access: Access, body: Mapping[str, Any]) -> bool:
    """Whether all that a recorded reply says or offers rests on what may still be read, as of `read_again`."""
    rests_on = reply_view(body.get("reply") or {}).rests_on
    recorded = [row for row in body.get("evidence") or () if row.get("chunk_id") in rests_on]
    return all([await read_again(library, access, row) is not None for row in recorded])


async def read_again(library: Library | None, access: Access, recorded: Mapping[str, Any]) -> Evidence | None:
    """The evidence as it was recorded, or None if it may not be read today, is internal by now, or its document is gone. A web page is as it was found."""
    trust: Trust = next((t for t in get_args(Trust) if t == recorded.get("trust")), "ordinary")
    if recorded.get("origin") != "web":
        if library is None:
            return None
        then, now, last = await versions_of(library, recorded)
        if now is None or now.internal or not may_see(access, then, now, last):
            return None
        trust = now.trust
    passage = Passage(
        chunk_id=str(recorded["chunk_id"]),
        doc_id=str(recorded["doc_id"]),
        title=str(recorded.get("title") or ""),
        text=str(recorded.get("text") or ""),
        start=int(recorded.get("start") or 0),
        url=recorded.get("url"),
        locator=recorded.get("locator"),
        origin=recorded.get("origin", "kb"),
        updated=recorded.get("updated"),
        version=str(recorded.get("version") or ""),
        tier=recorded.get("tier"),
        trust=trust,
    )
    return Evidence(int(recorded["n"]), passage, float(recorded.get("score") or 0.0))
