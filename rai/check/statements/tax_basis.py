"""Sentences that say whether an amount has the tax in it, against sources that say the other: "including VAT" of a price list whose prices are net.

Which of the two a price is stands once above a list, in other words than beside the amount, and often in another language.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Literal

from grounding.tables import table
from rai.check.reading.sources import Prepared
from rai.check.statements.prepared import Decision, PreparedStatement
from rai.claims.find import find_values
from rai.claims.found import Found
from rai.records import EvidenceSpan

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
    mine = {basis for basis, _, _ in _told(said.plain)}
    if len(mine) != 1 or said.plain.endswith("?"):
        return None
    [basis] = mine
    against: EvidenceSpan | None = None
    for prepared in _of_the_amounts(said):
        text = prepared.source.text
        for theirs, start, end in _told(text):
            if theirs == basis:
                return None
            against = against or EvidenceSpan(prepared.source.id, "text", start, end, text[start:end])
    if against is None:
        return None
    has = "without the tax" if basis == "with" else "with the tax"
    return Decision("contradicted", (against,), f"{against.source} has it {has}: “{against.text}”.")


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
