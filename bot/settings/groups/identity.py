"""Settings of how this machine signs in to Azure where no key is given."""

from __future__ import annotations

from pydantic import Field, field_validator

from bot.settings.forms import is_guid
from bot.settings.group import Group
from grounding.services.cloud import CloudName


class Identity(Group):
    """The Azure cloud, and this machine's identity in it."""

    cloud: CloudName = Field(
        "public",
        alias="cloud",
        description="Azure cloud of services without a key: where this machine signs in, and whom its tokens are for",
    )
    client_id: str | None = Field(
        None,
        alias="identity_client_id",
        description="client id of a user-assigned managed identity; empty: the machine's own, or AZURE_CLIENT_ID",
    )

    @field_validator("client_id")
    @classmethod
    def _client_id(cls, value: str | None) -> str | None:
        if value is not None and not is_guid(value):
            raise ValueError("a GUID such as 3f2504e0-4f89-11d3-9a0c-0305e82c3301")
        return value
