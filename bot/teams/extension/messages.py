"""The message extension: search from the compose box, *Answer this* and *Check this message* on any message. Only who asks sees what comes of it.

Everything is read with the rights of the person who asks, also in a group: what they put into a conversation from there is their own act. Teams waits a few
seconds for each of these, so an answer that takes longer is fetched by a button of the dialog.
"""

from __future__ import annotations

import asyncio
import html
import logging
import re
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from bot.http.rate_limit import CHECK_COST, Limits
from bot.http.source_links import evidence_link
from bot.records import Answer, Ask
from bot.settings.settings import Settings
from bot.teams.activity import actor_of, counted_as, time_of, user_of
from bot.teams.extension.cards import (
    AGAIN,
    SELECT_VERB,
    SHOW,
    USE,
    answered,
    inserted_answer,
    inserted_passage,
    results,
    said,
    told,
    try_again,
    working,
)
from bot.teams.extension.checked import checked
from bot.teams.extension.knowledge import PersonsKnowledge
from bot.teams.ports import Json
from bot.teams.shown.answer_card import GAP, Shown, dates_in, may_be_tried_again
from bot.view.reply import ReplyView, reply_view, view_of
from bot.wording.conversation.card import CardWords
from bot.wording.conversation.extension import ExtensionWords
from bot.wording.refusals import language_of
from grounding.errors import AttestError, kind_and_place, kind_and_way
from grounding.records import Passage
from rai.ports import Ledger
from rai.records import Claim, Entry

log = logging.getLogger(__name__)
T = TypeVar("T")

QUERY, SELECT, FETCH, SUBMIT = (
    f"composeExtension/{name}" for name in ("query", "selectItem", "fetchTask", "submitAction")
)
ANSWER_THIS, CHECK_THIS, SEARCH = "answerThis", "checkThis", "searchKnowledge"
"""Ids of the commands, as the manifest has them."""
MAX_QUERY, MAX_MESSAGE, MOST_JOBS, LOOKED_AT = 300, 8000, 200, 50
KEPT_S = 600.0
"""Seconds for which a job is known: an erasure does not reach into a process, so no more of it is held than a dialog needs that is open."""
JOB_PREFIX = "extension "
"""What the conversation of such a turn is called in its entry: it belongs to no chat, and no later question is read with it."""
_BREAKS = re.compile(r"<(?:br|/p|/div|/li|/h[1-6])\b[^<>]{0,500}>", re.IGNORECASE)
_TAGS = re.compile(r"<[^<>]{0,2000}>")
_JOB = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class _Job:
    """What a person wants of a message. `text`: its words, where it may be tried again; `made`: the entry of the answer that is made for them; None for a check, which is at
    once there or fails.
    """

    user: str | None
    command: str
    text: str
    made: asyncio.Task[str] | None = None


@dataclass(frozen=True, slots=True)
class _Made:
    """An answer that was made, with the dates of its sources by their numbers."""

    reply: ReplyView
    dates: Mapping[int, str]


class MessageExtension:
    """What the invokes of a message extension are answered with. `limit`: how many turns a person may ask for in a minute; `report_gap`: records that a
    person says of an entry that no source answers what was asked; `kept_s`: seconds for which a dialog's job is known.
    """

    def __init__(
        self,
        settings: Settings,
        knowledge: PersonsKnowledge,
        answer: Answer,
        ledger: Ledger,
        limits: Limits,
        *,
        report_gap: Callable[[Json, str], Awaitable[None]],
        kept_s: float = KEPT_S,
    ) -> None:
        self._report_gap = report_gap
        self._settings = settings
        self._knowledge = knowledge
        self._answer = answer
        self._ledger = ledger
        self._limits = limits
        self._kept_s = kept_s
        self._jobs: dict[str, _Job] = {}

    async def invoke(self, activity: Json) -> tuple[Json, str] | None:
        """The body of the answer, and the entry of a reply in it, empty where there is none; None for what is no command of ours."""
        kinds = {QUERY: self._query, SELECT: self._select, FETCH: self._fetch, SUBMIT: self._submit}
        known = kinds.get(str(activity.get("name")))
        value = activity.get("value")
        if known is None or not isinstance(value, dict):
            return None
        return await known(activity, value, ExtensionWords(activity.get("locale")))

    async def drain(self) -> None:
        """End what nobody can fetch any more."""
        running = [job.made for job in self._jobs.values() if job.made is not None]
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    async def _query(self, activity: Json, value: Json, words: ExtensionWords) -> tuple[Json, str] | None:
        if value.get("commandId") != SEARCH:
            return None
        options = value.get("queryOptions")
        if isinstance(options, dict) and options.get("skip"):  # all that there is was given at once
            return results((), words), ""
        text = " ".join(_parameter(value, "query").split())[:MAX_QUERY]
        if not text:
            return said(words("type_words")), ""
        user = user_of(activity, self._settings)
        if await self._limits.take(f"check {counted_as(activity, user)}", CHECK_COST):
            return said(words("too_fast")), ""
        found = await self._in_time(partial(self._knowledge.search, text, user))
        if found is None:
            return said(words("later")), ""
        return results(found, words, await self._knowledge.restricted(p.doc_id for p in found)), ""

    async def _select(self, activity: Json, value: Json, words: ExtensionWords) -> tuple[Json, str] | None:
        if value.get("verb") != SELECT_VERB:
            return None
        user = user_of(activity, self._settings)
        if await self._limits.take(f"check {counted_as(activity, user)}", CHECK_COST):
            return said(words("too_fast")), ""
        found = await self._in_time(partial(self._chosen, _place(value), user))
        if found is None:
            return said(words("gone")), ""
        passage, unvouched = found
        internal = await self._knowledge.restricted([passage.doc_id])
        return inserted_passage(passage, words, internal=bool(internal), unvouched=unvouched), ""

    async def _chosen(self, place: Json, user: str | None) -> tuple[Passage, Sequence[Claim]] | None:
        """The passage at a place, with its contacts that nobody answers for."""
        found = await self._knowledge.passage(place, user)
        return (found.passage, await self._knowledge.unvouched(found.passage, user)) if found else None

    async def _fetch(self, activity: Json, value: Json, words: ExtensionWords) -> tuple[Json, str] | None:
        command = value.get("commandId")
        if command not in (ANSWER_THIS, CHECK_THIS):
            return None
        return await self._opened(activity, str(command), message_text(value.get("messagePayload")), words)

    async def _opened(self, activity: Json, command: str, text: str, words: ExtensionWords) -> tuple[Json, str]:
        """The dialog that a command opens on a message. One that could not be made can be tried again."""
        user, title = user_of(activity, self._settings), _title(command, words)
        if not text:
            return told(title, words("no_text")), ""
        if await self._limits.take(counted_as(activity, user)):
            again = self._keep(_Job(user, command, text))
            return told(title, words("too_fast"), try_again(again, CardWords(words.language))), ""
        if command == CHECK_THIS:
            actor = actor_of(activity, self._settings)
            found = await self._in_time(partial(self._knowledge.check, text, user, actor))
            if found is None:
                again = self._keep(_Job(user, command, text))
                return told(title, words("later"), try_again(again, CardWords(words.language))), ""
            return checked(text, *found, words, CardWords(words.language)), ""
        return await self._shown(self._begin(activity, text, user), user, words)

    async def _submit(self, activity: Json, value: Json, words: ExtensionWords) -> tuple[Json, str] | None:
        data = value.get("data")
        job = data.get("job") if isinstance(data, dict) else None
        if not isinstance(data, dict) or not isinstance(job, str) or not _JOB.fullmatch(job):
            return None
        user = user_of(activity, self._settings)
        if data.get("verb") == SHOW:
            return await self._shown(job, user, words)
        if data.get("verb") == AGAIN:
            held = self._jobs.get(job)
            if held is None or held.user != user:
                return told(words("answer_title"), words("gone")), ""
            return await self._opened(activity, held.command, held.text, words)
        if data.get("verb") not in (USE, GAP):
            return None
        made = await self._made(job, user)
        if data["verb"] == GAP:
            if made is None:
                return told(words("answer_title"), words("gone")), ""
            await self._report_gap(activity, made.reply.entry_id)
            return told(words("answer_title"), CardWords(words.language)("gap_told")), ""
        if made is None or not made.reply.delivered:
            return said(words("gone")), ""
        own = ExtensionWords(made.reply.language)  # the customer reads it
        return inserted_answer(made.reply, made.dates, own, await self._internal(made.reply)), ""

    def _begin(self, activity: Json, text: str, user: str | None) -> str:
        job = uuid.uuid4().hex
        ask = Ask(
            question=text,
            user=user,
            actor=actor_of(activity, self._settings),
            policy=self._settings.answering.policy,
            channel=activity["channelId"],
            conversation=JOB_PREFIX + job,
            at=time_of(activity),
            locale=activity.get("locale"),
        )
        return self._keep(_Job(user, ANSWER_THIS, text, asyncio.create_task(self._answered(ask, job))), named=job)

    def _keep(self, job: _Job, named: str = "") -> str:
        """Remember a job; the name that a button calls it by."""
        while len(self._jobs) >= MOST_JOBS:  # the record has what is forgotten here
            self._jobs.pop(next(iter(self._jobs)))
        name = named or uuid.uuid4().hex
        self._jobs[name] = job
        asyncio.get_running_loop().call_later(self._kept_s, self._jobs.pop, name, None)
        return name

    async def _answered(self, ask: Ask, job: str) -> str:
        """The entry of the answer, in which it is read: so it is gone with it. The words of the message are not needed for more."""
        reply = await self._answer(ask, None)
        held = self._jobs.get(job)
        if held is not None and not may_be_tried_again(view_of(reply)):
            self._jobs[job] = replace(held, text="")
        return reply.entry_id

    async def _shown(self, job: str, user: str | None, words: ExtensionWords) -> tuple[Json, str]:
        held = self._jobs.get(job)
        own = held is not None and held.user == user
        if held is not None and own and held.made is not None:
            await asyncio.wait({held.made}, timeout=self._knowledge.within_s)
            if not held.made.done():
                return working(job, words), ""
        made = await self._made(job, user)
        held = self._jobs.get(job)
        kept = held is not None and own and bool(held.text)
        if made is None:
            again = try_again(job, CardWords(words.language)) if kept else ()
            return told(words("answer_title"), words("later" if kept else "gone"), again), ""
        reply = made.reply
        shown = Shown(
            CardWords(reply.language),
            evidence=evidence_link(self._settings, reply.entry_id, user),
            dates=made.dates,
            internal=await self._internal(reply),
        )
        return answered(reply, job, shown, words, kept=kept), reply.entry_id

    async def _internal(self, reply: ReplyView) -> frozenset[int]:
        """The numbers of the sources of an answer that not everyone may read."""
        listed = await self._knowledge.restricted(c.doc_id for c in reply.citations)
        return frozenset(c.n for c in reply.citations if c.doc_id in listed)

    async def _made(self, job: str, user: str | None) -> _Made | None:
        """The answer of a job of this person, as the record has it, whichever process made it; None also where it may not be read any more."""
        entry = await self._entry(job, user)
        asked = entry.body.get("ask") if entry is not None else None
        if entry is None or not isinstance(asked, dict):  # erased
            return None
        if not await self._knowledge.may_be_told(entry.body, user):
            return None
        told_of = {**(entry.body.get("reply") or {}), "entry_id": entry.entry_id}
        return _Made(reply_view(told_of, language_of(asked)), dates_in(entry.body))

    async def _entry(self, job: str, user: str | None) -> Entry | None:
        """The entry of the turn of a job of this person."""
        held = self._jobs.get(job)
        if held is not None:
            if held.user != user or held.made is None or not held.made.done() or held.made.cancelled():
                return None
            if (error := held.made.exception()) is not None:
                log.error("an answer for the message extension ended with %s", kind_and_way(error))
                return None
            return await self._ledger.get(held.made.result())
        async for entry in self._ledger.entries(newest_first=True, limit=LOOKED_AT, kinds=("turn",)):
            asked = entry.body.get("ask")
            if isinstance(asked, dict) and asked.get("conversation") == JOB_PREFIX + job and asked.get("user") == user:
                return entry
        return None

    async def _in_time(self, work: Callable[[], Awaitable[T]]) -> T | None:
        """What the work comes to, or None if that takes longer than Teams waits, or fails: the person can try again."""
        try:
            async with asyncio.timeout(self._knowledge.within_s):
                return await work()
        except (AttestError, TimeoutError) as error:
            log.warning("the message extension had no answer: %s", kind_and_place(error))
            return None


def _title(command: str, words: ExtensionWords) -> str:
    return words("answer_title" if command == ANSWER_THIS else "check_title")


def message_text(payload: Any) -> str:
    """The words of the message that an action was chosen on, without its HTML; empty where it has none."""
    body = payload.get("body") if isinstance(payload, dict) else None
    content = body.get("content") if isinstance(body, dict) else None
    if not isinstance(content, str):
        return ""
    text = content[: 4 * MAX_MESSAGE]
    if body is not None and body.get("contentType") != "text":
        text = html.unescape(_TAGS.sub("", _BREAKS.sub("\n", text)))
    lines = (" ".join(line.split()) for line in text.replace("\xa0", " ").splitlines())
    return "\n".join(line for line in lines if line)[:MAX_MESSAGE]


def _parameter(value: Json, name: str) -> str:
    given = value.get("parameters")
    for item in given if isinstance(given, list) else ():
        if isinstance(item, dict) and item.get("name") == name and isinstance(item.get("value"), str):
            return str(item["value"])
    return ""


def _place(value: Json) -> Json:
    """Where a chosen passage stands; whatever else a client sends falls away."""
    words = {
        name: value[name][:512]
        for name in ("doc_id", "chunk_id", "version", "locator")
        if isinstance(value.get(name), str)
    }
    numbers = {name: value[name] for name in ("start", "end") if isinstance(value.get(name), int)}
    return {"doc_id": "", "chunk_id": "", **words, **numbers}
