"""What the message extension shows and inserts. Pure functions on JSON dicts; a document's words are literal characters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from bot.teams.answer_card import (
    CARD,
    GAP,
    Shown,
    answer_card,
    card_of,
    claim_rows,
    may_be_tried_again,
    text_block,
)
from bot.teams.extension.talk import is_of_the_talk
from bot.teams.ports import Json
from bot.view.place import place_in
from bot.view.reply import ListedSource, ReplyView
from bot.view.told import Told, told_values
from bot.view.verdict import MAX_VALUE, cut
from bot.wording.card import CardWords
from bot.wording.customer_text import for_customer
from bot.wording.extension import ExtensionWords
from grounding.records import Passage
from grounding.text import body_start, sentences, terms
from rai.records import SUPPORTED, Claim, EvidenceSpan, Outcome, Report

SELECT_VERB, SHOW, USE, AGAIN = "insert", "show", "use", "again"
THUMBNAIL = "application/vnd.microsoft.card.thumbnail"
MAX_PREVIEW, MAX_PASSAGE, MAX_CHECKED = 160, 4000, 2000
ROWS = 12
MAX_LINE, LONGEST, LEAST_SHARED = 110, 2000, 0.5
"""Characters of a line of a source shown to each side of a value; those to each side that are read for its sentence; the share of a sentence's words from which on a
line speaks of the same."""


def results(passages: Sequence[Passage], words: ExtensionWords) -> Json:
    """The list below the search box; each entry is fetched anew when it is chosen."""
    if not passages:
        return said(words("nothing"))
    return _extension([_result(p, words) for p in passages])


def _result(passage: Passage, words: ExtensionWords) -> Json:
    title, place = cut(passage.title, 80), place_in(passage.title, passage.locator)
    place = f"{place}: " if place else ""
    place = f"{words('as_of', date=words.day(passage.updated))} · {place}" if passage.updated else place
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


def inserted_passage(passage: Passage, words: ExtensionWords) -> Json:
    """The card that goes into the compose box: the words of the source without its marks of form, and where they stand."""
    parts = [
        passage.title,
        place_in(passage.title, passage.locator),
        words("as_of", date=words.day(passage.updated)) if passage.updated else "",
    ]
    source = " · ".join(cut(part, 120) for part in parts if part)
    text = _plain(passage.text)
    quoted = text if len(text) <= MAX_PASSAGE else text[: MAX_PASSAGE - 1] + "…"
    body = [text_block(quoted), text_block(words("source", source=source), isSubtle=True, size="Small")]
    is_link = passage.url is not None and passage.url.startswith(("https://", "http://"))
    opens = [{"type": "Action.OpenUrl", "title": words("open"), "url": passage.url}] if is_link else []
    return _extension([_attached(card_of(body, f"{quoted[:300]} ({source})", opens))])


def _plain(text: str) -> str:
    """The words of a passage without marks of form and without its heading, which stands beside it; of one that is a heading alone that."""
    return for_customer(text) or text[body_start(text) :].strip() or text


def inserted_answer(reply: ReplyView, dates: Mapping[int, str], words: ExtensionWords) -> Json:
    """An answer as the customer may have it, with what it rests on and as of when. `dates`: of its sources by their numbers."""
    text = for_customer(reply.answer)
    as_of = {c.n: f" ({words('as_of', date=words.day(dates[c.n]))})" for c in reply.citations if dates.get(c.n)}
    names = dict.fromkeys(cut(c.name, 80) + as_of.get(c.n, "") for c in reply.citations)
    source = [text_block(words("source", source=" · ".join(names)), isSubtle=True, size="Small")] if names else []
    return _extension([_attached(card_of([text_block(text), *source], text[:300]))])


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
    content = made["content"] if made else card_of([], reply.answer[:300])
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
    return dialog(words("answer_title"), card_of(body, answer[:300], [*first, *content.get("actions", ())][:6]))


def _sends(item: Json) -> bool:
    """Whether an element has buttons that send messages, which a dialog cannot."""
    return item["type"] == "ActionSet" and any(a["type"] != "Action.ToggleVisibility" for a in item["actions"])


def checked(text: str, report: Report, passages: Sequence[Passage], words: ExtensionWords, card: CardWords) -> Json:
    """The dialog with what was found of a message: each value with its status in words, its source and the line that it stands in there, the unsupported
    first. Whose value it is, a price of which plan, that line shows.
    """
    texts = {p.chunk_id: p.text for p in passages}
    open_ = _open_beside(report)
    told_of = [each for each in told_values(report.claims, text) if not is_of_the_talk(each.claim, text)]
    values = [_apart(replace(t, claim=_nearest_first(t.claim, texts, text)), open_, words) for t in told_of]
    beside = [*values, *(Told(c, c.text) for c in _unconfirmed(report))]
    rows_of = sorted(beside, key=lambda t: (not t.claim.unsupported, t.claim.status in SUPPORTED, not t.doubt))
    claims = [each.claim for each in rows_of]
    wrong = sum(c.unsupported for c in claims)
    doubtful = sum(not c.unsupported and c.status not in SUPPORTED for c in claims)
    listed = {p.chunk_id: _listed(n, p, words) for n, p in enumerate(passages, 1)}
    told = [card.count("checked", len(values))] if values else []
    told += [words.count("unsupported", wrong)] if wrong else []
    told += [card.count("doubtful", doubtful)] if doubtful else []
    left = len(open_)
    told += [words.count("open", left)] if left else []
    confirmed = any(
        c.kind == "statement" and c.status in SUPPORTED for c in report.claims
    )  # "lunch at 12?" says nothing
    good = bool(values) and confirmed and not (wrong or doubtful or left)
    if good:
        told.append(words("all_supported"))
    elif not told:
        told.append(words("no_values"))
    rows = [[row] for row in claim_rows(rows_of, listed, card, ROWS)]
    for row, told_ in zip(rows, rows_of[:ROWS], strict=False):
        lines = dict.fromkeys([*_lines(told_.claim, texts), *_said_beside(told_, open_, texts)])
        quoted = [text_block(f"“{line}”", isSubtle=True, size="Small") for line in lines]
        row += [{**block, "spacing": "Small"} for block in quoted]
    body = [
        text_block(cut(text, MAX_CHECKED), isSubtle=True),
        text_block(" · ".join(told), weight="Bolder", color="Attention" if wrong else "Good" if good else "Default"),
        *(item for row in rows for item in row),
    ]
    return dialog(words("check_title"), card_of(body, " · ".join(told)))


def _apart(told_: Told, open_: Sequence[Claim], words: ExtensionWords) -> Told:
    """A supported value of a sentence that nobody confirmed: it stands in a source, and perhaps of something else."""
    claim = told_.claim
    within = any(c.start <= claim.start and claim.end <= c.end for c in open_)
    sure = claim.status in SUPPORTED and claim.kind != "entity"
    return replace(told_, doubt=words("apart")) if within and sure else told_


def _said_beside(told_: Told, open_: Sequence[Claim], texts: Mapping[str, str]) -> list[str]:
    """Of a value in doubt the line without it that has most words of its sentence, if it has many: what the passages say of what the sentence is about."""
    if not told_.doubt:
        return []
    said = frozenset(terms(next(c.text for c in open_ if c.start <= told_.claim.start < c.end)))
    lines = [span.text for text in texts.values() for line in text.splitlines() for span in sentences(line)]
    holding = [e.text for e in told_.claim.evidence]
    shared = {line: len(said & frozenset(terms(line))) for line in lines if not any(v in line for v in holding)}
    best = max(shared, key=lambda line: (shared[line], -len(line)), default="")
    enough = bool(best) and shared[best] >= max(2, LEAST_SHARED * len(said))
    return [cut(best[body_start(best) :], 2 * MAX_LINE)] if enough else []


def _nearest_first(claim: Claim, texts: Mapping[str, str], message: str) -> Claim:
    """A supported value whose evidence begins with the line that has most words of the message: source and line of a row are then of one place."""
    if claim.status not in SUPPORTED or len(claim.evidence) < 2:
        return claim
    said = frozenset(terms(message))

    def shared(span: EvidenceSpan) -> int:
        is_shown = span.field == "text" and span.source in texts
        return len(said & frozenset(terms(_line_of(span, texts[span.source])))) if is_shown else -1

    return replace(claim, evidence=tuple(sorted(claim.evidence, key=shared, reverse=True)))


def _lines(claim: Claim, texts: Mapping[str, str]) -> list[str]:
    """The lines of the passages that the verdict on a value rests on: of a supported one the first, else two, what is said instead among them. None of a name or a
    sentence.
    """
    if claim.kind in ("statement", "entity"):
        return []
    spans = [*claim.evidence[:1], claim.instead] if claim.instead else claim.evidence
    lines = dict.fromkeys(_line_of(e, texts[e.source]) for e in spans if e.field == "text" and e.source in texts)
    return list(lines)[: 1 if claim.status in SUPPORTED else 2]


def _line_of(place: EvidenceSpan, text: str) -> str:
    """The sentence or row of a place, without marks of form; of a long one what stands around the value."""
    start = max(text.rfind("\n", 0, place.start) + 1, place.start - LONGEST)
    line = text[start : place.end + LONGEST]
    line = line[: place.end - start] + line[place.end - start :].partition("\n")[0]
    at = place.start - start
    span = next((s for s in sentences(line) if s.start <= at < s.end), None)
    first, last = (span.start, span.end) if span else (0, len(line))
    begin, stop = max(first, at - MAX_LINE), min(last, at + len(place.text) + MAX_LINE)
    kept = f"{'…' if begin > first else ''}{line[begin:stop].strip()}{'…' if stop < last else ''}"
    return kept[body_start(kept) :]


def _open_beside(report: Report) -> list[Claim]:
    """Sentences with sure values that nobody confirmed as a whole: their values stand somewhere, and whether they belong together is not known. No questions."""
    listed = _unconfirmed(report)
    return [
        c
        for c in report.claims
        if c.kind == "statement" and c.status == "unchecked" and c not in listed and not c.text.rstrip().endswith("?")
    ]


def _unconfirmed(report: Report) -> list[Claim]:
    """Sentences that nobody confirmed and in which no value but a name was: a message of theirs alone would look as if all were well."""
    sure = [c for c in report.claims if c.kind not in ("statement", "entity") and c.status in SUPPORTED]
    return [
        c
        for c in report.claims
        if c.kind == "statement"
        and c.status not in SUPPORTED
        and not any(c.start <= value.start and value.end <= c.end for value in sure)
    ]


def _listed(n: int, p: Passage, words: ExtensionWords) -> ListedSource:
    as_of = words.day(p.updated) if p.updated else ""
    name = f"{cut(p.title, MAX_VALUE - 3 - len(as_of))} · {as_of}" if as_of else p.title
    return ListedSource(n, name, p.locator or "", p.url or "", p.doc_id, p.chunk_id, "", p.tier, "")


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
