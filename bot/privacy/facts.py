"""What an entry of the ledger tells of whom it is about: ids alone, none of its text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rai.entry_schema import FREE, texts
from rai.ledger.chain import LASTING
from rai.records import Entry

TURN, HOLD, RELEASE = "turn", "hold", "release"
RECORDS = LASTING | {HOLD, RELEASE, "guard", "content"}
"""Kinds that the record needs to be whole and to tell what was done to it. They are never erased."""
PERSONS = frozenset({TURN, "feedback", "refusal_report"})
"""Kinds of what a person asks and says. What somebody does for the company (decisions, documents) is not erased as theirs."""
_GAPS = re.compile(r"\s+")
_SEPARATORS = re.compile(r"[\s()./\\–-]")
_NUMBER = re.compile(r"[a-z]{0,4}\d[\da-z]{4,}")
_DIGITS = 6
"""What is searched for without separators: a number has as many spellings as people."""

Place = tuple[str, str]
"""A conversation of a channel: the name of the channel, the id of the conversation."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Whom an entry is about. `users`: who asked or acted, by `person_key`; `about`: ids of the entries that it refers to, or that its answer was made of; `passage`: the id of one in quarantine."""

    entry_id: str
    kind: str
    at: str
    users: frozenset[str] = frozenset()
    place: Place | None = None
    about: tuple[str, ...] = ()
    passage: str | None = None

    @property
    def conversation(self) -> str | None:
        return self.place[1] if self.place else None


def facts_of(entry: Entry) -> Facts:
    """The facts of an entry; of one whose body is gone, its id, kind and time."""
    body = entry.body
    ask, actor, passage = (object_of(body.get(name)) for name in ("ask", "actor", "passage"))
    users = {text_of(said) for said in (ask.get("user"), actor.get("user"), body.get("user"))}
    channel, conversation = text_of(ask.get("channel")), text_of(ask.get("conversation"))
    named = (body.get("entry_id"), body.get("report"), object_of(ask.get("rework")).get("entry_id"))
    about = tuple(name for name in map(text_of, named) if name)
    return Facts(
        entry.entry_id,
        entry.kind,
        entry.at,
        frozenset(key for user in users if user and (key := person_key(user))),  # of white space alone nobody asked
        (channel or "", conversation) if conversation else None,
        about if entry.kind not in RECORDS else (),
        text_of(passage.get("id")),
    )


def person_key(user: str) -> str:
    """A person's id as ids are compared: portals write the same one in capitals and without."""
    return user.strip().casefold()


def is_erased(entry: Entry) -> bool:
    """True if the body of the entry is gone."""
    return entry.body == {"erased": True}


def erased_by(entry: Entry) -> tuple[str, ...]:
    """The ids that an entry of kind `erase` names."""
    named = entry.body.get("entry_ids")
    return tuple(map(str, named)) if isinstance(named, list) else (str(entry.body.get("entry_id")),)


def says(body: Mapping[str, Any], kind: str, wanted: str) -> bool:
    """True if free text of the body holds `wanted`. Passages of the knowledge base are the company's and are not looked at."""
    stands = texts(body, kind)
    return any(contains(text, wanted) for leaf in FREE for text in stands[leaf])


def contains(text: str, wanted: str) -> bool:
    """True if `text` holds `wanted`, whatever the case and the spaces; a number of six digits and more, also one with letters, in any spelling of its separators."""
    squeezed = _squeezed(wanted)
    if _NUMBER.fullmatch(squeezed) and sum(char.isdigit() for char in squeezed) >= _DIGITS:
        return squeezed in _squeezed(text)
    return _plain(wanted) in _plain(text)


def _squeezed(text: str) -> str:
    return _SEPARATORS.sub("", _plain(text)).replace("+", "00")


def _plain(text: str) -> str:
    return _GAPS.sub(" ", unicodedata.normalize("NFKC", text)).casefold().strip()


def object_of(value: object) -> Mapping[str, Any]:
    """A part of a body; empty where it is none."""
    return value if isinstance(value, Mapping) else {}


def text_of(value: object) -> str | None:
    """A text of a body; None where it is none, or empty."""
    return value if isinstance(value, str) and value else None
