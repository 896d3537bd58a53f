"""The role of a name or code: whether it stands in a source for what the answer says it is. The manager of Leeds is not that of York.

Only where the source says itself what a name is: in a cell with a label or column, in a line "Manager: …" under its
heading. In running text a name is more often what is spoken of than what is said of it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from grounding.text import caseless
from rai.check.context import Around, CheckContext, Finding, name_of
from rai.check.reading.frames import Frame
from rai.check.reading.parallel import another_subject, siblings
from rai.check.reading.role_words import numbered, role_terms
from rai.check.reading.sources import Place
from rai.check.reading.subject import key_and_cells
from rai.check.roles import SaidAround, quotes, rival
from rai.claims.found import Found
from rai.records import Claim

_LABEL = re.compile(r"\W*([^\W_][^:|\n]{0,40}):\s{1,3}(?:(?:Dr|Mr|Mrs|Ms|Prof)\.? )?")

_ALONE = re.compile(r"[^.!?\n]{0,40}(?:\n|$)")  # "Bridget: Whitsunday Island?" is somebody's word, no label


def of_another(claim: Claim, found: Found, around: Around, context: CheckContext) -> Finding | None:
    """The finding `wrong_role` if every place of the name is said of something else, and another name stands for what the claim names.

    A name that the answer's sentence is about is the subject of its values, which are bound to it instead: figures beside
    a name say nothing of its own role.
    """
    places, others = [], []
    for prepared in context.sources:
        for place in prepared.kinds.get("entity", ()):
            if place.found.value == found.value:
                places.append(place)
            elif not _holds(place.found.value, found.value):
                others.append(place)
    if not places or not others or any(quotes(around.plain, p.unit.plain) for p in places):
        return None
    words = role_terms(around.sentence.replace(claim.text, " "))
    if any(slot(p) is None for p in places):
        return _of_another_subject(claim, places, others, around, context)
    coded = claim.entity == "code"
    frame = around.frame if coded else _worded(around.frame)
    words |= numbered(around.sentence.replace(claim.text, " ")) if coded else frozenset()
    told = SaidAround(frame, words, context.question_terms | around.leading)
    beaten: list[tuple[Place, Place]] = []
    for place in places:
        # the names of one sentence are more often a list than a table
        apart = [o for o in others if _of_one_kind(o, place) and (o.unit.row or o.unit is not place.unit)]
        other = rival(told, place, [o for o in apart if slot(o) is not None])
        if other is None:
            return None
        beaten.append((place, other))
    return _wrong_role(*beaten[0])


def _wrong_role(place: Place, other: Place) -> Finding:
    """The finding of a name that stands at `place` for something else; `other` is the name that stands for what the claim names."""
    why = f"{name_of(place)} names {place.span().text} for something else; here {name_of(other)} says {other.span().text}."
    return Finding("wrong_role", (place.span(),), why)


def _of_another_subject(
    claim: Claim, places: Sequence[Place], others: Sequence[Place], around: Around, context: CheckContext
) -> Finding | None:
    """The finding `wrong_role` if every place of the name has parallel sentences, and the claim names the subject of one of these alone."""
    rest = around.sentence.replace(claim.text, " ")
    layers = (role_terms(rest) | numbered(rest), context.question_terms | around.leading)
    beaten = []
    for place in places:
        apart = [o for o in others if _of_one_kind(o, place)]
        found = siblings(place, apart)
        other = another_subject(found, layers) if found else None
        if other is None:
            return None
        beaten.append((place, other))
    return _wrong_role(*beaten[0])


def slot(place: Place) -> str | None:
    """The label of its cell, column or line; None for a key and in running text."""
    row = key_and_cells(place)
    if row is not None:
        return row.column
    if place.frame.key or place.unit.header:
        return None
    text = place.text()
    label = _LABEL.fullmatch(text, place.unit.start, place.found.start)
    alone = _ALONE.match(text, place.found.end)
    return caseless(label[1]).strip() if label and alone else None


def _of_one_kind(one: Place, other: Place) -> bool:
    """True if two names may be of one type. Those whose types are known differ in them; a name of no known type may be of any but a code or an address."""
    types = {one.found.entity, other.found.entity}
    return len(types) == 1 or (None in types and not types & {"code", "address"})


def _worded(frame: Frame) -> Frame:
    return replace(frame, local=frozenset(w for w in frame.local if not w.startswith("=")))


def _holds(one: str, other: str) -> bool:
    """True if one name is part of the other: Lopez is Maria Lopez."""
    return f" {one} " in f" {other} " or f" {other} " in f" {one} "
