"""The words that name a value's role."""

from __future__ import annotations

from functools import lru_cache

from grounding.text import STOP_WORDS, stem, terms

# Words that name the same role of a value; compared as one
_CUES = {
    stem(word): role
    for role, words in {
        "price": "cost costs price priced prices fee fees charge charged charges pay rate rates amount fare tariff payment",
        "phone": "phone call telephone tel number hotline ring dial contact reach line",
        "email": "email mail write send",
        "hours": "open opens hour hours close closes opening closing closed",
        "website": "website site web link url page online",
        "people": "people person guest guests visitor visitors",
    }.items()
    for word in words.split()
}


@lru_cache(maxsize=8192)
def role_terms(text: str) -> frozenset[str]:
    """Content words of a text without its numbers, role words as their class (cost and fee are both "price")."""
    return frozenset(_CUES.get(term, term) for term in terms(text) if not (term[0].isdigit() or _is_clitic(term)))


def _is_clitic(term: str) -> bool:
    """It's, don't, they're: a stop word and its tail."""
    base, mark, _ = term.partition("'")
    return bool(mark) and (base in STOP_WORDS or term.endswith("n't"))
