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
    if found.kind == "phone" and ";ext=" in found.value:
        return _with_extension(found, answer)
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


def code_of(claim: Claim, answer: Answer) -> EvidenceSpan | None:
    """The code of a source of which a number is the end, as the answer writes it: CO-470 of 470. None if it ends none, or no source writes that."""
    if claim.kind != "number":
        return None
    before = _CODE_BEFORE.search(answer.text, max(0, claim.start - _LONGEST_CODE), claim.start)
    if before is None:
        return None
    code = answer.text[before.start() : claim.end]
    whole = re.compile(rf"(?<![\w-]){re.escape(code)}(?![\w-])")
    found = ((s.source.id, m) for s in answer.context.sources for m in whole.finditer(s.source.text))
    return next((EvidenceSpan(source, "text", *m.span(), code) for source, m in found), None)


_CODE_BEFORE = re.compile(r"(?<![\w-])[A-Z][A-Za-z]{0,5}-$")
_LONGEST_CODE = 8


def _with_extension(found: Found, answer: Answer) -> tuple[EvidenceSpan, ...]:
    """The places of a telephone number and of its extension, which the same document says elsewhere, or another one of what the number is called by: "the Dunmore
    number, extension 4"; () if there is none.
    """
    extension = found.value.partition(";ext=")[2]
    numbers = {form.partition(";ext=")[0] for form in found.forms}
    said = re.compile(rf"\b(?:{_EXTENSION})[ :]{{0,2}}{extension}(?!\d)", re.IGNORECASE)
    phones = [p for s in answer.context.sources for p in s.kinds.get("phone", ()) if numbers & set(p.found.forms)]
    for text in answer.context.sources:
        for match in said.finditer(text.source.text):
            called = frozenset(_CAPITAL.findall(text.source.text, max(0, match.start() - _NEAR), match.start()))
            for phone in phones:
                if phone.source == text.source or called & _called(phone, answer):
                    return phone.span(), EvidenceSpan(text.source.id, "text", *match.span(), match.group())
    return ()


def _called(phone: Place, answer: Answer) -> frozenset[str]:
    """The names that stand before a telephone number of a document, and before no other one of it."""
    text = next(s for s in answer.context.sources if s.source == phone.source)
    before = {p: _before(p) for p in text.kinds.get("phone", ()) if p.found.value != phone.found.value}
    return frozenset(_before(phone)) - frozenset(name for names in before.values() for name in names)


def _before(phone: Place) -> list[str]:
    """The names in the paragraph of a telephone number, before it."""
    text, end = phone.text(), phone.found.start
    return _CAPITAL.findall(text, max(text.rfind("\n\n", 0, end) + 1, end - _PARAGRAPH, 0), end)


_EXTENSION = r"ext(?:ension|n)?\b\.?|Durchwahl|DW|Nst\.?|poste|anexo|interno|ramal"
_CAPITAL = re.compile(r"(?<![\w-])[A-Z][^\W\d_]{3,}")
_NEAR = 40
"""Characters before an extension in which the number is named that it goes with."""
_PARAGRAPH = 300


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
