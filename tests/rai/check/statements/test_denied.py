"""One thing denied beside another: what a sentence says of the one is not turned round by what is said of the other."""

from __future__ import annotations

import pytest

from rai.check.statements.denied import denied_apart

SOURCE = "Postage is refunded in the case of loss, not in the case of damage."


def test_what_is_denied_apart_is_known() -> None:
    assert denied_apart("Postage is not refunded in the case of damage.", SOURCE)
    assert denied_apart("Porto erstatten wir bei Schäden nicht.", "Porto erstatten wir bei Verlust, nicht bei Schäden.")


@pytest.mark.parametrize("said", ["Postage is not refunded in the case of loss.", "Postage is never refunded."])
def test_what_is_affirmed_stays(said: str) -> None:
    assert not denied_apart(said, SOURCE)
    assert not denied_apart(said, "Postage is refunded in the case of loss.")
