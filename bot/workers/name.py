"""What a process that serves is called, in figures, traces and findings."""

from __future__ import annotations

import re
import socket

_HOST_CHARACTERS = 48


def worker_name(number: int) -> str:
    """`HOST-NUMBER`: this machine, and which of its processes that share a socket; at most 51 letters, digits, dots and hyphens."""
    host = re.sub(r"[^A-Za-z0-9.-]", "-", socket.gethostname())[:_HOST_CHARACTERS]
    return f"{host or 'host'}-{number}"
