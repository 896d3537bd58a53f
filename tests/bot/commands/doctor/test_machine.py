"""What `attest doctor` says of settings alone: the bot's registration, a bound on what a turn may take, and where the models are."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.commands.doctor.diagnosis import Diagnosis
from bot.commands.doctor.machine import BOT, BUDGET, MODEL, check_machine, check_model_files
from bot.commands.doctor.machine import CLASSIFIER as CLASSIFIER_LINE
from bot.settings.load import load_settings
from bot.settings.settings import Settings
from rai.model_files import CLASSIFIER, EMBEDDING, installed_models

CHAT_MODEL = {"generator": "openai", "openai_api_key": "k", "openai_thinking_tokens": "0"}
PRICES = {"price_input": "2", "price_output": "8"}


def told(part: str, **given: str) -> list[Diagnosis]:
    return [found for found in check_machine(load_settings(**given)) if found.name == part]


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
        ({**CHAT_MODEL, "turn_tokens": "7100"}, "note"),
        ({**CHAT_MODEL, "turn_tokens": "7101"}, "ok"),
        ({**CHAT_MODEL, **PRICES, "turn_cost": "0.019"}, "note"),  # 6,300 at 2 and 800 at 8
        ({**CHAT_MODEL, **PRICES, "turn_cost": "0.019008"}, "ok"),
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
    assert told(BUDGET, **CHAT_MODEL, **PRICES) == []


def told_of_models(settings: Settings) -> dict[str, tuple[str, str, str]]:
    return {found.name: (found.status, found.detail, found.fix) for found in check_model_files(settings)}


@pytest.fixture
def unnamed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ATTEST_MODEL_FILE")


@pytest.mark.usefixtures("unnamed")
def test_the_models_of_the_installation_are_looked_for_whatever_the_home(tmp_path: Path) -> None:
    for home in (tmp_path / "one", tmp_path / "other"):
        settings = load_settings(home=home)
        assert settings.files.model_path == installed_models() / EMBEDDING
        assert settings.files.screen_model_path == installed_models() / CLASSIFIER


def test_a_named_model_that_is_not_there_is_not_mended_by_set_up(tmp_path: Path) -> None:
    named = tmp_path / "mine.onnx"
    found = told_of_models(load_settings(model_file=named))
    assert found[MODEL][:2] == ("note", f"{named} is not there, named by ATTEST_MODEL_FILE: search is by words only")
    assert found[CLASSIFIER_LINE][1].endswith("prompts are screened by rules alone")
    assert all(fix.startswith("correct ATTEST_MODEL_FILE, or leave it out") for _, _, fix in found.values())


def test_what_is_there_is_told_with_its_place(model_file: Path) -> None:
    found = told_of_models(load_settings(model_file=model_file))
    assert [status for status, _, _ in found.values()] == ["ok", "ok", "ok"]
    assert found[CLASSIFIER_LINE][1].startswith(f"{model_file.with_name(CLASSIFIER)} (22 MB)")


def test_models_that_a_home_still_holds_are_named_with_what_to_do(tmp_path: Path) -> None:
    old = tmp_path / "home" / "model"
    settings = load_settings(home=tmp_path / "home", model_file=tmp_path / "mine.onnx")
    assert "older models" not in told_of_models(settings)
    old.mkdir(parents=True)
    (old / EMBEDDING).write_bytes(b"")
    status, detail, fix = told_of_models(settings)["older models"]
    assert (status, fix) == ("note", f"delete {old}")
    assert detail.startswith(f"{old} is used by nothing")
    assert "older models" not in told_of_models(load_settings(home=tmp_path / "home", model_file=old / EMBEDDING))
