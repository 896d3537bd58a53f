"""The verification of a judge's proposals: they are looked up and computed, and only what holds changes a claim.

A value becomes supported by a quotation that holds it or a formula whose result it is, a contact by its own characters alone,
a sentence by a quotation that has to do with it once all its values are supported. A claim becomes wrong by a quotation that
has another value in its place, by a formula with another result, by a quotation that has to do with the sentence, or by
words of the sentence that no source has. What rules condemn and a judge takes for supported with words that are really there, though not
so that code could follow, is doubt. All else leaves a claim as it was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from grounding.errors import kind_and_place
from grounding.text import caseless, fold, sentences
from rai.check.judging.quotes import MOST_QUOTES, FoundQuote, foreign, has_substance, looked_up, shares
from rai.check.judging.values import Values, named
from rai.check.judging.worked_out import Explained, comes_to_another, explained, gives, may_give
from rai.check.rules.missing import COUNTS
from rai.judgement import Case, Proposal, Quote
from rai.records import CONTACT_KINDS, SUPPORTED, UNSUPPORTED, Claim, EvidenceSpan, Status

QUOTE, FORMULA, WRONG, DOUBT = "judge-quote", "judge-formula", "judge-wrong", "judge-doubt"
"""Rules of claims that a judge decided."""
_SHARED_BY_SENTENCE = 2
"""Fewest words that the quotations for a sentence share with it and the question, where one of them is quoted for many sentences, as a lazy judge
does, or one that a source talks to. Else it is one, as for a value: free wording shares little; and one against a sentence: what is withheld
wrongly costs an answer, what is delivered wrongly more.
"""
_OFTEN = 3
"""A quotation for so many sentences, or more, is one for many."""
_ASKED = 2
"""The first texts of what was said tell what the answer is about: the query and the question that it was made of."""


@dataclass(frozen=True, slots=True)
class Verified:
    """Claims after the judge's word was verified. `failed`: the exceptions of rules that raised meanwhile (`grounding.errors.kind_and_place`), each of
    which leaves its claim as it was.
    """

    claims: tuple[Claim, ...]
    failed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Grounds:
    """All that proposals are held against. `name`: the judge's, for the reasons; `often`: quotations that it gives for many sentences."""

    case: Case
    values: Values
    name: str
    often: frozenset[Quote] = frozenset()

    def is_own(self, proposal: Proposal) -> bool:
        """True if no quotation of a proposal is one for many sentences."""
        return self.often.isdisjoint(proposal.quotes)


def verified(claims: Sequence[Claim], case: Case, proposals: Sequence[Proposal], values: Values, name: str) -> Verified:
    """The claims, those of `case` decided as far as the proposals on them hold; nothing else changes.

    `proposals`: one for each claim of `case`, in order; `name`: the judge's.
    """
    of_sentences = [p for c, p in zip(case.claims, proposals, strict=True) if c.kind == "statement"]
    quoted = Counter(quote for p in of_sentences for quote in set(p.quotes))
    grounds = _Grounds(case, values, name, frozenset(q for q, n in quoted.items() if n >= _OFTEN))
    proposed = _with_sentences(case, dict(zip(case.claims, proposals, strict=True)))
    failed: list[str] = []
    after = [_decided(c, proposed.get(c), (), grounds, failed) if c.kind != "statement" else c for c in claims]
    inside = [c for c in after if c.kind != "statement"]
    whole = (_decided(c, proposed.get(c), inside, grounds, failed) if c.kind == "statement" else c for c in after)
    return Verified(tuple(whole), tuple(dict.fromkeys(failed)))


def _with_sentences(case: Case, proposed: dict[Claim, Proposal]) -> dict[Claim, Proposal]:
    """The proposals, each of a value with the quotations of its sentence behind its own: a judge need not copy them twice."""
    return {
        claim: proposal if claim.kind == "statement" else _with(proposal, proposed.get(case.sentence_of(claim)))
        for claim, proposal in proposed.items()
    }


def _with(proposal: Proposal, of_sentence: Proposal | None) -> Proposal:
    if of_sentence is None or of_sentence.opinion != proposal.opinion:
        return proposal
    return replace(proposal, quotes=tuple(dict.fromkeys((*proposal.quotes, *of_sentence.quotes))))


def _decided(
    claim: Claim, proposal: Proposal | None, values: Sequence[Claim], grounds: _Grounds, failed: list[str]
) -> Claim:
    if proposal is None:
        return claim
    try:
        return (
            _stated(claim, proposal, values, grounds)
            if claim.kind == "statement"
            else _valued(claim, proposal, grounds)
        )
    except Exception as error:  # noqa: BLE001 - one rule less, never a lost answer
        failed.append(kind_and_place(error))
        return claim


def _valued(claim: Claim, proposal: Proposal, grounds: _Grounds) -> Claim:
    quotes = _relevant(claim, proposal, grounds)
    if proposal.opinion == "supported" and quotes:
        return (
            _explained(claim, proposal, quotes, grounds)
            or _quoted(claim, quotes, grounds)
            or _doubted(claim, proposal, quotes, grounds)
        )
    if proposal.opinion == "wrong" and quotes:
        return _refuted(claim, proposal, quotes, grounds) or claim
    return claim


def _relevant(claim: Claim, proposal: Proposal, grounds: _Grounds, values: Sequence[Claim] = ()) -> list[FoundQuote]:
    """The quotations that stand where they are said to, if together they have to do with what `claim` is said of; else none. `values`: those of a sentence."""
    case = grounds.case
    found = (looked_up(quote, case.sources, case.said) for quote in proposal.quotes[:MOST_QUOTES])
    known = [one for one in found if one is not None]
    texts, around, least = [one.text for one in known], case.sentence_of(claim).text, 1
    if claim.kind != "statement":  # what is left of a line without the value must have to do with it
        texts, around = [t.replace(claim.text, " ") for t in texts], around.replace(claim.text, " ")
    elif proposal.opinion == "supported" and not (_hold_one(values, known, grounds) or grounds.is_own(proposal)):
        least = _SHARED_BY_SENTENCE
    least = min(least, max(1, len(foreign(around, ()))))
    if shares([around, *case.said[:_ASKED]], texts) < least:
        return []
    return known if any(has_substance(one.text) for one in known) else []


def _hold_one(values: Sequence[Claim], quotes: Sequence[FoundQuote], grounds: _Grounds) -> bool:
    """True if a quotation has one of `values`, where rules found it or by equality."""
    return any(
        any(_lies_in(e, known) for e in c.evidence) or grounds.values.carrying(c, known)
        for c in values
        for known in quotes
    )


def _quoted(claim: Claim, quotes: Sequence[FoundQuote], grounds: _Grounds) -> Claim | None:
    """The claim as supported by the quotation that holds its value, or None; what only the person said is given, and never a contact."""
    for known in sorted(quotes, key=_said_last):
        span = _carried(claim, known, grounds)
        if span is None:
            continue
        if known.source is not None:
            exact = fold(span.text) == fold(claim.text)
            why = f"{grounds.name} quotes “{known.text}”, which says so."
            return _ruled(claim, "exact" if exact else "normalised", (span,), why, QUOTE)
        if claim.kind not in CONTACT_KINDS:
            return _ruled(claim, "given", (), "Said in the question or the context; it needs no source.", QUOTE)
    return None


def _doubted(claim: Claim, proposal: Proposal, quotes: Sequence[FoundQuote], grounds: _Grounds) -> Claim:
    """The claim as `unchecked` where rules condemn it and the judge supports it with words of a source, or a formula over them, that code cannot follow.

    A way to work a number out that rules do not know is enough for that. It stays as it was for contacts, codes and addresses, for words that
    serve many sentences, and for a formula that comes to something else.
    """
    if claim.status not in ("absent", "wrong_role", "contradicted") or claim.kind in CONTACT_KINDS:
        return claim
    if claim.entity in ("code", "address") or _is_weak(claim, proposal, grounds):
        return claim
    told = [known for known in quotes if known.source is not None]
    if not told:
        return claim
    spans = tuple(span for known in told for span in known.spans)
    why = f"{grounds.name} finds that “{told[0].text}” carries it; that could not be followed. Rules: {claim.why}"
    return _ruled(claim, "unchecked", spans, why, DOUBT)


def _is_weak(claim: Claim, proposal: Proposal, grounds: _Grounds) -> bool:
    """True if a proposal rests on words that serve many sentences, or on a formula that comes to something else than `claim`."""
    if proposal.formula and claim.kind != "statement":
        return comes_to_another(proposal.formula, grounds.values.found(claim), grounds.values.answer)
    return not grounds.is_own(proposal)


def _said_last(known: FoundQuote) -> bool:
    return known.source is None


def _carried(claim: Claim, known: FoundQuote, grounds: _Grounds) -> EvidenceSpan | None:
    place = grounds.values.carrying(claim, known)
    if place is not None:
        return place.span()
    if (span := grounds.values.verbatim(claim, known)) is not None:
        return span
    if claim.kind == "entity" and claim.entity not in ("code", "address") and named(claim.text, iter([known.text])):
        return known.spans[0]
    return None


def _explained(claim: Claim, proposal: Proposal, quotes: Sequence[FoundQuote], grounds: _Grounds) -> Claim | None:
    worked = _worked(proposal, quotes, grounds) if claim.kind not in (*CONTACT_KINDS, "entity") else None
    if worked is None or not gives(worked, grounds.values.found(claim), grounds.values.answer):
        return None
    status: Status = "derived" if worked.from_sources else "given"
    written = worked.computed.written
    shown = _ruled(claim, status, worked.spans, f"Worked out, as {grounds.name} shows: {written}", FORMULA)
    return replace(shown, formula=written)


def _worked(proposal: Proposal, quotes: Sequence[FoundQuote], grounds: _Grounds) -> Explained | None:
    return explained(proposal.formula, quotes, grounds.values) if proposal.formula else None


def _refuted(claim: Claim, proposal: Proposal, quotes: Sequence[FoundQuote], grounds: _Grounds) -> Claim | None:
    """The claim as wrong, because the quotation has another value there, or the formula another result."""
    found = grounds.values.found(claim)
    worked = _worked(proposal, quotes, grounds)
    if worked is not None and may_give(worked, found) and not gives(worked, found, grounds.values.answer):
        why = f"{grounds.name} works out another value: {worked.computed.written}"
        return replace(_ruled(claim, "absent", worked.spans, why, WRONG), formula=worked.computed.written)
    stands = grounds.values.stands(claim, grounds.case.sources)
    for known in quotes:
        span = _instead(claim, known, grounds) if known.source is not None else None
        if span is not None:
            why = f"{grounds.name} finds something else here: “{known.text}”"
            return _ruled(claim, "wrong_role" if stands else "absent", (span,), why, WRONG)
    return None


def _instead(claim: Claim, known: FoundQuote, grounds: _Grounds) -> EvidenceSpan | None:
    if claim.kind == "entity" and claim.entity not in ("code", "address"):
        return None if named(claim.text, iter([known.text])) else known.spans[0]
    place = grounds.values.rival(claim, known)
    return place.span() if place is not None else None


def _stated(claim: Claim, proposal: Proposal, values: Sequence[Claim], grounds: _Grounds) -> Claim:
    """The claim of a sentence, judged once its `values` are."""
    inside = [c for c in values if claim.start <= c.start and c.end <= claim.end]
    known = _relevant(claim, proposal, grounds, inside)
    quotes = [one for one in known if one.source is not None]
    spans = tuple(span for known in quotes for span in known.spans)
    if (
        proposal.opinion == "supported"
        and quotes
        and all(map(_holds, inside))
        and not _other_values(inside, known, grounds)
    ):
        return _ruled(claim, "entailed", spans, f"{grounds.name} finds it in the quoted words.", QUOTE)
    if proposal.opinion == "supported" and quotes and not any(c.status in UNSUPPORTED for c in inside):
        return _doubted(claim, proposal, quotes, grounds)
    if proposal.opinion != "wrong":
        return claim
    if quotes and not any(named(claim.text, iter([known.text])) for known in quotes):
        return _ruled(claim, "contradicted", spans, f"{grounds.name} finds otherwise in the quoted words.", WRONG)
    words = _unsaid(claim, proposal, grounds)
    if words:
        why = f"{grounds.name} finds this in no source, and none has {', '.join(f'“{w}”' for w in words[:3])} there."
        return _ruled(claim, "absent", (), why, WRONG)
    return claim


def _holds(claim: Claim) -> bool:
    """True if a claim inside of a sentence does not stand in its way; a name may be open, and what only says in a word how many or how often."""
    if claim.status in SUPPORTED:
        return True
    return claim.status not in UNSUPPORTED and (claim.kind == "entity" or claim.rule == COUNTS)


def _other_values(inside: Sequence[Claim], quotes: Sequence[FoundQuote], grounds: _Grounds) -> bool:
    """True if the quotations have another value where a sentence has one in digits, and that one nowhere; in words it counts, or says in short."""
    told = (
        c
        for c in inside
        if c.kind != "entity"
        and c.rule != COUNTS
        and any(x.isdigit() for x in c.text)
        and c.status not in ("derived", "given", "rounded")
    )
    plain = [c for c in told if not any(_lies_in(e, known) for e in c.evidence for known in quotes)]
    return any(
        any(grounds.values.rival(c, known) for known in quotes)
        and not any(grounds.values.carrying(c, known) for known in quotes)
        for c in plain
    )


def _lies_in(evidence: EvidenceSpan, known: FoundQuote) -> bool:
    """True if a place that rules found for a value stands within the quotation: "28,40" of a table in EUR is the €28.40 of an answer."""
    return any(
        (evidence.source, evidence.field) == (span.source, span.field)
        and span.start <= evidence.start
        and evidence.end <= span.end
        for span in known.spans
    )


def _unsaid(claim: Claim, proposal: Proposal, grounds: _Grounds) -> list[str]:
    """The words that the judge finds in no source, if they are words of the sentence and no line has most of them together, nor what was said."""
    unsaid = proposal.unsaid or ""
    if not unsaid or caseless(unsaid.strip()) not in caseless(claim.text):
        return []
    lines = [line for s in grounds.case.sources for line in (s.title, *s.text.splitlines()) if line.strip()]
    lines = [span.text for line in lines for span in sentences(line)]
    least, words = len(foreign(unsaid, ())), list[str]()
    for line in (*lines, *grounds.case.said):
        missing = foreign(unsaid, [line])
        if _LACKING * len(missing) < least:
            return []
        if not words or len(missing) < len(words):
            words = missing
    return words


_LACKING = 3
"""A line that lacks less than a third of the words says them."""


def _ruled(claim: Claim, status: Status, evidence: tuple[EvidenceSpan, ...], why: str, rule: str) -> Claim:
    return replace(claim, status=status, evidence=evidence, why=why, rule=rule, formula=None, instead=None, p=None)
