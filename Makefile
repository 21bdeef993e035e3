# `make demo` shows the whole of it in a minute, `make check` is what one runs between two edits, `make test` runs all
# tests; each makes the environment .venv first. `make libraries` runs the agents of other libraries, in an environment of
# 2 GB of its own, .venv-libraries; `make browser` tries the pages in a browser, and `make page` builds that of `stb-gym
# explore`.

PYTHON ?= python3.11
BIN := .venv/bin
LIBRARIES := .venv-libraries/bin

.PHONY: demo check fast test libraries browser page docs lint bench clean python

demo: .venv/installed
	$(BIN)/python -m training.demo

check: .venv/installed
	@$(MAKE) --no-print-directory --jobs=2 lint fast

fast: .venv/installed
	$(BIN)/python -m pytest -m "not slow" --ignore tests/agents --ignore tests/training

# Three at a time on two cores: some tests wait for processes of their own.
test: .venv/installed
	$(BIN)/python -m pytest -n 3

libraries: .venv-libraries/installed
	$(LIBRARIES)/python -m pytest tests/libraries

# Its tests are skipped where there is no Chromium (apt-get install chromium). Node checks the types of the page and that
# its script is built of its sources.
browser: .venv/browser web/node_modules/.package-lock.json
	npm --prefix web run --silent check
	$(BIN)/python -m pytest tests/browser

# The script and the style of the pages that `stb-gym explore` writes, and the page in docs/.
page: .venv/installed web/node_modules/.package-lock.json
	npm --prefix web run --silent build
	npm --prefix web run --silent check
	$(BIN)/stb-gym explore shut-the-box $(addprefix --run ,$(sort $(wildcard docs/trainings/*))) --out docs/explorer.html

# The site, of which build/docs/index.html is the first page; a warning, such as of a link that leads nowhere, ends it.
docs: .venv/docs
	$(BIN)/python -m sphinx --quiet --nitpicky --fail-on-warning --keep-going docs build/docs

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/installed
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[bench]"
	$(BIN)/python -m benchmarks

python:
	@command -v $(PYTHON) >/dev/null || { echo "no $(PYTHON): name a Python of 3.11 or newer by PYTHON=..." >&2; exit 1; }

.venv/installed: pyproject.toml constraints.txt | python
	$(PYTHON) -m venv .venv
	@echo "installing into .venv; this takes a minute or two"
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[lab,test]"
	@touch $@

.venv-libraries/installed: pyproject.toml tests/libraries/constraints.txt | python
	$(PYTHON) -m venv .venv-libraries
	@echo "installing into .venv-libraries; this takes some minutes"
	$(LIBRARIES)/python -m pip install --quiet --constraint tests/libraries/constraints.txt --editable ".[libraries,test]"
	$(LIBRARIES)/python -m pip install --quiet --no-deps --constraint tests/libraries/constraints.txt pufferlib
	@touch $@

.venv/docs: .venv/installed
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[docs]"
	@touch $@

.venv/browser: .venv/installed
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[browser]"
	@touch $@

web/node_modules/.package-lock.json: web/package.json web/package-lock.json
	npm --prefix web ci --silent

clean:
	rm -rf .venv .venv-libraries web/node_modules build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
