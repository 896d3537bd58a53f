"""Azure AI Content Safety as a prompt screen: severities, blocklists and Prompt Shields.

The text is judged as a request: text analysis (api-version 2023-10-01) for harm, with blocklists, and Prompt Shields for attacks on
the assistant. Documents are judged as data, by Prompt Shields alone, for a harmful topic makes no passage unfit. Prompt Shields
are not in the SDK's stable release, so they are asked through its pipeline (api-version 2024-09-01).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from azure.ai.contentsafety.aio import ContentSafetyClient
from azure.ai.contentsafety.models import AnalyzeTextOptions, AnalyzeTextResult
from azure.core.credentials_async import AsyncTokenCredential
from azure.core.exceptions import HttpResponseError
from azure.core.rest import HttpRequest

from grounding.azure.core.faults import translated
from grounding.azure.core.options import client_options, credential_for, plain_tokens
from grounding.errors import ServiceReplyInvalid
from grounding.services.batches import in_batches
from grounding.services.remote import Remote
from grounding.services.together import together
from rai.azure.pieces import pieces, sendable, size
from rai.azure.verdicts import TOP_SEVERITY, ServiceFinding, screening, severity_score
from rai.records import Category, Screening

SERVICE = "content-safety"
"""The service's name in notes, errors and rules."""
SHIELD_VERSION = "2024-09-01"
"""The api-version of Prompt Shields."""
MOST_CHARS = 10_000
"""The service's limit for a text, for a prompt, and for the documents of one request together, in characters."""
MOST_DOCUMENTS = 5
"""The service's limit of documents in one request."""
OVERLAP = 500
"""Characters that neighbouring pieces of a long text share."""
MOST_PIECES = 12
"""Most pieces of one text, about 114,000 characters; a longer text is blocked unread."""
TOO_LONG = f"{SERVICE}/too-long"
"""The rule that blocks such a text."""
CATEGORIES: dict[str, Category] = {
    "Hate": "hate",
    "Sexual": "sexual",
    "SelfHarm": "self_harm",
    "Violence": "violence",
}
"""Our categories by the service's."""
SEVERITY = 4
"""The severity that blocks unless another is set: "medium" of 0 safe, 2 low, 4 medium, 6 high."""


@dataclass(frozen=True, slots=True)
class Strictness:
    """The settings of text analysis. `severities`: from which severity (1 to 7) each of our categories blocks, None: never.

    `levels`: how finely the service tells severities: four (0, 2, 4, 6) or eight (0 to 7). `halt_on_blocklist`: a hit in a
    blocklist ends the analysis.
    """

    severities: Mapping[str, int | None] = field(default_factory=lambda: dict.fromkeys(CATEGORIES.values(), SEVERITY))
    levels: Literal["four", "eight"] = "four"
    blocklists: tuple[str, ...] = ()
    halt_on_blocklist: bool = False


class ContentSafetyScreen:
    """A `rai.ports.PromptScreen` that asks one Content Safety resource.

    `key`: of the resource, or a token credential (Microsoft Entra ID), which its owner closes.

    `score`: 0.5 where a severity begins to block (`rai.azure.verdicts.severity_score`); 1 for an attack or a hit in a blocklist.
    Raises SettingsError for an endpoint or key that cannot be used.
    """

    def __init__(
        self, endpoint: str, key: str | AsyncTokenCredential, remote: Remote, strictness: Strictness | None = None
    ) -> None:
        settings = "ATTEST_CONTENT_SAFETY_ENDPOINT", "ATTEST_CONTENT_SAFETY_KEY"
        credential = credential_for(
            endpoint, key, settings=settings, example="https://NAME.cognitiveservices.azure.com"
        )
        self._remote = remote
        self._strict = strictness or Strictness()
        # the SDK knows the option only where it handles a token
        self._options: dict[str, Any] = {"enforce_https": False} if plain_tokens(endpoint, key) else {}
        self._client = ContentSafetyClient(
            endpoint.rstrip("/"), credential, **client_options(endpoint, remote.deadline_s)
        )

    @property
    def name(self) -> str:
        return SERVICE

    async def screen(self, text: str, documents: Sequence[str] = ()) -> Screening:
        """Judges `text` as a request and each of `documents` as data. Raises ServiceError when any part could not be judged."""
        parts = [pieces(sendable(t), MOST_CHARS, OVERLAP) for t in (text, *documents)]
        fits = [p if len(p) <= MOST_PIECES else [] for p in parts]
        found, *on_documents = [
            [] if fit else [ServiceFinding(TOO_LONG, "off_policy", 1.0)] if part else []
            for part, fit in zip(parts, fits, strict=True)
        ]
        request, data = fits[0], [(i, piece) for i, fit in enumerate(fits[1:]) for piece in fit]
        groups = in_batches(data, lambda item: size(item[1]), most_items=MOST_DOCUMENTS, most_size=MOST_CHARS)
        replies = await together(
            [
                *(self._harm(piece) for piece in request),
                *(self._attack(piece) for piece in request),
                *(self._orders(group) for group in groups),
            ]
        )
        for index, finding in (item for reply in replies for item in reply):
            (found if index is None else on_documents[index]).append(finding)
        return screening(found, [next(iter(f), None) for f in on_documents], by=SERVICE, notes=_notes(parts, fits))

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._client.close()

    async def _harm(self, piece: str) -> list[tuple[int | None, ServiceFinding]]:
        strict = self._strict
        options = AnalyzeTextOptions(
            text=piece,
            blocklist_names=list(strict.blocklists),
            halt_on_blocklist_hit=strict.halt_on_blocklist,
            output_type=f"{strict.levels.capitalize()}SeverityLevels",
        )

        missing = "the resource has no blocklist of such a name" if strict.blocklists else ""

        async def attempt() -> list[ServiceFinding]:
            with translated(SERVICE, not_found=missing):
                return _harm(await self._client.analyze_text(options, **self._options), strict)

        return [(None, finding) for finding in await self._remote.call(attempt)]

    async def _attack(self, piece: str) -> list[tuple[int | None, ServiceFinding]]:
        attacked, _ = await self._shielded(piece, [])
        return [(None, ServiceFinding("prompt-shields/user", "jailbreak", 1.0))] if attacked else []

    async def _orders(self, data: Sequence[tuple[int, str]]) -> list[tuple[int | None, ServiceFinding]]:
        _, attacked = await self._shielded("", [piece for _, piece in data])
        orders = ServiceFinding("prompt-shields/document", "injection", 1.0)
        return [(index, orders) for (index, _), attack in zip(data, attacked, strict=True) if attack]

    async def _shielded(self, prompt: str, documents: list[str]) -> tuple[bool, list[bool]]:
        body = {"userPrompt": prompt, "documents": documents}
        request = HttpRequest("POST", "/text:shieldPrompt", params={"api-version": SHIELD_VERSION}, json=body)

        async def attempt() -> tuple[bool, list[bool]]:
            with translated(SERVICE):
                response = await self._client.send_request(request, **self._options)
                if response.status_code != 200:
                    raise HttpResponseError(response=response)
                return _shields(response.json(), len(documents), prompted=bool(prompt))

        return await self._remote.call(attempt)


def _harm(result: AnalyzeTextResult, strict: Strictness) -> list[ServiceFinding]:
    """The findings of one text analysis. Raises ServiceReplyInvalid if it leaves a category out without a hit in a blocklist."""
    names = [match["blocklistName"] for match in result.get("blocklistsMatch") or []]
    if not set(names) <= set(strict.blocklists):
        raise ServiceReplyInvalid(SERVICE, "a blocklist answered that was not asked")
    severities = {c["category"]: c.get("severity") for c in result["categoriesAnalysis"]}
    halted = bool(names) and strict.halt_on_blocklist
    found = [ServiceFinding(f"blocklist/{name}", "off_policy", 1.0) for name in names]
    for category, ours in CATEGORIES.items():
        severity = severities.get(category)
        if halted and severity is None:
            continue
        if type(severity) is not int or not 0 <= severity <= TOP_SEVERITY:
            raise ServiceReplyInvalid(SERVICE, f"the reply gives no severity of {ours}")
        at = strict.severities.get(ours)
        if at is not None:
            found.append(
                ServiceFinding(f"{SERVICE}/{ours.replace('_', '-')}-{severity}", ours, severity_score(severity, at))
            )
    return found


def _shields(body: Any, documents: int, *, prompted: bool) -> tuple[bool, list[bool]]:
    """Whether the prompt and each of the documents holds an attack. Raises ServiceReplyInvalid unless all are told."""
    prompt = body.get("userPromptAnalysis")
    on_prompt = prompt["attackDetected"] if prompted else False
    on_documents = [analysis["attackDetected"] for analysis in body.get("documentsAnalysis") or []]
    if len(on_documents) != documents or not all(isinstance(told, bool) for told in (on_prompt, *on_documents)):
        raise ServiceReplyInvalid(SERVICE, f"{len(on_documents)} of {documents} documents were judged")
    return on_prompt, on_documents


def _notes(parts: Sequence[Sequence[str]], fits: Sequence[Sequence[str]]) -> list[str]:
    unread = sum(bool(part) and not fit for part, fit in zip(parts, fits, strict=True))
    most = MOST_PIECES * (MOST_CHARS - OVERLAP)
    return [f"{SERVICE}: {unread} texts of more than {most:,} characters were blocked unread"] if unread else []
