"""Settings of the ledger's signed checkpoints: where they are published, and how often."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from pydantic import Field, SecretStr, field_validator

from bot.settings.forms import is_url
from bot.settings.group import Conflicts, Group
from bot.settings.groups.files import Files
from grounding.services.address import is_loopback

_ALLOWED = "a folder, or a blob container with its SAS: https://NAME.blob.core.windows.net/CONTAINER?sv=…&sp=rcl&sig=…"


class Checkpoints(Group):
    """The second place of checkpoints, a folder or a blob container, and their schedule."""

    place: SecretStr | None = Field(
        None,
        alias="ledger_checkpoints",
        description="second place where signed checkpoints of the ledger are published: a folder that is there, outside the home, or the URL of a blob container with a SAS",
    )
    every_s: float = Field(
        3600.0,
        alias="ledger_checkpoint_s",
        gt=0,
        le=604_800,
        allow_inf_nan=False,
        description="seconds between two checkpoints while a server runs; one more is published when it stops",
    )

    @field_validator("place")
    @classmethod
    def _place(cls, value: SecretStr | None) -> SecretStr | None:
        text = "" if value is None else value.get_secret_value()
        named = "://" in text or "sig=" in text
        if "\x00" in text or (named and not _is_container(text)):
            raise ValueError(_ALLOWED)
        return value

    @property
    def url(self) -> str | None:
        """The address of the container with its SAS, if the place is one."""
        text = "" if self.place is None else self.place.get_secret_value()
        return text if "://" in text else None

    @property
    def folder(self) -> Path | None:
        """The folder, if the place is one."""
        return None if self.place is None or self.url else Path(self.place.get_secret_value())


def checkpoint_conflicts(checkpoints: Checkpoints, files: Files) -> Conflicts:
    """Checkpoints beside the data prove nothing: who changes the one changes the other."""
    folder = checkpoints.folder
    yield (
        folder is not None and _is_within(folder, files.home),
        f"ATTEST_LEDGER_CHECKPOINTS: {folder} is in ATTEST_HOME, beside the ledger; allowed is another place",
    )


def _is_within(folder: Path, home: Path) -> bool:
    try:
        return folder.resolve().is_relative_to(home.resolve())
    except ValueError:  # a home that is no path is told when it is made
        return False


def _is_container(text: str) -> bool:
    if not is_url(text):
        return False
    parts = urlsplit(text)
    named = bool(parts.path.strip("/")) and "sig" in dict(parse_qsl(parts.query))
    return named and (parts.scheme == "https" or is_loopback(text)) and not (parts.username or parts.fragment)
