"""Values that a source writes in the same characters, whatever these were read as there, and telephone numbers without the country code that a source has."""

from __future__ import annotations

import re

from rai.check.answer import Answer
from rai.check.reading.sources import Place
from rai.claims.found import Found
from rai.records import Claim, EvidenceSpan

_LEADS_ON = r"[\w@+%€$£]|[.,:/-]\w|[ ,;]{0,2}(?:ext|x\d|extension|durchwahl|poste)\b"
"""What before or behind a value makes it part of a longer one."""


def verbatim(claim: Claim, found: Found, answer: Answer) -> tuple[EvidenceSpan, ...]:
    """Every place where a source writes a value in the same characters, as no part of a longer one; () if there is none.

    Only for contacts, dates, times and numbers in groups of digits ("41 555 01 27"), of at least `_LEAST` characters.
    """
    text = _grouped(found, answer) if found.kind == "number" else claim.text.strip("()")
    if found.kind not in ("phone", "url", "email", "date", "time", "number") or len(text) < _LEAST:
        return ()
    if found.kind == "number" and (dialled := _national(text, answer)):
        return dialled
    pattern = re.compile(rf"(?<![\w@+#*$€£.,/-]){re.escape(text)}(?!{_LEADS_ON})")
    return tuple(
        EvidenceSpan(s.source.id, "text", *match.span(), text)
        for s in answer.context.sources
        for match in pattern.finditer(s.source.text)
    )


_LEAST = 4
"""Fewest characters that tell a value."""


def _national(text: str, answer: Answer) -> tuple[EvidenceSpan, ...]:
    """The places of the telephone numbers that digits dial within their country: +49 341 5550 0167 of 0341 5550 0167."""
    digits = re.sub(r"\D", "", text)
    if not digits.startswith("0") or len(digits) < _DIALLED:
        return ()
    phones = (p for s in answer.context.sources for p in s.kinds.get("phone", ()))
    return tuple(p.span() for p in phones if _national_of(p) == digits[1:])


def _national_of(place: Place) -> str:
    """The digits of an international number behind those of its country; "" of any other."""
    match = _INTERNATIONAL.match(place.span().text)
    return re.sub(r"\D", "", place.span().text[match.end() :]).lstrip("0") if match else ""


_DIALLED = 8
"""Digits of the shortest telephone number with its area code."""
_INTERNATIONAL = re.compile(r"(?:\+|00)\d{1,3}[ /-](?:\(0\) ?)?")
_GROUPS = re.compile(r"\(?\d{1,4}\)?(?:[ -]\(?\d{1,4}\)?){2,6}")


def _grouped(found: Found, answer: Answer) -> str:
    """The digits in groups that a bare number is one of, "41 555 01 27"; "" if it stands alone."""
    start = max(0, found.start - 24)
    for match in _GROUPS.finditer(answer.text, start, found.end + 24):
        if match.start() <= found.start and found.end <= match.end():
            return match.group().strip("()")
    return ""
