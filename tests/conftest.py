"""What every test shares: no network but loopback, and no state of the person who runs the suite."""

from __future__ import annotations

import gc
import ipaddress
import itertools
import os
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import psutil
import pytest
from sqlalchemy import make_url

import bot.settings.load  # noqa: F401 - first of all: it tells onnxruntime to send nothing
from grounding.embedded.reader import E5Reader
from grounding.embedded.vectors.embedder import MiniLM
from rai.embedded.build_models import build_models
from rai.model_files import EMBEDDING, READER, READER_TOKENIZER, installed_models, missing, recipe
from tests.postgres.faults import run
from tests.postgres.server import own_schema, url_for_the_run
from tests.process import environment_as_it_was, logging_as_it_was
from tests.quick_model import first_layer
from tests.shared import MEMORY, base_of_run, fits_in_memory, made_once

hypothesis.settings.register_profile("ci", derandomize=True, deadline=None)
hypothesis.settings.register_profile("dev", deadline=None)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "dev")

_HOMES = itertools.count()
_real_connect = socket.socket.connect
_real_connect_ex = socket.socket.connect_ex


def _refuse_remote(address: Any) -> None:
    if not isinstance(address, tuple):
        return  # unix sockets stay on this machine
    host = str(address[0])
    try:
        loopback = ipaddress.ip_address(host).is_loopback
    except ValueError:
        loopback = host == "localhost"
    if not loopback:
        raise AssertionError("a test tried to reach the network beyond loopback")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """What tests write lies in memory where there is room for it, unless somebody names another place."""
    named = config.option.basetemp is not None or {"PYTEST_DEBUG_TEMPROOT", "PYTEST_XDIST_WORKER"} & os.environ.keys()
    if not named and fits_in_memory():
        os.environ["PYTEST_DEBUG_TEMPROOT"] = str(MEMORY)


WORKER_BYTES = 3 * 2**30
"""What a worker and its processes take at most, with room."""
LONG = (
    "tests/e2e/",
    "tests/infra/",
    "tests/test_setup_models.py",
    "tests/test_patterns.py",
    "tests/bot/commands/",
    "tests/bot/compose/",
    "tests/bot/desk/test_index.py",
    "tests/contracts/test_retriever.py",
    "tests/grounding/embedded/indexes/test_vector_index.py",
    "tests/grounding/ingest/",
    "tests/rai/ledger/test_attest_verify.py",
    "tests/rai/phenomena/",
    "tests/rai/test_linear.py",
)


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """Two workers more than processors, as far as memory goes: the long files mostly wait for processes that they started, killed or want to end."""
    if config.option.numprocesses != "auto":
        return None
    cores, room = os.cpu_count() or 1, psutil.virtual_memory().available // WORKER_BYTES
    return max(1, min(cores + 2, max(cores, room)))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files that take long come first, in the order that chance gave them: at the end no worker waits for another's last file."""
    items.sort(key=lambda item: not item.nodeid.startswith(LONG))


def pytest_collection_finish() -> None:
    """Some hundred thousand objects of the collection stay to the end: no later search for garbage looks at them again."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """After failures, how to have the same order again: pytest says it at the beginning only where it is not told to be quiet."""
    seed = config.getoption("randomly_seed", None)
    if terminalreporter.stats.get("failed") and isinstance(seed, int):
        terminalreporter.write_line(f"the order of this run: --randomly-seed={seed}")


@pytest.fixture(autouse=True, scope="module")
def _process_after_a_module() -> Iterator[None]:
    """What fixtures of a whole module changed in the process; the first of a module's fixtures, so that it ends last."""
    with logging_as_it_was(), environment_as_it_was():
        yield


@pytest.fixture(autouse=True)
def _process_after_a_test() -> Iterator[None]:
    with logging_as_it_was(), environment_as_it_was():
        yield


@pytest.fixture(autouse=True)
def _only_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    def connect(self: socket.socket, address: Any) -> None:
        _refuse_remote(address)
        _real_connect(self, address)

    def connect_ex(self: socket.socket, address: Any) -> int:
        _refuse_remote(address)
        return _real_connect_ex(self, address)

    monkeypatch.setattr(socket.socket, "connect", connect)
    monkeypatch.setattr(socket.socket, "connect_ex", connect_ex)


@pytest.fixture(scope="session")
def _homes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("homes")


@pytest.fixture(autouse=True)
def _own_home(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, _homes: Path) -> None:
    """In the folder of the test if it asks for one; else at a place of its own, which is made only if the program does so."""
    asks = "tmp_path" in request.fixturenames
    folder: Path = request.getfixturevalue("tmp_path") if asks else _homes / str(next(_HOMES))
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ATTEST_HOME", str(folder / "home"))
    monkeypatch.setenv("ATTEST_LEDGER_KEY_FILE", str(folder / "config" / "ledger.key"))
    monkeypatch.setenv("ATTEST_MODEL_FILE", str(folder / "no-models" / "minilm-int8.onnx"))  # whether set-up has run


@pytest.fixture(scope="session")
def model_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The embedding model with the screen's classifier beside it: a copy of what set-up built by the recipe of this code, else built once.

    TEST_MODEL_FILE names others, `python -m tests.other_model` makes some: what then fails hangs on a score's last digits.
    """
    if other := os.environ.get("TEST_MODEL_FILE"):
        return Path(other)
    if not missing(installed_models()):
        return shutil.copytree(installed_models(), tmp_path_factory.mktemp("model") / recipe()) / EMBEDDING
    shared = base_of_run(tmp_path_factory)  # one worker builds, the others wait
    build_models(shared / "models" / recipe())
    return shared / "models" / recipe() / EMBEDDING


@pytest.fixture(scope="session")
def quick_model_file(model_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The models for tests of what happens around a turn, whatever it means: the embedding one with its first layer alone."""
    made = made_once(base_of_run(tmp_path_factory) / "quick", lambda folder: first_layer(model_file, folder))
    return made / model_file.name


@pytest.fixture(scope="session")
def minilm(model_file: Path) -> MiniLM:
    """The real embedder."""
    return MiniLM(model_file)


@pytest.fixture(scope="session")
def reader(model_file: Path) -> E5Reader:
    """The real reader of blocks."""
    return E5Reader(model_file.with_name(READER), model_file.with_name(READER_TOKENIZER))


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The URL of a real PostgreSQL server for its owner, one for the whole run: of `ATTEST_TEST_DATABASE_URL`, else started by who asks first."""
    in_worker = "PYTEST_XDIST_WORKER" in os.environ
    return url_for_the_run(base_of_run(tmp_path_factory), os.getppid() if in_worker else os.getpid())


@pytest.fixture
def database_url(postgres: str) -> Iterator[str]:
    """The URL of a schema of one's own, empty: it takes half a millisecond where a database takes a hundred."""
    with own_schema(postgres) as url:
        yield url


@pytest.fixture
def worker_url(database_url: str) -> Iterator[str]:
    """The URL of a role that is not the owner of the schema, and has no right on it yet but to look into it."""
    (schema,) = run(database_url, "SELECT current_schema()")[0]
    role = f"worker_{schema}"
    run(database_url, f"CREATE ROLE {role} LOGIN PASSWORD 'worker'", f"GRANT USAGE ON SCHEMA {schema} TO {role}")
    url = make_url(database_url).set(username=role, password="worker")
    yield url.render_as_string(hide_password=False)
    run(database_url, f"DROP OWNED BY {role}", f"DROP ROLE {role}")
