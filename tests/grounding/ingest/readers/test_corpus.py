"""Over a hundred files of every format: what each holds and where, or why it is refused, read as an ingest reads them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from grounding.bounded.limits import Limits
from grounding.ingest.readers.extract import Refused
from grounding.ingest.readers.guarded.guard import Guard
from tests.grounding.ingest.readers.sound import SOUND, Sound
from tests.grounding.ingest.readers.unsound import UNSOUND, Unsound


@pytest.fixture(scope="module")
def guard() -> Iterator[Guard]:
    """One child for all of them, with less patience than an ingest has."""
    with Guard(Limits(seconds=5.0, seconds_per_byte=0.0, patience=12.0, memory=1_000_000_000)) as shared:
        yield shared


@pytest.mark.parametrize("file", SOUND, ids=lambda file: file.name)
def test_what_is_read(guard: Guard, file: Sound) -> None:
    name = file.name.rsplit(" called ", 1)[-1]
    extract = guard.read(file.data(), name)
    assert file.kind in extract.content_type
    for words in file.holds:
        assert words in extract.text
    for words in file.lacks:
        assert words not in extract.text
    if file.title is not None:
        assert extract.title == file.title
    for label, words in file.places:
        at = [place.start for place in extract.locators if place.label == label]
        assert at, (label, extract.locators)
        assert extract.text.startswith(words, at[0])


@pytest.mark.parametrize("file", UNSOUND, ids=lambda file: file.name)
def test_what_is_refused(guard: Guard, file: Unsound) -> None:
    name = file.name.rsplit(" called ", 1)[-1]
    with pytest.raises(Refused) as refusal:
        guard.read(file.data(), name)
    assert refusal.value.code == file.code, str(refusal.value)
    assert str(refusal.value).startswith(f"{name}: ")
    assert file.says in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_third_of_the_files_is_refused() -> None:
    assert len(SOUND) + len(UNSOUND) >= 60
    assert len(UNSOUND) >= (len(SOUND) + len(UNSOUND)) / 3
    assert len({file.name for file in SOUND} | {file.name for file in UNSOUND}) == len(SOUND) + len(UNSOUND)
