"""What a reviewer may do: three roles, each with all that the one before it has, and the least that every page, action and export takes.

This table is the one place. The door (`bot.review.door`) opens no route that is not in it, pages show what it allows, and the tests and
the table in docs/review.md are held against it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum


class Role(IntEnum):
    """Roles from the least to the most."""

    READER = 1
    REVIEWER = 2
    ADMINISTRATOR = 3

    @property
    def label(self) -> str:
        """As pages and the record name it."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Right:
    """A route of the desk. `least`: the role that it takes, None for what stands before the door; `what`: what one does there, for people.

    `keeps_to_team`: it shows nothing of turns that its reader may not see. A route that does not say so is shut to whoever sees the turns of a team alone.
    """

    method: str
    path: str
    least: Role | None
    what: str
    keeps_to_team: bool = False


RIGHTS = (
    Right("GET", "/review/sign-in", None, "the page that leads to the provider"),
    Right("GET", "/review/sign-in/go", None, "the way to the provider"),
    Right("GET", "/review/signed-in", None, "the way back from it"),
    Right("GET", "/review/signed-out", None, "what one sees after signing out"),
    Right("POST", "/review/sign-out", Role.READER, "sign out", keeps_to_team=True),
    Right("GET", "/review", Role.READER, "the list: search, counts, state of the chain", keeps_to_team=True),
    Right(
        "GET", "/review/{entry}", Role.READER, "one entry, a turn with all that led to its answer", keeps_to_team=True
    ),
    Right("GET", "/review/{entry}/replay", Role.READER, "a turn run again", keeps_to_team=True),
    Right("GET", "/review/sample", Role.READER, "a sample of a search", keeps_to_team=True),
    Right("GET", "/review/today", Role.READER, "what of a search would be different today", keeps_to_team=True),
    Right("GET", "/review/affected", Role.READER, "answers on text that has changed", keeps_to_team=True),
    Right("GET", "/review/refusals", Role.READER, "refusals that people call wrong", keeps_to_team=True),
    Right("GET", "/review/quarantine", Role.READER, "passages in quarantine", keeps_to_team=True),
    Right("GET", "/review/queue", Role.READER, "what waits for a verdict", keeps_to_team=True),
    Right("GET", "/review/unanswered", Role.READER, "questions that no document answers", keeps_to_team=True),
    Right("GET", "/review/dashboard", Role.READER, "figures over time", keeps_to_team=True),
    Right(
        "GET",
        "/review/found.{form}",
        Role.REVIEWER,
        "all that was found, or a sample of it, as CSV, JSON lines or a bundle with proofs",
        keeps_to_team=True,
    ),
    Right("GET", "/review/unanswered.csv", Role.REVIEWER, "unanswered questions, as CSV", keeps_to_team=True),
    Right(
        "GET",
        "/review/corrections.jsonl",
        Role.REVIEWER,
        "judged turns, as rows for the evaluation",
        keeps_to_team=True,
    ),
    Right("POST", "/review/{entry}/verdict", Role.REVIEWER, "judge a turn", keeps_to_team=True),
    Right("POST", "/review/sample", Role.REVIEWER, "put a sample into the queue", keeps_to_team=True),
    Right("POST", "/review/refusals/{entry}", Role.REVIEWER, "decide on a refusal", keeps_to_team=True),
    Right("POST", "/review/quarantine/{passage}", Role.REVIEWER, "decide on a passage", keeps_to_team=True),
    Right("GET", "/review/sessions", Role.ADMINISTRATOR, "who is signed in"),
    Right("POST", "/review/sessions/{session}", Role.ADMINISTRATOR, "end a session"),
)
"""Every route below `/review`."""
BY_ROUTE: Mapping[tuple[str, str], Right] = {(right.method, right.path): right for right in RIGHTS}


def least_role(method: str, path: str) -> Role | None:
    """The least role for a route, by its pattern. Raises KeyError for one that is not in the table."""
    return BY_ROUTE[method, path].least
