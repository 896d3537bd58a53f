"""What a rule makes of a sentence."""

from __future__ import annotations

from dataclasses import dataclass

from rai.records import EvidenceSpan, Status


@dataclass(frozen=True, slots=True)
class Decision:
    """`status` of a sentence with its place and the reason, a sentence for a person."""

    status: Status
    evidence: tuple[EvidenceSpan, ...]
    why: str
