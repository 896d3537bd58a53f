"""Every rule of the check in the order in which they are tried: what it decides, whether a judge may overrule it, and what it says to a reviewer.

A claim names its rule (`Claim.rule`), and so do ledger and pages. Rows that fire each rule and rows that it must spare are in
`tests/rai/check/rules.yaml`.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from rai.records import Status

About = Literal["any claim", "value", "name", "sentence", "judge"]
"""What a rule decides: any claim, a value, a name or code, a sentence, or what a judge proposed and code verified."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. `decides`: the statuses it can give. `judge`: True if a judge may be asked about what it condemns or leaves in doubt
    (never about a contact that is condemned). `says`: what it means, a clause for a reviewer.
    """

    id: str
    about: About
    decides: tuple[Status, ...]
    says: str
    judge: bool = True


_HELD: tuple[Status, ...] = ("exact", "normalised")
_DOUBT: tuple[Status, ...] = ("unchecked",)

RULES: tuple[Rule, ...] = (
    Rule("quoted-otherwise", "value", ("absent", "wrong_role"), "the sentence is a source's own, with another value in this place"),
    Rule("token", "value", (*_HELD, "unchecked", "absent"), "digits that belong to no known kind of value: their characters are looked for"),
    Rule("relative-day", "value", ("unchecked", "absent"), "today, last year, 7 days ago: which day it is depends on when it is read"),
    Rule("weekday", "value", ("absent",), "the date beside this weekday falls on another", judge=False),
    Rule("name-number", "value", ("absent",), "a number behind a name that sources number otherwise"),
    Rule("closed-day", "value", ("wrong_role",), "the answer gives hours for a day on which the source says closed"),
    Rule("verbatim", "value", _HELD, "the sentence, or the value as a whole, stands in a source in the same characters"),
    Rule("bound", "value", ("wrong_role",), "the source has it as the least and not the most, per day and not per month, for an earlier time, or for the opposite"),
    Rule("cell-row", "value", ("wrong_role",), "the answer names another row of the table, which has another value there"),
    Rule("cell-column", "value", ("wrong_role",), "the answer names another column of the table, which has another value there"),
    Rule("day-line", "value", ("wrong_role",), "the answer names another day of the week, whose line has another value"),
    Rule("section", "value", ("wrong_role",), "the answer names another heading, below which the same line has another value"),
    Rule("list-item", "name", ("wrong_role",), "the answer names another line of the list, which has another name"),
    Rule("close-wording", "value", ("wrong_role",), "the answer says nearly what the source says of another value"),
    Rule("owner", "value", ("wrong_role",), "a contact of somebody else than the answer names"),
    Rule("sources-disagree", "value", ("conflict",), "sources say different things here, and which is newer is not known"),
    Rule("words-nearer", "value", _DOUBT, "the words of the sentence stand rather by another value of the source"),
    Rule("words-of-another", "value", ("wrong_role",), "what the sentence names, the source says of another contact"),
    Rule("too-many", "value", _DOUBT, "the sources hold the value too often to tell what each place is about"),
    Rule("other-row", "value", ("wrong_role",), "what else the sentence says stands in another row, which has another value there"),
    Rule("other-column", "value", ("wrong_role",), "what else the sentence says stands in another column, which has another value there"),
    Rule("other-card", "value", ("wrong_role",), "it stands on one card, and what else the sentence says on another that has its own"),
    Rule("held", "value", _HELD, "it stands in a source, and nothing that the answer says speaks against the place"),
    Rule("held-beside", "value", _HELD, "it stands in a source for something else than is named, whose value the answer gives too"),
    Rule("context", "value", ("given",), "it stands in the context that was given with the request"),
    Rule("question-rival", "value", ("absent",), "only the person said it, and a source has another value for what the sentence says"),
    Rule("question", "value", ("given", "absent", "unchecked"), "the person said it, and no source speaks against it"),
    Rule("rounded", "value", ("rounded",), "it is said with a hedge, and a source has what it is rounded from"),
    Rule("rate", "value", ("wrong_role",), "the source has the amount per something else"),
    Rule("written-formula", "value", ("derived", "absent"), "the answer writes the calculation out"),
    Rule("worked-out", "value", ("derived",), "it follows from values that are held, each of them said or named"),
    Rule("remainder", "value", ("absent",), "it is called what is left of the two values before it, and is not"),
    Rule("may-follow", "value", _DOUBT, "it would follow from values that nothing names"),
    Rule("how-many", "value", _DOUBT, "a small number or a how often in words: it may count what the answer tells of"),
    Rule("lookalike", "value", ("lookalike",), "the host of an address could be taken for one that the sources name"),
    Rule("only-asked", "value", ("absent", "unchecked"), "it stands in the question alone"),
    Rule("asks-the-reader", "value", _DOUBT, "it stands in a question to the reader, which claims nothing"),
    Rule("within-name", "value", ("normalised",), "a number that is part of a name in a source"),
    Rule("open-year", "value", _DOUBT, "the source has the day without its year"),
    Rule("no-source", "value", ("absent",), "no source has it, nobody said it, and nothing gives it"),
    Rule("name", "name", _HELD, "a source writes the name"),
    Rule("name-role", "name", ("wrong_role", "normalised", "unchecked", "conflict", "lookalike"), "the source names it for something else, or it was named in the question"),
    Rule("name-spelling", "name", _DOUBT, "it differs in a letter from a name of a source"),
    Rule("name-sibling", "name", ("absent",), "sources have a name of which one word is another"),
    Rule("holiday", "name", _DOUBT, "a day that calendars name"),
    Rule("no-name", "name", ("absent",), "no source writes the name"),
    Rule("name-alone", "name", _DOUBT, "no source writes the word; one word alone may be no name"),
    Rule("quoted-opposite", "sentence", ("contradicted",), "the sentence is a source's own, with its sense turned"),
    Rule("statement-stands", "sentence", ("entailed", "contradicted"), "a source says it word for word but for small words, or the opposite in the same words"),
    Rule("statement-word", "sentence", ("contradicted",), "a source has the sentence with another word in one place"),
    Rule("statement-negated", "sentence", ("contradicted",), "a source says the same with the opposite sense"),
    Rule("statement-denied", "sentence", ("contradicted",), "the answer denies a word that a source affirms of the same thing, or affirms one that it denies"),
    Rule("statement-bound", "sentence", ("contradicted",), "a bound is turned: at least for at most, before for after"),
    Rule("statement-regardless", "sentence", ("contradicted",), "a condition of the source is denied"),
    Rule("statement-scope", "sentence", ("contradicted",), "what a source says of some is said of all"),
    Rule("statement-order", "sentence", ("contradicted",), "steps stand in another order"),
    Rule("statement-covered", "sentence", ("entailed",), "a source has what it says in other words, as a fitted model with vetoes sees it"),
    Rule("judge-quote", "judge", (*_HELD, "given", "entailed"), "a model named the line of a source, and code found the value there"),
    Rule("judge-formula", "judge", ("derived",), "a model wrote the calculation, and code computed it from values that it found"),
    Rule("judge-doubt", "judge", _DOUBT, "rules condemn it, a model named the lines that carry it, and code could not follow"),
    Rule("judge-wrong", "judge", ("absent", "wrong_role", "contradicted"), "a model named what the source has instead, and code found that there"),
    Rule("failed", "any claim", _DOUBT, "a rule raised on it: one rule less", judge=False),
)  # fmt: skip

BY_ID = MappingProxyType({rule.id: rule for rule in RULES})
