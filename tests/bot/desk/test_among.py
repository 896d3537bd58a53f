"""Searches among the turns of some people: of few turns, and of so many that they are looked at one by one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Connection

from bot.desk import conditions, sql
from bot.desk.rows import DeskRow, DocumentFacts, Said, Words
from bot.desk.search import DeskSearch

MANY = 5_100
"""Turns of one person, above the number that is listed before a search."""


def rows() -> Iterator[DeskRow]:
    """Turns of the two, a stranger's and another kind's entry of Alice now and then, and feedback of each on the newest turn of the other."""
    for n in range(1, MANY + 1):
        user = "Alice" if n % 50 else "bob" if n % 100 else ""
        quoted = (DocumentFacts("a.md", "v1", quoted=True),)
        yield DeskRow(
            n, f"t{n}", "2026-11-20", "turn", "m", user=user, outcome="answered", words=Words("x"), documents=quoted
        )
    yield DeskRow(MANY + 1, "read", "2026-11-20", "read", "m", user="Alice", title="what Alice read of others")
    yield DeskRow(MANY + 2, "import", "2026-11-20", "ingest", "m", user="Alice")
    for n, turn in ((3, f"t{MANY - 1}"), (4, f"t{MANY - 50}"), (5, f"t{MANY}")):
        yield DeskRow(
            MANY + n, f"on-{turn}", "2026-11-20", "feedback", "m", user="bob", said=(Said(turn, "feedback", "like"),)
        )


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    engine = sql.engine_for(Path(tmp_path_factory.mktemp("desk")) / "review.db")
    with engine.execution_options(immediate=True).begin() as connection:
        sql.add(connection, list(rows()))
    with engine.connect() as connection:
        yield connection
    engine.dispose()


@pytest.mark.parametrize(
    ("people", "turns", "referring"),
    [({"alice"}, 4_998, 1), ({"bob"}, 51, 1), ({"alice", "bob"}, 5_049, 2), ({"carol"}, 0, 0), (set[str](), 0, 0)],
)
def test_turns_of_these_people_and_what_refers_to_one(
    index: Connection, people: set[str], turns: int, referring: int
) -> None:
    """With more than 5,000 turns and with fewer, the same is found."""
    every = DeskSearch(kind="all", among=frozenset(people))
    found = sql.listed(index, every, MANY + 10)
    assert {row.user.casefold() for row in found if row.kind == "turn"} == people & {"alice", "bob"}
    assert [sum(row.kind == kind for row in found) for kind in ("turn", "feedback", "read", "ingest")] == [
        turns,
        referring,
        0,
        0,
    ]
    assert sum(sql.counts(index, every, 10**6).values()) == turns + referring
    assert len(list(sql.strata(index, every, "outcome"))) == turns + referring
    assert len(sql.listed(index, DeskSearch(words="x", among=frozenset(people)), MANY)) == turns
    for of in (DeskSearch(kind="turn"), DeskSearch(outcome="answered"), DeskSearch(verdict="none")):
        assert len(sql.listed(index, replace(of, among=frozenset(people)), MANY + 10)) == turns
    assert sum(version.turns for version in sql.quoted(index, "a.md", frozenset(people))) == turns
    assert len(sql.quoting(index, [("a.md", "v1")], 0, MANY, frozenset(people))) == turns


@pytest.mark.parametrize("most", [0, 100])
def test_what_names_turns_of_others_too_is_theirs_who_see_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """A sample of several people's turns: of few turns, and of more than are listed first."""
    monkeypatch.setattr(conditions, "TEAM_FEW", most)
    engine = sql.engine_for(tmp_path / "review.db")
    made = [
        DeskRow(n, f"t{n}", "2026-11-20", "turn", "m", user=user, outcome="answered")
        for n, user in ((1, "Alice"), (2, "Alice"), (3, "bob"))
    ]
    for n, named in ((4, ("t1", "t2")), (5, ("t1", "t3")), (6, ("t3", "gone"))):
        said = tuple(Said(turn, "sampled", "yes") for turn in named)
        made.append(DeskRow(n, f"s{n}", "2026-11-20", "sample", "m", said=said))
    with engine.execution_options(immediate=True).begin() as connection:
        sql.add(connection, made)
        for people, found in (({"alice"}, [4]), ({"bob"}, []), ({"alice", "bob"}, [5, 4])):
            wanted = DeskSearch(kind="sample", among=frozenset(people))
            assert [row.seq for row in sql.listed(connection, wanted, 10)] == found, people
    engine.dispose()


def test_everybody_is_named_once(index: Connection) -> None:
    assert sorted(sql.people(index)) == ["Alice", "bob"]
    assert len(sql.listed(index, DeskSearch(kind="all"), MANY + 10)) == MANY + 5


def test_no_address_says_among_whom() -> None:
    wanted = DeskSearch.of({"among": "alice", "user": "bob"})
    assert (wanted.among, wanted.conditions) == (None, {"user": "bob"})
    narrowed = DeskSearch(user="bob", among=frozenset({"alice"}))
    assert "alice" not in narrowed.address()
    assert narrowed.whole().among == frozenset({"alice"})
