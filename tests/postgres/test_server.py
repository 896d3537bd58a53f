"""The suite's own PostgreSQL: one a run, closed to others, gone with the run."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import psutil
import psycopg
import pytest

from tests.postgres.server import VERSION, url_for_the_run


def test_a_server_is_shared_by_a_run_and_ends_with_it_however_that_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ATTEST_TEST_DATABASE_URL", raising=False)
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]) as run:
        try:
            url = url_for_the_run(tmp_path, run.pid)
            assert url_for_the_run(tmp_path, run.pid) == url
            folder = Path(url.partition("host=")[2])
            about = folder.stat()
            assert stat.S_IMODE(about.st_mode) == 0o700
            with psycopg.connect(url) as connection:
                said = connection.execute("SELECT current_setting('server_version'), pg_postmaster_start_time()")
                assert str(said.fetchone()).removeprefix("('").startswith(VERSION)
            with pytest.raises(psycopg.OperationalError, match="password"):
                psycopg.connect(url.replace("owner:", "owner:not"))
            server = psutil.Process(int((folder / "data" / "postmaster.pid").read_text().splitlines()[0]))
            holder = server.parent()
            assert holder is not None
            assert server.uids().real == about.st_uid
            assert server.uids().real != 0
            if os.geteuid() != 0:
                assert server.uids().real == os.geteuid()
        finally:
            run.kill()  # not asked to end: nobody could tidy up
    _, alive = psutil.wait_procs([server, holder], timeout=30)
    assert not alive
    assert not folder.exists()


def test_a_schema_is_a_tests_own(database_url: str, postgres: str) -> None:
    with psycopg.connect(database_url) as mine, psycopg.connect(postgres) as other:
        mine.execute("CREATE TABLE inbox (id integer)")
        mine.commit()
        assert other.execute("SELECT to_regclass('inbox')").fetchone() == (None,)
