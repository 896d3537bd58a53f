"""Statements, the sentences of an answer, against the sources: what a rule decides, else how likely it is that a source supports them.

`entailed` and `contradicted` carry the rule that decided. A sentence is never condemned because its words stand in no source: free
wording has none of them. What no rule decides is `unchecked`, with its nearest place and the chance that it is supported.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from grounding.text import BAR, STOP_WORDS, caseless, stem, words
from rai.check.comparison.lookup_keys import rivalled
from rai.check.context import CheckContext, Finding
from rai.check.phrasing.plain import plain_words, substance
from rai.check.statements.contrast import denies
from rai.check.statements.covered import covered
from rai.check.statements.overtaken import is_overtaken
from rai.check.statements.polarity import heads
from rai.check.statements.prepared import PreparedStatement, read_statement
from rai.check.statements.statement_rules import RULES
from rai.claims.find import find_values
from rai.records import Claim

COVERED = "statement-covered"
"""Name of the rule that supports a sentence by its likeness to the sources."""
DOUBTFUL = frozenset({"unchecked", "conflict"})
"""Statuses of a value that leave its sentence open, beside those that do not support it."""
_LONGEST = 4000
"""Most characters of a sentence that rules read; a longer one is none that a person wrote, and stays open."""
_NAMED = 3
"""Most words that a reason names."""


def match_statement(sentence: str, context: CheckContext, valued: frozenset[str] = frozenset()) -> Finding:
    """The finding of one sentence. `valued`: words of the values in it, in lower case, which are judged by themselves and named in no reason."""
    if not substance(sentence):
        return Finding("unchecked", (), "A question, a courtesy or a lead-in claims nothing.")
    if len(sentence) > _LONGEST:
        return Finding("unchecked", (), "Too long for one sentence; words alone cannot decide.")
    said = read_statement(plain_words(sentence), context)
    for rule in RULES:
        decision = rule.judge(said)
        if decision is not None and not is_overtaken(decision, said.plain, context):
            return Finding(decision.status, decision.evidence, decision.why, rule=rule.id, p=_CHANCES.get(rule.id))
    return _weighed(said, valued)


def _weighed(said: PreparedStatement, valued: frozenset[str]) -> Finding:
    spans = tuple(dict.fromkeys(p.candidates[0].unit.span for p in said.parts if p.candidates))
    if not spans:
        return Finding("unchecked", (), "No source has words of it that could be compared.", p=_NO_WORDS)
    found = covered(said)
    if found.held and not said.plain.endswith("?") and not _is_doubtful(said):
        return Finding("entailed", spans, "Said in other words, with the same sense.", rule=COVERED, p=found.p)
    return Finding("unchecked", spans[:1], _open(said, valued), p=found.p)


_NAME = re.compile(r"(?<![^\W_])(?:[A-Z][\w-]*|[A-Za-z-]*\d[\w-]*)")


def _is_doubtful(said: PreparedStatement) -> bool:
    return _is_denied_somewhere(said) or _is_denied_nearest(said) or _of_a_sibling(said)


def _is_denied_nearest(said: PreparedStatement) -> bool:
    """Whether the nearest sentence of a source denies a word that this one, which denies nothing, affirms: "will not charge it"."""
    if denies([c for part in said.parts for c in part.clause.cues]):
        return False
    affirmed = frozenset(t.key for part in said.parts for t in part.clause.terms)
    nearest = dict.fromkeys(part.candidates[0].unit for part in said.parts if part.candidates)
    return any(
        head.denied and head.word.key in affirmed and not unit.span.text.startswith(_THAN, head.word.end)
        for unit in nearest
        for head in heads(unit.span.text, said.code)
    )


def _is_denied_somewhere(said: PreparedStatement) -> bool:
    """Whether a sentence of a source names all that this one names and denies something of it, where this one denies nothing: whatever other sentences hold, it is not
    for certain then.
    """
    names = frozenset(name.lower() for name in _NAME.findall(said.plain)) - STOP_WORDS
    if len(names) < _FEWEST_NAMES or denies([c for part in said.parts for c in part.clause.cues]):
        return False
    near = dict.fromkeys(c.unit for part in said.parts for c in part.candidates)
    keyed = (
        said.field.units[n]
        for part in said.parts
        for t in part.clause.terms
        for n in said.field.places.get(t.key, ())[:_MOST]
    )
    return any(
        denies(unit.cues) and names <= frozenset(w.text.lower() for w in words(unit.span.text))
        for unit in dict.fromkeys((*near, *keyed))
    )


def _of_a_sibling(said: PreparedStatement) -> bool:
    """Whether the nearest sentence of a source to one of its clauses names a thing of the same kind and none that the sentence names: the E2, where it is said of the E1."""
    mine = frozenset(_MODEL.findall(said.plain))
    if not mine:
        return False
    nearest = (part.candidates[0].unit for part in said.parts if part.candidates)
    return any(
        (theirs := frozenset(_MODEL.findall(unit.span.text)))
        and mine.isdisjoint(theirs)
        and not any(name.lower() in unit.above for name in mine)
        for unit in nearest
    )


_THAN = (" than", " als", " que", " di ", " dan", " niż")
"""Behind a word that a bound denies: no later than."""
_MODEL = re.compile(r"(?<![\w-])[A-Z]{1,3}\d{1,3}(?![\w-])")
"""A letter or two with a number, as things of one kind are told apart by: X1, C2, H1."""
_FEWEST_NAMES, _MOST = 2, 40
"""Fewest names by which a sentence is found again, and most pieces of the sources that are looked at for each word of it."""


def _open(said: PreparedStatement, valued: frozenset[str]) -> str:
    """Why a sentence is left open, as a sentence for a person."""
    unsaid = [t.word for p in said.parts if p.aligned for t in p.aligned.unsaid]
    unsaid = [w for w in unsaid if w not in valued and not w.isdigit() and words(caseless(w))]
    if unsaid:
        told = ", ".join(f"“{w}”" for w in unsaid[:_NAMED])
        return f"No source says {told}; words alone cannot decide."
    return "Its words stand in the sources, but not all together; words alone cannot decide."


def with_values(claims: Sequence[Claim]) -> list[Claim]:
    """`claims` with each statement opened (`unchecked`) that was supported by its likeness alone while a value within it is not supported, or is another than
    that of the sentences it is like.
    """
    claims = [_told_otherwise(c, claims) if c.rule == "held" and c.kind in _MEASURED else c for c in claims]
    claims = [_counted_otherwise(c, claims) if c.rule == "held" and c.kind == "number" else c for c in claims]
    doubted = [c for c in claims if c.kind not in ("statement", "entity") and (c.unsupported or c.status in DOUBTFUL)]
    return [_opened(c, doubted) if c.rule == COVERED else c for c in claims]


_MEASURED = frozenset({"quantity", "money", "percent"})


def _told_otherwise(value: Claim, claims: Sequence[Claim]) -> Claim:
    """A value `unchecked` that stands in a source, but in none of the sentences that its own is like, of which one has another for it: "Cancel your Care plan with
    14 days' notice", where Care is cancelled with 30 days' notice and something else within 14 days.
    """
    inside = (c for c in claims if c.rule == COVERED and c.start <= value.start and value.end <= c.end)
    for statement in inside:
        beside = [c for c in claims if c.kind in _MEASURED and statement.start <= c.start and c.end <= statement.end]
        if len(beside) > 1 or len(statement.evidence) > 1:
            continue  # which of them is whose is not told by likeness
        span = statement.evidence[0]
        if any(e.source == span.source and e.start < span.end and span.start < e.end for e in value.evidence):
            continue
        mine = find_values(value.text)
        others = [
            f for f in find_values(span.text) if mine and f.kind == value.kind and rivalled(f) == rivalled(mine[0])
        ]
        if len(others) == 1 and BAR not in span.text:
            theirs = span.text[others[0].start : others[0].end]
            why = f"The words of the sentence stand rather by {theirs} in {span.source}."
            return replace(value, status="unchecked", rule="words-nearer", why=why, p=None)
    return value


def _counted_otherwise(value: Claim, claims: Sequence[Claim]) -> Claim:
    """A number `unchecked` that stands in a source, but not in the sentences that its own is like, where these count another of the same: "covers 2 devices" of
    the plan that covers 1 device.
    """
    mine = find_values(value.text)
    for statement in (c for c in claims if c.rule == COVERED and c.start <= value.start and value.end <= c.end):
        things = _things(statement.text, value.start - statement.start, value.end - statement.start)
        if not things or not mine:
            continue
        others = [
            (span, found)
            for span in statement.evidence
            for found in find_values(span.text)
            if found.kind == "number" and things & _things(span.text, found.start, found.end)
        ]
        if others and not any(found.shares_form(mine[0]) for _, found in others):
            span, found = others[0]
            why = f"Its words stand by {span.text[found.start : found.end]} in {span.source}."
            return replace(value, status="unchecked", rule="words-nearer", why=why, p=None)
    return value


def _things(text: str, start: int, end: int) -> frozenset[str]:
    """What the number `text[start:end]` counts, or is a part of the name of: devices of "2 devices", Wi-Fi of "Wi-Fi 7"."""
    behind, before = _COUNTED.match(text, end), _NUMBERED.search(text, max(0, start - _LONGEST_NAME), start)
    counted = {stem(behind[1].lower())} if behind else set()
    return frozenset(counted | ({before[1]} if before else set()))


_COUNTED = re.compile(r"[ -]([^\W\d_]{3,})")
"""The word of what is counted, behind a number."""
_NUMBERED = re.compile(r"(?<![\w-])([A-Z][\w-]*[a-z][\w-]*) $")
"""A name that a number tells apart, before it."""
_LONGEST_NAME = 30


def _opened(claim: Claim, doubted: Sequence[Claim]) -> Claim:
    inside = next((c for c in doubted if claim.start <= c.start and c.end <= claim.end), None)
    if inside is None:
        return claim
    return replace(
        claim, status="unchecked", rule=None, why=f"Its words are held, but “{inside.text}” is not for certain."
    )


_NO_WORDS = 0.5
_CHANCES = {"statement-stands": 0.99}
