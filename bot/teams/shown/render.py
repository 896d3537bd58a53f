"""A `Reply` as the activity that a channel shows. Pure functions; the answer's own words are never changed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from bot.records import Reply
from bot.teams.ports import Json
from bot.teams.shown.answer_card import CARD, MAX_ROWS, Shown, answer_card
from bot.teams.shown.markdown import with_live_citations
from bot.teams.shown.message_limits import (
    MARKER,
    MAX_ABSTRACT,
    MAX_BYTES,
    MAX_CITATIONS,
    MAX_KEYWORD,
    MAX_NAME,
    MESSAGE,
    size,
    utf16,
)
from bot.teams.shown.refusal_card import report_card
from bot.view.reply import ListedSource, ReplyView, view_of
from bot.view.verdict import verdict_line
from bot.wording.conversation.card import CardWords
from bot.wording.refusals import FALLBACK
from bot.wording.values import whole_until
from rai.records import Outcome

SourceLink = Callable[[int], str]
"""From the number of a citation to a URL."""
BUDGET = MAX_BYTES - 1024
"""Room is left for the end of a stream that the message may become."""
MAX_NOTE = 300
MAX_LISTED = 5
MAX_OFFERED = 600
"""Characters of a quote that stands in place of an answer: one that is cut before "cannot be returned" says the opposite."""
MAX_ASKED = 600
MAX_CHOICES = 3
"""Teams shows the first three of suggested actions."""
MAX_CHOICE = 1000
_ROWS = (MAX_ROWS, 6, 3, 0)
TOO_LONG = "The answer is longer than a Teams message can be, so nothing of it is shown. Please ask for one part of it."


def render(
    made: Reply,
    *,
    teams: bool,
    source: SourceLink | None = None,
    question: str | None = None,
    above: str = "",
    shown: Shown | None = None,
) -> Json:
    """The message for a reply: with citation entities on Teams, with a list of sources elsewhere; a refusal with a card to report it.

    `source` makes the link to the page of a cited passage, where a citation has no address of its own.
    `shown`: what the card below the answer is made of; elsewhere than on Teams the verdict on what was corrected is a line of the text. `above`: what is to be said first. `question`: what was asked, where buttons may be shown: each thing that a clarifying question offers completes it.
    """
    words = shown.words if shown is not None else CardWords(FALLBACK)
    reply = view_of(made, words.language)
    message = (_teams_message if teams else _plain_message)(reply, source, above, words)
    if shown is not None and shown.label:
        for root in message.get("entities", ()):
            root["usageInfo"] = {"@type": "CreativeWork", "@id": shown.label}
    card = report_card(reply)
    if card:
        return {**message, "attachments": card}
    if shown is not None:
        carded = _with_card(message, reply, shown) if teams else None
        if carded is not None:
            return carded
        if reply.outcome == Outcome.REPAIRED:
            message = _with_verdict(message, verdict_line(reply, shown.words))
    choices = _choices(reply, question) if question is not None else []
    chosen: Json = {**message, "suggestedActions": {"to": [], "actions": choices}}
    return chosen if choices and size(chosen) <= BUDGET else message


def _with_card(message: Json, reply: ReplyView, shown: Shown) -> Json | None:
    """The message with its card, as much of it as there is room for; None where there is none, or no room."""
    if "text" not in message or message["text"] == TOO_LONG:
        return None
    for rows in _ROWS:
        card = answer_card(reply, shown, rows=rows)
        if card is None:
            return None
        carded = {**message, "attachments": [card], "summary": card["content"]["fallbackText"]}
        if size(carded) <= BUDGET:
            return carded
    return None


def _with_verdict(message: Json, line: str) -> Json:
    told = {**message, "text": f"{message['text']}\n\n_{plain(line)}_"}
    return told if line and size(told) <= BUDGET else message


def notice(text: str) -> Json:
    """A message of our own words, without evidence."""
    return {"type": "message", "textFormat": "markdown", "text": text}


def checked_message(text: str, card: Json, *, teams: bool) -> Json:
    """The message with what was found of a text that somebody had checked; on Teams with its card, where that fits."""
    message = notice(text)
    carded = {**message, "attachments": [{"contentType": CARD, "content": card}], "summary": card["fallbackText"]}
    return carded if teams and size(carded) <= BUDGET else message


def plain_form(message: Json) -> Json:
    """`message` without anything that a channel could refuse but its text."""
    return {key: message[key] for key in ("type", "textFormat", "text") if key in message}


def cited(reply: ReplyView) -> tuple[ListedSource, ...]:
    """Citations whose marker occurs in the answer, by number, each number once."""
    shown = {int(n) for n in MARKER.findall(reply.answer)}
    by_number = {c.n: c for c in reversed(reply.citations) if c.n in shown}
    return tuple(by_number[n] for n in sorted(by_number))


def _teams_message(reply: ReplyView, source: SourceLink | None, above: str, words: CardWords) -> Json:
    citations = cited(reply)
    attached, rest = citations[:MAX_CITATIONS], citations[MAX_CITATIONS:]
    body = with_live_citations(_body(reply, words))
    blocks = [above, body, _ask_back(reply, words), _sources(rest, source, words), *_asides(reply, words)]
    message = notice("\n\n".join(block for block in blocks if block))
    if reply.delivered:  # a fixed text is no work of an AI
        root: Json = {"type": MESSAGE, "@type": "Message", "@context": "https://schema.org", "@id": ""}
        root["additionalType"] = ["AIGeneratedContent"]
        if attached:
            root["citation"] = [_claim(c, source) for c in attached]
        message["entities"] = [root]
    if reply.entry_id:
        message["channelData"] = {"feedbackLoop": {"type": "default"}}
    return _fit(message, reply, above, words)


def _plain_message(reply: ReplyView, source: SourceLink | None, above: str, words: CardWords) -> Json:
    sources = _sources(cited(reply), source, words)
    blocks = [above, _body(reply, words), _ask_back(reply, words), sources, *_asides(reply, words)]
    return _fit(notice("\n\n".join(block for block in blocks if block)), reply, above, words)


def _fit(message: Json, reply: ReplyView, above: str, words: CardWords) -> Json:
    """Keep to the budget: first the asides go, then the quotes; an answer is never cut in the middle, nor from its mark."""
    if size(message) <= BUDGET:
        return message
    body = with_live_citations(_body(reply, words)) if "entities" in message else _body(reply, words)
    message = {**message, "text": "\n\n".join(block for block in (above, body, _ask_back(reply, words)) if block)}
    for entity in message.get("entities", ()):
        shown = {int(n) for n in MARKER.findall(reply.answer)}
        entity["citation"] = [c for c in entity.get("citation", ()) if c["position"] in shown]
        for claim in entity["citation"]:
            claim["appearance"]["abstract"] = claim["appearance"]["name"]
    return message if size(message) <= BUDGET else notice(TOO_LONG)


def _body(reply: ReplyView, words: CardWords) -> str:
    """The answer, and below it the lines that say which contacts nobody answers for, and what of it is from the web."""
    notices = [_notice(line) for line in (reply.contact_notice, reply.web_notice) if line]
    understood = f"_{plain(shorten(_line(reply.understood), MAX_ASKED))}_\n\n" if reply.understood else ""
    return "\n\n".join([understood + safe_markdown(words.worded(reply.answer)), *notices])


def _notice(line: str) -> str:
    """A line below the answer, its head bold; what it names of documents is literal."""
    head, colon, places = line.partition(": ")
    return f"**{head}{colon.strip()}** {safe_markdown(places)}"


def _ask_back(reply: ReplyView, words: CardWords) -> str:
    """The question to the human agent, where the answer does not end with it. It names what may be meant, for not every chat shows buttons."""
    if not reply.asked_back or (reply.delivered and reply.asked_back.question in reply.answer):
        return ""
    return f"**{words('ask_back')}:** {plain(shorten(_line(reply.asked_back.question), MAX_ASKED))}"


def _choices(reply: ReplyView, question: str) -> list[Json]:
    """A button for each thing that may be meant; pressed, it asks the completed question. Of small talk, what may be said next."""
    offered = reply.asked_back.choices(question) if reply.asked_back else []
    asked = [(_line(option), completed) for option, completed in offered[:MAX_CHOICES]]
    asked += [(text, text) for text in reply.suggestions[: MAX_CHOICES - len(asked)]]
    return [
        {"type": "imBack", "title": shorten(option, MAX_NAME), "value": value}
        for option, value in asked
        if option and utf16(value) <= MAX_CHOICE
    ]


def _claim(citation: ListedSource, source: SourceLink | None) -> Json:
    name = shorten(_line(citation.name), MAX_NAME)
    appearance: dict[str, Any] = {
        "@type": "DigitalDocument",
        "name": name,
        "abstract": shorten(_line(citation.quote) or name, MAX_ABSTRACT),
    }
    url = _link(citation, source)
    if url:
        appearance["url"] = url
    keywords = [citation.place, citation.web.capitalize()]
    kept = [k for k in map(_line, keywords) if k and utf16(k) <= MAX_KEYWORD]
    if kept:
        appearance["keywords"] = kept
    return {"@type": "Claim", "position": citation.n, "appearance": appearance}


def _link(citation: ListedSource, source: SourceLink | None) -> str | None:
    url = citation.url
    if url and re.fullmatch(r"https?://[^\s<>\"\\]+", url):
        return url
    return source(citation.n) if source is not None else None


def _sources(citations: Iterable[ListedSource], source: SourceLink | None, words: CardWords) -> str:
    lines = [f"- [{c.n}] {_entry(c, source)}" for c in citations]
    return "\n".join([f"**{words('sources')}**", "", *lines]) if lines else ""


def _asides(reply: ReplyView, words: CardWords) -> list[str]:
    """What stands below the answer, each block marked for what it is."""
    offered = [f"- {_entry(c, None, MAX_OFFERED)}" for c in reply.offered[:MAX_LISTED]]
    internal = [
        f"> **{plain(n.title)}:** {plain(shorten(_line(n.quote), MAX_NOTE))}" for n in reply.internal[:MAX_LISTED]
    ]
    blocks = []
    if offered:
        blocks.append("\n".join([f"**{plain(reply.offered_as) or words('worth_reading')}**", "", *offered]))
    if internal:
        blocks.append("\n>\n".join([f"> **{words('internal')}**", *internal]))
    blocks.extend(f"_{plain(shorten(_line(note), MAX_NOTE))}_" for note in reply.notes_for_person)
    return blocks


def _entry(citation: ListedSource, source: SourceLink | None, most: int = MAX_ABSTRACT) -> str:
    title = plain(shorten(_line(citation.name), MAX_NAME))
    place = f", {plain(_line(citation.place))}" if citation.place else ""
    place += f" ({citation.web})" if citation.web else ""
    url = _link(citation, source)
    quote = f' — "{plain(shorten(_line(citation.quote), most))}"' if citation.quote.strip() else ""
    return f"{title}{place}{quote}" + (f" <{url}>" if url else "")


def safe_markdown(text: str) -> str:
    """Keep markdown, but show HTML as text and load no image: a document could have planted either."""
    return re.sub(r"!(?=\[[^\]]*\]\s*[(\[])", "!\u200b", re.sub(r"<(?=[A-Za-z/!?])", "&lt;", text))


def plain(text: str) -> str:
    """Text of a document as literal characters inside markdown."""
    return re.sub(r"([\\`*_\[\]<>|~#])", r"\\\1", text)


def shorten(text: str, limit: int) -> str:
    """At most `limit` UTF-16 code units of `text`, cut between words and values where possible, with an ellipsis."""
    if utf16(text) <= limit:
        return text
    cut = text[: limit - 1]
    while utf16(cut) > limit - 1:
        cut = cut[:-1]
    head, space, _ = cut.rpartition(" ")
    end = len(head if space and len(head) > limit // 2 else cut)
    return text[: whole_until(text, end)].rstrip() + "…"


def _line(text: str) -> str:
    return " ".join(text.split())
