"""Names of people, told by the words around them: labels, greetings, introductions, titles and signatures of four languages.

No list of first names decides: what is not introduced is not known to be a name. What is introduced is then found
anywhere (`rai.personal.known`).
"""

from __future__ import annotations

import re

from grounding.text import STOP_WORDS

_WORD = r"[A-ZÀ-ÖØ-Þ][^\W\d_]*(?:[’'-][^\W\d_]+){0,3}\.?"
_PARTICLE = r"(?:van|von|de|der|den|del|della|di|da|dos|du|la|le|zu|zur|bin|al|y|e)"
_MORE = rf"(?:[ \t]+(?:{_PARTICLE}[ \t]+){{0,2}}(?:d[’'])?{_WORD})"
_NAME = rf"{_WORD}{_MORE}{{0,3}}"
_TWO = rf"{_WORD}{_MORE}{{1,3}}"
_LOWER = r"[^\W\d_]{2,20}"
_END = r"(?=[ \t]*(?:[,.!?:;()\n—–|-]|$))"
_ENTRY = r"(?=[ \t]*(?:[,;()\n|–-]|$))"
_ON = r"(?=[ \t]*(?:[,.!?;)\n—–|-]|$)|[ \t]+(?:and|from|calling|writing|here|speaking|again|with|und|aus|et|de|y)\b)"
_TITLE = (
    r"(?:(?:Mr|Mrs|Ms|Miss|Mx|Dr|Prof|Herrn?|Frau|Mme|Mlle|Monsieur|Madame|Mademoiselle|Sra?|Srta|Se[ñn]ora?|Do[nñ]a?)"
    r"\.?[ \t]+(?:(?:Dr|Prof)\.?[ \t]+){0,2})"
)
_GREETING = (
    r"(?:Hi|Hello|Hey|Dear|Good[ \t](?:morning|afternoon|evening)|Welcome|Hallo|Guten[ \t](?:Tag|Morgen|Abend)|Moin|Servus|Lieber?|"
    r"Sehr[ \t]geehrter?|Bonjour|Bonsoir|Salut|Ch(?:er|ère)|Hola|Buenos[ \t]d[ií]as|Buenas[ \t](?:tardes|noches)|"
    r"Estimad[oa]|Querid[oa])"
)
_THANKS = r"(?:Thanks|Thank[ \t]you|Danke|Vielen[ \t]Dank|Merci|Gracias|Sorry|Bye|Goodbye)"
_SIGNED = (
    r"(?:(?:(?:best|kind|warm|many)[ \t]+){0,2}(?:regards|wishes|thanks)|(?:yours[ \t]+)?(?:sincerely|truly|faithfully)|cheers|best|thanks|"
    r"thank[ \t]you|(?:mit[ \t]+)?(?:freundlichen?|vielen?|liebe[nr]?|beste[nr]?|schönen?)[ \t]+gr(?:ü|ue)(?:ß|ss)en?|lg|mfg|vg|gruß|danke|"
    r"cordialement|bien[ \t]+(?:à[ \t]+vous|cordialement)|merci|(?:un[ \t]+)?(?:cordial(?:es)?[ \t]+)?saludos?|atentamente|gracias)"
)
_LABEL = (
    r"(?:(?:(?:full|first|last|middle|maiden|customer'?s?|caller'?s?|client'?s?|account|card|holder'?s?)[ \t]+)?name|surname|"
    r"customer|client|caller|contact(?:[ \t]+person)?|account[ \t]+(?:holder|owner)|card[ \t]?holder|policy[ \t]?holder|recipient|addressee|"
    r"passenger|guest|patient|member|buyer|subscriber|"
    r"(?:vor|nach|familien|kunden)?name|kunde|kundin|anrufer(?:in)?|ansprechpartner(?:in)?|kontakt|konto(?:inhaber|nutzer)(?:in)?|"
    r"karteninhaber(?:in)?|empfänger(?:in)?|mandant(?:in)?|"
    r"nom(?:[ \t]+de[ \t]+famille|[ \t]+complet)?|prénom|cliente?|titulaire|destinataire|interlocut(?:eur|rice)|"
    r"nombre(?:[ \t]+completo)?|apellidos?|titular|destinatari[oa]|contacto)"
)
CUES = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?i:\b(?:my|his|her|the)[ \t]+(?:(?:full|first|last|customer'?s?)[ \t]+)?name(?:'s|[ \t]+is|:)[ \t]+)({_NAME})",
        rf"(?im:(?:^|[\n;,|(•*–-])[ \t]*{_LABEL}[ \t]*[:=][ \t]*)(?:{_TITLE})?(?:({_TWO}){_END}|({_NAME}){_ENTRY})",
        rf"\b(?:customer|client|caller|[Kk]undin|[Kk]unde|cliente)(?:[ \t]*+,)?[ \t]++({_TWO})(?=[ \t,.;)]|$)",
        rf"\b(?i:{_GREETING})[ \t]*+[,!.]?[ \t]*+[Tt]his[ \t]++is[ \t]+({_NAME}){_ON}",
        rf"\b[Tt]his[ \t]+is[ \t]+({_TWO}){_ON}",
        rf"\b[Tt]his[ \t]+is[ \t]+({_NAME})(?=[ \t]+(?:speaking|calling|here|writing|again)\b)",
        rf"\b(?:[Ii][ \t]+am|[Ii][’']m)[ \t]+({_NAME}){_ON}",
        rf"\b(?i:ich[ \t]+hei(?:ß|ss)e|mein[ \t]+name[ \t]+(?:ist|lautet)|hier[ \t]+(?:spricht|schreibt))[ \t]+({_NAME})",
        rf"\b(?i:ich[ \t]+bin|hier[ \t]+ist)[ \t]+(?:(?:die|der)[ \t]+)?({_TWO}){_ON}",
        rf"\b(?i:je[ \t]+m[’']appelle|mon[ \t]+nom[ \t]+est)[ \t]+({_NAME})",
        rf"\b(?i:je[ \t]+suis|ici)[ \t]+({_TWO}){_ON}",
        rf"\b(?i:me[ \t]+llamo|mi[ \t]+nombre[ \t]+es|le[ \t]+habla)[ \t]+({_NAME})",
        rf"\b(?i:soy)[ \t]+({_NAME}){_ON}",
        rf"\b(?i:{_GREETING}|{_THANKS})[ \t,]+(?:{_TITLE})?({_NAME}){_END}",
        rf"\b{_TITLE}({_NAME})",
        rf"\bM\.[ \t]+({_NAME})",
        rf"(?:^|\n)[ \t]*(?i:{_SIGNED})[ \t]*+[,.!]?[ \t]*+\n\s*+({_NAME})",
        rf"(?i:{_SIGNED})[ \t]*[,!][ \t]*({_NAME})[ \t.]*$",
        rf"(?i:\b(?:on[ \t]+behalf[ \t]+of|signed(?:[ \t]+by)?)[ \t:]+)({_NAME}){_END}",
    )
)
_MY_NAME_IS = (
    r"my[ \t]+name(?:'s|[ \t]+is)|mein[ \t]+name[ \t]+ist|je[ \t]+m[’']appelle|me[ \t]+llamo|mi[ \t]+nombre[ \t]+es"
)
# what people type without capitals, where the words before leave no doubt
LOWER_CUES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b(?:{_MY_NAME_IS})[ \t]+({_LOWER}(?:[ \t]+{_LOWER})?){_ON}",
        rf"(?:^|[\n;,|(])[ \t]*(?:(?:customer|client|contact|caller|full|kunden)[ \t]*)?name[ \t]*[:=][ \t]*({_LOWER}(?:[ \t]+{_LOWER})?){_ENTRY}",
        rf"(?:^|\n)[ \t]*(?:hi|hello|hey|dear|hallo|bonjour|hola)[ \t]+({_LOWER})(?=[ \t]*[,!])",
    )
)
NOT_NAMES = STOP_WORDS | frozenset(
    """
    there team all everyone everybody again support agent assistant bot copilot sir madam customer customers client clients guys folks just not sorry
    having trying using still unable looking very happy glad afraid sure new interested calling writing good hello hi hey advance please
    monday tuesday wednesday thursday friday saturday sunday january february march april june july august september october november
    december today tomorrow yes no ok okay thanks thank regards best unknown none anonymous user users service help question issue problem refund
    english german french spanish american british indian chinese european misspelled spelled misspelt spelt wrong incorrect missing changed
    different hidden blank empty mr mrs ms miss dr dear great perfect fine ready back right here home world internet wifi email mail order
    account basic premium standard gold silver business enterprise private admin administrator manager everything nothing someone anyone sales
    wait wow oh ah well because since also got have has will would should could may might am an let lets need want now then yesterday one two
    team-mates colleague colleagues friend friends mate buddy ma'am gentlemen ladies
    zusammen team leute kunde kundin kunden herr frau herren damen support hallo guten tag morgen abend danke dank bitte gruß grüße ja nein ihr
    ihre ihnen ich sie wir mein meine der die das ein eine und oder nicht nur leider auch immer noch neu neue privat montag dienstag mittwoch
    donnerstag freitag samstag sonntag alle liebe lieber sehr geehrte geehrter rechnung bestellung nutzer nutzerin mitglied student studentin
    bonjour bonsoir salut merci madame monsieur mesdames messieurs tous toutes équipe client cliente oui non je vous nous mon ma mes le la les un une
    lundi mardi mercredi jeudi vendredi samedi dimanche beaucoup avance
    hola buenos buenas días tardes noches gracias señor señora señores cliente equipo todos todas sí no yo usted el los las una mi mis muy
    lunes martes miércoles jueves viernes sábado domingo nuevo nueva
    """.split()
)
PARTICLES = frozenset(_PARTICLE.removeprefix("(?:").removesuffix(")").split("|"))
_PART = re.compile(r"[^\W\d_]+(?:[’'-][^\W\d_]+){0,3}")


def find_names(text: str) -> list[tuple[int, int]]:
    """The spans of names in `text` that the words around them introduce, in no order, possibly overlapping."""
    found = [span for cue in CUES for m in cue.finditer(text) if (span := _span(m, text))]
    lower = [m.span(1) for cue in LOWER_CUES for m in cue.finditer(text) if _all_names(m[1])]
    return found + lower


def _span(match: re.Match[str], text: str) -> tuple[int, int] | None:
    """The span of the name that a cue introduces, without words behind it that are no name; None if its first word is none, or all are particles ("Ms E 1")."""
    start, end = match.span(match.lastindex or 0)
    words = list(_PART.finditer(text, start, end))
    if not words or words[0].group().casefold() in NOT_NAMES:
        return None
    kept = [words[0]]
    for word in words[1:]:
        if word.group().casefold() in NOT_NAMES - PARTICLES:
            break
        kept.append(word)
    while kept and kept[-1].group().casefold() in PARTICLES:
        kept.pop()
    if not kept:
        return None
    last = kept[-1]
    dotted = last.end() < end and text[last.end()] == "." and len(last.group()) == 1
    return start, last.end() + dotted


def _all_names(words: str) -> bool:
    return all(word.casefold() not in NOT_NAMES for word in words.split())
