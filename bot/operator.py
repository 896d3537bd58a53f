"""Who runs a command on this machine, as the record keeps it."""

from __future__ import annotations

import os
import pwd

from bot.records import Actor


def operator() -> Actor:
    """The account of the operating system that this process runs as: nothing in the environment can name another."""
    number = os.getuid()
    try:
        return Actor(pwd.getpwuid(number).pw_name, "account")
    except KeyError:  # a container runs as any number
        return Actor(f"uid {number}", "account")
