"""Number words of German, French, Spanish, Italian and Portuguese, read by text2num where they can be nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from text_to_num import text2num

from rai.claims.languages import Language
from rai.claims.numeral import Numeral
from rai.claims.units import SPELLINGS
from rai.claims.words import Word

_STEMS = {
    "de": "zwei zwanzig drei vier fünf sechs sieben acht neun zehn elf zwölf hundert tausend ein".split(),
    "fr": "deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize vingt trente quarante cinquante soixante cent mille".split(),
    "es": "dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieci veint treinta cuarenta cincuenta sesenta setenta ochenta noventa cien quinientos mil".split(),
    "it": "due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici sedici dicia dicio vent trent quarant cinquant sessant settant ottant novant cent mille mila".split(),
    "pt": "dois duas três quatro cinco seis sete oito nove dez onze doze treze catorze quatorze quinze dezas deza dezo vinte trinta quarenta cinquenta sessenta setenta oitenta noventa cem cento duzentos trezentos mil".split(),
}  # fmt: skip
_BEGINNINGS = {code: tuple(stems) for code, stems in _STEMS.items()}
_JOINTS = {"fr": (" ", "-", " et "), "es": (" ", " y "), "pt": (" ", " e "), "de": (" ",), "it": (" ",)}
_ALSO_WORDS = frozenset({"neuf", "sei", "acht", "elf", "cent", "dei", "dix"})
"""Also "new", "you are", "attention": a number only before a unit."""
_NOT_ALONE = frozenset({"ein", "eins", "eine", "einen", "un", "une", "uno", "una", "um", "uma"})


def foreign(lowered: str, words: Sequence[Word], code: Language) -> Iterator[Numeral]:
    """Numbers in words of a text in `code`, by start; articles (ein, une, um) are none."""
    index, joints = 0, _JOINTS.get(code, ())
    while index < len(words):
        if not _number_word(words[index][0], code):
            index += 1
            continue
        last, value = index, words[index][0]
        found = _value(value, code)
        for end in range(index + 1, min(index + 7, len(words))):
            gap = lowered[words[last][2] : words[end][1]]
            if gap not in joints or not _number_word(words[end][0], code):
                continue
            longer = _value(lowered[words[index][1] : words[end][2]], code)
            if longer is None:
                break
            last, found = end, longer
        if found is not None and (last > index or _alone(words, index)):
            yield Numeral(words[index][1], words[last][2], (str(found),), spelled=True)
        index = last + 1


def _alone(words: Sequence[Word], index: int) -> bool:
    word = words[index][0]
    if word in _NOT_ALONE or word not in _ALSO_WORDS:
        return word not in _NOT_ALONE
    return index + 1 < len(words) and words[index + 1][0] in SPELLINGS


@lru_cache(maxsize=16384)
def _number_word(word: str, code: Language) -> bool:
    if word in _NOT_ALONE and code != "fr":
        return False
    begins = word.startswith(_BEGINNINGS.get(code, ())) or (code == "fr" and word in ("un", "une"))
    return begins and _value(word, code) is not None


@lru_cache(maxsize=4096)
def _value(words: str, code: Language) -> int | None:
    try:
        return int(text2num(words.replace("-", " ") if code != "fr" else words, code))
    except ValueError:
        return None
