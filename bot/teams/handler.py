"""What the bot does with a checked, authenticated activity: answer it, welcome, take feedback."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from bot.http.rate_limit import Limits
from bot.http.source_links import evidence_link, source_link
from bot.records import Answer, Ask, OnStage, Reply
from bot.settings.settings import Settings
from bot.stop import Stop
from bot.teams.activity import (
    actor_of,
    addressed,
    counted_as,
    is_personal,
    is_teams,
    mentions_bot,
    question_text,
    time_of,
    user_of,
    wants_replies_in_body,
)
from bot.teams.answer_card import (
    MAX_ASKED,
    Shown,
    ViewChange,
    read_change,
    read_rework,
    read_web,
)
from bot.teams.attachments import Opened, asked_nothing, attached_to, opened
from bot.teams.dispatch import STOPPED, TAKEN_OVER, Dispatch, StopPressed
from bot.teams.extension.checked import check_card, check_text, found_of
from bot.teams.extension.knowledge import PersonsKnowledge
from bot.teams.extension.messages import MAX_MESSAGE, MessageExtension
from bot.teams.history import Before, ConversationHistory, Recalled
from bot.teams.inbox import DELETED, EDITED, RELEASED_S, Abandoned, ActivityKey, Attempt, Inbox, key_of
from bot.teams.outbox import Outbox
from bot.teams.ports import Json, SendFailed
from bot.teams.progress import finish, progress
from bot.teams.render import checked_message, notice, render
from bot.teams.responses import Responses
from bot.teams.undelivered import Undelivered, Waiting
from bot.teams.worker import Busy, Job, Worker
from bot.turn.conversation.pasted import Pasted, read_pasted
from bot.turn.conversation.small_talk import to_check
from bot.turn.entries.delivery import Deliveries, Delivery
from bot.turn.rework import offered_reworks
from bot.view.reply import DELIVERED, view_of
from bot.wording.card import CardWords
from bot.wording.closest import unknown
from bot.wording.extension import ExtensionWords
from bot.wording.notes import PUBLIC_ONLY
from bot.wording.pictures import asks_about_unsaid, is_about_picture
from bot.wording.places import place
from bot.wording.refusals import language_for, spoken
from bot.wording.teams import say, welcome
from grounding.errors import AttestError, StoreError, kind_and_place, kind_and_way
from grounding.query.conversation import goes_on
from grounding.records import Turn
from rai.ports import Ledger
from rai.records import Outcome

log = logging.getLogger(__name__)

GRACE_S = 10.0
"""The pipeline ends a turn at its own deadline; this much later the turn is given up from outside."""
ORDER_S = 0.1
"""Seconds between two looks whether the message before one is done that another process has."""
MAX_DEATHS = 3
"""An activity may be what ends its process, and with it whatever waits there: so many are given for one."""
_UNKNOWN = Before(earlier=False, waits=True, kept=None)
"""Where nobody could look at what stands before a message, or nothing follows from it."""
FORGOTTEN = frozenset({Outcome.BLOCKED})
"""Outcomes after which nothing is kept of the turn: what the screen blocked is no history for a model. What failed was asked, and goes on."""

LATE, UNSHOWN = "too_late", "not_shown"
"""Why a reply was not delivered, where no status of the channel says it: nobody waited any more; it could not be put into a message."""


@dataclass(frozen=True, slots=True)
class Result:
    """The HTTP answer to an activity; `body` None is an empty one. `delivery`: of the reply in the body, to be told when it is sent."""

    status: int
    body: Json | None = None
    delivery: Delivery | None = None


@dataclass(frozen=True, slots=True)
class _Question:
    """What is asked. `anew`: *Change* asks it of something else, whole, so that nothing said before belongs to it; `file`: what hangs on the message says."""

    text: str
    pasted: Pasted | None
    anew: bool = False
    file: str = ""

    @property
    def asked(self) -> str:
        """What a button completes: of a pasted conversation the question in it."""
        return self.pasted.question if self.pasted else self.text

    def told(self) -> tuple[Turn, ...]:
        """All that the message says: what a file says is said by whoever sent it, before what they ask."""
        return (*([Turn("customer", self.file)] if self.file else ()), *self.turns())

    def turns(self) -> tuple[Turn, ...]:
        """The turns of the conversation that later questions are read with."""
        if self.pasted is None:
            return (Turn("user", self.text),)
        return (*self.pasted.history, Turn("customer", self.pasted.question))


class ActivityHandler:
    """The bot's behaviour. `working` are the activities that this process has in hand, each with the attempt that it is."""

    def __init__(
        self,
        settings: Settings,
        answer: Answer,
        ledger: Ledger,
        *,
        inbox: Inbox,
        history: ConversationHistory,
        outbox: Outbox,
        undelivered: Undelivered,
        deliveries: Deliveries,
        worker: Worker,
        limits: Limits,
        knowledge: PersonsKnowledge | None = None,
    ) -> None:
        self._settings = settings
        self._answer = answer
        self._inbox = inbox
        self._history = history
        self._outbox = outbox
        self._deliveries = deliveries
        self._worker = worker
        self._undelivered = undelivered
        self._dispatch = Dispatch(outbox, undelivered, history, deliveries, _never_arrived)
        self._limits = limits
        self._stops: dict[ActivityKey, Stop] = {}
        self._knowledge = knowledge
        self._responses = Responses(settings, ledger, inbox, history)
        self.extension = (
            MessageExtension(settings, knowledge, answer, ledger, limits, report_gap=self._responses.report_gap)
            if knowledge
            else None
        )
        self.working: dict[ActivityKey, int] = {}
        self._unended: dict[ActivityKey, int] = {}

    async def receive(self, activity: Json) -> Result:
        """Take an activity and say at once how. Raises Busy, StoreError, RefusedRequest."""
        kind = activity["type"]
        if kind == "invoke":
            return await self._invoke(activity)
        if kind == "message":
            return await self._message(activity)
        if kind == "messageUpdate":
            return await self._edited(activity)
        if kind == "messageDelete":
            await self._deleted(activity)
        if kind in ("conversationUpdate", "installationUpdate"):
            self._worker.submit(_line(activity), lambda: self._arrive(activity))
        return Result(202)

    async def resume(self, found: Abandoned) -> None:
        """Go on with an activity whose process is gone, or apologise if it is old or several processes died with it."""
        if "type" not in found.activity:  # left by an older program, which took so what it did at once
            await self._inbox.done(found.key, found.number)
            return
        fresh = found.age_s <= RELEASED_S and found.deaths < MAX_DEATHS
        self._submit(found.activity, found.key, attempt=found.number, apologise=not fresh)

    async def end_rest(self) -> None:
        """Store the end of what was done while the state could not be written. Until then it is held, so that nobody does it again. Raises StoreError."""
        for key, attempt in list(self._unended.items()):
            await self._inbox.done(key, attempt)
            del self._unended[key]
            self._let_go(key)

    async def deliver_waiting(self) -> None:
        """Try once more what the channel could not be given. Raises Busy, StoreError."""
        for waiting in await self._undelivered.claim_due():
            self._worker.submit(_line(waiting.inbound), partial(self._again, waiting))

    async def _again(self, waiting: Waiting) -> None:
        await self._dispatch.again(waiting)

    async def _edited(self, activity: Json) -> Result:
        """A message was written anew: what was said of it is forgotten, and it is answered as it reads now."""
        self._worker.check()
        asked = key_of(activity)
        if not (await self._inbox.knows(asked) or is_personal(activity) or mentions_bot(activity)):
            return Result(202)
        key = replace(asked, activity=f"{asked.activity}{EDITED}{_version(activity)}")
        if await self._inbox.take(key, activity):
            await self._forget_message(activity, key.activity)
            try:
                self._submit(activity, key)
            except Busy:
                await self._inbox.forget(key)
                raise
        return Result(202)

    async def _deleted(self, activity: Json) -> None:
        """A message was taken back: what was said of it is forgotten now, and once more behind the turn that may be about to be remembered, whichever process has that."""
        await self._forget_message(activity)
        asked = key_of(activity)
        key = replace(asked, activity=f"{DELETED}{asked.activity}")
        if await self._inbox.take(key, activity):
            self._submit(activity, key)

    async def _forget_message(self, activity: Json, version: str = "") -> None:
        """End the turn of a message, whichever process has it, and forget what was said of it; the ledger keeps its entry. `version`: the edited form that is answered in its place."""
        asked = key_of(activity)
        await self._inbox.take_back(asked, version)
        for key in list(self.working):
            if key.activity != version and replace(key, activity=key.activity.partition(" ")[0]) == asked:
                self._stops.setdefault(key, Stop()).press()
        await self._history.forget_message(activity)
        await self._undelivered.forget(activity, asked.activity)

    async def _message(self, activity: Json) -> Result:
        self._worker.check()
        key = key_of(activity)
        in_body = wants_replies_in_body(activity)
        if not await self._inbox.take(key, activity, left_to_others=not in_body):
            return Result(200, {"activities": []}) if in_body else Result(202)
        try:
            if in_body:
                return await self._answer_in_body(activity, key)
            self._submit(activity, key)
        except Busy:
            await self._inbox.forget(key)
            raise
        return Result(202)

    def _submit(self, activity: Json, key: ActivityKey, *, attempt: int = 1, apologise: bool = False) -> None:
        async def job() -> None:
            before = _UNKNOWN if key in self._stops else await self._before(activity, key, job)
            if before is None:
                return
            try:
                if activity["type"] == "messageDelete":
                    await self._history.forget_message(activity)
                elif apologise:
                    await self._dispatch.say(activity, notice(say("restarted", _language(activity))))
                elif key in self._stops:  # taken back before its turn came
                    pass
                elif not await self._converse(activity, Attempt(key, attempt), before):
                    self._let_go(key)
                    return
            except SendFailed as error:
                log.error("an answer could not be delivered: %s", error)  # noqa: TRY400  # one line is enough
            except Exception as error:  # noqa: BLE001  # whatever went wrong, the person who waits is told
                log.error("a message ended with %s", kind_and_way(error))  # noqa: TRY400  # no customer text
                await self._apologise(activity, Attempt(key, attempt))
            await self._finish(key, attempt)

        self._worker.submit(_line(activity), job)
        self.working[key] = attempt

    async def _before(self, activity: Json, key: ActivityKey, job: Job) -> Before | None:
        """What stands before a message. None if one before it is still worked on, here or by another process; `job` then comes again soon, behind the others of its line."""
        try:
            earlier, waits = self._inbox.earlier(key), self._undelivered.waits(activity)
            before = await self._history.before(activity, earlier=earlier, waits=waits)
        except Exception as error:  # noqa: BLE001  # an answer out of order is better than none
            log.error("the order of a conversation cannot be known: %s", kind_and_place(error))  # noqa: TRY400  # no customer text
            return _UNKNOWN
        if not before.earlier:
            return before
        await asyncio.sleep(ORDER_S)
        self._worker.again(_line(activity), job)
        return None

    async def _apologise(self, activity: Json, held: Attempt) -> None:
        with suppress(Exception):  # an apology too many is better than silence
            if not await self._inbox.holds(held):
                return
        try:
            await self._dispatch.say(activity, notice(say("apology", _language(activity))))
        except Exception as error:  # noqa: BLE001  # the channel may be what is broken
            log.error("an apology could not be delivered: %s", kind_and_place(error))  # noqa: TRY400  # no customer text

    async def _finish(self, key: ActivityKey, attempt: int) -> None:
        try:
            await self._inbox.done(key, attempt)
        except Exception as error:  # noqa: BLE001  # it is done, and must not be done again
            log.error("the end of a message is not stored yet: %s", kind_and_place(error))  # noqa: TRY400  # no customer text
            self._unended[key] = attempt
            return
        self._let_go(key)

    def _let_go(self, key: ActivityKey) -> None:
        self.working.pop(key, None)
        self._stops.pop(key, None)

    async def _answer_in_body(self, activity: Json, key: ActivityKey) -> Result:
        body: asyncio.Future[tuple[Json, Delivery | None]] = asyncio.get_running_loop().create_future()

        async def job() -> None:
            before = await self._before(activity, key, job)
            if before is None:
                return
            try:
                message, question, reply = await self._compose(activity, None, before.kept)
                delivery = _delivery(activity, reply)
                if body.done():
                    await self._deliveries.write(delivery.ended(LATE))
                else:
                    body.set_result((addressed(activity, message), delivery))
                await self._keep(activity, question, reply, Attempt(key, 1))
            except Exception as error:  # noqa: BLE001  # as above
                log.error("a message ended with %s", kind_and_way(error))  # noqa: TRY400  # no customer text
                if not body.done():
                    body.set_result((addressed(activity, notice(say("apology", _language(activity)))), None))
            await self._finish(key, 1)

        self._worker.submit(_line(activity), job)
        self.working[key] = 1
        async with asyncio.timeout(2 * (self._settings.bounds.turn_deadline_s + GRACE_S)):
            message, delivery = await body
            return Result(200, {"activities": [message]}, delivery)

    async def _converse(self, activity: Json, held: Attempt, before: Before) -> bool:
        """Answer a message. True if its end is still to be stored: not where it was stored with the answer, or where another process has taken the message over, because this one was too slow."""
        stop = self._stops[held.key] = Stop()
        kept = before.kept
        if activity["type"] == "messageUpdate":
            if held.number > 1:  # whoever took it may have died before it ended the form before
                await self._forget_message(activity, held.key.activity)
            else:  # the turn before may have been remembered since
                await self._history.forget_message(activity)
            kept = None
        older: Sequence[Waiting] = ()
        if before.waits:
            older, kept = await self._dispatch.older(activity), None  # what is out by now is remembered
        asked = [turn for waiting in older for turn in waiting.turns]
        async with progress(self._outbox, activity, on_stop=stop.press) as shown:
            composed = self._compose(activity, shown.stage, kept, counted=held.number == 1, stop=stop, waiting=asked)
            message, question, reply = await composed
        delivery = _delivery(activity, reply)
        if stop.pressed:  # what was made in vain is sent to nobody, so nothing follows from it
            await self._deliveries.write(delivery.ended(STOPPED))
            return True
        if not await self._inbox.holds(held):
            changed = await self._inbox.changed(held.key)
            await self._deliveries.write(delivery.ended(STOPPED if changed else TAKEN_OVER))
            return False
        if _begins_anew(question, reply):
            await self._forget(activity, held)

        async def send() -> str | None:
            sent_id = await finish(self._outbox, activity, shown, message)
            if shown.cancelled:
                raise StopPressed
            return sent_id

        entry_id = reply.entry_id if reply else ""
        waiting = Waiting(activity, message, shown.stream_id, entry_id, turns=tuple(_said(question, reply)), held=held)
        return not await self._dispatch.deliver(waiting, send, first=not older)

    async def _compose(
        self,
        activity: Json,
        on_stage: OnStage | None,
        kept: Recalled | None,
        *,
        counted: bool = True,
        stop: Stop | None = None,
        waiting: Sequence[Turn] = (),
    ) -> tuple[Json, _Question, Reply | None]:
        """The message to send, and the reply in it if there is one. `kept`: of the conversation, None where that is to be looked at; `waiting`: the turns whose answers could not be delivered yet.
        Never raises but for cancellation.
        """
        rework = read_rework(activity.get("value"))
        change = None if question_text(activity) else read_change(activity.get("value"))
        text = question_text(activity) or (change.asked if change else "") or (rework.how if rework else "")
        question = _Question(text, read_pasted(text), anew=change is not None and not goes_on(text))
        if not text and (told := await self._responses.submitted(activity)):
            return notice(told), question, None
        user = user_of(activity, self._settings)
        attached = attached_to(activity)
        if not (text or attached):
            return notice(say("help", _language(activity))), question, None
        if counted and await self._limits.take(counted_as(activity, user)):
            return notice(say("too_fast", _language(activity))), question, None
        reply = None
        try:
            async with asyncio.timeout(self._settings.bounds.turn_deadline_s + GRACE_S):
                files = await opened(attached, loopback=self._settings.local_mode) if attached else Opened()
                question = replace(question, file=files.text)
                if not text:
                    return notice(asked_nothing(files, _language(activity))), question, None
                if (checked := await self._checked(activity, text)) is not None:
                    return checked, question, None
                kept = kept or await self._history.kept(activity)
                history = () if question.pasted or question.anew else (*kept.turns, *waiting)
                if instead := await self._instead(activity, question, change, files, user):
                    return notice(instead), question, None
                ask = Ask(
                    question=question.text,
                    history=history,
                    context=files.text or _pointed_at(question.text, history) or None,
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
            return await self._message_of(reply, activity, question, history, files), question, reply
        except Exception as error:  # noqa: BLE001  # whatever went wrong, the person who waits is told
            log.error("a turn ended with %s", kind_and_way(error))  # noqa: TRY400  # no customer text
            await self._deliveries.write(_delivery(activity, reply).ended(UNSHOWN))
            return notice(say("apology", _language(activity))), question, None

    async def _message_of(
        self, reply: Reply, activity: Json, question: _Question, history: Sequence[Turn], files: Opened
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
        self, reply: Reply, question: _Question, history: Sequence[Turn], user: str | None
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

    async def _instead(
        self, activity: Json, question: _Question, change: ViewChange | None, files: Opened, user: str | None
    ) -> str:
        """What is said where nothing can be asked: of a name that no document has, or of a picture; empty where something can."""
        if change and (strange := await self._unknown(change, user)):
            return unknown(strange, _language(activity))
        if files.pictures and not files.text and await self._is_about_picture(question, user):
            return files.lines(_language(activity))
        return ""

    async def _unknown(self, change: ViewChange, user: str | None) -> str:
        """What *Change* brings in that no document has, as the person typed it; empty if all is known."""
        if self._knowledge is None:
            return ""
        for name in change.came:
            if not await self._knowledge.knows(name, user):
                return name
        return ""

    async def _is_about_picture(self, question: _Question, user: str | None) -> bool:
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

    def _render(self, reply: Reply, activity: Json, question: _Question, shown: Shown, above: str = "") -> Json:
        asked = question.asked if is_personal(activity) else None  # Teams shows no buttons of this kind in a group
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

    def _shown(self, reply: Reply, language: str, question: _Question, user: str | None) -> Shown:
        """What the card below the answer is made of."""
        made = reply.record.ask.rework if reply.record.ask else None
        asked = question.asked if len(question.asked) <= MAX_ASKED and not made else ""
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

    async def _keep(self, activity: Json, question: _Question, reply: Reply | None, held: Attempt) -> None:
        """Remember a turn that was answered in the body."""
        if _begins_anew(question, reply):
            await self._forget(activity, held)
        try:
            await self._history.remember(activity, list(_said(question, reply)), held)
        except StoreError as error:
            log.error("a turn was answered but not kept: %s", error)  # noqa: TRY400  # one line is enough
        except Exception as error:  # noqa: BLE001  # the answer is there: no apology may follow it
            log.error("a turn was answered but not kept: %s", kind_and_way(error))  # noqa: TRY400  # no customer text

    async def _forget(self, activity: Json, held: Attempt) -> None:
        try:
            await self._history.forget(activity, held)
            await self._undelivered.forget_turns(activity, held)
        except StoreError as error:
            log.error("a conversation was to be forgotten and was not: %s", error)  # noqa: TRY400  # one line is enough

    async def _invoke(self, activity: Json) -> Result:
        if (told := await self._responses.invoke(activity)) is not None:
            return Result(200, told)
        if self.extension is not None and (shown := await self.extension.invoke(activity)) is not None:
            body, entry_id = shown
            return Result(200, body, Delivery(entry_id, activity["channelId"]) if entry_id else None)
        return Result(501)

    async def _arrive(self, activity: Json) -> None:
        """Welcome once per installation; forget the conversation when the bot is removed from it."""
        key = ActivityKey(
            activity["channelId"], activity["conversation"]["id"], " welcome"
        )  # no activity's id has a space
        if activity["type"] == "installationUpdate" and activity.get("action") == "remove":
            await self._history.forget(activity)
            await self._undelivered.forget(activity)
            await self._inbox.forget(key)
        elif _someone_came(activity) and await self._inbox.once(key):
            try:
                await self._dispatch.say(
                    activity, notice(welcome(self._settings.answering.company, _language(activity)))
                )
            except SendFailed as error:
                log.warning("a welcome could not be delivered: %s", error)


def _delivery(activity: Json, reply: Reply | None) -> Delivery:
    """Of the reply to this activity, before anything became of it; without an entry there is none to tell of."""
    return Delivery(reply.entry_id if reply else "", activity["channelId"])


def _begins_anew(question: _Question, reply: Reply | None) -> bool:
    """Whether what was said before is about another customer: that was said, or a new conversation was pasted."""
    return reply is not None and (
        reply.intent == "new" or ((question.pasted is not None or question.anew) and reply.outcome not in FORGOTTEN)
    )


def _said(question: _Question, reply: Reply | None) -> Iterator[Turn]:
    """What the conversation remembers of a turn: small talk would stand between a question and what follows from it. What a file says is said by whoever sent
    it, for this question and those that follow.
    """
    if question.file and (reply is None or reply.outcome is not Outcome.BLOCKED):
        yield Turn("customer", question.file)
    if reply is not None and reply.outcome not in FORGOTTEN and reply.intent is None:
        if (
            reply.record.ask is None or reply.record.ask.rework is None
        ):  # a wish to rework asks nothing that later questions hang on
            yield from question.turns()
        if reply.outcome in DELIVERED:
            yield Turn("assistant", reply.answer)


def _pointed_at(question: str, history: Sequence[Turn]) -> str:
    """What the customer said last, by a file or in what was pasted, if a question points at a code or message that it does not say: it may stand before another
    question.
    """
    said = (turn.text for turn in reversed(history) if turn.role == "customer")
    return next(said, "") if asks_about_unsaid(question) else ""


def _never_arrived(activity: Json) -> Json:
    return notice(say("undelivered", _language(activity)))


def _someone_came(activity: Json) -> bool:
    """True if the bot was installed, or a person joined a chat of a channel that has no installations."""
    if activity["type"] == "installationUpdate":
        return True
    bot = activity["recipient"]["id"]
    added = [member.get("id") for member in activity.get("membersAdded") or ()]
    return bot in added if is_teams(activity) else any(who != bot for who in added)


def _language(activity: Json) -> str:
    return language_for(question_text(activity), activity.get("locale"))


def _version(activity: Json) -> str:
    """What tells one version of an edited message from another, and is the same when it is delivered again."""
    said = f"{activity.get('timestamp')}\n{activity.get('localTimestamp')}\n{activity.get('text')}"
    return hashlib.sha256(said.encode()).hexdigest()[:16]


def _line(activity: Json) -> str:
    return f"{activity['channelId']}\n{activity['conversation']['id']}"
