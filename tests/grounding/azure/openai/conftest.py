"""The four ways in which a chat model is asked: two interfaces, each in one piece or streamed."""

from __future__ import annotations

import pytest

from grounding.azure.openai.chat import OpenAIChat
from grounding.azure.openai.responses import OpenAIResponses

Way = tuple[type[OpenAIChat | OpenAIResponses], bool]
WAYS: dict[str, Way] = {
    "chat": (OpenAIChat, False),
    "chat-streamed": (OpenAIChat, True),
    "responses": (OpenAIResponses, False),
    "responses-streamed": (OpenAIResponses, True),
}


@pytest.fixture(params=WAYS.values(), ids=list(WAYS))
def way(request: pytest.FixtureRequest) -> Way:
    made: Way = request.param
    return made
