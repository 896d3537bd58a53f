"""The chat adapters against a server that others wrote after the same interfaces: `@copilotkit/aimock` of npm, in Node.

`make aimock` installs it into build/aimock (TEST_AIMOCK names another folder); nothing is installed from here. With
TEST_REQUIRE_AIMOCK=1 its absence is a failure.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from grounding.azure.openai.chat import OpenAIChat
from grounding.azure.openai.learned import Learned
from grounding.azure.openai.model import OpenAIModel
from grounding.azure.openai.responses import OpenAIResponses
from grounding.errors import (
    ContentFiltered,
    ReplyCut,
    ServiceError,
    ServiceRejected,
    ServiceReplyInvalid,
    ServiceUnavailable,
)
from grounding.model_calls.schema import TEXT, fields
from grounding.services.remote import Remote, Throttled
from tests.grounding.azure.openai.conftest import Way

ROOT = Path(__file__).parents[4]
FOLDER = Path(os.environ.get("TEST_AIMOCK") or ROOT / "build" / "aimock")
SAID = "Open until 18:00 – „täglich“ 😀 [1]."
FIXTURES = [
    {"match": {"userMessage": "hours"}, "response": {"content": SAID}},
    {"match": {"userMessage": "form"}, "response": {"content": '{"status": "ok"}'}},
    {"match": {"userMessage": "thinks"}, "response": {"content": SAID, "reasoning": "The hours are in [1]."}},
    {"match": {"userMessage": "long"}, "response": {"content": "Open until 1", "finishReason": "length"}},
    {"match": {"userMessage": "filtered"}, "response": {"content": "", "finishReason": "content_filter"}},
    {
        "match": {"userMessage": "busy"},
        "response": {
            "status": 429,
            "error": {"message": "Slow down", "type": "rate_limit_error", "code": "rate_limit_exceeded"},
        },
    },
    {"match": {"userMessage": "breaks"}, "response": {"content": SAID * 9}, "chunkSize": 10, "truncateAfterChunks": 3},
]


@pytest.fixture(scope="module")
def aimock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The base URL of the server, with the fixtures above."""
    node, program = shutil.which("node"), FOLDER / "node_modules" / ".bin" / "aimock"
    if node is None or not program.exists():
        reason = (
            "Node is not on this machine" if node is None else f"aimock is not in {FOLDER}; make aimock installs it"
        )
        if os.environ.get("TEST_REQUIRE_AIMOCK") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("aimock")
    (folder / "fixtures.json").write_text(json.dumps({"fixtures": FIXTURES}), "utf-8")
    (folder / "aimock.json").write_text(json.dumps({"llm": {"fixtures": str(folder / "fixtures.json")}}), "utf-8")
    command = [node, str(program), "--config", str(folder / "aimock.json"), "--port", "0", "--host", "127.0.0.1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder) as process:
        try:
            assert process.stdout is not None
            lines = iter(process.stdout.readline, "")
            found = next((match for line in lines if (match := re.search(r"http://127\.0\.0\.1:\d+", line))), None)
            assert found is not None, "aimock did not start"
            yield f"{found.group()}/v1"
        finally:
            process.kill()


def model(way: Way, url: str, learned: Learned | None = None) -> OpenAIModel:
    return way[0](url, "key", "gpt-test", Remote("model", retries=0), stream=way[1], effort="low", learned=learned)


async def ask(asked: OpenAIModel, user: str, **more: object) -> str:
    try:
        return (await asked.complete("Be brief.", user, purpose="compose", **more)).text  # type: ignore[arg-type]  # a schema
    finally:
        await asked.aclose()


async def test_a_reply_comes_whole(way: Way, aimock: str) -> None:
    assert await ask(model(way, aimock), "hours") == SAID


async def test_a_form_goes_along(way: Way, aimock: str) -> None:
    assert json.loads(await ask(model(way, aimock), "form", schema=fields(status=TEXT))) == {"status": "ok"}


async def test_thoughts_are_no_answer(way: Way, aimock: str) -> None:
    known = Learned()
    assert await ask(model(way, aimock, known), "thinks") == SAID
    assert known.thinks is (True if way[0] is OpenAIChat else None), (
        "only chat.completions shows them here; neither counts them"
    )


ENDS: list[tuple[str, type[Exception], type[Exception]]] = [
    ("long", ReplyCut, ServiceReplyInvalid),  # its Responses API is incomplete without a reason
    ("filtered", ContentFiltered, ServiceUnavailable),  # and failed without one
    ("busy", Throttled, Throttled),
    ("nobody wrote this", ServiceRejected, ServiceRejected),
]


@pytest.mark.parametrize(("user", "chat", "responses"), ENDS)
async def test_what_is_no_answer_is_an_error_of_ours(
    way: Way, aimock: str, user: str, chat: type[Exception], responses: type[Exception]
) -> None:
    with pytest.raises(chat if way[0] is OpenAIChat else responses):
        await ask(model(way, aimock), user)


@pytest.mark.parametrize("interface", [OpenAIChat, OpenAIResponses])
async def test_half_a_stream_is_no_answer(interface: type[OpenAIChat | OpenAIResponses], aimock: str) -> None:
    with pytest.raises(ServiceError):
        await ask(model((interface, True), aimock), "breaks")
