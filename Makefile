# `make demo` solves the games and lets learners without a network learn, in seconds; `make check` is what one runs between
# two edits, `make test` runs all tests; each makes the environment .venv first. `make libraries` runs the agents of other
# libraries, in an environment of 2 GB of its own, .venv-libraries; `make browser` tries the pages in a browser, and `make
# page` builds that of `stb-gym explore`. `make notebooks` runs those of docs/notebooks. `make package` builds what is published and tries it, `make lowest` tries the
# lowest versions of what it needs, `make coverage` says what tests run through, and `make mutants` what they catch.
#
# All but `make demo` need torch. On Linux pip may fetch it with gigabytes for graphics cards: `make test TORCH=cpu`, once,
# takes torch's own build without them, or another by the name that it has there (cu128, auto; see `uv pip --help`).
# `make demo TORCH=cpu` has masked PPO learn, too.

PYTHON ?= python3.11
TORCH ?=
BIN := .venv/bin
LIBRARIES := .venv-libraries/bin
INSTALL := -m pip install --quiet --disable-pip-version-check
# Of every editable installation setuptools warns, whatever its folders are called.
EDITABLE := PYTHONWARNINGS=ignore
EMPTY := build/empty/bin
LIBRARY_ALONE := $(addprefix --ignore tests/,agents benchmarks training test_house.py)
OF_THE_WHEEL := $(addprefix tests/,cli docs envs measure test_your_own_game.py)

# Tests are rewritten and compiled by every process that reads them, unless it may keep what another has compiled.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo check fast test notebooks notebooks-saved coverage mutants package lowest libraries browser page docs lint bench clean python

demo: $(if $(TORCH),.venv/installed,.venv/library)
	$(BIN)/python -m training.demo

check: .venv/installed
	@$(MAKE) --no-print-directory --jobs=2 lint fast

fast: .venv/installed
	$(BIN)/python -m pytest -m "not slow" --ignore tests/agents --ignore tests/training

test: .venv/installed
	$(BIN)/python -m pytest

notebooks: .venv/notebooks
	$(BIN)/python -m pytest -n 2 -W default --nbmake --nbmake-timeout=300 docs/notebooks

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
	$(BIN)/python $(INSTALL) --constraint constraints.txt --group package
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
	cd build/source && ../../$(EMPTY)/python -m pytest -m "not slow" $(OF_THE_WHEEL)

# Newer packages between them and us warn of old ones, which is nobody's mistake; an old SDL must be told of no screen; and
# what Gymnasium's own tests ask, its checker and wrappers before 1.3 do not yet answer themselves.
lowest: | python
	$(PYTHON) -m venv .venv-lowest
	.venv-lowest/bin/python $(INSTALL) "pip>=25.1"
	$(EDITABLE) .venv-lowest/bin/python $(INSTALL) --constraint tests/lowest.txt --group test --editable ".[render]"
	SDL_VIDEODRIVER=dummy .venv-lowest/bin/python -m pytest -W default -m "not slow" $(LIBRARY_ALONE) \
		--ignore tests/envs/test_gymnasium.py --deselect tests/envs/test_vector_env.py::test_gymnasium_tells_each_game_how_it_ended

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
	$(BIN)/lint-imports --no-cache

bench: .venv/installed
	$(BIN)/python $(INSTALL) --constraint constraints.txt --group bench
	$(BIN)/python -m benchmarks

python:
	@command -v $(PYTHON) >/dev/null || { echo "no $(PYTHON): name a Python of 3.11 or newer by PYTHON=..." >&2; exit 1; }

# An older pip knows no groups.
.venv/library: pyproject.toml constraints.txt | python
	$(PYTHON) -m venv .venv
	$(BIN)/python $(INSTALL) "pip>=25.1"
	$(EDITABLE) $(BIN)/python $(INSTALL) --constraint constraints.txt --editable .
	@touch $@

.venv/installed: .venv/library
	@echo "installing into .venv; this takes a minute or two"
	$(if $(TORCH),$(BIN)/python $(INSTALL) uv && $(BIN)/uv pip install --quiet --python $(BIN)/python \
		--torch-backend $(TORCH) --constraint constraints.txt torch)
	$(EDITABLE) $(BIN)/python $(INSTALL) --constraint constraints.txt --group lab --group test --editable .
	@touch $@

.venv-libraries/installed: pyproject.toml tests/libraries/constraints.txt | python
	$(PYTHON) -m venv .venv-libraries
	@echo "installing into .venv-libraries; this takes some minutes"
	$(LIBRARIES)/python $(INSTALL) "pip>=25.1"
	$(EDITABLE) $(LIBRARIES)/python $(INSTALL) --constraint tests/libraries/constraints.txt --group libraries --group test --editable .
	$(LIBRARIES)/python $(INSTALL) --no-deps --constraint tests/libraries/constraints.txt pufferlib
	@touch $@

.venv/docs: .venv/installed
	$(BIN)/python $(INSTALL) --constraint constraints.txt --group docs
	@touch $@

.venv/notebooks: .venv/installed
	$(BIN)/python $(INSTALL) --constraint constraints.txt --group notebooks
	@touch $@

.venv/browser: .venv/installed
	$(BIN)/python $(INSTALL) --constraint constraints.txt --group browser
	@touch $@

web/node_modules/.package-lock.json: web/package.json web/package-lock.json
	npm --prefix web ci --silent

clean:
	rm -rf .venv .venv-libraries .venv-lowest web/node_modules build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
