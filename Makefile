# Everything keeps to .venv/; the only things that must be there before are Python 3.11 or newer, and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: run pipeline test lint bench selftest clean help

help:            ## say what can be made
	@awk -F ':.*## *' '/^[a-z]+: .*##/ {printf "%-10s%s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(VENV)/run.stamp: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("expected Python 3.11 or newer, actual " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	@# A system Python may come without ensurepip; then pip is fetched by hand.
	@echo "setting up $(VENV)/"
	@$(PYTHON) -m venv $(VENV) > /dev/null 2>&1 || \
	  ($(PYTHON) -m venv --clear --without-pip $(VENV) && $(PYTHON) .ci/ensure_pip.py $(VENV))
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[fuzz,pytest]'
	@touch $@

$(VENV)/dev.stamp: $(VENV)/run.stamp
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

$(VENV)/pipeline.stamp: $(VENV)/run.stamp
	@echo "adding Spark and a Java to $(VENV)/"
	@$(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check -e '.[pipeline]'
	@touch $@

run: $(VENV)/run.stamp   ## certify the embedded reference broker, leave the report in out/latest/
	@$(BIN)/amqpspec run --target reference

pipeline: $(VENV)/pipeline.stamp  ## many runs and a campaign against the reference broker, and their pages in out/pipeline/site/
	@.ci/pipeline.sh $(BIN) out/pipeline

test: $(VENV)/dev.stamp  ## lint, types, import rule, all tests with coverage
	$(MAKE) --no-print-directory lint
	$(BIN)/coverage run -m pytest -m "not broker"
	$(BIN)/coverage report --skip-covered

lint: $(VENV)/dev.stamp  ## ruff, mypy --strict, import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

selftest: $(VENV)/run.stamp  ## the kill matrix of the 0-9-1 suite
	$(BIN)/amqpspec selftest --dialect amqp-0-9-1

bench: $(VENV)/dev.stamp ## figures, one JSON object a line
	$(BIN)/python -m bench

clean:           ## remove what was made
	rm -rf $(VENV) out build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage .import_linter_cache
