"""Refusals of the semantic ranker of Azure AI Search: the reason, the remedy, and for how long the ranker is not asked again.

A refusal costs a request and its time. It lasts until somebody changes the service, so it is remembered, told in the record of every turn
that goes without, and asked about again after ASK_AGAIN_S seconds.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from typing import Literal

from azure.core.exceptions import HttpResponseError

from grounding.errors import ServiceRejected

LOG = logging.getLogger("attest")
RANKER = "semantic ranker"
ASK_AGAIN_S = 600.0
"""Seconds for which a refusal counts. Whoever mends the service waits so long at most, or starts anew."""
Why = Literal["off", "spent", "unknown"]
_REASONS: dict[Why, tuple[str, str]] = {
    "off": (
        "it is switched off for this service, or the free tier has none",
        "switch it on in the portal under Settings, on the tier Basic or higher",
    ),
    "spent": (
        "the free queries of this month are used up",
        "change its plan to Standard",
    ),
    "unknown": (
        "the index has no semantic configuration of ours",
        "attest ingest PATH",
    ),
}
_OFF = frozenset({"FeatureNotSupportedInService", "SemanticQueriesNotAvailable"})
_UNKNOWN = frozenset({"UnknownSemanticConfiguration", "NoSemanticConfiguration"})
_SPENT = 402


class RankerRefused(ServiceRejected):
    """The service does no semantic ranking, whatever the query. `why` says the reason in words, `mends` the remedy."""

    def __init__(self, service: str, why: Why) -> None:
        self.why, self.mends = _REASONS[why]
        super().__init__(service, f"the {RANKER} is not available ({self.why})")


def refused_by_ranker(service: str, error: HttpResponseError) -> RankerRefused | None:
    """The refusal of the ranker that an error of the service means; None if it means something else."""
    if error.status_code == _SPENT:
        return RankerRefused(service, "spent")
    codes = set(_codes(error.error)) if error.status_code in (400, 403) else set()
    if codes & _UNKNOWN:
        return RankerRefused(service, "unknown")
    return RankerRefused(service, "off") if codes & _OFF else None


def _codes(error: object) -> Iterator[str]:
    """The error codes of an error and of its details: the specific one stands below one that only gives the class."""
    code = getattr(error, "code", None)
    if isinstance(code, str):
        yield code
    details = getattr(error, "details", None)
    for detail in details if isinstance(details, list) else ():
        yield from _codes(detail)


class LastRefusal:
    """The last refusal of the ranker of one service and index, for as long as it counts. `clock`: seconds, monotonic."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._refused: RankerRefused | None = None
        self._until = 0.0

    @property
    def refused(self) -> RankerRefused | None:
        """The refusal that still counts; None where the ranker may be asked."""
        return self._refused if self._clock() < self._until else None

    def told(self, part: str) -> dict[str, str]:
        """`part` with the reason and the remedy while a refusal counts; otherwise empty."""
        refused = self.refused
        return {} if refused is None else {part: f"{refused.why}; {refused.mends}"}

    def learn(self, refused: RankerRefused) -> None:
        """Remember a refusal: the ranker is not asked for ASK_AGAIN_S seconds."""
        if self._refused is None or self._refused.why != refused.why:
            LOG.warning("%s; %s. It is asked again every %d minutes", refused, refused.mends, ASK_AGAIN_S // 60)
        self._refused, self._until = refused, self._clock() + ASK_AGAIN_S

    def unlearn(self) -> None:
        """Forget the refusal: the ranker has answered."""
        self._refused = None
