"""The knowledge base that comes with the product: taken in, and the people in it placed."""

from __future__ import annotations

import shutil
import subprocess
import sys

import typer

from bot.commands.shared.output import note
from bot.commands.shared.startup import make_home, run
from bot.compose.ingest import is_taken_in
from bot.settings.load import SAMPLE
from bot.settings.settings import Settings
from grounding.errors import InputError

SAMPLE_COMPANY = "Kestrelby Home"
"""Whose help centre the sample is: what a server over it calls the company, unless the settings name one."""


def ingest_sample(settings: Settings) -> None:
    """Take in the sample knowledge base and its people, unless that was done.

    In a process of its own, so that a server does not keep for ever what reading and embedding needed (100 MB).
    Raises InputError, StoreError, or Exit with the code of the ingest.
    """
    make_home(settings)
    place_sample_directory(settings)
    if run(is_taken_in(settings, [SAMPLE / "kb"])):
        note("sample knowledge base: as before")
        return
    done = subprocess.run([sys.executable, "-m", "bot", "ingest", "--sample"], stdout=sys.stderr, check=False)
    if done.returncode:
        raise typer.Exit(done.returncode)


def place_sample_directory(settings: Settings) -> None:
    """Copy the directory of the sample's people to the home, unless there is a directory already. Raises InputError if it cannot be written."""
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
