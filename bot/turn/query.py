"""What a turn searches for: the conversation's question with the names that it depends on, in the words that the documents have."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from bot.turn.state import TurnState
from bot.wording.conversation.left_out import without_left_out
from bot.wording.refusals import FALLBACK
from grounding.errors import ServiceError
from grounding.observe import record_degraded
from grounding.query.conversation import (
    content,
    goes_on,
    instead,
    last_turn_query,
    question_of,
    with_words,
    without_excluded,
    without_words,
)
from grounding.query.indirect import asked_directly
from grounding.query.place_words import in_the_place
from grounding.query.shorthand import called_otherwise, compared_by, in_full
from grounding.query.trade_words import english_words
from grounding.quoting.countries import countries_in, english_name, spoken_countries
from grounding.quoting.question_parts import form_of
from grounding.records import Access, Query, Turn
from grounding.text import caseless, terms, words

SHORT_NAME = 4
"""Letters up to which what a country is called is an abbreviation."""


async def turn_query(state: TurnState, access: Access) -> Query:
    """The query of a turn; without the service that summarizes it is the last question. Raises StoreError."""
    said = [
        t if t.role == "assistant" else replace(t, text=await _named_whole(state, without_left_out(t.text), access))
        for t in (_placed(t, state.before[:n]) for n, t in enumerate(state.before))
    ]
    question = await _named_whole(
        state, await _written_out(state, await _with_countries(state, access), access), access
    )
    turns = (*said, Turn("user", question))
    try:
        query = await state.seams.queries.build(turns, access)
    except ServiceError as error:
        record_degraded("summarizer")
        query = last_turn_query(turns, f"{error}; the last turn is the query")
    state.note(query.note)
    question = query.asked or question
    if turns != (*state.before, Turn("user", state.ask.question)):
        query = replace(query, sentences=())  # none stands so in the conversation
    query = replace(_put_right(_of_the_country(query, question), question), asked=question)
    product = state.ask.product
    if product and product.lower() not in query.text.lower():  # the person named it beside the conversation
        query = replace(query, text=f"{product} {query.text}", entities=(product, *query.entities))
    query = await _compared(state, await _spelled(state, query, access), access)
    if query.asked == state.ask.question:
        query = replace(query, asked="")
    query = await _in_general(state, query, access)
    return without_excluded(await _in_english_too(state, query, access), state.ask.excluded)


def _placed(turn: Turn, before: Sequence[Turn]) -> Turn:
    """The turn with the country that people spoke of last where it says "there"; one that names a country itself points at none of before, and what we
    quoted nobody spoke of.
    """
    if turn.role == "assistant" or in_the_place(turn.text, "") == turn.text or spoken_countries(turn.text):
        return turn
    said = (t.text for t in reversed(before) if t.role != "assistant")
    places = ((text, *spoken[-1]) for text in said if (spoken := spoken_countries(text)))
    for text, written, code in places:
        named = (written, code) in countries_in(text)  # "danish" is no name of a place
        return replace(turn, text=in_the_place(turn.text, written if named else english_name(code)))
    return turn


_SHORT_WORD = re.compile(r"(?<![\w-])[A-Za-z]{1,2}\d{1,4}(?![\w-])")


async def _named_whole(state: TurnState, text: str, access: Access) -> str:
    """What was said with models and codes as the documents have them: "how much is the x2" asks about the Wren X2."""
    linker = state.seams.linker
    if linker is None:
        return text
    told = frozenset(terms(text))
    wholes = {m.group(): await linker.whole(m.group(), access) for m in _SHORT_WORD.finditer(text)}
    return instead(text, {short: whole for short, whole in wholes.items() if set(terms(whole)) - told})


async def _written_out(state: TurnState, question: str, access: Access) -> str:
    """The question with the shorthand of a help desk written out, "phone no" as "phone number", and with what documents call what they have no word for, "postage"
    as "shipping", where no document has it as it is; the record says which.
    """
    linker = state.seams.linker
    if linker is None or state.language != FALLBACK:
        return question
    meant = {typed: whole for typed, whole in in_full(question).items() if not await linker.knows(typed, access)}
    for typed, others in called_otherwise(question).items():
        if not await linker.knows(typed, access):
            known = [other for other in others if await linker.knows(other, access)]
            meant |= {typed: known[0]} if known and not any(typed in phrase for phrase in meant) else {}
    for typed, whole in meant.items():
        state.note(f"“{typed}” was read as “{whole}”")
    return instead(question, meant)


async def _compared(state: TurnState, query: Query, access: Access) -> Query:
    """The query of a question that sets things side by side and names nothing but them ("x1 vs x2"), or by what ("is the x2 faster than the x1"), with what documents
    call that: else each page that has both names is as near.
    """
    linker = state.seams.linker
    if linker is None or form_of(query.text) != "compare":
        return query
    [named] = await linker.link([query.text], access)
    things = list(dict.fromkeys(query.text[name.start : name.end] for name in named))
    by = compared_by(query.text)
    if len(things) < 2 or content(query.text) - set(terms(" ".join((*things, *by)))) - _COMPARES:
        return query
    attributes = [word for words in by.values() for word in words if await linker.knows(word, access)]
    if by and not attributes:
        return query
    return replace(query, text=" ".join([COMPARED, *things, *dict.fromkeys(attributes)]), sentences=(), asked="")


COMPARED = "comparison"
_COMPARES = frozenset(
    terms("vs versus compare compared comparing comparison difference differences different differ between both better")
)
"""How one asks to have things set side by side, and not by what."""


async def _in_general(state: TurnState, query: Query, access: Access) -> Query:
    """The query of a question of how something is done with a thing, with what is left of it without that thing: how a device is returned stands on a page that
    names none, far below every page of the device.
    """
    linker, asked = state.seams.linker, question_of(query)
    if linker is None or form_of(asked) != "steps":
        return query
    [named] = await linker.link([asked], access)
    rest = without_words(asked, [asked[name.start : name.end] for name in named])
    return replace(query, general=rest) if rest != asked and content(rest) else query


async def _in_english_too(state: TurnState, query: Query, access: Access) -> Query:
    """The query with what English documents call the things that a question of another language asks about; the record says which words."""
    english = english_words(query.text, state.language)
    if not english:
        return query
    state.note(f"also looked for in English: {', '.join(english)}")
    strange = [w.text for w in words(query.text) if not english_words(w.text, state.language)]
    linker = state.seams.linker
    known = [w for w in strange if terms(w) and linker is not None and await linker.knows(w, access)]
    return replace(query, text=f"{query.text} {' '.join(english)}", english=" ".join([*known, *english]))


async def _with_countries(state: TurnState, access: Access) -> str:
    """The question with the countries in it as the documents call them: "and in the UK?" beside rows of the United Kingdom."""
    placed = _placed(Turn("user", state.ask.question), state.before).text
    question, linker = asked_directly(without_left_out(placed)), state.seams.linker
    if linker is None:
        return question
    for written, code in list(countries_in(question)):
        name = english_name(code)
        other = bool(name) and caseless(written) != caseless(name)
        short = len(written) <= SHORT_NAME  # "UK" may stand somewhere, and the rows say it whole
        if other and (short or not await linker.knows(written, access)) and await linker.knows(name, access):
            question = re.sub(rf"(?<!\w){re.escape(written)}(?!\w)", name, question, count=1)
            state.note(
                f"“{written}” was read as “{name}”" if short else f"also looked for in English: {name}"
            )  # whoever writes in another language need not be told that
    return question


def _of_the_country(query: Query, question: str) -> Query:
    """The query of a question that goes on with another country ("and in Norway?") with that in place of the one before: else rows of both answer."""
    now = {code: written for written, code in spoken_countries(question)}
    if len(now) != 1 or not goes_on(question):
        return query
    [(new, name)] = now.items()
    text = query.text
    for written, code in spoken_countries(text):
        if code != new:
            text = re.sub(rf"(?<!\w){re.escape(written)}(?!\w)", name, text)
    return replace(query, text=text)


_INSTEAD = re.compile(
    r"\b(?P<new>[\w-]+(?: [\w-]+)?),? (?:and )?(?:not|nicht|pas|no|non|niet) (?:the |der |die |das |den |le |la |el |il |de |het )?(?P<old>[\w-]+(?: [\w-]+)?)\W*$",
    re.IGNORECASE,
)
_LEADS = re.compile(
    r"^(?:(?:sorry|sry|oh|no|wait|(?:i )?meant?|the|der|die|das|den|le|la|el|il|de|het)\W+)+", re.IGNORECASE
)


def _put_right(query: Query, question: str) -> Query:
    """The query of "sorry, the Mulo, not the Pavo" with the one in place of the other in what was asked before."""
    found = _INSTEAD.search(question)
    if found is None:
        return query
    new, old = _LEADS.sub("", found["new"]), found["old"]
    before, _, _ = query.text.partition(question)
    if not new or not re.search(rf"(?<!\w){re.escape(old)}(?!\w)", before, re.IGNORECASE):
        return query
    return replace(
        query, text=re.sub(rf"(?<!\w){re.escape(old)}(?!\w)", lambda _: new, before, flags=re.IGNORECASE).strip()
    )


async def _spelled(state: TurnState, query: Query, access: Access) -> Query:
    """The query with slips of the hand mended, as the knowledge base spells the words; the record says which.

    Of English questions alone: a word of another language is no slip of an English one.
    """
    if state.seams.speller is None or state.language != FALLBACK:
        return query
    slips = await state.seams.speller.spelled(query.text, access)
    slips = {typed: meant for typed, meant in slips.items() if terms(typed) != terms(meant)}  # laptops are no slip
    for typed, meant in slips.items():
        state.note(f"“{typed}” was read as “{meant}”")
    return with_words(query, slips)
