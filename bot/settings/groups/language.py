"""Settings of Azure AI Language, and who finds names, summarizes conversations and finds personal data: it, or this machine."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, SecretStr

from bot.settings.forms import Seconds, Url
from bot.settings.group import Conflicts, Group


class Language(Group):
    """The address and key of Azure AI Language, and what it is used for."""

    endpoint: Url | None = Field(
        None,
        alias="language_endpoint",
        description="Azure AI Language: https://NAME.cognitiveservices.azure.com; empty: off",
    )
    key: SecretStr | None = Field(
        None,
        alias="language_key",
        description="key of Azure AI Language; without it the identity of this machine (azure-identity) is used",
    )
    entities: Literal["auto", "embedded", "language"] = Field(
        "auto",
        alias="entities",
        description="who finds names in an answer beside the local list; auto: language where it has an endpoint",
    )
    summarizer: Literal["embedded", "language"] = Field(
        "embedded",
        alias="summarizer",
        description="who ranks the sentences of a conversation too long to be searched for whole",
    )
    summarizer_deadline_s: Seconds = Field(
        6.0,
        alias="summarizer_deadline_s",
        description="seconds for a summary by Azure AI Language, its waiting included; at most half of the turn's",
    )
    pii: Literal["embedded", "language"] = Field(
        "embedded",
        alias="pii",
        description="who looks for personal data in a conversation: language does so beside our own rules",
    )

    @property
    def uses(self) -> tuple[str, ...]:
        """What Azure AI Language is used for, of: names, summaries, personal data."""
        names = self.entities == "language" or (self.entities == "auto" and self.endpoint is not None)
        used = {"names": names, "summaries": self.summarizer == "language", "personal data": self.pii == "language"}
        return tuple(use for use, is_on in used.items() if is_on)


def language_conflicts(language: Language) -> Conflicts:
    """Rules on Azure AI Language: no use without an address, no address without a use."""
    missing = language.endpoint is None
    yield language.key is not None and missing, "ATTEST_LANGUAGE_KEY needs ATTEST_LANGUAGE_ENDPOINT"
    for field in ("entities", "summarizer", "pii"):
        by_service = getattr(language, field) == "language"
        yield by_service and missing, f"{language.variable(field)}=language needs ATTEST_LANGUAGE_ENDPOINT"
    waits = "summarizer_deadline_s" in language.model_fields_set and language.summarizer == "embedded"
    yield waits, "ATTEST_SUMMARIZER_DEADLINE_S needs ATTEST_SUMMARIZER=language"
    idle = (
        "ATTEST_LANGUAGE_ENDPOINT is used by nothing: ATTEST_ENTITIES, ATTEST_SUMMARIZER or ATTEST_PII may be language"
    )
    yield not missing and not language.uses, idle
