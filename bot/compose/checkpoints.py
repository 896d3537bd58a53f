"""Builds the second place of the ledger's checkpoints, and who publishes to it."""

from __future__ import annotations

from bot.compose.resources import Resources
from bot.settings.settings import Settings
from rai.ledger.checkpoints.publish import Publisher, Signable
from rai.ports import CheckpointSink

SETTING = "ATTEST_LEDGER_CHECKPOINTS"


def checkpoint_sink(settings: Settings, resources: Resources) -> CheckpointSink | None:
    """The folder or the container of the settings; None where there is neither. Raises SettingsError for an address that cannot be used."""
    where = settings.checkpoints
    if where.folder is not None:
        from rai.embedded.checkpoint_folder import FolderSink

        return FolderSink(where.folder)
    if where.url is None:
        return None
    from rai.azure.checkpoint_container import SERVICE, ContainerSink

    sink = ContainerSink(where.url, resources.remote(settings, SERVICE), setting=SETTING)
    resources.append(sink.aclose)
    return sink


def publisher(settings: Settings, ledger: Signable, resources: Resources) -> Publisher | None:
    """Who publishes checkpoints of `ledger`; None where there is no place for them. Raises SettingsError as above."""
    sink = checkpoint_sink(settings, resources)
    return None if sink is None else Publisher(ledger, sink)
