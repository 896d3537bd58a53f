"""What was found of a message that somebody had checked: its values and sentences, those that somebody should look at first, each with the lines of the sources
that say so. As a card, and in words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bot.teams.extension.cards import dialog
from bot.teams.extension.talk import is_of_the_talk
from bot.teams.ports import Json
from bot.teams.shown.answer_card import card_of, claim_rows, text_block
from bot.teams.shown.render import plain
from bot.view.reply import ListedSource
from bot.view.told import Told, told_values
from bot.view.verdict import MAX_VALUE, cut
from bot.wording.contacts import source_tag, whose
from bot.wording.conversation.card import CardWords
from bot.wording.conversation.extension import ExtensionWords
from bot.wording.evidence import EvidenceWords
from bot.wording.values import value_at
from grounding.records import Passage
from grounding.text import body_start, sentences, terms
from rai.records import SUPPORTED, Claim, EvidenceSpan, Report

ROWS, MAX_CHECKED = 12, 2000
MAX_LINE, LONGEST, LEAST_SHARED = 110, 2000, 0.5
"""Characters of a line of a source shown to each side of a value; those to each side that are read for its sentence; the share of a sentence's words from which on a
line speaks of the same.
"""


@dataclass(frozen=True, slots=True)
class CheckedRow:
    """A value or a sentence with the lines of the sources that the verdict on it rests on."""

    told: Told
    lines: tuple[str, ...]

    @property
    def is_fine(self) -> bool:
        return self.told.claim.status in SUPPORTED and not self.told.doubt


@dataclass(frozen=True, slots=True)
class CheckedMessage:
    """What was found of a message. `line`: the verdict in a line, with its colour; `places`: the sources by the id of their passage."""

    message: str
    line: str
    colour: str
    rows: tuple[CheckedRow, ...]
    places: Mapping[str, ListedSource]


def found_of(
    text: str, report: Report, passages: Sequence[Passage], words: ExtensionWords, card: CardWords
) -> CheckedMessage:
    """What the report says of a message: each value with its status in words, its source and the line that it stands in there, the unsupported
    first. Whose value it is, a price of which plan, that line shows.
    """
    texts = {p.chunk_id: p.text for p in passages}
    open_ = _open_beside(report)
    told_of = [each for each in told_values(report.claims, text) if not is_of_the_talk(each.claim, text)]
    values = [_apart(replace(t, claim=_nearest_first(t.claim, texts, text)), open_, words) for t in told_of]
    beside = [*values, *(Told(c, c.text) for c in _unconfirmed(report))]
    sorted_ = sorted(beside, key=lambda t: (not t.claim.unsupported, t.claim.status in SUPPORTED, not t.doubt))
    line, colour = _verdict([each.claim for each in sorted_], len(values), report, words, card)
    rows = [CheckedRow(t, tuple(_all_lines(t, report, open_, passages, texts))) for t in sorted_]
    shown = {line for row in rows if row.told.claim.kind != "statement" for line in row.lines}
    rows = [
        replace(row, lines=tuple(line for line in row.lines if line not in shown))
        if row.told.claim.kind == "statement"
        else row
        for row in rows
    ]
    return CheckedMessage(
        text, line, colour, tuple(rows), {p.chunk_id: _listed(n, p, words) for n, p in enumerate(passages, 1)}
    )


def _verdict(
    claims: Sequence[Claim], values: int, report: Report, words: ExtensionWords, card: CardWords
) -> tuple[str, str]:
    """The verdict in a line, and its colour."""
    wrong = sum(c.unsupported for c in claims)
    doubtful = sum(not c.unsupported and c.status not in SUPPORTED for c in claims)
    unvouched = any(c.trust is not None for c in claims)
    told = [card.count("checked", values)] if values else []
    told += [words.count("unsupported", wrong)] if wrong else []
    told += [card.count("doubtful", doubtful)] if doubtful else []
    told += [f"⚠ {EvidenceWords(words.language)('look_first')}"] if unvouched else []
    left = len(_open_beside(report))
    told += [words.count("open", left)] if left else []
    confirmed = any(
        c.kind == "statement" and c.status in SUPPORTED for c in report.claims
    )  # "lunch at 12?" says nothing
    good = bool(values) and confirmed and not (wrong or doubtful or unvouched or left)
    if good:
        told.append(words("all_supported"))
    elif not told:
        told.append(words("no_values"))
    return " · ".join(told), "Attention" if wrong else "Warning" if unvouched else "Good" if good else "Default"


def check_card(found: CheckedMessage, card: CardWords) -> Json:
    """The card of what was found."""
    rows = [[row] for row in claim_rows([row.told for row in found.rows], found.places, card, ROWS)]
    for items, row in zip(rows, found.rows[:ROWS], strict=False):
        quoted = [text_block(f"“{line}”", isSubtle=True, size="Small") for line in row.lines]
        items += [{**block, "spacing": "Small"} for block in quoted]
    body = [
        text_block(cut(found.message, MAX_CHECKED), isSubtle=True),
        text_block(found.line, weight="Bolder", color=found.colour),
        *(item for items in rows for item in items),
    ]
    return card_of(body, found.line)


def check_text(found: CheckedMessage, card: CardWords) -> str:
    """What was found in words, as markdown: the verdict, and what somebody should look at."""
    rows = [row for row in found.rows if not row.is_fine][:ROWS]
    return "\n\n".join([f"**{plain(found.line)}**", *(f"- {_in_words(row, card)}" for row in rows)])


def _in_words(row: CheckedRow, card: CardWords) -> str:
    claim = row.told.claim
    title = cut(row.told.title, 2 * MAX_LINE).rstrip(".")
    said = f"{plain(title)}: {row.told.doubt or card.status(claim.status)}."
    return " ".join([said, *(f"“{plain(line)}”" for line in row.lines)])


def checked(text: str, report: Report, passages: Sequence[Passage], words: ExtensionWords, card: CardWords) -> Json:
    """The dialog with what was found of a message."""
    return dialog(words("check_title"), check_card(found_of(text, report, passages, words, card), card))


def _apart(told_: Told, open_: Sequence[Claim], words: ExtensionWords) -> Told:
    """A supported value of a sentence that nobody confirmed: it stands in a source, and perhaps of something else. Of a contact that nobody answers for whose word it is."""
    claim = told_.claim
    if claim.trust is not None:
        return replace(told_, doubt=f"⚠ {whose(claim.trust, words.language)}")
    within = any(c.start <= claim.start and claim.end <= c.end for c in open_)
    sure = claim.status in SUPPORTED and claim.kind != "entity"
    return replace(told_, doubt=words("apart")) if within and sure else told_


def _all_lines(
    told_: Told, report: Report, open_: Sequence[Claim], passages: Sequence[Passage], texts: Mapping[str, str]
) -> list[str]:
    """The lines that stand below a value or a sentence, each once."""
    lines = [*_lines(told_.claim, texts), *_said_beside(told_, open_, texts)]
    if not lines and told_.claim.kind == "statement":
        lines = _said_of_it(told_.claim, texts)
    if not lines and told_.claim.kind in _FORMS and told_.claim.status not in SUPPORTED:
        lines = _said_instead(told_.claim, report, passages)
    return list(dict.fromkeys(lines))


_FORMS = {
    "money": re.compile(r"[$€£¥]\s?\d|\d\s?(?:[$€£¥]|(?:USD|EUR|GBP|CAD|CHF|euros?|dollars?|pounds?)\b)"),
    "percent": re.compile(r"\d\s?(?:%|per ?cent)"),
    "quantity": re.compile(r"\d"),
}
"""What in a line can be a value of the same kind; a quantity has the same unit too. A contact of another is not told in a wrong one's place."""
_JOINTS = re.compile(r"[,;]\s|\s(?:and|but|or|und|aber|oder|et|mais|ou|y|pero|e|ma|mas|en|maar)\s", re.IGNORECASE)
LEAST_TOLD = 3
"""Terms of a line that says something; fewer are a heading."""


def _said_of_it(claim: Claim, texts: Mapping[str, str]) -> list[str]:
    """The line that a sentence was held against, if it has many of its words: it may say the opposite."""
    said = frozenset(terms(claim.text))
    spans = [e for e in claim.evidence if e.field == "text" and e.source in texts]
    lines = [_line_of(e, texts[e.source]) for e in spans[:1]]
    told = [line for line in lines if len(set(terms(line))) >= LEAST_TOLD]
    return [line for line in told if len(said & frozenset(terms(line))) >= max(2, LEAST_SHARED * len(said))]


def _said_instead(claim: Claim, report: Report, passages: Sequence[Passage]) -> list[str]:
    """Of a value that no source has what sources say in its place: the lines with a value of its kind that say most words of its clause, the page's title among them, two at
    most; none where no line says the name before it.
    """
    clause = _clause(claim, report)
    own = frozenset(terms(claim.text))
    said = frozenset(terms(clause)) - own
    before = [c for c in report.claims if c.kind == "entity" and c.end <= claim.start and c.text in clause]
    name = frozenset(terms(before[-1].text)) if before else frozenset()
    unit = own - {term for term in own if any(map(str.isdigit, term))} if claim.kind == "quantity" else frozenset()
    found: dict[str, int] = {}
    for passage in passages:
        title = frozenset(terms(passage.title))
        for line in passage.text.splitlines():
            told = frozenset(terms(line))
            shared = len(said & (told | title))
            tells = _FORMS[claim.kind].search(line) is not None and unit <= told and name <= told | title
            if tells and said & told and shared >= max(2, LEAST_SHARED * len(said)):
                found.setdefault(cut(line[body_start(line) :], 2 * MAX_LINE), shared)
    return sorted(found, key=lambda line: (-found[line], len(line)))[:2]


def _clause(claim: Claim, report: Report) -> str:
    """The part of its sentence that a value stands in."""
    sentence = next((c for c in report.claims if c.kind == "statement" and c.start <= claim.start < c.end), claim)
    at = claim.start - sentence.start
    cuts = [0, *(m.end() for m in _JOINTS.finditer(sentence.text)), len(sentence.text)]
    begin = max(c for c in cuts if c <= at)
    end = min((c for c in cuts if c > at + len(claim.text) - 1), default=len(sentence.text))
    return sentence.text[begin:end]


def _said_beside(told_: Told, open_: Sequence[Claim], texts: Mapping[str, str]) -> list[str]:
    """Of a value in doubt the line without it that has most words of its sentence, if it has many: what the passages say of what the sentence is about."""
    sentence = next((c.text for c in open_ if c.start <= told_.claim.start < c.end), "")
    if not (told_.doubt and sentence):
        return []
    said = frozenset(terms(sentence))
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
    end = at + len(place.text)
    begin = min(at, value_at(line, max(first, at - MAX_LINE))[1])
    stop = max(end, value_at(line, min(last, end + MAX_LINE))[0])
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
    tag = source_tag(p.trust, words.language)
    return ListedSource(n, name, p.locator or "", p.url or "", p.doc_id, p.chunk_id, "", p.tier, tag)
