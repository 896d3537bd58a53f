"""What people say of answers: the thumbs below one, a gap in the knowledge base, a refusal that was wrong. Each is an entry of the ledger, one however often it is
delivered or pressed.
"""

from __future__ import annotations

from dataclasses import replace

from bot.http.rate_limit import CHECK_COST, Limits
from bot.http.source_links import evidence_link
from bot.settings.settings import Settings
from bot.teams.activity import (
    FEEDBACK_INVOKE,
    actor_of,
    counted_as,
    is_personal,
    question_text,
    read_feedback,
    user_of,
)
from bot.teams.guard import RefusedRequest
from bot.teams.history import ConversationHistory
from bot.teams.inbox import ActivityKey, Inbox, key_of
from bot.teams.ports import Json
from bot.teams.shown.answer_card import MAX_ASKED, Gap, Shown, answer_card, dates_in, in_its_place, read_gap
from bot.teams.shown.refusal_card import ACTION_INVOKE, Pressed, declined, read_pressed, thanked, thanks
from bot.turn.entries.disputes import Reporter, report
from bot.view.reply import reply_view
from bot.wording.conversation.card import CardWords
from bot.wording.conversation.teams import say
from bot.wording.refusals import language_for
from grounding.errors import AttestError, InputError
from grounding.records import plain
from rai.entry_schema import NAME, SCHEMA
from rai.ports import Ledger
from rai.records import Entry


class Responses:
    """Takes what people say of answers."""

    def __init__(
        self, settings: Settings, ledger: Ledger, inbox: Inbox, history: ConversationHistory, *, limits: Limits
    ) -> None:
        self._settings, self._ledger, self._inbox, self._history = settings, ledger, inbox, history
        self._limits = limits

    async def invoke(self, activity: Json) -> Json | None:
        """The body of the answer to an invoke that says something of an answer; None for every other. Raises RefusedRequest, StoreError."""
        name, value = activity.get("name"), activity.get("value")
        if name not in (ACTION_INVOKE, FEEDBACK_INVOKE):
            return None
        user = user_of(activity, self._settings)
        if await self._limits.take(f"check {counted_as(activity, user)}", CHECK_COST):
            raise RefusedRequest(429, "too many requests")
        if name == ACTION_INVOKE and (pressed := read_pressed(value)):
            return await self._pressed(activity, pressed)
        if name == ACTION_INVOKE and (gap := read_gap(value)):
            entry = await self._gap(activity, gap)
            card = self._card(entry, gap, activity) if entry else None
            return in_its_place(card["content"]) if card else declined(say("apology", gap.language))
        if name != FEEDBACK_INVOKE:
            return None
        feedback = read_feedback(value)
        if feedback is None:
            raise RefusedRequest(400, "value")
        message = activity.get("replyToId")
        about = await (self._history.entry_of(activity, message) if message else self._history.last_entry(activity))
        said = self._feedback(activity, about, feedback.reaction, feedback.text, assumed=message is None)
        await self._record_once(key_of(activity), said)
        return {}  # Teams takes a body with anything in it for an error

    async def submitted(self, activity: Json) -> str:
        """What to say to a message that a channel made of such a button; empty if it is none. Raises StoreError."""
        value = activity.get("value")
        if (gap := read_gap(value)) is not None:
            return (
                CardWords(gap.language)("gap_told") if await self._gap(activity, gap) else say("apology", gap.language)
            )
        if (pressed := read_pressed(value)) is None:
            return ""
        try:
            await report(self._ledger, pressed.entry_id, self._reporter(activity), pressed.comment)
        except InputError as error:
            return str(error)
        except AttestError:
            return say("apology", language_for(question_text(activity), activity.get("locale")))
        return thanks(pressed)

    async def report_gap(self, activity: Json, entry_id: str) -> None:
        """Record that no source answers what was asked in this turn. Raises StoreError."""
        key = replace(key_of(activity), activity=f"gap {entry_id}")
        await self._record_once(key, self._feedback(activity, entry_id, "gap"))

    async def _pressed(self, activity: Json, pressed: Pressed) -> Json:
        try:
            await report(self._ledger, pressed.entry_id, self._reporter(activity), pressed.comment)
        except InputError as error:
            return declined(str(error))
        return thanked(pressed)

    async def _gap(self, activity: Json, gap: Gap) -> Entry | None:
        """Record a gap; the entry of its turn, None where that was not asked in this conversation."""
        entry = await self._ledger.get(gap.entry_id)
        ask = entry.body.get("ask") if entry is not None and entry.kind == "turn" else None
        if entry is None or not isinstance(ask, dict) or ask.get("conversation") != activity["conversation"]["id"]:
            return None
        await self.report_gap(activity, gap.entry_id)
        return entry

    def _card(self, entry: Entry, gap: Gap, activity: Json) -> Json | None:
        """The card of the answer once more, which says that the gap is reported."""
        asked, words = str(entry.body["ask"].get("question") or ""), CardWords(gap.language)
        user = user_of(activity, self._settings) if is_personal(activity) else None
        evidence = evidence_link(self._settings, entry.entry_id, user)
        reply = entry.body.get("reply") or {}
        web = self._settings.web.kind != "off" and all(c.get("step") != "web" for c in reply.get("corrections") or ())
        shown = Shown(
            words,
            asked[:MAX_ASKED],
            evidence,
            dates_in(entry.body),
            web=web,
            gap_told=words("gap_told"),
            language=gap.language,
        )
        return answer_card(reply_view({**reply, "entry_id": entry.entry_id}, words.language), shown)

    async def _record_once(self, key: ActivityKey, body: Json) -> None:
        if await self._inbox.once(key):
            try:
                await self._ledger.append("feedback", body)
            except AttestError:
                await self._inbox.forget(key)
                raise

    def _feedback(
        self, activity: Json, entry_id: str | None, reaction: str, text: str = "", *, assumed: bool = False
    ) -> Json:
        """`assumed`: the channel does not say which message is meant (the Agents Playground), so it is taken for the last one."""
        return {
            NAME: SCHEMA,
            "entry_id": entry_id,
            "assumed": assumed,
            "reaction": reaction,
            "text": text,
            "user": user_of(activity, self._settings),
            "actor": plain(actor_of(activity, self._settings)),
            "channel": activity["channelId"],
            "message": activity.get("replyToId"),
        }

    def _reporter(self, activity: Json) -> Reporter:
        return Reporter(
            user_of(activity, self._settings),
            activity["channelId"],
            activity["conversation"]["id"],
            actor_of(activity, self._settings),
        )
