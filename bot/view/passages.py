"""Passages of a turn, as ledger and reply have them in JSON, as the sources of a view."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

from bot.view.claim_map import ShownSource
from bot.wording.web import web_label
from rai.records import Entry, Source


def shown_passage(item: Mapping[str, Any], cited: Iterable[Mapping[str, Any]], entry: Entry | None) -> ShownSource:
    """A passage with what is `cited` of it, and a link into its document if `entry` is the turn that it belongs to."""
    own = [c for c in cited if c.get("chunk_id") == item.get("chunk_id")]
    chunk, n = str(item.get("chunk_id") or ""), str(item.get("n") or "")
    return ShownSource(
        source=Source(chunk, str(item.get("text") or ""), str(item.get("title") or ""), item.get("updated")),
        n=n,
        locator=str(item.get("locator") or ""),
        web=_web(item, own) if item.get("origin") == "web" else "",
        link=f"/source/{quote(entry.entry_id, safe='')}/{quote(n, safe='')}" if entry is not None and n else None,
        quotes=tuple(str(c["quote"]) for c in own if c.get("quote")),
    )


def _web(item: Mapping[str, Any], cited: Iterable[Mapping[str, Any]]) -> str:
    """The mark of a web page; entries of old tell no tier."""
    tier = next((found for part in (item, *cited) if (found := part.get("tier"))), None)
    return web_label(str(item.get("url") or ""), tier)
