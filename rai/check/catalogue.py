"""The rules of the check in the order in which they are tried: what each decides, whether a judge may overrule it, what it says to a reviewer.

They stand in `catalogue.json`, one a line. A claim names its rule (`Claim.rule`), and so do ledger and pages. Rows that fire each rule and rows that it must spare are in
`tests/rai/check/rules.yaml`.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from grounding.tables import table
from rai.records import Status

About = Literal["any claim", "value", "name", "sentence", "judge"]
"""What a rule decides: any claim, a value, a name or code, a sentence, or what a judge proposed and code verified."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of the check. `id`: its name in claims, ledger and pages; `about`: what it decides; `decides`: the statuses it can give.

    `judge`: True if a judge may be asked about what it condemns or leaves in doubt (never about a contact that is condemned); `says`: what
    it means, a clause for a reviewer.
    """

    id: str
    about: About
    decides: tuple[Status, ...]
    says: str
    judge: bool = True


RULES: tuple[Rule, ...] = tuple(Rule(**{**row, "decides": tuple(row["decides"])}) for row in table(__file__))
"""All rules, in the order in which they are tried."""
BY_ID = MappingProxyType({rule.id: rule for rule in RULES})
"""The same by name."""
