"""One thing denied beside another: what a sentence says of the one is not turned round by what is said of the other."""

from __future__ import annotations

import pytest

from rai.check.phrasing.denied import denied_apart, denies_another

SOURCE = "Postage is refunded in the case of loss, not in the case of damage."


def test_what_is_denied_apart_is_known() -> None:
    assert denied_apart("Postage is not refunded in the case of damage.", SOURCE)
    assert denied_apart("Porto erstatten wir bei Schäden nicht.", "Porto erstatten wir bei Verlust, nicht bei Schäden.")


@pytest.mark.parametrize("said", ["Postage is not refunded in the case of loss.", "Postage is never refunded."])
def test_what_is_affirmed_stays(said: str) -> None:
    assert not denied_apart(said, SOURCE)
    assert not denied_apart(said, "Postage is refunded in the case of loss.")


@pytest.mark.parametrize(
    ("said", "source", "another"),
    [
        (
            "Validity starts with the first lesson.",
            "Validity starts with the first lesson, not with the purchase.",
            True,
        ),
        ("Validity starts with the purchase.", "Validity starts with the first lesson, not with the purchase.", False),
        (
            "Validity never starts with the first lesson.",
            "Validity starts with the first lesson, not with the purchase.",
            False,
        ),
        ("Changes go to the office.", "Changes do not go to the office, and not to the teacher.", False),
        ("Changes go to the office.", "Changes go to the office.", False),
    ],
)
def test_what_is_denied_of_another_does_not_turn_the_rest_round(said: str, source: str, another: bool) -> None:
    assert denies_another(said, source) is another
