"""The seam to the channel's SDK: activities cross it as plain JSON dicts, failures as the errors below."""

from __future__ import annotations

from typing import Any, Protocol

Json = dict[str, Any]


class Unauthorized(Exception):
    """The request does not prove that it comes from the channel. `str(error)` names the kind of failure, never the token."""


class KeysUnavailable(Exception):
    """The channel's signing keys cannot be fetched, so nobody can be let in or turned away."""


class SendFailed(Exception):
    """The channel did not take an activity.

    `status` is the HTTP status or None if there was no answer; `code` and `detail` are the channel's own words;
    `retry_after` is in seconds. `unsent` is true when the channel surely did not see the request.
    """

    def __init__(
        self,
        status: int | None,
        *,
        code: str = "",
        detail: str = "",
        retry_after: float | None = None,
        unsent: bool = False,
    ) -> None:
        super().__init__(f"the channel answered {status} {code}".rstrip() if status else "the channel did not answer")
        self.status = status
        self.code = code
        self.detail = detail
        self.retry_after = retry_after
        self.unsent = unsent


class Transport(Protocol):
    """What the room needs of a channel SDK. Every activity is complete: serviceUrl, conversation, from, recipient."""

    async def start(self) -> None: ...

    async def close(self) -> None: ...

    async def authenticate(self, activity: Json, authorization: str) -> None:
        """Return if the request is genuine. Raises Unauthorized, KeysUnavailable."""
        ...

    async def send(self, activity: Json) -> str | None:
        """Post once, as a reply if `replyToId` is set; the id that the channel gave it. Raises SendFailed."""
        ...

    async def update(self, activity: Json) -> None:
        """Replace the activity of the same `id`. Raises SendFailed."""
        ...
