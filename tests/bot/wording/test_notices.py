"""The fixed texts of outcomes: every one in every language, and the exact sentence in English."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from bot.turn.conversation.small_talk import lists
from bot.wording import notices, refusals
from bot.wording.conversation import teams
from bot.wording.notices import in_languages, notice, said, tells_empty
from rai.records import Outcome

WORDING = Path(notices.__file__).parent
LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl")


def test_each_text_is_there_in_all_seven_languages_and_in_none_twice() -> None:
    for table in (notices.texts(), teams.texts()):
        assert tuple(table) == LANGUAGES == tuple(refusals.texts())
        for name in table["en"]:
            assert all(row[name].strip() for row in table.values()), name
    assert len({row["withheld"] for row in notices.texts().values()}) == len(LANGUAGES)


@pytest.mark.parametrize("name", list(teams.texts()["en"]))
def test_what_is_filled_in_is_the_same_in_each_language(name: str) -> None:
    fields = {
        code: sorted(part.split("}")[0] for part in row[name].split("{")[1:]) for code, row in teams.texts().items()
    }
    assert len({tuple(found) for found in fields.values()}) == 1, fields


def test_the_sentence_of_insufficiency_is_exact_in_english() -> None:
    assert notice(Outcome.INSUFFICIENT) == "The provided information is not sufficient to answer this question."
    assert notice(Outcome.INSUFFICIENT) == said("insufficient")
    assert notice(Outcome.INSUFFICIENT, language="de") == said("insufficient", "de")


def test_an_outcome_speaks_the_language_and_english_where_it_has_no_words() -> None:
    assert notice(Outcome.FAILED, "deadline", "fr") == said("deadline", "fr")
    assert notice(Outcome.FAILED, None, "ja") == said("failed")
    assert notice(Outcome.WITHHELD, language="it") == said("withheld", "it")
    assert notice(Outcome.BLOCKED, language="nl") == refusals.refusal_text(None, "nl")


def test_an_empty_knowledge_base_is_known_by_its_notice_in_each_language() -> None:
    assert all(tells_empty(said("empty", code)) for code in LANGUAGES)
    assert not tells_empty(said("failed"))


INNER = re.compile(
    r"\b(?:openai|azure|tavily|serpapi|duckduckgo|sqlite|postgres(?:ql)?|onnx|bm25|chunks?|embeddings?|vectors?|scores?|thresholds?|crag|hyde|prompts?|grader|retriever|"
    r"JSON|HTTP|regex|traceback|exception|status \d{3})\b|\bATTEST_|\w/\w[\w/-]*\.\w+|\w\.(?:py|yaml|md)\b|\b[a-z]+(?:_[a-z]+)+\b",
    re.IGNORECASE,
)
"""Words of those who run the product: services, settings, scores, paths and names of rules."""


def _told() -> Iterator[tuple[str, str, str]]:
    tables = {path.name: in_languages(path.name) for path in WORDING.glob("*.yaml") if path.name in IN_CONVERSATIONS}
    for file, languages in tables.items():
        for code, rows in languages.items():
            yield from ((f"{file} {code}", name, text) for name, text in _texts(rows))
    for code, known in lists().languages.items():
        yield from ((f"small talk {code}", name, text) for name, text in asdict(known.texts).items())


def _texts(rows: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, text in rows.items():
        if isinstance(text, str):
            yield name, text
        elif isinstance(text, Mapping):
            yield from _texts(text)


IN_CONVERSATIONS = ("card.yaml", "closest.yaml", "extension.yaml", "notices.yaml", "refusals.yaml", "teams.yaml")


def test_nothing_that_a_conversation_is_told_has_a_word_of_those_who_run_the_product() -> None:
    found = [(where, name, text) for where, name, text in _told() if INNER.search(re.sub(r"\{\w+\}", "", text))]
    assert found == []
    assert sum(1 for _ in _told()) > 500
