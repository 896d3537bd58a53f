"""Postal addresses of many countries, whole: flat, house, street, postcode, town and region, and boxes of a post office.

What tells an address is a street with its number, a postcode beside a town, or a label; from there it is followed to both ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rai.personal.names import NOT_NAMES
from rai.personal.places import ADDRESSES

_TOWN_WORD = r"[A-ZÀ-ÖØ-ÞĀ-Ż][^\W\d_]*(?:[’'.-][^\W\d_]+){0,4}"
_TOWN = rf"{_TOWN_WORD}(?:[ ](?:(?:am|an|der|sur|upon|on|of|de|la|le|les|di|del|do|da|dos|den|aan|i|y|bei|im|in|na)[ ]){{0,2}}{_TOWN_WORD}){{0,3}}(?:[ ]\d{{1,2}}(?!\w))?"
_REGION = r"(?:[ ]?\([A-Z]{2}\)|,?[ ][A-Z]{2,3}(?![\w./-]))?"
_GB = r"[A-Z]{1,2}\d[A-Z\d]?[ ]?\d[ABD-HJLNP-UW-Z]{2}"
_CA = r"[ABCEGHJ-NPRSTVXY]\d[ABCEGHJ-NPRSTV-Z][ ]?\d[ABCEGHJ-NPRSTV-Z]\d"
_IE = r"(?:[AC-FHKNPRTV-Y]\d\d|D6W)[ ]?[0-9AC-FHKNPRTV-Y]{4}"
_NL = r"[1-9]\d{3}[ ]?(?!S[ADS])[A-Z]{2}"
_STATE = r"(?:A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|PA|RI|S[CD]|T[NX]|UT|V[AT]|W[AIVY])"
_CODE = (
    rf"(?:{_GB}|{_CA}|{_IE}|{_STATE},?[ ]{{1,2}}\d{{5}}(?:-\d{{4}})?|(?:NSW|VIC|QLD|WA|SA|TAS|ACT|NT)[ ]\d{{4}})(?!\w)"
)
"""Postcodes that no other number looks like, with their state where one belongs to them."""
_TOWNED = rf"(?:(?:[A-Z]{{1,2}}-)?(?:{_NL}|\d{{2}}-\d{{3}}|\d{{4}}-\d{{3}}|\d{{3}}[ ]\d{{2}}|(?!19\d\d(?!\d)|20[0-3]\d(?!\d))\d{{4,5}})(?!\w)[ ]{_TOWN}{_REGION})"
"""A postcode before its town."""
_FLAT = (
    r"(?i:apartment|apto|apt|flat|unit|suite|ste|piso|puerta|pta|porta|esc|wohnung|whg|top|stiege|appartement|appart|appt|app|bât|interno|int|scala|lokal|lok|m|bus|bte|bo[iî]te|"
    r"room|zimmer|floor|etage|étage)"
)
_INSIDE = (
    rf"(?:/\d{{0,3}}[A-Za-z]?(?!\w)|-\d{{1,4}}[A-Za-z]?(?!\w)|,?[ ]?#[ ]?\w{{1,5}}(?!\w)|,?[ ](?:{_FLAT}\.?[ ]?#?(?=\w{{0,4}}\d)\w{{1,5}}|"
    r"\d{1,2}[ ]?\.?[ºª°][ ]?(?:(?i:izda|izq|dcha|dta|dto|esq|ctro|frente|puerta)\.?|[A-H])?(?!\w)|(?i:rez[- ]de[- ]chauss[ée]e|bajo|parter|r/c)(?!\w)|[A-Za-z](?=[ ]?[,\n])))"
)
_RIGHT = re.compile(
    rf"(?:{_INSIDE}){{0,3}}(?:(?:[ ]?[,\n][ ]?|[ ]?[–-][ ]|[ ])(?:{_CODE}|{_TOWNED})|(?:[ ]?[,\n][ ]?{_TOWN}{_REGION}){{1,3}}(?:[ ]?[,\n]?[ ]?(?:{_CODE}|{_TOWNED}))|"
    rf"(?:,[ ]?{_TOWN}){{1,3}}(?=[ ]?(?:[.;!?)\n\"”]|$|,[ ][a-z]|[ ][a-z]))|(?:{_INSIDE}))"
)
"""What stands behind a street and its number."""
_HOUSE = r"\d{1,5}[A-Za-z]?(?:[/-]\d{1,5}[A-Za-z]?)?"
_WORDS = r"(?:(?:of|the|de|la|le|du|des|St\.?|[NSEW]|[A-ZÀ-ÖØ-Þ][^\W\d_]*(?:[’'.-][^\W\d_]+){0,3})[ ]){1,4}"
_EN = (
    r"(?i:street|st|avenue|ave|road|rd|lane|ln|drive|dr|boulevard|blvd|court|ct|square|sq|way|place|pl|terrace|tce|close|crescent|cres|parkway|pkwy|highway|hwy|gardens|grove|row|"
    r"mews|parade|pde|esplanade|circuit|cct|trail|trl|quay|wharf|wynd|brae|turnpike|villas|cottages)"
)
_EN_TOO = (
    r"(?i:rise|park|hill|view|green|walk|path|loop|yard|gate|heights|meadows|common|bank|broadway|side|end|fold|croft)"
)
"""Words for streets that name other things as well: a town or a postcode has to follow."""
_PLACED = re.compile(
    "|".join(
        (
            rf"(?:\b(?i:flat|apt|apartment|unit|suite|shop|level|floor|plot|house|room)\.?[ ]?#?\w{{1,6}},?[ ]?)?(?<![\w.,/-]){_HOUSE},?[ ]{_WORDS}{_EN}\b\.?(?:[ ][NSEW](?!\w))?",
            rf"(?:\b(?i:flat|apt|apartment|unit|suite)\.?[ ]?\w{{1,6}},?[ ]?)?(?<![\w.,/-]){_HOUSE},?[ ]{_WORDS}{_EN_TOO}(?=,[ ]?[A-Z][a-z’'-]{{2,30}}(?:[ ,]|$)|,?[ ]?{_CODE})",
            rf"\b(?i:plot|house|villa|block|hse|flat|unit)[ ](?:no\.?[ ])?\w{{0,3}}\d\w{{0,4}},[ ]?{_WORDS}{_EN}\b\.?",
            (
                r"(?<!\w)[A-ZÆØÅÄÖ][a-zà-ÿ]{2,24}(?:gata|gaten|gatan|veien|vegen|vägen|vejen|vej|gade|plassen|torget|katu|stræde|gasse|stieg|ring|markt|straat|laan|weg|kade|plein|singel|gracht|stra(?:ß|ss)e)"
                rf"[ ]{_HOUSE}(?:[ ][A-Z])?(?!\w)"
            ),
            (
                r"\b(?i:calle|carrera|cra|kra?|cl|diagonal|transversal|avenida|av)\.?[ ]\d{1,3}[A-Za-z]?[ ]?(?:bis[ ])?(?:#|(?i:no|nro|n[°º])\.?)[ ]?\d{1,3}[A-Za-z]?[ ]?[-–][ ]?\d{1,3}(?!\w)"
            ),
            (
                r"\b(?i:via|viale|v\.le|piazza|p\.za|corso|c\.so|vicolo|largo|strada|contrada|rua|avenida|av\.|travessa|tv\.|praça|estrada|calçada|alameda|calle|c/|avda\.?|plaza|pl\.|paseo|pº|camino|"
                r"ronda|carrer|rambla|ul\.|ulica|al\.|aleja|os\.|osiedle|pl\.|plac|odos|leoforos|strada|str\.)[ ]?"
                rf"(?:(?:de|di|dei|del|della|delle|dos|das|da|do|la|las|los|l[’']|d[’'])[ ]?){{0,2}}{_TOWN_WORD}(?:[ ](?:(?:de|di|del|della|dos|da|do|y|e|i|la)[ ]){{0,2}}{_TOWN_WORD}){{0,4}},?[ ]"
                rf"(?:n[.º°]{{0,2}}[ ]?)?{_HOUSE}(?:/[A-Za-z0-9]{{1,3}})?(?!\w)"
            ),
        )
    )
)
_BOX = re.compile(
    r"\b(?i:p\.?[ ]?o\.?[ ]?box|po[ ]box|postfach|postboks|postbus|boîte[ ]postale|b\.?p\.?(?=[ ]\d{2,6},)|case[ ]postale|apartado(?:[ ](?:de[ ]correos|postal))?|casella[ ]postale|caixa[ ]postal|"
    r"skrytka(?:[ ]pocztowa)?|gpo[ ]box|private[ ]bag)[ ](?:[A-Z]{1,3}[ ]?)?\d{1,6}(?:[ ]\d{2,4}){0,2}(?!\w)"
)
_TOWN_BEHIND = re.compile(
    rf"(?:[ ]{_TOWN_WORD})?(?:[ ]?[,\n][ ]?(?:{_TOWNED}|{_CODE}|{_TOWN}(?=[ ]?(?:[.,;)\n\"]|$)))){{1,3}}"
)
_ANCHOR = re.compile(rf"(?<![\w-])(?:{_CODE}|(?<=[,\n–][ ]){_TOWNED}|(?<=[,\n]){_TOWNED})")
_STEP = re.compile(r"[^\W_][\w’'º°ª./#-]*[.]?|[,\n]|[ \t]+|[–-]")
_SMALL = frozenset(
    "of the na on upon le la les de du des del di da do dos von van der am im bis ter und y i e under sur l' apt apto flat unit room izda izda. dcha dto dto. m m. lok. bus bte".split()
)
_STREETS = re.compile(r"[^,]*,|(?:Alte|Neue|Große|Grosse|Kleine|Obere|Untere|Lange|Hohe|Kurze)[rsnm]?[ ]$")
"""What stands before a street and belongs to it: another part behind a comma, or an adjective."""
_LEFT = 120
_COMPANY = re.compile(
    r"(?:GmbH|AG|AS|ASA|A/S|AB|Oy|Ltd|Limited|LLC|Inc|PLC|plc|SA|SAS|SARL|S\.A|SL|BV|B\.V|NV|S\.p\.A|SpA|Srl|S\.r\.l|z[ ]o\.o|Lda)\.?,?[ \n]{1,2}$"
)
"""Whose address follows: a company's."""
_FIELD = re.compile(
    r"(?:^|[\n|;{,\"])[ \t]*(?i:(?:delivery|shipping|billing|home|postal|new|old|street)?[ _-]?addr(?:ess)?(?:[ _-]?(?:line)?[ _-]?\d)?|street|l[12]|line[ _]?[12]|post[ _-]?code(?:/city|[ ]/[ ]town|/town)?|"
    r"zip(?:[ _-]?code)?|city|town|adresse|anschrift|stra(?:ß|ss)e|plz(?:[ /]?ort)?|wohnort|ort|rue|ville|code[ ]postal|dirección|direccion|domicilio|ciudad|morada|endereço|localidade|indirizzo|città|cap|"
    r"adres|woonplaats|postcode|ulica|miasto|kod(?:[ ]pocztowy)?)(?:\"[ ]?:[ ]?\"|[ ]?[.]{3,40}[ ]?:?[ ]?|[ ]?=[ ]?|[ ]?:[ ]?)([^\"\n|{}=]{2,90})(?=\"|\n|\||$)"
)


def find_postal(text: str) -> list[tuple[int, int]]:
    """The spans of postal addresses in `text`, each to its end, in no order, possibly overlapping."""
    if not any(c.isdigit() for c in text):
        return []
    found = [_whole(text, m.start(), m.end()) for p in (*ADDRESSES, _PLACED) for m in p.finditer(text)]
    for box in _BOX.finditer(text):
        if not _COMPANY.search(text, max(0, box.start() - 16), box.start()):
            behind = _TOWN_BEHIND.match(text, box.end())
            found.append((box.start(), behind.end() if behind else box.end()))
    return found + list(_before_postcodes(text, [start for start, _ in found])) + _fields(text)


def _whole(text: str, start: int, end: int) -> tuple[int, int]:
    """An address followed over flat, town and postcode to its end."""
    for _ in range(3):
        more = _RIGHT.match(text, end)
        if more is None or any(word.casefold() in NOT_NAMES for word in re.findall(r"[^\W\d_]{3,}", more.group())):
            break
        end = more.end()
    return start, end


def _before_postcodes(text: str, streets: list[int]) -> Iterator[tuple[int, int]]:
    """From each postcode back over what belongs to it: "Rose Cottage, Back Lane, York YO1 7AA". `streets`: where streets with a number begin."""
    for anchor in _ANCHOR.finditer(text):
        floor = max(0, anchor.start() - _LEFT)
        steps = [m for m in _STEP.finditer(text, floor, anchor.start()) if m.group().strip() or m.group() == "\n"]
        first, kept, at = anchor.start(), 0, anchor.start()
        for step in reversed(steps):
            word = step.group()
            if text[step.end() : at].strip(" \t") or (word[-1] == "." and len(word) > 4):
                break
            if word == "\n" and "\n" in text[step.end() : anchor.start()].strip():
                break
            numbered = any(c.isdigit() for c in word)
            if not (numbered or not word[0].isalpha() or word.casefold() in _SMALL or _opens(text, step.start(), word)):
                break
            if (word[0].isupper() and word.casefold() not in _SMALL) or numbered:
                first, kept = step.start(), kept + 1
            at = step.start()
        first = max([first, *(s for s in streets if first < s < anchor.start() and not _STREETS.match(text[first:s]))])
        before = text[first : anchor.start()]
        numbered = any(c.isdigit() for c in before) and any(c.isupper() for c in before)
        placed = numbered or ("," in before and re.fullmatch(_CODE, anchor.group()))
        companys = _COMPANY.search(text, max(0, first - 16), first) or _COMPANY.search(before)
        if kept and placed and not companys:
            yield first, anchor.end()


def _opens(text: str, start: int, word: str) -> bool:
    """True for a word with its capital that may be part of an address: no greeting, but "Back Lane" behind a comma."""
    return word[0].isupper() and (word.casefold() not in NOT_NAMES or text[:start].rstrip()[-1:] == ",")


def _fields(text: str) -> list[tuple[int, int]]:
    """The values of fields of an address; a town alone is one where another field holds the street."""
    found = [(m, any(c.isdigit() for c in m[1])) for m in _FIELD.finditer(text)]
    numbered = any(digits for _, digits in found)
    return [
        (m.start(1), m.start(1) + len(m[1].rstrip()))
        for m, digits in found
        if (digits and any(c.isupper() for c in m[1]))
        or (numbered and m[1][0].isupper() and len(m[1].split()) < 4)
        or (digits and m[1].strip().replace("-", "").isdigit())
    ]
