"""Stretches of the calendar: years, decades, quarters, halves, seasons, ISO weeks.

Normal forms: 2026, 199X (EDTF), 2026-Q3, --Q3 (of any year), 2026-H1, 2026-summer, 2026-W19. A fiscal year begins when its
company says, so Q3 FY26 and "fiscal 2026" are left alone.
"""

from __future__ import annotations

import re

from grounding.tables import table
from rai.claims.found import Found
from rai.claims.word_spans import words

YEAR = r"(?:1[5-9]|20|21)[0-9]{2}"
_OF_YEAR = rf"(?:,? (?:of |in |de |del )?|[ ]?[/-])(?P<y>{YEAR}|['’][0-9]{{2}})(?!\w|[.,:]\d)"
_BARE_YEAR = re.compile(r"[12](?<![\w.,:/$€£-][12])(?:(?<=1)[5-9]|(?<=2)[01])[0-9]{2}(?![\w%]|[.,:/-]\d)")
_YEARS = re.compile(
    rf"(?P<first>(?<![\w.,:/$€£-]){YEAR})(?:[-–/]| ?– ?)(?P<last>{YEAR}|[0-9]{{2}})(?![\w%]|[.,:/-][0-9]| ?[€$£])"
)
_CUE = re.compile(
    r"(?:\b(?:in|since|from|until|till|by|year|during|before|after|of|between|seit|ab|bis|depuis|desde|dal|jahr|im jahr|en|anno|año)|©) $",
    re.IGNORECASE,
)
_FISCAL = re.compile(r"\b(?:fiscal|financial|tax|FY)(?: years?)?[ ]?(?:of )?$", re.IGNORECASE)
_SECOND = re.compile(
    rf"\b(?:from|between|since|von|de|dal|entre) {YEAR} (?:to|until|and|through|till|bis|und|à|a|al|y|et) $",
    re.IGNORECASE,
)
_COUNTED = re.compile(r" (?!was|is|has|as|this|its|sales|results)(?:[a-z]{3,20}s|people)\b")
_QUARTER = re.compile(rf"Q(?<!\wQ)(?P<q>[1-4])(?:{_OF_YEAR})?(?!\w)")
_HALF = re.compile(rf"H(?<!\wH)(?P<h>[12]){_OF_YEAR}")
_YEAR_FIRST = re.compile(rf"(?<![\w.-])(?P<y>{YEAR})[ /-]?$")
_QUARTER_CUE = re.compile(
    r"\b(?:in|for|of|during|by|since|until|through|end of|early|late|mid|from|the)[ -]$", re.IGNORECASE
)
_FY = re.compile(r"[ /,]{0,2}(?:FY|fiscal|financial)", re.IGNORECASE)
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4}
_PART = re.compile(rf" (?P<what>quarter|half)(?:{_OF_YEAR})?(?! (?:of )?(?:fiscal|the fiscal))(?!\w)")
_SEASONS: dict[str, str] = table(__file__)["seasons"]
_SEASON_YEAR = re.compile(
    rf"(?:,? (?:of |de |del |do )?)(?P<y>{YEAR})(?P<next>[/–-][0-9]{{2}}(?:[0-9]{{2}})?)?(?!\w|[.,]\d)"
)
_DECADE = re.compile(r"[12](?<!\w[12])[0-9]{2}0['’]?s(?!\w)")
_SHORT_DECADE = re.compile(
    r"['’](?P<a>[0-9]0)['’]?s(?!\w)|(?<=\bthe )(?P<b>[2-9]0)s(?!\w| ?(?:°|degrees|percent))", re.IGNORECASE
)
_NAMED_DECADE = {
    "twenties": 2,
    "thirties": 3,
    "forties": 4,
    "fifties": 5,
    "sixties": 6,
    "seventies": 7,
    "eighties": 8,
    "nineties": 9,
}
_THE = re.compile(r"\bthe (?:early |late |mid[- ])?$", re.IGNORECASE)
_WEEK = re.compile(rf"[ ](?P<w>[0-5]?[0-9])(?:,? (?:of )?|/)(?P<y>{YEAR})(?!\w)")
_ISO_WEEK = re.compile(r"[12](?<![\w-][12])[0-9]{3}-?W(?P<w>[0-5][0-9])(?:-?(?P<d>[1-7]))?(?![\w-])")


def find(text: str) -> list[Found]:
    """Finds every period; a year needs a word before it that only a year follows (in 2019, since 2019)."""
    found = [f for m in _BARE_YEAR.finditer(text) if (f := _year(text, m))]
    for match in _YEARS.finditer(text):
        found += _years(text, match)
    for match in _ISO_WEEK.finditer(text):
        day = f"-{match['d']}" if match["d"] else ""
        found += _made(match.start(), match.end(), f"{match[0][:4]}-W{match['w']}{day}", match[0][:4])
    found += [f for m in _QUARTER.finditer(text) if (f := _quarter(text, m))]
    found += [
        f for m in _HALF.finditer(text) for f in _made(m.start(), m.end(), f"{full(m['y'])}-H{m['h']}", full(m["y"]))
    ]
    found += [f for m in _DECADE.finditer(text) for f in _made(m.start(), m.end(), f"{m[0][:3]}X", m[0][:4])]
    for match in _SHORT_DECADE.finditer(text):
        tens = int((match["a"] or match["b"])[0])
        found += _made(match.start() + (match["b"] is None) * 0, match.end(), _decade(tens), "")
    return found + _worded(text)


def _years(text: str, match: re.Match[str]) -> list[Found]:
    """The years of 2007–08 and 2007-2008; the second is the later one, and no more than a century later."""
    first, last = match["first"], match["last"]
    last = last if len(last) == 4 else first[:2] + last
    if not int(first) < int(last) <= int(first) + 100 or _COUNTED.match(text, match.end()):
        return []
    return [
        *_made(match.start("first"), match.end("first"), first, first),
        *_made(match.start("last"), match.end("last"), last, last),
    ]


def full(year: str) -> str:
    """A year in four digits: '26 is 2026, '98 is 1998. Two digits below 70 are of this century."""
    digits = year.strip("'’-")
    return digits if len(digits) == 4 else ("20" if digits < "70" else "19") + digits


def _made(start: int, end: int, value: str, year: str) -> list[Found]:
    return [Found("date", start, end, value, (), (year,) if year else ())]


def _decade(tens: int) -> str:
    return f"{'20' if tens < 3 else '19'}{tens}X"


def _year(text: str, match: re.Match[str]) -> Found | None:
    start, end = match.span()
    window = max(0, start - 30)
    cue = _CUE.search(text, max(0, start - 10), start)
    if cue is None and not _SECOND.search(text, window, start):
        return None
    if _FISCAL.search(text, window, start):
        return None
    if cue and cue[0].lower() in ("of ", "by ", "from ") and _COUNTED.match(text, end):
        return None  # "of 2000 users" counts
    return Found("date", start, end, match[0], (), (match[0],))


def _quarter(text: str, match: re.Match[str]) -> Found | None:
    start, end, year = match.start(), match.end(), match["y"]
    if _FY.match(text, end) or _FISCAL.search(text, max(0, start - 20), start):
        return None
    if year is None:
        before = _YEAR_FIRST.search(text, max(0, start - 6), start)
        if before:
            return _made(before.start(), end, f"{before['y']}-Q{match['q']}", before["y"])[0]
        # Q1 heads a question more often than a quarter
        return (
            _made(start, end, f"--Q{match['q']}", "")[0]
            if _QUARTER_CUE.search(text, max(0, start - 9), start)
            else None
        )
    return _made(start, end, f"{full(year)}-Q{match['q']}", full(year))[0]


def _worded(text: str) -> list[Found]:
    found: list[Found] = []
    for word, start, end in words(text):
        if word in _SEASONS:
            match = _SEASON_YEAR.match(text, end)
            if match:
                found += _made(start, match.end(), f"{match['y']}-{_SEASONS[word]}", match["y"])
        elif word in _ORDINALS:
            found += _part(text, start, end, _ORDINALS[word])
        elif word in _NAMED_DECADE:
            if _THE.search(text, max(0, start - 12), start):
                found += _made(start, end, _decade(_NAMED_DECADE[word]), "")
        elif word in ("week", "kw", "semaine", "semana", "settimana"):
            match = _WEEK.match(text, end)
            if match and 1 <= int(match["w"]) <= 53:
                found += _made(start, match.end(), f"{match['y']}-W{int(match['w']):02d}", match["y"])
    return found


def _part(text: str, start: int, end: int, number: int) -> list[Found]:
    match = _PART.match(text, end)
    if match is None or (match["y"] is None and match["what"] == "half") or (match["what"] == "half" and number > 2):
        return []
    if match["y"] is None and _FISCAL.search(text, max(0, start - 20), start):
        return []
    letter = "Q" if match["what"] == "quarter" else "H"
    year = full(match["y"]) if match["y"] else ""
    return _made(start, match.end(), f"{year or '-'}-{letter}{number}", year)
