"""Words that name opposite roles of a value: a price for adults is not the price for children, arrival is not departure."""

from __future__ import annotations

from functools import lru_cache

from grounding.tables import both_ways, slashed
from grounding.text import stem

_PAIRS = (
    "adult/child adult/children adult/kid arrival/departure arrive/depart inbound/outbound incoming/outgoing check-in/check-out "
    "minimum/maximum min/max lowest/highest cheapest/dearest weekday/weekend weekdays/weekends day/night morning/evening "
    "buy/sell purchase/sale debit/credit deposit/withdrawal open/closed opening/closing included/excluded inclusive/exclusive "
    "domestic/international upload/download billing/support sales/support single/double monthly/yearly monthly/annually "
    "monthly/annual weekly/monthly daily/weekly daily/monthly winter/summer gross/net "
    "male/female men/women north/south east/west indoor/outdoor prepaid/postpaid new/used online/offline indoor/outdoors "
    "increase/decrease increased/decreased rise/fall rose/fell gain/loss gained/lost win/loss won/lost hot/cold left/right upper/lower"
)
_OPPOSITES = both_ways((stem(a), stem(b)) for a, b in slashed(_PAIRS.replace("-", "")))
_TURNED = ("off", "outof")
"""What turns a word into its opposite: off-peak, out-of-network (`role_terms` writes them as one)."""


def opposed(mine: frozenset[str], theirs: frozenset[str]) -> str | None:
    """A word of `theirs` whose opposite is in `mine`, where neither side has both; None if there is none. All stemmed."""
    for word in sorted(mine):
        opposites = _opposites(word)
        against = sorted(opposites & theirs)
        if against and word not in theirs and not opposites & mine:
            return against[0]
    return None


@lru_cache(maxsize=8192)
def _opposites(word: str) -> frozenset[str]:
    turned = {sign + word for sign in _TURNED}
    turned |= {word.removeprefix(sign) for sign in _TURNED if word.startswith(sign) and len(word) - len(sign) > 2}
    if word.startswith("in") and len(word) > 4:
        turned.add(f"outof{word[2:]}")
    if word.startswith("outof"):
        turned.add(f"in{word[5:]}")
    return _OPPOSITES.get(word, frozenset()) | turned
