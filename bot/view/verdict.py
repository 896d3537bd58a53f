"""What the check came to, in words: the verdict in a line, and what of a draft was changed or held back and why."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bot.view.reply import ReplyView
from bot.view.told import told_values, value_title
from bot.wording.conversation.card import CardWords
from bot.wording.conversation.customer_text import without_marks
from bot.wording.values import whole_until
from rai.records import Claim, Outcome

MAX_VALUE, MAX_LINE = 60, 120
"""Characters of a value, and of a line, that are shown of it."""


LEAST_OF = 1 / 3
"""The share of a value's length below which what stands in the source instead is a part of it and no replacement: the 4 of an address."""


@dataclass(frozen=True, slots=True)
class DraftChange:
    """What became of something in the draft: `now` is what stands there in the answer, None if it was taken out."""

    claim: Claim
    now: str | None


def changes(reply: ReplyView) -> list[DraftChange]:
    """What the answer does not say as the draft said it; a sentence is told only if no value in it is."""
    if reply.draft is None or not reply.delivered:
        return []
    wrong = reply.draft.unsupported
    values = [c for c in wrong if c.kind != "statement"]
    apart = [
        c for c in wrong if c.kind == "statement" and not any(c.start <= v.start and v.end <= c.end for v in values)
    ]
    return [DraftChange(c, _now(c, reply.answer)) for c in sorted([*values, *apart], key=lambda c: c.start)]


def _now(claim: Claim, answer: str) -> str | None:
    """What stands in the answer in place of a value: what the source has instead, if the answer says that and no longer says the value."""
    instead = claim.instead
    if instead is None or claim.kind == "statement" or len(instead.text) < LEAST_OF * len(claim.text):
        return None
    return instead.text if _says(answer, instead.text) and not _says(answer, claim.text) else None


def _says(answer: str, value: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", answer) is not None


def verdict_line(reply: ReplyView, words: CardWords) -> str:
    """The verdict in a line, as `8 values checked · 1 corrected: 4 h → 5 h · 1 part taken out`; empty where no answer was delivered."""
    if not reply.delivered:
        return ""
    values = told_values(reply.claims, reply.answer)
    made = changes(reply)
    corrected = [c for c in made if c.now is not None]
    removed = len(made) - len(corrected)
    doubtful = sum(told.claim.status in ("unchecked", "conflict") for told in values)
    parts = [words.count("checked", len(values)) if values else words("nothing_checked")]
    if corrected:
        told = ", ".join(f"{cut(c.claim.text, MAX_VALUE)} → {cut(c.now or '', MAX_VALUE)}" for c in corrected[:3])
        parts.append(f"{words.count('corrected', len(corrected))}: {told}")
    parts += [words.count("removed", removed)] if removed else []
    parts += [words.count("doubtful", doubtful)] if doubtful else []
    return " · ".join(parts)


def why_lines(reply: ReplyView, words: CardWords, most: int) -> list[str]:
    """At most so many lines, as `4 h → 5 h: the source says otherwise`: what was changed, or held back, and what the check had found of it."""
    made = changes(reply)
    if not made and reply.outcome == Outcome.WITHHELD and reply.draft is not None:
        made = [DraftChange(claim, None) for claim in reply.draft.unsupported]
    return [f"{_before_and_now(change, reply)}: {words.status(change.claim.status)}" for change in made[:most]]


def _before_and_now(change: DraftChange, reply: ReplyView) -> str:
    if change.now:
        return f"{cut(change.claim.text, MAX_LINE)} → {cut(change.now, MAX_VALUE)}"
    if change.claim.kind == "statement" or reply.draft is None:
        return cut(without_marks(change.claim.text), MAX_LINE)
    return cut(value_title(change.claim, reply.draft.text), MAX_LINE)


def missing_parts(reply: ReplyView, asked: str) -> list[str]:
    """The parts of a question that no source answers; of one without an answer that has no parts the whole, `asked`."""
    if reply.outcome == Outcome.INSUFFICIENT:
        return list(reply.unanswered) or ([asked] if asked else [])
    return list(reply.unanswered) if reply.delivered else []


def cut(text: str, limit: int) -> str:
    """A text in a line, at most so many characters of it; no contact or amount is cut in two."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: whole_until(line, limit - 1)].rstrip() + "…"
