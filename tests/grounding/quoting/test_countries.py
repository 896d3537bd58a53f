"""Codes of countries in cells, and what people call the countries."""

from __future__ import annotations

import pytest

from grounding.quoting.countries import as_said, country_names


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("IE", {"ireland", "irland", "irlande", "irish"}),
        ("GB", {"united kingdom", "uk", "britain"}),
        ("DE", {"germany", "deutschland", "allemagne", "german"}),
    ],
)
def test_a_code_has_its_names_in_several_languages(code: str, names: set[str]) -> None:
    assert names <= set(country_names(code))


@pytest.mark.parametrize("cell", ["ie", "XX", "QQQ", "I", "12", "", "Ireland"])
def test_what_is_no_code_of_a_country_has_none(cell: str) -> None:
    assert country_names(cell) == ()


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("who's open saturdays in Ireland?", "ireland"),
        ("Wer hat in Irland auf?", "irland"),
        ("who's open saturdays in Irelandia", "IE"),
        ("who's open in france", "IE"),
    ],
)
def test_a_cell_is_read_as_the_question_calls_it(question: str, said: str) -> None:
    assert as_said("IE", question) == said
