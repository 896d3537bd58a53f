"""Settings of the search for passages."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, SecretStr, field_validator

from bot.settings.forms import PREFIX, Url, is_index
from bot.settings.group import Conflicts, Group

LONGEST_ALIAS = 119
"""Signs of an alias: an index has at most 128, and nine of them tell the indexes of one alias apart."""


class Search(Group):
    """Where passages are searched, on this machine or in Azure AI Search, and what that does."""

    kind: Literal["embedded", "azure"] = Field(
        "embedded",
        alias="search",
        description="where passages are searched: on this machine, or in Azure AI Search beside the store here",
    )
    endpoint: Url | None = Field(
        None, alias="search_endpoint", description="Azure AI Search: https://NAME.search.windows.net"
    )
    key: SecretStr | None = Field(
        None,
        alias="search_key",
        description="key of Azure AI Search (admin to ingest, query to ask); without it the identity of this machine is used",
    )
    index: str = Field(
        "attest",
        alias="search_index",
        description="name of the index in Azure AI Search, or of the alias before it; attest ingest makes it",
    )
    alias: Literal["off", "on", "hold"] = Field(
        "off",
        alias="search_alias",
        description="whether ATTEST_SEARCH_INDEX is an alias, with an index behind it for each embedding model and schema: attest ingest makes a new one beside the one in use and lets it take its place, or holds it until attest index use",
    )
    language: Literal["en", "de", "fr", "es", "it", "nl", "pt", "any"] = Field(
        "en",
        alias="search_language",
        description="language whose words the index in Azure AI Search stems; any stems none; another one needs another index",
    )
    semantic: Literal["off", "on"] = Field(
        "off",
        alias="search_semantic",
        description="whether the semantic ranker of Azure AI Search orders the best results anew; billed by the service",
    )
    agentic: Literal["off", "on"] = Field(
        "off",
        alias="search_agentic",
        description="whether the agentic retrieval of Azure AI Search finds and ranks, with its plain search behind it; billed by the service; ingest again after a change",
    )
    others: Literal["off", "on"] = Field(
        "off",
        alias="search_others",
        description="whether passages count that an indexer (SharePoint) put into the index of Azure AI Search; trimmed by their own groups field",
    )

    vectors: Literal["single", "half"] = Field(
        "single",
        alias="search_vectors",
        description="numbers of a vector in Azure AI Search: of 32 bits, or of 16, as the store keeps them; another one needs another index",
    )
    compression: Literal["off", "scalar", "binary"] = Field(
        "off",
        alias="search_compression",
        description="whether vectors are searched by 8 bits or one a number in Azure AI Search, and the best scored anew by the whole ones: a quarter, or a thirty-second, of the memory; another one needs another index",
    )

    @field_validator("index")
    @classmethod
    def _index_name(cls, value: str) -> str:
        if not is_index(value):
            raise ValueError("2 to 128 lower-case letters, digits and single dashes, not at either end")
        return value


def search_conflicts(search: Search, *, imagines: bool) -> Conflicts:
    """Rules on the search: nothing is said of Azure AI Search where it is not used. `imagines`: whether ingest imagines questions of passages."""
    azure = search.kind == "azure"
    yield azure and search.endpoint is None, "ATTEST_SEARCH=azure needs ATTEST_SEARCH_ENDPOINT"
    yield (
        azure and search.alias != "off" and len(search.index) > LONGEST_ALIAS,
        f"ATTEST_SEARCH_INDEX with ATTEST_SEARCH_ALIAS={search.alias} has at most {LONGEST_ALIAS} signs: the names of its indexes begin with it",
    )
    yield (
        azure and search.alias != "off" and search.others == "on",
        "ATTEST_SEARCH_OTHERS=on needs ATTEST_SEARCH_ALIAS=off: an indexer can write into an index alone, and not through an alias",
    )
    idle = [name for name in search.given() if name != "search"]
    if idle and not azure:  # or somebody believes that their answers come from another index
        yield True, f"{PREFIX}{idle[0].upper()} needs ATTEST_SEARCH=azure; embedded leaves it unused"
    embedded_only = (
        "ATTEST_HYDE=model needs ATTEST_SEARCH=embedded: what is imagined of passages is searched on this machine alone"
    )
    yield azure and imagines, embedded_only
