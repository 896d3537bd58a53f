"""The checks of `attest doctor` on listed backends: each is asked as if it were the one endpoint, and what mends it is named in the list's words."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path

from bot.commands.doctor.diagnosis import Diagnosis
from bot.commands.doctor.retirement import with_retirement
from bot.compose.backends import settings_at
from bot.settings.backends import BackendList, ListedBackend
from bot.settings.settings import Settings

Look = Callable[[Settings], Awaitable[list[Diagnosis]]]
"""Looks at the one endpoint of settings; the first finding is on its model. Raises nothing that is ours."""
_FIELDS = {
    "ATTEST_OPENAI_BASE_URL": "base_url",
    "ATTEST_OPENAI_API_KEY": "key_file or key_env",
    "ATTEST_OPENAI_MODEL": "deployment",
    "ATTEST_OPENAI_AUTH": "auth",
    "ATTEST_OPENAI_SCOPE": "scope",
    "ATTEST_EMBEDDING_BASE_URL": "base_url",
    "ATTEST_EMBEDDING_API_KEY": "key_file or key_env",
    "ATTEST_EMBEDDING_MODEL": "deployment",
    "ATTEST_EMBEDDING_WIDTH": "dimensions",
}
_NAMED = re.compile("|".join(_FIELDS))


async def check_backends(
    settings: Settings, listed: Sequence[ListedBackend], asked: Sequence[ListedBackend], look: Look
) -> list[Diagnosis]:
    """A finding on each of `listed`, and when its model is switched off; only those in `asked` are called, all at the same time. One that fails is
    a note while another answers.
    """
    found = await asyncio.gather(
        *(_looked_at(settings, at, look) if at in asked else _left_out(settings, at) for at in listed)
    )
    answers = any(at in asked and first.status != "fail" for at, (first, *_) in zip(listed, found, strict=True))
    findings = [finding for each in found for finding in each]
    return [replace(f, status="note") if answers and f.status == "fail" else f for f in findings]


async def _looked_at(settings: Settings, at: ListedBackend, look: Look) -> list[Diagnosis]:
    own = settings_at(settings, at)
    first, *more = await look(own)
    place = f"{at.name} in {Path(settings.model.backends_file or '').name}"
    rank = replace(first, detail=f"order {at.order}, weight {at.weight:g}: {first.detail}")
    return [_in_words(finding, at, place) for finding in (with_retirement(rank, at.model, at.base_url), *more)]


def _in_words(found: Diagnosis, at: ListedBackend, place: str) -> Diagnosis:
    def said(text: str) -> str:
        return _NAMED.sub(lambda name: f"{_FIELDS[name[0]]} of {place}", text)

    return replace(found, name=f"{found.name} {at.name}", detail=said(found.detail), fix=said(found.fix))


async def _left_out(settings: Settings, at: ListedBackend) -> list[Diagnosis]:
    """Why a backend is never called."""
    listed: BackendList | None = settings.model.backends
    if listed is not None and not listed.is_within(at):
        why = f"its boundary {at.boundary or '(none)'} is none of {', '.join(listed.boundaries)}"
    else:
        wanted = f"{settings.embedding.model} with {settings.embedding.numbers} numbers"
        why = f"search needs vectors of {wanted}, and these are of {at.model} with {at.dimensions or 'another number'}"
    return [Diagnosis(f"backend {at.name}", "note", f"never asked: {why}", service=True)]
