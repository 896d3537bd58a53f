"""What waits is done together, each thing once and in its order, whoever adds it."""

from __future__ import annotations

import threading

import pytest

from rai.ledger.together import Together


def test_what_comes_while_somebody_is_at_work_is_one_piece_of_work() -> None:
    done: list[list[int]] = []
    begun, go_on = threading.Event(), threading.Event()

    def work(group: list[int]) -> None:
        begun.set()
        assert go_on.wait(30)
        done.append(list(group))

    together = Together(work, most=3)
    first = threading.Thread(target=together.add, args=(0,))
    first.start()
    assert begun.wait(30)
    for one in range(1, 6):
        together.add(one)  # at once: another is at work
    go_on.set()
    first.join()
    assert done == [[0], [1, 2, 3], [4, 5]]


def test_what_many_threads_add_is_done_once_by_one_at_a_time() -> None:
    done: list[int] = []
    alone = threading.Lock()

    def work(group: list[int]) -> None:
        assert alone.acquire(blocking=False)
        done.extend(group)
        alone.release()

    together = Together(work)

    def add(number: int) -> None:
        for one in range(number * 500, number * 500 + 500):
            together.add(one)

    threads = [threading.Thread(target=add, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(done) == list(range(4_000))
    assert all([one for one in done if one // 500 == n] == list(range(n * 500, n * 500 + 500)) for n in range(8))


def test_who_is_at_work_may_take_more() -> None:
    done: list[list[int]] = []

    def work(group: list[int]) -> None:
        if not done:
            for one in range(1, 6):
                together.add(one)
        group += together.more(len(group))
        done.append(group)

    together = Together(work, most=4)
    together.add(0)
    assert done == [[0, 1, 2, 3], [4, 5]]


def test_behind_work_that_failed_the_next_is_done() -> None:
    done: list[int] = []

    def work(group: list[int]) -> None:
        if 0 in group:
            raise MemoryError
        done.extend(group)

    together = Together(work)
    with pytest.raises(MemoryError):
        together.add(0)
    together.add(1)
    assert done == [1]
