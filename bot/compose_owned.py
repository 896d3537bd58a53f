"""What one system has open, and the identity that its services share. A part of `bot.compose`, under its rules."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from pydantic import SecretStr

from bot.settings import Settings

if TYPE_CHECKING:
    from grounding.azure.identity import MachineIdentity

Close = Callable[[], Awaitable[None]]


class Closers(list[Close]):
    """What has to be closed, once and in reverse order."""

    def __init__(self) -> None:
        super().__init__()
        self._identity: MachineIdentity | None = None

    def identity(self, settings: Settings) -> MachineIdentity:
        """The one identity of this machine, closed after every client that was made with it."""
        if self._identity is None:
            self._identity = machine_identity(settings)
            self.append(self._identity.close)
        return self._identity

    def key(self, key: SecretStr | None, settings: Settings) -> str | MachineIdentity:
        """The key that was given, or the identity of this machine."""
        return key.get_secret_value() if key is not None else self.identity(settings)

    async def close(self) -> None:
        """Close everything."""
        while self:
            await self.pop()()


def machine_identity(settings: Settings) -> MachineIdentity:
    """An identity in the cloud of the settings; whoever asks for it closes it. A sign-in ends before the call that waits for it."""
    from grounding.azure.identity import MachineIdentity

    return MachineIdentity(
        settings.cloud, settings.identity_client_id, within_s=min(10.0, 0.5 * settings.call_deadline_s)
    )
