"""What of links and sessions is of a file, and what of a session needs none. `tests/contracts/test_review_sessions.py` has the rest."""

from __future__ import annotations

import stat
from pathlib import Path

from bot.review.session import ReviewAccess, Session, admits_form, form_token, named
from bot.state import State


async def test_who_reads_the_file_finds_nothing_that_opens(tmp_path: Path) -> None:
    state = State(tmp_path / "state.db")
    await state.open()
    door = ReviewAccess(state)
    waiting, token = await door.offer(), await door.offer()
    session = await door.redeem(token)
    assert session is not None
    assert stat.S_IMODE((tmp_path / "state.db").stat().st_mode) == 0o600
    everything = b"".join(p.read_bytes() for p in tmp_path.glob("state.db*"))
    assert not any(secret.encode() in everything for secret in (waiting, token, session.secret))
    await state.close()


def test_a_form_belongs_to_one_session() -> None:
    one, two = Session("one"), Session("two")
    assert admits_form(one, form_token(one))
    assert not admits_form(two, form_token(one))
    assert not admits_form(one, "")


def test_the_record_tells_sessions_apart_and_names_none() -> None:
    """Who decides is known by the session alone: the same each time, another for another, and of no use to open one."""
    one, two = named(Session("a session")), named(Session("another"))
    assert one == named(Session("a session")) != two
    assert (one.user, one.tenant) == (None, None)
    assert "a session" not in str(one)
