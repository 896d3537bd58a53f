"""Beside a title stands only what it does not say: no heading twice, no heading below the name of its site."""

import pytest

from bot.view.place import named_place, place_in


@pytest.mark.parametrize(
    ("title", "locator", "place"),
    [
        ("Return an order", "How to return", "How to return"),
        ("Return an order", "Return an order", ""),
        ("Moving home", "MOVING HOME", ""),
        ("Warranty terms", "page 1 · Warranty terms", "page 1"),
        ("Warranty terms", "page 1 · 1. How long it lasts", "page 1 · 1. How long it lasts"),
        ("Forms", "Forms · Forms", ""),
        ("Claims", "Forms · Forms", "Forms"),
        ("Slow Wi-Fi: find the cause – Help", "Slow Wi-Fi: find the cause", ""),
        ("Watch plans | Help | Kestrelby", "Watch plans | Help", ""),
        ("Price list", "sheet Devices", "sheet Devices"),
        ("Price list", None, ""),
        ("", "page 2", "page 2"),
    ],
)
def test_a_place_says_what_the_title_does_not(title: str, locator: str | None, place: str) -> None:
    assert place_in(title, locator) == place
    assert named_place(title, locator) == " · ".join(part for part in (title, place) if part)
