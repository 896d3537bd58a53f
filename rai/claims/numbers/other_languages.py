"""Number words of German, French, Spanish, Italian and Portuguese, read by text2num where they can be nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from text_to_num import text2num

from grounding.tables import table
from rai.claims.languages import Language
from rai.claims.numbers.numeral import Numeral
from rai.claims.numbers.units import SPELLINGS
from rai.claims.word_spans import Word

_TABLE = table(__file__)
_BEGINNINGS: dict[str, tuple[str, ...]] = {code: tuple(stems) for code, stems in _TABLE["stems"].items()}
_JOINTS = {"fr": (" ", "-", " et "), "es": (" ", " y "), "pt": (" ", " e "), "de": (" ",), "it": (" ",)}
_ALSO_WORDS = frozenset({"neuf", "sei", "acht", "elf", "cent", "dei", "dix"})
"""Also "new", "you are", "attention": a number only before a unit."""
_NOT_ALONE = frozenset({"ein", "eins", "eine", "einen", "un", "une", "uno", "una", "um", "uma"})


_COUNTING: dict[str, list[str]] = _TABLE["counting"]
_MEASURED: dict[str, list[str]] = _TABLE["measured"]
_TO_TWELVE = {
    unit: {
        word: str(number)
        for code, units in _MEASURED.items()
        if unit in units
        for number, word in enumerate(_COUNTING[code], 2)
    }
    for unit in {unit for units in _MEASURED.values() for unit in units}
}


def before_units(words: Sequence[Word]) -> Iterator[Numeral]:
    """Finds two to twelve before a stretch of time of the same language ("drei Tage", "deux ans"), in a text of any language."""
    for (word, start, end), (unit, after, _) in pairwise(words):
        number = _TO_TWELVE[unit].get(word) if unit in _TO_TWELVE and after - end == 1 else None
        if number:
            yield Numeral(start, end, (number,), spelled=True)


def foreign(lowered: str, words: Sequence[Word], code: Language) -> Iterator[Numeral]:
    """Finds the numbers in words of a text in `code`, by start; articles (ein, une, um) are none."""
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
