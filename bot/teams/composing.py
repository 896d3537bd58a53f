"""What a message of a conversation is answered with: the turn, and the message in which its reply is shown."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial

from bot.http.rate_limit import Limits
from bot.http.source_links import evidence_link, source_link
from bot.records import Answer, Ask, OnStage, Reply
from bot.settings.settings import Settings
from bot.stop import Stop
from bot.teams.activity import (
    actor_of,
    counted_as,
    is_personal,
    is_teams,
    question_text,
    time_of,
    user_of,
)
from bot.teams.attachments import Opened, asked_nothing, attached_to, opened
from bot.teams.extension.checked import check_card, check_text, found_of
from bot.teams.extension.knowledge import PersonsKnowledge
from bot.teams.extension.messages import MAX_MESSAGE
from bot.teams.history import ConversationHistory, Recalled
from bot.teams.ports import Json
from bot.teams.question import Asked, pointed_at
from bot.teams.responses import Responses
from bot.teams.shown.answer_card import (
    MAX_ASKED,
    Shown,
    ViewChange,
    read_change,
    read_rework,
    read_web,
)
from bot.teams.shown.render import checked_message, notice, render
from bot.turn.conversation.pasted import read_pasted
from bot.turn.conversation.small_talk import to_check
from bot.turn.entries.delivery import Deliveries, Delivery
from bot.turn.rework import offered_reworks
from bot.view.reply import view_of
from bot.wording.closest import unknown
from bot.wording.conversation.card import CardWords
from bot.wording.conversation.extension import ExtensionWords
from bot.wording.conversation.pictures import is_about_picture
from bot.wording.conversation.places import place
from bot.wording.conversation.teams import say
from bot.wording.notes import PUBLIC_ONLY
from bot.wording.refusals import language_for, spoken
from grounding.errors import AttestError, kind_and_place, kind_and_way
from grounding.query.conversation import goes_on
from grounding.records import Turn
from rai.records import Outcome

log = logging.getLogger(__name__)

GRACE_S = 10.0
"""The pipeline ends a turn at its own deadline; this much later the turn is given up from outside."""
UNSHOWN = "not_shown"
"""Why a reply was not delivered, where no status of the channel says it: it could not be put into a message."""


@dataclass(frozen=True, slots=True)
class Composed:
    """The message that answers an activity, what was asked, and the reply in it if there is one."""

    message: Json
    asked: Asked
    reply: Reply | None = None


class Composer:
    """Makes the message that answers an activity. It sends nothing and remembers nothing."""

    def __init__(
        self,
        settings: Settings,
        answer: Answer,
        *,
        history: ConversationHistory,
        deliveries: Deliveries,
        limits: Limits,
        responses: Responses,
        knowledge: PersonsKnowledge | None,
    ) -> None:
        self._settings = settings
        self._answer = answer
        self._history = history
        self._deliveries = deliveries
        self._limits = limits
        self._responses = responses
        self._knowledge = knowledge

    async def compose(
        self,
        activity: Json,
        on_stage: OnStage | None,
        kept: Recalled | None,
        *,
        counted: bool = True,
        stop: Stop | None = None,
        waiting: Sequence[Turn] = (),
    ) -> Composed:
        """The message to send, and the reply in it if there is one. `kept`: of the conversation, None where that is to be looked at; `waiting`: the turns whose answers could not be delivered yet.
        Never raises but for cancellation.
        """
        rework = read_rework(activity.get("value"))
        change = None if question_text(activity) else read_change(activity.get("value"))
        text = question_text(activity) or (change.asked if change else "") or (rework.how if rework else "")
        question = Asked(text, read_pasted(text), anew=change is not None and not goes_on(text))
        if not text and (told := await self._responses.submitted(activity)):
            return Composed(notice(told), question)
        user = user_of(activity, self._settings)
        attached = attached_to(activity)
        if not (text or attached):
            return Composed(notice(say("help", language_of(activity))), question)
        if counted and await self._limits.take(counted_as(activity, user)):
            return Composed(notice(say("too_fast", language_of(activity))), question)
        reply = None
        try:
            async with asyncio.timeout(self._settings.bounds.turn_deadline_s + GRACE_S):
                files = await opened(attached, loopback=self._settings.local_mode) if attached else Opened()
                question = replace(question, file=files.text)
                if not text:
                    return Composed(notice(asked_nothing(files, language_of(activity))), question)
                if (checked := await self._checked(activity, text)) is not None:
                    return Composed(checked, question)
                kept = kept or await self._history.kept(activity)
                history = () if question.pasted or question.anew else (*kept.turns, *waiting)
                if instead := await self._instead(activity, question, change, files):
                    return Composed(notice(instead), question)
                ask = Ask(
                    question=question.text,
                    history=history,
                    context=files.text or pointed_at(question.text, history) or None,
                    user=self._reader(activity),
                    actor=actor_of(activity, self._settings),
                    policy=self._settings.answering.policy,
                    channel=activity["channelId"],
                    conversation=activity["conversation"]["id"],
                    at=time_of(activity),
                    locale=activity.get("locale"),
                    stop=stop,
                    rework=rework,
                    web=read_web(activity.get("value")),
                    answered=kept.answered,
                )
                reply = await self._answer(ask, on_stage)
            return Composed(await self._message_of(reply, activity, question, history, files), question, reply)
        except Exception as error:  # noqa: BLE001  # whatever went wrong, the person who waits is told
            log.error("a turn ended with %s", kind_and_way(error))  # noqa: TRY400  # no customer text
            await self._deliveries.write(delivery_of(activity, reply).ended(UNSHOWN))
            return Composed(notice(say("apology", language_of(activity))), question)

    async def _message_of(
        self, reply: Reply, activity: Json, question: Asked, history: Sequence[Turn], files: Opened
    ) -> Json:
        """The message for a reply, with its card."""
        if not is_personal(activity):
            reply = replace(reply, internal_notes=())
        reader = self._reader(activity)
        language = language_for(question.text, activity.get("locale"), spoken(history))
        view = await self._in_view(reply, question, history, reader)
        shown = self._shown(reply, language, question, reader)
        told_of = view if view is None else tuple(place(name, language) for name in view)
        internal = await self._internal(reply)
        shown = replace(shown, view=told_of, internal=internal, label=self._label(internal))
        return self._render(reply, activity, question, shown, files.lines(language))

    async def _checked(self, activity: Json, text: str) -> Json | None:
        """What is found of a message behind "check this:", for all who read along; None where that is not asked for. Raises ServiceError, StoreError, WorkError."""
        wish = to_check(text, activity.get("locale")) if self._knowledge is not None else None
        if wish is None or self._knowledge is None:
            return None
        message, language = wish
        words, card = ExtensionWords(language), CardWords(language)
        actor = actor_of(activity, self._settings)
        report, passages = await self._knowledge.check(message[:MAX_MESSAGE], self._reader(activity), actor)
        found = found_of(message, report, passages, words, card)
        return checked_message(check_text(found, card), check_card(found, card), teams=is_teams(activity))

    async def _in_view(
        self, reply: Reply, question: Asked, history: Sequence[Turn], user: str | None
    ) -> Sequence[str] | None:
        """What the call is about; None where that is not known, or another answer was only made into something else."""
        made = reply.record.ask
        if self._knowledge is None or reply.intent or made is None or made.rework is not None:
            return None
        try:
            return await self._knowledge.in_view((*history, *question.told()), user)
        except AttestError as error:
            log.warning("what a call is about could not be read: %s", kind_and_place(error))
            return None

    async def _instead(self, activity: Json, question: Asked, change: ViewChange | None, files: Opened) -> str:
        """What is said where nothing can be asked: of a name that no document has, or of a picture; empty where something can."""
        user = self._reader(activity)
        if change and (strange := await self._unknown(change, user)):
            return unknown(strange, language_of(activity))
        if files.pictures and not files.text and await self._is_about_picture(question, user):
            return files.lines(language_of(activity))
        return ""

    async def _unknown(self, change: ViewChange, user: str | None) -> str:
        """What *Change* brings in that no document has, as the person typed it; empty if all is known."""
        if self._knowledge is None:
            return ""
        for name in change.came:
            if not await self._knowledge.knows(name, user):
                return name
        return ""

    async def _is_about_picture(self, question: Asked, user: str | None) -> bool:
        """Whether all that is asked stands in a picture, which nobody here can read: an answer to the words alone would be about something else."""
        if question.pasted is not None:
            return False
        named = self._knowledge is not None and bool(
            await self._knowledge.in_view((Turn("user", question.text),), user)
        )
        return is_about_picture(question.text, named=named)

    async def _internal(self, reply: Reply) -> frozenset[int]:
        """The numbers of the sources of an answer that not everyone may read."""
        if self._knowledge is None:
            return frozenset()
        own = [c for c in reply.citations if c.origin == "kb"]
        listed = await self._knowledge.restricted(c.doc_id for c in own)
        return frozenset(c.n for c in own if c.doc_id in listed)

    def _label(self, internal: Collection[int]) -> str:
        """The id of the sensitivity label that the message of an answer carries; empty for none. What rests on a source that not everyone may read has the stricter one."""
        bot = self._settings.bot
        return (bot.restricted_label if internal else None) or bot.label or ""

    def _reader(self, activity: Json) -> str | None:
        """With whose rights an answer is made: in a group everyone reads it, so only what everyone may see goes into it."""
        return user_of(activity, self._settings) if is_personal(activity) else None

    def _render(self, reply: Reply, activity: Json, question: Asked, shown: Shown, above: str = "") -> Json:
        asked = question.completed if is_personal(activity) else None  # Teams shows no buttons of this kind in a group
        if not is_personal(activity) and reply.outcome is Outcome.INSUFFICIENT:
            # what is missing may be there for fewer
            told = (*reply.record.notes, PUBLIC_ONLY)
            reply = replace(reply, record=replace(reply.record, notes=tuple(dict.fromkeys(told))))
        signed = partial(source_link, self._settings, reply.entry_id, user=self._reader(activity))
        source = signed if self._settings.serving.public_url and reply.entry_id else None
        return render(
            reply,
            teams=is_teams(activity),
            source=source,
            question=asked,
            above=above,
            shown=shown,
        )

    def _shown(self, reply: Reply, language: str, question: Asked, user: str | None) -> Shown:
        """What the card below the answer is made of."""
        made = reply.record.ask.rework if reply.record.ask else None
        asked = question.completed if len(question.completed) <= MAX_ASKED and not made else ""
        view = view_of(reply)
        found = view.asked_back
        return Shown(
            CardWords(language),
            asked=asked,
            dates={e.n: (e.passage.updated or "")[:10] for e in reply.record.evidence},
            choices=found.choices(asked)[:3] if found and asked else (),
            reworks=offered_reworks(reply.answer, drafts=view.drafted),
            language=language,
            web=self._settings.web.kind != "off" and all(c.step != "web" for c in reply.record.found.corrections),
            evidence=evidence_link(self._settings, reply.entry_id, user),
        )


def language_of(activity: Json) -> str:
    """The language of notices for an activity: that of what it says, else the client's."""
    return language_for(question_text(activity), activity.get("locale"))


def delivery_of(activity: Json, reply: Reply | None) -> Delivery:
    """Of the reply to this activity, before anything became of it; without an entry there is none to tell of."""
    return Delivery(reply.entry_id if reply else "", activity["channelId"])
