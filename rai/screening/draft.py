"""The screening of a model's draft before anybody sees it.

A draft is no request: the screen's rules ask who wants what from whom, here the question is what an answer must never say. It must
not insult, threaten or talk sex to a customer, not tell the instructions it was given, and carry nothing that a client would load or
run, nor a link that takes the conversation elsewhere. The first two block; images and such links are taken out and noted.

What stands word for word in the company's own documents is its own and is never touched: an answer that quotes passes as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from grounding.tables import yaml_table
from rai.records import Category, Screening
from rai.screening.markup import cleaned
from rai.screening.normal_forms import decoded, normal
from rai.screening.screen import BLOCK_AT

LEAK = "DL-01"
MARKER = "DL-02"
GRAM = 5
"""Words in a row that a draft and our instructions have in common by chance no more than once."""
LEAKED = 8
"""Words of a draft in such rows from which on it tells the instructions: two rows, or one of eight words."""
SHORTEST_MARKER = 6
"""Fewest characters of a marker that is looked for in a draft."""
_AROUND = 3
"""Words to each side of an offence that have to be a document's too."""
_SCORE = 0.95
"""The score of a draft that is blocked."""
_WORD = re.compile(r"\w+")
_CITED = re.compile(r"\[\d{1,3}\]")
_FILLED = re.compile(r"\{\{\w+\}\}")


@dataclass(frozen=True, slots=True)
class DraftMaterial:
    """The texts that a draft was made from. `own`: the company's documents; `found`: the web's; `said`: question, conversation and agent
    context; `ours`: our templates; `markers`: what set data apart in this turn's prompt and belongs in no answer.
    """

    own: Sequence[str] = ()
    found: Sequence[str] = ()
    said: Sequence[str] = ()
    ours: tuple[str, ...] = ()
    markers: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class JudgedDraft:
    """A draft after screening: the text that may be shown if `screening` allows it; `notes` tell what was taken out."""

    text: str
    screening: Screening
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DraftRule:
    """A rule over a draft's normal form (`normal_forms.normal`). `why`: what it is for; `unless`: takes a hit back; `fires`, `spares`: an example of each."""

    id: str
    category: Category
    why: str
    pattern: re.Pattern[str]
    unless: re.Pattern[str] | None
    fires: str
    spares: str


@cache
def draft_rules() -> tuple[DraftRule, ...]:
    """The rules for drafts, of `draft_rules.yaml`, in its order."""
    rows = yaml_table(__file__, "draft_rules.yaml")
    compiled = [
        {**row, "pattern": re.compile(row["pattern"]), "unless": re.compile(row["unless"]) if "unless" in row else None}
        for row in rows
    ]
    return tuple(DraftRule(**row) for row in compiled)


def judge_draft(draft: str, around: DraftMaterial) -> JudgedDraft:
    """The decision on a draft, and the draft without what a client would load or run (`markup.cleaned`)."""
    text, notes = cleaned(draft, own=around.own, found=around.found, said=around.said)
    rule = _leak(draft, around)
    if rule is not None:
        return JudgedDraft(text, Screening("block", "instruction_leak", rule, _SCORE, threshold=BLOCK_AT), notes)
    offence = _offence(text, around.own)
    if offence is not None:
        return JudgedDraft(text, Screening("block", offence.category, offence.id, _SCORE, threshold=BLOCK_AT), notes)
    return JudgedDraft(text, Screening("allow", threshold=BLOCK_AT), notes)


# --- what must not be said --------------------------------------------------------------------------------------------


def _offence(text: str, own: Sequence[str]) -> DraftRule | None:
    plain = normal(_CITED.sub("", text))
    for rule in draft_rules():
        for match in rule.pattern.finditer(plain):
            sentence, start = _sentence(plain, match)
            if rule.unless is not None and rule.unless.search(sentence):
                continue
            if not _quotes(sentence, match.start() - start, match.end() - start, own):
                return rule
    return None


def _sentence(plain: str, match: re.Match[str]) -> tuple[str, int]:
    """The sentence around a match and where it begins."""
    start = max(plain.rfind(mark, 0, match.start()) for mark in ".!?\n") + 1
    ends = [at for mark in ".!?\n" if (at := plain.find(mark, match.end())) >= 0]
    return plain[start : min(ends, default=len(plain))], start


def _quotes(sentence: str, start: int, end: int, own: Sequence[str]) -> bool:
    """True if the words stand in a document of the company, together with those beside them in the sentence."""
    before, after = _words(sentence[:start])[-_AROUND:], _words(sentence[end:])[:_AROUND]
    words = [*before, *_words(sentence[start:end]), *after]
    return any(f" {' '.join(words)} " in f" {' '.join(_words(normal(text)))} " for text in own)


# --- what must not be told --------------------------------------------------------------------------------------------


def _leak(draft: str, around: DraftMaterial) -> str | None:
    if any(marker.lower() in draft.lower() for marker in around.markers if len(marker) >= SHORTEST_MARKER):
        return MARKER
    forms = [draft, draft[::-1], *decoded(draft)]
    return LEAK if any(_tells(_words(normal(form)), around) for form in forms) else None


def _tells(words: list[str], around: DraftMaterial) -> bool:
    ours = _instructions(around.ours)
    if _covered(words, ours) < LEAKED:
        return False
    elsewhere = {gram for text in (*around.own, *around.found, *around.said) for gram in _grams(_words(normal(text)))}
    return _covered(words, ours - elsewhere) >= LEAKED


def _covered(words: list[str], grams: frozenset[tuple[str, ...]]) -> int:
    """How many words lie in a row that is one of `grams`."""
    places = {at + i for at, gram in enumerate(_grams(words)) if gram in grams for i in range(GRAM)}
    return len(places)


@cache
def _instructions(ours: tuple[str, ...]) -> frozenset[tuple[str, ...]]:
    pieces = [piece for text in ours for line in text.splitlines() for piece in _FILLED.split(line)]
    return frozenset(gram for piece in pieces for gram in _grams(_words(normal(piece))))


def _grams(words: list[str]) -> Iterable[tuple[str, ...]]:
    return zip(*(words[i:] for i in range(GRAM)), strict=False)


def _words(plain: str) -> list[str]:
    return _WORD.findall(plain)
