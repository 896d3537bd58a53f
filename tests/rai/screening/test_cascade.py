"""Two screens in a row: who is asked about what, who decides, and what the record says."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from grounding.errors import PromptBlocked, ServiceError, ServiceUnavailable
from rai.records import DocumentScreening, Screening
from rai.screening.cascade import CascadeScreen, When
from rai.screening.decision import RememberingScreen
from rai.screening.turn import screened_turn


class Words:
    """Blocks a text with "bad", is in doubt about one with "odd"; what it was asked is on record."""

    def __init__(self, name: str = "first", bad: str = "bad", odd: str = "odd") -> None:
        self.name = name
        self.bad, self.odd = bad, odd
        self.asked: list[tuple[str, tuple[str, ...]]] = []

    async def screen(self, text: str, documents: Sequence[str] = ()) -> Screening:
        self.asked.append((text, tuple(documents)))
        score, blocked, doubtful = self._judge(text)
        judged = tuple(self._document(i, d) for i, d in enumerate(documents))
        if blocked:
            return Screening("block", "violence", f"{self.name}-1", score, judged, 0.62)
        return Screening("allow", score=score, documents=judged, threshold=0.62, doubtful=doubtful)

    def _judge(self, text: str) -> tuple[float, bool, bool]:
        blocked, doubtful = self.bad in text, self.odd in text and self.bad not in text
        return (0.9 if blocked else 0.41 if doubtful else 0.1), blocked, doubtful

    def _document(self, index: int, text: str) -> DocumentScreening:
        score, blocked, doubtful = self._judge(text)
        return DocumentScreening(
            index, "block" if blocked else "allow", f"{self.name}-d" if blocked else None, score, doubtful
        )


class Broken:
    name = "second"

    def __init__(self, error: Exception) -> None:
        self.error = error

    async def screen(self, text: str, documents: Sequence[str] = ()) -> Screening:
        raise self.error


class Careless:
    name = "second"

    async def screen(self, text: str, documents: Sequence[str] = ()) -> Screening:
        return Screening("allow")


DOCUMENTS = ("fine", "odd one", "bad one", "odd worse")


@pytest.mark.parametrize(
    ("text", "when", "asked"),
    [
        ("fine", "doubt", []),
        ("odd", "doubt", [("odd", ())]),
        ("bad", "doubt", []),
        ("fine", "always", [("fine", ())]),
        ("odd", "always", [("odd", ())]),
        ("bad", "always", []),
        ("", "always", []),
        (" \n", "always", []),
    ],
)
async def test_the_second_is_asked_only_what_is_left_to_it(
    text: str, when: When, asked: list[tuple[str, tuple[str, ...]]]
) -> None:
    first, second = Words(), Words("second", "worse")
    await CascadeScreen(first, second, when=when).screen(text)
    assert second.asked == asked
    assert len(first.asked) == 1


@pytest.mark.parametrize(
    ("when", "sent", "verdicts"),
    [
        ("doubt", ("odd one", "odd worse"), ["allow", "allow", "block", "block"]),
        ("always", ("fine", "odd one", "odd worse"), ["allow", "allow", "block", "block"]),
    ],
)
async def test_documents_go_on_by_themselves_and_keep_their_places(
    when: When, sent: tuple[str, ...], verdicts: list[str]
) -> None:
    second = Words("second", "worse", "never")
    found = await CascadeScreen(Words(), second, when=when).screen("bad", DOCUMENTS)
    assert second.asked == [("", sent)]
    assert [d.verdict for d in found.documents] == verdicts
    assert [d.index for d in found.documents] == [0, 1, 2, 3]
    assert [d.rule for d in found.documents] == [None, None, "first-d", "second-d"]
    assert (found.rule, found.by) == ("first-1", "first")
    assert found.notes == ("2 of 4 documents were in doubt (highest score 0.41); 1 of them blocked",)


@pytest.mark.parametrize(
    ("text", "verdict", "by", "rule", "note"),
    [
        ("odd", "allow", "second", None, "second allowed it"),
        ("odd worse", "block", "second", "second-1", "second blocked it"),
    ],
)
@pytest.mark.parametrize("when", ["doubt", "always"])
async def test_the_second_decides_a_doubt(
    *, when: When, text: str, verdict: str, by: str, rule: str | None, note: str
) -> None:
    found = await CascadeScreen(Words(), Words("second", "worse", "never"), when=when).screen(text)
    assert (found.verdict, found.by, found.rule, found.doubtful) == (verdict, by, rule, False)
    assert found.notes == (f"the text was in doubt (score 0.41, blocks from 0.62); {note}",)


async def test_without_a_second_a_doubt_is_allowed_and_noted() -> None:
    found = await CascadeScreen(Words()).screen("odd", DOCUMENTS)
    assert (found.verdict, found.by, found.doubtful) == ("allow", "first", True)
    assert [d.verdict for d in found.documents] == ["allow", "allow", "block", "allow"]
    assert found.notes == (
        "the text was in doubt (score 0.41, blocks from 0.62); no stronger screen is configured, so it was allowed",
        "2 of 4 documents were in doubt (highest score 0.41); no stronger screen is configured, so they were allowed",
    )


async def test_a_second_that_judges_no_documents_gets_none() -> None:
    second = Words("second", "worse", "never")
    found = await CascadeScreen(Words(), second, documents=False).screen("odd", DOCUMENTS)
    assert second.asked == [("odd", ())]
    assert [d.verdict for d in found.documents] == ["allow", "allow", "block", "allow"]
    assert found.notes[1].endswith("second does not judge documents, so they were allowed")


async def test_no_doubt_no_note() -> None:
    for screen in (CascadeScreen(Words()), CascadeScreen(Words(), Words("second"))):
        assert (await screen.screen("fine", ["fine"])).notes == ()


async def test_the_names_say_who_stands_there() -> None:
    assert CascadeScreen(Words()).name == "first"
    assert CascadeScreen(Words(), Words("second")).name == "first+second"


@pytest.mark.parametrize(
    ("second", "said"),
    [
        (Broken(ServiceUnavailable("second", "cannot be reached")), "second: cannot be reached"),
        (Broken(RuntimeError("private words")), "second: the screen failed (RuntimeError)"),
        (Careless(), "second: 0 of 1 documents were judged"),
    ],
)
async def test_a_second_that_fails_closes_and_is_named_in_the_record(second: Broken | Careless, said: str) -> None:
    cascade = CascadeScreen(Words(), second)
    with pytest.raises(ServiceError) as caught:
        await cascade.screen("fine", ["fine"])
    assert str(caught.value) == said
    with screened_turn() as turn:
        with pytest.raises(PromptBlocked) as blocked:
            await RememberingScreen(cascade).screen("fine", ["fine"])
        assert blocked.value.unavailable
        assert turn.notes == [f"the prompt screen could not decide: {said}"]
        assert not turn.requests
        assert not turn.data


async def test_notes_of_a_screening_become_notes_of_the_turn_once() -> None:
    screen = RememberingScreen(CascadeScreen(Words()))
    with screened_turn() as turn:
        await screen.screen("odd")
        await screen.screen("odd")
    assert len(turn.notes) == 1
