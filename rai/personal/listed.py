"""Names of people by a list of given and family names, where the words around them or their row of capitals say that somebody is meant.

A given name beside another name is one ("Marta Koval", "O. Koval", "KOVAL, MARTA"); alone it is one where its role in the conversation
says so ("Marta asks", "Agent Marta:", "her son Marek"). Names that are words, places or months as well need a family name that is none.
"""

from __future__ import annotations

import gzip
import re
import unicodedata
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from rai.personal.names import NOT_NAMES

LIST = Path(__file__).with_name("names.txt.gz")
"""Given names, family names and ordinary words, as `plain` writes them, made by `tools/name_list.py` from Faker (MIT) and babel (CLDR)."""
_SIGNS = str.maketrans(
    {"ł": "l", "ø": "o", "đ": "d", "ß": "ss", "æ": "ae", "œ": "oe", "ð": "d", "þ": "th", "ı": "i", "ə": "e", "’": "'"}
)
_GIVEN, _FAMILY, _WORD = 1, 2, 4
_ORDINARY = frozenset(
    """
    amber ashley asia august aurora autumn avery baker banks barbie baron basil bee bell berry beta bird blessing blossom bob boss bradley brain branch brandy brook brooklyn
    buck burns buster candy cap carol cash cedar celeste chance charity chase cherry chester chip christian clay cliff cloud clover coco constant
    coral corbin crystal daisy dale dallas dash dawn dean dell denim destiny dev diamond dixie doc dolly dot drew duke dusty earl ebony echo eden edit
    edu elder ember emerald eres essence eve faith fairy fern finch flora florence floyd flynn forest forum foster fox frank freedom gauge gene genesis
    ginger glen glory golden grace grant gray greet grey guy hall harbor harm harmony harper hazel heath heather heaven herb holly honey hope hunter
    hung india infant ion iris iron ivory ivy jack jade jasmine jasper jazz jersey jet jewel jimmy joke jordan journey joy judge june justice kelvin king kit lake
    lance lane lark laurel lea lemon liberty lies lily lincoln link loan london lotus love loyal lucky luna lynx mac mad made magnolia major maple margherita
    marine mark marry mars mason mate math max maxwell may meadow mercedes mercy merry mike miles mini minor misty model monday moss nelson nick nova ocean odd
    oak olive opal orange owe page palm paris park patience pat peace peach pearl peer penny pepper phoenix piper pilot pink pixel pleasant poppy porter precious
    press price prince prior queen quinn raid rain rainbow ran raven ray reed reef rex rice rich ridge rio river rob robin rock rocket roll rose rowan ruby rush rusty
    sage said sandy sapphire scarlet scout serenity server shade shell sienna silver sky skip sol sonny sparkle spring star starling stone storm sue summer sun sunday
    sunny sunshine tea ties til till tiny tone toy trace treasure tri trinity true ty unknown urban valid velvet vera verity victor victoria violet visa wade
    ward west will willow wing winter wolf worth wren zen zion alexa siri cortana tesla dyson philips bosch siemens miele alto corsa clio megane astra polo
    golf fiesta focus mini atlas orion titan apollo nemesis juno athena venus milan turin verona siena lucia sydney adelaide austin houston madison savannah
    charlotte denver orlando jackson memphis cheyenne dakota carolina montana virginia georgia nevada arizona indiana vienna sofia valencia lourdes salvador vitoria
    esperanza mercedes dolores socorro consuelo concepcion trinidad asuncion rosario encarnacion
    roos linde heide wald feld lang kurz neu alt engel kaiser koenig konig fritz franz otto ernst lieb felix ursula hertha
    lina nina smart swift bridge bridges bright cook cross date fair fan fee fields flowers font fresh guard hide holder hook hurt lie lower marks master
    merchant moon mountain org pages parts pop post reader riddle sales sharp snow solar stack suits tank topic walls watts weeks block brand basic carrier cases
    prompt beef royal navy hill curry soup shields lodge boston tea taj
    street road avenue lane drive court square place terrace close crescent way gardens grove row station airport university college school hospital clinic
    museum theatre library hotel church cathedral bridge park beach island islands bay lake river mountain county city town village airport port arena stadium
    center centre tower plaza mall market award prize cup league club team group company corp corporation inc ltd limited gmbh ag bank insurance card plus pro premium
    ultra light lite basic gold silver bronze model series edition version app button view tab page menu mode screen period plan tariff package bundle
    strasse str weg platz allee gasse rue calle via rua ulica plein straat laan gracht
    bill account order invoice email mail phone number policy support agent customer client question answer ticket case claim contract refund payment
    kunde kundin vertrag rechnung bestellung konto karte anfrage frage antwort problem fehler geraet gerat zahlung betrag lieferung paket versicherung beitrag
    netzwerk passwort adresse nummer termin kollege kollegen kollegin kolleginnen
    pan pani panstwo herr frau monsieur madame senhor senhora signor signora senor mevrouw meneer
    he she it we they you who whose his her their our your this that these those there here where when what which why how not and but for with from
    into onto over under after before since until while because if then than also just only even very more most much many some any each every all both
    please thanks thank hello hey dear kind best regards yes no ok subject sent date attn re fw fwd cc to my me
    microsoft google apple amazon windows office outlook teams azure android iphone ipad chrome firefox paypal visa mastercard amex samsung nokia sony
    chat bot copilot assistant admin manager team member user guest visitor caller
    north south east west northern southern eastern western new old great grand saint san santa sao
    """.split()
)
"""Words and products that Faker lists as names, streets and other things that are called after people, and what a name is not followed by."""
_TOKEN = re.compile(r"[^\W\d_]+(?:[’'`-][^\W\d_]+){0,4}[’']?(?![^\W_])")
_BETWEEN = re.compile(r"['’]?[ \t]{1,2}|(?<=(?<!\w)\w)\.[ \t]?|\.[ \t](?=[JS]r)")
_COMMA = re.compile(r"[ \t]?,[ \t]?")
_PARTICLES = frozenset(
    """de del della delle dello di da das do dos du des la las le los lo van von vom zu zur zum den der het ten ter te 't bin ibn bint ben abu al el y e i af av mac
    mc st""".split()
)
_TITLED = frozenset(
    "Le La Lo Li De Di Da Del Della Dos Das Du Van Von Der El Al Bin Ibn Ben Abu Mac Mc St Ter Ten Den".split()
)
_SUFFIX = frozenset(("jr", "sr", "ii", "iii", "iv", "junior", "senior"))
_MOST = 5
"""Most words of a name, particles left out."""
_PREFIX = re.compile(r"(?:[DO]['’]|Al-|El-|Ma?c)(?=[A-Z][^\W\d_]{2})")
"""What only names begin with."""
_ENDINGS = tuple(
    "sdottir sson enko chuk czuk wski wska wicz opoulos opoulou oglu shvili escu ovic evic ovich evich cki cka quist stedt".split()
)
"""What only family names end with."""
_LOOK = 48
_ARTICLE = re.compile(
    r"\b(?i:the|a|an|our|your|der|die|das|dem|den|im|am|le|la|les|el|los|las|il|lo|o|os|as|het|de)[ ]$"
)
_ALONE = re.compile(r"[,;.)]|[ \t]*\n[ \t]*\d")
"""What tells that a row of words is all of its clause, or stands above an address."""
_WITH = re.compile(
    r"(?:\b(?i:with|for|from|by|to|von|für|mit|bei|avec|pour|con|por|para|per|met|voor|dla|mr|mrs|ms)\.?|w/)[ ]$"
)
_INTRODUCED = re.compile(
    r"(?:\b(?i:this[ ]is|my[ ]name(?:['’]s|[ ]is)|soy|sono|sou[ ][ao]|sou|je[ ]suis|ich[ ]bin|hier[ ](?:ist|spricht)|ik[ ]ben|jestem|name[ ]is|"
    r"(?:first|last|given|family|middle|maiden|full)[ ]name|vorname|nachname|prénom|cognome|apellidos?|imię|nazwisko|voornaam|achternaam)[ \t]*(?:[.]{2,40}|[:=])?[ \t]{1,3}"
    r"|(?<!\d[ ])\b(?:[Mm]rs?|[Mm]s|[Mm]iss|[Dd]r|[Hh]err|[Ff]rau|[Mm]me|[Mm]onsieur|[Mm]adame|[Ss]e[ñn]ora?|[Ss]ra?|[Ss]ig(?:\.ra|nora?)?|[Ss]enhora?|[Dd]hr|[Mm]evr(?:ouw)?|[Mm]eneer|"
    r"[Aa]vvocat[oa]|[Aa]vv|l[’']avvocat[oa]|[Dd]ott(?:oressa)?|[Pp]an[ia]?|(?<=[ (,.])D|(?<=[ (,])p)\.?[ \t]"
    r"|(?i:(?:grüße|gruß|gruss|regards|wishes|groet(?:en|jes)?|saludos|saluti|cumprimentos|cordialement|pozdrawiam|cheers)[,!.]?[ ]))"
    r"(?:und[ ](?i:frau)[ ]|and[ ](?i:mrs\.?)[ ])?$"
)
_ROLE = re.compile(
    r"(?:\b(?i:customer|client|caller|user|guest|passenger|patient|tenant|driver|keeper|owner|holder|agent|advisor|colleague|friend|"
    r"kunde|kundin|kollegin|kollege|fahrer|fahrerin|klant|collega|klient|klientka|pacjent|kolega|koleżanka|cliente|clienta|conductor|compañer[oa]|conducteur|collègue|locataire|"
    r"collega|condutor|inquilin[oa]|"
    r"husband|wife|widow|widower|partner|spouse|fiancée?|boyfriend|girlfriend|son|daughter|mother|father|mum|mom|dad|brother|sister|grandmother|grandfather|gran|uncle|aunt|cousin|"
    r"nephew|niece|boss|neighbou?r|flatmate|landlord|carer|mann|sohn|tochter|mutter|vater|bruder|schwester|mari|femme|fils|fille|frère|marido|mujer|hijo|hija|hermano|hermana|marito|moglie|"
    r"figlio|figlia|mulher|filho|filha|zoon|dochter|vrouw|mąż|żona|syn|córka|sig(?:nora?|\.ra)?|"
    r"spoke[ ](?:to|with)|talked[ ]to|on[ ]behalf[ ]of|signed|from:|von:|de:|van:|od:)[ \t]?[=,:(]?[ \t]?[(\"“„]?"
    r"|(?i:\b(?:hi|hello|hey|hallo|hola|ciao|bonjour|moin|beste|dear|thanks|danke|merci)[ ,]{1,2}))$"
)
_DOES = re.compile(
    r"[ \t](?:asks?|asked|says?|said|rang|rings|called|calls|phoned|phones|wants|wanted|writes|wrote|told|tells|complain(?:s|ed)|cancel(?:s|l?ed)|claims|claimed|replied|insists|"
    r"emailed|texted|refuses|got|here|speaking|from[ ](?:second|first|billing|support|sales|accounts|service|the)|at[ ]ext|fragt|fragte|sagt|sagte|ruft|rief|möchte|schreibt|schrieb|meldet|"
    r"meint|dit|demande|appelle|veut|écrit|dice|dijo|pide|pregunta|quiere|llamó|llama|escribe|chiede|vuole|scrive|pede|quer|diz|ligou|vraagt|zegt|wil|belde|schreef|pyta|mówi|chce|"
    r"dzwoni|napisała?|zadzwoniła?)(?![\w-])"
)
_LINE = re.compile(
    r"(?:^|\n)[ \t>]{0,4}(?:\[[^\]\n]{1,24}\][ \t]*)?(?:(?i:agent|advisor|customer|client|visitor|operator)[ \t])?$"
)
_SPEAKS = re.compile(r"(?:[ \t]?\([^)\n]{1,24}\))?[ \t]?:(?!\w)")
_JOINED = re.compile(r"[ \t](?:and|und|et|y|e|i|en|&|und)[ \t]")
_FILLED = re.compile(
    r"(?:\"|\b)(?i:(?:full|first|last|given|family|middle|customer|client|holder|contact|user)?[ _-]?name|nm|vorname|nachname|surname|apellidos?|nombre|nome|cognome|prénom|imię|nazwisko|"
    r"voornaam|achternaam)(?:\"[ ]?:[ ]?\"|=|[ ]?[.]{3,40}[ ]?:?[ ]?|[ ]?\|[ ]?)"
    r"([^\W\d_][^\W\d_’'. -]{0,30}(?:(?:,[ ]?|[ ]{1,2}|[’'-]|\.[ ]?)[^\W\d_]{1,30}){0,5})(?=\"|[ \t]*(?:[|;&,\n\r]|$))"
)
"""A field of JSON, of a dump or of a form that is filled with dots: `"full_name":"…"`, `nm=…`, `First name ..... …`."""
_LOWER_CUE = re.compile(
    r"(?<!\d[ ])\b(?i:mr|mrs|ms|miss|frau|herr|mme|monsieur|madame|se[ñn]ora?|sra?|sig\.ra|sig|signora?|pani|pan|mevr|mevrouw|meneer|dhr|dona|senhora?)\.?[ \t]"
    r"((?:(?:van|von|de|del|di|da|la|le|der|den|el|al|bin|ter|ten|het)[ ]){0,3}[^\W\d_]{2,20}(?:[’'-][^\W\d_]{1,20}){0,2})(?:[ ]([^\W\d_]{2,20}))?(?![\w])"
)
_APART = re.compile(r"(?:[?:;,.(][ ]|\b(?:customer|client|kunde|kundin|klant|cliente|klient)[ ])$")
_BOTH = re.compile(r"(?<![\w’'@.-])([^\W\d_]{3,20})[ ]([^\W\d_]{2,20})(?:[ ]([^\W\d_]{3,20}))?(?![\w@-]|[.’']\w)")


@dataclass(frozen=True, slots=True)
class _Piece:
    start: int
    end: int
    text: str
    kind: int

    @property
    def capital(self) -> bool:
        return self.text[0].isupper()

    @property
    def loud(self) -> bool:
        return len(self.text) > 1 and self.text.isupper()


def find_listed(text: str) -> list[tuple[int, int]]:
    """The spans of names in `text` that the list knows, or that somebody's role introduces, in no order, possibly overlapping."""
    tokens = _tokens(text)
    found: list[tuple[int, int]] = []
    at = 0
    while at < len(tokens):
        if not tokens[at].capital:
            at += 1
            continue
        length = _length(text, tokens, at)
        if length:
            found.append((tokens[at].start, _ends(text, tokens[at + length - 1])))
            found += _joined(text, tokens, at)
        elif _single(text, tokens, at):
            found.append((tokens[at].start, tokens[at].end))
        at += length or 1
    return found + _filled(text) + _lower(text)


def plain(name: str) -> str:
    """A name without case, accents and signs of its own: how the list writes it."""
    return "".join(
        c for c in unicodedata.normalize("NFKD", name.casefold().translate(_SIGNS)) if not unicodedata.combining(c)
    )


@cache
def _list() -> dict[str, int]:
    """What each name or word of the list is, a sum of `_GIVEN`, `_FAMILY` and `_WORD`: the list has a section for each sum."""
    sections = gzip.decompress(LIST.read_bytes()).decode("ascii").split("\n\n")
    kinds = {word: kind for kind, section in enumerate(sections, 1) for word in section.split()}
    kinds |= {word: kinds.get(word, 0) & ~_WORD for word in _PEOPLE}
    return kinds | {word: kinds.get(word, 0) | _WORD for word in _ORDINARY | _SAID}


_PEOPLE = frozenset(
    """antonio carlos claire cristiano ella felipe fernando francisco francois jan jorge jose juan julio luis manuel marco maria mario martin massimo miguel pablo pedro
    pierre pietro piotr rafael sam sean dan stella stan klas signe anders roman rosa lotta kara mira pietra carmen david daniel anna peter john thomas alexander
    paul michael tom ben alice george erin santiago garcia smith jones miller schmidt meyer""".split()
)
"""Names that the lists of words hold as well, without being words."""
_SAID = frozenset(plain(word) for word in NOT_NAMES)


@lru_cache(maxsize=32768)
def _kind(word: str) -> int:
    kinds, name = _list(), plain(word)
    kind = kinds.get(name, 0)
    if "-" in name:
        parts = [kinds.get(p, 0) for p in name.split("-") if p]
        kind |= (parts[:1] or [0])[0] & _GIVEN | max((k & _FAMILY for k in parts), default=0)
        kind |= _WORD if parts and all(k & _WORD for k in parts) else 0
    if _PREFIX.match(word) or (not kind and len(name) > 6 and name.endswith(_ENDINGS)):
        kind |= _FAMILY
    return kind


def _tokens(text: str) -> list[_Piece]:
    found = []
    for match in _TOKEN.finditer(text):
        word = match.group()
        if word[-2:] in ("'s", "’s"):
            word = word[:-2]
        elif word[-1] in "'’" and not text[match.end() : match.end() + 2].strip():
            word = word[:-1]
        if word:
            found.append(_Piece(match.start(), match.start() + len(word), word, _kind(word)))
    return found


def _strong(token: _Piece, kind: int) -> bool:
    return bool(token.kind & kind) and not token.kind & _WORD


def _follows(text: str, before: _Piece, after: _Piece) -> bool:
    return _BETWEEN.fullmatch(text, before.end, after.start) is not None


def _chain(text: str, tokens: list[_Piece], at: int) -> tuple[list[_Piece], int]:
    """The capitalised words from `at` on that may be one name, without particles, and how many tokens they take."""
    words, taken, size = [tokens[at]], 1, 1
    while at + taken < len(tokens) and len(words) < _MOST:
        token = tokens[at + taken]
        if not _follows(text, tokens[at + taken - 1], token):
            break
        if token.text.casefold() in _PARTICLES and (not token.capital or token.text in _TITLED or token.loud):
            taken += 1
            if taken - size > 3:
                break
            continue
        initial = len(token.text) == 1
        if not token.capital or (token.loud and not tokens[at].loud and not initial):
            break
        if (
            token.kind & _WORD
            and not initial
            and not token.kind & (_GIVEN | _FAMILY)
            and token.text.casefold() not in _SUFFIX
        ):
            break
        if plain(token.text) in _THINGS - _SURNAMES_TOO:
            break
        words.append(token)
        taken += 1
        size = taken
    while len(words) > 1 and len(words[-1].text) == 1 and text[words[-1].end : words[-1].end + 1] != ".":
        words.pop()
        size -= 1
    return words, size


def _length(text: str, tokens: list[_Piece], at: int) -> int:
    """How many tokens from `at` on are a name; 0 for none."""
    first = tokens[at]
    if (turned := _turned(text, tokens, at)) or at + 1 == len(tokens):
        return turned
    words, size = _chain(text, tokens, at)
    if len(words) == 1:
        return 0
    after = tokens[at + size] if at + size < len(tokens) else None
    if after and after.capital and plain(after.text) in _THINGS and _follows(text, tokens[at + size - 1], after):
        return 0
    if len(first.text) == 1:
        return size if _initialled(text, words) else 0
    if first.loud:
        size = 0 if first.kind & _WORD and not first.kind & _GIVEN else _loud(words, size)
        return size if size > 1 else 0
    before = text[max(0, first.start - 12) : first.start]
    if plain(words[1].text) in _SURNAMES_TOO and _ARTICLE.search(before):
        return 0
    return size if _known(words) or (_unlisted(text, words) and not _ARTICLE.search(before)) else 0


def _known(words: list[_Piece]) -> bool:
    """True for a given name with another behind it, or the other way round; one that is a word needs a family name that is none."""
    first, second = words[:2]
    if _strong(first, _GIVEN):
        return len(second.text) > 1 or len(words) > 2
    if first.kind & _GIVEN:
        return any(_strong(word, _FAMILY) for word in words[1:])
    return _strong(first, _FAMILY) and _strong(second, _GIVEN)


def _unlisted(text: str, words: list[_Piece]) -> bool:
    """True for a family name behind a word that nothing knows, inside a sentence or all of its clause."""
    first = words[0]
    if not (_strong(words[-1], _FAMILY) or _PREFIX.match(first.text)) or first.kind & _WORD or len(first.text) < 3:
        return False
    return not _begins(text, first.start) or _ALONE.match(text, words[-1].end) is not None


def _initialled(text: str, words: list[_Piece]) -> bool:
    """True for "T. Koval", and for an unlisted name behind "with", "for" or the like."""
    first, second = words[:2]
    if text[first.end : first.end + 1] != ".":
        return False
    if any(_strong(word, _FAMILY) for word in words[1:]):
        return True
    introduced = _WITH.search(text[max(0, first.start - 8) : first.start])
    return introduced is not None and not second.kind & _WORD and len(second.text) > 3


_THINGS = frozenset(
    """street st road rd avenue ave lane drive court square place terrace close crescent way gardens grove row station airport university college school
    hospital clinic museum theatre library hotel church cathedral bridge park beach island islands bay lake river county city town village port arena stadium center
    centre tower plaza mall market award prize cup league club group company corp corporation inc ltd limited gmbh ag bank insurance plus pro ultra series
    edition collection foundation institute hall""".split()
)
_SURNAMES_TOO = frozenset(("park", "hall", "lake", "church", "bridge", "place", "close"))
"""Of these, what people are called as well: "Sarah Park", but "the Albert Hall"."""


def _loud(words: list[_Piece], size: int) -> int:
    """How much of a row in capitals is a name: an ordinary word ends it, and both a given and another name must be told from such."""
    kept = 0
    for word in words:
        if (word.kind & _WORD and kept) or not word.text.isupper():
            break
        kept += 1
    names = words[:kept]
    known = [w for w in names if w.kind & (_GIVEN | _FAMILY) and not w.kind & _WORD]
    sure = any(_strong(w, _GIVEN) and len(w.text) > 3 for w in names[:3]) or sum(len(w.text) > 2 for w in known) > 2
    if kept < 2 or not sure or not (len(known) > 1 or len(names[1].text) > 4):
        return 0
    return size - (len(words) - kept)


def _turned(text: str, tokens: list[_Piece], at: int) -> int:
    """2 or more for "Koval, Marta" and "KOVAL,MARTA": a family name, a comma and a given name, at the beginning of a line or a field."""
    if at + 1 >= len(tokens):
        return 0
    first, second = tokens[at], tokens[at + 1]
    if not (second.capital and _COMMA.fullmatch(text, first.end, second.start) and _strong(second, _GIVEN)):
        return 0
    opened = text[: first.start].rstrip(" \t")[-1:] in ("", "\n", ":", "=", "|", '"', "(", "“", "„", "<", ">")
    sure = _strong(first, _FAMILY) or (first.loud and not first.kind & _WORD)
    return 1 + _chain(text, tokens, at + 1)[1] if opened and sure else 0


def _begins(text: str, start: int) -> bool:
    """True at the beginning of a sentence or a line, where any word has its capital."""
    before = text[:start].rstrip(" \t\"'“„«(*-–—>#•|")
    return not before or before[-1] in ".!?:;\n…/"


def _joined(text: str, tokens: list[_Piece], at: int) -> list[tuple[int, int]]:
    """The given name before an "and": "Marta and Jan Koval"."""
    if at < 2:
        return []
    one = tokens[at - 2]
    joined = _JOINED.fullmatch(text, one.end, tokens[at].start)
    return [(one.start, one.end)] if joined and one.capital and _strong(one, _GIVEN) else []


def _single(text: str, tokens: list[_Piece], at: int) -> bool:
    """True for a name alone that somebody's role introduces."""
    token = tokens[at]
    if len(token.text) < 2 or token.loud:
        return False
    before = text[max(0, token.start - _LOOK) : token.start]
    if (
        not token.kind & _WORD
        and len(token.text) > 2
        and _INTRODUCED.search(before)
        and not text[token.end :][:2].strip().isdigit()
    ):
        return True
    if _next_is_part(text, token.end):
        return False
    called, doing = _ROLE.search(before), _DOES.match(text, token.end)
    if not token.kind & _GIVEN:
        return bool(called and doing and not token.kind & _WORD)
    if _LINE.search(before) and _SPEAKS.match(text, token.end):
        return not token.kind & _WORD or before.rstrip()[-5:].casefold() == "agent"
    if token.kind & _WORD:
        return False
    return bool(called or doing)


def _next_is_part(text: str, end: int) -> bool:
    """True before a number or another capitalised word: "Frieda 60", "Carmen Kaffee" are things."""
    after = text[end : end + 2]
    return len(after) == 2 and after[0] == " " and (after[1].isdigit() or after[1].isupper())


def _ends(text: str, last: _Piece) -> int:
    dotted = text[last.end : last.end + 1] == "." and (len(last.text) == 1 or last.text.casefold() in ("jr", "sr"))
    return last.end + dotted


def _filled(text: str) -> list[tuple[int, int]]:
    if not ('"' in text or "=" in text or "..." in text or "|" in text):
        return []
    return [
        match.span(1)
        for match in _FILLED.finditer(text)
        if all(not _kind(word) & _WORD or _kind(word) & (_GIVEN | _FAMILY) for word in _TOKEN.findall(match[1]))
        and any(c.isupper() or _kind(match[1].split()[0]) & _GIVEN for c in match[1][:1])
    ]


def _lower(text: str) -> list[tuple[int, int]]:
    """Names without capitals: behind a title, or a given and a family name that are no words, side by side."""
    found = []
    for match in _LOWER_CUE.finditer(text):
        first, second = match[1].split()[-1], match[2]
        kind = _kind(first)
        if kind & _WORD and not kind & (_GIVEN | _FAMILY):
            continue
        known = second is not None and _kind(second) & (_GIVEN | _FAMILY) and plain(second) not in _SAID
        if kind & _WORD and not known:
            continue
        found.append((match.start(1), match.end(2) if known else match.end(1)))
    at = 0
    while pair := _BOTH.search(text, at):
        match, at = pair, pair.end(1)
        first, second = _kind(match[1]), _kind(match[2])
        if first & _GIVEN and not first & _WORD and match[1].islower() and match[2].islower():
            third = _kind(match[3]) if match[3] else 0
            if second & _FAMILY and not second & _WORD:
                more = match[3] and third & (_GIVEN | _FAMILY) and not third & _WORD
                found.append((match.start(1), match.end(3) if more else match.end(2)))
            elif second & _GIVEN and third & (_GIVEN | _FAMILY) and not third & _WORD and not second & _WORD:
                found.append((match.start(1), match.end(3)))
            elif (
                not second
                and len(match[2]) > 3
                and not match[3]
                and _APART.search(text[max(0, match.start() - 12) : match.start()])
            ):
                found.append(match.span())
        elif first & _FAMILY and not first & _WORD and match[3] and plain(match[2]) in ("van", "thi"):
            found.append(match.span())
    return found
