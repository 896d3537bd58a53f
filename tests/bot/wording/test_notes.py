"""Which notes a person reads below an answer."""

from __future__ import annotations

import pytest

from bot.wording.notes import for_person


@pytest.mark.parametrize(
    "note",
    [
        "passages with hidden instructions were left out: community/camera-tips.html",
        "2 of 5 web results dropped: they give orders (JB-01)",
        "1 earlier turn(s) or context that give orders were left out",
        "billing/refunds-2025.md is older than billing/refunds.md on the same subject",
        "the screen's rules do not read this language (de)",
        "the model for draft was given placeholders: 2 names",
        "check: failed inside (match.py:12)",
        "compose: openai: failed (status 500)",
        "retrieve: azure search: cannot be reached (ClientConnectorError)",
        "other phrasings: openai: did not answer in time",
        "the second draft was not supported either",
        "the text was in doubt (score 0.12, blocks from 0.50); no stronger screen is configured, so it was allowed",
        "also looked for in English: how, long, warranty",
        " ",
    ],
)
def test_what_is_for_the_record_is_not_told(note: str) -> None:
    assert for_person([note]) == []


def test_what_makes_the_answer_less_is_told() -> None:
    notes = ("the directory did not answer; only what everyone may see was searched", "grading took too long")
    assert for_person(notes) == list(notes)


@pytest.mark.parametrize(
    ("note", "told"),
    [
        ("tavily: failed (status 500); answered from the knowledge base only", "answered from the knowledge base only"),
        ("language: the job failed; the last turn is the query", "the last turn is the query"),
        ("“Plsu” was read as “Plus”", "“Plsu” was read as “Plus”"),
    ],
)
def test_a_service_and_its_fault_are_not_named(note: str, told: str) -> None:
    assert for_person([note]) == [told]


@pytest.mark.parametrize(
    ("note", "told"),
    [
        (
            "tavily: failed (status 500); answered from the knowledge base only",
            "nur aus der Wissensdatenbank beantwortet",
        ),
        (
            "the directory did not answer; only what everyone may see was searched",
            "durchsucht wurde nur, was alle sehen dürfen",
        ),
        ("“Plsu” was read as “Plus”", "„Plsu“ wurde als „Plus“ gelesen"),
        ("looking further was stopped after 2.5 s", "die weitere Suche dauerte zu lange und wurde beendet"),
        ("no more embeddings than the quota allows", "no more embeddings than the quota allows"),
    ],
)
def test_a_note_is_told_in_the_language_of_the_question_where_it_has_words(note: str, told: str) -> None:
    assert for_person([note], "de") == [told]
