"""Which notes a person reads below an answer."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.wording.evidence import EvidenceWords
from bot.wording.notes import for_person
from rai.screening.markup import IMAGE

ROOT = Path(__file__).parents[3]


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
        "the last turn holds no term to rank",
        "the question was searched for as it is: the model wrote no key words",
        "agentic retrieval gave no scores of the ranker: passages stand in its order",
        "3 of 20 passages without a grade of gpt-5-mini, graded by embedded",
        "the prompt for draft was cut: llama counts 2048 of about 5000 tokens; the context of its server is too short",
        "a note that nobody has words for yet",
        " ",
    ],
)
def test_what_is_for_the_record_is_not_told(note: str) -> None:
    assert for_person([note]) == []


def test_what_makes_the_answer_less_is_told() -> None:
    notes = ("the directory did not answer; only what everyone may see was searched", "“Plsu” was read as “Plus”")
    assert for_person((*notes, *notes)) == ["only what everyone may see was searched", notes[1]]


@pytest.mark.parametrize(
    ("note", "told"),
    [
        ("tavily: failed (status 500); answered from the knowledge base only", "answered from the knowledge base only"),
        ("language: the job failed; the last turn is the query", "only your last message was searched for"),
        ("“Plsu” was read as “Plus”", "“Plsu” was read as “Plus”"),
        ("openai: failed (status 500): searched by words only", "searched by words alone, not by meaning"),
        (
            "no vectors of the embedding model in use: searched by words only; run attest ingest",
            "searched by words alone, not by meaning",
        ),
        (
            "openai:gpt-5-mini graded none of 20 passages; openai: did not answer in time",
            "how well the passages fit could not be judged",
        ),
        (IMAGE, "an image, or a link that led astray, was taken out of the draft"),
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
    ],
)
def test_a_note_is_told_in_the_language_of_the_question_where_it_has_words(note: str, told: str) -> None:
    assert for_person([note], "de") == [told]


@pytest.mark.parametrize("language", list(EvidenceWords.texts()))
def test_no_note_of_the_program_s_own_making_is_shown_as_it_was_written(language: str) -> None:
    """Every note that the source writes is either for the record or has words of each language."""
    written = set(own_notes())
    assert len(written) > 20
    w = EvidenceWords(language)
    names = [name for name in EvidenceWords.texts()[language] if name.startswith("note_")]
    words = {w(name, typed="3", meant="3") for name in names}
    shown = {line for note in written for line in for_person([note], language)}
    assert shown <= words
    assert shown


def own_notes() -> Iterator[str]:
    """The constant notes of the program, and those that it puts together with a stand-in for each part."""
    for path in (ROOT / room for room in ("bot/turn", "grounding", "rai/screening")):
        for file in path.rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in NOTING:
                    yield from (text for argument in node.args if (text := _said(argument)))


NOTING = {"note", "Retrieval", "last_turn_query", "QueryVector", "append"}


def _said(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "3" for part in node.values)  # type: ignore[misc]
    return ""
