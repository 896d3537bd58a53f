"""Words that tell a name from what merely begins with a capital. English; a list is short where a rule can do it."""

from __future__ import annotations

from grounding.tables import table
from grounding.text import STOP_WORDS

_TABLE = table(__file__)
HONORIFICS: frozenset[str] = frozenset(_TABLE["honorifics"])
HONORIFIC = r"\b(?:Mr|Mrs|Ms|Miss|Mx|Dr|Prof|Professor|Sir|Dame|Herr|Frau|Mme|Señor|Señora|(?<![\dA-Z] )M)"
CALENDAR: frozenset[str] = frozenset(_TABLE["calendar"])
ORGANISATION: frozenset[str] = frozenset(_TABLE["organisation"])
LEADING: frozenset[str] = STOP_WORDS | CALENDAR | frozenset(_TABLE["leading"])
SPELT_OUT: dict[str, str] = {
    a: b for short, full in _TABLE["short_forms"].items() for a, b in ((short, full), (full, short))
}
"""What a word of a name or address is also written as: Ltd and Limited."""
NATIONALITIES: frozenset[str] = frozenset(_TABLE["nationalities"])
CAPITALISED: frozenset[str] = LEADING | NATIONALITIES | frozenset(_TABLE["capitalised"])
"""Words that carry a capital in the middle of a sentence without naming anything a source would have to name."""

GENERIC_ACRONYMS: frozenset[str] = frozenset(_TABLE["generic_acronyms"])
DESCRIPTORS: frozenset[str] = frozenset(_TABLE["descriptors"])
"""Words that say what kind of thing a name names; leaving one out or adding it names the same thing."""
