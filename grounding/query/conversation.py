"""Search query from a conversation, by extractive summarization: rules for which sentences and names of it the search needs.

The last question is always kept, whole. Of what was said before names are added, not sentences: more turns hurt a question that names its
subject (measured on MTRAG-UN), and one that says "it" is lost without the name (measured on DSTC11).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from grounding.errors import InputError
from grounding.records import Query, Sentence, Turn
from grounding.tables import table, word_set
from grounding.text import body_start, sentences, terms

MAX_LAST = 4
"""Sentences kept of the last turn; Azure's extractive summarization keeps 3 by default, 1 to 20."""
RECENT_TURNS, NEAR_TURNS = 8, 4
"""Turns before the question in which a name is looked for: one that the knowledge base holds, and any."""
HANGS_AT = 3
"""Terms that a question with a pronoun may have and still hang on a name."""

_LEANS = re.compile(
    r"\b(it|its|that|this|these|those|they|them|their|(?<!is )(?<!are )(?<!was )there(?! (?:is|are|was|a|an|any)\b)|he|she|him|her|one|ones|same|other|another|either|both|the first|the second|again|instead|also|too)\b"
    r"|^\s*(and|but|or|so|then|what about|how about|what if|and if)\b",
    re.IGNORECASE,
)
_AWAY = re.compile(
    r"\b(?:another (?:thing|question|topic|matter)|(?:some|any)thing else|(?:different|new) (?:question|topic|matter|thing|customer|client|caller)|(?<!the )(?<!and )other (?:question|topic|matter|thing|customer|client|caller)|"
    r"change of (?:topic|subject)|change the (?:topic|subject)|forget (?:about )?(?:it|that|this|the|my)|never ?mind|leave that aside|"
    r"by the way|on another note|unrelated|switching (?:topics|subjects)|next question)\b",
    re.IGNORECASE,
)
_PRONOUN = re.compile(r"\b(?:it|its|they|them|their|theirs|he|him|his|she|her|hers)\b", re.IGNORECASE)
_NAME = re.compile(r"[A-Z][\w'’-]*(?:[ -](?:[A-Z][\w'’-]*|\d[\w.-]*))*")
_MODEL = re.compile(
    r"\b(?!(?:the|and|for|with|can|has|does|der|die|das|den|dem|und|von|vom|zum|zur|für|les|des|pour|los|las|del|para|een|het|voor|met)\b)"
    r"[a-z]{3,}[ -][a-z]{1,2}\d{1,3}\b"
)
"""A model in lower case, as people type it: "wren x2"."""
_WORDS = table(__file__)
_NOT_NAMES = word_set(_WORDS["not_names"])


def without_words(text: str, excluded: Sequence[str]) -> str:
    """`text` without these words, whole and whatever their case (requirement 0-04), with single spaces."""
    words = sorted({word.strip() for word in excluded if word.strip()}, key=len, reverse=True)
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, words))})(?!\w)", re.IGNORECASE)
    while words and pattern.search(text):  # taking one away can bring another together
        text = " ".join(pattern.sub(" ", text).split())
    return " ".join(text.split())


def without_excluded(query: Query, excluded: Sequence[str]) -> Query:
    """`query` without the excluded words, whole and whatever their case; its sentences stay as they were said."""
    kept = tuple(entity for entity in query.entities if without_words(entity, excluded) == " ".join(entity.split()))
    return replace(query, text=without_words(query.text, excluded), entities=kept)


def instead(text: str, meant: Mapping[str, str]) -> str:
    """`text` with words replaced, old to new."""
    if not meant:
        return text
    longest = sorted(meant, key=len, reverse=True)
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest))})(?!\w)")
    return pattern.sub(lambda m: meant[m.group()], text)


def with_words(query: Query, meant: Mapping[str, str]) -> Query:
    """`query` with words replaced (`meant`: old to new); it then has no sentences, for none stands so in the conversation."""
    if not meant:
        return query
    return replace(query, text=instead(query.text, meant), asked=instead(query.asked, meant), sentences=())


def last_asked(turns: Sequence[Turn]) -> int:
    """Index of the turn that asks the question: the last one of a customer or user, else the last with text. Raises InputError."""
    with_text = [i for i, t in enumerate(turns) if t.text.strip()]
    if not with_text:
        raise InputError("the conversation has no text")
    asked = [i for i in with_text if turns[i].role in ("customer", "user")]
    return asked[-1] if asked else with_text[-1]


def turn_sentences(turns: Sequence[Turn], index: int) -> list[Sentence]:
    """Sentences of one turn that hold at least one term; greetings and thanks hold none and are left out."""
    spans = sentences(turns[index].text)
    return [Sentence(index, s.start, s.end, s.text, 0.0) for s in spans if terms(s.text[body_start(s.text) :])]


def said_before(turns: Sequence[Turn], asked: int) -> list[Sentence]:
    """Sentences of the asker that hold at least one term, of the last `RECENT_TURNS` turns before the question."""
    recent = range(max(0, asked - RECENT_TURNS), asked)
    return [s for i in recent if turns[i].role in ("customer", "user") for s in turn_sentences(turns, i)]


def leans(text: str) -> bool:
    """True if a question depends on what was said before: it points back, or says too little to stand alone."""
    return points_back(text) or len(set(terms(text))) <= 2


def points_back(text: str) -> bool:
    """True if a question has a word for what was said before: it, the other, also; or goes on with "and"."""
    return bool(_LEANS.search(text))


def names(text: str) -> list[str]:
    """Names and identifiers in `text` as they stand, in order: capitalised runs that do not merely begin a sentence, and models like "wren
    x2".
    """
    starts = {s.start + body_start(s.text) for s in sentences(text)}
    found = [(m.start(), m.group()) for m in _MODEL.finditer(text)]
    for match in _NAME.finditer(text):
        begin, words = match.start(), match.group().replace("’", "'").split(" ")
        while words and words[0].lower() in _NOT_NAMES:
            begin += len(words.pop(0)) + 1
        while words and words[-1].lower() in _NOT_NAMES:
            words.pop()
        if begin in starts and len(words) > 1 and _is_common(words[0]) and words[1].isdigit():
            continue  # "Minus 18", "Only 3"
        name = text[begin : begin + len(" ".join(words))]
        if words and any(c.isalpha() for c in name) and not (begin in starts and len(words) == 1 and _is_common(name)):
            found.append((begin, name))
    return [name for _, name in sorted(found)]


def _is_common(word: str) -> bool:
    """True for a word that may be capital only because a sentence begins with it."""
    return word[1:].islower() or len(word) == 1


def is_strong(name: str) -> bool:
    """True for a name that identifies what is talked about: of several words, or with a digit."""
    return " " in name or any(c.isdigit() for c in name)


_ASKS = re.compile(
    r"\?\s*$|^\W*(?:who|whom|whose|what|when|where|which|why|how|(?:can|will)(?! do\b)|could|do(?! let\b)|does|did|is|are|was|were|would|should|may|must|shall|(?:has|have)(?! (?:to|a|an|fun|got)\b)|"
    r"tell|give|show|explain|list|was|wie|wann|wo|wer|welche\w*|kann|muss|darf|combien|comment|quand|où|quel\w*)\b",
    re.IGNORECASE,
)


def asks(sentence: str) -> bool:
    """True for a sentence that is a question: it ends with a question mark or begins as a question does."""
    return bool(_ASKS.search(sentence))


def focus(query: str) -> str:
    """The question within a query: its question sentences, after the strong names of the others; all of it when they say too little. A question with a strong name of its
    own that points at nothing needs those of others no more than those of earlier turns.
    """
    spans = [s.text for s in sentences(query)]
    asking = [s for s in spans if asks(s)]
    if len(asking) == len(spans) or len(set(terms(" ".join(asking)))) < 2:
        return query
    said = " ".join(asking).lower()
    if any(" " in name for name in names(" ".join(asking))) and not _PRONOUN.search(said):
        return " ".join(asking)
    others = [n for s in spans if s not in asking for n in names(s) if is_strong(n) and n.lower() not in said]
    return " ".join([*dict.fromkeys(others), *asking])


FILLERS = word_set(_WORDS["fillers"])
"""Terms of questions that documents need not hold: how people ask, not what about. Stemmed."""


def content(question: str) -> set[str]:
    """Content terms of a question, without those that only say that something is asked; all of them where nothing else is said."""
    said = set(terms(question))
    return said - FILLERS or said


_LEADS = r"^\W*(?:(?:ok(?:ay)?|yes|no|oh|ah|sorry|sry|wait|actually|right|fine|thanks|thx|great|good|hm+|und|et|ja|nein|gut|oui|non|pardon|doch)\W+){0,3}"
_CORRECTS = re.compile(
    _LEADS + r"(?:i mea?nt?|ich meinte|je voulais dire|quise decir|intendevo|quis dizer|ik bedoel(?:de)?)\b",
    re.IGNORECASE,
)
_GOES_ON = re.compile(
    _LEADS + r"(?:and|but|or|so|then|what about|how about|what if|and if|same|also|plus|und|oder|et|mais|"
    r"other|another|only|just|even|does that|is that|would that|can that|which one|which ones|what (?:does|do|is|are) (?:the )?\w+ (?:have|has|one)|that one|those|these|"
    r"(?:on|in|for|at|with) (?:the )?[\w-]+(?: [\w-]+)? (?:as well|too|then|instead)|(?:s?he|they|it|we)(?:'s| has| have| is| are| was)?\b|"
    r"[\w-]+(?: [\w-]+){0,3},? (?:not|nicht|pas) (?:the |der |die |das |den |le |la )?[\w-]+(?: [\w-]+)?\W*$|(?:the |my |our )?(?:customer|client|caller)(?:'s| is| lives)\b|"
    r"(?:in|to|for|from|at|nach|aus|für|en|au|aux|à|pour|a|para|per|naar|voor) (?:the )?[^\W\d_]+\W*$)",
    re.IGNORECASE,
)
_POINTS = re.compile(
    r"\b(?:it|they|them|(?<!is )(?<!are )(?<!was )there(?! (?:is|are|was|a|an|any)\b)|that|those|these|one|ones|this|same)\b",
    re.IGNORECASE,
)
GOES_ON_AT = 2
"""Terms up to which a question that points at something, or any question, says too little to be looked for by itself."""
CORRECTED_IN = 6
"""Terms up to which "I meant …" only puts something in the place of what was said."""
RESUMED = 3
"""Questions before this one that are taken along at most, while each of them goes on with the one before."""


def goes_on(text: str) -> bool:
    """True if a question continues the one before and says only what is new: "and the X2?", "same but for Germany", "he has Ridge".

    A question that names its subject and its attribute stands alone, whatever it begins with.
    """
    said = len(content(text))
    if _CORRECTS.search(text) and said <= CORRECTED_IN:
        return True
    if any(" " in name for name in names(text)) and said > GOES_ON_AT:
        return False
    return (
        (bool(_GOES_ON.search(text)) and said <= 5)
        or (bool(_POINTS.search(text)) and said <= GOES_ON_AT)
        or len(set(terms(text))) < GOES_ON_AT
    )


def refers(text: str) -> bool:
    """True if a question points with a word at something that was said: it, that, the same."""
    return bool(_POINTS.search(text))


_ALSO = re.compile(r"\W*(?:and|but|so|und|aber|et|mais)\s+", re.IGNORECASE)
_ASKS_OF = re.compile(
    r"(?:how (?:much|long|many|big|heavy|far|often|old|fast|loud)|how (?:do|can|could|would|should) (?:i|we|you|they|s?he)|what (?:does|do|is|are)|when|where|who|"
    r"was (?:kostet|wiegt)|wie (?:viel|lange|schwer|groß|oft)|combien|quand)\b",
    re.IGNORECASE,
)
"""Asks for a value of a thing, or how something is done with it; "does it cost anything?" may be of what is done."""


def points(text: str) -> bool:
    """True if a question refers with a pronoun to what it asks about: the name of the thing makes it complete. So does "and how much is it?", which asks something else
    of it, unlike "and is it so in Germany?", which goes on with what was asked.
    """
    if not _PRONOUN.search(text):
        return False
    also = _ALSO.match(text)
    if also is not None:
        rest = text[also.end() :]
        return bool(_ASKS_OF.match(rest)) and not re.search(
            r"\b(?:in|for|with|from|to|then|there)\b", rest, re.IGNORECASE
        )
    return not re.match(r"\W*(?:what about|same|or|s?he|they|it)\b", text, re.IGNORECASE)


def _is_whole(text: str) -> bool:
    """True if a question says all but the name of the thing that it asks about: "What is the price?", unlike "How long?"."""
    return bool(_ASKS_OF.match(text)) and bool(set(terms(text)) - FILLERS)


def resumed(query: Query, turns: Sequence[Turn], asked: int) -> Query:
    """The query with the earlier questions that it continues in front, at most RESUMED sentences; unchanged where it stands alone."""
    text = turns[asked].text
    complete = bool(query.entities) and (points(text) or _is_whole(text))
    if not query.sentences or not goes_on(text) or turns_away(text) or complete:
        return query
    taken: list[Sentence] = []
    for sentence in reversed([s for s in said_before(turns, asked) if turns[s.turn].role == turns[asked].role]):
        taken.insert(0, replace(sentence, rank_score=0.5))
        if len(taken) == RESUMED or not goes_on(sentence.text):
            break
    known = {(s.turn, s.start) for s in query.sentences}
    fresh = [s for s in taken if (s.turn, s.start) not in known]
    if not fresh:
        return query
    names = [e for e in query.entities if e.lower() not in " ".join(s.text for s in fresh).lower()]
    return assemble([*fresh, *query.sentences], names, query.note)


LITTLE, TELLS, TOLD = 8, 3, 2
"""Content terms up to which a customer's question rests on what they told before, those that a sentence that tells something has at least, and how many such sentences are taken along."""


def with_story(query: Query, turns: Sequence[Turn], asked: int) -> Query:
    """The query with what the customer told before in front, where their last words ask little by themselves: "Is that still 100 days?" after the torn sticker.

    Only what a customer said: who asks us question after question (a user) tells no story.
    """
    text = turns[asked].text
    rests = leans(text) and len(content(text)) <= LITTLE and not turns_away(text)
    if not query.sentences or not rests:
        return query
    known = {(s.turn, s.start) for s in query.sentences}
    told = [
        s
        for s in said_before(turns, asked)
        if turns[s.turn].role == "customer" and (s.turn, s.start) not in known and len(content(s.text)) >= TELLS
    ]
    taken = sorted(told, key=lambda s: -len(content(s.text)))[:TOLD]
    if not taken:
        return query
    told_too = assemble([*(replace(s, rank_score=0.5) for s in taken), *query.sentences], ())
    missing = [name for name in query.entities if name.lower() not in told_too.text.lower()]
    why = (
        f"turn {turn + 1}: told there; the question says little by itself" for turn in sorted({s.turn for s in taken})
    )
    return replace(
        query, text=" ".join([*missing, told_too.text]), sentences=told_too.sentences, why=(*query.why, *why)
    )


def turns_away(text: str) -> bool:
    """True if a turn changes the subject: the names of before are not meant."""
    return bool(_AWAY.search(text))


def hangs(text: str) -> bool:
    """True if a question depends on a name from before: it says "it" or "they" of something and little else.

    Measured on human rewrites (MTRAG): a name added to any other question says more often what is not meant.
    """
    return bool(_PRONOUN.search(text)) and len(set(terms(text))) <= HANGS_AT


def missing_names(turns: Sequence[Turn], asked: int) -> tuple[str, ...]:
    """The name that a question depends on without saying it: the newest strong one of the last `NEAR_TURNS` turns, else the newest; empty
    where it depends on none.
    """
    if not hangs(turns[asked].text) or turns_away(turns[asked].text):
        return ()
    recent = _named_before(turns, asked, NEAR_TURNS)
    return tuple([name for name in recent if is_strong(name)][:1] or recent[:1])


def spoken_of(turns: Sequence[Turn], asked: int) -> str | None:
    """The name that the conversation is about and the question does not say: the newest strong one of the last `RECENT_TURNS` turns, else
    the newest.

    A question with a name of several words of its own needs none; one with any name needs no weak one.
    """
    own = names(turns[asked].text)
    if any(" " in name for name in own):
        return None
    recent = _named_before(turns, asked, RECENT_TURNS)
    strong = [name for name in recent if is_strong(name)]
    return next(iter(strong or ([] if own else recent)), None)


def _named_before(turns: Sequence[Turn], asked: int, look_back: int) -> list[str]:
    """Names of the turns before that the question does not say, newest first.

    Our own answers are not asked: they quote names that nobody in the conversation spoke of.
    """
    before = [t for t in turns[max(0, asked - look_back) : asked] if t.role != "assistant"]
    said = turns[asked].text.lower()
    return [name for t in reversed(before) for name in reversed(names(t.text)) if name.lower() not in said]


def assemble(chosen: Sequence[Sentence], entities: Sequence[str], note: str | None = None) -> Query:
    """Query made of sentences in the order of the conversation, after the names it needs; the last turn of `chosen` is the one that asks."""
    ordered = sorted(chosen, key=lambda s: (s.turn, s.start))
    text = " ".join([*entities, *(s.text for s in ordered)])
    return Query(text, tuple(ordered), tuple(entities), note, _reasons(ordered, entities))


def _reasons(ordered: Sequence[Sentence], entities: Sequence[str]) -> tuple[str, ...]:
    used = list(dict.fromkeys(s.turn for s in ordered))
    names = [f"“{name}”: the question hangs on it without saying it" for name in entities]
    before = [f"turn {turn + 1}: the question says too little by itself" for turn in used[:-1]]
    return (*(f"turn {turn + 1}: the question" for turn in used[-1:]), *before, *names)


def without_names(query: Query) -> Query:
    """The query as the question alone makes it: the topic may have changed."""
    return replace(query, text=question_of(query), entities=())


def question_of(query: Query) -> str:
    """The question within a query, without the names of earlier turns that stand before it; all that was typed where nothing was summarized."""
    said = " ".join(s.text for s in query.sentences)
    return said or query.text.removeprefix(" ".join(query.entities)).strip() or query.text


def last_turn_query(turns: Sequence[Turn], note: str) -> Query:
    """Fallback query: the last question whole, with a note. Raises InputError for a conversation without text."""
    asked = last_asked(turns)
    text = turns[asked].text
    whole = [Sentence(asked, s.start, s.end, s.text, 1.0) for s in sentences(text)]
    return assemble(whole, (), note)
