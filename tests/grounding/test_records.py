"""`plain` gives what `dataclasses.asdict` gives, and nothing of it reaches back into the record."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import date
from typing import Any

import pytest

from grounding.policies.files import built_in
from grounding.policy import Policy
from grounding.records import Action, Query, Sentence, plain


@dataclass(frozen=True, slots=True)
class Held:
    """One of everything that a record may hold."""

    texts: tuple[str, ...]
    inner: tuple[Query, ...]
    table: dict[str, list[Query | int]]
    when: date
    action: Action
    flag: bool = True
    nothing: None = None


QUERY = Query("refund X2", (Sentence(0, 0, 9, "refund X2", 0.5),), ("X2",), imagined="[1]")
HELD = Held(("a", "é"), (QUERY,), {"q": [QUERY, 3]}, date(2026, 1, 2), Action.CORRECT)


@pytest.mark.parametrize("record", [QUERY, HELD, Policy(), *built_in().values()])
def test_it_is_the_dict_of_the_dataclass(record: Any) -> None:
    told = plain(record)
    assert told == asdict(record)
    assert list(told) == list(asdict(record))


def test_what_it_gives_is_nobody_elses() -> None:
    told = plain(HELD)
    told["table"]["q"].append(4)
    told["table"]["more"] = []
    assert HELD.table == {"q": [QUERY, 3]}
