"""Sentences before they are compared: whether one claims something, asks or is a courtesy, where it begins to tell, its content words."""

from __future__ import annotations

import re
from functools import lru_cache

from grounding.text import body_start, terms

_CITATION = re.compile(r"\s?(?:\[[0-9]{1,3}(?:, ?[0-9]{1,3})*\]|【[0-9]{1,3}】)")
OPENING = re.compile(
    r"^(?:(?:yes|no|sure|certainly|of course|absolutely|great|okay|ok|sorry|i['’]?a?m (?:so |very )?sorry(?: but)?|unfortunately|"
    r"thanks|thank you|(?:good and bad|good|great|bad) news|congratulations|congrats|glückwunsch|herzlichen glückwunsch|félicitations|enhorabuena|complimenti|parabéns|gefeliciteerd|gratulacje|(?:great|good) question|here you (?:go|are)|"
    r"gerne?|klar|natürlich|danke|vielen dank|leider nein|avec plaisir|bien sûr|de rien|merci|claro|por supuesto|con gusto|gracias|certo|volentieri|di niente|grazie|"
    r"com prazer|obrigad[oa]|graag(?: gedaan)?|natuurlijk|bedankt|oczywiście|proszę bardzo|dziękuj\w+)[,.!;:]+\s*(?:but )?|(?:yes|sorry|unfortunately|no(?= (?:it|you|they|we|there|the|this|that|i)\b))\s+){1,3}",
    re.IGNORECASE,
)
_PLEASANT = re.compile(
    r"^(?:hi|hello|hey|dear|good (?:morning|afternoon|evening|day)|thanks|thank you|you['’]re welcome|you are welcome|"
    r"no problem|my pleasure|i apologi[sz]e|sorry|please let|let me know|please feel|feel free|happy to|glad to|"
    r"(?:i|we)(?:['’]d| would) be (?:happy|glad)|(?:i|we)['’]m (?:happy|glad|here)|(?:i|we) hope|hope|have a|enjoy|"
    r"best regards|kind regards|regards|sincerely|best wishes)\b",
    re.IGNORECASE,
)
_SYMPATHY = re.compile(
    r"^(?:(?:i am|i['’]m|we are|we['’]re) )?(?:so |very |really )?sorry (?:to (?:hear|learn|read)|(?:about|for) (?:that|this|the|your)|you(?:['’]re| are| had| have)\b(?! to\b))",
    re.IGNORECASE,
)
_LEADS_IN = re.compile(r"here(?:['’]s| is| are)\b", re.IGNORECASE)
_FEW_WORDS = 4
"""Most words of a courtesy, or of a question without a verb in front: "Running late?"."""
_ABSTAINS = re.compile(
    r"^(?:the (?:provided|given|available) (?:information|sources?|context|documents?) (?:is|are|do|does) not\b|i (?:do not|don['’]t) know|"
    r"i (?:could|can)(?: ?not|n['’]t) (?:find|answer|help|confirm)|based on the (?:provided|available) (?:information|sources?), i can(?:not|['’]t))",
    re.IGNORECASE,
)
_QUESTION = re.compile(
    r"^(?:(?:so|and|but|also|or),? )?(?:would|will|shall|should|could|can|may|might|do (?:you|they|we|i)|does|did (?:you|they) (?!know)|is|are|was|were|have|"
    r"has|what|which|when|where|who|how|why|anything|any|need|want|like)\b(?! you know)",
    re.IGNORECASE,
)
NEGATION = re.compile(r"\b(?:not|no|never|none|nor|neither|cannot|without|unable|[a-z]+n['’]t)\b", re.IGNORECASE)


def substance(sentence: str) -> bool:
    """True if a sentence claims something: it is no question, greeting, lead-in, offer of help, bare yes or admission of not knowing."""
    words = plain_words(sentence)
    if _SYMPATHY.match(_CITATION.sub("", sentence).strip()) and not any(c.isdigit() for c in words):
        return False
    if words.endswith(":") and (not any(c.isdigit() for c in words) or _LEADS_IN.match(words)):
        return False
    if is_question(words) or not terms(words) or _ABSTAINS.match(words):
        return False
    return not (_PLEASANT.match(words) and len(content_terms(words)) <= _FEW_WORDS)


@lru_cache(maxsize=4096)
def is_question(sentence: str) -> bool:
    """True if a sentence asks; one that tells first and asks at its end ("The fee is $5, is there more?") tells."""
    words = plain_words(sentence)
    return words.endswith("?") and (bool(_QUESTION.match(words)) or _is_short(words))


def _is_short(words: str) -> bool:
    return len(words.split()) <= _FEW_WORDS and not any(c.isdigit() for c in words)


def told_start(sentence: str) -> int:
    """The offset at which a sentence begins to tell, after a list marker and an opening such as "No," or "Sorry, but"."""
    begin = body_start(sentence)
    opening = OPENING.match(sentence[begin:])
    return begin + (opening.end() if opening else 0)


@lru_cache(maxsize=4096)
def plain_words(sentence: str) -> str:
    """A sentence without citation marks, list marker and opening."""
    words = _CITATION.sub("", sentence).strip()
    return words[told_start(words) :]


@lru_cache(maxsize=8192)
def content_terms(text: str) -> tuple[str, ...]:
    """The content words of a text as they are compared (`grounding.text.terms`), its opening and negations left out."""
    return tuple(terms(NEGATION.sub(" ", OPENING.sub("", text))))
