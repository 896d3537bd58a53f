"""The lexicon: every phrase of every language is found as what it is, and its neighbours are not taken for it."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from rai.check.lexicon.load import CONCEPTS, LANGUAGES, LONGEST, cues, of_concept, pattern, rows

PHRASES = [
    (concept, key, language, phrase)
    for concept in CONCEPTS
    for key, cells in rows(concept).items()
    for language, phrases in cells.items()
    for phrase in phrases
]


def keys(concept: str, text: str, language: str) -> set[str]:
    return {cue.key for cue in of_concept(concept, text, language)}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_phrase_is_found_as_what_it_is_and_with_its_place(language: str) -> None:
    for concept, key, code, phrase in PHRASES:
        if code == language:
            spoken = phrase.replace("*", "x")
            text = f"… {spoken.upper() if 'ß' not in spoken else spoken}, 8"
            met = [(c.concept, c.key, c.start, c.end) for c in cues(text, language)]
            assert (concept, key, 2, 2 + len(spoken.rstrip("'"))) in met, (concept, key, language, phrase, met)


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_phrase_is_found_within_a_longer_word(language: str) -> None:
    for concept, key, code, phrase in PHRASES:
        if code == language and not phrase.endswith("*"):
            assert not keys(concept, f"qq{phrase.split()[0]}qq", language) & {key}, (concept, key, language, phrase)


def test_the_files_are_well_formed() -> None:
    for concept, key, language, phrase in PHRASES:
        assert phrase == phrase.strip().lower() != "", (concept, key, language, phrase)
        assert len(phrase.replace("'", " ").replace("-", " ").split()) <= LONGEST, phrase
    for concept in CONCEPTS:
        for key, cells in rows(concept).items():
            for language, phrases in cells.items():
                assert len(set(phrases)) == len(phrases), (concept, key, language)


# what is said of a bound, language by language: (at least, at most, both behind the value)
BOUNDS = {
    "en": ("at least 8", "at most 8", "8 or more", "8 or fewer"),
    "de": ("mindestens 8", "höchstens 8", "8 oder mehr", "8 oder weniger"),
    "fr": ("au moins 8", "tout au plus 8", "8 ou plus", "8 ou moins"),
    "es": ("al menos 8", "a lo sumo 8", "8 o más", "8 o menos"),
    "it": ("almeno 8", "al massimo 8", "8 o più", "8 o meno"),
    "pt": ("pelo menos 8", "no máximo 8", "8 ou mais", "8 ou menos"),
    "nl": ("minstens 8", "hoogstens 8", "8 of meer", "8 of minder"),
    "pl": ("co najmniej 8", "co najwyżej 8", "8 lub więcej", "8 lub mniej"),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_least_is_not_most(language: str) -> None:
    least, most, or_more, or_fewer = BOUNDS[language]
    assert keys("bounds", least, language) == {"least"}
    assert keys("bounds", most, language) == {"most"}
    assert keys("bounds_behind", or_more, language) == {"least"}
    assert keys("bounds_behind", or_fewer, language) == {"most"}


@pytest.mark.parametrize(
    ("language", "text", "concept", "expected"),
    [
        ("en", "no later than Friday", "negation", set()),
        ("en", "no later than Friday", "bounds", {"until"}),
        ("en", "no more than 5", "bounds", {"most"}),
        ("en", "more than 5", "bounds", {"over"}),
        ("en", "not only on Fridays", "negation", {"no_negation"}),
        ("en", "not on Fridays", "negation", {"not"}),
        ("en", "It isn’t free", "negation", {"not"}),
        ("en", "no longer valid", "past", {"past"}),
        ("en", "no longer than 5 days", "past", set()),
        ("de", "früher 8 €", "past", {"past"}),
        ("de", "früher als 8 Uhr", "past", set()),
        ("de", "nicht mehr als 5", "negation", set()),
        ("de", "keinerlei Gebühren", "negation", {"not"}),
        ("de", "frueher als 8 Uhr", "bounds", {"before"}),
        ("de", "hoechstens 8", "bounds", {"most"}),
        ("fr", "jusqu’à 5 jours", "bounds", {"until"}),
        ("fr", "l’après-midi", "bounds", {"after"}),
        ("fr", "ce n’est plus valable", "past", {"past"}),
        ("fr", "plus de 5 kg", "bounds", {"over"}),
        ("es", "ya no se vende", "past", {"past"}),
        ("it", "tutt’al più 5", "bounds", {"most"}),
        ("pt", "até 5 dias", "bounds", {"until"}),
        ("pt", "até um máximo de 5", "bounds", {"most"}),
        ("nl", "niet later dan vrijdag", "negation", set()),
        ("pl", "nie później niż w piątek", "negation", set()),
        ("en", "die Frist", "bounds", set()),
        ("xx", "at least 5", "bounds", {"least"}),
    ],
)
def test_the_longest_phrase_wins(language: str, text: str, concept: str, expected: set[str]) -> None:
    assert keys(concept, text, language) == expected


@pytest.mark.parametrize(
    ("language", "one", "other", "scale"),
    [
        ("en", "free of charge", "charged", "cost"),
        ("de", "kostenfrei", "gebührenpflichtig", "cost"),
        ("de", "für Kinder", "für Erwachsene", "age"),
        ("fr", "ouvert", "fermé", "hours"),
        ("es", "incluido", "excluido", "part"),
        ("it", "vietato", "consentito", "may"),
        ("pt", "reembolsável", "não reembolsável", "refund"),
        ("nl", "in de winkel", "online", "place"),
        ("pl", "bezpłatnie", "odpłatnie", "cost"),
    ],
)
def test_opposites_share_a_scale_and_no_side(language: str, one: str, other: str, scale: str) -> None:
    mine, theirs = ({c.key for c in of_concept("opposites", t, language) if c.scale == scale} for t in (one, other))
    assert mine
    assert theirs
    assert mine.isdisjoint(theirs)


def test_every_scale_has_two_sides() -> None:
    scales = [key.partition("/")[0] for key in rows("opposites")]
    assert {scales.count(scale) for scale in scales} == {2}


def test_a_concept_without_a_file_is_named() -> None:
    with pytest.raises(FileNotFoundError, match=r"colours\.tsv"):
        rows("colours")


def test_the_files_are_packed_into_a_wheel() -> None:
    patterns = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]["package-data"]["*"]
    assert "*.tsv" in patterns


def test_a_pattern_finds_every_phrase_of_every_language() -> None:
    for key, cells in rows("reckoning").items():
        found = pattern("reckoning", key, parts=True)
        for language, phrases in cells.items():
            for phrase in phrases:
                assert found.search(f"… {phrase.upper()} 8") or "ß" in phrase, (key, language, phrase)
                assert not found.fullmatch(f"qq{phrase}"), (key, language, phrase)


def test_a_whole_pattern_ends_with_its_word() -> None:
    assert pattern("reckoning", "month_day").search("by the 20th of the month")
    assert not pattern("reckoning", "month_day").search("by the 20th of the months")
