"""What every tagger of names must do."""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import pairwise

import pytest

from grounding.services.remote import Remote
from rai.azure.language import LanguageRecognizer, LanguageTagger
from rai.embedded.tagger import GazetteerTagger
from rai.ports import EntityTagger
from tests.fakes.language_server import LanguageServer

TEXTS = ["", " ", "\n", "😀 Wren X2 and Contoso", "\ud800", "Wren" * 400, "Ask Contoso. " * 50, "wren x2", "(Wren)"]


@pytest.fixture(params=["list", "learnt list", "service"])
async def tagger(request: pytest.FixtureRequest) -> AsyncIterator[EntityTagger]:
    local = GazetteerTagger({"Wren Pro": "product"})
    if request.param != "service":
        yield local if request.param == "list" else GazetteerTagger(lambda: {"wren pro": "product"})
        return
    async with LanguageServer({"Contoso": ("Organization", None), "Wren Pro": ("Product", None)}) as server:
        service = LanguageTagger(local, LanguageRecognizer(server.endpoint, "key"), Remote("language", retries=0))
        yield service
        await service.aclose()


@pytest.mark.parametrize("text", TEXTS)
async def test_spans_ascend_and_do_not_overlap(tagger: EntityTagger, text: str) -> None:
    tags = await tagger.tag(text)
    assert all(0 <= start < end <= len(text) for start, end, _ in tags)
    assert all(a[1] <= b[0] for a, b in pairwise(tags))


async def test_a_known_name_is_found_with_its_type_and_exact_span(tagger: EntityTagger) -> None:
    text = "😀 The Wren Pro's lid is red."
    assert [(text[a:b], kind) for a, b, kind in await tagger.tag(text)] == [("Wren Pro", "product")]


async def test_a_text_without_names_has_none(tagger: EntityTagger) -> None:
    assert await tagger.tag("we open at nine and close at five.") == ()
