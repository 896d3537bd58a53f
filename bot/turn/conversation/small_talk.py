"""Messages that say nothing to look up: a greeting, thanks, a farewell, a wish for help. Told by word lists, in seven languages.

A message is taken only if all of it falls apart into known phrases of one language; a single word that is none makes it a question.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, get_args

from bot.records import How, Intent
from grounding.records import Turn
from grounding.tables import yaml_table
from grounding.text import terms
from rai.screening.languages import language

Form = Literal[
    "new",
    "summary",
    "translate",
    "email",
    "chat",
    "friendlier",
    "shorter",
    "copy",
    "why",
    "check",
    "about",
    "help",
    "farewell",
    "thanks",
    "greeting",
    "ok",
]
"""What was said, the first of these where a message says several: "thanks, bye" is a farewell."""
FORMS: tuple[Form, ...] = get_args(Form)
INTENTS: Mapping[Form, Intent] = {
    "new": "new",
    "summary": "rework",
    "translate": "rework",
    "email": "rework",
    "chat": "rework",
    "friendlier": "rework",
    "shorter": "rework",
    "copy": "rework",
    "why": "rework",
    "check": "help",
    "about": "about",
    "help": "help",
    "farewell": "farewell",
    "thanks": "thanks",
    "greeting": "greeting",
    "ok": "thanks",
}
FALLBACK = "en"
EVERYWHERE = "everywhere"
LONGEST, MOST_WORDS = 120, 16
"""Characters and words of a message that is looked at: who writes more says something."""
ANSWERED_WORDS = 12
"""A human agent who wrote this many words, or a number, has answered the customer; fewer are "one moment"."""
REWORKS: frozenset[str] = frozenset(get_args(How))
"""Forms that ask for something to be made of what was said."""
_OF_AN_ANSWER = frozenset({"copy", "why"}) | REWORKS
"""Forms that want something of what was answered."""
_ASKING = frozenset({"greeting", "help", "about", "check"}) | _OF_AN_ANSWER
"""Forms that a question mark may follow."""
_NAMED = frozenset({"greeting", "thanks", "farewell"})
"""Forms behind which a name may stand."""
_SHORTENED = frozenset({"farewell"})
"""Forms that a single word may only seem to be ("LG", "CDT"): behind it only what is listed counts as a name."""
_NAMES = 2
"""Words of a name: first and last."""
_BESIDE = ("extra", "address")
INTO = "into"
"""Phrases that name the language to translate into, by its code."""
_WORD = re.compile(r"[^\W_]+")
_APOSTROPHES = re.compile("['\u2019\u02bc`\u00b4]")
_EMAIL = re.compile(r"\be[- \u2010\u2011]mail", re.IGNORECASE)
_CHECKED = re.compile(r"\s*:\s*|\s*\n\s*|\?\s+|\s[-–—]\s")
"""Between the wish to have something checked and what is to be checked."""
_RUN = re.compile(r"([^\W\d_])\1\1+")
_BREAK = re.compile(r"[.!?;:…]")
_CLAUSE = re.compile(r"[.!;:…,\n]+|\s[-–—]\s")
MOST_BESIDE = 8
"""Words that may stand beside a greeting where nothing was found on them."""


@dataclass(frozen=True, slots=True)
class SmallTalkTexts:
    """What is answered in one language, as `small_talk.yaml` has it."""

    greeting: str
    thanks: str
    ok: str
    farewell: str
    help: str
    about: str
    new: str
    quoting: str
    shortest: str
    held: str
    lost: str
    moved: str
    held_summary: str
    open: str
    gone: str
    unanswered: str
    which: str
    why: str
    why_sources: str
    nothing_yet: str
    check: str


@dataclass(frozen=True, slots=True)
class SmallTalkLanguage:
    """One language. `phrases`: words of a phrase to what it says: a form, or one of `extra`, `address`, `help_first`; `longest` in words.
    `own`: phrases of its own list, which tell the language.

    `buttons`: form to the message that asks for it.
    """

    phrases: Mapping[tuple[str, ...], frozenset[str]]
    own: frozenset[tuple[str, ...]]
    longest: int
    texts: SmallTalkTexts
    buttons: Mapping[Form, str]


@dataclass(frozen=True, slots=True)
class Lists:
    """The whole file: languages by their code, words with which one asks or wishes in any of them, and words behind a greeting that are names, and that never are."""

    languages: Mapping[str, SmallTalkLanguage]
    asking: frozenset[str]
    names: frozenset[str]
    not_names: frozenset[str]


@dataclass(frozen=True, slots=True)
class Talk:
    """What a message says that says nothing else, and in which language it is answered. `into`: the language that a translation is wanted in."""

    form: Form
    language: str
    into: str = ""

    @property
    def intent(self) -> Intent:
        return INTENTS[self.form]


@dataclass(frozen=True, slots=True)
class _Read:
    """A message as one language reads it; `own`: without the words that are said everywhere; `said`: all forms that it has."""

    form: Form
    own: bool
    into: str = ""
    said: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _Word:
    """A word of the message as lists have it; `capital`: it begins with a capital; `apart`: a sentence ends before it."""

    text: str
    capital: bool
    apart: bool


@cache
def lists() -> Lists:
    """The word lists and texts. Raises ValueError for a file that is not as it should be."""
    table = yaml_table(__file__, "small_talk.yaml")
    shared = table.pop(EVERYWHERE)
    names, not_names = (frozenset(_plain(table.pop(name)).split()) for name in ("names", "not_names"))
    asking = frozenset(word for row in table.values() for word in _plain(row.pop("asking")).split())
    return Lists({code: _language(code, row, shared) for code, row in table.items()}, asking, names, not_names)


def _language(code: str, row: Mapping[str, Any], shared: Mapping[str, Any]) -> SmallTalkLanguage:
    known = {*FORMS, *_BESIDE, "help_first"}
    row = {**row, **{f"{INTO} {target}": phrases for target, phrases in row.get(INTO, {}).items()}}
    wishes, made = row.pop("wish"), row.pop("made")
    right = row.pop("right")
    row |= {"check": [row["check"], right], "why": [row["why"], right]}
    row |= {form: [row[form], [wish.format(thing) for wish in wishes for thing in made[form]]] for form in made}
    known |= {name for name in row if name.startswith(f"{INTO} ")}
    unknown = [name for name in (*row, *shared) if name not in known | {"texts", "buttons", INTO}]
    if unknown:
        raise ValueError(f"small_talk.yaml, {code}: {unknown[0]} is not known")
    phrases: dict[tuple[str, ...], set[str]] = {}
    own = set()
    for source in (shared, row):
        for name in known & set(source):
            for phrase in _flat(source[name]):
                words = tuple(_plain(phrase).split())
                phrases.setdefault(words, set()).add(name)
                own |= {words} if source is row else set()
    return SmallTalkLanguage(
        {words: frozenset(says) for words, says in phrases.items()},
        frozenset(own),
        max(map(len, phrases)),
        SmallTalkTexts(**row["texts"]),
        {form: row["buttons"][form] for form in FORMS if form in row["buttons"]},
    )


def _flat(value: Iterable[Any]) -> Iterable[str]:
    for item in value:
        yield from _flat(item) if isinstance(item, list) else (item,)


def small_talk(text: str, history: Sequence[Turn] = (), locale: str | None = None) -> Talk | None:
    """What `text` says if it says nothing to look up; None if it may be a question, or if one of the conversation is still open.

    `locale` (as "de-AT") and the conversation tell the language where words of several were used.
    """
    found = _forms(text, beginning=not history)
    if not found or not _closes(found, history):
        return None
    code = _language_of(found, history, locale)
    return Talk(found[code].form, code, found[code].into)


def to_check(text: str, locale: str | None = None) -> tuple[str, str] | None:
    """What of a message is to be checked, and the language in which that is asked for: what stands behind "check this:", or in the lines below it. None where nothing is."""
    for mark in _CHECKED.finditer(text, 0, LONGEST):
        head, rest = text[: mark.end()], text[mark.end() :].strip()
        found = {code: read for code, read in _forms(head, beginning=False).items() if "check" in read.said}
        if found and terms(rest):
            return rest, _language_of(found, (), locale)
    return None


def courtesy(text: str, known: frozenset[str], history: Sequence[Turn] = (), locale: str | None = None) -> Talk | None:
    """What a message says that begins or ends with a greeting, thanks or a farewell and else chats: "morning! quiet so far here". For a message that
    nothing was found on: whatever asks, has a number or says one of the terms `known`, those of what was found, is None.
    """
    clauses = [clause for clause in _CLAUSE.split(text) if _words(clause)]
    if len(text) > LONGEST or "?" in text or any(char.isdigit() for char in text) or len(clauses) < 2:
        return None
    for said, rest in ((clauses[0], clauses[1:]), (clauses[-1], clauses[:-1])):
        found = {c: read for c, read in _forms(said, beginning=not history).items() if read.form in _NAMED}
        beside = [word.text for clause in rest for word in _words(clause)]
        asks = lists().asking.intersection(beside) or known.intersection(terms(" ".join(rest)))
        if found and not asks and len(beside) <= MOST_BESIDE and _closes(found, history):
            code = _language_of(found, history, locale)
            return Talk(found[code].form, code)
    return None


def _language_of(found: Mapping[str, _Read], history: Sequence[Turn], locale: str | None) -> str:
    """The language that alone has these words; of several, and of English that everybody writes, that of the person or the conversation."""
    own = [code for code, read in found.items() if read.own]
    among = list(found) if own in ([], [FALLBACK]) else own
    return next((code for code in _hints(history, locale) if code in among), (own or among)[0])


def _forms(text: str, *, beginning: bool) -> dict[str, _Read]:
    """By language, the form that the message has in it; the message as a whole has to have one."""
    if len(text) > LONGEST:
        return {}
    words = _words(text)
    if not words:
        return dict.fromkeys(lists().languages, _Read(_wordless(text), own=False)) if text.strip() else {}
    if len(words) > MOST_WORDS:
        return {}
    out: dict[str, _Read] = {}
    for code, known in lists().languages.items():
        read = _read(words, known, beginning=beginning) or _read(_told(words, known), known, beginning=beginning)
        if read and ("?" not in text or read.form in _ASKING):
            out[code] = read
    return out


def _told(words: Sequence[_Word], known: SmallTalkLanguage) -> list[_Word]:
    """The words without those that only stand beside, which may part what belongs together: "machen Sie bitte eine E-Mail daraus"."""
    return [word for word in words if known.phrases.get((word.text,)) != frozenset({"extra"})]


def _wordless(text: str) -> Form:
    if "\N{WAVING HAND SIGN}" in text:
        return "greeting"
    return "help" if "?" in text else "ok"


def _read(words: Sequence[_Word], known: SmallTalkLanguage, *, beginning: bool) -> _Read | None:
    """The form of a message that falls apart into phrases of `known`; the longest phrases are tried first."""

    def rest(at: int, said: frozenset[str], named: int, *, anyone: bool, own: bool) -> _Read | None:
        if at == len(words):
            into = next((name.partition(" ")[2] for name in sorted(said) if name.startswith(INTO)), "")
            forms = [form for form in FORMS if form in said or (into and form == "translate")]
            return _Read(forms[0], own, into, said) if forms else None
        for size in range(min(known.longest, len(words) - at), 0, -1):
            phrase = tuple(word.text for word in words[at : at + size])
            says = known.phrases.get(phrase)
            if says and any(word.apart for word in words[at + 1 : at + size]):
                says = None  # a phrase does not go on beyond its sentence
            if says:
                told = {"help" if s == "help_first" else s for s in says if s != "help_first" or beginning}
                left = _NAMES if told & _NAMED else named if told <= set(_BESIDE) else 0
                sure = anyone if told <= set(_BESIDE) else size > 1 or not told <= _SHORTENED
                found = (
                    rest(at + size, said | told, left, anyone=sure, own=own and phrase in known.own) if told else None
                )
                if found:
                    return found
        if named and _is_name(words[at], known, anyone=anyone):
            return rest(at + 1, said, named - 1, anyone=anyone, own=own)
        return None

    return rest(0, frozenset(), 0, anyone=False, own=True)


def _is_name(word: _Word, known: SmallTalkLanguage, *, anyone: bool) -> bool:
    """True of a given name, and where `anyone` may follow of a word with a capital that is no subject of a question; not at the beginning of a sentence."""
    held = lists()
    if word.apart or word.text in held.not_names or not word.text.isalpha():
        return False
    if word.text in held.names:
        return True
    return anyone and word.capital and 2 <= len(word.text) <= 20 and (word.text,) not in known.phrases


def _closes(found: Mapping[str, _Read], history: Sequence[Turn]) -> bool:
    """False where a customer still waits for an answer, for then the question stands before this message."""
    tail = list[Turn]()
    for turn in reversed(history):
        if turn.role == "assistant":
            break
        tail.insert(0, turn)
    said = [turn for turn in tail if turn.role == "customer" and not _forms(turn.text, beginning=False)]
    if not any(turn.role in ("customer", "agent") for turn in tail):
        return True
    if any(read.form in ("summary", "new") for read in found.values()):
        return True
    if tail[-1].role == "user":
        return True  # whoever asked in between had a reply, though none that answered
    if any(read.form in _OF_AN_ANSWER for read in found.values()):
        return False
    return not said or (tail[-1].role == "agent" and answers(tail[-1].text))


def answers(text: str) -> bool:
    """Whether what a human agent wrote may answer a customer; "one moment" does not."""
    return len(text.split()) >= ANSWERED_WORDS or any(char.isdigit() for char in text)


def _hints(history: Sequence[Turn], locale: str | None) -> Iterable[str]:
    """Languages to answer in, the likeliest first, where the words leave it open."""
    yield (locale or "").replace("_", "-").partition("-")[0].lower()
    for turn in reversed(history):
        if turn.role != "assistant" and (code := language(turn.text)):
            yield code
    yield FALLBACK


def _words(text: str) -> list[_Word]:
    out: list[_Word] = []
    joined = _APOSTROPHES.sub("", _EMAIL.sub("email", text))
    end = 0
    for match in _WORD.finditer(joined):
        between = joined[end : match.start()]
        out.append(_Word(_plain(match[0]), match[0][0].isupper(), bool(out) and bool(_BREAK.search(between))))
        end = match.end()
    return [word for word in out if word.text]


def _plain(text: str) -> str:
    """Without case, accents and apostrophes; runs of three and more of a letter as one."""
    decomposed = unicodedata.normalize("NFKD", _APOSTROPHES.sub("", _EMAIL.sub("email", text)).casefold())
    bare = "".join(char for char in decomposed if not unicodedata.combining(char))
    return _RUN.sub(r"\1", bare)
