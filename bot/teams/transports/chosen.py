"""Which SDK carries activities to and from the channel. Each is imported only where it is chosen."""

from __future__ import annotations

import importlib
from importlib.util import find_spec

from bot.settings.settings import Settings
from bot.teams.ports import Transport
from grounding.errors import SettingsError

INSTALL = "pip install 'attest-copilot[agents]'"
_PACKAGES = {
    "botbuilder": ("botbuilder.core",),
    "agents": ("microsoft_agents.hosting.core", "microsoft_agents.authentication.msal"),
}
"""What must be installed, by the value of `ATTEST_BOT_SDK`."""
_TRANSPORTS = {
    "botbuilder": ("bot.teams.transports.botbuilder", "BotbuilderTransport"),
    "agents": ("bot.teams.transports.agents_sdk", "AgentsTransport"),
}
"""By the value of `ATTEST_BOT_SDK` module and class."""


def is_installed(sdk: str) -> bool:
    """Whether the SDK of that name is here as a whole; it is not imported."""
    try:
        return all(find_spec(name) is not None for name in _PACKAGES[sdk])
    except ModuleNotFoundError:  # not even what it lies in
        return False


def transport_for(settings: Settings) -> Transport:
    """The transport of `ATTEST_BOT_SDK`. Raises SettingsError where its SDK is not installed or the registration is incomplete."""
    if not is_installed(settings.bot.sdk):
        raise SettingsError(f"ATTEST_BOT_SDK={settings.bot.sdk} needs its extra: {INSTALL}")
    module, name = _TRANSPORTS[settings.bot.sdk]
    made: Transport = getattr(importlib.import_module(module), name)(settings)
    return made
