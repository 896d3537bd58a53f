"""Names of people, told by the words around them: labels, greetings, introductions, titles and signatures of eight languages.

Here no list decides; names by a list: `rai.personal.listed`, names in other scripts: `rai.personal.scripts`. What is introduced is then
found anywhere (`rai.personal.known`).
"""

from __future__ import annotations

import re

from grounding.text import STOP_WORDS

_WORD = r"[A-ZÀ-ÖØ-ÞĀ-ſ][^\W\d_]*(?:[’'-][^\W\d_]+){0,3}\.?"
_PARTICLE = r"(?:van|von|de|der|den|del|della|di|da|das|do|dos|du|la|le|zu|zur|zum|ter|ten|op|bin|ibn|al|el|y|e)"
_MORE = rf"(?:[ \t]+(?:{_PARTICLE}[ \t]+){{0,2}}(?:d[’'])?{_WORD})"
_NAME = rf"{_WORD}{_MORE}{{0,3}}"
_TWO = rf"{_WORD}{_MORE}{{1,3}}"
_LOWER = r"[^\W\d_]{2,20}"
_END = r"(?=[ \t]*(?:[,.!?:;()\n—–|-]|$))"
_ENTRY = r"(?=[ \t]*(?:[,;()\n|–-]|$))"
_ON = r"(?=[ \t]*(?:[,.!?;)\n—–|-]|$)|[ \t]+(?:and|from|calling|writing|here|speaking|again|with|und|aus|et|de|y|e|en|i|z|uit)\b)"
TITLE = (
    r"(?:(?:Mr|Mrs|Ms|Miss|Mx|Dr|Prof|Herrn?|Frau|Mme|Mlle|Monsieur|Madame|Mademoiselle|Sra?|Srta|Se[ñn]ora?|Do[nñ]a?|"
    r"Rev|Capt|Sgt|Hr|Sig(?:\.ra|\.na|nora?|\.)?|Dott(?:\.ssa)?|Senhora?|Dhr|Mevr(?:ouw)?|Meneer|Mevr)"
    r"\.?[ \t]+(?:(?:Dr|Prof)\.?[ \t]+){0,2})"
)
GREETING = (
    r"(?:Hi|Hello|Hey|Dear|Good[ \t](?:morning|afternoon|evening)|Welcome|Hallo|Guten[ \t](?:Tag|Morgen|Abend)|Moin|Servus|Lieber?|"
    r"Sehr[ \t]geehrter?|Bonjour|Bonsoir|Salut|Ch(?:er|ère)|Hola|Buenos[ \t]d[ií]as|Buenas[ \t](?:tardes|noches)|"
    r"Estimad[oa]|Querid[oa]|Buongiorno|Buonasera|Salve|Ciao|Gentile|Ol[áa]|Bom[ \t]dia|Boa[ \t](?:tarde|noite)|Car[oa]|Prezad[oa]|"
    r"Goede(?:morgen|middag|navond)|Beste|Geachte|Dag|Dzień[ \t]dobry|Cześć|Witam|Szanown[ya])"
)
"""How people are greeted, and their titles, in eight languages: patterns, the title with what stands behind it. In a title case tells, in a greeting it does not."""
_THANKS = r"(?:Thanks|Thank[ \t]you|Danke|Vielen[ \t]Dank|Merci|Gracias|Grazie|Obrigad[oa]|Bedankt|Dank[ \t]je|Dziękuję|Sorry|Bye|Goodbye)"
SIGNED = (
    r"(?:(?:(?:best|kind|warm|many)[ \t]+){0,2}(?:regards|wishes|thanks)|(?:yours[ \t]+)?(?:sincerely|truly|faithfully)|cheers|best|thanks|"
    r"thank[ \t]you|(?:mit[ \t]+)?(?:freundlichen?|vielen?|liebe[nr]?|beste[nr]?|schönen?)[ \t]+gr(?:ü|ue)(?:ß|ss)en?|lg|mfg|vg|gruß|danke|"
    r"cordialement|bien[ \t]+(?:à[ \t]+vous|cordialement)|merci|(?:un[ \t]+)?(?:cordial(?:es)?[ \t]+)?saludos?|atentamente|gracias|"
    r"(?:cordiali|distinti)[ \t]+saluti|cordialmente|grazie|(?:com[ \t]+os[ \t]+melhores[ \t]+)?cumprimentos|atenciosamente|obrigad[oa]|"
    r"(?:met[ \t]+)?vriendelijke[ \t]+groet(?:en)?|groet(?:jes|en)?|mvg|(?:z[ \t]+)?poważaniem|pozdrawiam|pozdrowienia|sent[ \t]+from[ \t]+my[ \t]+\w{1,12}[ \t]+by)"
)
_LABEL = (
    r"(?:(?:(?:full|first|last|middle|maiden|customer'?s?|caller'?s?|client'?s?|account|card|holder'?s?|patient'?s?|guest'?s?|passenger'?s?|tenant'?s?|driver'?s?|"
    r"employee'?s?|member'?s?|contact|recipient'?s?|user'?s?|legal)[ \t]+)?name|surname|"
    r"customer|client|caller|contact(?:[ \t]+person)?|account[ \t]+(?:holder|owner)|card[ \t]?holder|policy[ \t]?holder|recipient|addressee|"
    r"passenger|guest|patient|member|buyer|subscriber|"
    r"(?:vor|nach|familien|kunden)?name|kunde|kundin|anrufer(?:in)?|ansprechpartner(?:in)?|kontakt|konto(?:inhaber|nutzer)(?:in)?|"
    r"karteninhaber(?:in)?|empfänger(?:in)?|mandant(?:in)?|"
    r"nom(?:[ \t]+de[ \t]+famille|[ \t]+complet)?|prénom|cliente?|titulaire|destinataire|interlocut(?:eur|rice)|"
    r"nombre(?:[ \t]+completo)?|apellidos?|titular|destinatari[oa]|contacto|"
    r"nome(?:[ \t]+completo)?|cognome|intestatari[oa]|sobrenome|apelido|utente|naam|voornaam|achternaam|klant|contactpersoon|"
    r"imię(?:[ \t]+i[ \t]+nazwisko)?|nazwisko|klient(?:ka)?|attn|attention|c/o|z\.[ \t]?hd\.|beneficiary|payee|payer|sender|insured|claimant|tenant|"
    r"driver|next[ \t]+of[ \t]+kin|emergency[ \t]+contact)"
)
_KIN = (
    r"(?:husband|wife|partner|spouse|fiancée?|boyfriend|girlfriend|son|daughter|mother|father|mum|mom|dad|brother|sister|grandmother|grandfather|"
    r"uncle|aunt|cousin|nephew|niece|colleague|boss|neighbour|neighbor|flatmate|roommate|landlord|tenant|carer|assistant)"
)
CUES = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?i:\b(?:my|his|her|their|the)[ \t]+(?:(?:full|first|last|maiden|middle|legal|new|old|[^\W\d_]{{2,14}}['’]?s?)[ \t]+){{0,2}}name(?:['’]s|[ \t]+is|[ \t]+was|:)[ \t]+)({_NAME})",
        rf"(?im:(?:^|[\n;,|(•*–-])[ \t]*{_LABEL}[ \t]*[:=][ \t]*)(?:{TITLE})?(?:({_TWO}){_END}|({_NAME}){_ENTRY})",
        rf"\b(?:customer|client|caller|[Kk]undin|[Kk]unde|cliente)(?:[ \t]*+,)?[ \t]++({_TWO})(?=[ \t,.;)]|$)",
        rf"\b(?i:{GREETING})[ \t]*+[,!.]?[ \t]*+[Tt]his[ \t]++is[ \t]+({_NAME}){_ON}",
        rf"\b[Tt]his[ \t]+is[ \t]+({_TWO}){_ON}",
        rf"\b[Tt]his[ \t]+is[ \t]+({_NAME})(?=[ \t]+(?:speaking|calling|here|writing|again)\b)",
        rf"\b(?:[Ii][ \t]+am|[Ii][’']m)[ \t]+({_NAME}){_ON}",
        rf"\b(?i:ich[ \t]+hei(?:ß|ss)e|mein[ \t]+name[ \t]+(?:ist|lautet)|hier[ \t]+(?:spricht|schreibt))[ \t]+({_NAME})",
        rf"\b(?i:ich[ \t]+bin|hier[ \t]+ist)[ \t]+(?:(?:die|der)[ \t]+)?({_TWO}){_ON}",
        rf"\b(?i:je[ \t]+m[’']appelle|mon[ \t]+nom[ \t]+est)[ \t]+({_NAME})",
        rf"\b(?i:je[ \t]+suis|ici)[ \t]+({_TWO}){_ON}",
        rf"\b(?i:me[ \t]+llamo|mi[ \t]+nombre[ \t]+es|le[ \t]+habla)[ \t]+({_NAME})",
        rf"\b(?i:soy)[ \t]+({_NAME}){_ON}",
        rf"\b(?i:{GREETING}|{_THANKS})[ \t,]+(?:{TITLE})?({_NAME}){_END}",
        rf"\b{TITLE}({_NAME})",
        rf"\bM\.[ \t]+({_NAME})",
        rf"\bPani[ \t]+({_NAME})",
        (
            rf"\b(?i:(?:you[ \t]+can[ \t]+|please[ \t]+|everyone[ \t]+|people[ \t]+|just[ \t]+)call[ \t]+me|goes[ \t]+by|spelled|speaking[ \t]+(?:to|with)|talking[ \t]+to|"
            rf"spoke[ \t]+(?:to|with))[ \t]+({_NAME}){_ON}"
        ),
        (
            rf"\b(?i:(?:booked|registered|listed|filed|held|reserved|ordered)[ \t]+(?:under|to|for)|(?:under|in)[ \t]+(?:the|my)[ \t]+name(?:[ \t]+of)?|"
            rf"(?:account|card|policy)[ \t-]?(?:holder|owner)(?:[ \t]+is|[ \t]*,)?|made[ \t]+out[ \t]+to|auf[ \t]+den[ \t]+namen|au[ \t]+nom[ \t]+de|a[ \t]+nombre[ \t]+de|"
            rf"a[ \t]+nome[ \t]+di|op[ \t]+naam[ \t]+van|na[ \t]+nazwisko)[ \t:]+(?:{TITLE})?({_NAME}){_ON}"
        ),
        rf"\b(?i:customer|client|caller|user|kunde|kundin|cliente?|agent|advisor|berater(?:in)?)[ \t]*\([ \t]*({_NAME})[ \t]*\)",
        rf"(?:^|\n)[ \t]*(?i:from|to|cc|von|an|de|à|para|da|van|aan|od)[ \t]*:[ \t]*\"?({_NAME})\"?[ \t]*(?=<[^>\n]{{1,80}}@|\[mailto)",
        rf"(?:^|\n)[ \t]*(?i:from|von|de|da|van|od)[ \t]*:[ \t]*({_TWO})[ \t]*\n[ \t]*(?i:sent|date|to|gesendet|datum|an|envoyé|à|enviado|para|subject|betreff)[ \t]*:",
        rf"(?:^|\n)[ \t]*(?:[–—~]|x{{1,3}})[ \t]*({_NAME})[ \t]*$",
        rf"(?:^|[\n.!?])[ \t]*(?i:regards|best[ \t]+regards|kind[ \t]+regards|sincerely|cheers|mfg|lg|vg|cordialement|saludos|viele[ \t]+grüße|liebe[ \t]+grüße)[ \t]+({_NAME})[ \t.]*$",
        r"\b(?i:spelled|spelt|spell[ \t]+it|buchstabiert|s['’]épelle|that['’]s|it['’]s)[ \t:,]*((?:[A-Z][-–. ]){2,20}[A-Z])(?!\w)",
        rf"\b(?i:(?:my|our)[ \t]+{_KIN})(?:[ \t]*,)?[ \t]+({_NAME})",
        (
            rf"\b(?i:mein[ \t]+(?:mann|sohn|vater|bruder|kollege|chef|partner)|meine[ \t]+(?:tochter|mutter|schwester|kollegin|partnerin)|mon[ \t]+(?:mari|fils|père|frère)|"
            rf"ma[ \t]+(?:femme|fille|mère|sœur)|mi[ \t]+(?:marido|mujer|esposa|esposo|hijo|hija|madre|padre|hermano|hermana)|mio[ \t]+(?:marito|figlio|padre)|"
            rf"mia[ \t]+(?:moglie|figlia|madre))(?:[ \t]*,)?[ \t]+({_NAME})"
        ),
        rf"\b(?i:{GREETING})[ \t,.!]+({_NAME})(?:…|\.{{3}})?[ \t]*,?[ \t]+(?i:here|speaking|calling|writing|hier|ici|aquí|qui|tutaj)\b",
        rf"(?:^|\n|(?<=[.!?:][ \t]))[ \t]*({_NAME})(?:…|\.{{3}})?[ \t]+(?i:here)(?=[ \t]*(?:[,;–—-]|$)|[ \t]+(?:again|from|calling|with)\b)",
        (
            rf"\b(?i:mi[ \t]+chiamo|il[ \t]+mio[ \t]+nome[ \t]+è|parla|(?:o[ \t]+)?meu[ \t]+nome[ \t]+é|(?:eu[ \t]+)?(?:me[ \t]+chamo|chamo-me)|mijn[ \t]+naam[ \t]+is|ik[ \t]+heet|"
            rf"u[ \t]+spreekt[ \t]+met|nazywam[ \t]+się|mam[ \t]+na[ \t]+imię)[ \t]+({_NAME})"
        ),
        rf"\b(?i:sono|ik[ \t]+ben|(?:eu[ \t]+)?sou(?:[ \t]+[oa])?|jestem|z[ \t]tej[ \t]strony)[ \t]+({_TWO}){_ON}",
        rf"(?:^|\n)[ \t]*(?i:{SIGNED})[ \t]*+[,.!]?[ \t]*+\n\s*+({_NAME})",
        rf"(?i:{SIGNED})[ \t]*[,!][ \t]*({_NAME})[ \t.]*$",
        rf"(?i:\b(?:on[ \t]+behalf[ \t]+of|signed(?:[ \t]+by)?)[ \t:]+)({_NAME}){_END}",
    )
)
_MY_NAME_IS = (
    r"my[ \t]+name(?:['’]?s|[ \t]+is)|mein[ \t]+name[ \t]+ist|ich[ \t]+heiße|je[ \t]+m[’']appelle|me[ \t]+llamo|mi[ \t]+nombre[ \t]+es|mi[ \t]+chiamo|"
    r"mijn[ \t]+naam[ \t]+is|nazywam[ \t]+się|meu[ \t]+nome[ \t]+é"
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
LOWER_INTRODUCTIONS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:^|\n|\b(?:hi|hello|hey)[ \t]*[,.!]?[ \t]*)this[ \t]+is[ \t]+({_LOWER}[ \t]+{_LOWER})(?=[ \t]*(?:[,.!\n]|$)|[ \t]+(?:here|calling|writing|again|from)\b)",
        rf"(?:^|\n|\b(?:hi|hello|hey)[ \t]*[,.!]?[ \t]*)this[ \t]+is[ \t]+({_LOWER})(?=[ \t]+(?:here|calling|writing|speaking)\b)",
    )
)
_NOT_THIS_IS = frozenset(
    """urgent really very quite regarding concerning important ridiculous unacceptable related about actually kind sort terrible awful annoying
    frustrating bad good great nice cool fun crazy insane weird strange absurd taking getting driving making becoming what how where why when pretty
    absolutely totally completely beyond super extremely incredibly simply basically almost truly a an the my your our his her their its speaking calling writing again here from with""".split()
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
    team-mates colleague colleagues kollege kollegen kollegin kolleginnen colegas colleghi collega collegae koledzy collègues friend friends mate buddy ma'am gentlemen ladies
    zusammen team leute kunde kundin kunden herr frau herren damen support hallo guten tag morgen abend danke dank bitte gruß grüße ja nein ihr
    ihre ihnen ich sie wir mein meine der die das ein eine und oder nicht nur leider auch immer noch neu neue privat montag dienstag mittwoch
    donnerstag freitag samstag sonntag alle liebe lieber sehr geehrte geehrter rechnung bestellung nutzer nutzerin mitglied student studentin
    bonjour bonsoir salut merci madame monsieur mesdames messieurs tous toutes équipe client cliente oui non je vous nous mon ma mes le la les un une
    lundi mardi mercredi jeudi vendredi samedi dimanche beaucoup avance
    hola buenos buenas días tardes noches gracias señor señora señores cliente equipo todos todas sí no yo usted el los las una mi mis muy
    lunes martes miércoles jueves viernes sábado domingo nuevo nueva
    i'm i’m it's we're they're he's she's that's what's i've
    click tap press look see go come sign log start stop enter check find stay wait apply register visit anyone nobody nothing somebody first second
    buongiorno buonasera grazie signore signora signori tutti assistenza cliente olá obrigado obrigada senhor senhora bom dia boa tarde noite equipe
    goedemorgen goedemiddag goedenavond dag geachte beste meneer mevrouw iedereen klantenservice dank dzień dobry cześć proszę dziękuję pan pani państwo
    """.split()
)
PARTICLES = frozenset(_PARTICLE.removeprefix("(?:").removesuffix(")").split("|"))
_PART = re.compile(r"[^\W\d_]+(?:[’'-][^\W\d_]+){0,3}")


def find_names(text: str) -> list[tuple[int, int]]:
    """The spans of names in `text` that the words around them introduce, in no order, possibly overlapping."""
    found = [span for cue in CUES for m in cue.finditer(text) if (span := _span(m, text))]
    lower = [m.span(1) for cue in LOWER_CUES for m in cue.finditer(text) if _all_names(m[1])]
    found += [m.span(1) for cue in LOWER_INTRODUCTIONS for m in cue.finditer(text) if _is_introduced(m[1])]
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


def _is_introduced(words: str) -> bool:
    return _all_names(words) and not _NOT_THIS_IS & frozenset(words.casefold().split())


def _all_names(words: str) -> bool:
    return all(word.casefold() not in NOT_NAMES for word in words.split())
