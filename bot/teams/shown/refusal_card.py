"""The card below a refusal, with which a wrong one is reported, and what comes back when it is pressed. Pure functions on JSON dicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bot.teams.ports import Json
from bot.turn.entries.disputes import WORDS_MAX
from bot.view.reply import ReplyView
from bot.wording.refusals import FALLBACK, texts

ACTION_INVOKE = "adaptiveCard/action"
VERB = "report_refusal"
CARD = "application/vnd.microsoft.card.adaptive"
ERROR = "application/vnd.microsoft.error"
MAX_COMMENT = 500


@dataclass(frozen=True, slots=True)
class Pressed:
    """The button was pressed: on the refusal of which entry, with which words, in which language."""

    entry_id: str
    comment: str
    language: str


def report_card(reply: ReplyView) -> list[Json]:
    """The attachments of a refusal: one card with a button. Where `Action.Execute` is unknown, the same as `Action.Submit`."""
    if not reply.refusal_language or not reply.entry_id:
        return []
    t = texts()[reply.refusal_language]
    data = {"verb": VERB, "entry_id": reply.entry_id, "language": reply.refusal_language}
    words = {"type": "Input.Text", "id": "comment", "label": t.comment, "isMultiline": True, "maxLength": MAX_COMMENT}
    submit = {"type": "Action.Submit", "title": t.report, "data": data}
    button = {"type": "Action.Execute", "title": t.report, "verb": VERB, "data": data, "fallback": submit}
    return [{"contentType": CARD, "content": _card([words], [button])}]


def read_pressed(value: Any) -> Pressed | None:
    """What the value of a card's invoke, or of the message of `Action.Submit`, says; None if it is something else."""
    action = value.get("action") if isinstance(value, dict) else None
    data = action.get("data") if isinstance(action, dict) else value
    verb = action.get("verb") if isinstance(action, dict) else None
    if not isinstance(data, dict) or VERB not in (verb, data.get("verb")) or not isinstance(data.get("entry_id"), str):
        return None
    comment, language = data.get("comment"), data.get("language")
    return Pressed(
        data["entry_id"],
        comment[:WORDS_MAX] if isinstance(comment, str) else "",
        language if isinstance(language, str) and language in texts() else FALLBACK,
    )


def thanks(pressed: Pressed) -> str:
    """What the person reads afterwards."""
    return texts()[pressed.language].reported


def thanked(pressed: Pressed) -> Json:
    """The answer to the invoke: the card that takes the place of the button."""
    said = {"type": "TextBlock", "text": thanks(pressed), "wrap": True}
    return {"statusCode": 200, "type": CARD, "value": _card([said], [])}


def declined(message: str) -> Json:
    """The answer to an invoke that cannot be done."""
    return {"statusCode": 400, "type": ERROR, "value": {"code": "400", "message": message}}


def _card(body: list[Json], actions: list[Json]) -> Json:
    card: Json = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
    }
    return {**card, "body": body, **({"actions": actions} if actions else {})}
