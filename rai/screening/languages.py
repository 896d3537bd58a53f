"""Which language a text is in, and whether the screen's rules read it: a guess by script and function words.

Each language has a list of its commonest words. A word of the text counts for every language that has it, divided by how many have it, so
that "de" and "la" say little and "nicht" says all; letters that few languages write count a little. No model, no network: a
question takes some tens of microseconds, and no more than the first 2,000 characters are looked at.
"""

from __future__ import annotations

import re
from collections import Counter

READ = frozenset({"en"})
"""Languages that the screen's rules are written in."""
UNREAD = "the screen's rules do not read this language"
FEWEST = 1.0
"""The least a language must gather to be named: one word that it alone has, or two that two share."""
FEWEST_WORDS = 2
LEAD = 1.2
"""By what factor it must lead over the next."""
_LOOKED_AT = 2_000
_OTHER_SCRIPT = 0.4
_LETTER, _MOST_LETTERS = 0.4, 1.2

_WORDS: dict[str, frozenset[str]] = {code: frozenset(words.split()) for code, words in {
    "en": "the a an and of to is are was were you your i my me we our it its this that these those for with on in at by from as be been "
    "do does did not no or if how what when where which who why can could will would should have has had there their they but about please "
    "much many any all get out up into over than then so just don t m s re ve ll",
    "de": "der die das den dem des ein eine einen einem einer und oder aber ist sind war waren nicht kein keine ich du er sie wir ihr mein meine "
    "meinen meinem meiner dein deine ihre unser unsere wie was wann wo warum wer welche welcher kann können konnte muss will wollen soll "
    "sollte habe hat haben hatte wird werden wurde mit für von vom zu zum zur im auf aus bei nach über unter um an am wenn dass weil auch nur noch "
    "schon sehr mehr bitte es kostet lange viel gibt mich mir uns jemanden jemand alle alles man",
    "fr": "le la les l un une des du de et ou mais est sont était suis ai a avons avez ont je tu il elle nous vous ils mon ma mes votre vos notre "
    "ne pas plus que qui quoi quel quelle quels comment quand où pourquoi combien dans sur sous avec sans pour par chez entre au aux ce cette "
    "ces peux peut pouvez dois faut faire être avoir si très bien plaît merci bonjour c j d n qu quelqu puis quelque me se son sa ses y en",
    "es": "el la los las un una unos unas y o pero es son era está están soy estoy he ha han hay yo tú usted ustedes mi mis su sus nuestro de del al a "
    "en con sin por para sobre entre que qué quién cuál cómo cuándo cuánto cuánta cuesta dónde no sí más muy si como se me te lo le les este esta estos eso "
    "puedo puede pueden debo tengo tiene hacer ser gracias hola favor quiero porque cuando alguien todo todos",
    "it": "il lo la i gli le l un uno una e o ma è sono era sei ho ha abbiamo hanno io tu lei noi voi mio mia miei mie suo sua nostro di del della dei "
    "delle dello al alla ai nel nella dal dalla con senza per tra fra su sul che chi cosa come quando quanto quanta costa dove perché quale non sì più molto "
    "se si mi ti ci vi questo questa questi posso può possono devo fare essere avere grazie ciao anche qualcuno tutto tutti",
    "pt": "o a os as um uma uns umas e ou mas é são era está estão sou estou tenho tem têm há eu tu você vocês meu minha meus minhas seu sua nosso de do "
    "da dos das no na nos nas em com sem por para pelo pela sobre entre que quem qual como quando quanto custa onde porquê não sim mais muito se me te "
    "lhe isto isso este esta posso pode podem devo fazer ser ter obrigado olá quero alguém tudo todos ao à até já",
    "nl": "de het een en of maar is zijn was waren niet geen ik jij je hij zij ze wij we u mijn jouw uw ons onze hoe wat wanneer waar waarom wie welke "
    "kan kunnen kon moet moeten wil willen zal zou heb heeft hebben had wordt worden met voor van naar uit bij op aan in om te tot over onder als dat die "
    "dit deze ook nog al veel meer alstublieft er kost lang iemand mij hem haar alle alles",
    "pl": "i w z na nie się jest są to że jak co kiedy gdzie dlaczego czy czym mój moja moje mogę można do od po za dla przez ale lub jestem mam ma "
    "proszę kosztuje ile kto już tak tylko ten ta te",
    "sv": "och att det är som en ett på för med av till inte jag du vi min mitt mina hur vad när var varför kan ska har hade från om den de men eller kostar",
    "da": "og at det er som en et på for med af til ikke jeg du vi min mit mine hvordan hvad hvornår hvor hvorfor kan skal har havde fra om den de men eller koster",
    "no": "og at det er som en et på for med av til ikke jeg du vi min mitt mine hvordan hva når hvor hvorfor kan skal har hadde fra om den de men eller koster",
    "fi": "ja on ei se että mitä miten milloin missä miksi kuka minä minun sinä voin voiko voi olen ovat oli mutta tai jos kun maksaa paljonko",
    "cs": "a je v na se že jak co kdy kde proč jsem jsou ne to z do pro od po za ale nebo můj moje mohu můžu kolik stojí prosím",
    "tr": "ve bir bu için ile ne nasıl nerede neden mi mı mu mü değil var yok ben benim sen kadar çok daha ama veya olan zaman kaç",
    "ro": "și este sunt un o în la de cu pentru pe nu că cum ce când unde cât costă meu mea eu pot poate mai dar sau din care vă rog",
    "hu": "a az és egy hogy nem is van mi mit mikor hol miért hogyan mennyi kell lehet én az enyém ha vagy de csak még már",
}.items()}  # fmt: skip
_HAVE: dict[str, list[str]] = {}
for _code, _words in _WORDS.items():
    for _word in _words:
        _HAVE.setdefault(_word, []).append(_code)
_LETTERS = {
    "de": "ßäöü", "es": "ñ¿¡áíóú", "pt": "ãõâêçáó", "fr": "œèêàùçîé", "it": "ìòàèù", "pl": "łżźśńąęć", "sv": "åäö", "da": "øæå", "no": "øæå",
    "fi": "äö", "cs": "řůěščžý", "tr": "ğışçöü", "ro": "țșăâî", "hu": "őűáéö",
}  # fmt: skip
_WRITE = {
    letter: [code for code, own in _LETTERS.items() if letter in own] for letter in set("".join(_LETTERS.values()))
}
_SCRIPTS = {
    "ja": re.compile("[\u3040-\u30ff]"), "ko": re.compile("[\u1100-\u11ff\uac00-\ud7a3]"), "zh": re.compile("[\u4e00-\u9fff]"),
    "ru": re.compile("[\u0400-\u04ff]"), "el": re.compile("[\u0370-\u03ff]"), "he": re.compile("[\u0590-\u05ff]"),
    "ar": re.compile("[\u0600-\u06ff]"), "hi": re.compile("[\u0900-\u097f]"), "th": re.compile("[\u0e00-\u0e7f]"),
}  # fmt: skip
_WORD = re.compile(r"[^\W\d_]+")


def language(text: str) -> str:
    """The ISO 639-1 code of the language that `text` is most likely in, "" where it cannot be told (product names, a code).

    Of a script that several languages share, the one with most speakers is named.
    """
    text = text[:_LOOKED_AT]
    if not text.isascii() and (code := _by_script(text)):
        return code
    scores = _by_words(text)
    if not text.isascii():
        _add_letters(text, scores)
    if not scores:
        return ""
    best = max(scores, key=lambda code: scores[code])
    second = max((score for code, score in scores.items() if code != best), default=0.0)
    return best if scores[best] >= FEWEST and scores[best] >= LEAD * second else ""


def reads(text: str) -> bool:
    """True if the screen's rules read the language of `text`. What is in no language, such as a product's name, counts as read."""
    return language(text) in READ | {""}


def unread(text: str) -> str | None:
    """What a turn's notes should say of `text`, or None where the rules read it."""
    return None if reads(text) else f"{UNREAD} ({language(text)})"


def _by_words(text: str) -> dict[str, float]:
    """What each language gathers by its words; nothing for a language of which a single word occurs, as in a product's name."""
    counts = Counter(word.lower() for word in _WORD.findall(text))
    known = [
        (code, count / len(codes)) for word, count in counts.items() if (codes := _HAVE.get(word)) for code in codes
    ]
    scores: dict[str, float] = {}
    for code, weight in known:
        scores[code] = scores.get(code, 0.0) + weight
    words = Counter(code for code, _ in known)
    return {code: score for code, score in scores.items() if words[code] >= FEWEST_WORDS}


def _add_letters(text: str, scores: dict[str, float]) -> None:
    gathered: dict[str, float] = {}
    for letter in text.lower():
        for code in _WRITE.get(letter, ()):
            gathered[code] = min(gathered.get(code, 0.0) + _LETTER / len(_WRITE[letter]), _MOST_LETTERS)
    for code, score in gathered.items():
        scores[code] = scores.get(code, 0.0) + score


def _by_script(text: str) -> str:
    letters = sum(c.isalpha() for c in text)
    found = {code: len(pattern.findall(text)) for code, pattern in _SCRIPTS.items()}
    if sum(found.values()) < max(2.0, _OTHER_SCRIPT * letters):
        return ""
    # kana decide for Japanese, which is written with Chinese characters too
    return "ja" if found["ja"] else max(found, key=lambda code: found[code])
