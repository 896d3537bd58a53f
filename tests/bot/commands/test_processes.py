"""The program as a process of its own over the small system: streams, signals, several workers."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psutil

ROOT = Path(__file__).parents[3]
PROGRAM = "import sys; from bot.cli import main; from tests.bot.commands.fakes import world; sys.exit(main(sys.argv[1:], world().wiring))"
WORKERS = """
import sys
from bot.cli import main
from bot.commands.shared.wiring import Wiring
from tests.bot.commands.fakes import compose_small
if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], lambda: Wiring(compose_small, None, None, None, None)))
"""


@contextmanager
def running(*command: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, *command],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])},
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def workers_of(process: subprocess.Popen[str]) -> list[int]:
    return [child.pid for child in psutil.Process(process.pid).children() if "spawn_main" in _command_of(child)]


def _command_of(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.NoSuchProcess:  # ended, and not waited for yet
        return ""


def row(row_id: str) -> str:
    return json.dumps({"id": row_id, "text": "hello"}) + "\n"


def test_each_line_is_answered_before_the_next_is_sent() -> None:
    with running("-c", PROGRAM, "screen", "--jsonl", "-") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for row_id in ("a", "b", "c"):
            process.stdin.write(row(row_id))
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["id"] == row_id
        process.stdin.close()
        assert process.wait(30) == 0


def test_an_interrupt_while_it_waits_for_a_line_ends_it_at_once() -> None:
    with running("-c", PROGRAM, "screen", "--jsonl", "-") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(row("a"))
        process.stdin.flush()
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
        assert process.stderr.read() == ""


def test_memory_does_not_grow_with_the_input(tmp_path: Path) -> None:
    code = (
        "import resource, sys; from bot.cli import main; from tests.bot.commands.fakes import world;"
        "main(sys.argv[1:], world().wiring);"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, file=sys.stderr)"
    )
    peaks = []
    for rows in (10, 3000):
        path = tmp_path / f"{rows}.jsonl"
        with path.open("w", encoding="utf-8") as stream:
            for n in range(rows):
                stream.write(json.dumps({"id": str(n), "text": f"{n} " + "tea " * 4000}) + "\n")
        with running("-c", code, "screen", "--jsonl", str(path)) as process:
            out, err = process.communicate(timeout=300)
        assert out.count("\n") == rows
        peaks.append(int(err.split()[-1]))
    assert peaks[1] - peaks[0] < 20  # the larger file holds 48 MB


def test_several_workers_share_one_port_and_stop_together(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(WORKERS, encoding="utf-8")
    with running(str(script), "serve", "--port", "0", "--workers", "2", "--json") as process:
        assert process.stdout is not None
        addresses = json.loads(process.stdout.readline())
        base = addresses["messages"].removesuffix("/api/messages")
        reviewer = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with reviewer.open(addresses["review"], timeout=60) as response:
            assert response.status == 200
        for _ in range(8):  # each over a connection of its own, which either worker may take
            for opener, path in ((urllib.request.build_opener(), "/healthz"), (reviewer, "/review")):
                with opener.open(f"{base}{path}", timeout=60) as response:
                    assert response.status == 200
        pids = workers_of(process)
        assert len(pids) == 2
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        assert not any(psutil.pid_exists(pid) for pid in pids)


def test_another_takes_the_place_of_a_worker_that_dies(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(WORKERS, encoding="utf-8")
    with running(str(script), "serve", "--port", "0", "--workers", "2", "--json") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        base = json.loads(process.stdout.readline())["messages"].removesuffix("/api/messages")
        first, second = workers_of(process)
        os.kill(second, signal.SIGKILL)
        for line in process.stderr:
            if "another takes its place" in line:
                assert "worker 2 was ended by SIGKILL" in line
                break
        with urllib.request.urlopen(f"{base}/healthz", timeout=60) as response:
            assert response.status == 200
        while len(pids := [pid for pid in workers_of(process) if pid != second]) < 2:
            time.sleep(0.05)
        assert first in pids
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        assert not any(psutil.pid_exists(pid) for pid in pids)


def test_a_worker_that_dies_while_it_starts_takes_no_other_with_it(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(WORKERS, encoding="utf-8")
    with running(str(script), "serve", "--port", "0", "--workers", "2", "--json") as process:
        assert process.stdout is not None
        base = json.loads(process.stdout.readline())["messages"].removesuffix("/api/messages")
        first, second = workers_of(process)
        os.kill(second, signal.SIGKILL)
        while not (young := [pid for pid in workers_of(process) if pid not in (first, second)]):
            time.sleep(0.01)
        os.kill(young[0], signal.SIGKILL)
        while len(pids := [pid for pid in workers_of(process) if pid not in (second, *young)]) < 2:
            assert process.poll() is None
            time.sleep(0.05)
        assert first in pids
        with urllib.request.urlopen(f"{base}/healthz", timeout=60) as response:
            assert response.status == 200


def test_workers_that_die_again_and_again_stop_the_server_with_3(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(
        WORKERS.replace("import sys\n", "import sys\nimport bot.server.serve\nbot.server.serve.MOST_ENDED = 0\n"),
        encoding="utf-8",
    )
    with running(str(script), "serve", "--port", "0", "--workers", "2", "--json") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        os.kill(workers_of(process)[1], signal.SIGKILL)
        assert process.wait(60) == 3
        assert "workers end again and again, the last was ended by SIGKILL" in process.stderr.read()


def test_workers_end_when_what_started_them_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(WORKERS, encoding="utf-8")
    with running(str(script), "serve", "--port", "0", "--workers", "2", "--json") as process:
        assert process.stdout is not None
        address = json.loads(process.stdout.readline())["messages"]
        workers = [psutil.Process(pid) for pid in workers_of(process)]
        assert len(workers) == 2
        process.kill()
        _, alive = psutil.wait_procs(workers, timeout=60)
        for worker in alive:
            worker.kill()
        assert alive == []
        with socket.socket() as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(("127.0.0.1", urlsplit(address).port or 0))
            listener.listen()
