"""Passages of a turn, as ledger and reply have them in JSON, as the sources of a view."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

from bot.http.panes import Shown
from rai.records import Entry, Source


def shown_passage(item: Mapping[str, Any], cited: Iterable[Mapping[str, Any]], entry: Entry | None) -> Shown:
    """A passage with what is `cited` of it, and a link into its document if `entry` is the turn that it belongs to."""
    chunk, n = str(item.get("chunk_id") or ""), str(item.get("n") or "")
    return Shown(
        source=Source(chunk, str(item.get("text") or ""), str(item.get("title") or ""), item.get("updated")),
        n=n,
        locator=str(item.get("locator") or ""),
        web=item.get("origin") == "web",
        link=f"/source/{quote(entry.entry_id, safe='')}/{quote(n, safe='')}" if entry is not None and n else None,
        quotes=tuple(str(c["quote"]) for c in cited if c.get("chunk_id") == chunk and c.get("quote")),
    )
