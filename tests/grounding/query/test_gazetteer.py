"""Names of the knowledge base in what people type."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grounding.query.gazetteer import MAX_CHARACTERS, MAX_TOKENS, Gazetteer, key_of, names_of, tokens
from tests.tables import Tables

TABLES = Tables(__file__)

TITLES = TABLES.texts("titles")
KB = Gazetteer(names_of(TITLES))


def linked(text: str) -> list[tuple[str, str]]:
    """(name, what stands in the text)."""
    return [(found.name, text[found.start : found.end]) for found in KB.link(text)]


@TABLES.each("case_accents_apostrophes_and_ampersands")
def test_case_accents_apostrophes_and_ampersands(text: str, name: str, said: str) -> None:
    assert linked(text) == [(name, said)]


@TABLES.each("one_word_as_two_and_two_as_one")
def test_one_word_as_two_and_two_as_one(text: str, name: str, said: str) -> None:
    assert linked(text) == [(name, said)]


@TABLES.each("slips_of_the_hand_and_of_speech_recognition")
def test_slips_of_the_hand_and_of_speech_recognition(text: str, name: str) -> None:
    assert [found for found, _ in linked(text)] == [name]


@TABLES.each("near_misses")
def test_near_misses(text: str) -> None:
    """Words that many names hold, other words, other numbers: none of them is a name."""
    assert linked(text) == []


@TABLES.each("the_rarest_word_says_enough")
def test_the_rarest_word_says_enough(text: str, name: str) -> None:
    """A part of a name is linked if little else goes by it; a number may be left out, not be another."""
    assert [found for found, _ in linked(text)] == [name]


@TABLES.each("of_two_that_overlap_the_better_one_stays")
def test_of_two_that_overlap_the_better_one_stays(text: str, names: list[str]) -> None:
    assert [found for found, _ in linked(text)] == names


def test_scores_say_how_much_of_the_name_stands_there() -> None:
    whole, slip, part = (
        KB.link(text)[0].score
        for text in ("huntingdon marriott hotel", "huntingdon mariott hotel", "huntingdon marriott")
    )
    assert 1.0 == whole > slip > part > 0.5


def test_what_may_not_be_seen_hides_nothing_else() -> None:
    """A better name that this reader may not see leaves its place to the one beside it."""
    assert [f.name for f in KB.link("hotel du vin", lambda key: key != ("hotel", "du", "vin"))] == ["Vin"]
    assert KB.link("hotel du vin", lambda _: False) == []


# --- which names there are


def test_a_beginning_that_titles_share_is_a_name() -> None:
    titles = [
        f"Roost Hub: {topic}" for topic in ("Reset to the state of the very first day", "Warranty terms", "Lights")
    ]
    assert ("roost", "hub") in names_of(titles)
    assert ("roost", "hub") not in names_of(titles[:2])
    assert ("roost", "hub") not in names_of([titles[0]] * 5), "they do not go on in different ways"


def test_a_question_is_no_name() -> None:
    """A title that goes on with a question is named by what stands before it."""
    titles = [f"LIMEHOUSE: What type of {x} do you have?" for x in ("food", "wine", "parking")] + [
        "LIMEHOUSE: Is it big?",
        "LIMEHOUSE: Can I park there?",
    ]
    assert set(names_of(titles)) == {("limehouse",)}
    assert names_of([f"How do I reset my {x}?" for x in ("router", "hub", "password", "mind")]) == {}


def test_titles_that_say_nothing_give_no_name() -> None:
    assert names_of(["", "  ", "?", "A", "the", "& and", "of the and", "…"]) == {}


def test_products_are_names_and_long_titles_are_none() -> None:
    title = "Everything that you ever wanted to learn about the router"
    assert names_of([title], ["Wren X2"]) == {("wren", "x2"): "Wren X2"}


def test_a_name_is_spelt_as_it_first_was() -> None:
    assert names_of(["Café Rouge", "CAFE ROUGE"]) == {("cafe", "rouge"): "Café Rouge"}


def test_many_titles_with_one_word_in_common() -> None:
    """A word in thousands of names finds none of them, and counts where another does."""
    kb = Gazetteer(names_of([*(f"Error {n}" for n in range(3000)), "Error Belfry"]))
    assert kb.link("I get an error") == []
    assert [f.name for f in kb.link("error 2999 again, error 4000")] == ["Error 2999"]
    assert [f.score for f in kb.link("error belfry")] == [1.0]


# --- any text, any titles

TEXT = st.text(st.sampled_from("abeéÉİßŉﬁ &'’-_.?19\u0301\n𝔘水") | st.characters(), max_size=80)
NAMED = st.lists(st.sampled_from([*TITLES, "?", "gonvile", "and", "the", "'s"]) | TEXT, max_size=12).map(" ".join)


@given(st.lists(TEXT, max_size=8), TEXT)
def test_any_text_and_any_titles(titles: list[str], text: str) -> None:
    """Places are exact, ascend and do not overlap; names are spelt as a title has them."""
    kb = Gazetteer(names_of(titles, titles[:2]))
    for said in (text, *titles, " ".join(titles)):
        end = 0
        for found in kb.link(said):
            assert end <= found.start < found.end <= len(said)
            assert 0 < found.score <= 1
            assert key_of(found.name) == found.key
            assert any(found.name in title for title in titles)
            end = found.end


@given(NAMED)
def test_places_in_talk_about_names(text: str) -> None:
    end = 0
    for found in KB.link(text):
        assert end <= found.start < found.end <= len(text)
        assert text[found.start].isalnum() or text[found.start] == "&"
        end = found.end


@given(TEXT)
def test_words_stand_where_they_are_said_to(text: str) -> None:
    end = 0
    for token in tokens(text):
        assert end <= token.start < token.end <= len(text)
        assert token.text == "and" or len(token.text) <= token.end - token.start
        end = token.end


@given(st.sampled_from(TITLES), st.sampled_from([str, str.upper, str.lower, str.title]))
def test_a_title_is_linked_however_it_is_written(title: str, write: object) -> None:
    assert callable(write)
    assert [found.name for found in KB.link(f"so, {write(title)}!")] == [title]


@pytest.mark.parametrize(
    "filler",
    ["x" * 1_000_000, "& " * 300_000, "'" * 1_000_000, "curry " * 200_000, "gonvile hotel " * 50_000, "水" * 500_000],
    ids=["letters", "ampersands", "apostrophes", "words", "names", "no spaces"],
)
def test_long_texts_are_read_at_their_end(filler: str) -> None:
    """What is looked at is bounded, in words and in characters; the last name is found where it stands."""
    text = f"Moose {filler} Cityroomz"
    found = KB.link(text)
    assert len(found) <= MAX_TOKENS
    assert text[found[-1].start : found[-1].end] == found[-1].name == "Cityroomz"
    assert all(f.start >= len(text) - MAX_CHARACTERS for f in found)


def test_one_gazetteer_serves_many_threads() -> None:
    texts = [f"{title} and {other.lower()}" for title in TITLES for other in TITLES[:6]]
    alone = [KB.link(text) for text in texts]
    fresh = Gazetteer(names_of(TITLES))
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(fresh.link, texts)) == alone
