"""What keeps the book of planned runs must do, wherever the store lies: leases, fences, and what is refused under one that was outbid."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grounding.ingest.chunk_paragraphs import split
from grounding.ingest.runs import WHOLE, Lease, LeaseLost, PlannedItem
from grounding.records import Document
from grounding.store.runs import KEPT, SharedRuns
from grounding.store.store import Store
from tests.postgres.store import made

HUB = Document("hub.md", "Roost H1", "The Roost H1 costs $79.")
ITEMS = [PlannedItem(f"d{n}.md", f"s{n}", n) for n in range(5)]
SHORT_S = 0.3


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    place = tmp_path / "index" / "store.db"
    opened = Store(made(request.getfixturevalue("database_url")) if request.param == "postgres" else place, tmp_path)
    yield opened
    opened.close()


def running(book: SharedRuns, *sizes: int, root: str = "root:kb") -> str:
    """A run of which the plan is whole, with batches of these sizes."""
    begun = book.begin(root, "{}", "planner")
    assert begun.lease is not None
    for number, size in enumerate(sizes):
        book.add(begun.lease, [ITEMS[:size]], number)
    book.planned(begun.lease, '{"n": 0}', [])
    return begun.run


def leased(book: SharedRuns, run: str, by: str = "one") -> Lease:
    lease = book.lease(run, by)
    assert lease is not None
    return lease


def test_each_batch_is_one_workers_and_the_run_is_ended_once(store: Store) -> None:
    book = store.runs()
    run = running(book, 2, 3)
    one, two = leased(book, run), leased(book, run, "two")
    assert [one.batch, two.batch] == [0, 1]
    assert book.lease(run, "three") is None
    assert [book.items(one), book.items(two)] == [ITEMS[:2], ITEMS[:3]]
    book.done(one, '{"n": 1}', ["d0.md"])
    assert book.lease(run, "one") is None, "the other is not done yet"
    assert book.counts(run) == (2, 5)
    book.done(two, '{"n": 2}', ["d0.md", "d1.md"])
    last = leased(book, run)
    assert last.batch == WHOLE
    assert book.lease(run, "two") is None
    assert (book.gone(run), book.results(run)) == (["d0.md", "d1.md"], ['{"n": 0}', '{"n": 1}', '{"n": 2}'])
    assert not book.is_ended(run)
    book.end(last, '{"added": 5}')
    assert (book.is_ended(run), book.report(run), book.lease(run, "one")) == (True, '{"added": 5}', None)
    (state,) = book.states()
    assert (state.run, state.state, state.documents, state.done, state.workers) == (run, "done", 5, 5, 0)


def test_whoever_lost_a_lease_writes_nothing(store: Store) -> None:
    book = store.runs(SHORT_S)
    run = running(book, 2)
    late = leased(book, run, "stands still")
    time.sleep(SHORT_S + 0.1)
    now = leased(book, run, "takes over")
    assert (now.batch, now.fence) == (late.batch, late.fence + 1)
    assert not book.renew(late)
    writes: list[Callable[[], object]] = [
        lambda: store.put([(HUB, split(HUB), "root:kb", "1")], late, "{}"),
        lambda: store.put_vectors("model", [("c", b"00")], late),
        lambda: store.touch({"hub.md": "2"}, late),
        lambda: store.drop(["hub.md"], lease=late),
        lambda: book.done(late, "{}", []),
    ]
    for write in writes:
        with pytest.raises(
            LeaseLost, match=rf"^what this process was at work on \(run {run}\) was taken over or ended"
        ):
            write()
    assert store.counts() == (0, 0)
    book.give_back(late)
    assert book.lease(run, "one") is None, "what was given back is another's"
    store.put([(HUB, split(HUB), "root:kb", "1")], now, '{"n": 1}')
    book.done(now, '{"n": 2}', [])
    assert store.counts()[0] == 1
    assert book.results(run)[1:] == ['{"n": 1}'], "what was written with the documents counts"


def test_a_lease_that_is_renewed_holds(store: Store) -> None:
    book = store.runs(SHORT_S)
    run = running(book, 1)
    lease = leased(book, run)
    for _ in range(6):
        time.sleep(SHORT_S / 3)
        assert book.renew(lease)
        assert book.lease(run, "two") is None
    book.give_back(lease)
    assert leased(book, run, "two").fence == lease.fence + 1


def test_a_root_has_one_run_and_whoever_died_over_its_plan_is_taken_over_from(store: Store) -> None:
    book = store.runs(SHORT_S)
    first = book.begin("root:kb", '{"a": 1}', "one")
    assert first.lease is not None
    book.add(first.lease, [ITEMS[:2]], 0)
    second = book.begin("root:kb", '{"a": 2}', "two")
    assert (second.run, second.told, second.by, second.lease, second.is_planned) == (
        first.run,
        '{"a": 1}',
        "one",
        None,
        False,
    )
    assert book.lease(first.run, "two") is None, "no work before the plan is whole"
    assert book.begin("root:other", "{}", "two").run != first.run
    time.sleep(SHORT_S + 0.1)
    third = book.begin("root:kb", "{}", "three")
    assert (third.told, third.by) == ("{}", "three")
    assert third.lease is not None
    with pytest.raises(LeaseLost):
        book.add(first.lease, [ITEMS[:1]], 1)
    book.add(third.lease, [ITEMS[:3]], 0)
    book.planned(third.lease, "{}", ["gone.md"])
    assert (book.counts(first.run), book.gone(first.run)) == ((0, 3), ["gone.md"])
    assert book.begin("root:kb", "{}", "four").is_planned
    assert {item.doc_id for item in book.sample(first.run)} == {"d0.md"}


def test_a_run_that_is_broken_off_is_nobodys(store: Store) -> None:
    book = store.runs()
    run = running(book, 2, 2)
    lease = leased(book, run)
    assert book.break_off("root:kb") == run
    assert book.break_off("root:kb") is None
    with pytest.raises(LeaseLost):
        store.put([(HUB, split(HUB), "root:kb", "1")], lease)
    assert (book.lease(run, "one"), book.is_ended(run), book.report(run)) == (None, True, None)
    assert book.begin("root:kb", "{}", "one").run != run


def test_runs_that_are_over_are_kept_for_a_while(store: Store) -> None:
    book = store.runs()
    for n in range(KEPT + 3):
        running(book, 1, root=f"root:{n}")
        book.break_off(f"root:{n}")
    running(book, 1, root="root:open")
    found = [state.root for state in book.states()]
    assert found[0] == "root:open"
    assert len(found) <= KEPT + 2
    assert "root:0" not in found


def test_the_state_tells_rate_and_time_left(store: Store) -> None:
    book = store.runs()
    run = running(book, 2, 3)
    book.done(leased(book, run), "{}", [])
    leased(book, run)
    (state,) = book.states()
    assert (state.documents, state.done, state.workers, state.ended) == (5, 2, 1, None)
    assert state.rate > 0
    assert state.left_s == pytest.approx(3 / state.rate)
    assert 0 <= book.age(run) < 60


def test_many_at_once_get_each_batch_once(store: Store) -> None:
    book = store.runs()
    run = running(book, *([1] * 24))
    taken: list[int] = []

    def work() -> None:
        while (lease := book.lease(run, "one")) is not None and lease.batch != WHOLE:
            taken.append(lease.batch)
            book.done(lease, "{}", [])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken) == list(range(24))


def test_no_lease_is_needed_for_what_is_no_runs(store: Store) -> None:
    store.put([(HUB, split(HUB), "/kb", "1")])
    store.drop(["hub.md"])
    assert store.counts() == (0, 0)
