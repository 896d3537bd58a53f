"""What Teams refuses in an outbound activity, checked before it is sent.

Source: Microsoft's pages on AI-generated bot messages, sensitivity labels, streaming and message formats (July 2026).
Lengths are in UTF-16 code units, as the client counts them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from bot.teams.ports import Json

MAX_CITATIONS = 20
MAX_NAME = 80
MAX_ABSTRACT = 160
MAX_KEYWORDS = 3
MAX_KEYWORD = 28
MAX_INFORMATIVE = 1000
MAX_BYTES = 28 * 1024
"""Far below the documented 100 KB: older clients and gateways refuse from 28 KB on."""
ICONS = frozenset(
    {
        "Microsoft Word",
        "Microsoft Excel",
        "Microsoft PowerPoint",
        "Microsoft OneNote",
        "Microsoft SharePoint",
        "Microsoft Visio",
        "Microsoft Loop",
        "Microsoft Whiteboard",
        "Adobe Illustrator",
        "Adobe Photoshop",
        "Adobe InDesign",
        "Adobe Flash",
        "Sketch",
        "Source code",
        "Image",
        "GIF",
        "Video",
        "Sound",
        "ZIP",
        "Text",
        "PDF",
    }
)
CARD_VERSIONS = frozenset({"1.2", "1.3", "1.4", "1.5"})
MAX_ACTIONS = 6
"""Buttons of one row; Teams drops what is beyond."""
CARD_PARTS = frozenset(
    {
        "ActionSet",
        "TextBlock",
        "RichTextBlock",
        "TextRun",
        "Container",
        "ColumnSet",
        "Column",
        "Input.Text",
        "Action.OpenUrl",
        "Action.Submit",
        "Action.Execute",
        "Action.ToggleVisibility",
    }
)
MESSAGE = "https://schema.org/Message"
MARKER = re.compile(r"\[([1-9]\d{0,2})\]")


def utf16(text: str) -> int:
    """Length of `text` in UTF-16 code units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def size(activity: Json) -> int:
    """Bytes of the activity as JSON, counted as UTF-16 as Teams does."""
    return 2 * utf16(json.dumps(activity, ensure_ascii=False))


def check_activity(activity: Json) -> list[str]:
    """Every rule of Teams that `activity` breaks, as short English lines; empty means it can be sent."""
    problems: list[str] = []
    if activity.get("type") not in ("message", "typing"):
        problems.append("type is neither message nor typing")
    if size(activity) > MAX_BYTES:
        problems.append(f"larger than {MAX_BYTES} bytes")
    entities = activity.get("entities") or []
    roots = [e for e in entities if e.get("type") == MESSAGE]
    if len(roots) > 1:
        problems.append("more than one root Message entity")
    for root in roots:
        problems += _check_message(root, str(activity.get("text") or ""))
    for info in (e for e in entities if e.get("type") == "streaminfo"):
        problems += _check_stream(info, activity)
    if activity.get("suggestedActions") and activity.get("attachments"):
        problems.append("suggested actions beside attachments")
    for attached in activity.get("attachments") or ():
        problems += check_card(attached.get("content"))
    return problems + _check_feedback_loop(activity)


def check_card(card: Any) -> list[str]:
    """Every rule of Teams that an Adaptive Card breaks: its version, and the elements and actions that all clients of Teams show."""
    if not isinstance(card, dict) or card.get("type") != "AdaptiveCard":
        return ["attachment is no Adaptive Card"]
    problems = [] if card.get("version") in CARD_VERSIONS else ["card of a version that Teams does not show"]
    parts = list(_parts([*(card.get("body") or ()), *(card.get("actions") or ())]))
    problems += [f"card with {part.get('type')}" for part in parts if part.get("type") not in CARD_PARTS]
    ids = [part["id"] for part in parts if "id" in part]
    problems += ["ids of a card are not unique"] if len(set(ids)) != len(ids) else []
    known = set(ids)
    if any(len(part.get("actions") or ()) > MAX_ACTIONS for part in (card, *parts)):
        problems.append(f"more than {MAX_ACTIONS} buttons in a row")
    for part in parts:
        targets = [t["elementId"] if isinstance(t, dict) else t for t in part.get("targetElements") or ()]
        problems += [f"card toggles {target}, which it has not" for target in targets if target not in known]
        if part.get("type") == "Action.OpenUrl" and not _is_web(part.get("url")):
            problems.append("card opens what is not http or https")
    return problems


def _parts(items: Any) -> Iterator[Json]:
    for item in items:
        yield item
        for name in ("items", "columns", "inlines", "actions"):
            yield from _parts(item.get(name) or ())


def _check_message(root: Json, text: str) -> list[str]:
    problems = []
    if root.get("@type") != "Message" or root.get("@context") != "https://schema.org":
        problems.append("root entity without @type or @context")
    citations = root.get("citation") or []
    if len(citations) > MAX_CITATIONS:
        problems.append(f"more than {MAX_CITATIONS} citations")
    positions = [c.get("position") for c in citations]
    if len(set(positions)) != len(positions):
        problems.append("citation positions are not unique")
    shown = {int(n) for n in MARKER.findall(text)}
    label = (root.get("usageInfo") or {}).get("@id")
    for citation in citations:
        problems += _check_citation(citation, shown, label)
    return problems


def _check_citation(citation: Json, shown: set[int], label: Any) -> list[str]:
    n = citation.get("position")
    look = citation.get("appearance") or {}
    keywords = look.get("keywords") or []
    used = (look.get("usageInfo") or {}).get("@id")
    rules = [
        (isinstance(n, int) and n > 0, "position is not a positive number"),
        (n in shown, "its marker does not occur in the text"),
        (citation.get("@type") == "Claim" and look.get("@type") == "DigitalDocument", "wrong @type"),
        (_between(look.get("name"), MAX_NAME), f"name is empty or longer than {MAX_NAME}"),
        (_between(look.get("abstract"), MAX_ABSTRACT), f"abstract is empty or longer than {MAX_ABSTRACT}"),
        (len(keywords) <= MAX_KEYWORDS, f"more than {MAX_KEYWORDS} keywords"),
        (all(_between(k, MAX_KEYWORD) for k in keywords), f"a keyword is empty or longer than {MAX_KEYWORD}"),
        ("url" not in look or _is_web(look["url"]), "url is not http or https"),
        ("image" not in look or look["image"].get("name") in ICONS, "unknown icon"),
        (used is None or used == label, "sensitivity label differs from the message's"),
    ]
    return [f"citation {n}: {problem}" for holds, problem in rules if not holds]


def _check_stream(info: Json, activity: Json) -> list[str]:
    kind = info.get("streamType")
    sequence = info.get("streamSequence")
    text = str(activity.get("text") or "")
    final = kind == "final"
    rules = [
        (kind in ("informative", "streaming", "final"), "unknown stream type"),
        (activity.get("type") == ("message" if final else "typing"), "stream type does not fit the activity type"),
        (sequence is None if final else isinstance(sequence, int) and sequence > 0, "wrong stream sequence"),
        (bool(info.get("streamId")) or (not final and sequence == 1), "stream id is missing"),
        (bool(text.strip()), "streamed activity without text"),
        (kind != "informative" or utf16(text) <= MAX_INFORMATIVE, f"informative text over {MAX_INFORMATIVE}"),
        (final or not activity.get("attachments"), "attachments before the end of the stream"),
    ]
    return [f"stream: {problem}" for holds, problem in rules if not holds]


def _check_feedback_loop(activity: Json) -> list[str]:
    data = activity.get("channelData") or {}
    loop = data.get("feedbackLoop")
    if loop is None:
        return []
    problems = [] if activity.get("type") == "message" else ["feedback loop on a typing activity"]
    if loop.get("type") not in ("default", "custom"):
        problems.append("feedback loop of unknown type")
    if "feedbackLoopEnabled" in data:
        problems.append("feedback loop given twice")
    return problems


def _between(text: Any, limit: int) -> bool:
    return isinstance(text, str) and bool(text.strip()) and utf16(text) <= limit


def _is_web(url: Any) -> bool:
    try:
        parts = urlsplit(url)
    except (ValueError, TypeError, AttributeError):
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc)
