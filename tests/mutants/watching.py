"""A plugin of pytest: it runs chosen tests in an order, says which it has begun, and what each cost.

It is told the folder to do so in by an environment variable: there `chosen` lists the tests, one a line, if all are not
wanted; `begun` is the last test that was begun; and `costs` are the processor seconds of all, as JSON.
"""

import json
import os
from pathlib import Path

import pytest

FOLDER = "STB_GYM_MUTANTS"
CHOSEN, BEGUN, COSTS = "chosen", "begun", "costs"

_costs: dict[str, float] = {}


def _file(name: str) -> Path:
    return Path(os.environ[FOLDER]) / name


@pytest.hookimpl(trylast=True)  # pytest itself groups tests by their fixtures first
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the chosen tests, in their order."""
    if _file(CHOSEN).exists():
        place = {name: number for number, name in enumerate(_file(CHOSEN).read_text().splitlines())}
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in place])
        items[:] = sorted((item for item in items if item.nodeid in place), key=lambda item: place[item.nodeid])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item):
    """Say that a test is begun, and measure it with its fixtures and the processes it waits for."""
    _file(BEGUN).write_text(item.nodeid)
    before = sum(os.times()[:4])
    result = yield
    _costs[item.nodeid] = round(sum(os.times()[:4]) - before, 3)
    return result


def pytest_sessionfinish() -> None:
    """Write what the tests cost."""
    _file(COSTS).write_text(json.dumps(_costs))
