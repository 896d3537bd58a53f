"""What reviewers say of turns. The ledger only ever grows, so each verdict is an entry of its own that names its turn; the newest counts, and all stay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bot.desk.index import Desk
from bot.events.kinds import VERDICT
from bot.judging.fit import misfit, unknown
from bot.records import Actor
from bot.turn.entries.disputes import Decision, decide, dispute_of
from bot.wording.reviewing.verdicts import VERDICTS, Verdict
from grounding.errors import InputError
from grounding.ports import Library
from grounding.records import plain
from rai.entry_schema import NAME, SCHEMA
from rai.ports import Ledger
from rai.records import Entry, Outcome

WORDS_MAX = 2_000
CORRECTION_MAX = 8_000
FACTS_MAX, FACT_MAX = 20, 200
"""Facts of one answer, and characters of one spelling."""
SPELLINGS = "|"
"""What stands between the spellings of one fact on its line."""
SAID_MAX = 200
"""Entries that are looked at for what was said of a turn, the newest ones."""
_DECIDES: dict[Verdict, Decision] = {"right": "right", "wrongly_refused": "wrong"}
"""What a verdict on a refused turn decides of the report that it was refused by mistake."""


@dataclass(frozen=True, slots=True)
class Assessment:
    """What a reviewer says of a turn.

    `correction`: the answer as it should have been; `facts`: what a right answer says, each by its spellings of which any will do; `wrong`: what only a wrong
    answer says; `documents`: ids of those that answer it.
    """

    verdict: Verdict
    comment: str = ""
    correction: str = ""
    facts: tuple[tuple[str, ...], ...] = ()
    wrong: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()

    @classmethod
    def of(cls, verdict: str, comment: str = "", correction: str = "", **lines: str) -> Assessment:
        """From the fields of a form; of `facts`, `wrong` and `documents` each line is one. Raises InputError, which names the field."""
        if verdict not in VERDICTS:
            raise InputError(f"the verdict must be one of {', '.join(VERDICTS)}")
        facts = [tuple(_split(line, SPELLINGS)) for line in _lines(lines.get("facts", ""))]
        made = cls(
            verdict,
            comment.strip(),
            correction.strip(),
            tuple(fact for fact in facts if fact),
            tuple(_lines(lines.get("wrong", ""))),
            tuple(_lines(lines.get("documents", ""))),
        )
        for name, text, most in (("comment", made.comment, WORDS_MAX), ("answer", made.correction, CORRECTION_MAX)):
            if len(text) > most:
                raise InputError(f"the {name} has {len(text)} characters; allowed: at most {most}")
        for name, said in (("facts", made.facts), ("wrong", made.wrong), ("documents", made.documents)):
            texts = [text for each in said for text in (each if isinstance(each, tuple) else (each,))]
            if len(said) > FACTS_MAX or any(len(text) > FACT_MAX for text in texts):
                raise InputError(f"{name}: allowed are {FACTS_MAX} lines of at most {FACT_MAX} characters")
        return made

    @classmethod
    def recorded(cls, body: dict[str, Any]) -> Assessment | None:
        """As an entry has it; None where that is of a shape that nobody knows."""
        try:
            return cls.of(
                body["verdict"],
                body.get("comment") or "",
                body.get("correction") or "",
                facts="\n".join(SPELLINGS.join(fact) for fact in body.get("facts") or ()),
                wrong="\n".join(body.get("wrong") or ()),
                documents="\n".join(body.get("documents") or ()),
            )
        except (InputError, KeyError, TypeError, AttributeError):
            return None

    def as_body(self) -> dict[str, Any]:
        """The part of an entry's body that says this; what is empty is left out."""
        given = {
            "comment": self.comment,
            "correction": self.correction,
            "facts": [list(fact) for fact in self.facts],
            "wrong": list(self.wrong),
            "documents": list(self.documents),
        }
        return {"verdict": self.verdict, **{name: value for name, value in given.items() if value}}


async def judge(
    ledger: Ledger, desk: Desk, library: Library, entry_id: str, said: Assessment, *, channel: str, by: Actor
) -> Entry:
    """Record a verdict on a turn, and who gives it. On a refusal that was reported as a mistake it decides the report too. The same once more by the same person changes nothing.

    Raises InputError if there is no such turn, or the verdict does not fit it, or names a document that the knowledge base does not have; StoreError.
    """
    turn = await ledger.get(entry_id[:100])
    if turn is None or turn.kind != "turn" or not isinstance(turn.body.get("reply"), dict):
        raise InputError("the ledger has no turn with this id that can be judged", code="not_found")
    if problem := misfit(turn, said.verdict) or await unknown(library, said.documents):
        raise InputError(problem.removesuffix("."))
    before = await last_verdict(ledger, desk, turn.entry_id)
    told = said.as_body()
    if before is not None and _says(before) == (told, _whose(plain(by))):
        return before
    body = {
        NAME: SCHEMA,
        "entry_id": turn.entry_id,
        **told,
        **({"replaces": before.entry_id} if before else {}),
        "channel": channel,
        "actor": plain(by),
    }
    entry = await ledger.append(VERDICT, body)
    if turn.body["reply"].get("outcome") == Outcome.BLOCKED.value and said.verdict in _DECIDES:
        dispute = await dispute_of(ledger, turn)
        if dispute is not None and dispute.state != _DECIDES[said.verdict]:
            await decide(ledger, turn.entry_id, _DECIDES[said.verdict], said.comment, channel=channel, by=by)
    return entry


async def said_about(ledger: Ledger, desk: Desk, entry_id: str) -> list[Entry]:
    """What the newest entries say of a turn: feedback, reports and decisions, verdicts, samples, deliveries; the oldest first. Raises StoreError."""
    await desk.follow(ledger)
    names = await desk.said_of(entry_id, SAID_MAX)
    return [entry for name in names if (entry := await ledger.get(name)) is not None and entry.body != {"erased": True}]


async def last_verdict(ledger: Ledger, desk: Desk, entry_id: str) -> Entry | None:
    """The verdict on a turn that counts; None while nobody has judged it. Raises StoreError."""
    return next((e for e in reversed(await said_about(ledger, desk, entry_id)) if e.kind == VERDICT), None)


def _says(entry: Entry) -> tuple[dict[str, Any], Any]:
    known = Assessment.recorded(entry.body)
    return (known.as_body() if known else {}), _whose(entry.body.get("actor"))


def _whose(actor: object) -> object:
    """Whom a record of an actor means: of a person who is known, not in which session, by which name or with which role."""
    if not isinstance(actor, dict) or not actor.get("user"):
        return actor
    how = str(actor.get("authenticated_by") or "").split(" ")[0]
    return actor["user"], actor.get("tenant"), how


def _lines(text: str) -> list[str]:
    return _split(text, "\n")


def _split(text: str, mark: str) -> list[str]:
    return [part for each in text.split(mark) if (part := " ".join(each.split()))]
