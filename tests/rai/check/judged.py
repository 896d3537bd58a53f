"""One judge over every value of an answer, as the check calls it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rai.check.context import Around, CheckContext, Finding
from rai.check.reading.role_words import role_terms
from rai.check.reading.sources import prepare
from rai.check.surroundings import surroundings
from rai.claims.contacts.phones import REGIONS
from rai.claims.find import claims_of, find_values
from rai.claims.found import Found
from rai.records import Claim, Source

Judge = Callable[[Claim, Found, Around, CheckContext], Finding | None]


def context_of(sources: Sequence[Source], question: str | None = None) -> CheckContext:
    """What the claims of an answer are judged against."""
    asked = prepare(Source("question", question), REGIONS) if question else None
    return CheckContext(tuple(prepare(s, REGIONS) for s in sources), (), asked, role_terms(question or ""))


def judged(
    judge: Judge, answer: str, sources: Sequence[Source], question: str | None = None
) -> list[tuple[Claim, Finding | None]]:
    """Every value of `answer` in order with what `judge` says of it."""
    context = context_of(sources, question)
    values = find_values(answer, REGIONS)
    around = surroundings(answer, values)
    by_place = {(v.start, v.end, v.kind): v for v in values}
    claims = [c for c in claims_of(answer, values) if c.kind != "statement"]
    found = [(c, by_place[c.start, c.end, c.kind]) for c in claims]
    return [(c, judge(c, f, around[f], context)) for c, f in found]


def well_founded(finding: Finding, sources: Sequence[Source]) -> bool:
    """True if every piece of evidence is the characters that it says it is."""
    by_id = {s.id: s for s in sources}
    return all(getattr(by_id[e.source], e.field)[e.start : e.end] == e.text for e in finding.evidence)
