# `make demo` needs Python >= 3.11 and nothing else. Everything made here lands in .venv/ or build/.

PYTHON ?= python3
PYTEST_ARGS ?=
ONLY ?=
RESULTS_ARGS ?=
QUICK ?= tests/records tests/statistics tests/leaderboard tests/cli/test_help.py tests/test_readme.py

BIN := .venv/bin
RUNTIME := .venv/.runtime-stamp
DEV := .venv/.dev-stamp
PIP_INSTALL := $(BIN)/python -m pip --disable-pip-version-check install -qq --progress-bar off -c requirements.lock
# uv takes a third of the time of pip. Where it cannot be had, or finds no package index, pip installs and says what is wrong.
INSTALL = @$(PIP_INSTALL) uv 2>/dev/null && $(BIN)/uv pip install --quiet --python $(BIN)/python --compile-bytecode \
	-c requirements.lock $(1) 2>/dev/null || $(PIP_INSTALL) $(1)

export HYPOTHESIS_STORAGE_DIRECTORY := $(CURDIR)/build/cache/hypothesis
export NO_MKDOCS_2_WARNING := 1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help setup demo demo-all results verify serve test test-products properties quick bench simulate lint lock

help:
	@echo 'make demo      run six controls and a sample system on beliefs@2, offline, and build the site'
	@echo 'make demo-all  the same with every benchmark whose data is here and every system that needs no key'
	@echo 'make results   make the stored runs of results.toml again (ONLY=locomo: one benchmark)'
	@echo 'make verify    check all that is stored, runs and claims: two minutes'
	@echo 'make serve     serve build/site on 127.0.0.1:8000'
	@echo 'make test      run the tests (PYTEST_ARGS="-k name" narrows it)'
	@echo 'make test-products  the tests with packages of submissions: installs 1.5 GB once per machine'
	@echo 'make properties  the property tests with a thousand random examples each'
	@echo 'make quick     ruff and the fast tests, in less than a minute: use it while working'
	@echo 'make bench     measure performance; the table is also in build/bench.json'
	@echo 'make simulate  simulate the ranks: errors, power, intervals; half an hour; writes site/simulation.*'
	@echo 'make lint      ruff, mypy, import-linter, deptry, and drift of schemas and documentation'
	@echo 'make setup     only set up .venv for development'
	@echo 'make lock      compile requirements.lock again from pyproject.toml'

setup: $(DEV)

demo: $(RUNTIME)
	@$(BIN)/python -m memeval.cli.demo

demo-all: $(RUNTIME)
	@$(BIN)/python -m memeval.cli.demo --all

# Finished runs are reused and an interrupted run resumes, so the same command continues.
results: $(RUNTIME)
	@$(BIN)/python -m memeval.cli.results $(ONLY:%=--only %) $(RESULTS_ARGS)

# These tests read all that is stored, and grade one run of each track again.
verify: $(DEV)
	@env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest -q -n 2 -m results tests/claims tests/integration tests/labels

serve: $(RUNTIME)
	@$(BIN)/memeval site serve

# The suite starts hundreds of Pythons: compiling everything again in each takes more than a quarter of its time.
test: $(DEV)
	@$(BIN)/python tests/tools/install_tools.py
	@env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest -n 4 --dist loadfile --no-loadscope-reorder -m 'not results and not products' $(PYTEST_ARGS)

test-products: $(DEV)
	@$(BIN)/python tests/tools/install_tools.py products
	@env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest -n 2 --dist loadfile -m products $(PYTEST_ARGS)

properties: $(DEV)
	@env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest -n auto -m hypothesis --hypothesis-profile=search $(PYTEST_ARGS)

# Layers below everything else: no process, no server, no browser.
quick: $(DEV)
	@$(BIN)/ruff check
	@$(BIN)/python -m pytest -q -n 2 -m 'not slow and not browser and not data' $(QUICK) $(PYTEST_ARGS)

bench: $(DEV)
	@mkdir -p build
	@$(BIN)/python -m bench

simulate: $(DEV)
	@OPENBLAS_NUM_THREADS=1 $(BIN)/python -m bench.simulation

lint: $(DEV)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --cache-dir build/cache/import-linter
	$(BIN)/deptry harness
	$(BIN)/memeval schema --check site/schemas
	$(BIN)/python -m memeval.cli.reference --check

# Takes the newest versions that pyproject.toml allows, for every Python and platform at once.
lock: $(DEV)
	@$(BIN)/uv pip compile pyproject.toml --extra dev --universal --upgrade --quiet \
		--custom-compile-command 'make lock' -o requirements.lock

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo 'memeval: needs Python 3.11 or newer; name one with: make PYTHON=/path/to/python3' >&2; exit 1; }
	@echo 'Setting up .venv (once; half a minute)'
	@$(PYTHON) -m venv .venv

$(RUNTIME): pyproject.toml requirements.lock | $(BIN)/python
	$(call INSTALL,-e .)
	@touch $@

$(DEV): pyproject.toml requirements.lock | $(BIN)/python
	$(call INSTALL,-e '.[dev]')
	@touch $(RUNTIME) $@
