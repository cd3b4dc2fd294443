# All packages are installed in .venv/; only Python 3.11 or newer and make must be installed before.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Tests wait more than they compute, so more of them run in parallel than a small machine has processors.
WORKERS ?= 7
MEASURED := tests/spec tests/wire tests/peer
SOCKETLESS := $(MEASURED) tests/record tests/query $(filter-out tests/test_wheel.py,$(wildcard tests/test_*.py))

# These variables of the caller's shell would change what tests print, or make each process compile every module.
unexport PYTEST_ADDOPTS PYTHONDONTWRITEBYTECODE

.PHONY: run pipeline examples site site-data check quick test measured others rest lint bench selftest docs clean help

help:            ## list the targets
	@awk -F ':.*## *' '/^[a-z-]+: .*##/ {printf "%-10s%s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(VENV)/run.stamp: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("expected Python 3.11 or newer, actual " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	@# The system's Python may lack ensurepip; then pip is downloaded separately.
	@echo "setting up $(VENV)/"
	@$(PYTHON) -m venv $(VENV) > /dev/null 2>&1 || \
	  ($(PYTHON) -m venv --clear --without-pip $(VENV) && $(PYTHON) .ci/ensure_pip.py $(VENV))
	@.ci/packages $(VENV) fuzz,pytest
	@touch $@

$(VENV)/dev.stamp: $(VENV)/run.stamp
	@echo "adding the tests' packages to $(VENV)/"
	@.ci/packages $(VENV) dev
	@touch $@

$(VENV)/pipeline.stamp: $(VENV)/run.stamp
	@echo "adding Spark and a Java to $(VENV)/"
	@.ci/packages $(VENV) pipeline
	@touch $@

run: $(VENV)/run.stamp   ## certify the embedded reference broker, with the report in out/latest/
	@$(BIN)/amqpspec run --target reference

pipeline: $(VENV)/pipeline.stamp  ## runs and a campaign against the reference broker, with their pages in out/pipeline/site/
	@.ci/pipeline.sh $(BIN) out/pipeline

examples: $(VENV)/run.stamp  ## the reports of docs/examples for all installed known brokers, in out/examples/
	@.ci/examples.sh $(BIN) out/examples

site: $(VENV)/run.stamp  ## the site of all known brokers, from the marts kept in docs/site-data/, in out/site/
	@$(BIN)/amqpspec site --marts docs/site-data --out out/site

# SITE_DATA restricts the runs, or keeps the marts: SITE_DATA="--target rabbitmq --case 'channel*'", SITE_DATA="--keep docs/site-data"
site-data: $(VENV)/pipeline.stamp  ## run all installed known brokers and build marts and a site, in out/site-data/
	@$(BIN)/python .ci/site_data.py $(BIN) out/site-data $(SITE_DATA)

check: $(VENV)/dev.stamp  ## for every change: lint, types, import rule, tests without sockets
	@$(MAKE) --no-print-directory -j 2 lint quick

quick: $(VENV)/dev.stamp
	$(BIN)/pytest -q -n 2 --hypothesis-profile few $(SOCKETLESS)

test: $(VENV)/dev.stamp  ## lint, types, import rule, all tests, branch coverage of spec, wire and peer
	@$(MAKE) --no-print-directory -j 2 measured others

others: $(VENV)/dev.stamp
	@$(MAKE) --no-print-directory lint
	@$(MAKE) --no-print-directory rest

measured: $(VENV)/dev.stamp
	@# Slipcover is its own plugin of pytest, imported before it; of its assertions, none has to be rewritten.
	$(BIN)/python -m slipcover -m pytest -q -W ignore::pytest.PytestAssertRewriteWarning --durations=20 $(MEASURED)

rest: $(VENV)/dev.stamp
	$(BIN)/pytest -n $(WORKERS) --durations=20 -m "not broker" $(MEASURED:%=--ignore=%) tests

lint: $(VENV)/dev.stamp  ## ruff, mypy --strict, import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

selftest: $(VENV)/run.stamp  ## the kill matrix of the 0-9-1 suite
	$(BIN)/amqpspec selftest --dialect amqp-0-9-1

$(VENV)/docs.stamp: $(VENV)/run.stamp
	@.ci/packages $(VENV) docs
	@touch $@

docs: $(VENV)/docs.stamp  ## the documentation as a site, in out/docs/
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict
	@echo out/docs/index.html

bench: $(VENV)/dev.stamp ## benchmark figures, one JSON object per line
	$(BIN)/python -m bench

clean:           ## remove all generated files
	rm -rf $(VENV) out build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
