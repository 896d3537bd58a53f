"""Names, codes, addresses and loose tokens of an answer against the sources."""

from __future__ import annotations

import re
from dataclasses import replace

from grounding.text import caseless
from rai.check.context import Around, CheckContext, Finding, name_of
from rai.check.names.occurrences import in_given, match_named
from rai.check.names.roles import of_another
from rai.check.names.variants import capitalised, core_words, knows, misspelt, name_variant, named_with, names_holding
from rai.check.reading.sources import Prepared
from rai.claims.found import Found
from rai.claims.names import codes
from rai.claims.names.name_words import DESCRIPTORS, LEADING
from rai.records import Claim, EvidenceSpan

_GERMAN = re.compile(
    r"\b(?:der|die|das|den|dem|des|ist|sind|wird|werden|ein|eine|einen|einer|einem|mit|für|auf|im|am|zum|zur|vom|beim|Sie|Ihr|Ihre|Ihren|Ihrem|nicht|kann|können|zahlen|beträgt)\b(?=.*\b(?:der|die|das|den|dem|des|ist|sind|wird|werden|ein|eine|einen|einer|einem|mit|für|auf|im|am|zum|zur|von|Sie|Ihr|Ihre|und|nicht|kann|können|beträgt|kostet|zahlen)\b)"
)
_NAME_BEFORE = re.compile(r"(?<![\w-])([A-ZÀ-ÖØ-Þ][\w'’-]{2,30})[ -]$")


def is_loose(found: Found) -> bool:
    """True of a token with a digit that is no value of a known form, as `quoted.changed.loose_digits` finds them: 1080p."""
    return found.kind == "number" and not found.magnitudes


def match_loose(claim: Claim, context: CheckContext) -> Finding:
    """The finding of a token with a digit that is no value of a known form: it must stand somewhere as it is."""
    token = Found("entity", claim.start, claim.end, codes.normal(claim.text), entity="code")
    spans = match_named(token, context.sources)
    if spans:
        return Finding("exact", spans, f"Stands in the same characters in {spans[0].source}.")
    texts = (*context.given, *((context.question,) if context.question else ()))
    if in_given(token, texts):
        return Finding("unchecked", (), f"{claim.text} stands only in what was asked or given.")
    return Finding("absent", (), f"No source has {claim.text}.")


def match_name(claim: Claim, found: Found, around: Around, context: CheckContext) -> Finding:
    """The finding of a name or identifier: where a source writes it, in these or other characters, else what is known of its words."""
    spans = match_named(found, context.sources)
    if spans:
        if elsewhere := of_another(claim, found, around, context) or _of_another_name(claim, found, around, context):
            return elsewhere
        exact = tuple(s for s in spans if s.text == claim.text)
        if exact:
            return Finding("exact", exact, f"Stands in the same characters in {exact[0].source}.")
        return Finding("normalised", spans, f"{spans[0].source} writes it as {spans[0].text}.")
    coded = claim.entity == "code"
    variant = () if coded else _numbered(claim, name_variant(found, context.sources))
    if variant:
        return Finding("normalised", variant, f"{variant[0].source} writes it as {variant[0].text}.")
    texts = (*context.given, *((context.question,) if context.question else ()))
    if in_given(found, texts) or (not coded and name_variant(found, texts)):
        return Finding("normalised", (), "Stands in the question or in the context that was given with the request.")
    if claim.entity in ("code", "address"):
        return Finding("absent", (), f"No source has {claim.text}.")
    return _unnamed(claim, found, around, context, texts)


def _of_another_name(claim: Claim, found: Found, around: Around, context: CheckContext) -> Finding | None:
    """`wrong_role` for a model that the sources always put behind another name than the answer: the X3 of the Wren is not a Sparrow X3. Else None."""
    mine = _NAME_BEFORE.search(around.preceding)
    if claim.entity != "code" or mine is None or caseless(mine[1]) in DESCRIPTORS | LEADING:
        return None
    places = [p for s in context.sources for p in s.kinds.get("entity", ()) if p.found.shares_form(found)]
    before = [(p, _NAME_BEFORE.search(p.text()[max(0, p.found.start - 40) : p.found.start])) for p in places]
    if not before or any(m is None or caseless(m[1]) == caseless(mine[1]) for _, m in before):
        return None
    place, name = before[0]
    assert name is not None
    why = f"{name_of(place)} names {name[1]} {place.span().text}, not {mine[1]} {claim.text}."
    return Finding("wrong_role", (place.span(),), why)


def _numbered(claim: Claim, spans: tuple[EvidenceSpan, ...]) -> tuple[EvidenceSpan, ...]:
    """The places of a name, none if they lack one of its numbers: Motel 2 is not Motel 6."""
    numbers = re.findall(r"\d+", claim.text)
    said = " ".join(span.text for span in spans)
    return spans if all(n in re.findall(r"\d+", said) for n in numbers) else ()


def _unnamed(claim: Claim, found: Found, around: Around, context: CheckContext, texts: tuple[Prepared, ...]) -> Finding:
    """The finding of a name that no text writes: an invention if a word of it is foreign to all of them, or if its words belong to other names."""
    unnumbered = re.sub(r" \d+$", "", found.value)
    if unnumbered != found.value and match_named(replace(found, value=unnumbered), context.sources):
        return Finding("absent", (), f"The sources name {unnumbered}, but not {claim.text}.")
    if claim.entity is None and _GERMAN.search(around.sentence):
        why = f"No source has {claim.text}; German writes every noun with a capital, so that it may be no name."
        return Finding("unchecked", (), why)
    if claim.text.isupper() and len(claim.text) <= 6:
        return Finding("unchecked", (), f"No source has {claim.text}; it may stand for words that one has.")
    words = core_words(found.value) or tuple(found.value.split())
    if len(words) > 1 and (near := misspelt(words, (*context.sources, *texts))):
        return Finding("unchecked", (), f"{near.source} has {near.text}, which differs from {claim.text} in a letter.")
    known = [w for w in words if any(knows(t, w) for t in (*context.sources, *texts))]
    if len(known) < len(words):
        near = next((s for w in known if (s := named_with(w, context.sources))), None)
        why = (
            f"{near.source} names {near.text}, but no source names {claim.text}."
            if near
            else f"No source names {claim.text}."
        )
        return Finding("absent", (), why)
    if len(words) > 1 and (others := names_holding(words, context.sources)):
        return Finding(
            "absent", others, f"{others[0].source} names {others[0].text}, but no source names {claim.text}."
        )
    if claim.entity == "product" and not any(capitalised(words, s) for s in (*context.sources, *texts)):
        return Finding("absent", (), f"No source names {claim.text}.")
    return Finding("unchecked", (), f"No source has the name {claim.text} as a whole, only its words.")


def within_name(claim: Claim, around: Around, context: CheckContext) -> tuple[EvidenceSpan, ...]:
    """The places of a number with its neighbour, where a source has both as part of a name ("four seasons", "motel 6")."""
    following = re.match(r" ([^\W\d_]{3,})", around.following)
    preceding = re.search(r"([^\W\d_]{3,}) $", around.preceding)
    pairs = [f"{claim.text} {following[1]}"] if following else []
    pairs += [f"{preceding[1]} {claim.text}"] if preceding else []
    names = [p for s in context.sources for p in s.places if p.found.kind == "entity" and p.found.entity != "code"]
    return tuple(p.span() for p in names for pair in pairs if f" {caseless(pair)} " in f" {p.found.value} ")
