"""Numbers and codes that belong to one person: references by their label, bank accounts, cards, e-mail addresses, long numbers.

Telephone numbers without a label are left to presidio (`rai.personal.redact`), which knows the numbering plans.
"""

from __future__ import annotations

import re

EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,8}[a-zA-Z]{2,24}(?![\w-])")
SSN = re.compile(r"(?<![\d-])\d{3}-\d{2}-\d{4}(?![\d-])")
CARD = re.compile(r"(?<![\w-])(?:\d{4}([ -]?)\d{4}\1\d{4}\1\d{4}|3\d{3}([ -]?)\d{6}\2\d{5})(?![\w-])")
IBAN = re.compile(r"(?<!\w)[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{4}){2,7}(?:[ -]?[A-Z0-9]{1,4})?(?!\w)", re.IGNORECASE)
ABROAD = re.compile(r"(?<![\w+])\+[1-9]\d{0,2}(?:[ \t()./–-]{0,2}\d){7,12}(?!\w)")
"""A telephone number with its country code, also one that no numbering plan gives out."""
LONG = re.compile(r"(?<![\w.,/%=&?-])\d{9,30}(?![\w/%]|[.,]\d)")
"""Nine digits or more in a row: no price, year or model. Web addresses and decimals are left alone."""
DIALLED = re.compile(
    r"(?i:\b(?:call(?:[ \t]+(?:me|us|back))?(?:[ \t]+(?:at|on))?|reach(?:[ \t]+me)?[ \t]+(?:at|on)|text[ \t]+me(?:[ \t]+(?:at|on))?|"
    r"(?:tele)?phone|mobile|cell|fax|tel|telefon|handy|mobil|rückruf|portable|téléphone|teléfono|móvil|whatsapp|fone|telefone|telemóvel|celular|cel|gsm|(?:tele)?ph)"
    r"(?:[ \t]*(?:number|no\.?|nr\.?|nummer|numéro|número|n[°º]))?)"
    r"[ \t]*+(?:is|was|ist|lautet|est|es|unter|au|al)?[ \t:.=#]{0,3}(\+?\(?\d(?:[ \t()./–-]{0,3}\d){5,16})(?!\w)"
)
_THING = (
    r"order|account|customer|member(?:ship)?|invoice|ticket|case|reference|ref|booking|reservation|confirmation|policy|contract|claim|tracking|"
    r"parcel|shipment|card|passport|licen[cs]e|ssn|social[ \t]+security|insurance|tax|iban|client|subscription|transaction|payment|loan|"
    r"patient|employee|user|serial|routing|sort|vat|"
    r"bestell(?:ung)?|auftrags?|kunden?|konto|rechnungs?|vertrags?|vorgangs?|sendungs?|mitglieds?|versicherungs?|buchungs?|referenz|"
    r"kreditkarten?|karten?|ausweis|steuer|personal|reservierungs?|paket|akten?|geschäfts|serien|"
    r"commande|compte|facture|dossier|contrat|suivi|réservation|référence|adhérent|carte|passeport|colis|abonnement|"
    r"pedido|cuenta|factura|reserva|contrato|seguimiento|referencia|póliza|tarjeta|pasaporte|envío|suscripción|dni|nif|nie"
)
_NUMBER = r"number|numbers|no\.?|nr\.?|id|code|ref\.?|reference|#|-?nummern?|zeichen|n[°º]\.?|num(?:éro|ero)?\.?|número|núm\.?"
_CODE = r"((?=[A-Z0-9/-]{0,24}\d)[A-Z0-9](?:[A-Z0-9/-]|[ ](?=\d)){2,28}[A-Z0-9])(?!\w)"
_IS = r"[ \t]*+(?:(?:is|was|ist|lautet|war|est|es|are)\b)?+[ \t]*+[:#=]?+[ \t]*+#?[ \t]?"
MARKED = re.compile(
    rf"\b(?:{_THING})[ \t]*+(?:(?:{_NUMBER})|(?=[:#=]|[ \t]*+(?:is|was|ist|lautet|est|es)\b)){_IS}{_CODE}",
    re.IGNORECASE,
)
"""A label that says number, or that names one by a colon."""
NUMBER_OF = re.compile(
    rf"\b(?:n[°º]\.?|num(?:éro|ero)|número|núm\.?)[ \t]++(?:de[ \t]++|del[ \t]++|d[’'])?(?:la[ \t]++|mi[ \t]++|ma[ \t]++|mon[ \t]++)?"
    rf"(?:{_THING})(?:[ \t]++de[ \t]++(?:suivi|cliente?|commande|pedido))?{_IS}{_CODE}",
    re.IGNORECASE,
)
BARE = re.compile(rf"\b(?:{_THING})[ \t]{{1,2}}{_CODE}", re.IGNORECASE)
SERIES = re.compile(rf"\b(?i:{_THING})[ \t]{{1,2}}([A-Z]{{2,5}}[ -]\d{{2,}}(?:[ -]\d{{2,}}){{0,4}})(?!\w)")
"""Capitals and groups of digits behind what is numbered: "policy HLD 4471 902"."""
ENDING = re.compile(
    r"\b(?:ending|ends|endet|endend|terminant|termina(?:da)?)[ \t]+(?:(?:in|with|mit|auf|par|en)[ \t]+)?(\d{4})(?![\w%]|[.,]\d)|(?<![\w*])(?:[x•]{2,16}|[*]{4,16})[ -]?(\d{4})(?!\w)",
    re.IGNORECASE,
)
_FILED = re.compile(
    r"(?<![\w-])(?i:polic(?:y|ies)|polis(?:a|nummer|se)?|police|póliza|apólice|polizza|contract|contrat|contratto|contrato|vertrag|umowa|cust(?:omer)?|kund(?:en)?(?:nr|nummer)?|klant(?:nr|nummer)?|"
    r"client|cliente|klient|member(?:ship)?|mitglied(?:snr|snummer)?|file|dossier|akte|aktenzeichen|ref|case|claim|sinistr[eo]|siniestro|schadennr|schadenummer|szkod[ay]|pedido|encomenda|ordine|"
    r"bestelling|bestellung|commande|zam(?:ówienie|ówienia)?\.?|order|booking|reservation|acc(?:oun)?t|konto|compte|cuenta|conto|conta|pod|pdr|cups|mpan|mprn)"
    r"(?:[ ](?:de[ ]location|d[’']assurance|de[ ]seguro))?(?:[ ]?+(?:(?i:no|nr|number|numer|num|numéro|número|id|n[°º])\.?+|#)){0,2}+[ ]?+[:=(]?+[ ]?+"
    r"((?:[A-Z]{1,5}[ ](?=\d))?(?=[A-Z./-]{0,12}\d)[A-Z0-9]{1,24}+(?:[./-][A-Z0-9]{1,16}+){0,6}+(?:[ ]\d{2,6}(?!\w)){0,5}+)(?![\w%]|[.,]\d)"
    r"(?:(?:,|[ ](?:and|und|et|y|e|en|i))[ ]([A-Z]{1,5}[-/]\d[A-Z0-9/-]{3,20})(?!\w))?"
)
"""A reference behind what it is the reference of, with the separators that filing has: "File SL/2024/00317"."""
_DATED = re.compile(r"(?:19|20)\d\d(?:[-/.]\d{1,2}){0,2}|\d{1,2}(?:[-/.]\d{1,2}){0,1}[-/.](?:19|20)?\d\d|(?:19|20)\d\d")
_FEWEST_MARKED, _FEWEST_BARE = 4, 5
_DIGIT = re.compile(r"\d")


def find_references(text: str) -> list[tuple[int, int]]:
    """The spans of codes that a label says to be somebody's: "order number A-1234", "Kundennr. 12345", "numéro de commande : 99812"."""
    found = [m.span(1) for p in (MARKED, NUMBER_OF) for m in p.finditer(text) if _personal(m[1], _FEWEST_MARKED)]
    found += [m.span(1) for p in (BARE, SERIES) for m in p.finditer(text) if _personal(m[1], _FEWEST_BARE)]
    for match in _FILED.finditer(text):
        groups = [match.span(1), *([match.span(2)] if match[2] else [])]
        found += [(a, b) for a, b in groups if _personal(text[a:b], _FEWEST_BARE) and not _DATED.fullmatch(text[a:b])]
    return found + [m.span(m.lastindex or 0) for m in ENDING.finditer(text)]


def find_accounts(text: str) -> list[tuple[int, int]]:
    """The spans of all that has the form of an IBAN, whether or not its check digits are right: mistyped ones are as personal."""
    return [m.span() for m in IBAN.finditer(text) if len(_DIGIT.findall(m.group())) >= 11]


def _personal(code: str, fewest: int) -> bool:
    """True if a code has enough digits, or is long and mixed; "XR-500" and "24H2" are models and versions."""
    digits = len(_DIGIT.findall(code))
    return digits >= fewest or (digits >= 3 and sum(c.isalnum() for c in code) >= 8)
