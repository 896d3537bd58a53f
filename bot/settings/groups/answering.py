"""Settings of how questions are answered: the policy, the regions, the company."""

from __future__ import annotations

from pydantic import Field, ValidationInfo, field_validator

from bot.settings.forms import CommaList
from bot.settings.group import Group
from grounding.policies.files import read_policies
from grounding.policy import DEFAULT_POLICY


class Answering(Group):
    """The policy of turns that name none, the regions of local telephone numbers, the company's name."""

    policy: str = Field(
        DEFAULT_POLICY, alias="policy", description="policy of a turn unless one is named; `attest policies` lists them"
    )
    phone_regions: CommaList = Field(
        ("US", "GB", "DE", "FR"), alias="phone_regions", description="regions in which local phone numbers are read"
    )
    company: str = Field("the company", alias="company", description="name of the company in the system instructions")

    @field_validator("policy")
    @classmethod
    def _known_policy(cls, value: str, info: ValidationInfo) -> str:
        known = read_policies(info.context["home"] / "policies" if info.context else None)
        if value not in known:
            raise ValueError(f"one of {', '.join(known)}")
        return value

    @field_validator("phone_regions")
    @classmethod
    def _regions(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not all(len(v) == 2 and v.isascii() and v.isalpha() and v.isupper() for v in value):
            raise ValueError("two-letter regions such as US,GB")
        return value
