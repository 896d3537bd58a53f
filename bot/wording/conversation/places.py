"""Countries in our own words, as a language calls them (CLDR): the documents' "Germany" beside a German answer is "Deutschland"."""

from __future__ import annotations

from babel import Locale

from grounding.quoting.countries import countries_in


def place(name: str, language: str) -> str:
    """What a language (ISO 639-1) calls a country; any other name as it is."""
    codes = [code for written, code in countries_in(name) if written == name]
    return str(Locale(language).territories.get(codes[0], name)) if codes else name
