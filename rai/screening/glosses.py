"""Foreign text as English words, one by one, so that what was taught English reads the gist of an order in seven other languages.

glosses.txt beside this module holds the words that orders, attacks and harm are made of. It is no translation: word order and endings are lost,
and words that are not in it are left out, names excepted.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from pathlib import Path

from rai.screening.languages import language
from rai.screening.normal_forms import reads_as_english

GLOSSED = ("de", "fr", "es", "it", "pt", "nl", "pl")
"""The languages of the columns, as ISO 639-1 codes."""
_SHORTEST = 3
"""Fewest letters of a beginning: a shorter one would begin too many words. Shorter ones in the table count as whole words."""
_LONGEST = 24
"""Most letters of a word that are looked at."""
_LINK = r"https?://\S+|\S+@\S+|[\w-]+(?:\.[\w-]+)*\.(?:example|com|net|org|io|eu|uk|info|biz|app|shop|de|fr|es|it|pt|nl|pl)\b\S*"
_PART = re.compile(rf"{_LINK}|[^\W\d_]+|\d[\d.,]*|[^\w\s]")
_LETTERS = re.compile(r"[^\W\d_]{2,}")
_FEWEST = 3
"""Fewest words of a language by which a short text is taken for it."""
_LOOKED_AT = 300
"""Most characters of such a text that are looked at."""
_KEPT = 2_000
"""Most characters of a text whose English words are kept."""
_PLAIN = str.maketrans({"ß": "ss", "ł": "l", "œ": "oe", "’": "'"})


def glossed(text: str, around: str = "") -> str:
    """`text` in English words if it is in one of `GLOSSED`, else as it is. `around`: the text it stands in, whose language counts where its own cannot be told."""
    near = language(around) if around else ""
    return _kept(text, near) if len(text) <= _KEPT else _glossed(text, near)


def _glossed(text: str, near: str) -> str:
    code = language(text) or near or _likeliest(text)
    if code not in GLOSSED:
        return text
    whole, beginnings = _column(code)
    words = (_word(part, whole, beginnings) for part in _PART.findall(text))
    return " ".join(word for word in words if word)


_kept = lru_cache(maxsize=512)(_glossed)  # each sentence is looked at more than once; a megabyte is not kept


def _likeliest(text: str) -> str:
    """The language of whose words the table knows most in a short text that no list of common words could tell; "" unless it knows three, and six in ten."""
    words = [_folded(word) for word in _LETTERS.findall(text[:_LOOKED_AT])]
    if len(words) < _FEWEST or reads_as_english(text):
        return ""
    known = {code: sum(bool(_word(word, *_column(code))) for word in words) for code in GLOSSED}
    best = max(known, key=lambda code: known[code])
    return best if known[best] >= max(_FEWEST, 0.6 * len(words)) else ""


def _word(part: str, whole: dict[str, str], beginnings: dict[str, str]) -> str:
    """The English of a word, "" if it has none; numbers, signs, addresses and names as they are."""
    if not part.isalpha():
        return part
    plain = _folded(part)
    if plain in whole:
        return whole[plain]
    for end in range(min(len(plain), _LONGEST), _SHORTEST - 1, -1):
        if plain[:end] in beginnings:
            return beginnings[plain[:end]]
    return part if part[0].isupper() else ""


def _folded(word: str) -> str:
    """A word in lower case without accents."""
    letters = unicodedata.normalize("NFKD", word.lower().translate(_PLAIN))
    return letters if letters.isascii() else "".join(c for c in letters if not unicodedata.combining(c))


@cache
def _column(code: str) -> tuple[dict[str, str], dict[str, str]]:
    """Whole words and beginnings of words in a language with their English; of two lines the first counts."""
    whole: dict[str, str] = {}
    beginnings: dict[str, str] = {}
    place = 1 + GLOSSED.index(code)
    for line in Path(__file__).with_suffix(".txt").read_text("utf-8").splitlines():
        if line.startswith("#") or not line.strip():
            continue
        columns = [column.strip() for column in line.split(";")]
        for word in map(_folded, columns[place].split()):
            (whole if word.startswith("=") else beginnings).setdefault(word.removeprefix("="), columns[0])
    return whole, beginnings
