"""The form that a source document wants of an answer: the admission of ignorance, three sentences, names of files."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.records import Citation
from bot.turn.draft.answer_form import (
    REFERENCED,
    admits_ignorance,
    asks_back,
    shortened,
    with_file_names,
    with_what_is_missing,
)
from bot.wording.conversation.customer_text import MISSING
from grounding.policies.files import built_in
from grounding.policy import Policy
from grounding.quoting.coverage import Covered
from grounding.text import sentences, terms
from tests.tables import Tables

TABLES = Tables(__file__)

THREE = built_in()["graph-crag"]
FILES = built_in()["hybrid-crag"]


@pytest.mark.row("0-20")
@pytest.mark.row("2-17")
@TABLES.each("admits")
def test_an_admission_of_ignorance(draft: str, admits: bool) -> None:
    """Only a draft that says nothing else; what stands beside it would be lost."""
    assert admits_ignorance(draft) is admits


@TABLES.each("asks")
def test_a_question_back_is_nothing_but_a_question(draft: str, asks: bool) -> None:
    assert asks_back(draft) is asks


@pytest.mark.row("2-17")
@TABLES.each("shortened")
def test_three_sentences(draft: str, kept: str) -> None:
    assert shortened(draft, THREE) == kept


@given(st.text(alphabet="ab .!?\n:1", max_size=80))
def test_what_is_cut_is_the_end(draft: str) -> None:
    """The rest stays as it was written, and a second cut takes nothing."""
    kept = shortened(draft, THREE)
    assert draft.startswith(kept)
    assert shortened(kept, THREE) == kept
    assert len([s for s in sentences(kept) if terms(s.text) and not s.text.rstrip().endswith(":")]) <= 3


def test_other_policies_only_ask_for_three() -> None:
    long = "One fee. Two fees. Three fees. Four fees."
    assert [name for name, policy in built_in().items() if shortened(long, policy) != long] == ["graph-crag"]


def cited(doc_id: str, n: int = 1, url: str | None = None, *, web: bool = False) -> Citation:
    return Citation(n, doc_id, url, doc_id, f"c{n}", None, "q", "web" if web else "kb")


@pytest.mark.row("0-21")
def test_names_of_the_files_that_were_used_stand_at_the_end_once_each() -> None:
    """In the order of the citations; a page of the web by its address."""
    page = cited("https://w.example/a", 3, "https://w.example/a", web=True)
    manual = cited("b.pdf", 2, "https://intra.example/b")
    said = with_file_names("It is $5 [1].", [cited("a.md"), manual, cited("a.md", 4), page], FILES)
    assert said == f"It is $5 [1].\n\n{REFERENCED}a.md, b.pdf, https://w.example/a"


@pytest.mark.row("0-21")
def test_nothing_used_and_no_line() -> None:
    assert with_file_names("It is $5.", [], FILES) == "It is $5."
    assert with_file_names("It is $5 [1].", [cited("a.md")], Policy()) == "It is $5 [1]."


@pytest.mark.parametrize(
    ("answered", "end"),
    [((True, False), f"\n\n{MISSING} “how long”"), ((True, True), ""), ((False, False), ""), ((False,), "")],
)
def test_a_part_that_quotes_do_not_answer_is_said(answered: tuple[bool, ...], end: str) -> None:
    parts = [Covered(text, said) for text, said in zip(("what is it?", "how long?"), answered, strict=False)]
    assert with_what_is_missing("It is red [1].", parts) == f"It is red [1].{end}"
