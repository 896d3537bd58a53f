"""Settings of the bot: its registration with Microsoft, and whom it talks to."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, SecretStr, field_validator

from bot.settings.forms import CommaList, is_guid, is_host
from bot.settings.group import Conflicts, Group


class Bot(Group):
    """The bot as it is registered with Microsoft, the tenants that it serves, and the hosts that it may reply to."""

    app_id: str | None = Field(
        None,
        alias="bot_app_id",
        description="Microsoft App ID; without it the bot is anonymous, in local mode alone; ends local mode",
    )
    app_password: SecretStr | None = Field(
        None, alias="bot_app_password", description="Microsoft App password; a UserAssignedMSI registration has none"
    )
    app_type: Literal["SingleTenant", "UserAssignedMSI", "MultiTenant"] = Field(
        "SingleTenant",
        alias="bot_app_type",
        description="kind of bot registration; MultiTenant is for bots of before August 2025, when new ones ended",
    )
    sdk: Literal["botbuilder", "agents"] = Field(
        "botbuilder",
        alias="bot_sdk",
        description="SDK that carries activities: botbuilder, or the Microsoft 365 Agents SDK of the extra [agents]",
    )
    tenant_id: str | None = Field(
        None, alias="bot_tenant_id", description="tenant of the registration, unless it is MultiTenant"
    )
    tenants: CommaList = Field(
        (),
        alias="tenants",
        description="tenants whose activities are served, comma-separated; empty with an app id: only bot_tenant_id",
    )
    service_url_hosts: CommaList = Field(
        (".botframework.com", "smba.trafficmanager.net", ".teams.microsoft.com"),
        alias="service_url_hosts",
        description="hosts (suffixes with a leading dot) that replies may be sent to, loopback excepted",
    )

    label: str | None = Field(
        None,
        alias="sensitivity_label",
        description="id of the Purview label that every answer in Teams carries; none: no label",
    )
    restricted_label: str | None = Field(
        None,
        alias="restricted_label",
        description="the same for answers that rest on a document which not everyone may read; default: sensitivity_label",
    )

    @field_validator("label", "restricted_label")
    @classmethod
    def _label_id(cls, value: str | None) -> str | None:
        if value is not None and not is_guid(value):
            raise ValueError("a GUID such as 3f2504e0-4f89-11d3-9a0c-0305e82c3301")
        return value

    @field_validator("service_url_hosts")
    @classmethod
    def _reply_hosts(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        # one label alone, such as .com, would let replies go to anybody's server
        if not all(is_host(v.removeprefix("."), labels=2) for v in value):
            raise ValueError("host names of two labels or more, such as smba.trafficmanager.net or .botframework.com")
        return value


def bot_conflicts(bot: Bot) -> Conflicts:
    """A registration that lacks something would fail at the first message that it sends, in words of its SDK."""
    if not bot.app_id:
        return
    kind = "ATTEST_BOT_APP_ID" if bot.app_type == "SingleTenant" else f"ATTEST_BOT_APP_TYPE={bot.app_type}"
    old = "; a bot that was registered as multi-tenant needs ATTEST_BOT_APP_TYPE=MultiTenant instead"
    only_default = "app_type" not in bot.model_fields_set
    tenant = f"{kind} needs ATTEST_BOT_TENANT_ID, the tenant that the bot is registered in{old if only_default else ''}"
    yield bot.app_type != "MultiTenant" and bot.tenant_id is None, tenant
    password = f"{kind} needs ATTEST_BOT_APP_PASSWORD; a managed identity has none, and needs ATTEST_BOT_APP_TYPE=UserAssignedMSI"
    yield bot.app_type == "SingleTenant" and bot.app_password is None, password
