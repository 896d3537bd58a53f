"""Reading and addressing activities. Pure functions on JSON dicts; nothing here sends."""

from __future__ import annotations

import html
import json
import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from bot.records import Actor
from bot.settings.settings import Settings
from bot.teams.ports import Json

FEEDBACK_INVOKE = "message/submitAction"
MAX_FEEDBACK = 2000
_LINE_END = re.compile(r"<br\b[^<>]{0,200}>|</(?:p|div|li|tr|blockquote|pre|h[1-6])\s*>", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]{0,2000}>")
_THREAD = re.compile(r";messageid=([^;]+)$")


@dataclass(frozen=True, slots=True)
class Feedback:
    """What a person said about an answer. `text` may be empty; it is cut at 2,000 characters."""

    reaction: Literal["like", "dislike"]
    text: str


def is_teams(activity: Json) -> bool:
    """True on Teams itself, where entities, labels and streaming mean something."""
    return bool(activity["channelId"] == "msteams")


def is_personal(activity: Json) -> bool:
    """True in a one-to-one chat."""
    kind = activity["conversation"].get("conversationType")
    return kind == "personal" or (kind is None and not activity["conversation"].get("isGroup"))


def wants_replies_in_body(activity: Json) -> bool:
    """True if the caller waits for the answer in the HTTP response."""
    return activity.get("deliveryMode") == "expectReplies"


def counted_as(activity: Json, user: str | None) -> str:
    """As whom it is counted how often somebody asks. `user`: what `user_of` says."""
    return f"teams {user or activity['from']['id']}"


def user_of(activity: Json, settings: Settings) -> str | None:
    """Who asks. Only the directory's object id counts; in local mode a developer may act as any user."""
    sender = activity["from"]
    who = sender.get("aadObjectId")
    if who:
        return str(who)
    return str(sender["id"]) if settings.local_mode else None


def actor_of(activity: Json, settings: Settings) -> Actor:
    """Who asks, for the record: in a group too, and with the channel's own id where the directory's is not told."""
    sender = activity["from"]
    known = sender.get("aadObjectId")
    how = "local" if settings.local_mode else "aad" if known else "channel"
    return Actor(str(known or sender["id"]), how, tenant_of(activity))


def tenant_of(activity: Json) -> str | None:
    """The tenant that an activity names, None if it names none."""
    data = activity.get("channelData")
    told = data.get("tenant") if isinstance(data, dict) else None
    named = activity["conversation"].get("tenantId") or (told.get("id") if isinstance(told, dict) else None)
    return named if isinstance(named, str) else None


def time_of(activity: Json) -> datetime | None:
    """When a message was sent, in the sender's zone where the channel says so."""
    said = activity.get("localTimestamp") or activity.get("timestamp")
    with suppress(ValueError, TypeError):
        return datetime.fromisoformat(said) if said else None
    return None


def question_text(activity: Json) -> str:
    """The words of a message, without the mention of the bot that a group chat needs."""
    text = activity.get("text") or ""
    bot = activity["recipient"]["id"]
    for entity in activity.get("entities") or ():
        mentioned = entity.get("mentioned")
        tag = entity.get("text")
        if entity.get("type") == "mention" and isinstance(mentioned, dict) and isinstance(tag, str) and tag:
            if mentioned.get("id") == bot:
                text = text.replace(tag, " ")
            else:
                text = text.replace(tag, re.sub(r"</?at[^>]*>", "", tag))
    if is_teams(activity):
        text = html.unescape(text)  # Teams writes & and < of a plain text as entities
    text = text.replace("\xa0", " ").replace("\r\n", "\n").replace("\r", "\n")
    text = re.sub(r"[ \t]+", " ", text).strip()
    return text if "\n" in text else _in_lines(text, activity)


def _in_lines(text: str, activity: Json) -> str:
    """The text with the line breaks that its HTML has: of a pasted conversation some clients leave none in the text itself."""
    for item in activity.get("attachments") or ():
        content = item.get("content")
        if item.get("contentType") != "text/html" or not isinstance(content, str):
            continue
        told = re.sub(r"<at\b[^<>]{0,200}>[^<>]{0,200}</at>", " ", content)
        told = html.unescape(_TAG.sub("", _LINE_END.sub("\n", told))).replace("\xa0", " ")
        lines = [" ".join(line.split()) for line in told.split("\n")]
        if " ".join(" ".join(lines).split()) == " ".join(text.split()):
            return "\n".join(line for line in lines if line)
    return text


def mentions_bot(activity: Json) -> bool:
    """True if the message speaks to the bot by name."""
    mentioned = [e.get("mentioned") for e in activity.get("entities") or () if e.get("type") == "mention"]
    return any(isinstance(who, dict) and who.get("id") == activity["recipient"]["id"] for who in mentioned)


def addressed(inbound: Json, outgoing: Json, *, reply: bool = True) -> Json:
    """`outgoing` with sender, recipient and place filled in so that it answers `inbound`."""
    activity = {
        **outgoing,
        "channelId": inbound["channelId"],
        "serviceUrl": inbound["serviceUrl"],
        "conversation": inbound["conversation"],
        "from": inbound["recipient"],
        "recipient": inbound["from"],
    }
    if inbound.get("locale"):
        activity["locale"] = inbound["locale"]
    if reply and inbound.get("id") and inbound["type"] in ("message", "messageUpdate"):
        activity["replyToId"] = _thread_root(inbound) or inbound["id"]
    return activity


def _thread_root(inbound: Json) -> str | None:
    """The message that a channel's thread hangs on: Teams does not show a reply to one of the thread's own replies."""
    root = _THREAD.search(inbound["conversation"]["id"])
    return root[1] if root else None


def read_feedback(value: Any) -> Feedback | None:
    """The feedback in the value of a `message/submitAction` invoke, or None if it is something else.

    Teams sends the words as a JSON string of an object, the Agents Playground as an object or a bare string.
    """
    action = value.get("actionValue") if isinstance(value, dict) and value.get("actionName") == "feedback" else None
    if not isinstance(action, dict) or action.get("reaction") not in ("like", "dislike"):
        return None
    return Feedback(action["reaction"], _feedback_text(action.get("feedback"))[:MAX_FEEDBACK])


def _feedback_text(given: Any) -> str:
    if isinstance(given, str):
        try:
            parsed = json.loads(given)
        except (ValueError, RecursionError):
            return given
        return _feedback_text(parsed) if isinstance(parsed, dict) else given
    if isinstance(given, dict):
        for name in ("feedbackText", "text"):
            if isinstance(given.get(name), str):
                return str(given[name])
    return ""
