"""Values that no source holds, but that follow from one another: £2,821.20 is £2,351 and £470.20, of which no source has any.

Whoever miswrites one value of an answer breaks what the others say of it; whoever works a value out in a way that the check cannot follow goes on
reckoning with the result. So values that hold one another were likely worked out, though nothing tells how the first of them was. They are left in doubt
(`unchecked`), and never supported by this.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from rai.check.answer import Answer
from rai.check.context import Finding
from rai.check.working.beyond_chance import RULE as PERHAPS
from rai.check.working.derivation import worked_out
from rai.claims.found import Found

RULE = "hold-one-another"
"""Name of the rule."""
MOST = 8
"""Most values of one answer that are tried against one another; each is tried with each."""
_DOUBTED = (PERHAPS, RULE, "may-follow")
"""Rules that doubt a value as worked out: what follows from it is as doubtful, and no more."""
_ASSUMED = Finding("derived", (), "", rule=RULE)


def hold_one_another(absent: Collection[int], answer: Answer, findings: Mapping[int, Finding]) -> dict[int, Finding]:
    """`unchecked` for those of `absent` that follow from one another or from what is likely worked out, or from which that follows.

    `absent`: numbers of the values that no source holds; `findings`: of all values that are decided, these among them.
    """
    tried = sorted(absent)[:MOST]
    doubted = [n for n, finding in findings.items() if finding.rule in _DOUBTED][:MOST]
    held = {n: _ASSUMED if n in doubted else finding for n, finding in findings.items() if n not in absent}
    ways = {n: formula for n in tried if (formula := _follows(n, answer, held))}
    for assumed in tried:
        for n in (*tried, *doubted):
            formula = _follows(n, answer, {**held, assumed: _ASSUMED}, by=assumed) if n != assumed else ""
            if formula:
                ways = {n: formula, assumed: formula, **ways}
    if ways:
        held |= dict.fromkeys(ways, _ASSUMED)
        ways = {n: formula for n in tried if (formula := _follows(n, answer, held))} | ways
    return {n: _doubtful(formula) for n, formula in ways.items() if n in absent}


def _follows(n: int, answer: Answer, held: Mapping[int, Finding], by: int | None = None) -> str:
    """How the n-th value follows from those of `held`, and among them that of number `by`; "" if it does not, or is but said again there."""
    found = worked_out(n, answer, {m: finding for m, finding in held.items() if m != n})
    formula = found.formula if found is not None and found.status == "derived" else None
    if formula is None or (by is not None and not _names(formula, by, n, answer)):
        return ""
    return formula


def _names(formula: str, by: int, n: int, answer: Answer) -> bool:
    """True if a formula for the n-th value reckons with that of number `by`, which is not the same once more: 8 April of Wednesday 8 April 2026."""
    calculation = formula.rpartition(" = ")[0]
    written = re.search(rf"(?<![\w.,]){re.escape(answer.written(by))}(?![\w]|[.,]\d)", calculation)
    again = answer.values[n].shares_form(answer.values[by]) or calculation == answer.written(by)
    return written is not None and not again and not _is_weekday(answer.values[n])


def _is_weekday(value: Found) -> bool:
    """True of a day of the week alone, which one in seven calculations gives."""
    return value.value.startswith("-W-")


def _doubtful(formula: str) -> Finding:
    why = f"No source has it; it goes with other values of the answer ({formula}), which may have been worked out."
    return Finding("unchecked", (), why, rule=RULE)
