"""Telephone numbers: own shapes propose, phonenumbers decides. Order numbers, dates and prices are none."""

from __future__ import annotations

import re
from functools import lru_cache

import phonenumbers
from phonenumbers import NumberParseException, PhoneNumberFormat

from rai.claims.found import Found

REGIONS = ("US", "GB", "DE", "FR")

_CANDIDATE = re.compile(
    r"(?<![\w+#.,/$€£-])(?:\+ ?)?(?:\(\+?\d{1,5}\)|\d)(?:[ \u00a0.‐‑–/()-]{0,2}\d){5,16}(?![\w%]|[.,:/-]\d)"
    r"(?P<ext>,? ?(?:ext(?:ension)?\.?|x|#|Durchwahl) ?:? ?\d{1,6}\b)?",
    re.IGNORECASE,
)
_VANITY = re.compile(
    r"(?<![\w+-])(?:\+?1[ -])?\(?8(?:00|33|44|55|66|77|88)\)?[ -](?=[A-Z0-9-]*[A-Z])[A-Z0-9]{1,7}(?:-[A-Z0-9]{1,7}){0,3}(?![\w-])"
)
_CUE = re.compile(
    r"\b(?:call|phone|tel|telephone|dial|ring|fax|mobile|cell|hotline|helpline|contact|reach|sms|whatsapp|telefon|tél|support line)\b",
    re.IGNORECASE,
)
_OTHER = re.compile(
    r"(?:\b(?:order|ticket|invoice|case|ref|reference|account|tracking|customer|serial|id|isbn|iban|card|part|model|sku|form|article|version|no|number)\b\.?|[#№])[^.!?\n]{0,12}$",
    re.IGNORECASE,
)
_DATE = re.compile(
    r"(?:19|20)\d{2}[-./ ]\d{1,2}[-./ ]\d{1,2}|\d{1,2}[-./]\d{1,2}[-./](?:19|20)\d{2}|(?:19|20)\d{2} ?[-–/] ?(?:19|20)\d{2}"
)
_CARD = re.compile(r"\d{4}(?:[ -]\d{4}){2,3}")
_AMOUNT = re.compile(r"\d{1,3}(?:[ ,.\u00a0]\d{3}){1,4}")
_NANP = re.compile(r"(?:\+?1[ .-]?)?(?:\(\d{3}\) ?|\d{3}[ .-])\d{3}[ .-]\d{4}")
_LOCAL = re.compile(r"\d{3}[ .-]\d{4}")
_GROUPS = re.compile(r"\d+")


def find(text: str, regions: tuple[str, ...] = REGIONS) -> list[Found]:
    """Telephone numbers as E.164 with ";ext=…"; a number written nationally is read in each of `regions`, in order.

    What no numbering plan knows but is plainly meant as a number (a cue such as "call", or a form like 555-123-4567)
    is kept: with +1 if it has the North American form, else with its digits behind "tel:".
    """
    found: list[Found] = []
    for match in _CANDIDATE.finditer(text):
        hit = _judge(text, match, regions)
        if hit:
            found.append(hit)
    for match in _VANITY.finditer(text):
        readings = _read(match.group(), regions)
        if readings:
            found.append(Found("phone", match.start(), match.end(), readings[0], readings))
    return found


def _judge(text: str, match: re.Match[str], regions: tuple[str, ...]) -> Found | None:
    raw = match.group()
    core = raw[: match.start("ext") - match.start()] if match["ext"] else raw
    before = text[max(0, match.start() - 40) : match.start()]
    cued = bool(_CUE.search(before)) or bool(match["ext"])
    if _is_other(core, before, cued=cued):
        return None
    strong = cued or core.lstrip().startswith("+") or "(" in core
    readings = _read(raw, regions)
    grouped = len(_GROUPS.findall(core)) > 1
    if readings and (strong or grouped):
        return Found("phone", match.start(), match.end(), readings[0], readings)
    digits = "".join(c for c in core if c.isdigit())
    if _NANP.fullmatch(core) or (strong and 7 <= len(digits) <= 15) or (cued and _LOCAL.fullmatch(core)):
        extension = ";ext=" + "".join(c for c in match["ext"] if c.isdigit()) if match["ext"] else ""
        return Found("phone", match.start(), match.end(), _unlisted(core, digits, regions) + extension)
    return None


def _unlisted(core: str, digits: str, regions: tuple[str, ...]) -> str:
    if core.startswith("+"):
        return f"+{digits}"
    return f"+1{digits[-10:]}" if _NANP.fullmatch(core) and "US" in regions else f"tel:{digits}"


def _is_other(core: str, before: str, *, cued: bool) -> bool:
    if _DATE.match(core) or _CARD.fullmatch(core):
        return True
    if core.startswith("+"):
        return False
    if _AMOUNT.fullmatch(core) and not cued:
        return True
    other = _OTHER.search(before)
    return bool(other) and not _CUE.search(before, other.start() - 12 if other and other.start() > 12 else 0)


@lru_cache(maxsize=8192)
def _read(raw: str, regions: tuple[str, ...]) -> tuple[str, ...]:
    international = raw.lstrip().startswith("+")
    readings: dict[str, None] = {}
    for region in ("ZZ",) if international else regions:
        try:
            number = phonenumbers.parse(raw, region)
        except NumberParseException:
            continue
        if phonenumbers.is_valid_number(number) and (international or _national(raw, region)):
            value = phonenumbers.format_number(number, PhoneNumberFormat.E164)
            readings[f"{value};ext={number.extension}" if number.extension else value] = None
    return tuple(readings)


def _national(raw: str, region: str) -> bool:
    """Where numbers are dialled with a trunk 0, ten digits without it are not that country's."""
    trunk = phonenumbers.ndd_prefix_for_region(region, True)
    return trunk != "0" or raw.lstrip(" (").startswith("0")
