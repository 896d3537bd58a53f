"""A real nginx in front of our servers, as an ordinary process: its own configuration, in a folder of its own, on loopback alone."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

PLAIN = ""
"""What people write who follow the first example that they find."""
MODERN = "proxy_http_version 1.1;"
"""As above, in the version that nginx speaks by itself from 1.29 on, and that other proxies speak anyway."""
CAREFUL = """
    proxy_set_header Host $host;
    proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
    proxy_set_header X-Forwarded-Proto https;
"""
WAYS = {"plain": PLAIN, "modern": MODERN, "careful": CAREFUL}
_CONFIGURATION = """
daemon off;
master_process off;
pid {folder}/pid;
error_log stderr warn;
events {{ worker_connections 1024; }}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
{sites}
}}
"""
_SITE = """  server {{
    listen 127.0.0.1:{port};
    location / {{ proxy_pass {upstream}; {way} }}
  }}"""
_TRIES = 3
_SAID = "said.log"
_START_S = 60.0


def found() -> str | None:
    """The nginx of this machine, if there is one."""
    return os.environ.get("TEST_NGINX") or shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/sbin")


def nginx_path() -> str:
    """The nginx of this machine: TEST_NGINX, or the first that is found. Without one the test is skipped, unless TEST_REQUIRE_NGINX=1 makes that a failure."""
    if path := found():
        return path
    reason = "no nginx was found; install it (Debian: nginx-light) or set TEST_NGINX"
    if os.environ.get("TEST_REQUIRE_NGINX") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


@contextmanager
def in_front_of(upstreams: Mapping[str, str]) -> Iterator[dict[tuple[str, str], str]]:
    """One nginx before all of `upstreams` (name to base URL), in every way: from name and way to the base URL in front."""
    for attempt in range(_TRIES):
        with tempfile.TemporaryDirectory(prefix="attest-nginx-") as folder:
            fronts = dict(zip([(name, way) for name in upstreams for way in WAYS], _free_ports(), strict=False))
            configuration = _written(Path(folder), upstreams, fronts)
            with _started(configuration) as process:
                if _listens(process, list(fronts.values())):
                    yield {key: f"http://127.0.0.1:{port}" for key, port in fronts.items()}
                    return
            said = (Path(folder) / _SAID).read_text("utf-8")
        # somebody took one of the ports between our choice and nginx's start
        assert attempt + 1 < _TRIES, f"nginx does not start: {said}"


@contextmanager
def running(site: str, port: int) -> Iterator[None]:
    """One nginx with the `server` block of a site that listens on `port`."""
    with tempfile.TemporaryDirectory(prefix="attest-nginx-") as folder:
        path = Path(folder) / "nginx.conf"
        path.write_text(_CONFIGURATION.format(folder=folder, sites=site), "utf-8")
        with _started(path) as process:
            assert _listens(process, [port]), f"nginx does not start: {(Path(folder) / _SAID).read_text('utf-8')}"
            yield


@contextmanager
def _started(configuration: Path) -> Iterator[subprocess.Popen[bytes]]:
    """What it says goes to a file: a pipe that nobody reads is full after some hundred lines of servers that are away, and nginx then waits for ever."""
    folder = configuration.parent
    with (folder / _SAID).open("wb") as said:
        process = subprocess.Popen([nginx_path(), "-c", str(configuration), "-p", str(folder)], stderr=said)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def free_port() -> int:
    """A port that is free now."""
    return _free_ports(1)[0]


def _written(folder: Path, upstreams: Mapping[str, str], fronts: Mapping[tuple[str, str], int]) -> Path:
    sites = [_SITE.format(port=port, upstream=upstreams[name], way=WAYS[way]) for (name, way), port in fronts.items()]
    path = folder / "nginx.conf"
    path.write_text(_CONFIGURATION.format(folder=folder, sites="\n".join(sites)), "utf-8")
    return path


def _free_ports(count: int = 64) -> list[int]:
    """Ports that are free now, each another."""
    held = [socket.socket() for _ in range(count)]
    try:
        for one in held:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in held]
    finally:
        for one in held:
            one.close()


def _listens(process: subprocess.Popen[bytes], ports: list[int]) -> bool:
    until = time.monotonic() + _START_S
    waiting = list(ports)
    while waiting and process.poll() is None and time.monotonic() < until:
        with suppress(OSError), closing(socket.create_connection(("127.0.0.1", waiting[0]), timeout=1)):
            waiting.pop(0)
            continue
        time.sleep(0.02)
    return not waiting and process.poll() is None
