"""The kinds of entries of which there may be as many as people ask and look: lists leave them out until they are asked for."""

from __future__ import annotations

from rai.entry_schema import KINDS
from rai.ledger.contents import CONTENT
from rai.records import Entry

CHECK, DELIVERY, READ, SOURCE_OPENED = "check", "delivery", "read", "source_opened"
VERDICT, SAMPLE = "verdict", "sample"
"""What a reviewer says of a turn, and which turns chance picked for reviewers."""
QUIET = frozenset({CHECK, DELIVERY, READ, SOURCE_OPENED})
"""What people looked at, and whether the reply of a turn arrived, which stands in the line of that turn: nothing that is decided or searched for."""
EVERY = "all"
"""In place of a kind: every kind, the quiet ones too."""
NAMES = tuple(sorted(KINDS.keys() - {CONTENT}))
"""Every kind that the schema knows, but for what turns refer to: it stands in their bodies, and a ledger lists none by itself."""


def shows(kind: str, wanted: str) -> bool:
    """Whether a list shows entries of `kind`: those of the kind that is wanted; "" is all that are not quiet, `all` is all."""
    if wanted in ("", EVERY):
        return wanted == EVERY or kind not in QUIET
    return kind == wanted


def listed(wanted: str) -> tuple[str, ...] | None:
    """The kinds of entries that a list of those reads: of turns their deliveries too, which stand in their lines. None is every kind."""
    if wanted in ("", EVERY):
        return None
    return ("turn", DELIVERY) if wanted == "turn" else (wanted,)


def weight(entry: Entry) -> float:
    """What looking at an entry counts in a search that ends somewhere: a quiet one is small, and counts a tenth."""
    return 0.1 if entry.kind in QUIET else 1.0
