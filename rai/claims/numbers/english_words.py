"""English number words: cardinals, dozens, halves and other fractions, ordinals, "an hour", "twice".

The words of a text are looked up one by one, and only where one can begin a number a pattern is tried, at that place.
Every pattern is bounded, so the whole is linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from math import gcd

from text_to_num import text2num

from rai.claims.numbers.numeral import Numeral, decimal_of
from rai.claims.numbers.units import SPELLINGS
from rai.claims.word_spans import Word

_UNITS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_SCALES = {"hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_ONES = frozenset([*_UNITS, *_TENS])
_ORDINALS = {
    word: number
    for number, word in enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
        "sixteenth seventeenth eighteenth nineteenth".split(),
        1,
    )
} | {"twentieth": 20, "thirtieth": 30, "fortieth": 40, "fiftieth": 50, "sixtieth": 60, "hundredth": 100}
_PARTS = {"half": 2, "halves": 2, "quarter": 4, "quarters": 4} | {
    f"{word}{s}": number for word, number in _ORDINALS.items() if 3 <= number <= 12 for s in ("", "s")
}
_RANKED = (
    "floor|storey|level|edition|version|generation|gen|quarter|place|prize|round|season|series|anniversary|grade|tier|row|gate"
    "|exit|turn|turning|dose|stop|train|lane|door|session|lesson|night"
    "|platform|avenue|street|century|class|degree|birthday|attempt|instal?lments?|payment|reminder|invoice"
)
"""What a rank is a fact of. "The second option" only tells options apart; "the second floor" says where to go."""

_COUNT = rf"(?:{'|'.join([*_UNITS, *_TENS, *_SCALES])})"
_RUN = re.compile(rf"(?:a|{'|'.join([*_UNITS, *_TENS])})(?:(?:[ -]| and ){_COUNT}\b){{0,11}}(?!\w)")
_EACH = re.compile(rf"\b{_COUNT}\b")
_YEAR = re.compile(
    rf"(?:nineteen|eighteen|twenty)[ -](?:(?:{'|'.join(_TENS)})(?:-(?:{'|'.join(_UNITS[1:10])}))?|{'|'.join(_UNITS[10:])})"
)
_TAIL = re.compile(
    r"(?: dozen\b| and (?:(a) half|(a) quarter|(three) quarters|(a) third)\b"
    r"| point((?: (?:zero|oh|one|two|three|four|five|six|seven|eight|nine)\b){1,8}))"
)
_TAILS = (Fraction(1, 2), Fraction(1, 4), Fraction(3, 4), Fraction(1, 3))
_PART = re.compile(r"[ -]([a-z]{4,9})\b(?!-)")
_SOME = re.compile(r"a (?:(?:half )?(?:dozen|hundred|thousand|million|billion|trillion))\b(?! (?:of|and one) )")
_HALF = re.compile(
    r"half[ -](?:an? )?(?:(dozen|hundred|thousand|million|billion|trillion)\b|(?=([a-z]{3,12})\b))|half(?= (?:of|the|our|their|your|its)\b(?! (?:time|battle|fun|story)\b))"
)
_PART_OF = re.compile(r"(?:a|an|one)[ -](half|third|quarter|fourth|fifth|sixth|seventh|eighth|ninth|tenth)(?= of\b)")
_OF_A_SCALE = re.compile(r" of an? (hundred|thousand|million|billion|trillion)\b")
_RANK = re.compile(rf"(?:(?:{'|'.join(_TENS)})-)?([a-z]{{5,11}})[ -](?:{_RANKED})\b")
_LATER = re.compile(r"(?:(twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)-)?([a-z]{5,11})\b")
_ARTICLE = re.compile(r"an? ([a-z]{3,9})\b(?!-)")
_ARTICLES = frozenset(
    "second minute hour day week fortnight month year decade century mile kilometer kilometre".split()
)
_STATES_BEFORE = re.compile(
    r"(?:\b(?:within|after|at least|less than|more than|up to|over|under|takes?|lasts?|about|around|nearly|only|every|last for|valid for|exactly) )$"
)
_STATES_AFTER = re.compile(
    r" (?:before|after|later|earlier|prior|ago|in advance|beforehand|long|notice|ahead|or (?:more|less|longer)|and (?:a half|a quarter))\b"
)
_MULTIPLES = {"once": "1", "twice": "2", "thrice": "3", "double": "2", "triple": "3"}
_OFTEN = re.compile(
    r"(?:once|twice|thrice)(?= (?:an? |per |every |each )(?:second|minute|hour|day|night|week|month|quarter|year)\b| (?:daily|weekly|monthly|yearly|annually)\b)"
    r"|(?:twice|thrice)(?= (?:as|the) )|(?:double|triple)(?= (?:the|your|our|its) )"
)
_EVERY = re.compile(r"every (?:(?P<fortnight>fortnight)|(?:other|second) (?P<unit>day|week|month|year))\b")
TRIGGERS = _ONES | frozenset(_ORDINALS) | frozenset(_MULTIPLES) | {"a", "an", "half", "every"}


def english(lowered: str, words: Sequence[Word]) -> Iterator[Numeral]:
    """Finds the numbers in words of `lowered`, lower-case text, by start; `words` are its words. Two may overlap: the first counts."""
    taken = 0
    for word, start, _ in words:
        if word in TRIGGERS and start >= taken and _begins(lowered, start):
            for numeral in _at(lowered, word, start):
                taken = numeral.end
                yield numeral


def _begins(lowered: str, start: int) -> bool:
    before = lowered[start - 1 : start]
    return not before or not (before.isalnum() or before in "_-'’")


def _at(lowered: str, word: str, start: int) -> list[Numeral]:
    if word in ("a", "an"):
        return _article(lowered, start)
    if word == "half":
        return _half(lowered, start)
    if word == "every":
        return _every(lowered, start)
    if word in _MULTIPLES:
        match = _OFTEN.match(lowered, start)
        return [Numeral(start, match.end(), (_MULTIPLES[word],), True, unit="times")] if match else []
    part = _PART_OF.match(lowered, start) if word == "one" else None
    if part:
        return [_spelled(start, part.end(), Fraction(1, _PARTS[part[1]]))]
    return _ordinal(lowered, start) or ([] if word in _ORDINALS else _cardinal(lowered, start))


def _article(lowered: str, start: int) -> list[Numeral]:
    """The number that begins with an article: a hundred, half a dozen as "a half dozen", a third of; an hour only where the words around say how long."""
    some = _SOME.match(lowered, start)
    if some:
        words = some[0].split()
        value = Fraction(12 if words[-1] == "dozen" else _SCALES[words[-1]]) / (2 if "half" in words else 1)
        if words[1] in _SCALES:
            return _cardinal(lowered, start)
        return [_spelled(start, some.end(), value)]
    part = _PART_OF.match(lowered, start)
    if part:
        scale = _OF_A_SCALE.match(lowered, part.end())
        value = Fraction(_SCALES[scale[1]] if scale else 1, _PARTS[part[1]])
        return [_spelled(start, scale.end() if scale else part.end(), value)]
    match = _ARTICLE.match(lowered, start)
    if match is None or match[1] not in _ARTICLES:
        return []
    if _STATES_BEFORE.search(lowered, max(0, start - 12), start) or _STATES_AFTER.match(lowered, match.end()):
        return [
            Numeral(start, match.end(), ("1",), True, unit=SPELLINGS[match[1]] if match[1] in SPELLINGS else match[1])
        ]
    return []


def _every(lowered: str, start: int) -> list[Numeral]:
    """The interval that begins with "every": every fortnight, every other week. How far apart, as "every 2 weeks" says it."""
    match = _EVERY.match(lowered, start)
    if match is None:
        return []
    number, unit = ("1", "fortnight") if match["fortnight"] else ("2", match["unit"])
    return [Numeral(match.start() + len("every "), match.end(), (number,), True, unit=unit)]


def _half(lowered: str, start: int) -> list[Numeral]:
    match = _HALF.match(lowered, start)
    if match is None:
        return []
    if match[1]:
        return [_spelled(start, match.end(), Fraction(12 if match[1] == "dozen" else _SCALES[match[1]], 2))]
    if match[2]:  # half an hour, a half-day: what follows must be a unit, and then the gap is its own
        return [_spelled(start, match.end() - 1, Fraction(1, 2))] if match[2] in SPELLINGS else []
    return [_spelled(start, match.end(), Fraction(1, 2))]


def _ordinal(lowered: str, start: int) -> list[Numeral]:
    """The ordinal at `start`, if it is a claim: first and second where a rank is a fact, third and later also before any other noun, but not in "third-party"."""
    match = _LATER.match(lowered, start)
    if match is None or match[2] not in _ORDINALS:
        return []
    tens, rank = match[1], _ORDINALS[match[2]]
    if tens and rank > 9:
        return []
    number = rank + (int(text2num(tens, "en")) if tens else 0)
    following = lowered[match.end() : match.end() + 8]
    plain = number > 2 and re.match(r" (?!part(?:y|ies)\b|of\b|and\b|to\b|or\b)[a-z]", following) is not None
    stated = plain and lowered[max(0, start - 4) : start] == "the "
    if not (stated or _RANK.match(lowered, start)):
        return []
    return [Numeral(start, match.end(), (str(number),), True, ordinal=True)]


def _cardinal(lowered: str, start: int) -> list[Numeral]:
    run = _RUN.match(lowered, start)
    if run is None:
        return []
    value = _value(run[0])
    if value is None and " and " in run[0]:  # one and three quarters: what follows "and" is another number
        head = run[0].partition(" and ")[0]
        value = _value(head)
        if value is not None:
            return [_with_tail(lowered, start, start + len(head), value)]
    if value is None:
        each = ((m, _value(m[0])) for m in _EACH.finditer(run[0]))
        at = run.start()
        return [_spelled(at + m.start(), at + m.end(), Fraction(v)) for m, v in each if v is not None]
    return [_with_tail(lowered, start, run.end(), value)]


def _with_tail(lowered: str, start: int, end: int, value: int) -> Numeral:
    tail = _TAIL.match(lowered, end)
    if tail:
        return _spelled(start, tail.end(), _tail(tail, value))
    part = _PART.match(lowered, end)
    below = _PARTS.get(part[1]) if part else None
    if part and below and 0 < value < below and gcd(value, below) == 1 and (value > 1) == part[1].endswith("s"):
        fraction = _spelled(start, part.end(), Fraction(value, below))
        # three quarters may be three times three months
        return (
            fraction if below != 4 or value == 1 else Numeral(start, part.end(), (*fraction.readings, str(value)), True)
        )
    return _spelled(start, end, Fraction(value))


def _tail(tail: re.Match[str], value: int) -> Fraction:
    if tail[5]:
        digits = "".join(str(_UNITS.index("zero" if w == "oh" else w)) for w in tail[5].split())
        return Fraction(f"{value}.{digits}")
    for group, part in enumerate(_TAILS, 1):
        if tail[group]:
            return value + part
    return Fraction(value * 12)


def _spelled(start: int, end: int, value: Fraction) -> Numeral:
    return Numeral(start, end, (decimal_of(value),), spelled=True)


@lru_cache(maxsize=4096)
def _value(words: str) -> int | None:
    if _YEAR.fullmatch(words):  # nineteen ninety-nine
        century, _, rest = words.replace("-", " ", 1).partition(" ")
        return int(text2num(century, "en")) * 100 + int(text2num(rest.replace("-", " "), "en"))
    plain = words.replace("-", " ")
    plain = "one" + plain[1:] if plain.startswith("a ") else plain
    try:
        return int(text2num(plain, "en"))
    except ValueError:
        return None
