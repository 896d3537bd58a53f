"""What a label says to be somebody's: passwords and one-time codes, user names, ids of people, of their cars and devices, ages.

The label tells what a value is, so the value may have almost any form: "PIN 4921", "BSN is 1112.22.333", "reg AB12 CDE".
"""

from __future__ import annotations

import re

from rai.personal.known import Kind
from rai.personal.names import NOT_NAMES

_IS = r"[ \t]*+(?:(?:is|was|are|ist|war|lautet|est|es|era|è|é|to|jest)\b)?+[ \t]*+[:=#]?+[ \t]*+[\"'“„«]?+"
_FAR = r"(?:[ \t]++[^\W\d_]{1,14}){0,3}[ \t]*+[:=][ \t]*+"
"""A few words and a colon: "Kennzeichen des anderen: M-AB 1234"."""
_NO = r"(?:[ \t-]?(?:number|no\.?|nr\.?|num\.?|nummer|code|id|#|numéro|n[°º]|número|numero|nº))?"
_ID = r"((?=[^\n]{0,12}\d)[A-Z0-9](?:[./-]?[A-Z0-9]|[ ](?=[A-Z]{0,4}\d)|[ ](?=[A-Z](?!\w))){3,29})(?!\w)"
_PEOPLE = (
    r"ssn|social(?:[ ]security)?|itin|ni|nino|national[ ]insurance|national[ ]id(?:entity|entification)?|id[ ]card|identity[ ]card|passport|visa|green[ ]card|"
    r"steuer-?[ ]?id(?:entifikationsnummer|nr)?|steuernummer|idnr|id-?nr|sozialversicherung(?:snummer)?|rentenversicherung(?:snummer)?|sv-?nummer|"
    r"personalausweis|ausweis|reisepass|ahv|"
    r"(?:numéro[ ]de[ ])?sécu(?:rité[ ]sociale)?|nir|insee|carte[ ]d['’]identité|passeport|dni|nie|nif|cif|n\.i\.f\.|seguridad[ ]social|pasaporte|nuss|"
    r"codice[ ]fiscale|c\.f\.|carta[ ]d['’]identità|passaporto|pesel|nip|dow[oó]d(?:[ ]osobisty)?|paszport|bsn|burgerservicenummer|sofinummer|paspoort|"
    r"abn|acn|tfn|nric|fin|uen|sin|social[ ]insurance|mbi|npi|dea|hetu|henkilötunnus|rrn|tckn|t\.?c\.?[ ]kimlik|orgnr|nin|bvn|umid|sss|philhealth|gstin|voter[ ]id|epic|"
    r"pps(?:n)?|ird|codice[ ]destinatario|arc|hkid|my[ ]?kad|curp|rfc|cuil|cuit|dui|rut|cédula|alien[ ]registration|a-number|uscis|known[ ]traveler|ktn|redress|"
    r"cpf|nif|cartão[ ]de[ ]cidadão|passaporte|rijksregisternummer|personnummer|cpr|cnp|oib|egn|aadhaar|pan[ ]card|"
    r"ein|tin|tax(?:payer)?[ ]id|vat(?:[ ]id)?|vat[ ]reg|ust-?id(?:-?nr\.?)?|uid|siret|siren|tva|p\.?[ ]?iva|partita[ ]iva|btw|"
    r"nhs|mrn|medical[ ]record|health[ ](?:card|insurance)|medicare|medicaid|hospital|krankenversicherten?(?:nummer)?|krankenkassen?|versichertennummer|"
    r"carte[ ]vitale|tarjeta[ ]sanitaria|tessera[ ]sanitaria|"
    r"(?:driver['’]?s?|driving)[ ]licen[cs]e|dl|führerschein(?:nummer)?|permis(?:[ ]de[ ]conduire)?|(?:carnet|permiso)[ ]de[ ]conducir|patente|rijbewijs|"
    r"prawo[ ]jazdy|vin|chassis|mac(?:[ ]address)?|(?:ext|extension|durchwahl|poste)|fahrgestell(?:nummer)?|imei|meid|esn|iccid|imsi|sim|eid|udid|serial|s/n|device[ ]id|seriennummer|"
    r"account|acct|a/c|konto|sort[ ]code|routing|blz|bankleitzahl|clabe|bsb|iban|frequent[ ]flyer|miles|loyalty|badge|staff|student|matrikel(?:nummer)?|"
    r"fnr|fødselsnummer|fodselsnummer|personnr|frame|seriale|serienummer|seriennr\.?|rahmennummer|matricola|(?:numer|nr)[ ]seryjny|(?:n[°º]|numéro|número|numero)[ ]de[ ]s[ée]rie|(?-i:SN)|"
    r"employee|library[ ]card|membership|policy|claim|order|booking|invoice|contract|meter|mpan|mprn|zählernummer|z[aä]hler|supply"
)
_PLATE = (
    r"(?:reg(?:istration)?(?:[ ](?:plate|number|no\.?))?|(?:number|licen[cs]e|vehicle)[ ]plate|plates?(?:[ ]number)?|license[ ]tag|kennzeichen|nummernschild|"
    r"plaque(?:[ ]d['’]immatriculation)?|immatriculation|immatriculé[ea]?|matrícula|targa|kenteken|(?:numer[ ])?rejestracyjny|chapa)"
)
_IDS = (
    re.compile(rf"\b(?i:(?:{_PEOPLE}){_NO}(?![^\W\d_])(?:{_IS}|{_FAR})){_ID}"),
    re.compile(
        rf"\b(?i:{_PLATE}(?:{_IS}|{_FAR}))((?=[A-ZÄÖÜ \t-]{{0,8}}\d)(?=[\d -]{{0,8}}[A-ZÄÖÜ])[A-ZÄÖÜ0-9]{{1,7}}(?:[ -]{{1,2}}[A-ZÄÖÜ0-9]{{1,4}}){{0,3}})(?!\w)"
    ),
    re.compile(
        r"\b(?i:(?:booking|reservation|confirmation|flight|hotel|buchungs?|reservierungs?|réservation|reserva|prenotazione|pnr|record[ ]locator|localizador)"
        rf"(?:[ -]?(?:ref(?:erence)?|code|number|no\.?|nr\.?|nummer|id))?{_IS})((?=[A-Z]{{0,7}}\d)[A-Z0-9]{{5,8}})(?!\w)"
    ),
    re.compile(
        r"\b(?i:last[ ](?:four|4|three|3)(?:[ ]digits?)?(?:[ ]of(?:[ ][^\W\d_]{1,12}){1,4})?[ ,]*(?:is|are|:|=)?|letzten?[ ](?:vier|4)(?:[ ](?:ziffern|stellen))?"
        r"(?:[ ]sind|:)?|(?:les[ ])?(?:quatre|4)[ ]derniers[ ]chiffres(?:[ ]sont|:)?|(?:últimos|ultimos)[ ](?:cuatro|4)(?:[ ](?:dígitos|números))?(?:[ ]son|:)?)"
        r"[ \t]*+(\d{3,4})(?!\w)"
    ),
)
_OWN = (
    re.compile(
        r"\b(?i:car|auto|vehicle|van|lorry|wagen|fahrzeug|pkw|voiture|véhicule|coche|vehículo|macchina|veicolo|carro|viatura|samoch[oó]d|pojazd|rejestracja|nr[ ]rej\.?|plates?|"
        r"kennzeichen|plaque|targa|kenteken|matrícula|matricula|reg)[ ,:]{1,2}(?:is[ ]|ist[ ]|est[ ]|nr\.?[ ]|no\.?[ ])?"
        r"([A-Z]{2}\d{2}[ ]?[A-Z]{3}|[A-Z]{2}[- ]?\d{3}[- ]?[A-Z]{2}|[A-ZÄÖÜ]{1,3}-[A-ZÄÖÜ]{1,2}[ ]?\d{1,4}[EH]?|[A-Z]{2,3}[ ]?\d{4}[A-Z]|[A-Z]{2,3}[ ]\d{5}|\d{4}[ ]?[B-DF-HJ-NPR-TV-Z]{3}|"
        r"\d{2}-[A-Z]{2}-\d{2}|[A-Z]{2}-\d{2}-[A-Z]{2}|[A-Z]{1,2}-\d{3}-[A-Z]{1,2}|\d{1,2}-[A-Z]{2,3}-\d{1,2})(?![\w-])"
    ),
    re.compile(
        r"\"(?i:passport|id[ _]?card|identity[ _]?card|driving[ _]?licen[cs]e|licen[cs]e|visa|nationalid|national[ _]id)\"[ ]?,[ ]?\"(?i:number|no|nr|id|value)\"[ ]?:[ ]?\"([^\"\n]{4,40})\""
    ),
    re.compile(
        r"\b(?i:passport|reisepass|passeport|pasaporte|passaporto|paspoort|paszport|id[ ]card|ausweis|licen[cs]e)\b[^.\n,;]{1,40}[ ](?i:no|nr|number|nummer)\.?[ :]{1,2}((?=[A-Z0-9]{0,8}\d)[A-Z0-9]{6,12})(?!\w)"
    ),
)
"""Plates behind a word for a car, and the number of a document somewhere behind its name."""
_BIC = re.compile(
    r"\b(?i:bic|swift)(?i:[ /-]?(?:bic|code))?(?i:[ \t]*+(?:(?:is|ist|est|es)(?![A-Za-z])[ \t]*+)?[:=]?[ \t]*+)([A-Z]{6}[A-Z0-9]{2}(?:[A-Z0-9]{3})?)(?!\w)"
)
_CVV = re.compile(
    r"\b(?:cvv2?|cvc2?|cvn|csc|cid|(?:card[ ])?security[ ](?:code|number)|(?:karten)?prüf(?:ziffer|nummer)|cryptogramme|código[ ]de[ ]seguridad|"
    rf"codice[ ]di[ ]sicurezza){_NO}(?:[ \t]+on[ \t]+the[ \t]+back)?{_IS}(\d{{3,4}})(?![\w%]|[.,]\d)",
    re.IGNORECASE,
)
_EXPIRY = re.compile(
    r"\b(?:exp(?:\.|iry|ires?|iration)?(?:[ ]date)?|valid[ ](?:thru|through|until|to)|good[ ]thru|gültig[ ]bis|ablauf(?:datum)?|expire(?:[ ]le)?|"
    rf"caduc(?:a|idad)|scadenza|geldig[ ]tot){_IS}((?:0?[1-9]|1[0-2])[ ]?[/-][ ]?(?:20)?\d{{2}})(?![\w/-])",
    re.IGNORECASE,
)
_CARD_NEAR = re.compile(
    r"\b(?:card|karte|carte|tarjeta|carta|kaart|visa|mastercard|amex|cv[vc]2?)\b|\d{4}([ -]?)\d{4}\1\d{4}|kreditkarte|kartennummer",
    re.IGNORECASE,
)
_CODES = (
    re.compile(
        r"\b(?:(?:sim[ ]|telephone[ ]|banking[ ]|card[ ])?pin|puk|otp|tan|passcode|one[ -]?time[ -](?:code|pass(?:word|code)|pin)|"
        r"(?:verification|security|access|login|log-?in|sms|2fa|mfa|auth(?:entication|ori[sz]ation)?|confirmation|activation|backup|recovery|door|gate|entry|alarm|lock|safe)"
        r"[ -]?(?:code|pin)|(?:bestätigungs|sicherheits|sms-|zugangs|aktivierungs|freischalt|alarm|tür)[ -]?code|geheimzahl|"
        r"code[ ](?:de[ ]vérification|secret|d['’]accès|de[ ]confirmation|sms|pin)|código[ ](?:de[ ](?:verificación|acceso|confirmación)|pin|sms)|"
        rf"codice[ ](?:di[ ]verifica|pin|otp)){_NO}(?:{_IS}|{_FAR})(\d{{3,4}}[ -]\d{{3,4}}|(?=\w{{0,5}}\d)[A-Z]{{0,3}}-?\d{{3,10}})(?![\w%]|[.,]\d|:\d)",
        re.IGNORECASE,
    ),
    re.compile(
        r"\bcode[ ](?:that[ ]|which[ ])?(?:(?:you|they|it|i)[ ](?:just[ ])?(?:sent|texted|e?-?mailed|gave|messaged|got|received|was[ ]sent|was[ ]given)|in[ ]the[ ](?:text|sms|e?-?mail))"
        rf"(?:[ ](?:me|us|by[ ](?:text|sms|e?-?mail)))?[ ,]*{_IS}[ ]?(\d{{3,4}}[ -]\d{{3,4}}|\d{{4,8}})(?![\w%]|[.,]\d)",
        re.IGNORECASE,
    ),
)
_PASSWORD = re.compile(
    r"\b(?:pass ?word|passwd|pwd|passphrase|pass[ ]phrase|(?:wlan-?|wifi-?)?passwort|kennwort|mot[ ]de[ ]passe|mdp|contraseña|senha|wachtwoord|hasło|"
    r"(?:wi-?fi|network|security)[ ]key|memorable[ ](?:word|place|name)|safe[ ]word|security[ ]answer|(?:answer[ ]to[ ]my[ ])?security[ ]question|sicherheitsfrage|parolewort|api[ -]?key|secret[ ]key|access[ ]token)"
    r"(?:[ \t]++[^\W\d_]{1,12}){0,2}?([ \t]*+[:=]|[ \t]++(?:is|was|ist|war|lautet|est|es|era|è|é|jest)(?=[ \t]))[ \t]*+([\"'“„«`]?)(\S{3,80})",
    re.IGNORECASE,
)
_SOCIAL = r"instagram|insta|ig|telegram|twitter|snap(?:chat)?|tik[ ]?tok|discord|wechat|facebook|fb|mastodon|bluesky|threads|linkedin|youtube|twitch|skype|xing|signal|steam|psn|github|paypal|venmo|revtag"
_USER = (
    r"user ?names?|user[ -]?id|ssid|log-?in(?:[ ]name|[ ]id)?|screen[ ]name|nick ?name|gamertag|handle|benutzer(?:name|kennung)?|nutzername|anmeldename|kennung|"
    rf"nom[ ]d['’]utilisateur|identifiant|pseudo|(?:nombre[ ]de[ ])?usuario|nome[ ]utente|gebruikersnaam|nazwa[ ]użytkownika|{_SOCIAL}"
)
_USERS = (
    re.compile(
        rf"\b(?:{_USER})(?:[ ](?:name|handle|account|user|id))?([ \t]*+[:=]|[ \t]++(?:is|was|ist|est|es|è|é|jest)(?=[ \t]))[ \t]*+[\"'“„«]?@?([\w][\w.+-]{{1,38}}\w(?:\#\d{{4}}|(?-i:(?<=[a-z])[ ][A-Z][a-z]{{1,20}}(?!\w)))?)(?![\w@])",
        re.IGNORECASE,
    ),
)
_STRANGE = r"(?=[\w.-]{0,38}(?:\d\w{0,9}\d|_|\w\.\w)|svc-|adm-|usr-)(?=[\w.-]{0,30}[^\W\d_]{3})"
"""Two digits, a low line or a dot inside, and a few letters together: no word of a sentence."""
_USER_BARE = re.compile(
    rf"(?<![\w-])(?:{_USER}|user|account|konto|gebruiker|użytkownik|utilisateur|benutzer|gamer[ ]tag|nick|login)(?:[ ](?:name|handle|id))?[ :=]{{1,2}}[\"'“„«]?"
    rf"({_STRANGE}@?[^\W\d][\w.-]{{2,38}}\w)(?![\w@]|\.\w|://)",
    re.IGNORECASE,
)
_USER_ON = re.compile(
    rf"(?<![\w@./-])({_STRANGE}[^\W\d][\w.-]{{2,38}}\w)[ ](?:on|auf|sur|en|su|no|op|na)[ ](?:{_SOCIAL})\b",
    re.IGNORECASE,
)
_AT_USER = re.compile(r"(?<![\w@./])@(?:(?=\w{0,30}[\d_])[^\W_]|(?=[a-z]{1,20}[A-Z])|_)\w[\w.]{1,28}\w(?![\w@]|[.]\w)")
_FILE_NAME = re.compile(
    r"\.(?:json|ya?ml|html?|php|aspx?|pdf|docx?|xlsx?|csv|txt|log|exe|py|js|com|net|org|io|eu|de|uk|example)$|^v?\d|(?-i:[a-z]\.[A-Z])",
    re.IGNORECASE,
)
_MENTION = re.compile(
    rf"\b(?:{_SOCIAL}|dm|message|follow|handle|username|tag|x)\b[^\n@]{{0,30}}(?<![\w@])(@\w[\w.]{{1,28}}\w)(?![\w@])",
    re.IGNORECASE,
)
_AGE = re.compile(
    r"(?:\b(?i:i['’]?[ ]?a?m|(?:he|she|who|mother|father|mum|mom|dad|son|daughter|husband|wife|child|kid)(?:['’]s|[ ]is)|(?:ich[ ])?bin|alter[ ]?:?|"
    r"j['’]ai|âge[ ]?:?|tengo|edad[ ]?:?|ho|età[ ]?:?|ik[ ]ben|mam)[ \t]+|\b[A-ZÀ-ÖØ-Þ][^\W\d_]{1,30}[ \t]*,[ \t]*|\([ \t]*)"
    r"(\d{1,3}(?:[ -]?(?i:years?|yrs?|y)[ -/]?(?i:old|o)(?!\w)|[ ](?i:jahre?[ ]alt|jährig|ans|años|anni|anos|jaar(?:[ ]oud)?|lat)(?!\w)))"
)
_MY_AGE = re.compile(r"\b(?i:i['’]?m|i am)[ ]\d{2}(?=[ ]*(?:[,.;!?)](?!\d)|$)|[ ]and\b)")
_LAT_LON = re.compile(
    r"\b(?:lat(?:itude)?|lon(?:g(?:itude)?)?|breite(?:ngrad)?|länge(?:ngrad)?)[ :=.]{1,3}([+-]?\d{1,3}\.\d{2,10}°?)",
    re.IGNORECASE,
)
_AGE_LABEL = re.compile(
    r"(?i:\b(?:age|alter|edad|âge|età|leeftijd|wiek)[ ]?[:=][ ]*)(\d{1,3})(?![\w%:]|,?[ ]?\d|[.]\d|[ ]?(?i:years|days|months|weeks|hours|minutes|and|to|or|[-–+]))"
)
_NO_SECRET = NOT_NAMES | frozenset(
    """required reset forgotten forgot changed expired invalid valid needed missing protected protection manager field page link email wrong incorrect
    locked none empty unknown too short weak strong set case-sensitive stored kept still asked how why when what where which who correct right never
    always being rejected accepted working lost encrypted safe secret private public available taken already case sensitive hidden masked visible
    vergessen falsch ungültig abgelaufen gesperrt erforderlich oublié incorrecto olvidada obligatoire obligatorio the only possible optional tab
    resetting change changing min minimum max maximum at least n/a na yes no""".split()
)
_DIGIT = re.compile(r"\d")


def find_labelled(text: str) -> list[tuple[int, int, Kind]]:
    """The spans of what labels say to be somebody's, with their kinds, in no order, possibly overlapping."""
    found: list[tuple[int, int, Kind]] = [(*span, "SECRET") for span in _passwords(text)]
    found += [(*m.span(2), "ONLINE") for p in _USERS for m in p.finditer(text) if _names_user(m[1], m[2])]
    found += [(*m.span(1), "NUMBER") for m in _BIC.finditer(text)]
    found += [
        (*m.span(1), "ONLINE") for p in (_USER_BARE, _USER_ON) for m in p.finditer(text) if not _FILE_NAME.search(m[1])
    ]
    if "@" in text:
        found += [(*m.span(1), "ONLINE") for m in _MENTION.finditer(text)]
        found += [(*m.span(), "ONLINE") for m in _AT_USER.finditer(text)]
    if not _DIGIT.search(text):
        return found
    found += [(*m.span(1), "NUMBER") for p in _IDS[:1] for m in p.finditer(text) if len(_DIGIT.findall(m[1])) >= 4]
    found += [(*m.span(1), "NUMBER") for p in _OWN for m in p.finditer(text) if len(_DIGIT.findall(m[1])) >= 2]
    found += [(*m.span(1), "NUMBER") for p in _IDS[1:] for m in p.finditer(text) if len(_DIGIT.findall(m[1])) >= 1]
    found += [(*m.span(1), "SECRET") for p in (_CVV, *_CODES) for m in p.finditer(text)]
    if _CARD_NEAR.search(text):
        found += [(*m.span(1), "CARD") for m in _EXPIRY.finditer(text)]
    found += [(*m.span(1), "BIRTHDATE") for m in _AGE.finditer(text)]
    found += [(*m.span(1), "ADDRESS") for m in _LAT_LON.finditer(text)]
    # the label too: two digits alone would be found again in every other text
    return found + [(*m.span(), "BIRTHDATE") for p in (_AGE_LABEL, _MY_AGE) for m in p.finditer(text)]


def _passwords(text: str) -> list[tuple[int, int]]:
    found = []
    for match in _PASSWORD.finditer(text):
        value = (
            match[3].rstrip(".,;:?)»”\"'`")
            if not match[2]
            else match[3].partition({"“": "”", "„": "“", "«": "»"}.get(match[2], match[2]))[0]
        )
        strange = any(not c.isalpha() for c in value)
        if (
            len(value) >= 3
            and not value.startswith("//")
            and value.casefold() not in _NO_SECRET
            and (strange or match[2] or match[1].strip() in (":", "="))
        ):
            found.append((match.start(3), match.start(3) + len(value)))
    return found


def _names_user(link: str, value: str) -> bool:
    """True if what follows a label is a user name and no word of the sentence: after "is" it needs a digit, a dot or the like."""
    strange = any(not c.isalpha() for c in value)
    return value.casefold() not in _NO_SECRET and (strange or link.strip() in (":", "="))
