"""When two amounts of money are the same, and when the words around a bare number say its currency."""

from __future__ import annotations

from rai.claims.amounts.currencies import CODES, pattern_of
from rai.claims.found import Found


def same_money(claim: Found, other: Found) -> bool:
    """True if they share a reading: the number and the currency. What each is paid per is compared by `rates.same_per`."""
    return bool(set(claim.forms) & set(other.forms))


def currency_stands(claim: Found, around: str) -> bool:
    """True if the line around a bare number names the currency of `claim`, by symbol, code or name in one of six languages."""
    code = claim.value.rpartition(" ")[2]
    return code in CODES and pattern_of(code).search(around.lower()) is not None
