"""What the message extension shows and inserts. Pure functions on JSON dicts; a document's words are literal characters."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from bot.teams.ports import Json
from bot.teams.shown.answer_card import (
    CARD,
    GAP,
    Shown,
    answer_card,
    card_of,
    may_be_tried_again,
    text_block,
)
from bot.view.customer import customer_copy
from bot.view.place import place_in
from bot.view.reply import ReplyView
from bot.view.verdict import cut
from bot.wording.contacts import contact_notice, source_tag
from bot.wording.conversation.card import CardWords
from bot.wording.conversation.customer_text import for_customer
from bot.wording.conversation.extension import ExtensionWords
from bot.wording.values import excerpt
from grounding.records import Passage
from grounding.text import body_start
from rai.records import Claim, Outcome

SELECT_VERB, SHOW, USE, AGAIN = "insert", "show", "use", "again"
THUMBNAIL = "application/vnd.microsoft.card.thumbnail"
MAX_PREVIEW, MAX_PASSAGE, MAX_FALLBACK = 160, 4000, 300


def results(passages: Sequence[Passage], words: ExtensionWords, internal: Collection[str] = ()) -> Json:
    """The list below the search box; each entry is fetched anew when it is chosen. `internal`: the documents that not everyone may read."""
    if not passages:
        return said(words("nothing"))
    return _extension([_result(p, words, internal=p.doc_id in internal) for p in passages])


def _result(passage: Passage, words: ExtensionWords, *, internal: bool) -> Json:
    title, place = cut(passage.title, 80), place_in(passage.title, passage.locator)
    place = f"{place}: " if place else ""
    place = f"{words('as_of', date=words.day(passage.updated))} · {place}" if passage.updated else place
    place = f"{tag} · {place}" if (tag := source_tag(passage.trust, words.language)) else place
    place = f"{CardWords(words.language)('not_for_all')} · {place}" if internal else place
    end = passage.start + len(passage.text)
    value = {
        "verb": SELECT_VERB,
        **{name: getattr(passage, name) for name in ("doc_id", "chunk_id", "version", "start", "locator")},
        "end": end,
    }
    preview: Json = {
        "title": title,
        "text": cut(place + _plain(passage.text), MAX_PREVIEW),
    }
    preview["tap"] = {"type": "invoke", "value": value}
    content = card_of([text_block(title, weight="Bolder")], title)
    return {"contentType": CARD, "content": content, "preview": {"contentType": THUMBNAIL, "content": preview}}


def inserted_passage(
    passage: Passage, words: ExtensionWords, *, internal: bool = False, unvouched: Sequence[Claim] = ()
) -> Json:
    """The card that goes into the compose box: the words of the source without its marks of form, and where they stand; with a mark where it is `internal`, because
    not everyone may read it, and where it has contacts that nobody answers for, `unvouched`.
    """
    parts = [
        passage.title,
        place_in(passage.title, passage.locator),
        words("as_of", date=words.day(passage.updated)) if passage.updated else "",
        source_tag(passage.trust, words.language),
    ]
    source = " · ".join(cut(part, 120) for part in parts if part)
    text = _plain(passage.text, [claim.text for claim in unvouched])
    look = contact_notice(unvouched, {}, words.language)
    quoted = excerpt(text, MAX_PASSAGE)
    body = [
        *_internal(words, internal=internal),
        *([text_block(look, color="Attention", weight="Bolder")] if look else []),
        text_block(quoted),
        text_block(words("source", source=source), isSubtle=True, size="Small"),
    ]
    is_link = passage.url is not None and passage.url.startswith(("https://", "http://"))
    opens = [{"type": "Action.OpenUrl", "title": words("open"), "url": passage.url}] if is_link else []
    return _extension([_attached(card_of(body, f"{excerpt(quoted, MAX_FALLBACK)} ({source})", opens))])


def _plain(text: str, unvouched: Sequence[str] = ()) -> str:
    """The words of a passage without marks of form and without its heading, which stands beside it; of one that is a heading alone that."""
    return for_customer(text, unvouched) or text[body_start(text) :].strip() or text


def _internal(words: ExtensionWords, *, internal: bool) -> list[Json]:
    """The mark of what not everyone may read: whoever is about to send it sees it, and takes it out."""
    return [text_block(words("internal"), color="Attention", weight="Bolder")] if internal else []


def inserted_answer(
    reply: ReplyView, dates: Mapping[int, str], words: ExtensionWords, internal: Collection[int] = ()
) -> Json:
    """An answer as the customer may have it, with what it rests on and as of when. `dates`: of its sources by their numbers; `internal`: the numbers of those that not
    everyone may read.
    """
    text = customer_copy(reply, CardWords(words.language), internal)
    marked = {c.n for c in reply.citations} & set(internal)
    as_of = {c.n: f" ({words('as_of', date=words.day(dates[c.n]))})" for c in reply.citations if dates.get(c.n)}
    names = dict.fromkeys(cut(c.name, 80) + as_of.get(c.n, "") for c in reply.citations)
    source = [text_block(words("source", source=" · ".join(names)), isSubtle=True, size="Small")] if names else []
    return _extension(
        [
            _attached(
                card_of(
                    [*_internal(words, internal=bool(marked)), text_block(text), *source], excerpt(text, MAX_FALLBACK)
                )
            )
        ]
    )


def working(job: str, words: ExtensionWords) -> Json:
    """The dialog while an answer is still made."""
    show = {"type": "Action.Submit", "title": words("show"), "data": {"verb": SHOW, "job": job}}
    return dialog(words("answer_title"), card_of([text_block(words("working"))], words("working"), [show]))


def try_again(job: str, card: CardWords) -> list[Json]:
    """The button that does once more what a dialog could not."""
    return [{"type": "Action.Submit", "title": card("try_again"), "data": {"verb": AGAIN, "job": job}}]


def answered(reply: ReplyView, job: str, shown: Shown, words: ExtensionWords, *, kept: bool = True) -> Json:
    """The dialog with an answer and its check; one that was delivered can be put into the compose box, one that failed tried again where its
    words are `kept`.
    """
    made = answer_card(reply, replace(shown, asked="", choices=(), reworks=(), view=None))
    content = made["content"] if made else card_of([], excerpt(reply.answer, MAX_FALLBACK))
    below = [item for item in content["body"] if not _sends(item)]
    use = {"type": "Action.Submit", "title": words("use"), "data": {"verb": USE, "job": job}}
    gap = {"type": "Action.Submit", "title": shown.words("gap"), "data": {"verb": GAP, "job": job}}
    first = [use] if reply.delivered else [gap] if reply.outcome == Outcome.INSUFFICIENT else []
    if may_be_tried_again(reply) and kept:
        first = try_again(job, shown.words)
    answer = shown.words.worded(reply.answer)
    quoted = [
        text_block(f"[{c.n}] {c.name}: {c.quote}", size="Small") for c in reply.offered if reply.offered_as and c.quote
    ]
    if quoted:
        quoted = [text_block(reply.offered_as, weight="Bolder"), *quoted]
    body = [text_block(answer), *quoted, *below]
    return dialog(
        words("answer_title"), card_of(body, excerpt(answer, MAX_FALLBACK), [*first, *content.get("actions", ())][:6])
    )


def _sends(item: Json) -> bool:
    """Whether an element has buttons that send messages, which a dialog cannot."""
    return item["type"] == "ActionSet" and any(a["type"] != "Action.ToggleVisibility" for a in item["actions"])


def dialog(title: str, content: Json) -> Json:
    """A dialog with a card."""
    value = {"title": title, "height": "medium", "width": "medium", "card": _attached(content)}
    return {"task": {"type": "continue", "value": value}}


def told(title: str, text: str, actions: Sequence[Json] = ()) -> Json:
    """A dialog that says one thing."""
    return dialog(title, card_of([text_block(text)], text, actions))


def said(text: str) -> Json:
    """A line in the place of results."""
    return {"composeExtension": {"type": "message", "text": text}}


def _extension(attachments: Sequence[Json]) -> Json:
    return {"composeExtension": {"type": "result", "attachmentLayout": "list", "attachments": list(attachments)}}


def _attached(content: Json) -> Json:
    return {"contentType": CARD, "content": content}
