"""Claims against sources: a status for each, with the place that shows it and a reason in plain words.

exact: the same characters stand in a source, as a value of their own (49 is not in 349). normalised: other characters
of the same normal form. wrong_role: the value stands in a source, but for something else. lookalike: a host that could
be taken for one of a source. absent: no source holds it. unchecked: this check cannot decide, and says so.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice, takewhile

from grounding.mishap import kind_and_place
from grounding.text import caseless, sentences, words
from rai.check.statements.match import match_statement, with_values
from rai.claims import codes, names, relative
from rai.claims.find import claims_of, find_values
from rai.claims.found import Found
from rai.claims.phones import REGIONS
from rai.records import Claim, EntityType, Kind, Source, Status
from rai.support.changed import Changed, changed_digits, changes, loose_digits
from rai.support.clauses import label_of
from rai.support.setting import Around, Finding, Setting, said
from rai.support.settled import settled
from rai.support.sources import prepare
from rai.support.surroundings import surroundings
from rai.support.values import match_value
from rai.support.words import numbered, role_terms

NOT_ASKED = "Only values were checked."
MOST_CLAIMS = 2000
"""Values and sentences of an answer that are judged, from its start; those beyond are `unchecked`, and say so. A book of
eighty pages has as many: no answer that a person is to read does."""
FAILED = "Not decided: a rule of the check failed on it."
"""Why a claim is `unchecked` whose rule raised: one rule less, never a lost answer."""
TOO_MANY = f"Only the first {MOST_CLAIMS:,} values and sentences of an answer are checked."


@dataclass(frozen=True, slots=True)
class Matched:
    """Claims with their status, and the rules that raised where they were judged (`grounding.mishap`), each once."""

    claims: tuple[Claim, ...]
    failed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Read:
    """An answer read: what its claims are judged against, and what they are. `until`: where judging ends."""

    setting: Setting
    claims: tuple[Claim, ...]
    judged: Sequence[Found]
    values: Mapping[tuple[int, int, Kind], Found]
    changed: Sequence[Changed]
    around: Mapping[Found, Around]
    until: int


def check_claims(
    answer: str,
    sources: Sequence[Source],
    question: str | None = None,
    *,
    given: Sequence[str] = (),
    regions: tuple[str, ...] = REGIONS,
    tags: Sequence[tuple[int, int, EntityType]] = (),
    at: datetime | None = None,
    values_only: bool = False,
) -> tuple[Claim, ...]:
    """Every claim of `answer` with its status. A plain function: milliseconds for an answer and five passages.

    `tags`: names that a tagger found (start, end, type); they type what the grammar found and add what it did not.
    `given` may be repeated without a source. What stands only in `question` is not confirmed by it: `unchecked`.
    The order of `sources` changes nothing but equal ids. `at`: when the conversation takes place; without it "tomorrow" is `unchecked`.
    `values_only`: names, codes, addresses and statements stay `unchecked`.
    """
    return match_claims(
        answer, sources, question, given=given, regions=regions, tags=tags, at=at, values_only=values_only
    ).claims


def match_claims(
    answer: str,
    sources: Sequence[Source],
    question: str | None = None,
    *,
    given: Sequence[str] = (),
    regions: tuple[str, ...] = REGIONS,
    tags: Sequence[tuple[int, int, EntityType]] = (),
    at: datetime | None = None,
    values_only: bool = False,
) -> Matched:
    """As `check_claims`, with the rules that raised: a claim whose rule raises is `unchecked`, and all are when the texts cannot be read.

    Raises what a finder raises on the answer itself.
    """
    failed: list[str] = []
    try:
        setting = _setting(sources, question, given, regions, at)
        read = _read(answer, setting, regions, tags)
    except Exception as error:  # noqa: BLE001 - whatever a rule trips over
        return Matched(_undecided(answer, regions), (kind_and_place(error),))
    claims = []
    for claim in read.claims:
        try:
            finding = _judged(claim, answer, read, values_only=values_only)
        except Exception as error:  # noqa: BLE001 - one rule less, never a lost answer
            failed.append(kind_and_place(error))
            finding = Finding("unchecked", (), FAILED)
        claims.append(
            replace(
                claim, status=finding.status, evidence=finding.evidence, why=finding.why, score=finding.score,
                instead=finding.instead, rule=finding.rule, p=finding.p,
            )
        )  # fmt: skip
    return Matched(settled(with_values(claims)), tuple(dict.fromkeys(failed)))


def _setting(
    sources: Sequence[Source],
    question: str | None,
    given: Sequence[str],
    regions: tuple[str, ...],
    at: datetime | None,
) -> Setting:
    ordered = sorted(set(sources), key=lambda s: (s.id, s.title, s.text))
    return Setting(
        tuple(prepare(s, regions) for s in ordered),
        tuple(prepare(Source("given", text), regions) for text in given if text),
        prepare(Source("question", question), regions) if question else None,
        _asked(question, regions),
        at,
    )


def _read(
    answer: str, setting: Setting, regions: tuple[str, ...], tags: Sequence[tuple[int, int, EntityType]]
) -> _Read:
    found = [_dated(f, setting.at) for f in _tagged(answer, find_values(answer, regions), tags)]
    loose = loose_digits(answer, found)
    until = _judged_until(answer, [*found, *loose])
    beyond = [f for f in (*found, *loose) if f.start >= until]
    judged = [f for f in found if f.start < until]
    changed = changes(answer[:until], judged, setting.sources)
    judged += [f for f in loose if f.start < until]
    judged += changed_digits(answer, judged, changed)
    judged.sort(key=lambda f: (f.start, f.end))
    values = {(f.start, f.end, f.kind): f for f in judged}
    around = surroundings(answer[:until], judged)
    return _Read(setting, claims_of(answer, [*judged, *beyond]), judged, values, changed, around, until)


def _judged(claim: Claim, answer: str, read: _Read, *, values_only: bool) -> Finding:
    if claim.start >= read.until:
        return Finding("unchecked", (), TOO_MANY)
    if values_only and claim.kind in ("statement", "entity"):
        return Finding("unchecked", (), NOT_ASKED)
    if claim.kind == "statement":
        finding = match_statement(claim.text, read.setting, _valued(answer, read.judged, claim))
    else:
        value = read.values[claim.start, claim.end, claim.kind]
        finding = match_value(claim, value, read.around[value], read.setting)
    return _quoted(claim, finding, read.changed, read.setting)


def _undecided(answer: str, regions: tuple[str, ...]) -> tuple[Claim, ...]:
    """The claims of an answer that could not be read beside its sources: all of them open, so that no contact among them is delivered.

    Raises what a finder raises on the answer itself: what is not found cannot be held back, so that answer is nobody's to deliver.
    """
    return tuple(replace(claim, why=FAILED) for claim in claims_of(answer, find_values(answer, regions)))


def _judged_until(answer: str, values: Sequence[Found]) -> int:
    """Where the first claim begins that is one too many; the end of the answer if none is."""
    if len(answer) <= MOST_CLAIMS:
        return len(answer)
    starts = sorted([*(v.start for v in values), *(s.start for s in sentences(answer))])
    return starts[MOST_CLAIMS] if len(starts) > MOST_CLAIMS else len(answer)


def _quoted(claim: Claim, finding: Finding, changed: Sequence[Changed], setting: Setting) -> Finding:
    """`finding`, unless the sentence quotes a source that has something else in this place."""
    if finding.status in ("lookalike", "rounded", "derived", "conflict") or _is_open_date(claim, finding):
        return finding
    statement = claim.kind == "statement"
    here = [c for c in changed if c.negation == statement and c.start < claim.end and claim.start < c.end]
    if not here:
        return finding
    says = here[0].says
    if statement:
        return Finding("contradicted", (says,), f"The source says the opposite here: {says.text}")
    status: Status = "absent" if finding.status == "absent" or not said(claim.text, setting.sources) else "wrong_role"
    instead = says if all(c.says == says for c in here) else None
    return Finding(status, (says,), f"The source says {says.text} here, not {claim.text}.", instead=instead)


def _valued(answer: str, found: Sequence[Found], claim: Claim) -> frozenset[str]:
    """Words of the values within a sentence. `found`: ascending."""
    first = bisect_left(found, claim.start, key=lambda f: f.start)
    inside = takewhile(lambda f: f.start < claim.end, islice(found, first, None))
    texts = (answer[f.start : f.end] for f in inside if f.kind != "entity")
    return frozenset(word.text for text in texts for word in words(caseless(text)))


def _asked(question: str | None, regions: tuple[str, ...]) -> frozenset[str]:
    """Words of the question, and its values as labels: version 5.6 is not version 4.8."""
    if not question:
        return frozenset()
    return (role_terms(question) | numbered(question)).union(
        *(label_of(value) for value in find_values(question, regions))
    )


def _dated(found: Found, at: datetime | None) -> Found:
    """Tomorrow, in a conversation whose time is known, is a day like any other."""
    days = relative.resolve(found.value, at) if at is not None else ()
    if not days:
        return found
    rules = tuple(form for form in found.forms if not form.startswith("relative:"))
    return replace(found, value=days[0], readings=(*days, *rules))


def _is_open_date(claim: Claim, finding: Finding) -> bool:
    """True of "tomorrow" while nobody knows when that is, and of August 2022 where a source has August last year."""
    relative_ = (claim.value or "").startswith("relative:")
    return finding.status == "unchecked" and claim.kind == "date" and (relative_ or bool(finding.evidence))


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
