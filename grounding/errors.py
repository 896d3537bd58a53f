"""Exception hierarchy: every way in which the system can fail, and what may be said of an exception that nobody expected.

AttestError
├── UserError               the user's mistake: one line, exit 2
│   ├── InputError          a file, a field or a line of it: what, where, what is allowed
│   └── SettingsError       a setting: its name, its value, what is allowed
├── ServiceError            something that is needed did not answer: exit 3
│   ├── ServiceUnavailable  refused, reset, 5xx, breaker open
│   ├── ServiceTimeout      our deadline passed
│   ├── ServiceRejected     the service said no to this request (401, 403, 404, 429 after retries)
│   └── ServiceReplyInvalid an answer that cannot be read: HTML with status 200, a cut stream, bad JSON
│       └── ReplyCut        a model's reply that was cut off at its length, also with more room
├── ContentFiltered         the service's own filter blocked the prompt or the draft
├── PromptBlocked           our screen blocked a prompt; it never left
├── WorkError               our own work on a text did not end as it should: a fault of ours, noted and counted
│   ├── WorkOverran         it took longer than it may, and its process was ended
│   └── WorkFailed          it raised, or its process ended by itself
├── BudgetSpent             the policy's tokens for corrective calls, or the turn's budget, have no room; the call was not made
└── StoreError              the index or the store cannot be opened, is locked, or was damaged

Expected ends of a turn are values (`rai.records.Outcome`), not exceptions.
No message carries a secret, a key, or text of a customer. The message and the locals of an exception that is none of ours can hold
a customer's words, so neither is ever looked at: `kind_and_place` and `kind_and_way` tell its type and the way to it through the code.
"""

from __future__ import annotations

import traceback
from pathlib import PurePath

_OURS = ("bot", "rai", "grounding")
_ROOT = PurePath(__file__).parent.parent


class AttestError(Exception):
    """Base class of all errors of ours. `str(error)` is one line fit for a person."""


class UserError(AttestError):
    """Input or setting that cannot be used; says which value, where, and what is allowed."""


class InputError(UserError):
    """A file, a line or a field of the input cannot be used. `code` is stable and machine-readable."""

    def __init__(self, message: str, *, code: str = "bad_input") -> None:
        super().__init__(message)
        self.code = code


class SettingsError(UserError):
    """A setting has a value that is not allowed, or settings contradict each other."""


class ServiceError(AttestError):
    """A remote service did not do its part. `service` names it (never its key or URL)."""

    code = "unavailable"

    def __init__(self, service: str, message: str) -> None:
        super().__init__(f"{service}: {message}")
        self.service = service


class ServiceUnavailable(ServiceError):
    """A service cannot be reached or fails: connection refused or reset, a 5xx after bounded retries, or an open breaker."""


class ServiceTimeout(ServiceError):
    """The deadline of a call passed; the call was cancelled."""

    code = "deadline"


class ServiceRejected(ServiceError):
    """A service understood a request and refused it: bad key, no such deployment, quota.

    `here_alone`: the refusal is of this server and not of the request, so another server may take it.
    """

    code = "rejected"

    def __init__(self, service: str, message: str, *, here_alone: bool = False) -> None:
        super().__init__(service, message)
        self.here_alone = here_alone


class ServiceReplyInvalid(ServiceError):
    """A reply cannot be read, or ends before it says that it is complete."""

    code = "bad_reply"


class ReplyCut(ServiceReplyInvalid):
    """A model's reply was cut off at its length: in mid-number it would read like a whole one."""


class ContentFiltered(AttestError):
    """The model service's own content filter refused the prompt or cut the draft."""


class PromptBlocked(AttestError):
    """Our prompt screen blocked a prompt before it reached a model.

    `unavailable` is true when the screen itself failed: closed, but no decision was made.
    """

    def __init__(self, rule: str | None, *, unavailable: bool = False) -> None:
        super().__init__("the prompt screen is unavailable" if unavailable else "the prompt screen blocked this prompt")
        self.rule = rule
        self.unavailable = unavailable


class WorkError(AttestError):
    """Our own processing of a text did not end as it should. `code` is stable and machine-readable; no word of the text is in the message."""

    code = "internal"


class WorkOverran(WorkError):
    """Processing of a text took longer than it may; the process that did it was killed, and others go on."""

    code = "too_slow"


class WorkFailed(WorkError):
    """Processing of a text raised what nobody expected, or its process ended by itself; the message names the line of ours."""


class BudgetSpent(AttestError):
    """A model call was not made: the policy's tokens for corrective calls, or what a turn may take of chat models, leave no room for it."""


class StoreError(AttestError):
    """The local store or one of its indexes cannot be used: locked, damaged, or of another version."""


def kind_and_place(error: BaseException) -> str:
    """Type of an error and the last place in our own code, if any: `KeyError at rai/screening/screen.py:88`."""
    places = _places(error)
    ours = [place for place in places if place.startswith(_OURS)]
    return f"{type(error).__name__} at {(ours or places or ['an unknown place'])[-1]}"


def kind_and_way(error: BaseException) -> str:
    """Type of an error and every place from the outermost to where it was raised, on one line: a traceback without content."""
    return f"{type(error).__name__} by {' > '.join(_places(error)) or 'an unknown way'}"


def _places(error: BaseException) -> list[str]:
    return [f"{_short(frame.filename)}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)]


def _short(filename: str) -> str:
    """The path from our package on; of a file of others its name alone: where things are installed is nobody's business."""
    path = PurePath(filename)
    if path.is_relative_to(_ROOT) and path.relative_to(_ROOT).parts[0] in _OURS:
        return path.relative_to(_ROOT).as_posix()
    return path.name
