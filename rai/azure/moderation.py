"""OpenAI's moderation endpoint as a prompt screen: harm in the text of a request, in thirteen categories.

It judges no attacks on the assistant and no orders hidden in a document, so documents are allowed and the notes say so.
The body is read here and not by the SDK, which hands out a page of HTML as `str`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from openai import AsyncOpenAI, DefaultAsyncHttpx2Client, Timeout

from grounding.azure.openai.faults import translated
from grounding.errors import ServiceReplyInvalid
from grounding.services.address import check_address, check_key, is_loopback
from grounding.services.cloud import OPENAI_BASE_URL
from grounding.services.remote import Remote
from grounding.services.together import together
from grounding.web.tls import tls_context
from rai.azure.pieces import pieces, sendable
from rai.azure.verdicts import BLOCKS_AT, ServiceFinding, screening
from rai.records import Category, Screening

SERVICE = "moderation"
"""The service's name in notes, errors and rules."""
MODEL = "omni-moderation-latest"
"""The model that is asked unless another is set."""
MOST_CHARS = 2000
"""Most characters of one input. The endpoint takes more, but its figures are for short texts."""
MOST_INPUTS = 5
"""Most inputs of one request: 10,000 characters."""
OVERLAP = 200
"""Characters that neighbouring pieces of a long text share."""
MOST_PIECES = 60
"""Most pieces of one text, about 108,000 characters; a longer text is blocked unread."""
TOO_LONG = f"{SERVICE}/too-long"
"""The rule that blocks such a text."""
CATEGORIES: dict[str, Category] = {
    "harassment": "hate",
    "hate": "hate",
    "illicit": "dangerous_help",
    "self-harm": "self_harm",
    "sexual": "sexual",
    "violence": "violence",
}
"""Our categories by the first part of the endpoint's: hate/threatening is hate."""
_ALWAYS = frozenset(CATEGORIES) - {"illicit"}  # older models do not know it
_NAME = re.compile(r"[a-z][a-z/_-]{0,39}")


class ModerationScreen:
    """A `rai.ports.PromptScreen` that asks OpenAI's moderation endpoint, or a compatible one at `base_url`. `key` None: a local server.

    Blocks a text that the service flags, or any of whose scores reaches `block_at`. `score` in [0, 1]: the service's own for the
    category, and of a flagged one at least `block_at`. Raises SettingsError for an address or key that cannot be used.
    """

    def __init__(
        self, base_url: str | None, key: str | None, remote: Remote, *, model: str = MODEL, block_at: float = BLOCKS_AT
    ) -> None:
        url = base_url or OPENAI_BASE_URL
        check_address(url, "ATTEST_MODERATION_BASE_URL", "https://api.openai.com/v1")
        if key is not None:
            check_key(key, "ATTEST_MODERATION_KEY")
        self._remote = remote
        self._model = model
        self._block_at = block_at
        outside = not is_loopback(url)
        self._client = AsyncOpenAI(
            base_url=url,
            api_key=key or "none",  # without one the SDK would send the environment's
            max_retries=0,  # our wrapper decides
            timeout=Timeout(remote.deadline_s, connect=min(5.0, remote.deadline_s)),
            http_client=DefaultAsyncHttpx2Client(
                verify=tls_context(trust_env=outside), trust_env=outside, follow_redirects=False
            ),
        )
        self._client.organization = self._client.project = self._client.admin_api_key = None

    @property
    def name(self) -> str:
        return SERVICE

    async def screen(self, text: str, documents: Sequence[str] = ()) -> Screening:
        """Judges `text`; `documents` are allowed, unjudged. Raises ServiceError when any part of the text could not be judged."""
        notes = [f"{SERVICE} does not judge documents: {len(documents)} were let through"] if documents else []
        parts = pieces(sendable(text), MOST_CHARS, OVERLAP)
        if len(parts) > MOST_PIECES:
            found = [ServiceFinding(TOO_LONG, "off_policy", 1.0)]
            notes.append(f"{SERVICE}: a text of {len(text):,} characters was blocked unread")
        else:
            groups = (parts[at : at + MOST_INPUTS] for at in range(0, len(parts), MOST_INPUTS))
            replies = await together(self._ask(group) for group in groups)
            found = [finding for reply in replies for finding in reply]
        return screening(found, [None] * len(documents), by=SERVICE, threshold=self._block_at, notes=notes)

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._client.close()

    async def _ask(self, inputs: list[str]) -> list[ServiceFinding]:
        async def attempt() -> list[ServiceFinding]:
            with translated(SERVICE):
                raw = await self._client.moderations.with_raw_response.create(model=self._model, input=inputs)
                return _read(raw.text, len(inputs), self._block_at)

        return await self._remote.call(attempt)


def _read(body: str, inputs: int, block_at: float) -> list[ServiceFinding]:
    """The strongest finding on each input. Raises ServiceReplyInvalid unless every input was judged."""
    try:
        results = json.loads(body)["results"]
        if len(results) != inputs:
            raise ServiceReplyInvalid(SERVICE, f"{len(results)} of {inputs} texts were judged")
        return [_strongest(result, block_at) for result in results]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ServiceReplyInvalid(SERVICE, f"the reply cannot be read ({type(error).__name__})") from None


def _strongest(result: dict[str, Any], block_at: float) -> ServiceFinding:
    flags = {name for name, flag in result["categories"].items() if flag is True}
    scores = {name: _score(value) for name, value in result["category_scores"].items() if value is not None}
    if not scores.keys() >= _ALWAYS or not flags <= scores.keys() or not isinstance(result["flagged"], bool):
        raise ValueError("scores are missing")
    if result["flagged"] and not flags:
        raise ValueError("flagged without a category")
    found = {name: max(score, block_at) if name in flags else score for name, score in scores.items()}
    top = max(found, key=lambda name: found[name])
    shown = top if _NAME.fullmatch(top) else "unnamed"
    return ServiceFinding(f"{SERVICE}/{shown}", CATEGORIES.get(top.split("/")[0]), found[top])


def _score(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ValueError("a score outside of [0, 1]")
    return float(value)
