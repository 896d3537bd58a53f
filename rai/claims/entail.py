"""Statements: how far one sentence of a source says the same, by words alone.

entailed: the sentence stands in a source after folding dashes, quotes, case, spacing and citation marks; or all its
content words stand in one sentence or row in the same order, with the same negation and the same hedges (only, unless,
at least), and that sentence has at most half as many words again.
contradicted: all content words in order in a sentence at most a quarter longer, but negated on one side only.
Paraphrase is beyond words: such a statement is `unchecked`, never entailed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from grounding.text import body_start, caseless, sentences, terms
from rai.claims.sources import Prepared, Unit, caseless_field
from rai.records import EvidenceSpan

_CITATION = re.compile(r"\s?(?:\[[0-9]{1,3}(?:, ?[0-9]{1,3})*\]|【[0-9]{1,3}】)")
_OPENING = re.compile(
    r"^(?:(?:yes|no|sure|certainly|of course|absolutely|great|okay|ok|sorry|i['’]?a?m (?:so |very )?sorry(?: but)?|unfortunately|"
    r"thanks|thank you|good news)[,.!;:]+\s*(?:but )?|(?:yes|sorry|unfortunately|no(?= (?:it|you|they|we|there|the|this|that|i)\b))\s+){1,3}",
    re.IGNORECASE,
)
_NEGATION = re.compile(r"\b(?:not|no|never|none|nor|neither|cannot|without|unable|[a-z]+n['’]t)\b", re.IGNORECASE)
_HEDGE = re.compile(
    r"\b(?:only|unless|except|if|until|may|might|must|always|never|all|every|some|at least|at most|up to|before|after|than)\b",
    re.IGNORECASE,
)
_SPACE = re.compile(r"\s+")
_PLEASANT = re.compile(
    r"^(?:hi|hello|hey|dear|good (?:morning|afternoon|evening|day)|thanks|thank you|you['’]re welcome|you are welcome|"
    r"no problem|my pleasure|i apologi[sz]e|sorry|please let|let me know|please feel|feel free|happy to|glad to|"
    r"(?:i|we)(?:['’]d| would) be (?:happy|glad)|(?:i|we)['’]m (?:happy|glad|here)|(?:i|we) hope|hope|have a|enjoy|"
    r"best regards|kind regards|regards|sincerely|best wishes)\b",
    re.IGNORECASE,
)

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


@dataclass(frozen=True, slots=True)
class Support:
    """How a source supports a statement. `coverage` in [0, 1]: content words of the statement in the best sentence."""

    status: str
    coverage: float
    evidence: tuple[EvidenceSpan, ...]
    why: str


def substance(sentence: str) -> bool:
    """True if a sentence claims something: no question, greeting, lead-in, offer of help, bare yes or admission of not knowing."""
    words = _plain(sentence)
    if words.endswith(":") and not any(c.isdigit() for c in words):
        return False
    if is_question(words) or not terms(words) or _ABSTAINS.match(words):
        return False
    return not (_PLEASANT.match(words) and len(_content(words)) <= 4)


def is_question(sentence: str) -> bool:
    """True if a sentence asks; one that tells first and asks at its end ("The fee is $5, is there more?") tells."""
    words = _plain(sentence)
    return words.endswith("?") and bool(_QUESTION.match(words))


def judge(sentence: str, sources: Sequence[Prepared]) -> Support:
    """The best support that any one sentence or row of `sources` gives `sentence`."""
    plain = _plain(sentence)
    verbatim = _verbatim(plain, sources)
    if verbatim:
        return Support("entailed", 1.0, (verbatim,), f"Stands word for word in {verbatim.source}.")
    mine = _content(plain)
    if not mine:
        return Support("unchecked", 0.0, (), "Has no words that a source could confirm.")
    found = [_compare(plain, mine, prepared, unit) for prepared in sources for unit in prepared.units]
    decided = [s for s in found if s.status == "entailed"] or [s for s in found if s.status == "contradicted"]
    if decided:
        return min(decided, key=lambda s: (s.evidence[0].source, s.evidence[0].field, s.evidence[0].start))
    coverage = max((s.coverage for s in found), default=0.0)
    return Support(
        "unchecked",
        coverage,
        (),
        f"{coverage:.0%} of its words stand in one sentence of a source; words alone cannot decide.",
    )


def anywhere(sentence: str, sources: Sequence[Prepared]) -> float:
    """Share of a statement's content words that stand anywhere in the sources or their titles, in [0, 1]."""
    mine = set(_content(_plain(sentence)))
    theirs = {t for p in sources for u in p.units for t in _unit_content(_unit_text(p, u))}
    return len(mine & theirs) / len(mine) if mine else 0.0


def told_start(sentence: str) -> int:
    """Offset at which a sentence begins to tell, after a list marker and an opening such as "No," or "Sorry, but"."""
    begin = body_start(sentence)
    opening = _OPENING.match(sentence[begin:])
    return begin + (opening.end() if opening else 0)


def _plain(sentence: str) -> str:
    words = _CITATION.sub("", sentence).strip()
    return words[told_start(words) :]


def _verbatim(plain: str, sources: Sequence[Prepared]) -> EvidenceSpan | None:
    pieces = [re.escape(piece) for piece in caseless(plain).rstrip(".!").split()]
    if not pieces:
        return None
    pattern = re.compile(r"(?<!\w)" + r"\s+".join(pieces) + r"(?!\w)")
    hits = []
    for prepared in sources:
        match = pattern.search(caseless_field(prepared.source.text))
        if match and _whole(prepared.source.text, match.start(), match.end()):
            hits.append(
                EvidenceSpan(prepared.source.id, "text", *match.span(), prepared.source.text[slice(*match.span())])
            )
    return min(hits, key=lambda h: (h.source, h.start)) if hits else None


def _whole(text: str, start: int, end: int) -> bool:
    """A part of a sentence may say the opposite of the whole ("It is free" of "It is free if …")."""
    begins = {s.start for s in sentences(text)}
    opening = text[max(0, start - 40) : start]
    after = text[end : end + 1]
    at_start = (
        start in begins or re.search(r"(?:^|\n)\s*(?:[-*•]|\d{1,3}[.)]|#{1,6})\s*$|[\"“„'(|:]\s*$", opening) is not None
    )
    at_start = at_start or re.search(r"(?:^|[\s.])(?:yes|no),\s*$", opening, re.IGNORECASE) is not None
    return at_start and (not after or after in '.!?\n"”|;)' or not text[end:].strip())


def _compare(plain: str, mine: tuple[str, ...], prepared: Prepared, unit: Unit) -> Support:
    text = _unit_text(prepared, unit)
    theirs = _unit_content(text)
    within = set(theirs) | (set(terms(prepared.source.title)) if unit.field == "text" else set())
    coverage = sum(term in within for term in mine) / len(mine)
    if unit.field != "text" or not _in_order(mine, theirs) or text.rstrip().endswith("?"):
        return Support("unchecked", coverage, (), "")
    span = EvidenceSpan(prepared.source.id, "text", unit.start, unit.end, text)
    same_sense = _negations(plain) % 2 == _negations(_plain(text)) % 2
    # a sentence that says much more may take back what this one says ("free" of "free for members of the club")
    if same_sense and _hedges(plain) == _hedges(text) and len(theirs) <= len(mine) * 1.5:
        return Support("entailed", 1.0, (span,), f"All its words stand in this order in one sentence of {span.source}.")
    # only near-equal sentences contradict: a longer one may negate something else
    if not same_sense and len(mine) >= 2 and len(theirs) <= len(mine) * 1.25:
        return Support("contradicted", coverage, (span,), f"{span.source} says the opposite in the same words.")
    return Support("unchecked", coverage, (), "")


def _unit_text(prepared: Prepared, unit: Unit) -> str:
    text = prepared.source.text if unit.field == "text" else prepared.source.title
    return text[unit.start : unit.end]


@lru_cache(maxsize=16384)
def _unit_content(text: str) -> tuple[str, ...]:
    return _content(_plain(text))


def _content(text: str) -> tuple[str, ...]:
    return tuple(terms(_NEGATION.sub(" ", _OPENING.sub("", text))))


def _in_order(mine: tuple[str, ...], theirs: tuple[str, ...]) -> bool:
    rest = iter(theirs)
    return all(term in rest for term in mine)


def _negations(text: str) -> int:
    return len(_NEGATION.findall(text))


def _hedges(text: str) -> list[str]:
    return sorted(h.lower() for h in _HEDGE.findall(text))
