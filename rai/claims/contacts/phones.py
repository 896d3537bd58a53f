"""Telephone numbers: own shapes propose, phonenumbers decides. Order numbers, dates and prices are none.

Normal forms: E.164 (+14155552671), with ";ext=12" behind it after RFC 3966; what no numbering plan knows, short numbers
and numbers without their area code stand behind "tel:" (tel:911, tel:5550132, tel:*611).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

import phonenumbers
from phonenumbers import NumberParseException, PhoneNumberFormat

from grounding.text import fold
from rai.claims.contacts import dialled
from rai.claims.contacts.regions import named_before
from rai.claims.found import Found

REGIONS = ("US", "GB", "DE", "FR")

_FOREIGN_DIGIT = re.compile(r"[^\D0-9]")
_PLAIN = str.maketrans("＋（）", "+()")
# one way to read each text, so that a long run cannot be read in many; a bracket within a number holds digits alone
_SEPARATOR = r"(?:\)?(?: ?[-/] ?| )?(?:\((?=[0-9 -]{1,9}\)))?|\.)"
_EXTENSION = r"(?:;ext=|(?P<open> ?\()?(?:,? ?| ?[–—-] ?)(?:ext(?:ension|n)?\b\.?|x(?=[ .]?\d)|#|Durchwahl|DW|Nst\.?|poste|anexo|interno|ramal)[ :.]{0,2})(?P<number>\d{1,7})\b(?![-.]\d)(?(open)\))"
_BODY = rf"(?P<body>(?:\+ ?)?\(?\+?\d(?:{_SEPARATOR}\d){{5,18}})(?![\w%]|[.:/-]\d)(?P<ext>{_EXTENSION})?"
_CANDIDATE = re.compile(rf"(?=[+(\d])(?<![\w+#/$€£%-])(?<!\d[.,:]){_BODY}", re.IGNORECASE)
_BESIDE = re.compile(rf" ?[/-] ?{_BODY}", re.IGNORECASE)
_BREAK = re.compile(r" [/-] ?|[/-] |/| (?=\()")
LEAST_PIECE = 7
"""Digits of a number beside another one ("A / B"), and of what is left when a last group is cut off."""
_CUES = frozenset(
    "call calling phone phones tel telephone dial ring fax mobile cell hotline helpline contact reach sms whatsapp telefon telefonnummer "
    "handy mobil rufnummer anrufen tél téléphone appelez llame teléfono telefono chiamare telefone ligue text toll "
    "calls called rings ringing dials dialing dialling phoning telephones rufen ruft anruf appeler appelle llamar llama chiami chiama "
    "ligar liga bel bellen belt zadzwoń zadzwonić "
    "support helpdesk soporte assistenza kundendienst".split()
)
_WORDS = re.compile(r"[^\W\d_]+")
_NUMBER = re.compile(
    r"\b(?:numbers?|nummern?|n[úu]meros?|num[ée]ros?|numery?|numerem)(?: (?:is|are|ist|est|es|è|é|to|[0-9]{1,2}:))?:? ?$",
    re.IGNORECASE,
)
"""What a number directly follows that has no other cue: "the number 912 345 678". Which number it is may stand before: `_OTHER`."""
_TRUNK_GROUPS = re.compile(r"\(?0[1-9]\d{1,3}\)?(?:[ /]{1,3}\d{2,}){1,5}|0[1-9]\d?/\d{3}(?:[. ]\d\d){2}")
_IN_PAIRS = re.compile(r"[5-9]\d\d(?: \d\d){3}|[1-9]\d \d{3} \d\d \d\d")
"""Groups that nothing but a telephone number has: a trunk 0 in front ("0900 321", "0190 55 66"), or pairs behind three digits ("612 34 56 78", "22 555 12 34")."""
_LIST = re.compile(r"[1-9]\d?(?:(?: | ?[–/-] ?)\d\d?){3,}|0?\d(?: [–-] \d\d?){3,}")
"""Small numbers one after another: sizes, a draw; but a French number begins with 0."""
_NINE = re.compile(r"[2-9]\d\d \d{3} \d{3}")
_REACHED = re.compile(
    r"\b(?:en|al|ao|pelo|no|na|unter|under|via|on|op|au|pod)(?: (?:el|o|le|the|het))? $", re.IGNORECASE
)
"""What nine digits in threes directly follow where they are dialled: an amount ends no sentence behind "under"."""
_OTHER = re.compile(
    r"(?:\b(?:order|ticket|invoice|case|reference|ref|account|tracking|customer|serial|isbn|issn|iban|bic|card|part|model|sku|form|"
    r"article|version|booking|confirmation|policy|claim|item|batch|lot|build|contract|vat|tax|id|ein|ssn|vin|imei|upc|ean|license|licence|"
    r"passport|dossier|matricola|matr[íi]cula|seriennummer|meter reading|z[äa]hlerstand|gwarancj[ai]|nr|bestell|auftrags|rechnungs|kunden|artikel|serien|code|pin|meter|pedido|factura|referencia|cliente|commande|facture|r[ée]f[ée]rence|ordine|"
    r"fattura|encomenda|fatura|bestelling|factuur|zam[óo]wieni[ea]|faktur[ay])"
    r"(?:[ -]?(?:no|number|numbers|nr|nummer|n[úu]mero|num[ée]ro|numer|id|code|ref|reference|#))?\.?(?:'s)?"
    r"(?: (?:is|was|ist|of))?|[#№])[\s:#=]{0,3}$",
    re.IGNORECASE,
)
_DATE = re.compile(
    r"(?:19|20)\d{2}[-./ ](?:0?[1-9]|1[0-2])[-./ ](?:0?[1-9]|[12]\d|3[01])(?!\d)|(?:0?[1-9]|[12]\d|3[01])[-./](?:0?[1-9]|[12]\d|3[01])[-./](?:19|20)\d{2}(?!\d)"
    r"|(?:19|20)\d{2} ?[-/] ?(?:19|20)\d{2}(?!\d)"
)
_CARD = re.compile(r"\d{4}(?:[ -]\d{4}){2,3}(?:[ -]\d{1,3})?|3[47]\d{2}[ -]\d{6}[ -]\d{5}")
_AMOUNT = re.compile(r"\d{1,3}(?:[ ,.]\d{3}){1,4}")
_ISBN = re.compile(r"97[89][ -]?\d[ -]?\d{2,7}[ -]?\d{1,6}[ -]?\d")
_IP = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")
_RANGE = re.compile(r"(\d{3,6}) ?- ?(\d{3,6})")
_POSTCODE = re.compile(r"\d{5}-\d{4}|\d{4}-\d{3}")
_IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){0,7} ?$")
_ACCOUNT = re.compile(r"(?:\d{4} ){3,}$")
_MONEY = re.compile(r"(?:[$€£¥₹]|\b(?:USD|EUR|GBP|CHF|JPY|Rs\.?)) ?$")
_MONEY_AFTER = re.compile(
    r" ?(?:[€£¥₹]|(?:USD|EUR|GBP|CHF|JPY|dollars?|euros?|pounds?|bytes?|users?|people|units|km|kg|[kM]Wh|m³|m3)\b)",
    re.IGNORECASE,
)
_NANP = re.compile(r"(?:\+?1[ .-]?)?(?:\(\d{3}\)[ -]?|\d{3}[ .-])\d{3}[ .-]\d{4}")
_MAIL = re.compile(r"[\w.-]@\w")
_LOCAL = re.compile(r"\d{3}[ .-]\d{4}")
_CUE_REACH = 60
"""Characters before a number in which such a word is looked for: "ring Roadside Assistance, day and night, on"."""
_TRUNKED = re.compile(r"\(?0\d{1,4}\)?[ -/]\d{3,4}[ -]\d{3,4}|\(?0\d{3,4}\)?[ -/]\d{5,6}")
_AT = re.compile(r"\b(?:at|on|under|unter|au|al|ao|op|pod) $", re.IGNORECASE)
"""What stands before a number without its area code, in a sentence: "reach them at 555-0173"."""
_TABLE = re.compile(r"[|\t]|,(?: ?\S|$)")
BLOCK = 2000
"""Characters before a number in which the first line of its table is looked for."""
_FRENCH = re.compile(r"0\d(?:[ .-]\d\d){4}")
_GROUPS = re.compile(r"\d+")
_TRUNK = re.compile(r"\(0\)")
_COUNTED = re.compile(r" ?[^\W\d_]{2}|/7")
_MEASURED = re.compile(
    r"/7|[ -]?(?:h|hours?|hrs?|days?|weeks?|min(?:ute)?s?|am|pm|[ap]\.m|o['’]clock|uhr|stunden|tagen?|heures?|jours?|horas?|d[ií]as?|ore|giorni|"
    r"cents?|pence|agents?|people|lines?|times)\b",
    re.IGNORECASE,
)
_WORD_BEFORE = re.compile(
    r"\b(?:suite|ste|room|unit|floor|apt|box|building|bldg|gate|door|postcode|zip|[A-Z]{2}),? $", re.IGNORECASE
)
MOST = 15
"""Digits of a number with its country code (ITU-T E.164)."""


def find(text: str, regions: tuple[str, ...] = REGIONS) -> list[Found]:
    """Finds telephone numbers, as E.164 with ";ext=…"; a number written nationally is read in each of `regions`, in order.

    What no numbering plan knows but is plainly meant as a number (a cue such as "call", or a form like 555-123-4567)
    is kept: with +1 if it has the North American form, else with its digits behind "tel:". Regions that group the digits
    otherwise are dropped; of the others, the country that is named before the number in its line comes first.
    """
    plain = text if text.isascii() else _plain(text)
    found = list(_listed(plain, regions))
    for start, end, digits in (*dialled.vanity(plain), *dialled.spoken(plain)):
        readings = _read(digits, regions) or (_unlisted(digits, regions),)
        found.append(Found("phone", start, end, readings[0], readings))
    found += [Found("phone", start, end, f"tel:{digits}") for start, end, digits in dialled.short(plain)]
    return found


def _plain(text: str) -> str:
    """The text with dashes, spaces and digits of all scripts made plain; one code point for one."""
    return _FOREIGN_DIGIT.sub(lambda m: str(unicodedata.decimal(m.group())), fold(text).translate(_PLAIN))


def _listed(text: str, regions: tuple[str, ...]) -> Iterator[Found]:
    """Every run of digits that is a number, or begins with one: "A / B" are two."""
    at = 0
    while match := _CANDIDATE.search(text, at):
        at = match.end()
        while match and (hit := _judge(text, match, regions)):
            yield hit
            at = hit.end
            match = _BESIDE.match(text, at)


def _judge(text: str, match: re.Match[str], regions: tuple[str, ...]) -> Found | None:
    start, stop = match.span("body")
    before = text[max(0, start - 60) : start]
    line = before.rpartition("\n")[2]
    cued = bool(match["ext"]) or before.endswith("tel:") or _is_cued(text, start, line)
    cued = cued or _is_plain(text[start:stop], line, ends=text[stop : stop + 1] in ("", *".,;:!?)\n"))
    local = _LOCAL.fullmatch(text, start, stop) is not None
    told = "-" in text[start:stop] and _AT.search(line) is not None
    cued = cued or (local and (told or _is_among_contacts(text, start, line)))
    if not cued and _LIST.fullmatch(text, start, stop):
        return None
    if text.endswith("24/7", start, stop):
        stop = start + len(text[start : stop - 4].rstrip(" -/"))
    spans = _spans(text, start, stop)
    for listed in (True, False):
        for begin, end in spans if listed else spans[:1]:
            core = text[begin:end]
            readings = _readings(core, line, regions, cued=cued, listed=listed)
            if not readings or _is_decimal(text, core, end):
                continue
            if _is_other(core, text[max(0, begin - 40) : begin], text[end : end + 10], cued=cued):
                if (begin, end) == (start, stop):
                    continue
                return None
            extension = f";ext={match['number']}" if match["ext"] and end == stop else ""
            forms = tuple(r + extension for r in readings)
            return Found("phone", begin, match.end() if extension else end, forms[0], forms)
    return None


def _is_cued(text: str, start: int, line: str) -> bool:
    """A word such as "call" stands before it in its line, or in the first line of its table."""
    if "support line" in line or not _CUES.isdisjoint(_WORDS.findall(line[-_CUE_REACH:].lower())):
        return True
    if not _TABLE.search(line):
        return False
    opens = max(text.rfind("\n\n", max(0, start - BLOCK), start) + 2, start - BLOCK, 0)
    head = text[opens:start].lstrip("\n").partition("\n")[0]
    return not _CUES.isdisjoint(_WORDS.findall(head[:200].lower()))


def _is_plain(core: str, line: str, *, ends: bool) -> bool:
    """True if the groups of digits, or what directly stands before them, say what a cue would: an amount has neither. `ends`: a sentence or part of one ends behind them."""
    if _TRUNK_GROUPS.fullmatch(core) or _IN_PAIRS.fullmatch(core):
        return True
    if _NINE.fullmatch(core) and ends and _REACHED.search(line):
        return True
    groups = _GROUPS.findall(core)  # in one run an order has a number as well
    return _NUMBER.search(line) is not None and len(groups) > 1 and len(groups[0]) > 1


def _is_among_contacts(text: str, start: int, line: str) -> bool:
    """True if a mail address stands near it in its line: "Depot 555-0143 · help@…"."""
    ahead = text[start : start + 60].partition("\n")[0]
    return _MAIL.search(line) is not None or _MAIL.search(ahead) is not None


def _is_decimal(text: str, core: str, end: int) -> bool:
    """True if a comma behind the digits begins decimals: 1 234 567,89 is an amount. In "0800 123 4567,Berlin" and "+49 30 123456,24" it parts cells."""
    return text[end : end + 1] == "," and text[end + 1 : end + 2].isdigit() and core[0] not in "+0("


def _spans(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The whole run of digits, then parts of it: without last groups that count a word, without what follows or precedes a
    break that may part two numbers, without a first group that follows a word.

    "415-555-2671 24 hours", "030 1234567 / 030 7654321", "Suite 200 415-555-2671". The whole is left out where a last group
    plainly counts something, or where both sides of a break are long enough. What is only a digit too many, or a country
    code, is never dropped.
    """
    groups = [(m.start() + start, m.end() + start) for m in _GROUPS.finditer(text[start:end])]
    counted = _COUNTED.match(text, end)
    shorter = [
        (start, groups[n - 1][1])
        for n in range(len(groups) - 1, max(0, len(groups) - 3), -1)
        if counted and text[groups[n - 1][1] : groups[n][0]] == " "
    ]
    whole = not (shorter and _MEASURED.match(text, end) and _count(groups[:-1]) >= LEAST_PIECE)
    heads, tails, parted = _parted(text, groups, end)
    follows = _WORD_BEFORE.search(text[max(0, start - 20) : start])
    if (
        follows
        and len(groups) > 1
        and text[start].isdigit()
        and text[start] != "0"
        and text[groups[0][1] : groups[1][0]] in (" ", " (")
    ):
        shorter.append((groups[1][0] - (text[groups[1][0] - 1] == "("), end))
    pieces = [*heads, *tails] if parted else [*([(start, end)] if whole else []), *shorter, *heads, *tails]
    return list(dict.fromkeys(pieces))


def _parted(
    text: str, groups: list[tuple[int, int]], end: int
) -> tuple[list[tuple[int, int]], list[tuple[int, int]], bool]:
    """What stands before and behind each break, and whether both are as long as a number with its area code."""
    heads, tails, parted = [], [], False
    for n in range(1, len(groups)):
        match = _BREAK.match(text, groups[n - 1][1] + (text[groups[n - 1][1]] == ")"))
        if match is None:
            continue
        left, right = _count(groups[:n]), _count(groups[n:])
        begin = groups[n][0] - (text[groups[n][0] - 1] in "(+")
        opening = groups[0][0] - (groups[0][0] > 0 and text[groups[0][0] - 1] in "(+")
        if left >= LEAST_PIECE and " " in match[0][:1] and len(match[0]) == 3 and text[begin] in "0(+":
            return [(opening, match.start())], [], True  # a trunk prefix or a country code opens another one
        if left >= LEAST_PIECE:
            heads.append((opening, match.start()))
        if right >= LEAST_PIECE + 2 and left < LEAST_PIECE:
            tails.append((begin, end))
        parted = (
            parted
            or (left >= LEAST_PIECE + 2 and right >= LEAST_PIECE + 2)
            or (left + right > MOST + 2 and left >= LEAST_PIECE)
        )
    return heads[::-1], tails, parted


def _count(groups: list[tuple[int, int]]) -> int:
    return sum(b - a for a, b in groups)


def _readings(core: str, line: str, regions: tuple[str, ...], *, cued: bool, listed: bool) -> tuple[str, ...]:
    digits = "".join(c for c in core if c.isdigit())
    runs = len(_GROUPS.findall(core))
    international = core.startswith(("+", "(+", "00"))
    strong = cued or international or "(" in core
    if not 6 <= len(digits) <= MOST + 2 or (runs < 2 and not strong) or (runs > 7 and not cued):
        return ()
    if _NANP.fullmatch(core) and "US" in regions and not core.startswith("+"):
        return (f"+1{digits[-10:]}",)
    readings = _read(core, regions)
    # the country in the line decides only where the numbering plans leave it open
    named = None if international or len(readings) == 1 else named_before(line)
    if named:
        readings = _read(core, tuple(dict.fromkeys((named, *regions)))) or readings
    readings = readings or (_without_plus(digits, regions) if cued and runs <= 4 else ())
    if readings or listed:
        return readings
    if _TRUNKED.fullmatch(core) and len(forms := _unlisted_forms(core, regions)) > 1:
        return forms
    if _NANP.fullmatch(core) or (strong and 7 <= len(digits) <= MOST) or (cued and _LOCAL.fullmatch(core)):
        return _unlisted_forms(core, regions)
    return ()


def _without_plus(digits: str, regions: tuple[str, ...]) -> tuple[str, ...]:
    """The E.164 forms of a number with the country code of one of `regions` of which the plus sign was left out: 447700900123."""
    if len(digits) < 11 or digits[0] == "0":
        return ()
    codes = {phonenumbers.country_code_for_region(r) for r in regions}
    try:
        number = phonenumbers.parse(f"+{digits}", None)
    except NumberParseException:
        return ()
    return (f"+{digits}",) if number.country_code in codes and phonenumbers.is_possible_number(number) else ()


def _unlisted(core: str, regions: tuple[str, ...]) -> str:
    digits = "".join(c for c in _TRUNK.sub("", core) if c.isdigit())
    if core.startswith(("+", "(+")):
        return f"+{digits}"
    if core.startswith("00"):
        return f"+{digits[2:]}"
    return f"+1{digits[-10:]}" if _NANP.fullmatch(core) and "US" in regions else f"tel:{digits}"


def _unlisted_forms(core: str, regions: tuple[str, ...]) -> tuple[str, ...]:
    """What is written, then what it would be with the country code of each region of the same trunk prefix and length."""
    value = _unlisted(core, regions)
    digits = value.removeprefix("tel:")
    if digits == value or digits[0] != "0" or digits[:2] == "00":
        return (value,)
    numbers = {r: f"+{phonenumbers.country_code_for_region(r)}{digits[1:]}" for r in regions if _trunk(r) == "0"}
    return (value, *dict.fromkeys(n for n in numbers.values() if _possible(n)))


def _possible(value: str) -> bool:
    try:
        return phonenumbers.is_possible_number(phonenumbers.parse(value, None))
    except NumberParseException:
        return False


def _is_other(core: str, before: str, after: str, *, cued: bool) -> bool:
    if core.startswith(("+", "(+")):
        return False
    if (
        _DATE.match(core)
        or _CARD.fullmatch(core)
        or _IP.fullmatch(core)
        or _ISBN.fullmatch(core)
        or _MONEY.search(before)
    ):
        return True
    if not cued and (_is_range(core) or any(p.fullmatch(core) for p in (_AMOUNT, _POSTCODE))):
        return True
    if _IBAN.search(before) or _ACCOUNT.search(before) or _MONEY_AFTER.match(after):
        return True
    return _OTHER.search(before) is not None


def _is_range(core: str) -> bool:
    match = _RANGE.fullmatch(core)
    return (
        match is not None
        and (len(match[1]) == len(match[2]) or core[0] != "0")
        and int(match[1]) < int(match[2])
        and len(match[1]) != 3
    )


@lru_cache(maxsize=8192)
def _read(raw: str, regions: tuple[str, ...]) -> tuple[str, ...]:
    """The E.164 forms of `raw`, those of regions that group its digits so before the others, which are dropped then."""
    if raw.startswith("00"):
        raw = "+" + raw[2:]
    elif raw.startswith("011") and regions[:1] == ("US",) and len(raw) > 11:
        raw = "+" + raw[3:].lstrip(" -.")
    international = raw.startswith(("+", "(+"))
    found: dict[str, tuple[str, phonenumbers.PhoneNumber]] = {}
    for region in ("ZZ",) if international else regions:
        try:
            number = phonenumbers.parse(raw, region)
        except NumberParseException:
            continue
        if phonenumbers.is_valid_number(number) and (international or _national(raw, region, number)):
            found.setdefault(phonenumbers.format_number(number, PhoneNumberFormat.E164), (region, number))
    if len(found) < 2:
        return tuple(found)
    return tuple(value for value, read in found.items() if _grouped_so(raw, *read)) or tuple(found)


@lru_cache(maxsize=64)
def _trunk(region: str) -> str | None:
    return phonenumbers.ndd_prefix_for_region(region, True)


def _national(raw: str, region: str, number: phonenumbers.PhoneNumber) -> bool:
    """Where numbers are dialled with a trunk 0, what is written without it is that country's only if it is usually written so."""
    if _trunk(region) != "0" or raw.lstrip(" (").startswith("0"):
        return True
    usual = phonenumbers.format_number(number, PhoneNumberFormat.NATIONAL)
    return "".join(_GROUPS.findall(usual)) == "".join(_GROUPS.findall(raw))


def _grouped_so(raw: str, region: str, number: phonenumbers.PhoneNumber) -> bool:
    """True if the first group of digits is the area code, as 030 is in Germany and 030x in the United Kingdom."""
    if region == "FR":
        return _FRENCH.fullmatch(raw) is not None
    groups = _GROUPS.findall(raw)
    return len(groups) > 1 and len(groups[0].removeprefix("0")) == phonenumbers.length_of_national_destination_code(
        number
    )


@lru_cache(maxsize=4096)
def area_code(value: str) -> str:
    """The country and area code of an E.164 form ("+1415" of +14155552671), or "" if its plan has none."""
    try:
        number = phonenumbers.parse(value.partition(";")[0], None)
    except NumberParseException:
        return ""
    national = phonenumbers.national_significant_number(number)
    length = (
        3
        if number.country_code == 1 and len(national) == 10
        else phonenumbers.length_of_national_destination_code(number)
    )
    return f"+{number.country_code}{national[:length]}" if length else ""


@lru_cache(maxsize=4096)
def country_code(value: str) -> str:
    """The country code of an E.164 form ("+44"), or "" if it has none."""
    try:
        return f"+{phonenumbers.parse(value.partition(';')[0], None).country_code}"
    except NumberParseException:
        return ""
