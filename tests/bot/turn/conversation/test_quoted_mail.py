"""What a mail quotes is set apart from what its author wrote, and no line is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.turn.conversation.quoted_mail import own_and_quoted


@pytest.mark.parametrize(
    "announced",
    [
        "On 12 Nov 2026, at 10:12, Care <care@shop.example> wrote:",
        "Am 12.11.2026 um 10:12 schrieb Care <care@shop.example>:",
        "Le jeu. 12 nov. 2026 à 10:12, Care a écrit :",
        "El jue, 12 nov 2026 a las 10:12, Care escribió:",
        "Il giorno gio 12 nov 2026 alle ore 10:12 Care ha scritto:",
        "Em qui., 12 de nov. de 2026 às 10:12, Care escreveu:",
        "Op do 12 nov 2026 om 10:12 schreef Care:",
        "W dniu 12.11.2026 o 10:12, Care napisał(a):",
        "12 lis 2026 o 10:12 Care napisał:",
        "-----Original Message-----",
        "-----Ursprüngliche Nachricht-----",
        "________________________________",
    ],
)
@pytest.mark.parametrize("mark", ["", "> "])
def test_what_stands_below_an_announcement_is_quoted(announced: str, mark: str) -> None:
    lines = ["What does it cost?", "", announced, f"{mark}Dear Ann", f"{mark}it is 5 euros"]
    assert own_and_quoted(lines) == (lines[:2], lines[2:])


def test_what_is_written_between_quotations_is_the_authors() -> None:
    lines = ["On 12 Nov, Care wrote:", "> Is it wet?", "Yes.", "> Is it new?", "No. What now?"]
    assert own_and_quoted(lines) == (
        ["Yes.", "No. What now?"],
        ["On 12 Nov, Care wrote:", "> Is it wet?", "> Is it new?"],
    )


def test_one_arrow_is_no_quotation() -> None:
    assert own_and_quoted(["> my question: how much?", "thanks"]) == (["> my question: how much?", "thanks"], [])
    assert own_and_quoted([">>> my question", ">>> how much?"])[1] == []


def test_an_older_mail_within_the_quotation_is_quoted_too() -> None:
    lines = ["What now?", "> It came.", "> > Where is it?", ">>> I ordered on Monday."]
    assert own_and_quoted(lines) == (lines[:1], lines[1:])


@given(
    st.lists(
        st.sampled_from(["", "text", "> said", "On 1 May, Ann wrote:", "On 1 May 2026 Ann", "<a@b> wrote:", "---"])
    )
)
def test_no_line_is_lost(lines: list[str]) -> None:
    own, quoted = own_and_quoted(lines)
    assert sorted(own + quoted) == sorted(lines)
