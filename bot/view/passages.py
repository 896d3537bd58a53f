"""Passages of a turn, as ledger and reply have them in JSON, as the sources of a view."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

from bot.view.claim_map import ShownSource
from bot.view.reply import ListedSource
from bot.wording.refusals import FALLBACK
from bot.wording.web import web_label
from rai.records import Entry, Source


def shown_passage(
    item: Mapping[str, Any], cited: Iterable[ListedSource], entry: Entry | None, language: str = FALLBACK
) -> ShownSource:
    """A passage with what is `cited` of it, and a link into its document if `entry` is the turn that it belongs to."""
    chunk, n = str(item.get("chunk_id") or ""), str(item.get("n") or "")
    own = [c for c in cited if c.chunk_id == chunk]
    return ShownSource(
        source=Source(chunk, str(item.get("text") or ""), str(item.get("title") or ""), item.get("updated")),
        n=n,
        locator=str(item.get("locator") or ""),
        web=_web(item, own, language) if item.get("origin") == "web" else "",
        link=f"/source/{quote(entry.entry_id, safe='')}/{quote(n, safe='')}" if entry is not None and n else None,
        quotes=tuple(c.quote for c in own if c.quote),
    )


def _web(item: Mapping[str, Any], cited: Iterable[ListedSource], language: str) -> str:
    """The mark of a web page; entries of old tell no tier."""
    tier = next((known for known in (item.get("tier"), *(c.tier for c in cited)) if known), None)
    return web_label(str(item.get("url") or ""), tier, language)
