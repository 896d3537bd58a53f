"""Question analysis for quoting: the parts of a question, the form of the answer, and the kind of value that each part wants.

Human agents type half sentences: "new soles on a mid WP, cost + how long without boots" asks two things. Cues are those of English, German
and French, as in `grounding.query.answer_kind`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from grounding.query.answer_kind import AnswerKind, answer_kind
from grounding.query.conversation import asks
from grounding.text import sentences, terms

Form = Literal["value", "steps", "list", "compare"]
"""What an answer looks like: a value or a statement, the steps of a procedure, several rows or items, things beside each other."""
MOST_PARTS = 5
"""Parts that are told apart; what is asked behind them belongs to the last."""

_STEPS = re.compile(
    r"\bhow (?:do|does|can|could|to|would|should|must|is|are)\b(?! (?:much|many|long|often|far|soon|big|heavy|old))|\bhow (?!soon|long|often|much|many|far|fast|well).{0,40}\bwork\b|\bsteps?\b|\bstep by step\b"
    r"|\b(?:walk|talk|guide|take) (?:me|him|her|them|us) (?:through|thru)\b|\b(?:procedure|process|instructions?|workflow|checklist|drill)\b"
    r"|\b(?:in )?(?:which|what) order\b|\border of\b|\bclicks?\b|\bstart to (?:end|finish)\b|\bwhat (?:do|does|must|should|can) (?:i|we|he|she|they|the \w+) (?:have to )?do\b"
    r"|\bwhat now\b|\bwhat(?:'s| is) the path\b|\bset(?:ting)? up\b|\bwie (?:kann|muss|geht|mache?|richte|soll)\b|\bschritte?\b|\bcomment\b|\bétapes?\b"
    r"|\b(?:right order|sequence)\b|\btell (?:him|her|them) to do\b|\breihenfolge\b|\bc[oó]mo (?:se|puedo|puede|hago|hace|debo|faço|faz|posso|devo)\b|\bpass?os\b"
    r"|\bcome (?:si|faccio|fa|posso|devo)\b|\bpassaggi\b|\bhoe (?:kan|moet|doe|stel|zet)\b|\bstappen\b|\bjak (?:mogę|można|należy|mam|się)\b|\bkroki\b",
    re.IGNORECASE,
)
_LIST = re.compile(
    r"\b(?:which|what)\s+(?!(?:does|do|did|is|was|has|had|would|can|could|should|must|may|will|if|about)\b)(?:\w+\s+){0,2}?(?!(?:days|hours|does|has|was|this|is|goes|comes|costs|takes|gets|needs|works|runs|fits|applies|counts|happens|holds|lasts|covers|means|says|opens|closes|starts|ends|plus)\b)\w{2,}[^s\W]s\b|(?<!price )(?<!waiting )(?<!mailing )\blist\b|\ball (?:the |our )?\w{2,}s\b|\bwhere can\b|\bplaces\b|\bwelche\w* \w+en\b|\bquel(?:le)?s\b",
    re.IGNORECASE,
)
_COMPARE = re.compile(
    r"\b(?:vs\.?|versus|compared?|comparison|differen(?:ce|ces|t)|unterschied\w*|différence|hesitates between|both|than the|better|cheaper|dearer|quicker|faster|lighter|heavier)\b|\b(?:between)\b.+\band\b"
    r"|\b(?:price|cost|fee|rate|time|term|notice|weight|size|speed|range|warranty|hours)s?\b.{0,60}(?<!insured )(?<!covered )(?<!protected )(?<!protection )\bagainst\b"
    r"|(?<!insured )(?<!covered )(?<!protected )(?<!protection )(?<!claim )(?<!complaint )(?<!insurance )\bagainst (?:(?:the|our) (?!law|rules|clock|wall|order|invoice)|[\w+-]+ ?[:,;])"
    r"|\b(?:each|either) (?:of (?:them|these|the two) )?(?:save|cost|take|get|weigh|last|hold|offer|give|come|have|need)s?\b"
    r"|\bwhich (?:one |of (?:them|these|those|the two) )?(?:is|has|costs|takes|weighs|lasts|holds|gets|comes) (?:the )?(?:more|less|fewer|(?!over|under|other|another|either|ever|never|after)\w+er)\b(?! than)",
    re.IGNORECASE,
)
_JOINT = re.compile(
    r"\?\s*(?:and|und|et)?\b|\s+(?:and|und|et)\s+(?!a (?:half|quarter)\b)|\s*[&+;]\s*|,\s*(?:and|btw|also)\b|,\s*(?=(?:what|how|when|where|who|is there|do you|can i|can we)\b)|\s+-\s+"
)
_MARK = re.compile(r"(?<!\S)\(?([1-9a-e])[.)]\s+", re.IGNORECASE)
"""What numbers the parts of a question."""
_AND = re.compile(r"^\W*(?:and|so|but|also|or|und|et)\s+", re.IGNORECASE)
_ASKING = re.compile(
    r"\b(?:who|whom|what|what's|when|where|which|why|how|can|could|do|does|is|are|may|must|will|until|till|was|wie|wann|wo|wer|welche\w*|kann|muss|darf|combien|comment|quand|où|quel\w*|"
    r"cost|costs|price|fee|charge|surcharge|rate|number|nr|address|hours|deadline|limit|cap|max|min|per|extra|total|colou?rs?|sizes?|weight)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Part:
    """One thing that a question asks: its words, and the kind of value that can answer it, None where it asks for no value."""

    text: str
    wants: AnswerKind | None


@dataclass(frozen=True, slots=True)
class Reading:
    """An analysed question. `text` is all that was said of it, also in the turns before; `parts` in order, at least one; `form` of the
    whole answer.
    """

    text: str
    parts: tuple[Part, ...]
    form: Form


def read(text: str, last: str = "") -> Reading:
    """Analyse a query into its parts and its form.

    `last`: the question as it was typed last, where the query says more than it: the parts are those of the question, and what a part
    leaves open stands in the rest.
    """
    plain = " ".join(last.split())
    goes_on = bool(plain) and plain in " ".join(text.split())
    asked = plain if goes_on else text
    texts = _numbered(asked) or _split(_asking(asked))
    form = form_of(plain) if goes_on else "value"
    whole = answer_kind(text) if len(texts) == 1 else None
    return Reading(
        text, tuple(Part(t, answer_kind(t) or whole) for t in texts), form if form != "value" else form_of(text)
    )


def form_of(question: str) -> Form:
    """Form of the answer that the question asks for: a comparison, steps, a list or a value."""
    if _COMPARE.search(question):
        return "compare"
    if _STEPS.search(question):
        return "steps"
    return "list" if _LIST.search(question) else "value"


def _numbered(question: str) -> tuple[str, ...]:
    """The parts of a question whose parts are numbered, 1) 2) or a) b), where each of them asks something; else empty."""
    marks = list(_MARK.finditer(question))
    labels = [m[1].lower() for m in marks]
    if not 1 < len(marks) <= MOST_PARTS or labels not in (list("12345"[: len(marks)]), list("abcde"[: len(marks)])):
        return ()
    ends = [*(m.start() for m in marks[1:]), len(question)]
    pieces = [question[m.end() : end].strip(" ,.?;") for m, end in zip(marks, ends, strict=True)]
    return tuple(pieces) if all(map(_asks, pieces)) else ()


def _asking(text: str) -> str:
    """The sentences that are questions, else those that ask something without being one, else all."""
    said = [s.text for s in sentences(text)]
    questions = [s for s in said if asks(_AND.sub("", s))]
    return " ".join(questions or [s for s in said if _asks(s)] or said)


def _split(question: str) -> tuple[str, ...]:
    """The parts of a question: pieces that each ask something and say what. A piece that does not belongs to the one before it."""
    pieces: list[str] = []
    at = 0
    for joint in [*_JOINT.finditer(question), None]:
        end = len(question) if joint is None else joint.start()
        piece = question[at:end].strip(" ,.?")
        at = end if joint is None else joint.end()
        if not piece:
            continue
        if pieces and (len(pieces) == MOST_PARTS or not (_asks(piece) and _asks(pieces[-1]))):
            pieces[-1] = f"{pieces[-1]} {piece}"
        else:
            pieces.append(piece)
    return tuple(pieces) if len(pieces) > 1 else (question.strip(),)


def _asks(piece: str) -> bool:
    return bool(_ASKING.search(piece)) and bool(terms(piece))
