"""Choice of the knowledge-base names that a conversation asks about: those spoken of last, unless the question says otherwise.

A logistic regression over what can be read off the turns, fitted by `tools/fit_linking.py` on conversations whose answers are known, a
third of them kept aside. Coefficients stand here so that anyone can argue with them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from grounding.ports import Linker, Summarizer
from grounding.query.conversation import (
    content,
    goes_on,
    is_strong,
    last_asked,
    leans,
    names,
    points_back,
    resumed,
    spoken_of,
    turns_away,
    with_story,
)
from grounding.query.gazetteer import Key, key_of
from grounding.records import LEAD_IN, Access, Linked, Query, Turn
from grounding.text import BAR, terms, words

LOOK_BACK = 20
"""Turns before the question in which names are looked for."""
MOST = 4
"""Names taken along at most."""
SHORTEST = 4
"""Letters of a name that no title has and that is told as in view."""
_TELLS = 3
"""Letters of a word that stands for a sibling."""
TAKE_AT = 0.5
"""Probability from which a name is taken along."""

_SEVERAL = re.compile(
    r"\b(both|either|which|neither|each|any of (?:them|these|those)|one of|these|those|two|all|or)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Mention:
    """A name of the knowledge base that the conversation mentions, at the newest place where it does.

    `probability` in [0, 1] that the question is about it; `why`: the reason in words.
    """

    turn: int
    start: int
    end: int
    text: str
    key: Key
    probability: float
    why: str


WEIGHTS = {
    "bias": -4.09,
    "asked": -2.18,
    "older than asked": -0.64,
    "turn before": 0.52,
    "age": -2.73,
    "newest": 3.64,
    "beside others": -2.07,
    "several asked": 1.8,
    "several asked, older": 0.62,
    "likeness": 4.3,
    "not last of its turn": 0.63,
    "in several turns": 0.18,
    "shares a word": 1.36,
    "question leans": -0.81,
    "question stands alone": -1.1,
    "one word": -1.38,
    "says much": -0.65,
}


def mentions(turns: Sequence[Turn], asked: int, found: Sequence[tuple[int, Linked]]) -> list[Mention]:
    """The names found at these places (turn, name), each with the probability that the question is about it, most probable first."""
    out = []
    for key, values in features(turns, asked, found).items():
        turn, linked = max(((t, m) for t, m in found if m.key == key), key=lambda f: (f[0], f[1].start))
        weight = sum(WEIGHTS.get(name, 0.0) * value for name, value in values.items())
        chance = round(1 / (1 + math.exp(-weight)), 4)
        said = turns[turn].text[linked.start : linked.end]
        out.append(Mention(turn, linked.start, linked.end, said, key, chance, _why(turn, asked)))
    return sorted(out, key=lambda m: (-m.probability, -m.turn, m.start))


def features(turns: Sequence[Turn], asked: int, found: Sequence[tuple[int, Linked]]) -> dict[Key, dict[str, float]]:
    """Features of each name, by its key: those of `WEIGHTS`, values in [0, 1]."""
    question = turns[asked].text
    newest = max((turn for turn, _ in found), default=asked)
    beside = {m.key for turn, m in found if turn == newest}
    several = bool(_SEVERAL.search(question))
    leaning, own = leans(question), any(turn == asked for turn, _ in found)
    said = set(terms(question))
    out: dict[Key, dict[str, float]] = {}
    for key in dict.fromkeys(m.key for _, m in found):
        there = [(turn, m) for turn, m in found if m.key == key]
        last = max(turn for turn, _ in there)
        order = list(dict.fromkeys(m.key for turn, m in sorted(found, key=lambda f: -f[1].start) if turn == last))
        out[key] = {
            "bias": 1.0,
            "asked": float(last == asked),
            "older than asked": float(own and last < asked),
            "turn before": float(last == asked - 1),
            "age": min(asked - last, 8) / 8,
            "newest": float(last == newest),
            "beside others": float(last == newest and len(beside) > 1),
            "several asked": float(several and last == newest and len(beside) > 1),
            "several asked, older": float(several and last < newest),
            "likeness": max(m.score for _, m in there),
            "not last of its turn": 0.0 if several else min(order.index(key), 3) / 3,
            "in several turns": float(len({turn for turn, _ in there}) > 1),
            "shares a word": float(bool(set(terms(" ".join(key))) & said)),
            "question leans": float(leaning and last < asked),
            "question stands alone": float(not leaning and last < asked),
            "one word": float(len(key) == 1),
            "says much": float(not own and len(said) > 5 and last < asked),
        }
    return out


def _why(turn: int, asked: int) -> str:
    if turn == asked:
        return "named in the question"
    return "named last" if turn == asked - 1 else f"named {asked - turn} turns before"


class QueryBuilder:
    """Builder of the search query for a conversation: sentences by a summarizer, and the knowledge-base names that they depend on.

    Without a linker the summarizer decides alone.
    """

    def __init__(self, summarizer: Summarizer, linker: Linker | None = None) -> None:
        self._summarizer, self._linker = summarizer, linker

    async def build(self, turns: Sequence[Turn], access: Access) -> Query:
        """The search query for `turns`; names are recognised as far as `access` may read.

        Raises InputError for a conversation without text, ServiceError if the summarizer fails.
        """
        typed = last_asked(turns)
        turns, said = await self.completed(turns, access), turns
        asked = last_asked(turns)
        query = with_story(resumed(await self._named(turns, asked, access), turns, asked), turns, asked)
        query = await self._of_the_newest(query, access) if goes_on(turns[asked].text) else query
        if turns == list(said):
            return query
        return replace(query, sentences=(), asked=turns[asked].text if turns[asked] != said[typed] else "")

    async def _of_the_newest(self, query: Query, access: Access) -> Query:
        """The query in which of siblings the one that was named last stands for those before it: "and in Germany?" after "price of the Wren X1?" and "and the
        Wren X2?" asks about the X2 alone.
        """
        if self._linker is None or len(query.sentences) < 2:
            return query
        linked = await self._linker.link([s.text for s in query.sentences], access)
        said = [sentence.text for sentence in query.sentences]
        for at, known in enumerate(linked):
            for older in sorted(known, key=lambda name: -name.start):
                newer = [n for later in linked[at + 1 :] for n in later]
                siblings = {n.name for n in newer if _are_siblings(older.name, n.name)}
                if len(siblings) == 1 and older.key not in {n.key for n in newer}:
                    said[at] = f"{said[at][: older.start]}{siblings.pop()}{said[at][older.end :]}"
        if said == [sentence.text for sentence in query.sentences]:
            return query
        return replace(query, text=" ".join([*query.entities, *said]), sentences=())

    async def knows(self, name: str, access: Access) -> bool:
        """Whether a document that `access` may read has these words; True where nobody can tell. Raises StoreError."""
        return self._linker is None or await self._linker.knows(name, access)

    async def completed(self, turns: Sequence[Turn], access: Access) -> list[Turn]:
        """The turns in which a person who goes on says a sibling by its last word alone ("and what about pro?" after the Watch Plus), with the whole name of it.
        Raises StoreError.
        """
        first = max(0, len(turns) - 1 - LOOK_BACK)
        spoken = [n for n in range(first, len(turns)) if turns[n].role != "assistant"]
        if self._linker is None or not any(goes_on(turns[n].text) for n in spoken[1:]):
            return list(turns)
        out, last = list(turns), ""
        for n, known in zip(spoken, await self._linker.link([turns[n].text for n in spoken], access), strict=True):
            if not known and last and goes_on(turns[n].text):
                text, name = await self._with_a_sibling(turns[n].text, last, access)
                out[n], last = replace(turns[n], text=text), name or last
            last = known[-1].name if known else last
        return out

    async def _with_a_sibling(self, text: str, last: str, access: Access) -> tuple[str, str]:
        """`text` with the whole name of a sibling of `last`, and that name; as it is and "" where no word of it is the last of one."""
        assert self._linker is not None
        begins, _, _ = last.rpartition(" ")
        told = [
            w
            for w in words(text)
            if begins
            and len(w.text) >= _TELLS
            and w.text.isalpha()
            and content(w.text)
            and w.text.lower() not in last.lower()
        ]
        meant = [f"{begins} {word.text}" for word in told]
        for word, name, known in zip(told, meant, await self._linker.link(meant, access) if meant else (), strict=True):
            if len(known) == 1 and _are_siblings(known[0].name, last) and known[0].end == len(name):
                return f"{text[: word.start]}{known[0].name}{text[word.end :]}", known[0].name
        return text, ""

    async def in_view(self, turns: Sequence[Turn], access: Access, *, of_titles: bool = False) -> tuple[str, ...]:
        """What the people in a conversation have named that the knowledge base has too, as far as `access` may read: product, plan, region; the newest first, at most `MOST`. Of siblings
        ("Wren X1", "Wren X2") those of the newest turn that names one: the others are not spoken of any more. `of_titles`: only what titles have, where capital letters make no name.

        Raises StoreError.
        """
        if self._linker is None:
            return ()
        spoken = [turn for turn in await self.completed(turns[-LOOK_BACK:], access) if turn.role != "assistant"]
        linked = await self._linker.link([turn.text for turn in spoken], access)
        found: list[str] = []
        for turn, known in zip(reversed(spoken), reversed(linked), strict=True):
            said = [name.name for name in known if of_titles or _is_titled(name.name)]
            held = {name for name in said if name}
            capitals = () if of_titles else names(turn.text)
            newer = tuple(found)
            for name in [*said, *(n for n in capitals if n not in held and _is_a_name(n))]:
                if any(_within(name, other) or (other in newer and _are_siblings(name, other)) for other in found):
                    continue
                if name in held or await self._linker.knows(name, access):
                    found = [other for other in found if not _within(other, name)] + [name]
        return tuple(found[:MOST])

    async def _named(self, turns: Sequence[Turn], asked: int, access: Access) -> Query:
        """The summarizer's query with the names that it depends on."""
        query = await self._summarizer.summarize(turns)
        if self._linker is None or turns_away(turns[asked].text):
            return query
        first = max(0, asked - LOOK_BACK)
        linked = await self._linker.link([_of_the_turn(t) for t in turns[first : asked + 1]], access)
        places = [
            (first + i, name)
            for i, names in enumerate(linked)
            for name in names
            if not (
                i and _quotes_for(turns[first + i], turns[first + i - 1]) and _is_named(turns[first:], linked, i - 1)
            )
        ]
        if _stands_alone(turns[asked].text, asked, places):
            return query
        named = with_names(query, asked, mentions(turns, asked, places))
        if named is not query:
            return named
        name = spoken_of(turns, asked)  # a name that texts hold and no title does
        if name is None or name in query.entities or not await self._linker.knows(name, access):
            return query
        return _with(query, (name,), (f"“{name}”: the newest name of the talk that the knowledge base holds",))


def _stands_alone(question: str, asked: int, found: Sequence[tuple[int, Linked]]) -> bool:
    """Whether a question names the thing that it is about, and points at nothing that was said before: the names of earlier turns are of something else then. A page's
    title ("Warranty terms") is no such name.
    """
    own = any(turn == asked and is_strong(name.name) and _is_titled(name.name) for turn, name in found)
    return own and not (points_back(question) or goes_on(question))


def _of_the_turn(turn: Turn) -> str:
    """What of a turn may name what is spoken of: all, but of our own quotes the first alone, and of a row what it is about; what stands behind that is of other
    things as well.
    """
    if not _is_quoted(turn):
        return turn.text
    lead, _, quotes = turn.text.partition("\n")
    first, _, _ = quotes.partition("\n")
    return f"{lead}\n{first.partition(BAR)[0]}"


def _is_named(turns: Sequence[Turn], linked: Sequence[Sequence[Linked]], at: int) -> bool:
    """Whether a person's question names what it is about, itself or by pointing at what people named before: "and if it's faulty?"."""
    points_at = points_back(turns[at].text) or goes_on(turns[at].text)
    before = any(names for turn, names in zip(turns[:at], linked, strict=False) if turn.role != "assistant")
    return bool(linked[at]) or (points_at and before)


def _quotes_for(turn: Turn, question: Turn) -> bool:
    """Whether a turn of ours quotes for that of a person: what they named is spoken of then, and not all that stands beside it in a quote."""
    return _is_quoted(turn) and question.role != "assistant"


def _is_quoted(turn: Turn) -> bool:
    return turn.role == "assistant" and turn.text.startswith(LEAD_IN)


def _is_a_name(word: str) -> bool:
    """Whether capital letters alone make a plan, a region or a place of this: "M", "One" and the code "C-421" are none, unless a title has them."""
    return len(word) >= SHORTEST and not any(char.isdigit() for char in word)


def _is_titled(name: str) -> bool:
    """Whether a title is a name: each word that tells something has a capital or a digit, unlike "Cancel a plan" and "What is in the box"."""
    told = [word.text for word in words(name) if terms(word.text)]
    return all(word[:1].isupper() or any(map(str.isdigit, word)) for word in told)


def _within(name: str, other: str) -> bool:
    """Whether the words of a name stand in another, whatever their case."""
    return f" {name.lower()} " in f" {other.lower()} "


def _are_siblings(name: str, other: str) -> bool:
    """Whether two names of several words have some in common, and each another one."""
    one, two = frozenset(key_of(name)), frozenset(key_of(other))
    return bool(one & two) and bool(one - two) and bool(two - one)


def with_names(query: Query, asked: int, found: Sequence[Mention]) -> Query:
    """The query with the probable names that it does not say, as the turns spell them; the same query if there is nothing to change.

    Names of the knowledge base are better than those that capital letters made the summarizer take: where there is one, also in the
    question, those go.
    """
    words = _plain(" ".join(s.text for s in query.sentences))
    probable = [m for m in found if m.probability >= TAKE_AT and m.turn < asked and _plain(m.text) not in words]
    taken = sorted(probable[:MOST], key=lambda m: (m.turn, m.start))
    if not taken and not any(m.turn == asked and is_strong(m.text) for m in found):
        return query
    why = tuple(f"turn {m.turn + 1}: “{m.text}”, {m.why}" for m in taken)
    return _with(query, tuple(dict.fromkeys(m.text for m in taken)), why)


def _with(query: Query, entities: tuple[str, ...], why: tuple[str, ...]) -> Query:
    """`query` with these names before its sentences and no others."""
    turns = tuple(reason for reason in query.why if reason.startswith("turn "))
    text = " ".join([*entities, *(s.text for s in query.sentences)])
    return replace(query, text=text, entities=entities, why=(*turns, *why))


def _plain(text: str) -> str:
    """Words of a text between single spaces, for whole-word search: "vin" does not stand in "saving"."""
    return f" {' '.join(key_of(text))} "
