"""What a reviewer looks for: one record that a page's address, a form and a command line are read into, and that makes the address of the same search."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date, timedelta
from typing import Any, get_args
from urllib.parse import urlencode

from bot.desk.rows import KEPT_OUT, REPORTED, SCREEN
from bot.events.kinds import EVERY, NAMES
from bot.wording.reviewing.verdicts import VERDICTS
from rai.records import Kind, Outcome, Status

LONGEST, LONGEST_WORDS = 200, 2_000
"""Characters of a value that is searched for, and of words: a passage of a source may be pasted there."""
SHOWN = 40
"""Characters of a value that is told to be none."""
YES = "yes"
UNDELIVERED = "no"
"""The value of `arrived` for turns whose reply is not known to have arrived."""
IN_EVIDENCE = "evidence"
"""The value of `use` for documents that stood in the evidence, quoted or not."""
UNSUPPORTED = "unsupported"
"""In place of a status: each of those that are wrong and never delivered."""
REACTIONS = ("like", "dislike")
FEEDBACKS = (*REACTIONS, REPORTED, "wrong", "right")
"""What people and reviewers say of a turn: their thumbs, a refusal that was reported as wrong and is undecided, and what was decided on it."""
NONE, ANY = "none", "any"
"""Values of `verdict`: turns that nobody has judged, and those that somebody has, whatever the verdict."""
REASONS = ("struck", "withheld", "disliked", "sampled", "refusal", "quarantine", "unanswered")
"""Why a turn waits in the reviewers' queue."""
CHOICES: Mapping[str, tuple[str, ...]] = {
    "outcome": tuple(o.value for o in Outcome),
    "kind": (EVERY, *NAMES),
    "claim": (*get_args(Kind), SCREEN, KEPT_OUT),
    "status": (UNSUPPORTED, *get_args(Status)),
    "feedback": FEEDBACKS,
    "use": (IN_EVIDENCE,),
    "struck": (YES,),
    "arrived": (UNDELIVERED,),
    "verdict": (NONE, ANY, *VERDICTS),
    "queue": REASONS,
    "sampled": (YES,),
}
"""By name the values that a search knows; "" is any."""
_DAYS = ("since", "until")
_OF_A_DOCUMENT = ("version", "use")
"""What narrows a document, and says nothing without one."""
_QUOTED = re.compile(r'"([^"]*)"|(\S+)')


@dataclass(frozen=True, slots=True)
class DeskSearch:
    """What is searched for, each "" where it does not matter; all that is given must hold.

    `words`: words and "phrases in quotes", each in the question, the answer or elsewhere in what people wrote, `beginning*` for a beginning; `since`,
    `until`: days, both included (UTC); `document` with its `version`: one that the answer quotes, with `use` `evidence` one that it could have quoted;
    `claim`, `status`, `rule`: all three of one claim, or of a refusal with `claim` `screen`, of a passage that was kept out with `passage`; `struck`: `yes` for turns of which something was not delivered;
    `verdict`: the newest of a reviewer, or `none` or `any`; `queue`: turns that wait for that reason; `sampled`: `yes` for turns that chance picked;
    `kind`: of the entry, "" is all but the quiet ones; `entry`: a part of the id; `among`: keys of the people (`person_key`) of whose turns, and of what refers to
    them alone, the search is, None for everything: no address and no form can say it; `before`: only entries with a smaller number, 0 begins at the newest.
    """

    words: str = ""
    since: str = ""
    until: str = ""
    user: str = ""
    channel: str = ""
    product: str = ""
    outcome: str = ""
    kind: str = ""
    document: str = ""
    version: str = ""
    use: str = ""
    claim: str = ""
    status: str = ""
    rule: str = ""
    struck: str = ""
    feedback: str = ""
    arrived: str = ""
    verdict: str = ""
    queue: str = ""
    sampled: str = ""
    entry: str = ""
    before: int = 0
    among: frozenset[str] | None = None

    @classmethod
    def of(cls, query: Mapping[str, str]) -> DeskSearch:
        """From a query string or a form; what is not known there is no condition."""
        given = {name: query.get(name, "").strip()[: _longest(name)] for name in NAMED}
        given |= {name: "" for name, known in CHOICES.items() if given[name] not in known}
        given |= {name: "" for name in _DAYS if not is_day(given[name])}
        given |= dict.fromkeys(_OF_A_DOCUMENT, "") if not given["document"] else {}
        before = query.get("before", "")
        number = int(before) if before.isascii() and before.isdigit() and len(before) < 16 else 0
        return cls(**given, before=number, among=None)

    @property
    def about_turns(self) -> bool:
        """True if a condition holds of turns alone."""
        told = "outcome product document claim status rule struck feedback arrived verdict queue sampled".split()
        return any(getattr(self, name) for name in told)

    @property
    def is_narrowed(self) -> bool:
        """True if anything is searched for."""
        return self.conditions != {}

    @property
    def conditions(self) -> dict[str, str]:
        """What is searched for, by name, without the place in the list."""
        return {name: value for name in NAMED if (value := getattr(self, name))}

    def address(self, **other: Any) -> str:
        """The query string of this search, with `other` values in place of its own; the place in the list is left out unless it is given."""
        values = {**self.conditions, **other}
        return urlencode({name: value for name, value in values.items() if value})

    def older(self, seq: int) -> str:
        """The query string of the page that follows the entry `seq`."""
        return self.address(before=seq)

    def whole(self) -> DeskSearch:
        """The same from the newest entry on."""
        return replace(self, before=0)

    def phrases(self) -> tuple[tuple[str, bool], ...]:
        """The words and phrases, each with whether it is a beginning; those without a letter or digit say nothing and are left out."""
        found = []
        for phrase, word in _QUOTED.findall(self.words.replace("“", '"').replace("”", '"')):
            text = (phrase or word).replace('"', " ").strip()
            if any(char.isalnum() for char in text):
                found.append((text.rstrip("*").strip(), not phrase and text.endswith("*")))
        return tuple(found)


def misread(
    query: Mapping[str, str],
    named: Collection[str] | None = None,
    choices: Mapping[str, Sequence[str]] | None = None,
    *,
    beside: Collection[str] = ("before",),
) -> tuple[str, ...]:
    """What of a query string is no condition, or none that anything can meet, a line each: a search that leaves something out must say so, for what it finds
    is taken for all that there is.

    `named`, `choices`: what a page can be asked for, and the values of those that have some; those of a search if they are not given. `beside`: other names that it knows.
    """
    named = NAMED if named is None else named
    given = dict.fromkeys(NAMED, "") | {name: query.get(name, "").strip() for name in named}
    told = [
        f"“{_short(given[name])}” is no {name}: it was left out. Allowed: {', '.join(known)}"
        for name, known in (CHOICES if choices is None else choices).items()
        if given[name] and given[name] not in known
    ]
    told += [
        f"“{_short(given[name])}” is no day: it was left out. Allowed: a day as 2026-11-25"
        for name in _DAYS
        if given[name] and not is_day(given[name])
    ]
    told += [
        f"{name} was left out: it narrows a document, and none is named"
        for name in _OF_A_DOCUMENT
        if given[name] and not given["document"]
    ]
    told += [
        f"“{_short(name)}” was left out: nothing here is called so"
        for name, value in query.items()
        if value.strip() and name not in named and name not in beside
    ]
    told += [
        f"only the first {_longest(name)} characters of {name} were searched for"
        for name, value in given.items()
        if len(value) > _longest(name)
    ]
    if is_day(given["since"]) and is_day(given["until"]) and given["since"] > given["until"]:
        told.append(f"nothing lies between {given['since']} and {given['until']}: the first day is after the last")
    return tuple(told)


def _longest(name: str) -> int:
    return LONGEST_WORDS if name == "words" else LONGEST


def _short(value: str) -> str:
    return value if len(value) <= SHOWN else f"{value[:SHOWN]}…"


NAMED = tuple(field.name for field in fields(DeskSearch) if field.name not in ("before", "among"))
"""The names of what can be searched for."""


def is_day(text: str) -> bool:
    """True for a day as `2026-11-25`."""
    try:
        return len(text) == 10 and bool(date.fromisoformat(text))
    except ValueError:
        return False


def day_after(day: str) -> str:
    """The day that follows; of the last one that there is, itself."""
    try:
        return (date.fromisoformat(day) + timedelta(days=1)).isoformat()
    except OverflowError:
        return day
