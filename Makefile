# Three tiers, each of which makes the environment .venv first:
#
#   make check    style, types and the fast tests: between two edits
#   make test     all tests but the nightly ones: before a pull request
#   make nightly  everything else: learning tests, notebooks, a browser, other libraries, planted mistakes, a soak
#
# `make demo` trains agents in less than three minutes. `make bench` compares the speed with other libraries. `make page`
# builds the script of `stb-gym explore`. `make package` builds the distributions and tests them. `make lowest` tests the
# lowest versions of dependencies. `make coverage` lists the lines that no test runs. `make libraries` and `make lowest` have
# environments of their own; .venv-libraries takes 2 GB.
#
# Versions are those of constraints.txt. PINS="--require-hashes --constraint hashes.txt" also checks the hashes of all
# packages but pip and torch, on Linux with Python 3.11; `make hashes` writes that file. PYTHON is the first of python3.11,
# python3.12 and python3.13 that runs.
#
# Torch comes from its own index, without libraries for graphics cards, or else from the package registry. TORCH=cu128 takes
# another build of that index, and TORCH= none of them.

PYTHON ?= $(or $(shell for each in python3.11 python3.12 python3.13; do \
	$$each -c "" 2>/dev/null && echo $$each && break; done),python3.11)
TORCH ?= cpu
PINS ?= --constraint constraints.txt
SOAK_MINUTES ?= 60
BIN := .venv/bin
LIBRARIES := .venv-libraries/bin
INSTALL := -m pip install --quiet --disable-pip-version-check
# Setuptools warns of every editable installation.
EDITABLE := PYTHONWARNINGS=ignore
EMPTY := build/empty/bin
LIBRARY_ALONE := $(addprefix --ignore tests/,agents benchmarks training test_learners.py)
FAST := "not slow and not nightly"
OF_THE_WHEEL := $(addprefix tests/,cli docs envs measure test_your_own_game.py)

# Tests are rewritten and compiled by every process that reads them, unless it may keep what another has compiled.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo check fast test nightly learning soak notebooks notebooks-saved coverage mutants package lowest libraries browser \
	page docs lint bench clean python hashes

demo: .venv/lab
	$(BIN)/python -m training.demo

check: .venv/installed
	@$(MAKE) --no-print-directory --jobs=2 lint fast

fast: .venv/installed
	$(BIN)/python -m pytest -m $(FAST) --ignore tests/agents --ignore tests/training

test: .venv/installed
	$(BIN)/python -m pytest

nightly: learning notebooks browser libraries mutants soak

learning: .venv/installed
	$(BIN)/python -m pytest -m nightly

soak: .venv/installed
	$(BIN)/python -m tests.soak --minutes $(SOAK_MINUTES)

notebooks: .venv/notebooks
	$(BIN)/python -m pytest -p nbmake -W default --nbmake --nbmake-timeout=300 docs/notebooks

# Run them and keep what they print and draw, without the time of day.
notebooks-saved: .venv/notebooks
	$(BIN)/python -m nbconvert --to notebook --execute --inplace --ExecutePreprocessor.record_timing=False \
		docs/notebooks/*.ipynb

coverage: .venv/installed
	$(BIN)/python -m pytest --cov --cov-report term:skip-covered --cov-report html:build/coverage

mutants: .venv/installed
	$(BIN)/python -m tests.mutants --workers 2

# The tests of the source distribution try the wheel, in an environment that has nothing else of the repository.
package: .venv/installed
	$(BIN)/python $(INSTALL) $(PINS) --group package
	rm -rf build dist
	$(BIN)/python -m build --no-isolation >/dev/null
	$(BIN)/twine check --strict dist/*
	$(BIN)/check-wheel-contents dist/*.whl
	mkdir -p build/source
	tar --extract --gzip --file dist/*.tar.gz --directory build/source --strip-components 1
	rm -r build/source/stb_gym
	$(PYTHON) -m venv build/empty
	$(EMPTY)/python $(INSTALL) "pip>=25.1"
	$(EMPTY)/python $(INSTALL) --constraint constraints.txt --group test "$$(echo dist/*.whl)[render]"
	cd build/source && ../../$(EMPTY)/python -m pytest -m $(FAST) $(OF_THE_WHEEL)

# Warnings are no errors here, as newer packages warn of old ones. An old SDL needs the dummy video driver. Gymnasium's own
# tests are left out, because its checker and wrappers fail them before 1.3.
lowest: | python
	$(PYTHON) -m venv .venv-lowest
	.venv-lowest/bin/python $(INSTALL) "pip>=25.1"
	$(EDITABLE) .venv-lowest/bin/python $(INSTALL) --constraint tests/lowest.txt --group test --editable ".[render]"
	SDL_VIDEODRIVER=dummy .venv-lowest/bin/python -m pytest -W default -m $(FAST) $(LIBRARY_ALONE) \
		--ignore tests/envs/test_gymnasium.py

libraries: .venv-libraries/installed
	$(LIBRARIES)/python -m pytest tests/libraries

# Its tests are skipped where there is no Chromium (apt-get install chromium). Node checks the types of the page and that
# its script is built of its sources.
browser: .venv/browser .venv/docs web/node_modules/.package-lock.json
	npm --prefix web run --silent check
	$(BIN)/python -m pytest tests/browser

# The script and the style of the pages that `stb-gym explore` and `make docs` write.
page: web/node_modules/.package-lock.json
	npm --prefix web run --silent build
	npm --prefix web run --silent check

# The site: build/docs/index.html is the game, documentation.html the first page of Sphinx. A warning, such as of a link
# that leads nowhere, ends it.
docs: .venv/docs
	$(BIN)/python -m sphinx --quiet --nitpicky --fail-on-warning --keep-going docs build/docs

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

bench: .venv/installed
	$(BIN)/python $(INSTALL) --constraint constraints.txt --group bench
	$(BIN)/python -m benchmarks

hashes: .venv/installed
	$(BIN)/python $(INSTALL) --dry-run --ignore-installed --report - --constraint constraints.txt setuptools --editable . \
		$(addprefix --group ,lab test docs notebooks package browser) | $(BIN)/python -m tests.hashes >hashes.txt

python:
	@$(PYTHON) -c "" 2>/dev/null || { echo "no $(PYTHON): name a Python of 3.11 or newer by PYTHON=..." >&2; exit 1; }

# Torch is tried once, for ten seconds, as its index is not in reach everywhere. Its dependencies come with the next rule.
# Pip knows groups from 25.1 on.
.venv/torch: pyproject.toml constraints.txt | python
	$(PYTHON) -m venv .venv
	$(BIN)/python $(INSTALL) "pip>=25.1"
	$(BIN)/python $(INSTALL) $(PINS) setuptools
	@if [ -n "$(TORCH)" ]; then \
		echo "installing torch ($(TORCH)) from download.pytorch.org; a build for processors alone is about 200 MB"; \
		$(BIN)/python $(INSTALL) --no-deps --retries 0 --timeout 10 --index-url https://download.pytorch.org/whl/$(TORCH) \
			--constraint constraints.txt torch 2>/dev/null \
		|| { echo "download.pytorch.org cannot be reached or has no such build"; false; }; \
	else false; fi \
	|| { echo "installing torch from the package registry; on Linux it may come with 3 GB for graphics cards"; \
		$(BIN)/python $(INSTALL) --constraint constraints.txt torch; }
	@touch $@

.venv/lab: .venv/torch
	@echo "installing the training code into .venv; this takes a minute"
	$(EDITABLE) $(BIN)/python $(INSTALL) --no-deps --no-build-isolation --editable .
	$(BIN)/python $(INSTALL) $(PINS) --group lab
	@touch $@

.venv/installed: .venv/lab
	@echo "installing the tools of tests into .venv"
	$(BIN)/python $(INSTALL) $(PINS) --group test
	@touch $@

.venv-libraries/installed: pyproject.toml tests/libraries/constraints.txt | python
	$(PYTHON) -m venv .venv-libraries
	@echo "installing into .venv-libraries; this takes some minutes"
	$(LIBRARIES)/python $(INSTALL) "pip>=25.1"
	$(EDITABLE) $(LIBRARIES)/python $(INSTALL) --constraint tests/libraries/constraints.txt --group libraries --group test --editable .
	$(LIBRARIES)/python $(INSTALL) --no-deps --constraint tests/libraries/constraints.txt pufferlib openenv
	@touch $@

.venv/docs: .venv/installed
	$(BIN)/python $(INSTALL) $(PINS) --group docs
	@touch $@

.venv/notebooks: .venv/installed
	$(BIN)/python $(INSTALL) $(PINS) --group notebooks
	@touch $@

.venv/browser: .venv/installed
	$(BIN)/python $(INSTALL) $(PINS) --group browser
	@touch $@

web/node_modules/.package-lock.json: web/package.json web/package-lock.json
	npm --prefix web ci --silent

clean:
	rm -rf .venv .venv-libraries .venv-lowest web/node_modules build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
