"""A company's own list: what it finds, how its mistakes are told, and that a changed file counts at once."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest

from grounding.errors import InputError
from rai.screening.off_policy import OffPolicy, parse

LIST = """
- id: competitors
  about: other companies' offers
  phrases: ["better than Contoso", "compar* with Contoso"]
  unless: ["move my number from Contoso"]
- id: politics
  phrases: [whom to vote for]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "off_policy.yaml"
    path.write_text(LIST, "utf-8")
    return path


def rewrite(path: Path, text: str) -> None:
    """As an editor would; the stamp is moved on in case the clock is coarse."""
    path.write_text(text, "utf-8")
    stat = path.stat()
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns + 1_000_000))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Are you better than Contoso?", "competitors"),
        ("are you BETTER   than\ncontoso", "competitors"),
        ("How does this tariff compare with Contoso?", "competitors"),
        ("Comparing with Cöntosö, who is cheaper?", "competitors"),
        ("Are you better than Contosoft?", None),
        ("Is a rebetter than Contoso thing real?", None),
        ("Better than Contoso! So how do I move my number from Contoso?", None),
        ("Tell me whom to vote for.", "politics"),
        ("Where do I vote for the product of the year?", None),
    ],
)
def test_a_phrase_is_found_as_whole_words(file: Path, text: str, found: str | None) -> None:
    subject = OffPolicy(file).found(text)
    assert (subject.id if subject else None) == found


def test_a_changed_list_counts_from_the_next_question_on(file: Path) -> None:
    policy = OffPolicy(file)
    rewrite(file, "- {id: weather, phrases: [will it rain]}")
    assert policy.found("Will it rain tomorrow?")
    assert policy.found("Tell me whom to vote for.") is None


def test_a_list_that_appears_later_is_followed(tmp_path: Path) -> None:
    policy = OffPolicy(tmp_path / "off_policy.yaml")
    assert policy.found("Tell me whom to vote for.") is None
    rewrite(tmp_path / "off_policy.yaml", LIST)
    assert policy.found("Tell me whom to vote for.")


@pytest.mark.parametrize("broken", ["- id: [", "just words", "- {id: a}"])
def test_a_slip_keeps_what_was_valid_and_says_so_once(
    file: Path, broken: str, caplog: pytest.LogCaptureFixture
) -> None:
    policy = OffPolicy(file)
    rewrite(file, broken)
    with caplog.at_level(logging.WARNING):
        assert policy.found("Tell me whom to vote for.")
        assert policy.found("Tell me whom to vote for.")
    assert len(caplog.records) == 1


def test_a_list_that_goes_away_still_holds(file: Path) -> None:
    policy = OffPolicy(file)
    file.unlink()
    assert policy.found("Tell me whom to vote for.")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- id: [", "line 1: this is no YAML"),
        ("id: a", "a list of subjects is wanted"),
        ("- phrases: [abc]", "subject 1: it needs an id"),
        ("- {id: a, phrases: abc}", "subject 1: phrases: a list of texts"),
        ("- {id: a, phrases: []}", "phrases is empty"),
        ("- {id: a, phrases: [of]}", "shorter than three letters"),
        ("- {id: a, words: [abc]}", "words is not known; allowed are about, id, phrases, unless"),
        ("- {id: a, phrases: [abc]}\n- {id: a, phrases: [def]}", "the id a is given twice"),
    ],
)
def test_a_mistake_is_told_in_one_line(text: str, said: str) -> None:
    with pytest.raises(InputError, match=f"off.yaml.*{said.replace('[', '.')}"):
        parse(text, "off.yaml")


def test_an_empty_list_excludes_nothing() -> None:
    assert parse("# nothing yet\n", "off.yaml") == ()
