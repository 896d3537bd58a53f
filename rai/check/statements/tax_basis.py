"""Sentences that say whether an amount has the tax in it, against sources that say the other: "including VAT" of a price list whose prices are net.

Which of the two a price is stands once above a list, in other words than beside the amount, and often in another language.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Literal

from grounding.tables import table
from rai.check.context import CheckContext
from rai.check.reading.sources import Prepared
from rai.check.statements.prepared import Decision, PreparedStatement
from rai.claims.find import find_values
from rai.claims.found import Found
from rai.records import Claim, EvidenceSpan

Basis = Literal["with", "without"]
_RATE = r"(?:[0-9]{1,2}(?:[.,][0-9]{1,2})? ?% ?(?:of )?)?"
_MOST = 50
"""Most phrases of a source that are read."""


@cache
def _phrases() -> re.Pattern[str]:
    """A phrase of one basis or of the other; the group that matched says which. What denies the tax is looked for first: "not included" holds "included"."""
    listed = table(__file__)
    taxes = _any(listed["taxes"])
    of = [
        rf"(?P<{basis}>(?<!\w)(?:(?:{_any(listed[basis]['before'])}) ?{_RATE}(?:the )?(?:{taxes})|(?:{taxes}) ?(?:\([^()]{{0,20}}\) ?)?(?:{_any(listed[basis]['after'])})|(?:{_any(listed[basis]['alone'])}))(?!\w))"
        for basis in ("without", "with")
    ]
    return re.compile("|".join(of), re.IGNORECASE)


def _any(words: Sequence[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=lambda w: (-len(w), w)))


def tax_basis_turned(said: PreparedStatement) -> Decision | None:
    """`contradicted` if a sentence has an amount, or all amounts, with the tax, and the sources that have it only speak of it without; or the other way round."""
    basis = _basis(said.plain)
    found = _against(basis, _of_the_amounts(said)) if basis else None
    return Decision("contradicted", *found) if found else None


def with_tax_basis(claims: Sequence[Claim], context: CheckContext) -> list[Claim]:
    """`claims` with each sentence `contradicted` that has a total with the tax where the documents of what it was worked out from have it only without; or the
    other way round. A total that was worked out with a percentage may have the tax in it, and says nothing.
    """
    totals = [c for c in claims if c.kind == "money" and c.status == "derived"]
    return [_with_basis(c, totals, context) if c.kind == "statement" else c for c in claims]


def _with_basis(sentence: Claim, totals: Sequence[Claim], context: CheckContext) -> Claim:
    inside = [c for c in totals if sentence.start <= c.start and c.end <= sentence.end]
    basis = _basis(sentence.text) if inside else None
    if basis is None or sentence.status == "contradicted" or any("%" in (c.formula or "") for c in inside):
        return sentence
    documents = {span.source for c in inside for span in c.evidence}
    found = _against(basis, [prepared for prepared in context.sources if prepared.source.id in documents])
    if found is None:
        return sentence
    evidence, why = found
    return replace(sentence, status="contradicted", evidence=evidence, why=why, rule=TAX, p=None)


TAX = "statement-tax"
"""Name of the rule."""


def _basis(text: str) -> Basis | None:
    """The one basis that a sentence names; None if it names none or both, or asks."""
    named = {basis for basis, _, _ in _told(text)}
    return named.pop() if len(named) == 1 and not text.rstrip().endswith("?") else None


def _against(basis: Basis, sources: Sequence[Prepared]) -> tuple[tuple[EvidenceSpan, ...], str] | None:
    """The first place of `sources` that has the other basis, and why; None if one has `basis`, or none has any."""
    against: EvidenceSpan | None = None
    for prepared in sources:
        text = prepared.source.text
        for theirs, start, end in _told(text):
            if theirs == basis:
                return None
            against = against or EvidenceSpan(prepared.source.id, "text", start, end, text[start:end])
    if against is None:
        return None
    has = "without the tax" if basis == "with" else "with the tax"
    return (against,), f"{against.source} has it {has}: “{against.text}”."


def _told(text: str) -> list[tuple[Basis, int, int]]:
    """What a text says of the tax, each with its offsets."""
    out: list[tuple[Basis, int, int]] = []
    for match in _phrases().finditer(text):
        out.append(("without" if match["without"] else "with", match.start(), match.end()))
        if len(out) == _MOST:
            break
    return out


def _of_the_amounts(said: PreparedStatement) -> list[Prepared]:
    """The sources that have an amount of the sentence, all of them where it has none; none where an amount stands in no source: it may be worked out, with the
    tax or without it.
    """
    sources = list(said.context.sources)
    amounts = [found for found in find_values(said.plain) if found.kind == "money"]
    holding = [[prepared for prepared in sources if _has(prepared, amount)] for amount in amounts]
    if not all(holding):
        return []
    return [prepared for prepared in sources if any(prepared in held for held in holding)] if amounts else sources


def _has(prepared: Prepared, amount: Found) -> bool:
    """Whether a source has an amount, also as a bare number below "in EUR"."""
    number = _number(amount)
    bare = any(_number(place.found) == number for place in prepared.kinds.get("number", ()))
    return bare or any(place.found.shares_form(amount) for place in prepared.kinds.get("money", ()))


def _number(found: Found) -> str:
    return found.value.partition(" ")[0]
