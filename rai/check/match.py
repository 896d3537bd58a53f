"""Claims against sources: a status for each, with the place that shows it and a reason in plain words.

exact: the same characters stand in a source, as a value of their own (49 is not in 349). normalised: other characters
of the same normal form. wrong_role: the value stands in a source, but for something else. lookalike: a host that could
be taken for one of a source. absent: no source holds it. unchecked: this check cannot decide, and says so.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from itertools import islice, takewhile

from grounding.errors import kind_and_place
from grounding.records import Span
from grounding.text import caseless, sentences, terms, words
from rai.check.answer import Answer
from rai.check.context import CheckContext, Finding, said
from rai.check.phrasing.denied import denied_apart, negations
from rai.check.quoted.changed import Changed, changed_digits, changes, loose_digits
from rai.check.reading.clauses import label_of
from rai.check.reading.newer import newer_of
from rai.check.reading.role_words import numbered, role_terms
from rai.check.reading.sources import plain_words, prepare
from rai.check.roles import quotes
from rai.check.statements.statement_match import match_statement, with_values
from rai.check.statements.tax_basis import with_tax_basis
from rai.check.value_rules import FAILED, check_values
from rai.claims.contacts.phones import REGIONS
from rai.claims.find import claims_of, find_values
from rai.claims.found import Found
from rai.claims.names import codes, names
from rai.claims.times import relative
from rai.records import SUPPORTED, Claim, EntityType, EvidenceSpan, Kind, Source, Status

NOT_ASKED = "Only values were checked."
"""The reason given for names and sentences that nobody asked about."""
MOST_CLAIMS = 2000
"""Most values and sentences of an answer that are judged, from its start; those beyond are `unchecked`, and say so. A book of
eighty pages has as many: no answer that a person is to read does."""
TOO_MANY = f"Only the first {MOST_CLAIMS:,} values and sentences of an answer are checked."
"""The reason given for those beyond."""


@dataclass(frozen=True, slots=True)
class Matched:
    """Claims with their status. `failed`: the exceptions of rules that raised (`grounding.errors.kind_and_place`), each once."""

    claims: tuple[Claim, ...]
    failed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _ReadAnswer:
    """An answer read for the check: what its claims are judged against, the claims, and the findings of values. `until`: the offset where judging ends."""

    context: CheckContext
    claims: tuple[Claim, ...]
    judged: Sequence[Found]
    findings: Mapping[tuple[int, int, Kind], Finding]
    changed: Sequence[Changed]
    until: int
    failed: tuple[str, ...] = ()


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
    """Every claim of `answer` with its status. Takes milliseconds for an answer and five passages.

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
    only: tuple[int, int] | None = None,
) -> Matched:
    """The claims of `check_claims` with the rules that raised: a claim whose rule raises is `unchecked`, and all are when the texts cannot be read.

    `only`: the offsets of a part of `answer` in which alone values are judged, by what their places say; all else stays `unchecked`.

    Raises what a finder raises on the answer itself.
    """
    failed: list[str] = []
    try:
        context = context_of(sources, question, given, regions, at)
        read = _read(answer, context, regions, tags, only, names=not values_only)
    except Exception as error:  # noqa: BLE001 - whatever a rule trips over
        return Matched(_undecided(answer, regions), (kind_and_place(error),))
    failed += read.failed
    claims = []
    for claim in read.claims:
        try:
            if claim.kind == "statement" and only is not None:
                claims.append(claim)
                continue
            finding = _judged(claim, answer, read, values_only=values_only)
        except Exception as error:  # noqa: BLE001 - one rule less, never a lost answer
            failed.append(kind_and_place(error))
            finding = Finding("unchecked", (), FAILED)
        end = claim.end + finding.reach
        claims.append(
            replace(
                claim,
                text=answer[claim.start : end],
                end=end,
                status=finding.status,
                evidence=finding.evidence,
                why=finding.why,
                score=finding.score,
                instead=finding.instead,
                rule=finding.rule,
                formula=finding.formula,
                p=finding.p,
            )
        )
    return Matched(tuple(with_values(with_tax_basis(claims, context))), tuple(dict.fromkeys(failed)))


def context_of(
    sources: Sequence[Source],
    question: str | None,
    given: Sequence[str],
    regions: tuple[str, ...],
    at: datetime | None,
) -> CheckContext:
    """Reads the texts that an answer is judged by. Sources that are equal count once, and their order changes nothing."""
    ordered = sorted(set(sources), key=lambda s: (s.id, s.title, s.text))
    return CheckContext(
        tuple(prepare(s, regions) for s in ordered),
        tuple(prepare(Source("given", text), regions) for text in given if text),
        prepare(Source("question", question), regions) if question else None,
        _asked(question, regions),
        at,
    )


def _read(
    answer: str,
    context: CheckContext,
    regions: tuple[str, ...],
    tags: Sequence[tuple[int, int, EntityType]],
    only: tuple[int, int] | None,
    *,
    names: bool,
) -> _ReadAnswer:
    cited = _citations(answer, context)
    found = [
        _dated(f, context.at)
        for f in _tagged(answer, find_values(answer, regions), tags)
        if not any(a <= f.start and f.end <= b for a, b in cited)
    ]
    loose = [f for f in loose_digits(answer, found) if not any(a <= f.start and f.end <= b for a, b in cited)]
    until = _judged_until(answer, [*found, *loose])
    beyond = [f for f in (*found, *loose) if f.start >= until]
    judged = [f for f in found if f.start < until]
    changed = changes(answer[:until], judged, context.sources)
    judged += [f for f in loose if f.start < until]
    judged += [
        f for f in changed_digits(answer, judged, changed) if not any(a <= f.start and f.end <= b for a, b in cited)
    ]
    judged.sort(key=lambda f: (f.start, f.end))
    claims = claims_of(answer, [*judged, *beyond])
    by_place = {(c.start, c.end, c.kind): c for c in claims}
    numbered = {n: by_place[f.start, f.end, f.kind] for n, f in enumerate(judged)}
    checked = check_values(Answer.read(answer[:until], judged, context), numbered, only, names=names)
    findings = {(c.start, c.end, c.kind): checked.findings[n] for n, c in numbered.items()}
    return _ReadAnswer(context, claims, judged, findings, changed, until, tuple(checked.failed))


def _judged(claim: Claim, answer: str, read: _ReadAnswer, *, values_only: bool) -> Finding:
    if claim.start >= read.until:
        return Finding("unchecked", (), TOO_MANY)
    if values_only and claim.kind in ("statement", "entity"):
        return Finding("unchecked", (), NOT_ASKED)
    if claim.kind == "statement":
        finding = match_statement(claim.text, read.context, _valued(answer, read.judged, claim))
    else:
        finding = read.findings[claim.start, claim.end, claim.kind]
    return _quoted(claim, finding, read.changed, read.context, answer)


def _undecided(answer: str, regions: tuple[str, ...]) -> tuple[Claim, ...]:
    """The claims of an answer that could not be read beside its sources, all `unchecked`, so that no contact among them is delivered.

    Raises what a finder raises on the answer itself: what is not found cannot be held back, so that answer is nobody's to deliver.
    """
    return tuple(replace(claim, why=FAILED) for claim in claims_of(answer, find_values(answer, regions)))


def _judged_until(answer: str, values: Sequence[Found]) -> int:
    """Where the first claim begins that is one too many; the end of the answer if none is."""
    if len(answer) <= MOST_CLAIMS:
        return len(answer)
    starts = sorted([*(v.start for v in values), *(s.start for s in sentences(answer))])
    return starts[MOST_CLAIMS] if len(starts) > MOST_CLAIMS else len(answer)


_LITTLE = re.compile(
    r"(?:bei|beim|mit|nach|vor|seit|zu|zum|zur|im|in|am|an|auf|ab|bis|für|von|vom|aus|durch|ohne|um) (?:der|die|das|dem|den|des|einer?|einem|einen|ihrer?|ihrem|ihren)\b",
    re.IGNORECASE,
)
"""How a German sentence begins, whose next word has a capital as every noun."""


def _quoted(claim: Claim, finding: Finding, changed: Sequence[Changed], context: CheckContext, answer: str) -> Finding:
    """The finding of a claim, unless its sentence quotes a source that has something else in this place."""
    if (
        finding.status in ("lookalike", "rounded", "conflict")
        or finding.rule == "failed"
        or _is_open_date(claim, finding)
    ):
        return finding
    statement = claim.kind == "statement"
    if statement:
        changed = [c for c in changed if not denied_apart(claim.text, c.says.text) and not _as_often(claim.text, c)]
    here = [c for c in changed if c.negation == statement and c.start < claim.end and claim.start < c.end]
    if not here:
        return finding
    says = here[0].says
    if not statement and _stands_all_the_same(claim, finding, says, context, answer):
        return finding
    if not (statement or _speaks_against(finding, says, context) or _is_quotation(claim, changed, context, answer)):
        return finding
    if statement:
        return Finding(
            "contradicted", (says,), f"The source says the opposite here: {says.text}", rule="quoted-opposite"
        )
    status: Status = "absent" if finding.status == "absent" or not said(claim.text, context.sources) else "wrong_role"
    instead = says if all(c.says == says for c in here) else None
    why = f"The source says {says.text} here, not {claim.text}."
    return Finding(status, (says,), why, instead=instead, rule="quoted-otherwise")


def _stands_all_the_same(
    claim: Claim, finding: Finding, says: EvidenceSpan, context: CheckContext, answer: str
) -> bool:
    """True if what a quoted sentence `says` in the place of a value or name does not speak against it."""
    kinds = {value.kind for value in find_values(says.text)}
    of_another_kind = kinds and kinds | {claim.kind} <= _TOLD_APART and finding.status != "absent"
    if claim.kind not in kinds and (finding.rule in _BY_KEY or of_another_kind):
        return True  # a row names the value that is meant; an hour in the place of a day, 40 MB in that of a price say nothing of it
    if finding.rule == "code":
        return True
    if claim.kind == "entity" and _LITTLE.match(claim.text) and _LITTLE.match(says.text):
        return True  # "bei der Anmeldung" for "mit der Anmeldung" is no other name
    if claim.kind == "entity" and _MEASURE.fullmatch(says.text):
        return True  # a measure in the place of a name ("the 25-hour courses" for I2) is no other name
    holding = finding.evidence if finding.status in SUPPORTED else finding.evidence[: finding.rule == "words-nearer"]
    # a sentence of the older document, with what the newer one has in its place
    return claim.kind != "number" and bool(holding) and _all_newer(holding, says, _sentence_of(claim, answer), context)


_TOLD_APART = frozenset({"date", "time", "money", "percent", "phone", "url", "email"})
"""Kinds of which none is read as another."""
_BY_KEY = frozenset({"cell-row", "cell-column", "section", "list-number", "day-line"})
_MEASURE = re.compile(r"\d+-[a-z]{3,}")


def _as_often(text: str, changed: Changed) -> bool:
    """True if a sentence denies as often as the source's line: "don't earn points" is "earn nothing", not its opposite."""
    by_pronoun = _NOTHING.search(text) or _NOTHING.search(changed.says.text)
    return by_pronoun is not None and 0 < negations(text) == negations(changed.says.text)


_NOTHING = re.compile(
    r"\b(?:nothing|none|nobody|nichts|niemand|rien|personne ne|nada|nadie|niente|nessuno|ninguém|niets)\b",
    re.IGNORECASE,
)


def _sentence_of(claim: Claim, answer: str) -> str:
    spans = _sentences(answer)
    at = bisect_right(spans, claim.start, key=lambda s: s.start) - 1
    return spans[at].text if at >= 0 else ""


def _all_newer(spans: Sequence[EvidenceSpan], says: EvidenceSpan, sentence: str, context: CheckContext) -> bool:
    """True if each of `spans` stands in a document that is newer than that of `says`, in a line that has a word of `sentence`."""
    texts = {text.source.id: text for text in context.sources}
    old, words = texts.get(says.source), frozenset(terms(sentence))
    for span in spans:
        holder = texts.get(span.source)
        if old is None or holder is None or newer_of(holder, old) != holder.source:
            return False
        if not words & frozenset(t for t in terms(_written_line(holder.source.text, span.start)) if not t[0].isdigit()):
            return False
    return True


def _speaks_against(finding: Finding, says: EvidenceSpan, context: CheckContext) -> bool:
    """True if a value is not supported, or stands in the quoted document only in other lines: the same line may have it in another role."""
    if finding.status not in SUPPORTED:
        return True
    text = next((s.source.text for s in context.sources if s.source.id == says.source), "")
    figures = any(c.isdigit() for c in says.text) and finding.status not in ("derived", "given")
    line = _line(text, says.start)
    return (
        figures
        and bool(finding.evidence)
        and all(e.source == says.source and _line(text, e.start) != line for e in finding.evidence)
    )


@lru_cache(maxsize=4)
def _sentences(answer: str) -> tuple[Span, ...]:
    return tuple(sentences(answer))


def _is_quotation(claim: Claim, changed: Sequence[Changed], context: CheckContext, answer: str) -> bool:
    """True if the sentence is a source's, word for word, but for what was changed in it."""
    spans = _sentences(answer)
    at = bisect_right(spans, claim.start, key=lambda s: s.start) - 1
    if at < 0 or spans[at].end - spans[at].start > MOST_CLAIMS:
        return False
    span = spans[at]
    first = bisect_left(changed, span.start, key=lambda c: c.start)
    within = takewhile(lambda c: c.start < span.end, islice(changed, first, None))
    here = [c for c in within if not c.negation and c.end <= span.end]
    text, at = "", span.start
    for change in sorted(here, key=lambda c: (c.start, -c.end)):
        if change.start >= at:
            text += answer[at : change.start] + change.says.text
            unit = change.says.text.lstrip(
                "0123456789.,"
            )  # the source's place may have the unit that stands behind the number here
            at = change.end + (len(unit) if unit and answer.startswith(unit, change.end) else 0)
    plain = plain_words(text + answer[at : span.end])
    ids = {c.says.source for c in here}
    return any(quotes(plain, u.plain) for s in context.sources if s.source.id in ids for u in s.units)


def _written_line(text: str, at: int) -> str:
    begin, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
    return text[begin : end if end >= 0 else len(text)]


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at)


def _valued(answer: str, found: Sequence[Found], claim: Claim) -> frozenset[str]:
    """The words of the values within a sentence. `found`: ascending."""
    first = bisect_left(found, claim.start, key=lambda f: f.start)
    inside = takewhile(lambda f: f.start < claim.end, islice(found, first, None))
    texts = (answer[f.start : f.end] for f in inside if f.kind != "entity")
    return frozenset(word.text for text in texts for word in words(caseless(text)))


def _asked(question: str | None, regions: tuple[str, ...]) -> frozenset[str]:
    """The words of the question, and its values as labels: version 5.6 is not version 4.8."""
    if not question:
        return frozenset()
    return (role_terms(question) | numbered(question)).union(
        *(label_of(value) for value in find_values(question, regions))
    )


def _dated(found: Found, at: datetime | None) -> Found:
    """A relative date as the day that it is, where the time of the conversation is known: tomorrow is a day like any other then."""
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


_CITATION = re.compile(r"\[(?:[a-z]{0,8}[ -]?\d{1,3})(?:\s?[,;–-]\s?[a-z]{0,8}[ -]?\d{1,3}){0,9}\]", re.IGNORECASE)


def _citations(answer: str, context: CheckContext) -> list[tuple[int, int]]:
    """Where the answer points at sources: [1], [s2], [1, 3], or a source's own id in brackets. These are no values."""
    spans = [m.span() for m in _CITATION.finditer(answer)]
    for source in context.sources:
        mark = f"[{source.source.id}]"
        at = answer.find(mark)
        while at >= 0:
            spans.append((at, at + len(mark)))
            at = answer.find(mark, at + len(mark))
    return spans
