"""Reading in a child: fast for many files, replaced when a file kills it, never the end of a run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from grounding.bounded.limits import Limits
from grounding.errors import ServiceUnavailable
from grounding.ingest.readers.extract import Refused
from grounding.ingest.readers.guarded.guard import LIMITS, WORKER, Guard
from grounding.ingest.readers.read import read
from grounding.ingest.sources import find
from tests.grounding.ingest.readers import deadly, files
from tests.grounding.ingest.readers.sound import SOUND

ROOT = Path(__file__).parents[5]
_SLOW = (
    b"From: a@b.example\nTo: c@d.example\nSubject: x\nContent-Type: multipart/mixed; boundary=b\n\n"
    + b"--b\n\nx\n" * 300_000
)
_BIG = b"From: a@b.example\nTo: c@d.example\nSubject: " + b"=?utf-8?q?a?= " * 300_000 + b"\n\nx"


def readers() -> set[int]:
    """Processes of this one that read files now."""
    found = set()
    for child in psutil.Process().children():
        with suppress(psutil.NoSuchProcess):  # it ends while we look
            found |= {child.pid} if WORKER in str(child.cmdline()) else set()
    return found


@pytest.fixture(autouse=True)
def others() -> set[int]:
    """Such processes of a guard that somebody else has left open."""
    return readers()


def test_the_child_reads_as_this_process_does() -> None:
    """Text, places, title and metadata come over whole, front matter's groups included."""
    data = b"---\ntitle: Plans\ngroups: [hr]\ninternal: true\nupdated: 2026-03-01\n---\n# A\n\nText \xe2\x82\xac.\n"
    with Guard() as guard:
        assert guard.read(data, "a.md") == read(data, "a.md")
        for file in SOUND[::7]:
            assert guard.read(file.data(), file.name) == read(file.data(), file.name)


def test_one_child_serves_many_files_and_ends_with_the_guard(others: set[int]) -> None:
    guard = Guard()
    guard.read(b"one", "a")
    (child,) = readers() - others
    guard.read(b"two", "b")
    with pytest.raises(Refused):
        guard.read(b"", "c")
    assert readers() - others == {child}
    guard.close()
    assert not psutil.pid_exists(child)
    assert guard.read(b"three", "d").text == "three"
    guard.close()


@pytest.mark.skipif(sys.platform == "win32", reason="the kernel holds no limits there")
def test_what_takes_too_long_is_refused_and_the_next_file_is_read() -> None:
    with Guard(Limits(seconds=0.2, seconds_per_byte=0.0, patience=100.0)) as guard:
        with pytest.raises(Refused) as refusal:
            guard.read(_SLOW, "slow.eml")
        assert refusal.value.code == "too_slow"
        assert guard.read(b"hello", "a").text == "hello"


def test_the_clock_holds_where_processor_time_does_not(others: set[int]) -> None:
    with Guard(Limits(seconds=0.3, seconds_per_byte=0.01, patience=1.0)) as guard:
        guard.read(b"hello " * 1000, "a")  # has a minute
        (child,) = readers() - others
        os.kill(child, signal.SIGSTOP)  # as a file whose reader waits for something
        with pytest.raises(Refused) as refusal:
            guard.read(b"hello", "b")
        assert refusal.value.code == "too_slow"


def test_what_takes_too_much_memory_is_refused_and_the_next_file_is_read() -> None:
    with Guard(replace(LIMITS, memory=600_000_000)) as guard:
        with pytest.raises(Refused) as refusal:
            guard.read(_BIG, "big.eml")
        assert refusal.value.code == "too_large"
        assert guard.read(b"hello", "a").text == "hello"


def test_a_file_is_tried_again_when_its_child_dies_of_the_files_before_it(others: set[int]) -> None:
    with Guard() as guard:
        guard.read(b"one", "a")
        (child,) = readers() - others
        os.kill(child, signal.SIGSEGV)
        assert guard.read(b"two", "b").text == "two"


def test_a_file_that_kills_every_child_is_refused() -> None:
    with Guard(worker=deadly.__name__) as guard, pytest.raises(Refused) as refusal:
        guard.read(b"hello", "a.pdf")
    assert refusal.value.code == "crashed"
    assert "a.pdf" in str(refusal.value)


def test_a_child_that_cannot_start_is_no_fault_of_the_file() -> None:
    """Otherwise a machine without memory would empty the knowledge base. No kernel knows this limit, so the child ends."""
    with Guard(replace(LIMITS, memory=10**30)) as guard, pytest.raises(ServiceUnavailable, match="file reader"):
        guard.read(b"hello", "a")


def test_threads_take_turns() -> None:
    with Guard() as guard, ThreadPoolExecutor(8) as pool:
        texts = list(pool.map(lambda n: guard.read(f"number {n}".encode(), "a").text, range(60)))
    assert texts == [f"number {n}" for n in range(60)]


def test_the_child_finds_the_program_from_anywhere(tmp_path: Path) -> None:
    """An editable install imports through a finder, which a child does not inherit."""
    code = (
        "import importlib.util, sys\n"
        "class Finder:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        root = {str(ROOT / 'grounding')!r}\n"
        "        if name == 'grounding':\n"
        "            return importlib.util.spec_from_file_location(name, root + '/__init__.py', submodule_search_locations=[root])\n"
        f"sys.path = [p for p in sys.path if p not in ('', {str(ROOT)!r})]\n"
        "sys.meta_path.insert(0, Finder())\n"
        "from grounding.ingest.readers.guarded.guard import Guard\n"
        "print(Guard().read(b'# Hello', 'a.md').text)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env={}, capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "# Hello", done.stderr


def test_a_folder_of_good_and_bad_is_read_to_its_end(tmp_path: Path) -> None:
    """What `find` hands out is read in one child, which ends with it; nothing is parsed in this process."""
    (tmp_path / "a.md").write_bytes(b"# A\n\nText.\n")
    (tmp_path / "b.eml").write_bytes(_BIG)
    (tmp_path / "c.pdf").write_bytes(files.pdf())
    seen = {}
    for item in find([tmp_path]):
        try:
            seen[item.doc_id] = item.load().content_type
        except Refused as refusal:
            seen[item.doc_id] = refusal.code
    assert seen == {"a.md": "text/markdown", "b.eml": "too_large", "c.pdf": "application/pdf"}
    names = [process.cmdline() for process in psutil.Process().children()]
    assert not any("grounding.ingest.readers.guarded.worker" in part for line in names for part in line)
