"""Batches keep order and both bounds, and are filled before the next begins."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from grounding.services.batches import in_batches


@given(st.lists(st.integers(1, 150), max_size=40), st.integers(1, 6))
def test_order_and_bounds_hold_and_no_batch_ends_early(sizes: list[int], most_items: int) -> None:
    found = list(in_batches(sizes, lambda size: size, most_items=most_items, most_size=100))
    assert [size for batch in found for size in batch] == sizes
    assert all(0 < len(batch) <= most_items and (sum(batch) <= 100 or len(batch) == 1) for batch in found)
    for batch, following in pairwise(found):
        assert len(batch) == most_items or sum(batch) + following[0] > 100
