"""Holidays with a fixed date: New Year's Eve is 31 December. In eight languages; those that move are none."""

from __future__ import annotations

import re

from rai.claims.found import Found

_NAMES = {
    "--01-01": "new year(?:'|’)?s day|neujahr(?:stag)?|(?:le )?jour de l(?:'|’)an|a[nñ]o nuevo|capodanno|(?:dia de )?ano novo|nieuwjaarsdag|nowy rok|nowego roku",
    "--01-06": "epiphany|heilige drei könige|dreikönigstag|épiphanie|epifan[ií]a|día de reyes|dia de reis|driekoningen|trzech króli",
    "--12-24": "christmas eve|heilig(?:er )?abend|heiligabend|réveillon de noël|veille de noël|nochebuena|vigilia di natale|véspera de natal|kerstavond|wigili[aęi]",
    "--12-25": "christmas day|(?:erster|1\\.) weihnachts(?:feier)?tag|jour de noël|día de navidad|giorno di natale|dia de natal|eerste kerstdag|boże narodzenie",
    "--12-26": "boxing day|st\\.? stephen(?:'|’)s day|(?:zweiter|2\\.) weihnachts(?:feier)?tag|stephanstag|santo stefano|tweede kerstdag",
    "--12-31": "new year(?:'|’)?s eve|silvester(?:abend)?|saint-sylvestre|réveillon du nouvel an|nochevieja|san silvestro|véspera de ano novo|oudejaars(?:dag|avond)|oudjaar|sylwest(?:er|ra)",
    "--08-15": "ferragosto|assumption day|mariä himmelfahrt|assomption",
    "--11-01": "all saints(?:'|’)?(?: day)?|allerheiligen|toussaint|todos los santos|ognissanti|todos os santos|wszystkich świętych",
}  # fmt: skip
_NAMED = re.compile(
    r"(?<!\w)(?:" + "|".join(f"(?P<d{at}>{names})" for at, names in enumerate(_NAMES.values())) + r")(?!\w)",
    re.IGNORECASE,
)
_DAYS = tuple(_NAMES)


def find(text: str) -> list[Found]:
    """Every named day as a date of any year."""
    return [
        Found("date", m.start(), m.end(), _DAYS[next(at for at in range(len(_DAYS)) if m[f"d{at}"])])
        for m in _NAMED.finditer(text)
    ]


def is_holiday(text: str) -> bool:
    """True if `text` is the name of such a day."""
    return _NAMED.fullmatch(text.strip()) is not None
