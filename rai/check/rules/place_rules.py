"""Values that stand in a source: right, unless the answer's own words say that they belong to something else.

Lack of words in common is no evidence, for free wording has none. Against a place speaks what the answer says itself: another bound,
day, year, time or rate than the place has, the opposite word, or the name of a row, column, heading or clause that another value of
the same kind stands in, where the answer has not used that value beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache
from itertools import islice

from grounding.text import stem, terms
from rai.check.answer import Answer, is_compared, named
from rai.check.comparison.contacts import agree
from rai.check.comparison.lookup_keys import measure_of
from rai.check.comparison.values import same_value
from rai.check.context import MOST_STANDING, Around, CheckContext, Finding, name_of
from rai.check.reading.frames import Frame
from rai.check.reading.keys import Spoken, axes_of, header_of, line_at, spoken, spoken_words
from rai.check.reading.opposites import opposed
from rai.check.reading.owners import anothers, label_words, owner
from rai.check.reading.role_words import numbered, role_terms
from rai.check.reading.sources import Place, Prepared, clause_of, said_of
from rai.check.roles import SaidAround, clash, quotes, rival
from rai.check.rules.another_named import another_named
from rai.check.rules.bands import of_another_band, of_another_day
from rai.check.rules.conflict import conflict
from rai.check.rules.elsewhere import elsewhere
from rai.check.rules.exchanged import exchanged, is_exchanged
from rai.check.rules.nearer import nearer
from rai.check.rules.rivals import Rival, part_named, rival_of
from rai.check.rules.unused import usable
from rai.claims.amounts.currencies import CODES, pattern_of
from rai.claims.found import Found
from rai.claims.languages import language
from rai.claims.numbers.rates import same_per
from rai.claims.times import weekdays
from rai.records import CONTACT_KINDS, Claim, EvidenceSpan, Kind, Source

MOST_COMPARED = 400_000
"""Pairs of a place of a value and another value of its measure that are compared for one answer, shared by its values. Sources that hold one value
a hundred times beside two thousand others are none that a person wrote; what is then left undecided is `unchecked`."""
MOST_RIVALS = 600
"""Other values of its measure that a value is compared with, the first ones."""
MOST_BESIDE = 40
"""Values beside one that are looked at."""
_NEAR = 1
"""Sentences to each side of a value in which the rival value excuses it: the answer uses both."""


def placed(n: int, claim: Claim, found: Found, places: Sequence[Place], answer: Answer) -> Finding:
    """The finding of the n-th value, which sources hold: right, in another's place, contradicted by another source, or in doubt.

    `found`: the reading of the value that `places` hold. Sure only if every place was looked at.
    """
    around, context = answer.around[answer.values[n]], answer.context
    places, unused = usable(claim, places, around)
    if unused is not None:
        return unused
    quoted = [p for p in places if p.unit.field == "text" and quotes(around.plain, p.unit.plain)]
    if quoted:
        return _disagreed(claim, found, quoted, around, context) or held(claim, found, quoted, "verbatim")
    rest = around.sentence.replace(answer.written(n), " ", 1)
    told = SaidAround(around.frame, role_terms(rest) | numbered(rest), context.question_terms | around.leading)
    itself = replace(told, frame=_own_words(around))
    question = context.question.source.text if context.question else ""
    whole = _Naming(told, around, layers_of(n, answer), spoken(claim.text), question, claim.kind, answer.words)
    multiplied = _MULTIPLIED.search(around.preceding) is not None  # 10 × EUR 132: a price per month by its months
    beyond = found.kind == "time" and _BEYOND.search(around.preceding) is not None
    agreeing = [
        p
        for p in places
        if multiplied
        or p.found.kind != found.kind
        or (beyond and p.frame.bound == "end")
        or contradicts(itself, _resumed(p, places)) is None
    ]
    why = f"The sources hold {claim.text} too often to tell what each place is about."
    too_many = Finding("unchecked", (), why, rule="too-many")
    unseen = len(places) >= MOST_STANDING  # the place that agrees may be one of those behind
    if not agreeing:
        if unseen:
            return too_many
        place = places[0]
        why = f"{name_of(place)} has {place.span().text} {contradicts(itself, place)}."
        return Finding("wrong_role", (place.span(),), why, rule="bound")
    own = {id(p) for p in places}
    measures = dict.fromkeys((measure_of(found), *(measure_of(p.found) for p in places)))
    alike = (p for s in context.sources for m in measures for p in s.alike.get(m, ()))
    same = {p.found.value for p in places}  # of a value that stands very often not every place is looked at
    others = list(islice((p for p in alike if id(p) not in own and p.found.value not in same), MOST_RIVALS))
    most = max(1, MOST_COMPARED // len(answer.values) // max(1, len(others)))
    beaten = [(p, _beating(p, others, whole)) for p in agreeing[:most]]
    kept = [p for p, other in beaten if other is None]
    if kept:
        doubted = _disagreed(claim, found, kept, around, context) or _doubted(n, claim, kept, others, answer)
        return doubted or held(claim, found, kept, "held")
    if unseen or len(beaten) < len(agreeing):
        return too_many
    place, other = next((p, o) for p, o in beaten if o is not None)
    used = list(_used(n, other.place, answer)) if not other.clause else []
    if used and not is_exchanged(n, place, used, other.place, answer):
        return held(claim, found, [place], "held-beside")
    return _for_something_else(place, other, claim, around)


def _doubted(n: int, claim: Claim, kept: Sequence[Place], others: Sequence[Place], answer: Answer) -> Finding | None:
    """What speaks against the places that no other value beats; None if nothing does."""
    return (
        elsewhere(n, claim, kept, others, answer)
        or (None if _is_foreign(kept[0], answer.words) else nearer(n, kept, others, answer))
        or _of_a_part(n, kept, others, answer)
        or _in_anothers_place(n, kept, answer)
        or another_named(n, kept, others, answer)
    )


def _for_something_else(place: Place, other: Rival, claim: Claim, around: Around) -> Finding:
    """`wrong_role`, with the value that stands where the answer's words are; `unchecked` where only the wording tells so, of what stands beside the same words for many a thing."""
    spans = (place.span(), other.place.span())
    why = f"{name_of(place)} has {spans[0].text} for something else; here {name_of(other.place)} says {spans[1].text}."
    loose = claim.kind in _LOOSE or _MULTIPLE.fullmatch(claim.text) or _IT.search(around.preceding)
    if other.by == "close-wording" and loose:
        return Finding("unchecked", spans, why, rule=other.by)
    return Finding("wrong_role", spans[:1], why, instead=spans[1], rule=other.by)


def _in_anothers_place(n: int, places: Sequence[Place], answer: Answer) -> Finding | None:
    """`wrong_role` for a value that changed places with another of the answer."""
    other = exchanged(n, places, answer)
    if other is None:
        return None
    spans = places[0].span(), other.span()
    why = f"{name_of(places[0])} has {spans[0].text} for something else; here {name_of(other)} says {spans[1].text}."
    return Finding("wrong_role", spans[:1], why, instead=spans[1], rule="exchanged")


_LOOSE = frozenset({"number", "date"})
"""Kinds of values that stand beside the same words for many a thing: close wording is no evidence against them."""
_MULTIPLE = re.compile(r"\d{1,3} ?[×x]")
_IT = re.compile(
    r"\b(?:it|that|this|they|these)(?:['’]s| (?:is|are|costs?|takes?|comes? to|would be))(?: [^\W\d_]{1,8}){0,2} $",
    re.IGNORECASE,
)
"""What a value is said of stands in a sentence before: "With half board it's $16 each", of the cup."""


def _of_a_part(n: int, places: Sequence[Place], others: Sequence[Place], answer: Answer) -> Finding | None:
    """`unchecked` for a value of a thing where the sentence names a part of it, which has another value in a row of its own."""
    if answer.values[n].kind not in _OF_ROWS or answer.at[n] < 0 or is_compared(n, answer):
        return None
    value, span = answer.values[n], answer.sentences[answer.at[n]]
    before, after = answer.text[span.start : value.start][-LONGEST:], answer.text[value.end : span.end][:LONGEST]
    clause = f"{_LISTED.split(before)[-1]} {_LISTED.split(after)[0]}"
    found = [(p, *part) for p in places if (part := part_named(p, others, clause)) is not None]
    if not found:
        return None
    place, other, word = found[0]
    if next(_used(n, other, answer), None) is not None or any(
        word in {stem(said) for said in terms(p.line())} for p in places
    ):
        return None
    spans = place.span(), other.span()
    why = f"The sentence names a part, for which {name_of(other)} says {spans[1].text}."
    return Finding("unchecked", spans, why, rule="part-row")


_LISTED = re.compile(r"[;:,.!?]\s")
_OF_ROWS = ("money", "quantity", "percent")


def _resumed(place: Place, places: Sequence[Place]) -> Place:
    """The place that a later one goes back to: "the six hours" to "at least six hours"; itself if it goes back to none. `places`: of the same value."""
    text, at = place.text(), place.found.start
    if place.frame.bound or not _GOES_BACK.search(text, max(0, at - 12), at):
        return place
    before = (p for p in places if p.source == place.source and p.found.start < at and p.frame.bound)
    return max(before, key=lambda p: p.found.start, default=place)


_GOES_BACK = re.compile(
    r"\b(?:the|these|those|this|die|der|diese[nr]?|les?|ces|cette|los|las|esos|estas?|i|gli|questi|queste|os|as|estes|deze|te|tych) $",
    re.IGNORECASE,
)


def layers_of(n: int, answer: Answer) -> tuple[Spoken, ...]:
    """What the answer names around the n-th value, the nearest first: its clause, its sentence, the one before, the question.

    () if the value stands outside any sentence, or in one longer than `LONGEST`.
    """
    at, value = answer.at[n], answer.values[n]
    if at < 0:
        return ()
    span = answer.sentences[at]
    if span.end - span.start > LONGEST:
        return ()
    own = f"{answer.text[span.start : value.start]} {answer.text[value.end : span.end]}"
    before = answer.sentences[at - 1].text[-LONGEST:] if at > 0 else ""
    frame, sentence = answer.around[value].frame, named(own)
    return (spoken_words((frame.local | frame.words) & sentence.words), sentence, named(before), answer.asked)


def _own_words(around: Around) -> Frame:
    """The frame of a value with the words of its own part of the sentence alone: 78 of "78 for each adult and half of it for your child" is of adults."""
    before = _PARTS.split(around.preceding)[-1]
    after = _PARTS.split(around.following)[0]
    own = f"{before} {after}"
    return replace(around.frame, words=around.frame.words & (role_terms(own) | frozenset(terms(own))))


_PARTS = re.compile(r"[;:,.!?]\s|\s(?:and|but|while|und|aber|et|mais|y|pero|e|ma|mas|en|maar|i|ale)\s", re.IGNORECASE)
_MULTIPLIED = re.compile(r"\d ?[×x*·] ?$")
_BEYOND = re.compile(r"\b(?:after|past|nach|après|después de las?|dopo le|depois das?|na|po) $", re.IGNORECASE)
"""Before a time that ends what a source says: after 9 pm, of "9 am to 9 pm", somebody else answers."""
LONGEST = 2000
"""Characters of a sentence beyond which it is not read for what it names: no person wrote it."""


def contradicts(told: SaidAround, place: Place) -> str | None:
    """What the source says of a value that the answer turns round, as words for the report ("for an earlier time"); None if it turns nothing round.

    Turned round are the least for the most, per day for per month, what was for what is, and a word for its opposite.
    """
    mine, theirs = told.frame, place.frame
    if (mine.bound and theirs.bound and mine.bound != theirs.bound) or (mine.rate and theirs.rate):
        return clash(told, place)
    if theirs.past == "surely" and not mine.past and place.found.kind in ("money", "quantity", "percent", "time"):
        return "for an earlier time"
    pair = opposed(mine.words, theirs.words) if place.found.kind != "percent" else None
    sure = pair in _SURE or place.unit.row or (pair or "").startswith(("off", "outof"))
    return f"for {pair}" if pair and sure and pair not in _LOOSE else None


_FEWEST = 2
"""Fewest words of a sentence that tell which of several dates it means."""
_LOOSE = frozenset(
    stem(w)
    for w in (
        "day",
        "night",
        "morning",
        "evening",
        "weekend",
        "weekday",
        "open",
        "closed",
        "opening",
        "closing",
        "buy",
        "sell",
        "purchase",
        "sale",
    )
)
"""Opposites of which an answer says one for both: a day return on Saturday."""
_SURE = frozenset(
    stem(w)
    for w in (
        "billing",
        "support",
        "sales",
        "minimum",
        "maximum",
        "min",
        "max",
        "arrival",
        "departure",
        "arrive",
        "depart",
        "gross",
        "net",
        "included",
        "excluded",
        "upload",
        "download",
    )
)
"""Opposites that are said of the value itself, in prose. Adults and children, purchase and sale are named beside many a value that is neither's."""


def _beside_in_words(place: Place, rivals: Sequence[Place], told: SaidAround) -> Rival | None:
    """The other value in prose whose sentence has all words of the answer's, where that of `place` lacks some: "The Start plan has 15 GB", of the Go plan.

    None if there is none. Only close wording tells: of free wording nearly every word is missing in both.
    """
    if place.found.kind == "time" or not told.sentence or _has_keys(place):
        return None
    other = rival(told, place, rivals)
    if other is None or _has_keys(other):
        return None
    words = frozenset(w for w in told.sentence if w[0] != "=") or told.sentence
    if len(words) < _FEWEST and place.found.kind == "date":
        return None  # "we're open again on the Tuesday": of one word nearly every line says as much
    if not words <= said_of(other) or not words & other.unit.terms:
        return None  # the words of what stands above it alone say nothing of it
    if other.unit is place.unit:
        mine, theirs = clause_of(place), clause_of(other)
        return Rival(other, "close-wording") if words & (theirs - mine) and not words & (mine - theirs) else None
    return None if words <= said_of(place) else Rival(other, "close-wording")


def _has_keys(place: Place) -> bool:
    """True in a table or list, whose keys decide."""
    return place.unit.field == "text" and any(a.by != "list-item" for a in axes_of(place.text(), place.found.start))


@dataclass(frozen=True, slots=True)
class _Naming:
    """What an answer tells around a value. `layers`: as of `layers_of`; `itself`: the words of the value's own characters; `words`: all of the answer."""

    said: SaidAround
    around: Around
    layers: tuple[Spoken, ...]
    itself: Spoken
    question: str
    kind: Kind
    words: frozenset[str]


def _beating(place: Place, others: Sequence[Place], told: _Naming) -> Rival | None:
    """The other value that stands for what the claim names; None if `place` may."""
    rivals = [o for o in others if o.found.kind == place.found.kind]
    # a bare number is the figure of many things, and keys in one language say little to an answer in another
    keyed = (told.kind != "number" or _counts_alike(place, told)) and not _is_foreign(place, told.words)
    better = rival_of(place, rivals, told.layers, told.itself) if keyed else None
    better = better or of_another_band(place, rivals, told.around.sentence, told.question)
    better = better or of_another_day(place, rivals, told.around.sentence, told.question)
    better = better or _beside_in_words(place, rivals, told.said)
    return better or (_owners(place, rivals, told) if place.found.kind in CONTACT_KINDS else None)


def _counts_alike(place: Place, told: _Naming) -> bool:
    """True of a bare number in a table that counts what the answer counts: 150 "pages", in its cell or in the name of a column."""
    if not place.unit.row:
        return False
    mine, theirs = _COUNTED.match(told.around.following), _COUNTED.match(place.text(), place.found.end)
    if mine is None:
        return False
    counted = {stem(word.lower()) for word in mine.groups() if word}
    if theirs is not None and stem(theirs[1].lower()) == stem(mine[1].lower()):
        return True
    line = place.text()[place.unit.start : place.unit.end][:LONGEST]
    header = header_of(place.text(), line_at(place.text(), place.found.start))
    columns = [place.text()[header.start : header.end][:LONGEST]] if header is not None else _LABEL.findall(line)
    return bool(counted & {stem(word) for label in columns for word in terms(label)})


_LABEL = re.compile(r"(?:^|\| )([^|:]{2,60}): ")
_COUNTED = re.compile(r" ?([^\W\d_]{3,})(?: ([^\W\d_]{3,}))?")
"""What a number counts: the word behind it, and one more ("2 edited files")."""


def _owners(place: Place, rivals: Sequence[Place], told: _Naming) -> Rival | None:
    """The contact whose owner the answer names, by more than a word if it has several; None if the value's own characters name its owner."""
    clause = _with_lead(told.around.clause, told.around.sentence)
    other = anothers(clause, told.around.sentence, told.question, place, rivals)
    if other is None or label_words(re.sub(r"[@.]", " ", place.span().text)) & owner(place):
        return None
    theirs = owner(other) - owner(place)
    said = theirs & label_words(f"{told.around.sentence} {told.question}")
    return Rival(other, "owner") if len(said) > 1 or len(theirs) <= 1 else None


def _with_lead(clause: str, sentence: str) -> str:
    """The clause of a contact, with the words before it where the contact itself begins the clause: "the Dutch line, +31 20 …"."""
    if not _OPENS_WITH_CONTACT.match(clause):
        return clause
    before = sentence[: max(0, sentence.find(clause))].rstrip(" ,(:–—-")
    return f"{re.split(r'[,;:.(]', before)[-1]} {clause}"


_OPENS_WITH_CONTACT = re.compile(r"\W{0,4}(?:[+(]?\d[\d ()/.-]{4}|\S{1,64}@|https?:|www\.)")


def _is_foreign(place: Place, words: frozenset[str]) -> bool:
    """True if the answer is in another language than the source of `place`. `words`: those of the answer, in lower case."""
    mine, theirs = language(words), _language(place.source.text)
    return bool(mine and theirs) and mine != theirs


@lru_cache(maxsize=1024)
def _language(text: str) -> str:
    return language(frozenset(word for word in text.lower().split() if len(word) > 1))  # "A" is a class as well


def _used(n: int, other: Place, answer: Answer) -> Iterator[int]:
    """Where the answer says the rival's value itself, beside this one, as the numbers of values: it names two things and gives both their values."""
    near = islice((m for m in answer.near(n, _NEAR) if m != n), MOST_BESIDE)
    return (m for m in near if same_value(answer.values[m], other.found, other.line()))


def _disagreed(
    claim: Claim, found: Found, places: Sequence[Place], around: Around, context: CheckContext
) -> Finding | None:
    finding = conflict(claim, found, places, around, context)
    return replace(finding, rule="sources-disagree") if finding else None


def held(claim: Claim, found: Found, places: Sequence[Place], rule: str) -> Finding:
    """The finding of a value that sources hold: `exact` with the places of the same characters, `normalised` with all if there are none."""
    exact = [span for p in places if (span := _same_characters(claim.text, p))]
    if exact:
        return Finding("exact", tuple(exact), f"Stands in the same characters in {exact[0].source}.", rule=rule)
    spans = tuple(p.span() for p in places)
    said_less = agree(found, places[0].found, places[0].line())
    why = f"{spans[0].source} writes it as {spans[0].text}."
    return Finding("normalised", spans, f"{why} {said_less}" if said_less else why, rule=rule)


def _same_characters(text: str, place: Place) -> EvidenceSpan | None:
    field = place.text()
    at = field.find(text, max(0, place.found.start - 1), place.found.end + len(text))
    if at < 0 or at >= place.found.end:
        return None
    before, after = field[max(0, at - 1) : at], field[at + len(text) : at + len(text) + 2]
    inside = (text[0].isalnum() and before.isalnum()) or (text[-1].isalnum() and after[:1].isalnum())
    if inside or (text[-1].isdigit() and re.match(r"[.,]\d", after)):
        return None
    # a part of a URL, an address or a phone number leads elsewhere than the whole
    if place.found.kind in CONTACT_KINDS and (at, at + len(text)) != (place.found.start, place.found.end):
        return None
    return place.span(at, at + len(text))


def currency_of_the_page(found: Found, context: CheckContext) -> list[Place]:
    """Places of a bare number in a table or list whose document names the amount's currency elsewhere: "tariff (EUR, VAT included)", or none anywhere, in a column
    of prices.
    """
    if found.kind != "money":
        return []
    codes = {form.rpartition(" ")[2] for form in found.forms}  # "65 cents" are of dollars or of euros
    named = [text for text in context.sources if any(_names_currency(text.source, code) for code in sorted(codes))]
    places = [place for text in named for place in _numbers_at(text, found)] or [
        place for text in context.sources for place in _amounts_of_no_currency(text, found)
    ]
    return [place for place in places if same_per(found.per, place.found.per)]


def year_of_the_page(found: Found, context: CheckContext) -> list[Place]:
    """Places of a day without its year in a document that names the answer's year elsewhere, and no other: "Easter 2026" above "Monday 06/04"."""
    if found.kind != "date" or not (dated := re.match(r"(\d{4})(-\d\d-\d\d)", found.value)):
        return []
    bare = f"-{dated[2]}"
    texts = [t for t in context.sources if set(_YEAR.findall(f"{t.source.title}\n{t.source.text}")) == {dated[1]}]
    weekday = f"{bare}-W-{date.fromisoformat(found.value[:10]).isoweekday()}"
    return [p for t in texts for p in t.kinds.get("date", ()) if {bare, weekday} & set(p.found.forms)]


_YEAR = re.compile(r"(?<![\d.,$€£])20\d\d(?![\d,]|\.\d)")


def _numbers_at(text: Prepared, found: Found) -> Iterator[Place]:
    amounts = {*found.magnitudes, found.value.partition(" ")[0]}  # 32p is 0.32 of a pound
    for number in sorted({n for key in amounts for n in text.keyed.get(key, ())}):
        place = text.places[number]
        if place.found.kind == "number" and amounts & set(place.found.forms) and not _is_a_part(place):
            yield place


def _is_a_part(place: Place) -> bool:
    """True of a number that is no amount whatever the table's currency: a side of "28 × 30", the 10 of "10-pack", a word."""
    text, start, end = place.text(), place.found.start, place.found.end
    return (
        not text[start].isdigit()
        or _SIDE_BEHIND.match(text, end) is not None
        or _SIDE_BEFORE.search(text, max(0, start - 4), start) is not None
    )


_SIDE_BEHIND = re.compile(r" ?[×x*] ?\d|-[^\W\d_]")
_SIDE_BEFORE = re.compile(r"\d ?[×x*] ?$")


@lru_cache(maxsize=1024)
def _names_currency(source: Source, code: str) -> bool:
    text = f"{source.title}\n{source.text}".lower().replace("_", " ")  # "nl_eur_per_visit"
    return code in CODES and pattern_of(code).search(text) is not None


_PRICED = re.compile(
    r"(?<![^\W_])(?:prices?|fees?|costs?|charges?|surcharges?|rates?|deposits?|tariffs?|preise?|kosten|gebühr(?:en)?|kaution|zuschlag|prix|frais|tarifs?|caution|precios?|prezz[io]|prijs|prijzen)(?![^\W_])",
    re.IGNORECASE,
)
_MONEY = re.compile(r"[€$£]|(?<![^\W_])(?:eur|usd|gbp|chf|cad|aud|pln|sek|nok|dkk|kr)(?![^\W_])", re.IGNORECASE)
_CENTS = re.compile(r"\d+[.,]\d\d")


def _amounts_of_no_currency(text: Prepared, found: Found) -> Iterator[Place]:
    """Places of a bare number with cents in a column of prices ("fixed_price: 59.00"), of a document that names no currency at all."""
    if _MONEY.search(f"{text.source.title}\n{text.source.text}".replace("_", " ")):
        return
    for place in _numbers_at(text, found):
        whole = place.text()
        cell = whole[max(place.unit.start, whole.rfind("|", 0, place.found.start) + 1) : place.found.start]
        is_amount = _CENTS.fullmatch(whole[place.found.start : place.found.end]) is not None
        if is_amount and cell.rstrip().endswith(":") and _PRICED.search(cell.replace("_", " ")):
            yield place


_BEFORE_DATE = re.compile(r",? (?:(?:the|den|dem|le|el|il|dia|día) )?")


def weekday_of(n: int, claim: Claim, answer: Answer) -> Finding | None:
    """`absent` for a weekday that stands before a date which falls on another: "Monday, 3 March 2026" is a Tuesday. Else None."""
    value = answer.values[n]
    days = weekdays.days_of(value.value) if value.kind == "date" and value.value.startswith("-W-") else frozenset()
    following = answer.values[n + 1] if n + 1 < len(answer.values) else None
    if len(days) != 1 or following is None or following.kind != "date":
        return None
    dated = re.fullmatch(r"\d{4}-\d\d-\d\d", following.value)
    if dated is None or not _BEFORE_DATE.fullmatch(answer.text, value.end, following.start):
        return None
    right = date.fromisoformat(following.value).isoweekday()
    if right in days:
        return None
    name = date.fromisoformat(following.value).strftime("%A")
    return Finding(
        "absent", (), f"{answer.text[following.start : following.end]} is a {name}, not a {claim.text}.", rule="weekday"
    )
