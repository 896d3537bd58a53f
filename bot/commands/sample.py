"""The knowledge base that comes with the product, and the people in it."""

from __future__ import annotations

import shutil

from bot.settings.load import SAMPLE
from bot.settings.settings import Settings
from grounding.errors import InputError


def place_sample_directory(settings: Settings) -> None:
    """Give the sample's people their groups, unless there is a directory already."""
    source, target = SAMPLE / "directory.yaml", settings.files.home / "directory.yaml"
    if not source.is_file() or target.exists() or settings.directory.file is not None:
        return
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    except OSError as error:
        raise InputError(
            f"ATTEST_HOME {settings.files.home}: {(error.strerror or 'cannot be written').lower()}"
        ) from None
