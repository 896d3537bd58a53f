"""Claims against sources: a status for each, with the place that shows it and a reason in plain words.

exact: the same characters stand in a source, as a value of their own (49 is not in 349). normalised: other characters
of the same normal form. wrong_role: the value stands in a source, but for something else. lookalike: a host that could
be taken for one of a source. absent: no source holds it. unchecked: this check cannot decide, and says so.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from grounding.text import caseless, fold, sentences
from rai.claims import codes, names
from rai.claims.cells import others_cell
from rai.claims.changed import Changed, changed_digits, changes, loose_digits
from rai.claims.entail import anywhere, is_question, judge, substance
from rai.claims.find import claims_of, find_values
from rai.claims.found import Found
from rai.claims.links import parse
from rai.claims.lookalike import looks_like
from rai.claims.named import in_given, match_named
from rai.claims.phones import REGIONS
from rai.claims.roles import in_role, other_cell, rival
from rai.claims.same import same_value
from rai.claims.sources import Place, Prepared, prepare, role_terms
from rai.records import CONTACT_KINDS, Claim, EntityType, EvidenceSpan, Source, Status

ABSENT_BELOW = 0.2
"""A statement of four content words and more of which less than this share stands anywhere in the sources is absent."""

_CLAUSE = re.compile(r"[,;|\n]\s|\.\s| and ")
_EVERY_DAY = re.compile(
    r"\b(?:daily|every ?day|each day|all week|7 days|seven days|24/7|weekdays?|weekends?|(?:mon|tues|wednes|thurs|fri|satur|sun)\w{0,6} ?"
    r"(?:-|–|to|through|thru|until) ?(?:mon|tues|wednes|thurs|fri|satur|sun))",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Setting:
    """What all claims of one answer are judged against."""

    sources: tuple[Prepared, ...]
    given: tuple[Prepared, ...]
    question: Prepared | None
    question_terms: frozenset[str]


@dataclass(frozen=True, slots=True)
class Finding:
    """The judgement of one claim."""

    status: Status
    evidence: tuple[EvidenceSpan, ...]
    why: str


def check_claims(
    answer: str,
    sources: Sequence[Source],
    question: str | None = None,
    *,
    given: Sequence[str] = (),
    regions: tuple[str, ...] = REGIONS,
    tags: Sequence[tuple[int, int, EntityType]] = (),
) -> tuple[Claim, ...]:
    """Every claim of `answer` with its status. A plain function: milliseconds for an answer and five passages.

    `tags`: names that a tagger found (start, end, type); they type what the grammar found and add what it did not.
    `given` may be repeated without a source. What stands only in `question` is not confirmed by it: `unchecked`.
    The order of `sources` changes nothing but equal ids.
    """
    ordered = sorted(set(sources), key=lambda s: (s.id, s.title, s.text))
    setting = Setting(
        tuple(prepare(s, regions) for s in ordered),
        tuple(prepare(Source("given", text), regions) for text in given if text),
        prepare(Source("question", question), regions) if question else None,
        role_terms(question or ""),
    )
    found = _tagged(answer, find_values(answer, regions), tags)
    changed = changes(answer, found, setting.sources)
    found += loose_digits(answer, found)
    found += changed_digits(answer, found, changed)
    values = {(f.start, f.end, f.kind): f for f in found}
    spans = sentences(answer)
    starts = [s.start for s in spans]
    claims = []
    for claim in claims_of(answer, found):
        if claim.kind == "statement":
            finding = match_statement(claim.text, setting)
        else:
            at = bisect_right(starts, claim.start) - 1
            sentence = spans[at].text if at >= 0 and claim.start < spans[at].end else claim.text
            around = Around(
                sentence, answer[max(0, claim.start - 40) : claim.start], answer[claim.end : claim.end + 40]
            )
            finding = match_value(claim, values[claim.start, claim.end, claim.kind], around, setting)
        finding = _quoted(claim, finding, changed, setting)
        claims.append(replace(claim, status=finding.status, evidence=finding.evidence, why=finding.why))
    return tuple(claims)


def _quoted(claim: Claim, finding: Finding, changed: Sequence[Changed], setting: Setting) -> Finding:
    """`finding`, unless the sentence quotes a source that has something else in this place."""
    if finding.status == "lookalike":
        return finding
    statement = claim.kind == "statement"
    here = [c for c in changed if c.negation == statement and c.start < claim.end and claim.start < c.end]
    if not here:
        return finding
    says = here[0].says
    if statement:
        return Finding("contradicted", (says,), f"The source says the opposite here: {says.text}")
    status: Status = "absent" if finding.status == "absent" or not _said(claim.text, setting.sources) else "wrong_role"
    return Finding(status, (says,), f"The source says {says.text} here, not {claim.text}.")


def _tagged(answer: str, found: Sequence[Found], tags: Sequence[tuple[int, int, EntityType]]) -> list[Found]:
    types = {(start, end): kind for start, end, kind in tags}
    typed = [
        replace(f, entity=types[f.start, f.end])
        if f.kind == "entity" and f.entity is None and (f.start, f.end) in types
        else f
        for f in found
    ]
    fresh = [(a, b, kind) for a, b, kind in tags if all(b <= f.start or f.end <= a for f in found)]
    return typed + [
        Found("entity", a, b, (codes if kind == "code" else names).normal(answer[a:b]), entity=kind)
        for a, b, kind in fresh
    ]


@dataclass(frozen=True, slots=True)
class Around:
    """The sentence of a claim, and up to 40 characters before and after the claim."""

    sentence: str
    preceding: str
    following: str


def match_value(claim: Claim, found: Found, around: Around, setting: Setting) -> Finding:
    """The status of one value or name."""
    if claim.kind == "entity" and claim.entity != "address":
        return _named(claim, found, setting)
    if _is_loose(found):
        return _loose(claim, setting)
    places = [p for s in setting.sources for p in s.places if same_value(found, p.found, _line(p))]
    if places:
        return _placed(claim, found, places, around, setting)
    if claim.kind == "entity":
        return _named(claim, found, setting)
    if _holds(found, setting.given):
        return Finding(
            "exact" if _said(claim.text, setting.given) else "normalised",
            (),
            "Stands in the context that was given with the request; it needs no source.",
        )
    return _missing(claim, found, around, setting)


def _is_loose(found: Found) -> bool:
    return found.kind == "number" and not found.magnitudes


def _loose(claim: Claim, setting: Setting) -> Finding:
    """A token with a digit that is no value of a known form: it must stand somewhere as it is."""
    token = Found("entity", claim.start, claim.end, codes.normal(claim.text), entity="code")
    spans = match_named(token, setting.sources)
    if spans:
        return Finding("exact", spans, f"Stands in the same characters in {spans[0].source}.")
    texts = (*setting.given, *((setting.question,) if setting.question else ()))
    if in_given(token, texts):
        return Finding("unchecked", (), f"{claim.text} stands only in what was asked or given.")
    return Finding("absent", (), f"No source has {claim.text}.")


def _placed(claim: Claim, found: Found, places: list[Place], around: Around, setting: Setting) -> Finding:
    words = role_terms(_without(around.sentence, claim.text))
    fitting = in_role(places, words, setting.question_terms)
    if not fitting:
        why = f"{claim.text} stands in {_name(places[0])}, but in a sentence about something else."
        return Finding("wrong_role", (places[0].span(),), why)
    clause = _CLAUSE.split(around.preceding)[-1] + claim.text + _CLAUSE.split(around.following)[0]
    said_in = (
        clause if clause in around.sentence else "",
        around.sentence,
        setting.question.source.text if setting.question else "",
    )
    another = [other_cell(p, clause) or others_cell(p, _same_kind(p, found, setting), said_in) for p in fitting]
    if all(another):
        why = f"{claim.text} stands in {_name(fitting[0])}, but in the cell of another name."
        return Finding("wrong_role", (fitting[0].span(),), why)
    fitting = [p for p, elsewhere in zip(fitting, another, strict=True) if not elsewhere]
    kept: list[Place] = []
    beaten: tuple[Place, Place] | None = None
    for place in fitting:
        other = rival(place, _same_kind(place, found, setting), words, setting.question_terms)
        if other is None:
            kept.append(place)
        else:
            beaten = beaten or (place, other)
    if not kept and beaten:
        place, other = beaten
        return Finding(
            "wrong_role",
            (place.span(),),
            f"In {_name(place)}, {place.span().text} stands in another row; the row that the answer names says {other.span().text}.",
        )
    return _supported(claim, kept)


def _supported(claim: Claim, places: list[Place]) -> Finding:
    exact = [span for p in places if (span := _same_characters(claim.text, p))]
    if exact:
        return Finding("exact", tuple(exact), f"Stands in the same characters in {exact[0].source}.")
    spans = tuple(p.span() for p in places)
    return Finding("normalised", spans, f"{spans[0].source} writes it as {spans[0].text}.")


def _same_characters(text: str, place: Place) -> EvidenceSpan | None:
    field = place.text()
    at = field.find(text, max(0, place.found.start - 1), place.found.end + len(text))
    if at < 0 or at >= place.found.end:
        return None
    before, after = field[max(0, at - 1) : at], field[at + len(text) : at + len(text) + 2]
    inside = (text[0].isalnum() and before.isalnum()) or (text[-1].isalnum() and after[:1].isalnum())
    if inside or (text[-1].isdigit() and re.match(r"[.,]\d", after)):
        return None
    # a part of a URL, an address or a phone number leads elsewhere than the whole
    if place.found.kind in CONTACT_KINDS - {"money"} and (at, at + len(text)) != (place.found.start, place.found.end):
        return None
    return place.span(at, at + len(text))


def _missing(claim: Claim, found: Found, around: Around, setting: Setting) -> Finding:
    if claim.kind in ("url", "email"):
        host = _host(found.value)
        known = {
            h
            for s in setting.sources
            for p in s.places
            if p.found.kind in ("url", "email")
            if (h := _host(p.found.value))
        }
        twin = looks_like(host, known) if host else None
        if twin:
            at = next(
                p
                for s in setting.sources
                for p in s.places
                if _host(p.found.value) == twin and p.found.kind in ("url", "email")
            )
            return Finding(
                "lookalike", (at.span(),), f"{host} is not {twin}, which the sources name, but could be taken for it."
            )
    if setting.question and _holds(found, (setting.question,)):
        return _only_asked(claim, found, setting)
    if claim.kind not in CONTACT_KINDS and is_question(around.sentence):
        return Finding("unchecked", (), f"{claim.text} stands in a question to the reader, which claims nothing.")
    if claim.kind == "number" and (spans := _within_name(claim, around, setting)):
        return Finding("normalised", spans, f"Part of the name {spans[0].text} in {spans[0].source}.")
    if claim.kind == "number" and _may_be_tally(claim, found, around, setting):
        return Finding(
            "unchecked", (), f"{claim.text} may count what the answer tells of; no source gives another number for it."
        )
    if (
        claim.kind == "date"
        and found.value.startswith("-W-")
        and any(_EVERY_DAY.search(s.source.text) for s in setting.sources)
    ):
        return Finding(
            "unchecked", (), f"No source names {claim.text}, but one names a range of days that may hold it."
        )
    return Finding("absent", (), f"No source has {claim.text}.")


def _may_be_tally(claim: Claim, found: Found, around: Around, setting: Setting) -> bool:
    """A small number in words ("two ways") counts more often than it quotes, unless a sentence on the same has another."""
    if not claim.text.isalpha() or len(found.value) > 1:
        return False
    words = role_terms(_without(around.sentence, claim.text))
    others = (p for s in setting.sources for p in s.places if p.found.kind == "number")
    return not any(words & p.unit.terms for p in others)


def _within_name(claim: Claim, around: Around, setting: Setting) -> tuple[EvidenceSpan, ...]:
    """The number with its neighbour, where a source has both as part of a name ("four seasons", "motel 6")."""
    following = re.match(r" ([^\W\d_]{3,})", around.following)
    preceding = re.search(r"([^\W\d_]{3,}) $", around.preceding)
    pairs = [f"{claim.text} {following[1]}"] if following else []
    pairs += [f"{preceding[1]} {claim.text}"] if preceding else []
    names = [p for s in setting.sources for p in s.places if p.found.kind == "entity" and p.found.entity != "code"]
    return tuple(p.span() for p in names for pair in pairs if f" {caseless(pair)} " in f" {p.found.value} ")


def _only_asked(claim: Claim, found: Found, setting: Setting) -> Finding:
    """A number of the question confirms nothing, and where a source gives another one it is wrong."""
    rivals = [
        p
        for s in setting.sources
        for p in s.places
        if p.found.kind == found.kind and _measure(p.found) == _measure(found)
    ]
    fitting = [p for p in rivals if setting.question_terms & (p.unit.terms | p.unit.context)]
    if fitting and found.kind in ("quantity", "money", "percent", "time", "phone"):
        return Finding(
            "absent",
            (),
            f"{claim.text} stands only in the question; {_name(fitting[0])} says {fitting[0].span().text}.",
        )
    return Finding("unchecked", (), f"{claim.text} stands only in the question; no source confirms it.")


def _named(claim: Claim, found: Found, setting: Setting) -> Finding:
    spans = match_named(found, setting.sources)
    if spans:
        exact = tuple(s for s in spans if s.text == claim.text)
        if exact:
            return Finding("exact", exact, f"Stands in the same characters in {exact[0].source}.")
        return Finding("normalised", spans, f"{spans[0].source} writes it as {spans[0].text}.")
    texts = (*setting.given, *((setting.question,) if setting.question else ()))
    if in_given(found, texts):
        return Finding("normalised", (), "Stands in the question or in the context that was given with the request.")
    if claim.entity in ("code", "address"):
        return Finding("absent", (), f"No source has {claim.text}.")
    unnumbered = re.sub(r" \d+$", "", found.value)
    if unnumbered != found.value and match_named(replace(found, value=unnumbered), setting.sources):
        return Finding("absent", (), f"The sources name {unnumbered}, but not {claim.text}.")
    words = list(role_terms(claim.text)) or [claim.text.lower()]
    known = set().union(*(u.terms for s in (*setting.sources, *texts) for u in s.units))
    missing = [w for w in words if w not in known]
    if len(missing) * 2 > len(words):
        return Finding("absent", (), f"No source has the name {claim.text}, nor most of its words.")
    return Finding("unchecked", (), f"No source has the name {claim.text} as a whole, only some of its words.")


def match_statement(sentence: str, setting: Setting) -> Finding:
    """The status of one sentence; what words alone cannot decide is `unchecked`."""
    if not substance(sentence):
        return Finding("unchecked", (), "A question, a courtesy or a lead-in claims nothing.")
    support = judge(sentence, setting.sources)
    if support.status in ("entailed", "contradicted"):
        return Finding("entailed" if support.status == "entailed" else "contradicted", support.evidence, support.why)
    held = anywhere(sentence, (*setting.sources, *setting.given))
    if held < ABSENT_BELOW and len(role_terms(sentence)) >= 4:
        return Finding("absent", (), f"Only {held:.0%} of its words stand in any source.")
    return Finding("unchecked", (), support.why)


def _line(place: Place) -> str:
    """The line of the value, with the title and the first row of its table: a currency often stands there."""
    return f"{place.source.title}\n{place.unit.header}\n{place.text()[place.unit.start : place.unit.end]}"


def _name(place: Place) -> str:
    return f"{place.source.id} ({place.source.title})" if place.source.title else place.source.id


def _same_kind(place: Place, found: Found, setting: Setting) -> list[Place]:
    """Other values of the same kind and measure in the same source."""
    return [
        p
        for s in setting.sources
        if s.source == place.source
        for p in s.places
        if p.found.kind == place.found.kind
        and _measure(p.found) == _measure(place.found)
        and not same_value(found, p.found, _line(p))
    ]


def _measure(found: Found) -> str:
    """What is measured: the unit, the currency; a weekday is not a day of the year."""
    if found.kind in ("quantity", "money"):
        return found.value.partition(" ")[2]
    return "weekday" if found.value.startswith("-W-") else ""


def _holds(found: Found, texts: Iterable[Prepared]) -> bool:
    return any(same_value(found, p.found, _line(p)) for t in texts for p in t.places)


def _said(text: str, texts: Iterable[Prepared]) -> bool:
    return any(fold(text) in fold(t.source.text) for t in texts)


def _without(sentence: str, value: str) -> str:
    return sentence.replace(value, " ")


def _host(value: str) -> str | None:
    if "://" not in value and "@" in value:
        return value.rpartition("@")[2]
    address = parse(value)
    return address.host if address else None
