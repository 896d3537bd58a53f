"""Sentences picked by their wording for the screen's classifier: those it should judge, and those it would misread.

In a document it should judge those that could speak to the model: commands, questions, and talk of answers and assistants. Plain statements, most of any document,
cannot, and are not classified. In a request it would misread those that ask whether something may be told: everyday work of customer service, in the
words of a request for somebody's data.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rai.screening.glosses import glossed

MOST = 64
"""Most sentences of a document that are classified: the first and the last half of those that could be orders."""
LEAST_WORDS = 4
"""Words from which talk of a machine may tell it something: "model: Pavo" in a row of a table does not."""
_LONGEST = 400
"""Most characters of one of them that are read."""
_END = re.compile(r"(?<=[.!?…])[\"'”’»«)\]*_]*\s+|\n+|\s*\|\s*|<!--|-->|\balt=|!\[|\]\(|[<>]")
_ASKED = re.compile(
    r"(?:^|[,:;\"'“(>\-–*]\s*)(?:please\s+|now\s+|also\s+|then\s+|instead\s+|always\s+|never\s+|just\s+|hey\s+)?(?:"
    r"add|adapt|adjust|answer|append|approve|ask|augment|begin|break|calculate|call|change|claim|classify|combine|compose|compute|convert|convince|"
    r"count|create|define|delete|describe|develop|disclose|display|do|don't|draft|e-?mail|encode|encourage|end|enhance|execute|explain|extend|fetch|"
    r"forget|format|forward|generate|give|group|ignore|include|insert|inform|integrate|introduce|invite|jumble|leak|list|make|mention|mask|misspell|"
    r"modify|name|omit|open|outline|output|override|persuade|post|praise|prepend|print|produce|promote|provide|put|rank|rate|rearrange|recommend|"
    r"refer|refuse|remove|render|repeat|replace|reply|report|respond|return|reveal|reverse|rewrite|run|say|scramble|send|share|show|skip|solve|sort|"
    r"spell|start|state|stop|substitute|suggest|summari[sz]e|swap|talk|tell|transfer|translate|treat|upload|urge|use|visit|warn|write|"
    r"what|what's|who|whom|whose|when|where|why|which|how|can you|could you|would you|will you|is|are|does|did)\b",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"\byour (?:\w+ )?(?:answer|response|reply|output|summary|message|tasks?|instructions?|rules|prompt|goal|role|guidelines)\b|"
    r"\b(?:assistant|chat ?bot|language model|copilot|summari[sz]er|GPT|LLM|A\.?I\.?)s?\b|\bsystem (?:prompt|message|note)|"
    r"\b(?:previous|prior|above|earlier|original|all) (?:instructions?|rules|prompt|context|text)\b|"
    r"\b(?:alle|bisherigen|vorherigen|deine|toutes les|tes|todas las|tus) (?:\w+ )?(?:anweisungen|regeln|instructions|consignes|instrucciones|reglas)\b|"
    r"\b(?:the|this) (?:user|conversation|chat)\b|\[/?INST|<\|",
    re.IGNORECASE,
)
_WHO = r"(?:i|we|one|agents?|staff|my team|our team|the agent|a colleague)"
_TELL = r"(?:tell|give|share|disclose|say|send|read(?: back| out)?|confirm|pass on|reveal|ask(?: for)?|hand over|discuss|talk|request|require|need|store|keep)"
_ASKS_PERMISSION = re.compile(
    rf"\b(?:may|must|should|are|am|is) (?:{_WHO})(?: even| also| legally)?(?: (?:allowed|permitted|supposed|obliged|entitled))? ?(?:to )?{_TELL}\b|"
    rf"\b(?:what|which|how much)(?: [\w'’-]+){{0,4}} (?:may|can|should|must|do|could) (?:i|we|one|agents?|staff)(?: legally| safely)? {_TELL}\b|"
    rf"\b(?:do|does) (?:our|the) (?:policy|rules|law|gdpr|terms)\b|\b(?:privacy|disclosure|data protection) (?:policy|rules?|law)\b|"
    r"\b(?:according to|under|by) (?:our )?(?:policy|gdpr|the law|data protection)\b",
    re.IGNORECASE,
)
_MACHINE = re.compile(
    r"\b(?:assistants?|advisers?|advisors?|(?:chat|voice|e-?mail)? ?bots?|chat ?bots?|robots?|co-?pilots?|a\.?i\.?s?|llms?|gpt|language|models?|machines?|"
    r"auto\w*|systems?|software|programs?|computers?|tools?|digital|virtual|electronic|conversational|chats?|summar\w*|digests?|overviews?|generat\w*|"
    r"answers?|answering|replies|reply\w*|respon\w*|readers?|reading|parsers?|parsing|crawlers?|index\w*|classifiers?|scrapers?|agents?|helpers?|engines?|"
    r"this (?:text|page|passage|paragraph|document|line|note|file)|when (?:asked|composing|drafting)|whoever|prompt\w*|secret\w*)\b",
    re.IGNORECASE,
)
_SPOKEN_OF = re.compile(
    r"\byour (?:\w+ )?(?:answer|response|reply|output|summary|message|task|instructions?|rules|prompt|goal|role)|\b(?:assistant|chat ?bot|"
    r"language model|copilot|summari[sz]er|GPT|LLM|A\.?I\.?)s?\b|\bsystem (?:prompt|message|note)|\binstructions?\b|\byou (?:must|are now|will now)\b|"
    r"\b(?:ignor|antwort|vergiss|vergesst|oubli|olvid|respond|ripet|dimentic|negeer)\w*|\[/?INST|<\|",
    re.IGNORECASE,
)


def addressed(text: str) -> list[str]:
    """The sentences of `text` that could be orders, at most `MOST`, each cut at 400 characters."""
    found = [s[:_LONGEST] for s in parts(text) if _could_order(glossed(s, text))]
    return found if len(found) <= MOST else found[: MOST // 2] + found[-MOST // 2 :]


def names_the_model(sentence: str) -> bool:
    """True if the sentence speaks of answers, instructions, assistants or users, as an order to the model mostly does.

    "Show all answers" is a button and "Create an image" a step of a manual: without such a word an order can hardly be told from one.
    """
    return bool(_NAMED.search(sentence))


def asks_permission(text: str) -> bool:
    """True if a text asks what an agent may tell or must ask for, and not for the data itself."""
    return bool(_ASKS_PERMISSION.search(text))


def _could_order(english: str) -> bool:
    return bool(
        english.endswith("?")
        or _ASKED.search(english)
        or _SPOKEN_OF.search(english)
        or (_MACHINE.search(english) and len(english.split()) >= LEAST_WORDS)
    )


def parts(text: str) -> Iterator[str]:
    """The sentences, lines, cells of tables, comments and captions of `text`, of eight characters or more."""
    for part in _END.split(text):
        if len(sentence := part.strip()) >= 8:
            yield sentence
