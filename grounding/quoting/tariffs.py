"""What a tariff comes to for what a question says: "£9 per started quarter of an hour, the first 10 minutes free" is 2 × £9 = £18 for 35 minutes.

Only a line that can be read whole is worked out: one amount for so much of one unit, what is paid or free before it, the most that is taken, the least
that counts. Whatever else it says in money or per cent, and a second quantity in the question, leaves it as it is quoted. English, and German's "je", "pro",
"jede weitere".
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from grounding.text import STOP_WORDS, caseless, stem, terms

_SPELLED = (
    "a an one ein eine einen",
    "two zwei",
    "three drei",
    "four vier",
    "five funf",
    "six sechs",
    "seven sieben",
    "eight acht",
    "nine neun",
    "ten zehn",
    "eleven elf",
    "twelve zwolf",
)
_NUMBERS = {word: number for number, said in enumerate(_SPELLED, start=1) for word in said.split()}
_ARTICLES = frozenset(("a", "an", "ein", "eine", "einen"))
_TENS = {"ten": 10, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50}
_DAY = 24 * 60
_MINUTES = {
    1: "minute minutes min mins minuten",
    15: "quarter of an hour|quarters of an hour|quarter hour|quarter-hour|viertelstunde|viertelstunden",
    30: "half hour|half hours|half-hour|half-hours|half an hour",
    60: "hour hours hr hrs h stunde stunden",
}
_DAYS = {1: "day days tag tage tagen", 7: "week weeks woche wochen", 14: "fortnight fortnights"}
_TIME = {
    name: (length, unit)
    for unit, lengths in (("minute", _MINUTES), ("day", _DAYS))
    for length, names in lengths.items()
    for name in names.split("|" if "|" in names else " ")
}
"""Units of time, each in minutes or in days: what costs so much an hour is not paid for by weeks."""
_UNCOUNTED = frozenset(("minute", "day"))
_DIVISIBLE = {
    **dict.fromkeys(("m", "metre", "metres", "meter", "meters"), "m"),
    **dict.fromkeys(("km", "kilometre", "kilometres", "kilometer", "kilometers"), "km"),
    **dict.fromkeys(("mile", "miles"), "mile"),
    **dict.fromkeys(("kg", "kilo", "kilos"), "kg"),
    **dict.fromkeys(("l", "litre", "litres", "liter", "liters"), "l"),
}
"""Units of which there may be half a one."""
_FURTHER = frozenset(
    ("further", "following", "subsequent", "additional", "extra", "more", "weitere", "weiterer", "weiteres", "weiteren")
)
_LOOSE = frozenset(("one", "item", "piece")) | _FURTHER
"""What stands for whatever is counted."""

_N = r"\d{1,3}(?:,\d{3})+|\d{1,6}(?:\.\d{1,2})?|" + "|".join(sorted(_NUMBERS, key=len, reverse=True))
_TIMES = "|".join(sorted(map(re.escape, _TIME), key=len, reverse=True))
_UNIT = rf"(?:{_TIMES}|(?!(?:{'|'.join(_NUMBERS)})\b)[a-z]{{1,20}})\b"
_MONEY = r"(?:(?:[£$€] ?|(?<!\w)(?:gbp|eur|usd|chf) )\d{1,3}(?:[.,]?\d{3})*(?:[.,]\d{1,2})?(?![\d])|(?<![\d.,])\d{1,6}(?:[.,]\d{1,2})? ?(?:€|eur\b|euros?\b|pounds?\b)|(?<![\d.,])\d{1,3}p\b)"
_MORE = rf"(?:(?P<more>{'|'.join(_FURTHER)}) )?"
_EACH = rf"{_MORE}(?:(?:started|begun|commenced|part|angefangene[rns]?|begonnene[rns]?)(?P<started> ))?(?:(?P<size>{_N}) )?(?P<unit>{_UNIT})"
_RATES = (
    re.compile(
        rf"(?P<money>{_MONEY})(?: extra)?(?: (?:for |fur )?(?:per|a|an|each|every|any|je|pro|jede[rns]?) | ?/ ?){_EACH}"
    ),
    re.compile(
        rf"\b(?:each|every|jede[rns]?) {_EACH}(?: or part(?: thereof| of (?:an? |the )?\w+)?| started| begun| (?:beyond|above|over|past|after) (?:that|this|those|it)| more)?(?: \| \w+)?(?::| costs?| is|,)? ?(?P<money>{_MONEY})"
    ),
)
_COLUMN = re.compile(rf"(?<![^|] )\b(?:per|each|every|je|pro) {_EACH}: ?(?P<money>{_MONEY})(?= \||$)")
"""A cell below the name of its column; what else the row says in money is of other things."""
_CAP = re.compile(
    rf"\b(?:but )?(?:at most|up to|no more than|never more than|(?:a )?(?:daily )?maximum(?: of)?|max\.?|capped at|(?:a )?ceiling of|hochstens|maximal):? ?(?P<money>{_MONEY})(?:,? (?:per|a|an|each|in any) (?:\d+ )?[a-z]+)?|(?P<behind>{_MONEY})(?: (?:per|a|the) \w+)? at (?:the )?most\b"
)
_LEAST = re.compile(
    rf"\b(?:minimum(?: hire| of)?|min\.?|at least|no fewer than|no less than|mindestens):? ?(?P<n>{_N}) ?(?P<unit>{_UNIT})"
    rf"|\b(?P<many>{_N}) (?P<of>{_UNIT}) (?:minimum|at (?:the )?least)\b"
)
_FLOOR = re.compile(rf"\b(?:minimum(?: charge| order| fee| of)?|min\.?|at least|mindestens):? ?(?P<money>{_MONEY})")
_STARTED = re.compile(
    r"\b(?:or part(?: of (?:an? |the )?\w+| thereof)?|part \w+ (?:is|are) rounded up|any part of an? \w+ counts as a (?:whole|full) \w+|a \w+ begun is a \w+ charged|begun|commenced|started)\b"
)
"""Said anywhere, each started one counts."""
_FIRST = re.compile(rf"\b(?:first|ersten?|erste[sr]?)\b(?: (?P<n>{_N}))?(?: (?P<unit>{_UNIT}))?")
_BEYOND = re.compile(rf"\b(?:beyond|above|over|exceeding|after|ab) (?:the )?(?P<n>\d{{1,4}})(?: ?(?P<unit>{_UNIT}))?")
_WITHIN = re.compile(
    rf"\b(?:within|up to|including|includes|incl\.?|covers|bis(?: zu)?) (?P<n>\d{{1,4}}) ?(?P<unit>{_UNIT})"
)
_AND_THEN = re.compile(r"\b(?:(?:beyond|above|over|past|after) (?:that|this|those|it)|thereafter)\b")
_FREE = re.compile(r"\b(?:free|nothing|no charge|without charge|not charged|kostenlos|frei|gratis)\b")
_EVERY_MONEY = re.compile(_MONEY)
_TIMES_MORE = re.compile(r" ?(?:/|(?:per|a|an|each|every|x|pro|je)\b|(?:and|und) \w+ ?(?=[,.;|)]|$))")
"""Behind a rate: it is one of two things, per person and night."""
_CONDITION = re.compile(
    r"\b(?:min(?:imum|imal)?|max(?:imum|imal)?|at least|at most|fewer|less|least|most|cap|capped|ceiling|never|others?|further(?! away)|extra|additional|more|beyond|above|over|exceed\w*"
    r"|after|past|first|includ\w*|incl|up to|free|no c(?:harge|ost)|nothing|on us|counts?|but|except|only|unless|bundles?|half|odd|depend\w*|on top|longest|thereafter|per|pro|following|next|second|third)\b"
)
"""What bears on a sum; where one is left that was not read, the line was not read whole."""
_LINKS = re.compile(
    r"\b(?:half[ -](?:an )?hours?|after (?:that|this|which)|thereafter|afterwards|included|includes|including|incl|the end of)\b"
)
"""Said beside what is covered, and nothing more than that."""
_NOT_ALL = re.compile(r"%|\b(?:vat|tax|taxes|mwst|ust|surcharge|zuschlag|example|beispiel)\b")
"""Something else is added, or it is no rule."""
_ABOUT = re.compile(
    r"\b(?:from|about|roughly|approx\.?|around|starting at|ab|ca\.?|minimum(?: of)?|min\.?|at least|mindestens):? ?$"
)
"""Before an amount that is not the whole."""
_CLOCK = re.compile(
    r"(?<![\w.,:])(?P<h>\d{1,2}|an|one|two|three) ?(?:hours?|hrs?|h|stunden?)(?: and| und)? ?(?P<m>[0-5]?\d|ten|twenty|thirty|forty|fifty)"
    r"(?: ?(?:minutes?|mins?|m|minuten)\b|(?= (?:late|over|too|what|how|so|on|in|at|is|was|total|pls|please|today|for)\b)|(?! ?[a-z\d]))"
)
_SAID = re.compile(
    rf"(?<![\w.,:£$€])(?P<n>{_N})(?P<half> and a half)?(?:(?<=\d)[ -]?|[ -])(?P<unit>{_UNIT})(?P<after> and a half)?|\bhalf an hour\b"
)
_GOES_ON = re.compile(r" ?(?:(?:and )?\d|(?:ago|old|since|earlier|before|now|already|later)\b)")
"""Behind a quantity of which only a part was read, or which is an age."""
_MORE_FIGURES = re.compile(
    rf"(?<![\w.,:£$€])(?:\d+|{'|'.join(w for w in _NUMBERS if w not in _ARTICLES and w != 'one')})(?!\w)"
)
"""Another quantity in the question: how many dogs, beside how many days."""
_NO_AMOUNT_OF_IT = re.compile(
    r"\b(?:half|quarter of|half of|in|within|after|since|every|last|next|past|another)(?: the)? $"
)
"""Before a quantity that is a part, or a time and not how much of it."""
_OF_THEM = re.compile(rf"(?<![\w.,:£$€])(?P<n>{_N}) (?:of|von) (?:them|those|these|denen|ihnen)\b")
_ASKS = re.compile(
    r"\b(?:how much|what(?:'?s| is| do| does| would| will)|total|come to|owes?|costs?|charged?|bill|pay|price|wie viel|wieviel|kostet|kosten|macht das)\b"
)

_ASKS_OTHERWISE = re.compile(
    r"\b(?:can|could|may|is|are|do|does|did|will|would|have|has|must|should|when|why|where|who|which|how|need|darf|kann|ist|sind|wann|wo|wie)\b"
)
"""Words of a question that asks for no sum; what is typed in half sentences may ask for one."""


@dataclass(frozen=True, slots=True)
class Amount:
    """Money as it is written, `said`: its value, the `sign` before or, with `behind`, after it, how many digits stand behind its `point`, and what parts its thousands."""

    said: str
    value: Fraction
    sign: str
    behind: bool
    places: int
    point: str
    thousands: str

    def written(self, value: Fraction) -> str:
        """Another value, written in the same way."""
        places = self.places or (0 if value.denominator == 1 else 2)
        whole, _, part = f"{float(value):,.{places}f}".partition(".")
        figures = whole.replace(",", self.thousands) + (f"{self.point}{part}" if part else "")
        return f"{figures}{self.sign}" if self.behind else f"{self.sign}{figures}"


@dataclass(frozen=True, slots=True)
class Tariff:
    """`rate` for each `size` of a unit, each `started` one where it says so. `units`: names of the unit, `minute` or `day` for time; `covered`: what is paid by `base`, or free,
    before it; `least`: that counts; `most`, `floor`: the most and the least that is taken; `below`: where it comes to more than that, another price may hold.
    """

    rate: Amount
    units: frozenset[str]
    size: Fraction = Fraction(1)
    started: bool = False
    covered: Fraction = Fraction(0)
    base: Amount | None = None
    most: Amount | None = None
    least: Fraction = Fraction(0)
    below: Fraction | None = None
    floor: Amount | None = None


def worked_out(text: str, question: str, subject: str) -> str | None:
    """What the tariff of a line comes to for the quantity of a question, "2 × £9.00 = £18.00" for 35 minutes; None where there is no tariff, or more than can be read.

    `subject`: all that was said of what is asked, by which one of several rates of a line is known.
    """
    plain = caseless(question)
    is_asked = _ASKS.search(plain) or not _ASKS_OTHERWISE.search(plain)
    tariff = read_tariff(text, subject) if is_asked else None
    asked = list(_quantities(plain, tariff)) if tariff else []
    if tariff is None or len(asked) != 1:
        return None
    start, end, quantity = asked[0]
    if _GOES_ON.match(plain, end) or _MORE_FIGURES.search(plain[:start]) or _MORE_FIGURES.search(plain[end:]):
        return None
    return _formula(tariff, quantity)


@dataclass(frozen=True, slots=True)
class _TariffLine:
    """A line, caseless, and what bears on a sum in it: the `rate` that counts among all `rates`, by where their amounts stand; `others`: amounts that are none; what is paid or free
    before the rate (`covers`, `free`); and the bounds.
    """

    plain: str
    rate: re.Match[str]
    rates: Mapping[tuple[int, int], re.Match[str]]
    others: Sequence[re.Match[str]]
    covers: Sequence[re.Match[str]]
    free: Sequence[re.Match[str]]
    cap: re.Match[str] | None
    floor: re.Match[str] | None
    least: re.Match[str] | None


def read_tariff(text: str, subject: str = "") -> Tariff | None:
    """The tariff that a line says; None where it says none, or anything that bears on a sum and is not understood."""
    plain = caseless(text)
    if (column := _in_a_column(text, plain)) is not None:
        return column
    line = _line(plain, subject)
    if line is None or not _is_whole(line):
        return None
    rate, least = line.rate, line.least
    length, units = _unit(rate["unit"])
    told = {_told_in(units, m["n"] or "1", m["unit"]) for m in line.covers} or {Fraction(0)}
    fewest = _told_in(units, least["n"] or least["many"], least["unit"] or least["of"]) if least else Fraction(0)
    before = told.pop()
    if told or before is None or fewest is None:
        return None
    if units <= _LOOSE:
        units |= frozenset(terms(text))
    amounts = [_amount(text[slice(*span)]) if span else None for span in _spans(line)]
    amount, base, most, floor = amounts
    if amount is None or any(a is not None and a.sign != amount.sign for a in amounts):
        return None
    started = bool(rate["started"] or _STARTED.search(plain))
    size = _number(rate["size"] or "1") * length
    return Tariff(amount, units, size, started, before, base, most, fewest, floor=floor)


def _line(plain: str, subject: str) -> _TariffLine | None:
    """What bears on a sum in a line; None where it has no rate, or none of the subject."""
    cap, floor = _CAP.search(plain), _FLOOR.search(plain)
    bounds = [_span_of(cap), _span_of(floor)]
    rates = {m.span("money"): m for form in _RATES for m in form.finditer(plain) if m.span("money") not in bounds}
    rate = _of_the_subject(sorted(rates.values(), key=lambda m: m.start()), plain, subject)
    if rate is None:
        return None
    others = [m for m in _EVERY_MONEY.finditer(plain) if m.span() not in rates and m.span() not in bounds]
    free, least = list(_FREE.finditer(plain)), _LEAST.search(plain)
    return _TariffLine(plain, rate, rates, others, _covers(plain, rate), free, cap, floor, least)


def _span_of(bound: re.Match[str] | None) -> tuple[int, int] | None:
    """Where the amount of a bound stands."""
    return bound.span("money" if bound.groupdict()["money"] else "behind") if bound else None


def _spans(line: _TariffLine) -> list[tuple[int, int] | None]:
    """Where the amounts of a tariff stand: its rate, what is paid before, the most and the least that is taken."""
    base = line.others[0].span() if line.others else None
    return [line.rate.span("money"), base, _span_of(line.cap), _span_of(line.floor)]


def _is_whole(line: _TariffLine) -> bool:
    """Whether a line says nothing that bears on a sum beside what was read of it."""
    plain, rate, others, covers = line.plain, line.rate, line.others, line.covers
    if _NOT_ALL.search(plain) or _TIMES_MORE.match(plain, rate.end()) or _ABOUT.search(plain, 0, rate.start("money")):
        return False
    links = [m for m in (*_LINKS.finditer(plain), *_AND_THEN.finditer(plain)) if covers or m[0].startswith("half")]
    bounds = [m for m in (line.cap, line.floor, line.least) if m]
    read = [*line.rates.values(), *covers, *line.free, *bounds, *links]
    if _CONDITION.search(_without(plain, [*read, *_STARTED.finditer(plain)])):
        return False
    if not covers:  # further than what, it does not say
        return not (others or line.free or rate["more"] or rate["unit"] in _FURTHER)
    if len(others) > 1 or bool(others) == bool(line.free):
        return False
    behind = any(m.start() > rate.start() for m in others)  # "the first seven nights £24 a night, after that £20"
    return not any(_ABOUT.search(plain, 0, m.start()) for m in others) and (not behind or rate["more"] is not None)


def _without(plain: str, read: Iterable[re.Match[str]]) -> str:
    """A line without what was read of it."""
    left = list(plain)
    for m in read:
        left[m.start() : m.end()] = " " * (m.end() - m.start())
    return "".join(left)


def _in_a_column(text: str, plain: str) -> Tariff | None:
    """The rate of a row that has one in a column of its own, and nothing else that bears on it: "Punt | Per started hour: £8 | Whole day: £40". What it comes to is no more than
    anything else in the row, which may be the price of a whole day.
    """
    found = list(_COLUMN.finditer(plain))
    if len(found) != 1 or _FIRST.search(plain) or _FREE.search(plain) or _NOT_ALL.search(plain) or found[0]["more"]:
        return None
    (rate,) = found
    length, units = _unit(rate["unit"])
    others = [
        _amount(text[m.start() : m.end()]) for m in _EVERY_MONEY.finditer(plain) if m.span() != rate.span("money")
    ]
    amount = _amount(text[slice(*rate.span("money"))])
    if (
        amount is None
        or _CONDITION.search(_without(plain, found))
        or any(o is not None and o.sign != amount.sign for o in others)
    ):
        return None
    below = min((o.value for o in others if o is not None), default=None)
    size = _number(rate["size"] or "1") * length
    return Tariff(amount, units, size, bool(rate["started"]), below=below)


def _of_the_subject(rates: Sequence[re.Match[str]], plain: str, subject: str) -> re.Match[str] | None:
    """The only rate, or of several that whose stretch between commas says more of what is asked than any other's."""
    if len(rates) < 2:
        return rates[0] if rates else None
    asked = set(terms(subject))
    shared = []
    for m in rates:
        begin = max(plain.rfind(sign, 0, m.start()) for sign in ",;|.:") + 1
        ends = [end for sign in ",;|" if (end := plain.find(sign, m.end())) >= 0]
        around = f"{plain[begin : m.start()]} {plain[m.end() : min(ends, default=len(plain))]}"
        shared.append(sum(not term[0].isdigit() for term in asked & set(terms(around))))
    best = max(shared)
    return rates[shared.index(best)] if best and shared.count(best) == 1 else None


def _covers(plain: str, rate: re.Match[str]) -> list[re.Match[str]]:
    """Where it is said what is paid or free before the rate counts."""
    found = [*_FIRST.finditer(plain), *_BEYOND.finditer(plain, rate.end())]
    if rate["more"] or _AND_THEN.search(plain):
        found += _WITHIN.finditer(plain)
    return found


def _stands_for_any(units: frozenset[str]) -> bool:
    return not units.isdisjoint(_LOOSE)


def _unit(name: str) -> tuple[int, frozenset[str]]:
    """How many of the unit that it is told in a named one is, and the names of that."""
    if name in _TIME:
        length, unit = _TIME[name]
        return length, frozenset((unit,))
    return 1, frozenset((_DIVISIBLE.get(name) or (name if name in _LOOSE else stem(name)),))


def _told_in(units: frozenset[str], number: str, name: str | None) -> Fraction | None:
    """A quantity in these units; None where it is one of something else."""
    length, own = _unit(name) if name and name not in STOP_WORDS and not _FREE.fullmatch(name) else (1, units)
    counted = not (units | own) & {*_UNCOUNTED, *_DIVISIBLE.values()}
    return _number(number) * length if own == units or (counted and _stands_for_any(units | own)) else None


def _number(said: str) -> Fraction:
    return Fraction(_NUMBERS[said]) if said in _NUMBERS else Fraction(said.replace(",", ""))


_FIGURES = re.compile(r"(\d{1,3}(?:([.,])\d{3})+|\d+)(?:([.,])(\d{1,2}))?(?!\d)")


def _amount(said: str) -> Amount | None:
    """Money in the characters of a line."""
    m = _FIGURES.search(said)
    if m is None:
        return None
    whole, thousands, point, part = m.groups()
    if said.endswith("p"):  # 45p beside pounds
        return Amount(f"£{int(whole) / 100:.2f}", Fraction(int(whole), 100), "£", False, 2, ".", "")
    value = Fraction(f"{re.sub('[.,]', '', whole)}.{part or 0}")
    behind = m.start() == 0
    sign = said[m.end() :] if behind else said[: m.start()]
    decimal = point or ("," if thousands == "." else ".")
    return Amount(said, value, sign, behind, len(part or ""), decimal, thousands or "")


def _quantities(plain: str, tariff: Tariff) -> Iterator[tuple[int, int, Fraction]]:
    """Where a question says how much of the tariff's unit there is, and how much."""
    timed, counted = "minute" in tariff.units, not tariff.units & {*_UNCOUNTED, *_DIVISIBLE.values()}
    taken = [
        (m.start(), m.end(), _number(m["h"]) * 60 + (_TENS.get(m["m"]) or _number(m["m"])))
        for m in _CLOCK.finditer(plain)
        if timed
    ]
    yield from taken
    for m in _SAID.finditer(plain):
        if any(start < m.end() and m.start() < end for start, end, _ in taken):
            continue
        if m["unit"] is None:
            if timed:
                yield m.start(), m.end(), Fraction(30)
            continue
        length, own = _unit(m["unit"])
        if _NO_AMOUNT_OF_IT.search(plain, 0, m.start()):
            yield m.start(), m.end(), Fraction(0)  # which comes to nothing, alone or beside another
        if own & tariff.units and (own & _UNCOUNTED or m["n"] not in _ARTICLES):
            half = Fraction(1, 2) if m["half"] or m["after"] else Fraction(0)
            yield m.start(), m.end(), (_number(m["n"]) + half) * length
    if counted:
        yield from ((m.start(), m.end(), _number(m["n"])) for m in _OF_THEM.finditer(plain))


def _formula(tariff: Tariff, quantity: Fraction) -> str | None:
    """The calculation and what it comes to; None where nothing is to be paid beyond what the line says, or a part of what is not cut is asked for."""
    rate, most = tariff.rate, tariff.most
    count = max(Fraction(0), max(quantity, tariff.least) - tariff.covered) / tariff.size
    if tariff.started:
        count = Fraction(math.ceil(count))
    if not count or (count.denominator > 1 and not tariff.units & set(_DIVISIBLE.values())):
        return None
    if most is not None and "minute" in tariff.units and quantity > _DAY:
        return None  # the most of each day
    total = count * rate.value + (tariff.base.value if tariff.base else 0)
    if tariff.below is not None and total > tariff.below:
        return None
    many = f"{float(count):g}"
    first = f"{tariff.base.said} + " if tariff.base else ""
    beyond = f", at most {most.said}" if most is not None and total > most.value else ""
    if tariff.floor is not None and total < tariff.floor.value:
        beyond = f", at least {tariff.floor.said}"
    return f"{first}{many} × {rate.said} = {rate.written(total)}{beyond}"
