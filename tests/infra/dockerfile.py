"""The Dockerfile as a list of instructions, and what the builder is sent: read alike by whoever tests them."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "infra" / "Dockerfile").read_text(encoding="utf-8")
IGNORED = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()


def instructions(text: str) -> list[tuple[str, str]]:
    """(instruction, arguments) in order; comments dropped, continued lines joined."""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n", " ", "\n".join(lines))
    return [
        (name.upper(), rest.strip()) for name, _, rest in (line.strip().partition(" ") for line in joined.splitlines())
    ]


ALL = instructions(DOCKERFILE)


def included(path: str) -> bool:
    """True if .dockerignore lets `path` through: the last pattern that matches it or a folder above it decides."""
    parts = path.split("/")
    above = ["/".join(parts[: n + 1]) for n in range(len(parts))]
    decided = True
    for line in IGNORED:
        pattern = line.strip()
        if not pattern or pattern.startswith("#"):
            continue
        keep = pattern.startswith("!")
        wanted = pattern.lstrip("!")
        forms = [wanted, wanted.removeprefix("**/")] if wanted.startswith("**/") else [wanted]
        if any(_matches(place, form, anywhere=wanted.startswith("**/")) for place in above for form in forms):
            decided = keep
    return decided


def _matches(place: str, pattern: str, *, anywhere: bool) -> bool:
    name = place.rsplit("/", 1)[-1] if anywhere else place
    return ("/" not in name or "/" in pattern) and fnmatch(name, pattern)
