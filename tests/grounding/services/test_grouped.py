"""Groups of items: none is lost, and none breaks a limit that it can keep."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from grounding.services.grouped import grouped


@given(st.lists(st.integers(1, 100), max_size=40), st.integers(1, 6))
def test_groups_keep_both_limits_and_the_order(sizes: list[int], most: int) -> None:
    groups = list(grouped(sizes, int, most=most, most_size=100))
    assert [size for group in groups for size in group] == sizes
    assert all(len(group) <= most and sum(group) <= 100 for group in groups)


def test_what_is_larger_than_the_limit_goes_alone() -> None:
    assert list(grouped(["a", "bbbb", "c", "d"], len, most=5, most_size=3)) == [["a"], ["bbbb"], ["c", "d"]]
