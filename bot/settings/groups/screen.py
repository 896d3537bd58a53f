"""Settings of the stronger prompt screen, which stands behind the embedded one."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, SecretStr, field_validator

from bot.settings.forms import PREFIX, CommaList, Url, is_blocklist, severities
from bot.settings.group import Conflicts, Group
from bot.settings.groups.files import Files


class Screen(Group):
    """The kind of the stronger screen, and what it judges."""

    kind: Literal["embedded", "content_safety", "moderation", "model"] = Field(
        "embedded",
        alias="screen",
        description="the stronger screen behind the embedded one; embedded: none, what is in doubt is allowed and noted; model: the chat model",
    )
    when: Literal["doubt", "always"] | None = Field(
        None,
        alias="screen_when",
        description="what the stronger screen judges: always, all that the embedded one allows (the default but for model), or only what that is in doubt about (that of model)",
    )
    model: str | None = Field(
        None,
        alias="screen_model",
        description="chat model that screens what is in doubt, at the same endpoint; default ATTEST_OPENAI_MODEL",
    )

    @property
    def asked(self) -> Literal["doubt", "always"]:
        """What the stronger screen is asked about: of a chat model, which takes a second for each text, only doubts unless it is said otherwise."""
        return self.when or ("doubt" if self.kind == "model" else "always")


class ContentSafety(Group):
    """The address and key of Azure AI Content Safety, and what it blocks."""

    endpoint: Url | None = Field(
        None,
        alias="content_safety_endpoint",
        description="Azure AI Content Safety: https://NAME.cognitiveservices.azure.com",
    )
    key: SecretStr | None = Field(
        None,
        alias="content_safety_key",
        description="key of Content Safety; without it the identity of this machine (azure-identity) is used",
    )
    severities: CommaList = Field(
        (),
        alias="content_safety_severities",
        description="severity from which a category of Content Safety blocks, such as hate=2,violence=6,self_harm=off; not named: 4",
    )
    levels: Literal["four", "eight"] = Field(
        "four",
        alias="content_safety_levels",
        description="severities that Content Safety tells: four (0, 2, 4, 6) or eight (0 to 7)",
    )
    blocklists: CommaList = Field(
        (), alias="content_safety_blocklists", description="the resource's blocklists to apply, comma-separated"
    )
    halt_on_blocklist: bool = Field(
        False,
        alias="content_safety_halt_on_blocklist",
        description="true: what a blocklist hits is not analysed further",
    )

    @field_validator("severities")
    @classmethod
    def _severities(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        severities(value)
        return value

    @field_validator("blocklists")
    @classmethod
    def _blocklists(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not all(is_blocklist(v) for v in value):
            raise ValueError("names of blocklists: letters, digits, . _ ~ and -, 64 at most")
        return value


class Moderation(Group):
    """The address and key of OpenAI's moderation, or a server of the same interface, and what it blocks."""

    base_url: Url | None = Field(
        None,
        alias="moderation_base_url",
        description="endpoint compatible with OpenAI's moderation; empty: OpenAI's own",
    )
    key: SecretStr | None = Field(
        None, alias="moderation_key", description="key of the moderation endpoint; a local server may need none"
    )
    model: str = Field(
        "omni-moderation-latest", alias="moderation_model", description="model of the moderation endpoint"
    )
    block_at: float = Field(
        0.5,
        alias="moderation_block_at",
        gt=0,
        le=1,
        description="score from which a category blocks; what the service flags blocks at any score",
    )


def screen_conflicts(
    screen: Screen, content_safety: ContentSafety, moderation: Moderation, files: Files, *, reached: bool, several: bool
) -> Conflicts:
    """Rules on the screen: a list or a service that is named is there, and a service that is there is used. `reached`: whether a chat model is, `several`: whether several are listed."""
    missing = files.off_policy is not None and not files.off_policy.exists()
    yield missing, f"ATTEST_OFF_POLICY_FILE={files.off_policy} is not there: a list that is named must exist"
    no_endpoint = screen.kind == "content_safety" and content_safety.endpoint is None
    yield no_endpoint, "ATTEST_SCREEN=content_safety needs ATTEST_CONTENT_SAFETY_ENDPOINT"
    no_key = screen.kind == "moderation" and moderation.key is None and moderation.base_url is None
    yield (
        no_key,
        "ATTEST_SCREEN=moderation needs ATTEST_MODERATION_KEY, or ATTEST_MODERATION_BASE_URL for a local server",
    )
    no_model = screen.kind == "model" and not reached
    yield (
        no_model,
        "ATTEST_SCREEN=model needs ATTEST_OPENAI_API_KEY, or ATTEST_OPENAI_BASE_URL for a local server or a sign-in to Azure",
    )
    yield screen.model is not None and screen.kind != "model", "ATTEST_SCREEN_MODEL needs ATTEST_SCREEN=model"
    listed = "ATTEST_SCREEN_MODEL and ATTEST_OPENAI_BACKENDS with chat: allowed is one of them; the file says it for each backend"
    yield screen.model is not None and several, listed
    idle = sorted([*screen.given(), *content_safety.given(), *moderation.given()])
    if idle and "kind" not in screen.model_fields_set:  # or somebody believes to be safer than they are
        yield True, f"{PREFIX}{idle[0].upper()} needs ATTEST_SCREEN; embedded leaves it unused"
