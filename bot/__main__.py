"""`python -m bot` and the script `attest`."""

from __future__ import annotations

import sys

from bot.cli import main as run_program


def main() -> int:
    """Run the program with the process's arguments. Returns the exit code."""
    return run_program()


if __name__ == "__main__":
    sys.exit(main())
