"""What one system has open and closes at its end, and what its parts share: services, the identity of this machine."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Hashable
from typing import TYPE_CHECKING, Protocol, TypeVar, cast

from pydantic import SecretStr

from bot.settings.settings import Settings
from grounding.services.address import check_address
from grounding.services.breaker import FAILURES, Breaker
from grounding.services.cloud import COGNITIVE, is_azure_ai
from grounding.services.remote import Remote

if TYPE_CHECKING:
    from grounding.azure.core.identity import MachineIdentity

T = TypeVar("T")
Close = Callable[[], Awaitable[None]]


class Watched(Protocol):
    """A service, or several that stand in for each other: its name, and the reason why it is not called now."""

    @property
    def service(self) -> str:
        """Its name."""
        ...

    @property
    def trouble(self) -> str | None:
        """Why it is left alone; None while it is called."""
        ...


class Resources(list[Close]):
    """The list of what has to be closed, once and in reverse order. Beside it keeps the services that are called, and what parts share."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock`, in seconds: how long a service that failed has been left alone."""
        super().__init__()
        self._clock = clock
        self._identity: MachineIdentity | None = None
        self._watched: list[tuple[Watched, bool]] = []
        self._shared: dict[Hashable, object] = {}

    def remote(
        self,
        settings: Settings,
        service: str,
        *,
        within_s: float | None = None,
        retries: int | None = None,
        failures: int = FAILURES,
        needed: bool = False,
        shared_as: Hashable | None = None,
    ) -> Remote:
        """A new wrapper for the calls of a service: deadline, retries, and a pause after failures.

        `within_s` (seconds) and `retries` take the place of the settings'; `failures` in a row after which the service is left alone;
        `needed`: without it no turn can be answered; `shared_as`: calls under the same key share a breaker.
        """

        def breaker() -> Breaker:
            return Breaker(failures, settings.bounds.breaker_s, clock=self._clock)

        remote = Remote(
            service,
            deadline_s=settings.bounds.call_deadline_s if within_s is None else within_s,
            retries=settings.bounds.retries if retries is None else retries,
            breaker=breaker() if shared_as is None else self.shared(("breaker", shared_as), breaker),
            limit=settings.bounds.concurrent_calls,
        )
        self.watch(remote, needed=needed)
        return remote

    def watch(self, service: Watched, *, needed: bool) -> None:
        """Count a service among those whose trouble is told."""
        self._watched.append((service, needed))

    def shared(self, key: Hashable, make: Callable[[], T]) -> T:
        """The one object of this system for `key`, made at the first call."""
        if key not in self._shared:
            self._shared[key] = make()
        return cast("T", self._shared[key])

    def trouble(self, *, needed: bool) -> dict[str, str]:
        """Services that are left alone for now because they failed, each with the reason: those that are needed, or the others."""
        found = [(r.service, r.trouble) for r, is_needed in self._watched if is_needed == needed]
        return {service: why.removeprefix(f"{service}: ") for service, why in found if why}

    def identity(self, settings: Settings) -> MachineIdentity:
        """The identity of this machine, one for all services of the system; closed after every client that was made with it."""
        if self._identity is None:
            self._identity = machine_identity(settings)
            self.append(self._identity.close)
        return self._identity

    def key(self, key: SecretStr | None, settings: Settings) -> str | MachineIdentity:
        """The key that was given, or the identity of this machine."""
        return key.get_secret_value() if key is not None else self.identity(settings)

    def openai_credential(
        self,
        settings: Settings,
        key: SecretStr | None,
        url: str | None,
        *,
        setting: str,
        service: str,
        scope: str | None,
    ) -> str | Callable[[], Awaitable[str]] | None:
        """What a server of OpenAI's interface is entered with: the key that was given, else a token of this machine's identity if the address
        is Azure's, else nothing, as a local server wants it.

        `setting`: the variable of `url`; `service`: its name in errors; `scope`: whom the token is for, None is Azure's own services. Raises
        SettingsError for an address that no token may go to.
        """
        if key is not None:
            return key.get_secret_value()
        if not is_azure_ai(url or ""):
            return None
        check_address(url or "", setting, "https://NAME.openai.azure.com/openai/v1/")
        return self.identity(settings).bearer(service, scope or COGNITIVE)

    async def close(self) -> None:
        """Close everything, the newest first."""
        while self:
            await self.pop()()


def machine_identity(settings: Settings) -> MachineIdentity:
    """An identity of this machine in the cloud of the settings; the caller closes it. A sign-in takes half the time of a call, 10 s at most."""
    from grounding.azure.core.identity import MachineIdentity

    return MachineIdentity(
        settings.identity.cloud, settings.identity.client_id, within_s=min(10.0, 0.5 * settings.bounds.call_deadline_s)
    )
