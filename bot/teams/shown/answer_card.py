"""The card below an answer: what was checked and what came of it, its sources, and the next step. Pure functions on JSON dicts.

Adaptive Card 1.5, of the elements that Teams shows on every client. The message's text stands alone without it: nothing is said here alone but what
the evidence is. Every text of a document or a draft is written as literal characters.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, get_args

from bot.records import How, Rework
from bot.teams.ports import Json
from bot.teams.shown.message_limits import MARKER, MAX_ACTIONS
from bot.view.customer import customer_copy
from bot.view.reply import ListedSource, ReplyView
from bot.view.told import Told, told_values
from bot.view.verdict import MAX_LINE, MAX_VALUE, cut, missing_parts, verdict_line, why_lines
from bot.wording.conversation.card import CardWords
from bot.wording.conversation.clarification import changed, new_names
from bot.wording.conversation.email import LANGUAGES
from bot.wording.values import whole_until
from grounding.records import plain
from rai.records import Claim, Outcome

CARD = "application/vnd.microsoft.card.adaptive"
VERSION = "1.5"
GAP = "report_gap"
"""The verb of the button that reports a question which no source answers."""
WEB = "search_web"
"""The verb of the button that asks again and searches the web too."""
REWORK = "rework"
"""The verb of the buttons that make something else of the answer."""
A_ROW = 3
"""Buttons of a row: Microsoft's renderer cuts the words of more to their first letters."""
CHANGE, ABOUT = "change", "about"
"""The verb of the button that asks again about something else, and the field that says what."""
MAX_ROWS, MAX_SOURCES, MAX_DRAFT, MAX_ASKED, MAX_NAMES, MAX_MISSING = 12, 8, 1500, 600, 8, 3
_HEADS = {
    Outcome.REPAIRED: ("repaired", "Warning"),
    Outcome.WITHHELD: ("withheld", "Attention"),
    Outcome.INSUFFICIENT: ("insufficient", "Warning"),
    Outcome.FAILED: ("failed", "Attention"),
}


@dataclass(frozen=True, slots=True)
class Shown:
    """What a card is made of beside the reply. `asked`: the question, empty where it cannot be asked again by a button; `evidence`: the link to its page;
    `dates`: of sources by their number, when each was last changed; `choices`: what a question back offers, each with the question that it completes; `reworks`: what can be made of the answer; `view`: what the call is about, None where it is not known; `web`: whether the web can be searched and was not;
    `label`: the id of the sensitivity label of the message; `internal`: the numbers of sources that not everyone may read; `gap_told`: what is said where the gap has been reported already.
    """

    words: CardWords
    asked: str = ""
    evidence: str = ""
    dates: Mapping[int, str] = field(default_factory=dict)
    choices: Sequence[tuple[str, str]] = ()
    reworks: Sequence[Rework] = ()
    view: Sequence[str] | None = None
    web: bool = False
    label: str = ""
    internal: Collection[int] = ()
    gap_told: str = ""
    language: str = "en"


@dataclass(frozen=True, slots=True)
class Gap:
    """The button that reports a gap was pressed: of which entry, in which language."""

    entry_id: str
    language: str


def dates_in(body: Json) -> dict[int, str]:
    """When each source of a turn was last changed, by its number, as the turn's entry has it."""
    listed = [e for e in body.get("evidence") or () if isinstance(e, dict)]
    return {int(e.get("n") or 0): str(e.get("updated") or "")[:10] for e in listed}


def answer_card(reply: ReplyView, shown: Shown, *, rows: int = MAX_ROWS) -> Json | None:
    """The card, with at most so many values and sources; None for small talk, refusals and what has no record."""
    if reply.intent or not reply.entry_id or reply.outcome == Outcome.BLOCKED:
        return None
    w = shown.words
    folded = [
        ("claims", w("claims"), _claims(reply, w, rows)),
        ("why", w("why"), [text_block(line, size="Small") for line in why_lines(reply, w, rows)]),
        ("sources", w("sources"), _sources(reply, shown, min(rows, MAX_SOURCES))),
        ("customer", w("copy"), _customer(reply, shown) if rows else []),
        ("rework", w("rework"), _reworks(reply, shown) if rows else []),
    ]
    body = [*_view(shown), *_head(reply, w), *(_missing(reply, shown)), *_struck(reply, w)]
    body += [
        {"type": "Container", "id": name, "isVisible": False, "items": items}
        for name, _, items in [*folded, ("view", "", _change(shown) if rows else [])]
        if items
    ]
    toggles = [_toggle(title, name, [n for n, _, i in folded if i]) for name, title, items in folded if items]
    fallback = verdict_line(reply, w) or w(_HEADS[Outcome(reply.outcome)][0])
    steps = _steps(reply, shown)[:MAX_ACTIONS]
    body += [{"type": "ActionSet", "actions": steps}] if steps else []
    body += [text_block(shown.gap_told, color="Good")] if shown.gap_told else []
    *above, last = _action_sets([*toggles, *_open(shown)]) or [{"actions": []}]
    card = card_of([*body, *above], fallback, last["actions"])
    return {"contentType": CARD, "content": card}


@dataclass(frozen=True, slots=True)
class ViewChange:
    """*Change* was pressed: what is asked now, and the names that came into it."""

    asked: str
    came: tuple[str, ...] = ()


def read_change(value: Any) -> ViewChange | None:
    """What *Change* asks, completed by what the person typed; None if the value of a message says something else."""
    if not isinstance(value, dict) or value.get("verb") != CHANGE:
        return None
    asked, about = value.get("asked"), value.get(ABOUT)
    if not (isinstance(asked, str) and asked.strip()):
        return None
    named = cut(about, MAX_LINE) if isinstance(about, str) else ""
    view = value.get("view")
    before = [name[:MAX_LINE] for name in view if isinstance(name, str)][:MAX_NAMES] if isinstance(view, list) else []
    if not named:
        return ViewChange(asked[:MAX_ASKED])
    return ViewChange(changed(asked[:MAX_ASKED], named, before), tuple(new_names(named, before)))


def read_web(value: Any) -> bool:
    """Whether the value of a message says that the web is to be searched too."""
    value = _sent(value)
    return isinstance(value, dict) and value.get("verb") == WEB


def read_rework(value: Any) -> Rework | None:
    """What the value of a message says of a button that reworks an answer; None if it is something else."""
    value = _sent(value)
    if not isinstance(value, dict) or value.get("verb") != REWORK or value.get("how") not in get_args(How):
        return None
    entry_id, language = value.get("entry_id"), value.get("language")
    if not isinstance(entry_id, str) or not entry_id:
        return None
    return Rework(value["how"], entry_id[:100], language if isinstance(language, str) and language in LANGUAGES else "")


def _sent(value: Any) -> Any:
    """The value of a message that a button sent. Some clients send it as JSON text."""
    if isinstance(value, str) and value.startswith("{"):
        with suppress(ValueError, RecursionError):
            return json.loads(value)
    return value


def read_gap(value: Any) -> Gap | None:
    """What the value of a card's invoke, or of the message of `Action.Submit`, says of a gap; None if it is something else."""
    action = value.get("action") if isinstance(value, dict) else None
    data = action.get("data") if isinstance(action, dict) else value
    if not isinstance(data, dict) or data.get("verb") != GAP or not isinstance(data.get("entry_id"), str):
        return None
    language = data.get("language")
    return Gap(data["entry_id"][:100], language if isinstance(language, str) else "en")


def in_its_place(card: Json) -> Json:
    """The answer to an invoke: the card that takes the place of the one that was pressed."""
    return {"statusCode": 200, "type": CARD, "value": card}


def card_of(body: list[Json], fallback: str, actions: Sequence[Json] = ()) -> Json:
    """A card of these parts; `fallback` is read where a client shows no cards, and aloud."""
    return {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": VERSION,
        "fallbackText": fallback,
        "msteams": {"width": "Full"},
        "body": body,
        **({"actions": list(actions)} if actions else {}),
    }


def _head(reply: ReplyView, w: CardWords) -> list[Json]:
    line = verdict_line(reply, w)
    items: list[Json] = []
    if reply.outcome in _HEADS:
        name, colour = _HEADS[Outcome(reply.outcome)]
        items.append(text_block(w(name), weight="Bolder", color=colour))
    if line:
        items.append(text_block(line, color="Good" if _is_good(reply) else "Default"))
    return items


def _is_good(reply: ReplyView) -> bool:
    """Whether an answer is shown green: values were checked, each stands in a source that is cited, and nothing of the question is left open, nor asked back. A conversation's
    summary rests on what was said in it.
    """
    open_ = bool(reply.unanswered or reply.asked_back)
    whole = reply.outcome == Outcome.ANSWERED and not open_ and bool(reply.citations)
    return whole and any(c.kind != "statement" for c in reply.claims) and not any(map(_doubtful, reply.claims))


def _view(shown: Shown) -> list[Json]:
    """The line that says what the call is about, with the way to change it. The question stands in the message that is answered."""
    if shown.view is None or not (shown.view or shown.asked):
        return []
    names = " · ".join(cut(name, MAX_VALUE) for name in shown.view)
    told = shown.words("view", names=names) if names else shown.words("view_none")
    line = {"type": "Column", "width": "stretch", "items": [text_block(told, isSubtle=True, size="Small")]}
    unfold = {"type": "ActionSet", "actions": [_toggle(shown.words("change"), "view", ["view"])]}
    return [{"type": "ColumnSet", "columns": [line, {"type": "Column", "width": "auto", "items": [unfold]}]}]


def _change(shown: Shown) -> list[Json]:
    """What *Change* unfolds: a field for what the customer has, with which the question is asked again, and the way to another customer."""
    if not _view(shown):
        return []
    w = shown.words
    new = _say(w("new_customer"), w("new_customer"))
    if not shown.asked:
        return [{"type": "ActionSet", "actions": [new]}]
    field_ = {
        "type": "Input.Text",
        "id": ABOUT,
        "label": w("about"),
        "maxLength": MAX_LINE,
        "value": ", ".join(shown.view or ())[:MAX_LINE],
    }
    again = {
        "type": "Action.Submit",
        "title": w("ask_again"),
        "data": {"verb": CHANGE, "asked": shown.asked, "view": list(shown.view or ())},
    }
    return [field_, {"type": "ActionSet", "actions": [again, new]}]


def _missing(reply: ReplyView, shown: Shown) -> list[Json]:
    """The parts of the question that no source answers. The question as a whole stands above, and is not said again."""
    parts = missing_parts(reply, "")[:MAX_MISSING]
    return [text_block(shown.words("missing", part=cut(part, MAX_LINE)), isSubtle=True) for part in parts]


def _struck(reply: ReplyView, w: CardWords) -> list[Json]:
    """The draft of a withheld answer, for the human agent alone: what no source supports is struck out."""
    draft = reply.draft
    if reply.outcome != Outcome.WITHHELD or draft is None or not draft.text.strip():
        return []
    text = draft.text if len(draft.text) <= MAX_DRAFT else draft.text[: whole_until(draft.text, MAX_DRAFT)]
    spans = _merged([(c.start, min(c.end, len(text))) for c in draft.unsupported if c.start < len(text)])
    runs: list[Json] = []
    at = 0
    for start, end in spans:
        runs += [{"type": "TextRun", "text": text[at:start]}] if start > at else []
        runs.append({"type": "TextRun", "text": text[start:end], "strikethrough": True, "color": "Attention"})
        at = end
    runs += (
        [{"type": "TextRun", "text": text[at:] + ("…" if len(draft.text) > MAX_DRAFT else "")}]
        if at < len(text)
        else []
    )
    return [text_block(w("struck"), isSubtle=True, size="Small"), {"type": "RichTextBlock", "inlines": runs}]


def _merged(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    out: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], end))
        elif end > start:
            out.append((start, end))
    return out


def _claims(reply: ReplyView, w: CardWords, rows: int) -> list[Json]:
    """A row for each value: what it is, what was found, and in which source; those first that somebody should look at. What is said twice stands once."""
    said = told_values(reply.claims, reply.answer) if reply.delivered else []
    values = sorted(said, key=lambda told: not _doubtful(told.claim))
    return claim_rows(values, {c.chunk_id: c for c in reversed(reply.citations)}, w, rows)


def claim_rows(values: Sequence[Told], places: Mapping[str, ListedSource], w: CardWords, rows: int) -> list[Json]:
    """A row for each claim, at most so many; `places`: sources by the id of their passage."""
    items = [_row(told, places, w) for told in values[:rows]]
    return [*items, text_block(w("more", n=len(values) - rows), isSubtle=True)] if len(values) > rows > 0 else items


def _doubtful(claim: Claim) -> bool:
    """Whether somebody should look at a value that was delivered."""
    return claim.status in ("unchecked", "conflict") or claim.trust is not None


def _row(told: Told, places: Mapping[str, ListedSource], w: CardWords) -> Json:
    claim = told.claim
    cited = next((places[e.source] for e in claim.evidence if e.source in places), None)
    where = f"[{cited.n}] {cut(cited.name, MAX_VALUE)}" if cited is not None else ""
    doubt = bool(told.doubt) or _doubtful(claim)
    texts: list[tuple[str, Json]] = [
        (cut(told.title, MAX_VALUE), {"weight": "Bolder"}),
        (
            told.doubt or w.status(claim.status),
            {"color": "Attention"} if claim.unsupported else {"color": "Warning"} if doubt else {},
        ),
        (where, {"isSubtle": True}),
    ]
    columns = [
        {"type": "Column", "width": "stretch", "items": [text_block(t, size="Small", **look)]} for t, look in texts if t
    ]
    return {"type": "ColumnSet", "columns": columns}


def _sources(reply: ReplyView, shown: Shown, rows: int) -> list[Json]:
    listed = reply.citations if reply.delivered else reply.offered
    cited = {int(n) for n in MARKER.findall(reply.answer)}
    chosen = {c.n: c for c in reversed(listed) if c.n in cited or not reply.delivered}
    lines = []
    for n in sorted(chosen)[:rows]:
        source = chosen[n]
        date = shown.words.day(shown.dates.get(n, ""))
        internal = shown.words("not_for_all") if n in shown.internal else ""
        said = (source.name, source.place, shown.words("as_of", date=date) if date else "", source.web, internal)
        lines.append(f"[{n}] " + " · ".join(cut(part, MAX_LINE) for part in said if part))
    return [text_block(line, size="Small") for line in lines]


def _customer(reply: ReplyView, shown: Shown) -> list[Json]:
    """The answer as it can be sent on: no marks but those of contacts that nobody answers for and of what not everyone may read, plain text."""
    if not reply.delivered:
        return []
    text = customer_copy(reply, shown.words, shown.internal)
    look = text_block(shown.words("look_internal"), color="Attention", size="Small")
    head = look if _cites(reply, shown.internal) else text_block(shown.words("customer"), isSubtle=True, size="Small")
    return [head, {"type": "RichTextBlock", "inlines": [_run(text)]}] if text else []


def _cites(reply: ReplyView, internal: Collection[int]) -> bool:
    return any(int(n) in internal for n in MARKER.findall(reply.answer))


def _steps(reply: ReplyView, shown: Shown) -> list[Json]:
    """What can be done next: ask again in another way, or say that something is missing."""
    w, asked = shown.words, shown.asked
    steps = [_say(option, completed) for option, completed in shown.choices]
    if reply.outcome == Outcome.WITHHELD and asked and reply.draft and reply.drafts_anew:
        values = [c.text for c in reply.draft.unsupported if c.kind != "statement"] or [
            c.text for c in reply.draft.unsupported
        ]
        if values:
            without = w("without", values=", ".join(cut(v, MAX_VALUE) for v in dict.fromkeys(values[:5])))
            steps.append(_say(w("ask_without"), f"{asked}\n{without}"))
    if reply.outcome == Outcome.INSUFFICIENT and asked and shown.web:
        steps.append(_say(w("search_web"), asked, {"verb": WEB}))
    if reply.outcome == Outcome.INSUFFICIENT and not shown.gap_told:
        data = {"verb": GAP, "entry_id": reply.entry_id, "language": shown.language}
        submit = {"type": "Action.Submit", "title": w("gap"), "data": data}
        steps.append({"type": "Action.Execute", "title": w("gap"), "verb": GAP, "data": data, "fallback": submit})
    if may_be_tried_again(reply) and asked:
        steps.append(_say(w("try_again"), asked))
    return steps


def may_be_tried_again(reply: ReplyView) -> bool:
    """Whether the same question may end better: what failed, and what was held back where drafts are made anew."""
    return reply.outcome == Outcome.FAILED or (reply.outcome == Outcome.WITHHELD and reply.drafts_anew)


def _open(shown: Shown) -> list[Json]:
    return (
        [{"type": "Action.OpenUrl", "title": shown.words("evidence"), "url": shown.evidence}] if shown.evidence else []
    )


def _reworks(reply: ReplyView, shown: Shown) -> list[Json]:
    """Buttons for what can be made of the answer, and below them the languages that it can be translated into."""
    if not reply.delivered or not reply.citations:
        return []
    rows = (
        [(shown.words(f"rework_{r.how}"), r) for r in shown.reworks if r.how != "translate"],
        [(LANGUAGES[r.language].own, r) for r in shown.reworks if r.how == "translate"],
    )
    return [s for row in rows for s in _action_sets([_make(title, r, reply) for title, r in row])]


def _action_sets(actions: Sequence[Json]) -> list[Json]:
    """Rows of so many buttons that their words are whole on a card in a chat."""
    return [{"type": "ActionSet", "actions": list(actions[i : i + A_ROW])} for i in range(0, len(actions), A_ROW)]


def _make(title: str, rework: Rework, reply: ReplyView) -> Json:
    said = LANGUAGES[rework.language].into if rework.language else title
    return _say(title, said, {"verb": REWORK, **plain(replace(rework, entry_id=reply.entry_id))})


def _say(title: str, text: str, value: Json | None = None) -> Json:
    """A button that sends `text` as the person's next message, and with it `value`, which no words can say."""
    sent = {"type": "messageBack", "displayText": title, "text": text, **({"value": value} if value else {})}
    return {"type": "Action.Submit", "title": cut(title, MAX_VALUE), "data": {"msteams": sent}}


def _toggle(title: str, name: str, all_names: Sequence[str]) -> Json:
    """A button that unfolds one part and folds the others."""
    targets: list[Json | str] = [name, *({"elementId": n, "isVisible": False} for n in all_names if n != name)]
    return {"type": "Action.ToggleVisibility", "title": title, "targetElements": targets}


def _run(text: str) -> Json:
    return {"type": "TextRun", "text": text}


def text_block(text: str, **look: Any) -> Json:
    """A block of literal text. Markdown is read in a TextBlock and differently by each client, in a TextRun by none."""
    return {"type": "RichTextBlock", "inlines": [{"type": "TextRun", "text": text, **look}]}
