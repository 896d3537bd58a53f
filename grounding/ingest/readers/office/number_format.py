"""Display text of spreadsheet values under their number format: 9 under "$"#,##0.00 is $9.00.

The grammar is the number format of ECMA-376 part 1, section 18.8.31, as far as it changes what value is read: sections for signs, literals,
currency tags, grouping, decimals, per cent, dates. Fractions and exponents are left as plain numbers.
"""

from __future__ import annotations

import datetime as dt
import re
from decimal import ROUND_HALF_UP, Decimal

_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|\[\$(?P<currency>[^\]-]*)(?:-[^\]]*)?\]|\[[^\]]*\]|_.|\*.'
    r"|(?P<digits>[#0?][#0?,.]*)|(?P<char>.)",
    re.DOTALL,
)
_ODD = re.compile(r"E[+-]|[#0?]\s*/\s*[#0?\d]|General|@", re.IGNORECASE)
_GENERAL_DIGITS = 11


def shown(value: object, number_format: str | None) -> str:
    """Text of a cell's `value` under its number format; "" for an empty cell."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, dt.datetime):
        return _moment(value)
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, dt.time):
        return value.isoformat("seconds" if value.second else "minutes")
    if isinstance(value, dt.timedelta):
        return str(value)
    if isinstance(value, int | float):
        return _number(value, number_format or "General")
    return str(value)


def _moment(value: dt.datetime) -> str:
    if (value.hour, value.minute, value.second) == (0, 0, 0):
        return value.date().isoformat()
    return value.isoformat(" ", "seconds" if value.second else "minutes")


def _number(value: float, number_format: str) -> str:
    section, signed = _section(number_format, value)
    if _ODD.search(section) or not re.search(r"[#0?]", section):
        return _general(value)
    amount = abs(Decimal(repr(value)))
    parts: list[str] = []
    done = False
    amount *= Decimal(100) ** _bare_percents(section)
    for token in _TOKEN.finditer(section):
        if token["digits"] and not done:
            digits = token["digits"]
            parts.append(_digits(amount, digits))
            done = True
        else:
            parts.append(token["quoted"] or token["escaped"] or token["currency"] or token["char"] or "")
    text = " ".join("".join(parts).split())
    return f"-{text}" if value < 0 and not signed else text


def _section(number_format: str, value: float) -> tuple[str, bool]:
    """The format's section for this value, and whether that section itself shows the sign."""
    sections = re.split(r';(?=(?:[^"]*"[^"]*")*[^"]*$)', number_format)
    if value < 0 and len(sections) > 1 and sections[1]:
        return sections[1], True
    if value == 0 and len(sections) > 2 and sections[2]:
        return sections[2], False
    return sections[0], False


def _bare_percents(section: str) -> int:
    return sum(1 for token in _TOKEN.finditer(section) if token["char"] == "%")


def _digits(amount: Decimal, pattern: str) -> str:
    whole, _, fraction = pattern.partition(".")
    scaled = amount / Decimal(1000) ** (len(pattern) - len(pattern.rstrip(",")))
    places = sum(fraction.count(c) for c in "0#?")
    rounded = scaled.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
    text = f"{rounded:,f}" if "," in whole.rstrip(",") else f"{rounded:f}"
    head, _, tail = text.partition(".")
    keep = fraction.count("0")
    while len(tail) > keep and tail.endswith("0"):
        tail = tail[:-1]
    head = head.zfill(whole.count("0")) if "," not in head else head
    return f"{head}.{tail}" if tail else head


def _general(value: float) -> str:
    if isinstance(value, int) or value.is_integer():
        return str(int(value)) if abs(value) < 1e15 else repr(value)
    return f"{value:.{_GENERAL_DIGITS}g}" if 1e-5 < abs(value) < 1e11 else repr(value)
