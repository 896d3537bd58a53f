"""`attest doctor` calls the chat model as a turn does: what is refused has a name and a remedy, and neither key nor prompt stands in any line."""

from __future__ import annotations

from typing import Any

import pytest

from bot.commands.doctor.chat_model import check_chat_models
from bot.commands.doctor.diagnosis import Diagnosis
from bot.settings.load import load_settings
from bot.settings.settings import Settings
from tests.fakes import openai_server as fake
from tests.fakes.openai_forms import Reasoner
from tests.fakes.openai_server import OpenAIServer

KEY = "canary-key-0123456789"
OK = '{"status": "ok"}'


def settings(server: OpenAIServer, **more: Any) -> Settings:
    given = {
        "generator": "openai",
        "openai_base_url": server.base_url,
        "openai_api_key": KEY,
        "openai_model": "gpt-test",
    }
    return load_settings(**{**given, **more})


async def looked(server: OpenAIServer, **more: Any) -> list[Diagnosis]:
    found = await check_chat_models(settings(server, **more))
    assert all(KEY not in f"{finding.detail}{finding.fix}" for finding in found)
    return found


async def one(server: OpenAIServer, **more: Any) -> Diagnosis:
    (found,) = await looked(server, **more)
    return found


@pytest.fixture(params=["chat", "responses"])
def api(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def test_it_asks_what_a_turn_asks(api: str) -> None:
    async with OpenAIServer(fake.ok(OK)) as server:
        found = await one(server, openai_api=api, openai_effort="low", openai_stream="on")
    (seen,) = server.seen
    assert (found.status, found.name) == ("ok", "model service")
    assert found.detail.startswith("loopback-1 answers in ")
    assert seen.path == ("/v1/chat/completions" if api == "chat" else "/v1/responses")
    assert (seen.body["model"], seen.body["temperature"], seen.body["stream"]) == ("gpt-test", 0.0, True)
    form = seen.body["response_format"]["json_schema"] if api == "chat" else seen.body["text"]["format"]
    assert form["strict"] is True
    assert (seen.body.get("reasoning_effort") or seen.body["reasoning"]["effort"]) == "low"


async def test_a_model_that_thinks_is_well_and_what_it_does_not_take_is_named(api: str) -> None:
    async with OpenAIServer(otherwise=fake.ok(OK), reasoner=Reasoner(thinks=1200)) as server:
        found = await one(server, openai_api=api)
    assert found.status == "ok"
    assert "thought 1200 of 1204 tokens" in found.detail
    assert "is asked without a temperature, which it does not take" in found.detail


async def test_a_server_without_schemas_is_well_and_named(api: str) -> None:
    async with OpenAIServer(fake.ok(OK), takes_schemas=False) as server:
        found = await one(server, openai_api=api)
    assert (found.status, "without a JSON schema" in found.detail) == ("ok", True)


async def test_a_reply_that_is_no_json_is_worth_a_note() -> None:
    async with OpenAIServer(fake.ok("Of course! I am fine.")) as server:
        found = await one(server)
    assert (found.status, "not the JSON" in found.detail) == ("note", True)


async def test_an_effort_that_is_refused_is_named_with_those_that_are_not(api: str) -> None:
    async with OpenAIServer(otherwise=fake.ok(OK), reasoner=Reasoner(thinks=10)) as server:
        found = await one(server, openai_api=api, openai_effort="none")
    assert found.status == "note"
    assert "takes no effort 'none'" in found.detail
    assert found.fix == "set ATTEST_OPENAI_EFFORT to one of minimal, low, medium, high, or auto"


async def test_a_missing_deployment_is_a_failure(api: str) -> None:
    async with OpenAIServer(missing=True) as server:
        found = await one(server, openai_api=api)
    assert (found.status, found.service) == ("fail", True)
    assert "has no model or deployment 'gpt-test'" in found.detail
    assert "set ATTEST_OPENAI_MODEL" in found.fix
    assert ("ATTEST_OPENAI_API=chat" in found.fix) == (api == "responses")


async def test_a_missing_model_is_told_from_no_model_service_by_the_list() -> None:
    """Ollama has words of its own for it."""
    listed = {"/v1/models": {"object": "list", "data": [{"id": "llama3.1"}, {"id": "qwen3"}]}}
    async with OpenAIServer(fake.error(404, message="model 'gpt-test' not found"), pages=listed) as server:
        found = await one(server)
    assert "has no model or deployment 'gpt-test' among its 2 models" in found.detail
    async with OpenAIServer(fake.error(404, message="not found")) as server:
        found = await one(server)
    assert (found.status, found.detail) == ("fail", "something answers there, but no model service")
    assert "/v1" in found.fix


async def test_a_gateway_that_takes_the_key_in_another_header_is_named(api: str) -> None:
    """API Management: turns with the key as bearer are 401."""
    async with OpenAIServer(otherwise=fake.ok(OK), key_in="api-key") as server:
        refused = await one(server, openai_api=api)
        well = [await one(server, openai_api=api, openai_auth=auth) for auth in ("api-key", "both")]
    assert refused.status == "fail"
    assert refused.detail == "refuses the key (status 401), and takes it in the header api-key"
    assert refused.fix == "set ATTEST_OPENAI_AUTH=api-key"
    assert [found.status for found in well] == ["ok", "ok"]


async def test_a_wrong_key_is_refused_in_either_header() -> None:
    async with OpenAIServer(otherwise=fake.error(401, code="invalid_api_key")) as server:
        found = await one(server)
        without = await one(server, openai_api_key=None)
    assert (found.status, found.detail) == ("fail", "refuses the key (status 401)")
    assert "check ATTEST_OPENAI_API_KEY" in found.fix
    assert (without.detail, without.fix) == ("wants a key (status 401)", "set ATTEST_OPENAI_API_KEY")


async def test_a_model_that_thinks_beyond_all_room_is_a_failure_that_says_what_mends_it(api: str) -> None:
    async with OpenAIServer(otherwise=fake.ok(OK), reasoner=Reasoner(thinks=90_000)) as server:
        found = await one(server, openai_api=api)
    assert found.status == "fail"
    assert "was cut off at 16584 tokens, 16584 of them thought" in found.detail
    assert "ATTEST_OPENAI_EFFORT" in found.fix
    assert "ATTEST_OPENAI_THINKING_TOKENS" in found.fix


async def test_too_many_requests_stop_nothing_and_a_used_up_quota_does() -> None:
    async with OpenAIServer(fake.throttled("60"), fake.throttled("60", code="insufficient_quota")) as server:
        busy, spent = await one(server), await one(server)
    assert (busy.status, busy.detail) == ("note", "has too many requests (status 429)")
    assert (spent.status, "quota" in spent.detail) == ("fail", True)


async def test_a_model_slower_than_a_call_may_be_is_told() -> None:
    async with OpenAIServer(fake.slow()) as server:
        found = await one(server, call_deadline_s="0.2")
    assert (found.status, "no answer within 0.2 s" in found.detail) == ("fail", True)
    assert "ATTEST_CALL_DEADLINE_S" in found.fix


def ollama(*models: dict[str, Any]) -> dict[str, Any]:
    return {"/api/ps": {"models": list(models)}}


@pytest.mark.parametrize(
    ("running", "status", "said"),
    [
        ({"name": "gpt-test", "model": "gpt-test", "context_length": 4096}, "note", "4,096 tokens"),
        (
            {"name": "gpt-test:latest", "model": "gpt-test:latest", "context_length": 7099},
            "note",
            "cuts what is longer",
        ),
        ({"name": "gpt-test:latest", "model": "gpt-test:latest", "context_length": 7100}, "ok", "7,100 tokens"),
        ({"name": "gpt-test", "model": "gpt-test"}, "note", "does not tell"),
        ({"name": "other", "model": "other", "context_length": 65536}, "note", "does not tell"),
    ],
)
async def test_ollamas_context_is_compared_with_what_a_turn_needs(
    running: dict[str, Any], status: str, said: str
) -> None:
    async with OpenAIServer(fake.ok(OK), pages=ollama(running)) as server:
        model, context = await looked(server)
    assert (model.status, context.name, context.status) == ("ok", "model's context", status)
    assert said in context.detail
    assert ("OLLAMA_CONTEXT_LENGTH=8192" in context.fix) == (status == "note")


@pytest.mark.parametrize("page", [{}, {"models": None}, {"models": [7]}, []])
async def test_other_servers_have_no_such_page(page: Any) -> None:
    async with OpenAIServer(fake.ok(OK), pages={"/api/ps": page}) as server:
        assert len(await looked(server)) == 1


async def test_without_a_chat_model_nothing_is_called() -> None:
    async with OpenAIServer() as server:
        assert await looked(server, generator="extractive", statement_judge="off") == []
        assert server.seen == []
        assert len(await looked(server, generator="extractive", statement_judge="model")) == 1
        assert len(await looked(server, generator="extractive")) == 1
    assert len(server.seen) == 2


async def test_another_model_that_judges_is_asked_too() -> None:
    """Once each; what is wrong with it names its own setting."""
    async with OpenAIServer(fake.ok(OK), fake.ok(OK)) as server:
        found = await looked(server, judge_model="gpt-judge")
    assert [(f.name, f.status) for f in found] == [("model service", "ok"), ("judge's model", "ok")]
    assert [seen.body["model"] for seen in server.seen] == ["gpt-test", "gpt-judge"]
    async with OpenAIServer(fake.ok(OK)) as server:
        assert [f.name for f in await looked(server, judge_model="gpt-test")] == ["model service"]
    async with OpenAIServer(fake.ok(OK)) as server:
        only = await looked(server, judge_model="gpt-judge", generator="extractive")
    assert [f.name for f in only] == ["judge's model"]
    async with OpenAIServer(missing=True) as server:
        (absent,) = await looked(server, judge_model="gpt-judge", generator="extractive")
    assert (absent.name, absent.status) == ("judge's model", "fail")
    assert "ATTEST_JUDGE_MODEL" in absent.fix
    assert "ATTEST_OPENAI_MODEL" not in absent.fix
