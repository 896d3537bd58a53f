"""A conversation or e-mail that somebody pasted as a question: who said what, and what is asked.

People paste what their tools give them: names, times in brackets, `Kunde`, `Visitor`, `Guest (web)`, an instruction above it, labels glued
together because a client lost the line breaks. The question may stand in the middle.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from bot.turn.conversation.open_questions import open_questions
from bot.turn.conversation.quoted_mail import own_and_quoted
from bot.turn.conversation.transcript import SPEAKERS
from bot.wording.notices import said
from bot.wording.refusals import FALLBACK
from grounding.query.conversation import asks
from grounding.records import Role, Turn
from grounding.text import sentences, terms

_CUSTOMER = frozenset(
    "customer client caller user guest visitor member buyer patient passenger tenant parent kunde kundin gast besucher anrufer cliente visitante visiteur utente usuario klant bezoeker klient".split()
)
_AGENT = frozenset(
    "agent bot support rep representative advisor adviser operator assistant team staff service desk host moderator chatbot mitarbeiter mitarbeiterin berater beraterin conseiller agente operatore medewerker konsultant us me".split()
)
_CLOCK = r"(?:\d{1,4}[./-]\d{1,2}(?:[./-]\d{1,4})?,? )?\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?:[ \u202f]?[apAP]\.?[mM]\.?)?"
_SAID = re.compile(
    rf"[>\s*_]*(?P<time>[\[(]?{_CLOCK}[\])]?[\s–|-]*)?(?:\*\*)?(?P<name>[^\W\d_][\w.'’ -]{{0,34}}?)(?P<note> ?\([^)\n]{{1,20}}\))?(?:\*\*)?(?P<after> ?[\[(]{_CLOCK}[\])])?\s?:(?:\*\*)?(?:[ \t]+|$)(?P<said>.*)"
)
_HEADER = re.compile(
    r"[>\s]*(?:from|to|cc|subject|sent|date|von|an|betreff|gesendet|datum|de|à|objet|envoyé|para|asunto|fecha|da|a|oggetto|van|aan|onderwerp|od|do|temat) ?: ?\S",
    re.IGNORECASE,
)
_GLUED = re.compile(
    rf"(?<=[\w.?!)])(?=(?:{'|'.join(word.title() for word in sorted((_CUSTOMER | _AGENT) - {'me', 'us'}))})(?: \([^)\n]{{1,20}}\))?:[ \t]+\S)"
)
"""Between a word and a label without a space: "… help?Customer: my …"."""
_RUN_ON = re.compile(
    r"(?<=\S)[ \t]+(?=[\[(]\d{1,2}[:.]\d{2}(?:[:.]\d{2})?[\])][ \t]+[^\W\d_][\w.'’ -]{0,34}?(?: ?\([^)\n]{1,20}\))?:[ \t])"
)
"""Before a time in brackets and a name, within a line: "… hi there [10:03] Tom (Agent): hello"."""
_STAMPED = re.compile(rf"[>\s]*(?P<name>[^\W\d_][\w.'’ -]{{0,34}}?),?[ \t]+[\[(]?{_CLOCK}[\])]?\s*")
"""A line that is a name and a time; what is said follows below."""
_STAMPED_BEFORE = re.compile(rf"[>\s]*[\[(]{_CLOCK}[\])][ \t]+(?P<name>[^\W\d_][\w.'’ -]{{0,34}}?)\s*")
"""A line that is a time in brackets and a name, as Teams copies several messages: "[11/23 10:02 AM] Jo Doe"."""
_NUMBERED = re.compile(rf"[>\s]*[\[(]{_CLOCK}[\])][ \t]*(?P<name>\+?[\d* ()-]{{6,20}}):[ \t]*(?P<said>.*)")
"""Who has no name in the address book of a telephone."""
_SIGNED = re.compile(
    r"\n[ \t]*(?:(?:kind|best|warm)?\s*regards|best wishes|thanks|thank you|yours|sincerely|cheers|(?:mit )?(?:(?:freundliche|beste|liebe|viele|schöne)[nr]? )?gr(?:ü|u|ue)(?:ß|ss)(?:en|e)?|mfg|lg|(?:bien )?cordialement|bien à vous|(?:un |atentos )?saludos?|(?:cordiali|distinti) saluti|(?:com os melhores )?cumprimentos|(?:met )?(?:vriendelijke|hartelijke)? ?groet(?:en|jes)?|pozdrawiam)\b[^\n]{0,40}(?:\n|$)",
    re.IGNORECASE,
)
_GREETING = re.compile(
    r"(?:dear|hi|hello|hey|hallo|guten tag|bonjour|hola|buongiorno|sehr geehrte\w*)\b[^\n.?!]{0,40}[,!.]?[ \t]*\n",
    re.IGNORECASE,
)
FEWEST = 2
"""Lines that say who speaks, of a conversation."""
LONGEST_QUESTION = 700
"""Characters of what is taken as the question; of more its end."""


@dataclass(frozen=True, slots=True)
class Pasted:
    """What was understood: the question, the turns around it in their order, and how many messages there were."""

    question: str
    history: tuple[Turn, ...]
    messages: int

    def told(self, language: str = FALLBACK) -> str:
        """The line that says so, in a language (ISO 639-1)."""
        short = " ".join(self.question.split())
        asked = short if len(short) <= _SHOWN else f"… {short[-_SHOWN:]}"
        return said("read_one" if self.messages == 1 else "read_many", language).format(n=self.messages, asked=asked)


_SHOWN = 160


def read_pasted(text: str) -> Pasted | None:
    """The conversation or e-mail in `text`, or None where it is neither, or nobody asks or tells anything in it."""
    lines = _RUN_ON.sub("\n", _GLUED.sub("\n", text.lstrip("\ufeff"))).splitlines()
    return _conversation(lines) or _reply(lines) or _mail(lines)


# --- conversations ----------------------------------------------------------------------------------------------------


def _conversation(lines: list[str]) -> Pasted | None:
    heads = [_head(line) for line in lines]
    if not _is_conversation(heads):
        return None
    first = next(n for n, head in enumerate(heads) if head is not None)
    roles = _roles([head[0] for head in heads if head is not None])
    said: list[tuple[Role, list[str]]] = []
    for line, head in zip(lines[first:], heads[first:], strict=True):
        if head is not None:
            said.append((roles[_key(head[0])], [head[1]]))
        else:
            said[-1][1].append(line)
    turns = [Turn(role, words) for role, texts in said if (words := "\n".join(texts).strip())]
    above = "\n".join(lines[:first]).strip()
    question = _asked(turns)
    if question is None:
        return None
    start, end = question
    open_ = _still_open(turns, start)
    text = "\n".join([*open_, *(turn.text for turn in turns[start:end])])
    if not any(asks(s.text) for s in sentences(text)) and asks(above):
        text = f"{text}\n{above}"
    asked, cut = _end_of(text)
    around = [
        *([Turn("user", above)] if above else []),
        *(t for t in turns[:start] if t.text not in open_),
        *cut,
        *turns[end:],
    ]
    return Pasted(asked, tuple(around), len(turns))


def _still_open(turns: list[Turn], start: int) -> list[str]:
    """The questions of the customer before their last messages that the agent has not answered; none where these answer what the agent asked."""
    if _answers_back(turns, (start, len(turns))):
        return []
    asked = [s.text for text in open_questions(turns[:start]) for s in sentences(text)]
    return [text for text in asked if _asks_something(text)]


def _end_of(text: str) -> tuple[str, list[Turn]]:
    """The end of a long question, and what stands before it as a turn of its own: nothing is lost."""
    before = text[:-LONGEST_QUESTION].strip()
    return text[-LONGEST_QUESTION:].strip(), [Turn("customer", before)] if before else []


def _head(line: str) -> tuple[str, str, bool] | None:
    """Who speaks in a line, what they say, and whether a time or a known word shows that it is a message; None of any other line."""
    if stamped := _STAMPED.fullmatch(line) or _STAMPED_BEFORE.fullmatch(line):
        return stamped["name"], "", True
    if numbered := _NUMBERED.fullmatch(line):
        return numbered["name"], numbered["said"], True
    match = _SAID.match(line)
    if match is None or len(match["name"].split()) > _WORDS_OF_NAME:
        return None
    name = f"{match['name']}{match['note'] or ''}"
    known = _role_of(name) is not None
    timed = bool(match["time"] or match["after"])
    return name, match["said"], known or timed


_WORDS_OF_NAME = 4


def _is_conversation(heads: list[tuple[str, str, bool] | None]) -> bool:
    """True of at least two messages, each with a time or somebody's role, or with names of which one speaks twice; of one that a customer begins."""
    found = [head for head in heads if head is not None]
    if len(found) == 1 and heads[0] is not None:
        return _role_of(heads[0][0]) == "customer" and _key(heads[0][0]) in _CUSTOMER
    sure = sum(head[2] for head in found)
    if sure >= FEWEST:
        return any(_role_of(h[0]) is None or _role_of(h[0]) in ("customer", "user") for h in found)
    names = [_person(head[0]) for head in found]
    return len(names) > FEWEST and 1 < len(set(names)) < len(names) and all(name.istitle() for name in names)


def _key(name: str) -> str:
    return name.strip().lower()


def _person(name: str) -> str:
    """A name without what stands in brackets behind it: Dee of "Dee (agent)", who is Dee in the next line."""
    return name.partition("(")[0].strip()


def _role_of(name: str) -> Role | None:
    if (role := SPEAKERS.get(_key(name))) is not None:
        return role
    words = frozenset(re.findall(r"[^\W\d_]+", name.lower()))
    return "agent" if words & _AGENT else "customer" if words & _CUSTOMER else None


def _roles(names: list[str]) -> dict[str, Role]:
    """The role of each speaker: by what they are called; of people by name the first is who writes in, if nobody else does."""
    roles: dict[str, Role] = {}
    known = {_key(_person(name)): role for name in names if (role := _role_of(name)) is not None}
    named = set(known.values())
    for name in names:
        role = _role_of(name) or known.get(_key(_person(name)))
        if role is None:
            role = (
                "agent"
                if "customer" in named or ("customer" in roles.values() and "agent" not in named)
                else "customer"
            )
        roles.setdefault(_key(name), role)
    return roles


def _asked(turns: list[Turn]) -> tuple[int, int] | None:
    """Where the question stands: the last messages of a customer in a row of which one asks something; else the one that tells most."""
    runs = _runs(turns)
    if runs and _answers_back(turns, runs[-1]):
        return runs[-1]
    asking = [run for run in runs if any(_asks_something(turn.text) for turn in turns[slice(*run)])]
    if asking:
        return asking[-1]
    return max(runs, key=lambda run: sum(len(terms(t.text)) for t in turns[slice(*run)]), default=None)


def _asks_something(text: str) -> bool:
    return any(asks(s.text) and terms(s.text) for s in sentences(text))


def _answers_back(turns: list[Turn], run: tuple[int, int]) -> bool:
    """True of a last word that answers what the agent asked: the red one."""
    before = turns[run[0] - 1] if run[0] else None
    asked = before is not None and any(asks(s.text) for s in sentences(before.text))
    said = terms(" ".join(turn.text for turn in turns[slice(*run)]))
    return asked and 1 < len(said) <= _SHORT_ANSWER


_SHORT_ANSWER = 8
"""Words that tell something of an answer to a question back."""


def _runs(turns: list[Turn]) -> list[tuple[int, int]]:
    """Stretches of messages of a customer in a row, half open."""
    runs: list[tuple[int, int]] = []
    for n, turn in enumerate(turns):
        if turn.role in ("agent", "assistant"):
            continue
        if runs and runs[-1][1] == n:
            runs[-1] = (runs[-1][0], n + 1)
        else:
            runs.append((n, n + 1))
    return runs


# --- e-mails ----------------------------------------------------------------------------------------------------------


def _reply(lines: list[str]) -> Pasted | None:
    """An e-mail that quotes the one that it answers: what is asked are its author's own words, wherever they stand; of one without any the head is looked for."""
    own, quoted = own_and_quoted(lines)
    if not quoted:
        return None
    text = "\n".join(own)
    if not (terms(text) and any(asks(s.text) for s in sentences(text))):
        return None
    above, asked, below = _letter(text.strip())
    older = "\n".join(line.lstrip("> ") for line in quoted).strip()
    question, cut = _end_of(asked.strip())
    around = (f"{above}{below}".strip(), older)
    return Pasted(question, (*(Turn("user", part) for part in around if part), *cut), 1)


def _letter(body: str) -> tuple[str, str, str]:
    """The greeting of a letter, what it says, and its end from the signature on."""
    greeting = _GREETING.match(f"{body}\n")
    above, body = (greeting.group(), body[greeting.end() :]) if greeting else ("", body)
    signed = _SIGNED.search(f"\n{body}")
    return (
        (above, body, "") if signed is None else (above, f"\n{body}"[: signed.start()], f"\n{body}"[signed.start() :])
    )


def _mail(lines: list[str]) -> Pasted | None:
    """An e-mail with at least two lines of its head: its text without greeting and signature is what is asked, the rest stands around it."""
    at = [n for n, line in enumerate(lines) if _HEADER.match(line)]
    first = next((n for n, m in pairwise(at) if m - n == 1), None)
    if first is None:
        return None
    last = first
    while last + 1 < len(lines) and _HEADER.match(lines[last + 1]):
        last += 1
    body = "\n".join(line.lstrip("> ") for line in lines[last + 1 :]).strip()
    above, asked, rest = _letter(body)
    if not terms(asked):
        return None
    around = ("\n".join(lines[:first]), "\n".join(lines[first : last + 1]), f"{above}{rest}")
    kept = tuple(Turn("user", part.strip()) for part in around if part.strip())
    question, cut = _end_of(asked.strip())
    return Pasted(question, (*kept, *cut), 1)
