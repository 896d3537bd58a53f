# Two commands: `make run` to use it, `make test` to check it. Both set up first what is not set up yet.
PYTHON ?= python3
ATTEST := .venv/bin/attest
COVERAGE := .venv/bin/coverage
SEED := $(or $(SEED),$(shell od -An -N4 -tu4 /dev/urandom | tr -d ' '))
SUITE = -m pytest -n auto --dist loadfile --no-loadscope-reorder --randomly-seed=$(SEED) $(PYTEST_ARGS)
.DEFAULT_GOAL := help
# The suite starts some hundred processes: without bytecode each of them compiles the whole program again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup setup-dev run test thorough coverage aimock teams-tools rows lists release check-infra bench fuzz train-screen train-reader check format clean

help:  ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## */\t/' | expand -t 12

setup:  ## environment, packages, models
	@$(PYTHON) tools/setup.py runtime

setup-dev:
	@$(PYTHON) tools/setup.py dev

run: setup  ## the chat page, the bot and the reviewers' page over the sample knowledge base, no keys needed
	@exec $(ATTEST) serve --sample

test: setup-dev  ## lint, types and the whole suite in random order; SEED=number repeats an order
	@.venv/bin/ruff check . && .venv/bin/ruff format --check --quiet . && .venv/bin/mypy
	@echo "tests in random order; make test SEED=$(SEED) repeats it"
	@PYTHONHASHSEED=$(SEED) .venv/bin/python $(SUITE)

thorough: setup-dev  ## as test, with all cases of the tests that repeat one thing over many: test draws some by its seed
	@TEST_THOROUGH=1 $(MAKE) --no-print-directory test SEED=$(SEED) PYTEST_ARGS="$(PYTEST_ARGS)"

coverage: setup-dev  ## the suite again, counting the lines it runs; the figure, and what it leaves out by module, in build/coverage.md
	@rm -rf build/coverage build/coverage.md; mkdir -p build/coverage
	@status=0; PYTHONHASHSEED=$(SEED) $(COVERAGE) run $(SUITE) || status=$$?; \
	$(COVERAGE) combine --quiet && { \
	  printf 'The suite runs **%s %%** of the lines of bot, grounding and rai.\n\n' "$$($(COVERAGE) report --format=total)"; \
	  $(COVERAGE) report --format=markdown; } > build/coverage.md && head -1 build/coverage.md; exit $$status

aimock:  ## a model server that others wrote, for the suite: into build/aimock, needs Node and the network
	@npm install --prefix build/aimock --no-save --ignore-scripts --silent @copilotkit/aimock@1.43.0

teams-tools:  ## Microsoft's schemas of app packages and cards and its renderer of cards, for the suite: into build/teams, needs npm and the network
	@npm install --prefix build/teams --no-save --ignore-scripts --legacy-peer-deps --silent @microsoft/app-manifest@1.1.2 adaptivecards@3.0.6 adaptivecards-designer@2.4.4

rows: setup-dev  ## requirements against the tests that name them, those without a test first
	@.venv/bin/python -m tools.rows $(ROWS_ARGS)

lists: setup-dev  ## lists in the documents that the program decides: settings, commands, metrics, seams
	@.venv/bin/python -m tools.lists

release: setup-dev  ## look whether version, changelog, tree and lists are ready for a tag, then sdist, wheel and notes in dist/; CONTRIBUTING.md has the steps
	@.venv/bin/python -m tools.release $(if $(TAG),--tag $(TAG)) $(if $(LINKS),--links $(LINKS))

check-infra: setup-dev build/infra/bin/checkov  ## infra/ with checkov and hadolint, in an environment of their own; TYPES=folder, `generated` of Azure/bicep-types-az, compares it with what Microsoft publishes
	@.venv/bin/python -m tools.check_infra --checkov build/infra/bin/checkov $(if $(TYPES),--types $(TYPES))
	@build/infra/bin/hadolint infra/Dockerfile

build/infra/bin/checkov: requirements/infra.txt
	@rm -rf build/infra && $(PYTHON) -m venv build/infra
	@build/infra/bin/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/infra.txt && touch $@

bench: setup-dev  ## figures with n and the machine; DATA=folder adds the public sets
	@.venv/bin/python -m tests.bench $(if $(DATA),--data $(DATA))

fuzz: setup-dev  ## 2,000 texts of DATA=folder through screen, check, readers of conversations and redactor; FUZZ_ARGS for more
	@$(if $(DATA),.venv/bin/python -m tools.fuzz $(DATA) --sample 2000 $(FUZZ_ARGS),echo "usage: make fuzz DATA=folder" >&2; exit 2)

train-screen: setup-dev  ## teach the screen's classifier anew: DATA=folder of the public sets; about 25 minutes
	@$(if $(DATA),.venv/bin/python -m tools.train_screen $(DATA) rai/embedded/screen.npz,echo "usage: make train-screen DATA=folder" >&2; exit 2)

train-reader: setup-dev  ## teach the reader of blocks anew from tools/reading_lessons (ARGS="--start FILE --epochs 2"); fetches PyTorch, more than an hour on two cores
	@.venv/bin/python -m pip install --quiet torch
	@.venv/bin/python -m tools.train_reader "$$(.venv/bin/python -m rai.model_files)/minilm-int8.onnx" build/reading grounding/embedded/reader.npz $(ARGS)

format: setup-dev  ## format the code
	@.venv/bin/ruff check --fix --quiet . ; .venv/bin/ruff format --quiet .

clean:  ## remove the environment, its models with it, and caches; ATTEST_HOME stays
	@rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis build *.egg-info
