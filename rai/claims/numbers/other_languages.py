"""Number words of German, French, Spanish, Italian and Portuguese, read by text2num where they can be nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from text_to_num import text2num

from rai.claims.languages import Language
from rai.claims.numbers.decimals import Numeral
from rai.claims.numbers.units import SPELLINGS
from rai.claims.word_spans import Word

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


_COUNTING = {
    "de": "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
    "fr": "deux trois quatre cinq six sept huit neuf dix onze douze",
    "es": "dos tres cuatro cinco seis siete ocho nueve diez once doce",
    "it": "due tre quattro cinque sei sette otto nove dieci undici dodici",
    "pt": "dois três quatro cinco seis sete oito nove dez onze doze",
    "nl": "twee drie vier vijf zes zeven acht negen tien elf twaalf",
    "pl": "dwa trzy cztery pięć sześć siedem osiem dziewięć dziesięć jedenaście dwanaście",
}
_MEASURED = {
    "de": "tage tagen werktage werktagen arbeitstage arbeitstagen wochen stunden minuten sekunden monate monaten jahre jahren nächte nächten",
    "fr": "jours heures semaines mois ans années minutes secondes nuits",
    "es": "días dias semanas meses años horas minutos segundos noches",
    "it": "giorni settimane mesi anni ore minuti secondi notti",
    "pt": "dias semanas meses anos horas minutos segundos noites",
    "nl": "dagen weken maanden jaar uur minuten nachten werkdagen",
    "pl": "dni tygodnie tygodni miesiące miesięcy lata lat godziny godzin minuty minut razy",
}
_TO_TWELVE = {
    unit: {word: str(n) for code, units in _MEASURED.items() if unit in units.split() for n, word in enumerate(_COUNTING[code].split(), 2)}
    for unit in {u for units in _MEASURED.values() for u in units.split()}
}  # fmt: skip


def before_units(words: Sequence[Word]) -> Iterator[Numeral]:
    """Two to twelve before a stretch of time of the same language ("drei Tage", "deux ans"), in a text of any language."""
    for (word, start, end), (unit, after, _) in pairwise(words):
        number = _TO_TWELVE[unit].get(word) if unit in _TO_TWELVE and after - end == 1 else None
        if number:
            yield Numeral(start, end, (number,), spelled=True)


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
