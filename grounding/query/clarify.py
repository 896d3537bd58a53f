"""Clarifying questions: when a request leaves open what it is about, the human agent is asked back instead of being answered about
something else.

Deterministic rules, each with its reason: a request that points at something which nobody has named, and passages that hold competing
answers for several named things of which the request names none. English first, with the German and French words for "this" and "the". They
are consulted only when the decision on the passages is not correct: a passage that answers is worth more than a question. What they find
and miss is measured in docs/retrieval.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from grounding.query.conversation import last_asked, names
from grounding.records import Grade, Passage, Query, Turn
from grounding.tables import table, word_set
from grounding.text import STOP_WORDS, caseless, terms

MOST_OPTIONS = 3
"""Titles offered at most; a list of ten is no question."""
LONGEST_TITLE = 80
NEAR = 0.8
"""Share of the best grade from which a passage competes with it."""

_PRONOUN = re.compile(
    r"\b(?:it|its|they|them|their|theirs|he|him|his|she|her|hers|this one|that one)\b",
    re.IGNORECASE,
)
_PERSON = re.compile(r"he|him|his|she|her|hers", re.IGNORECASE)
_EXPLETIVE = re.compile(
    r"\b(?:is|was|does|did|can|could|will|would|may|might|should|if|when|while|how long (?:does|will|did)|how much (?:does|will|did)) it\b"
    r"(?= (?:take|takes|cost|costs|possible|necessary|true|ok|okay|allowed|legal|illegal|normal|safe|required|mandatory|rain|snow|matter|be)\b)"
    r"|\bit(?:['’]s| is| was) (?:possible|necessary|true|ok|okay|allowed|legal|illegal|normal|safe|required|raining|snowing)\b",
    re.IGNORECASE,
)
_OWN_NOUN = re.compile(
    r"\b(?:a|an|the|my|our|your|his|their|some|any|each|every|ein\w*|der|die|das|mein\w*|unser\w*|le|la|les|un|une|mon|ma|mes|notre)[ \t]+[^\W\d_]{2,}",
    re.IGNORECASE,
)
_POINTING = re.compile(
    r"\b(?:this|these|those|an? (?:specific|certain|particular)|(?<=\bof )that|(?<=\bin )that|(?<=\babout )that|(?<=\bfor )that|diese[rsnm]?|cet(?:te)?|ces)[ \t]+(?:(?:type|kind|sort)s?[ \t]+of[ \t]+)?"
    r"(?=((?:[^\W\d_][\w'’-]*[ \t]*){1,4}))",
    re.IGNORECASE,
)
_DEFINITE = re.compile(
    r"\b(?:the|der|die|das|den|dem|le|la|les)[ \t]+(?=((?:[^\W\d_][\w'’-]*[ \t]*){1,4}))", re.IGNORECASE
)
_WORDS = table(__file__)
_NAMED_KINDS = word_set(_WORDS["named_kinds"])
"""Things that have a name of their own, of which there are many: "the" alone does not tell which. Products are left out: what a company
says of "the router" holds for all it sells more often than not (the sample's golden questions)."""
_NOT_THINGS = word_set(_WORDS["not_things"])
_VERBS = word_set(_WORDS["verbs"])
_ASKING: Mapping[str, Mapping[str, str]] = _WORDS["asking"]
"""By language what is asked back, and how its options end."""


@dataclass(frozen=True, slots=True)
class Clarification:
    """A question to ask back, with options: titles that this user may read. `why` names the rule and the words that met it."""

    question: str
    options: tuple[str, ...]
    why: str


def clarifying(
    turns: Sequence[Turn],
    query: Query,
    passages: Sequence[Passage],
    grades: Sequence[Grade] = (),
    *,
    product: str | None = None,
    language: str = "en",
) -> Clarification | None:
    """The question to ask back, or None when the request says what it is about.

    In the middle of a conversation "this library" is asked about only if titles offer several: turns say the same thing in many words.
    `turns` end with the request; `passages` in the order of their ranks, filtered for this user; `grades` of them, in any order. `product`:
    what the search is narrowed to; then it is known what is meant. `language`: to ask in, as ISO 639-1, English where there are no words. Raises InputError for a conversation without text.
    """
    if product is not None:
        return None
    asked = last_asked(turns)
    question, before = turns[asked].text, turns[:asked]
    open_ = _pointing(question, before, query) or _without_antecedent(question, before, query)
    if open_ is not None:
        thing, why = open_
        options = _titles(passages, thing)
        if options or not any(terms(turn.text) for turn in before):
            return _asking(thing, options, why, language)
    return competing(query, passages, grades, language)


def between(names: Sequence[str], language: str = "en") -> Clarification | None:
    """A choice between rows of a table that answer alike, by the names of what they are about; None where there are fewer than two."""
    options = tuple(dict.fromkeys(" ".join(name.split())[:LONGEST_TITLE] for name in names))
    why = f"{len(options)} rows of a table answer alike, and none of them is named"
    return _asking("one", options[:MOST_OPTIONS], why, language) if len(options) > 1 else None


def competing(
    query: Query, passages: Sequence[Passage], grades: Sequence[Grade], language: str = "en"
) -> Clarification | None:
    """A choice between titles that are alike but for a number or a model ("Wren X1", "Wren X2"), or None if there is none.

    Their passages answer about equally well, and the query says what they share and not what tells them apart. Safe to ask before a correct
    decision as well: each of them holds an answer, and the request does not say whose.
    """
    scores = {g.chunk_id: g.score for g in grades}
    least = NEAR * max(scores.values(), default=0.0)
    asked = frozenset(_words(query.text))
    families: dict[tuple[str, ...], list[Passage]] = {}
    for passage in passages:
        if scores.get(passage.chunk_id, 0.0) >= least > 0:
            families.setdefault(tuple(w for w in _words(passage.title) if not _tells(w)), []).append(passage)
    for shared, members in families.items():
        apart = {tuple(w for w in _words(p.title) if _tells(w)) for p in members} - {()}
        options = _options(members)
        named = any(asked & set(words) for words in apart) or any(map(_tells, asked))
        if len(apart) > 1 and options and not named and asked & frozenset(shared):
            return _asking("one", options, f"{len(apart)} titles answer alike, and none of them is named", language)
    return None


def _pointing(question: str, before: Sequence[Turn], query: Query) -> tuple[str, str] | None:
    """The thing that "this library" or "the actor" refers to, if no turn and no name of the request says which."""
    said = {t for turn in before for t in terms(turn.text)} | set(terms(" ".join(query.entities)))
    for form in (_POINTING, _DEFINITE):
        for match in form.finditer(question):
            run = _noun(match.group(1))
            head = run[-1] if run else ""
            if not _is_thing(head) or (form is _DEFINITE and caseless(head).removesuffix("'s") not in _NAMED_KINDS):
                continue
            ahead = question[: match.start()]
            if set(terms(head)) & (said | set(terms(ahead))) or names(ahead if form is _POINTING else question):
                continue
            return " ".join(run), f"“{match.group().split()[0]} {' '.join(run)}” points at something that no turn names"
    return None


def _noun(run: str) -> list[str]:
    """Words up to the noun that a determiner belongs to: what comes before a verb, an adverb or a stop word."""
    out: list[str] = []
    for word in run.split():
        plain = caseless(word)
        if plain in STOP_WORDS or plain in _VERBS or (out and plain.endswith(("ed", "ly", "ing"))):
            break
        out.append(re.sub(r"['’]s?$", "", word))
        if out[-1] != word:  # "the actor's approach" is about an actor
            break
    return out


def _is_thing(head: str) -> bool:
    return bool(terms(head)) and caseless(head) not in _NOT_THINGS and not head.isdigit()


def _without_antecedent(question: str, before: Sequence[Turn], query: Query) -> tuple[str, str] | None:
    """The pronoun of a request that nothing was said before, and that names nothing itself."""
    if any(terms(turn.text) for turn in before) or query.entities or names(question):
        return None
    empty = [m.span() for m in _EXPLETIVE.finditer(question)]
    for match in _PRONOUN.finditer(question):
        if any(start <= match.start() < end for start, end in empty):
            continue
        if _OWN_NOUN.search(question[: match.start()]) or len(terms(question[: match.start()])) > 1:
            return None
        return match.group(), f"“{match.group()}” stands for something that no turn names"
    return None


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+(?:[.'][^\W_]+)*", caseless(text))


def _tells(word: str) -> bool:
    """True for a word that distinguishes models, seasons and versions: one with a digit, or a single letter."""
    return any(c.isdigit() for c in word) or (len(word) == 1 and word not in STOP_WORDS)


def _titles(passages: Sequence[Passage], thing: str) -> tuple[str, ...]:
    """Different titles that speak of such a thing, best rank first; none if fewer than two do, for one alone would be a suggestion."""
    head = set(terms(thing.rsplit(maxsplit=1)[-1]))
    return _options(p for p in passages if head & set(terms(p.title)))


def _options(passages: Iterable[Passage]) -> tuple[str, ...]:
    """Titles that may be offered in a customer's matter: of the knowledge base, not internal, without an injected instruction."""
    shown = {
        caseless(p.title): " ".join(p.title.split())
        for p in passages
        if p.origin == "kb" and not p.internal and not p.screened
    }
    titles = [title for title in shown.values() if 0 < len(title) <= LONGEST_TITLE]
    return tuple(titles[:MOST_OPTIONS]) if len(titles) > 1 else ()


def _asking(thing: str, options: Sequence[str], why: str, language: str) -> Clarification:
    said = _ASKING.get(language) or _ASKING["en"]
    form = "who" if _PERSON.fullmatch(thing) else "what" if _PRONOUN.fullmatch(thing) else "which"
    question = said[form].format(thing=thing)
    return Clarification(f"{question}{_listed(options, said)}{said['end']}", tuple(options), why)


def question_alone(question: str, options: Sequence[str]) -> str:
    """`Which one do you mean?` of a question that goes on with its options; where they stand beside it, once is enough."""
    for said in _ASKING.values():
        head, colon, rest = question.partition(_listed(options, said) + said["end"])
        if options and colon and not rest:
            return head + said["end"]
    return question


def _listed(options: Sequence[str], said: Mapping[str, str]) -> str:
    return f": {', '.join(options)} {said['or']}" if options else ""
