# `make demo` shows the whole of it in two minutes, `make test` runs all tests; both make the environment .venv first.

PYTHON ?= python3.11
BIN := .venv/bin

.PHONY: demo test lint bench clean

demo: .venv/installed
	$(BIN)/python -m training.demo

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
	rm -rf .venv build dist *.egg-info
