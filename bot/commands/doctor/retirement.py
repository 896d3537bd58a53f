"""When a model is switched off, by a dated table of ours (`retirements.yaml`): no service that was looked at tells it to who only calls the model."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import Any

from bot.commands.doctor.diagnosis import Diagnosis
from grounding.services.cloud import is_azure_ai, is_openai
from grounding.tables import yaml_table

SOON = timedelta(days=60)
"""Before the day from which it is a note: as early as Azure itself writes to who has a deployment."""
_VERSION = re.compile(r"-\d{4}-\d{2}-\d{2}\Z")


def with_retirement(found: Diagnosis, model: str, base_url: str | None, today: date | None = None) -> Diagnosis:
    """The finding on a model, with the day on which it is switched off at `base_url`; a note where that is soon or past."""
    day, by = retirement(model, base_url)
    if day is None:
        return replace(found, detail=f"{found.detail}; retirement of {model} unknown")
    left = day - (today or datetime.now(UTC).date())
    verb = "was to be switched off" if left < timedelta(0) else "is switched off"
    told = replace(found, detail=f"{found.detail}; {model} {verb} on {day} ({by})")
    if found.status != "ok" or left > SOON:
        return told
    return replace(told, status="note", fix="deploy its successor, and look the day up: schedules move")


def retirement(model: str, base_url: str | None) -> tuple[date | None, str]:
    """The day on which a model is switched off where `base_url` leads, and who says so; None for a model or an address that no list has."""
    if not is_openai(base_url):
        return None, ""
    table = _tables()["azure" if is_azure_ai(base_url or "") else "openai"]
    return table["models"].get(_VERSION.sub("", model)), str(table["by"])


@cache
def _tables() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = yaml_table(__file__, "retirements.yaml")
    return found
