# `make demo` shows the whole of it in two minutes, `make check` is what one runs between two edits, `make test` runs all
# tests; each makes the environment .venv first.

PYTHON ?= python3.11
BIN := .venv/bin

.PHONY: demo check fast test lint bench clean

demo: .venv/installed
	$(BIN)/python -m training.demo

check: .venv/installed
	@$(MAKE) --no-print-directory --jobs=2 lint fast

fast: .venv/installed
	$(BIN)/python -m pytest -m "not slow" --ignore tests/agents --ignore tests/training

test: .venv/installed
	$(BIN)/python -m pytest

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/installed
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[bench]"
	$(BIN)/python -m benchmarks

.venv/installed: pyproject.toml constraints.txt
	@command -v $(PYTHON) >/dev/null || { echo "no $(PYTHON): name a Python of 3.11 or newer by PYTHON=..." >&2; exit 1; }
	$(PYTHON) -m venv .venv
	@echo "installing into .venv; this takes a minute or two"
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[lab,test]"
	@touch $@

clean:
	rm -rf .venv build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
