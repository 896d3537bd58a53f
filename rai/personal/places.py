"""Postal addresses and dates of birth, as they are written in four languages."""

from __future__ import annotations

import re

_CAP = r"[A-ZÀ-ÖØ-Þ][^\W\d_]*(?:[’'-][^\W\d_]+){0,3}\.?"
_TOWN = r"[A-ZÀ-ÖØ-Þ][a-zß-ÿ’'-]+"
_TAIL_EN = (
    rf"(?:,?[ \t]+(?:Apt|Apartment|Unit|Suite|Flat|Floor)\.?[ \t]*#?[ \t]?\w{{1,6}})?"
    rf"(?:,[ \t]*{_TOWN}(?:[ \t]+{_TOWN}){{0,2}})?(?:,?[ \t]+[A-Z]{{2}}(?=[ \t]+\d{{5}}))?"
    r"(?:,?[ \t]+(?:\d{5}(?:-\d{4})?|[A-Z]{1,2}\d[A-Z\d]?[ \t]?\d[A-Z]{2})(?!\w))?"
)
_FLAT = r"(?i:flat|apt\.?|apartment|unit|room|suite|appartement|appart\.?|appt\.?|wohnung|whg\.?|piso|apartamento|interno|appartamento|lokal|m\.)"
_TAIL = rf"(?:[ \t]*[,\n][ \t]*(?:[A-Z]{{1,2}}-)?\d{{5}}(?:[ \t]+{_TOWN}(?:[ \t]+{_TOWN}){{0,2}})?|[ \t]+\d{{5}}[ \t]+{_TOWN})?"
_SMALL = r"(?:de|du|des|la|le|les|del|los|las|l[’']|d[’'])"
ADDRESSES = tuple(
    re.compile(pattern)
    for pattern in (
        (
            rf"(?:\b{_FLAT}[ \t]*#?[ \t]?\w{{1,5}}[ \t]*,[ \t]*)?(?<![\w-])\d{{1,5}}[A-Za-z]?(?:[ \t]+(?:North|South|East|West|[NSEW]\.?))?(?:[ \t]+{_CAP}){{1,4}}[ \t]+"
            r"(?:Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Drive|Dr|Boulevard|Blvd|Court|Ct|Square|Sq|Way|Place|Pl|Terrace|Close|Crescent|"
            rf"Parkway|Pkwy|Highway|Hwy|Gardens|Grove|Row|Mews)\b\.?{_TAIL_EN}"
        ),
        (
            r"(?<!\w)(?:[A-ZÄÖÜ][\wß.-]{0,40}(?:straße|strasse|str\.|weg|platz|allee|gasse|damm|ufer|chaussee)|"
            rf"{_CAP}[ \t](?:Straße|Strasse|Str\.|Weg|Platz|Allee|Gasse|Ring|Damm|Ufer))[ \t]\d{{1,4}}[ \t]?[a-z]?(?!\w){_TAIL}"
        ),
        (
            r"(?<![\w-])\d{1,4}(?:[ \t]?(?:bis|ter))?,?[ \t]+(?i:rue|avenue|av\.|boulevard|bd|place|chemin|allée|impasse|quai|route|cours)[ \t]+"
            rf"(?:{_SMALL}[ \t]*){{0,2}}{_CAP}(?:[ \t]+(?:{_SMALL}[ \t]*){{0,2}}{_CAP}){{0,4}}"
            rf"(?:[ \t]*,[ \t]*{_FLAT}[ \t]?\w{{1,5}})?{_TAIL}"
        ),
        (
            rf"\b(?i:calle|c/|avenida|avda\.?|plaza|paseo|camino|carrera|ronda)[ \t]*(?:{_SMALL}[ \t]+){{0,2}}{_CAP}"
            rf"(?:[ \t]+(?:{_SMALL}[ \t]+){{0,2}}{_CAP}){{0,4}},?[ \t]+(?:n[.º°]*[ \t]?)?\d{{1,4}}(?!\w)(?:,?[ \t]*\d{{1,2}}[.º°][ \t]?\w?)?{_TAIL}"
        ),
        (
            r"(?<!\w)[A-Z][a-zà-ÿ’'-]{1,30}(?:straat|laan|weg|gracht|kade|plein|singel|dijk|steeg|hof|pad)[ \t]\d{1,5}(?:[ \t]?[a-zA-Z](?!\w)|[-/]\w{1,4})?(?!\w)"
            rf"(?:[ \t]*[,\n][ \t]*\d{{4}}[ \t]?[A-Z]{{2}}(?!\w)(?:[ \t]+{_TOWN}(?:[ \t]+{_TOWN}){{0,2}})?)?"
        ),
        (
            rf"\b(?:Am|Im|An[ ]der|An[ ]den|Auf[ ]de[mr]|In[ ]de[rn]|Zum|Zur|Unter[ ]den|Hinter[ ]de[mr]|Vor[ ]de[mr]|Beim)[ ]{_CAP}(?:[ ]{_CAP}){{0,2}}[ ]"
            rf"\d{{1,4}}[ ]?[a-z]?(?!\w)[ \t]*[,\n][ \t]*(?:[A-Z]{{1,2}}-)?\d{{4,5}}(?:[ \t]+{_TOWN}(?:[ \t]+{_TOWN}){{0,2}})?"
        ),
        rf"(?<![\w.,-])[1-9]\d{{3}}[ \t]?[A-Z]{{2}}[ \t]+{_TOWN}(?=[ \t]*(?:[,.;!?\n]|$))",
        (
            rf"\b(?i:via|viale|piazza|corso|vicolo|largo|rua|avenida|travessa|praça|ul\.|ulica|al\.|aleja|os\.)[ \t]+(?:{_SMALL}[ \t]*){{0,2}}{_CAP}"
            rf"(?:[ \t]+(?:{_SMALL}[ \t]*){{0,2}}{_CAP}){{0,3}},?[ \t]+(?:n[.º°]*[ \t]?)?\d{{1,4}}[a-zA-Z]?(?:/\d{{1,4}})?(?!\w)"
            rf"(?:[ \t]*[,\n–-][ \t]*(?:\d{{5}}|\d{{4}}-\d{{3}}|\d{{2}}-\d{{3}})(?:[ \t]+{_TOWN}(?:[ \t]+{_TOWN}){{0,2}})?)?"
        ),
        r"\b(?i:flat|apt\.?|apartment|appartement|appart\.?|appt\.?|wohnung|whg\.?)[ \t]*(?:(?:no|nr|n[°º])\.?[ \t]*|#[ \t]?)?(?:\d{1,4}[A-Za-z](?!\w)|\d{1,4}(?=[ \t]*,[ \t]*(?:\d|[A-Z])))",
        r"(?i:\b(?:p\.?[ ]?o\.?[ ]?box|postfach|boîte[ ]postale|apartado(?:[ ]de[ ]correos)?|postbus)[ \t]+)\d{2,6}(?:[ ]\d{2,4}){0,2}(?!\w)",
        (
            r"(?i:\b(?:post[ \t]?code|zip(?:[ \t]?code)?|plz|postleitzahl|code[ \t]postal|código[ \t]postal)[ \t]*+(?:is|ist|est|es)?+[ \t:]*+)"
            r"(?:[A-Z]{1,2}\d[A-Z\d]?[ \t]?\d[A-Z]{2}|\d{4,5}(?:-\d{4})?|\d{4}[ ]?[A-Z]{2}|\d{2}-\d{3}|\d{4}-\d{3})(?!\w)"
        ),
    )
)
_MONTH = r"[^\W\d_]{3,10}\.?"
_DATE = (
    rf"(?:\d{{1,4}}[ \t]?[./-][ \t]?\d{{1,2}}[ \t]?[./-][ \t]?\d{{2,4}}|\d{{1,2}}(?:st|nd|rd|th|er|\.)?[ \t]+(?:of[ \t]+|de[ \t]+)?{_MONTH},?[ \t]+"
    rf"(?:de[ \t]+|del[ \t]+)?\d{{4}}|{_MONTH}[ \t]+\d{{1,2}}(?:st|nd|rd|th)?,?[ \t]+\d{{4}})"
)
BIRTH = re.compile(
    r"(?i:\b(?:born(?:[ \t]+on)?|date[ \t]+of[ \t]+birth|birth[ \t]?da(?:te|y)|dob|d\.o\.b\.?|geb(?:oren)?\.?(?:[ \t]+am)?|geburts(?:datum|tag)|"
    r"née?(?:[ \t]+le)?|date[ \t]+de[ \t]+naissance|nacid[oa](?:[ \t]+el)?|fecha[ \t]+de[ \t]+nacimiento|"
    r"nat[oa](?:[ \t]+il)?|data[ \t]+di[ \t]+nascita|nascid[oa](?:[ \t]+em)?|data[ \t]+de[ \t]+nascimento|geboren(?:[ \t]+op)?|geboortedatum|urodzon[ya]|"
    r"data[ \t]+urodzenia|дата[ \t]+рождения|ημερομηνία[ \t]+γέννησης|出生日期|生年月日|تاريخ[ \t]+الميلاد))"
    rf"[ \t]*+(?:is|was|ist|est|es|on)?+[ \t:=:]*+(?:the[ \t]++)?({_DATE})(?!\w)"
    r"|(?i:\b(?:(?<!were )born[ ](?:back[ ])?in|jahrgang|geboren[ ]in|née?[ ]en|nacid[oa][ ]en|nat[oa][ ]nel|year[ ]of[ ]birth[ :]*(?:is[ ])?))[ \t]*((?:19|20)\d\d)(?!\w)"
    r"|(?i:\b(?:birthday(?:['’]s|[ ]is|[ ]was)?(?:[ ]on)?|geburtstag(?:[ ]ist|[ ]am|[ ]ist[ ]am)?|anniversaire(?:[ ]est)?(?:[ ]le)?|cumpleaños(?:[ ]es)?(?:[ ]el)?)[ :]+(?:the[ ]|el[ ]|le[ ])?"
    rf"(\d{{1,2}}(?:st|nd|rd|th|\.)?[ ](?:of[ ]|de[ ])?{_MONTH}|\d{{1,2}}[./]\d{{1,2}}\.?))(?!\w)"
)

BIRTH_TOO = re.compile(
    r"(?i:\b(?:nasci(?:[ ](?:a|em|no[ ]dia))?|ur\.|urodz\.?|urodzon[ya]|født|född|f\.[ ]?nac\.?|geb\.?|dob|(?:date|day)[ _-]?of[ _-]?birth|birth[ _-]?da(?:te|y)|naissance|nacimiento|nascita|nascimento|geboortedatum|"
    rf"geburtsdatum)[\"'“”]{{0,2}}[ \t]{{0,2}}[:=]?[ \t]{{0,2}}[\"'“”]{{0,2}})({_DATE}|(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01]))(?!\w)"
)
"""The same behind labels of dumps and in figures alone: `"dob":"19910617"`."""


def find_births(text: str) -> list[tuple[int, int]]:
    """The spans of dates that are called a date of birth."""
    return [m.span(m.lastindex or 0) for p in (BIRTH, BIRTH_TOO) for m in p.finditer(text)]
