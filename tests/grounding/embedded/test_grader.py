"""The embedded grader: a passage by its best sentence, then by how near the two are in meaning."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grounding.corrective.decide import decide
from grounding.embedded.grader import STRANGE_AT_MOST, EmbeddedGrader, enough, meanings, score, shortlist
from grounding.embedded.vectors.embedder import MiniLM
from grounding.grading.features import YES_AT
from grounding.policy import Policy
from grounding.records import Access, Action, Document, Passage, Query
from tests.fakes.embedder import HashEmbedder
from tests.grounding.embedded.kb import open_kb, retriever_of

SHARES = st.floats(0, 1)
PAGES = {
    "hours": (
        "Opening hours",
        (
            "The library is open from Tuesday to Saturday, 10:00 to 18:30. On Thursdays it closes at 21:00. The book drop beside the entrance "
            "takes returns at any hour."
        ),
    ),
    "cards": (
        "Library cards",
        (
            "A card is free for everyone who lives in the county. Bring an identity card and a letter that shows your address. Visitors pay 12 euros "
            "for a card that is valid for three months."
        ),
    ),
    "loans": (
        "Loans and renewals",
        (
            "Books may be kept for four weeks, films for one week. A loan can be renewed twice unless somebody else has reserved it. For each day "
            "that a book is late we charge 20 cents."
        ),
    ),
    "rooms": (
        "Study rooms",
        (
            "There are six study rooms for up to four people. They can be booked on the web site two weeks ahead. If nobody comes within fifteen "
            "minutes the room is given to others."
        ),
    ),
    "printing": (
        "Printing and scanning",
        (
            "The printers on the first floor take coins and cards. A black and white page costs 10 cents, a colour page 50 cents. Scanning to a "
            "memory stick costs nothing."
        ),
    ),
    "scanner": (
        "Book scanner Kolibri B4",
        (
            "The Kolibri B4 scans open books up to 420 mm wide. If its display shows K-17, the glass is dirty: wipe it with the dry cloth. Report every "
            "other message at the desk."
        ),
    ),
    "workshop": (
        "Repair afternoon",
        (
            "On the first Saturday of the month volunteers repair lamps, radios and clothes. Bring the thing and what belongs to it. Computers and "
            "telephones are not accepted."
        ),
    ),
    "children": (
        "For children",
        "Stories are read every Wednesday at 16:00 for children from four to seven. Parents may stay. In summer the reading takes place in the garden.",
    ),
}
THERE = (
    "When does the library close on Thursdays?",
    "How much does a colour page cost?",
    "For how long may I keep a film?",
    "Can I renew a book that somebody has reserved?",
    "What must I bring to get a library card?",
    "How many people fit into a study room?",
    "The Kolibri B4 shows K-17, what shall I do?",
    "Do you repair telephones?",
    "At what time are stories read for children?",
    "How many millimetres wide may a book be for the scanner?",
)
ABSENT = (
    "Who designed the building of the library?",
    "Can I borrow a violin?",
    "Is there a café where I can have lunch?",
    "How much is a parking ticket in the garage next door?",
    "Which bus stops in front of the entrance?",
    "What is the salary of a librarian?",
    "Do you lend sewing machines?",
    "Which languages do the volunteers speak?",
    "How many books does the library own?",
    "What does the Kolibri B9 show when its glass is dirty?",
)


@given(value=SHARES, near=SHARES)
def test_enough_is_a_probability_that_rises_with_both(value: float, near: float) -> None:
    found = enough(value, near)
    assert 0.0 < found < 1.0
    assert enough(min(1.0, value + 0.05), near) >= found
    assert enough(value, min(1.0, near + 0.05)) >= found


@pytest.mark.parametrize("near", [0.0, 0.6, 1.0])
def test_no_sentence_is_so_sure_that_nearness_does_not_count(near: float) -> None:
    """Odds are taken of [0.001, 0.999]."""
    for end, inner in ((0.0, 0.001), (1.0, 0.999)):
        assert enough(end, near) == pytest.approx(enough(inner, near), rel=2e-3)
    assert enough(1.0, 1.0) > enough(1.0, 0.0) + 0.01


@given(SHARES)
def test_without_a_model_the_value_is_that_of_the_sentence(value: float) -> None:
    assert enough(value, None) == value


async def test_a_passage_by_words_only_is_worth_its_best_sentence() -> None:
    passage = Passage("p", "d", *PAGES["printing"], semantic=0.9)
    question = "How much does a colour page cost?"
    _, sentences = shortlist(question, [passage])
    (grade,) = (await EmbeddedGrader(None).grade(question, [passage])).grades
    assert grade.score == round(max(score(c, None, passage) for c in sentences), 4)


@pytest.mark.parametrize("near", [0.0, 1.0])
async def test_another_model_is_never_kept_however_near(near: float) -> None:
    passage = Passage("p", "d", *PAGES["scanner"], score=1.0, semantic=near)
    (grade,) = (await EmbeddedGrader(HashEmbedder()).grade("The Kolibri B9 shows a dirty glass?", [passage])).grades
    assert grade.score <= STRANGE_AT_MOST < YES_AT


async def graded(question: str, passage: Passage) -> tuple[float, float]:
    """The grade, and what its best sentence is worth, with vectors that say nothing of meaning."""
    embedder = HashEmbedder()
    _, sentences = shortlist(question, [passage])
    near = await meanings(embedder, question, sentences, [passage])
    (grade,) = (await EmbeddedGrader(embedder).grade(question, [passage])).grades
    return grade.score, round(max(score(c, n, passage) for c, n in zip(sentences, near, strict=True)), 4)


async def test_a_code_that_stands_there_needs_no_nearness() -> None:
    """Vectors do not read codes: the sentence's value is kept. A question in words alone has no such floor."""
    passage = Passage("p", "d", "Book scanner", "If K-17 is shown, wipe the glass.")
    score_, sentence = await graded("What to do about K-17?", passage)
    assert score_ == sentence
    score_, sentence = await graded("What to do about the glass?", passage)
    assert score_ < sentence


@pytest.fixture
async def actions(tmp_path: Path, minilm: MiniLM) -> dict[str, Action]:
    """What is decided on each question over the small library."""
    index = await open_kb(tmp_path, [Document(i, t, text) for i, (t, text) in PAGES.items()], minilm)
    retriever, grader = retriever_of(index, minilm), EmbeddedGrader(minilm)
    found = {}
    for question in (*THERE, *ABSENT):
        passages = (await retriever.retrieve(Query(question), Access(), 50)).passages
        found[question] = decide(await grader.grade(question, passages), Policy()).action
    index.close()
    return found


@pytest.mark.row("2-25")
async def test_what_is_there_is_kept_and_what_is_not_is_refused(actions: dict[str, Action]) -> None:
    """Pages and questions that no fit has seen. They are plain: one that goes wrong means that the scale no longer holds elsewhere."""
    assert [q for q in THERE if actions[q] is Action.INCORRECT] == []
    assert [q for q in ABSENT if actions[q] is not Action.INCORRECT] == []
