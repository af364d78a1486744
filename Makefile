# Keepsake: every task has a target here; `make` alone lists them.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export UV_PYTHON_DOWNLOADS := never
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

# What `keepsake dev` may be told from here; unset variables keep its own defaults.
# HOST counts from the command line only: shells and conda export one that means something else.
HOST := $(if $(filter command,$(firstword $(origin HOST))),$(HOST))
DEV_ARGS = $(if $(HOST),--host "$(HOST)") $(if $(PORT),--port "$(PORT)") $(if $(DATA_DIR),--data-dir "$(DATA_DIR)") \
  $(if $(POLICY),--policy "$(POLICY)") $(if $(PROVIDER),--provider "$(PROVIDER)") $(if $(filter 0,$(SAMPLE)),--no-sample)

.PHONY: help run test check bench format lock setup setup-dev clean crds cluster-build apiserver apiserver-down

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: $(VENV)/run.stamp ## start memory-api with embedded PostgreSQL, load samples, show one recall, keep serving (HOST PORT DATA_DIR POLICY PROVIDER SAMPLE=0)
	@exec $(BIN)/keepsake dev $(DEV_ARGS)

test: cluster-build $(VENV)/dev.stamp ## install what the tests need and run every one of them (FULL=1: the long forms)
	@sh requirements/debian.sh
	@FULL="$(FULL)" $(BIN)/python -m pytest -n 2 --dist loadgroup $(ARGS)

# First and in the background: the build of Kubernetes is the longest step of a run on a new machine.
cluster-build: $(VENV)/bin/uv
	@$(BIN)/python -m tests.cluster.build --in-background

apiserver: $(VENV)/dev.stamp ## a real Kubernetes API server on loopback with our CRDs, the operator, and pods that seem to run, detached
	@$(BIN)/python -m tests.cluster

apiserver-down: ## remove what `make apiserver` started
	@if [ -d .keepsake/apiserver ]; then $(BIN)/python -m tests.cluster down; fi

check: $(VENV)/dev.stamp ## format, lint, strict types, import contracts, locks fresh
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	@sh requirements/lock.sh --check

bench: $(VENV)/dev.stamp ## every figure beside its budget (QUICK=1 under two minutes; LOCOMO=FILE adds evidence recall)
	@$(BIN)/python -m tests.bench $(if $(QUICK),--quick) $(if $(LOCOMO),--locomo "$(LOCOMO)")

format: $(VENV)/dev.stamp ## format the code and mend what the linter can mend
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

crds: $(VENV)/dev.stamp ## write crds/*.yaml anew from the typed models
	$(BIN)/python -m memory_operator.api.crdgen crds

lock: $(VENV)/dev.stamp ## resolve the newest dependencies into requirements/*.txt
	@sh requirements/lock.sh --upgrade

setup: $(VENV)/run.stamp ## only set up the environment that `make run` needs
setup-dev: $(VENV)/dev.stamp ## only set up the environment that the tests need

clean: ## remove the environment and caches (data in .keepsake/ stays)
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .bench

$(VENV)/bin/uv: requirements/bootstrap.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "Keepsake needs Python 3.11 or newer; '$(PYTHON)' is not. Name one: make $(MAKECMDGOALS) PYTHON=/path/to/python3.12" >&2; exit 2; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
	  echo "Python's venv module is missing. On Debian and Ubuntu: sudo apt-get install python3-venv" >&2; exit 2; }
	@echo "Setting up $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/bootstrap.txt
	@touch $@

$(VENV)/run.stamp: requirements/run.txt pyproject.toml $(VENV)/bin/uv
	@echo "Installing the pinned dependencies ..."
	@VIRTUAL_ENV=$(VENV) $(BIN)/uv pip install --require-hashes --no-deps -r requirements/run.txt
	@VIRTUAL_ENV=$(VENV) $(BIN)/uv pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/dev.stamp: requirements/dev.txt requirements/cluster.txt $(VENV)/run.stamp
	@echo "Installing the development tools ..."
	@VIRTUAL_ENV=$(VENV) $(BIN)/uv pip install --require-hashes --no-deps -r requirements/dev.txt -r requirements/cluster.txt
	@touch $@
