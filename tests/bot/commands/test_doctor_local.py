"""What `attest doctor` says of settings alone: the bot's registration, and a bound on what a turn may take."""

from __future__ import annotations

import pytest

from bot.commands.doctor_local import BOT, BUDGET, local
from bot.commands.doctor_page import Diagnosis
from bot.settings.load import load_settings

MODEL = {"generator": "openai", "openai_api_key": "k", "openai_thinking_tokens": "0"}
PRICES = {"price_input": "2", "price_output": "8"}


def told(part: str, **given: str) -> list[Diagnosis]:
    return [found for found in local(load_settings(**given)) if found.name == part]


@pytest.mark.parametrize(
    ("kind", "needed", "says"),
    [
        ("SingleTenant", {"bot_tenant_id": "t", "bot_app_password": "p"}, "SingleTenant, tenant t"),
        ("UserAssignedMSI", {"bot_tenant_id": "t"}, "UserAssignedMSI, tenant t"),
        (
            "MultiTenant",
            {"bot_app_password": "p"},
            "MultiTenant: goes on, but no new one can be made since 31 July 2025",
        ),
    ],
)
def test_the_registration_is_named(kind: str, needed: dict[str, str], says: str) -> None:
    (found,) = told(BOT, bot_app_id="a", bot_app_type=kind, **needed)
    assert (found.status, found.detail) == ("ok", f"registered, {says}")


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ({**MODEL, "turn_tokens": "7100"}, "note"),
        ({**MODEL, "turn_tokens": "7101"}, "ok"),
        ({**MODEL, **PRICES, "turn_cost": "0.019"}, "note"),  # 6,300 at 2 and 800 at 8
        ({**MODEL, **PRICES, "turn_cost": "0.019008"}, "ok"),
        ({"turn_tokens": "7100"}, "ok"),  # nothing drafts by model
    ],
)
def test_a_budget_with_room_for_the_draft_alone_is_worth_a_note(given: dict[str, str], status: str) -> None:
    (found,) = told(BUDGET, **given)
    assert found.status == status
    if status == "note":
        assert found.detail.endswith(" leaves room for the draft alone")
        assert "a draft alone may take 7100 tokens" in found.fix


@pytest.mark.parametrize(
    ("more", "draft"),
    [
        ({}, 11_196),  # OpenAI's models think: 4,096 tokens of room
        ({"openai_effort": "none"}, 7_100),
        ({"openai_base_url": "http://127.0.0.1:11434/v1"}, 7_100),
        ({"openai_base_url": "http://127.0.0.1:11434/v1", "openai_thinking_tokens": "2000"}, 9_100),
    ],
)
def test_a_model_that_is_taken_to_think_has_room_for_it_in_the_draft(more: dict[str, str], draft: int) -> None:
    given = {"generator": "openai", "openai_api_key": "k", **more}
    (tight,) = told(BUDGET, **given, turn_tokens=str(draft))
    (wide,) = told(BUDGET, **given, turn_tokens=str(draft + 1))
    assert (tight.status, wide.status) == ("note", "ok")
    assert f"a draft alone may take {draft} tokens" in tight.fix


def test_without_a_bound_there_is_nothing_to_say() -> None:
    assert told(BUDGET, **MODEL, **PRICES) == []
