"""The versions of what turns run on, as their records keep them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict

from bot.records import Versions
from bot.settings.settings import Settings

ELSEWHERE = {"files", "database", "checkpoints", "serving", "signin", "reviewing", "log", "traces", "retention"}
"""Groups of settings that decide where things lie and who may reach them, and nothing of how a turn runs."""


def versions(settings: Settings, *, embedding: str, screen: str, reader: str) -> Versions:
    """The program, the models of this machine that are there, by the hash in their name, and the settings."""
    models = {"embedding": embedding, "screen": screen, "reader": reader}
    return Versions(models={role: name for role, name in models.items() if name}, settings=settings_hash(settings))


def settings_hash(settings: Settings) -> str:
    """SHA-256, 16 hexadecimal digits, of the settings that decide how turns run; a secret counts as set or not, never by its value."""
    told = settings.model_dump(mode="json", exclude=ELSEWHERE)
    if settings.model.backends is not None:
        told["backends"] = asdict(settings.model.backends)
    return hashlib.sha256(json.dumps(told, sort_keys=True, default=str).encode()).hexdigest()[:16]
