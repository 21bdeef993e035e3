"""A plugin of pytest: it runs chosen tests in an order, says which it has begun, and what each cost and ran through.

It is told the folder to do so in by an environment variable: there `chosen` lists the tests, one a line; if there is no
such file all are wanted, and watched. `begun` is the last test that was begun; and `seen` is what was watched.
"""

import cProfile
import json
import os
from pathlib import Path
from types import CodeType

import pytest

FOLDER = "STB_GYM_MUTANTS"
CHOSEN, BEGUN, SEEN = "chosen", "begun", "seen"

_seen: dict[str, tuple[float, list[str]]] = {}


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
    """Say that a test is begun, and watch it with its fixtures and the processes it waits for."""
    _file(BEGUN).write_text(item.nodeid)
    if _file(CHOSEN).exists():
        return (yield)
    before, profile = sum(os.times()[:4]), cProfile.Profile(builtins=False)
    profile.enable()
    try:
        return (yield)
    finally:
        profile.disable()
        codes = [entry.code for entry in profile.getstats() if isinstance(entry.code, CodeType)]
        places = {place_of(code, item.config.rootpath) for code in codes}
        ours = sorted(place for place in places if place and not place.startswith("tests/"))
        _seen[item.nodeid] = (round(sum(os.times()[:4]) - before, 3), ours)


def place_of(code: CodeType, root: Path) -> str:
    """Where a function of ours is, such as `stb_gym/solver/tables.py::TurnTables::sweep`; "" of any other."""
    name = code.co_qualname.replace("<locals>.", "")
    if not code.co_filename.startswith(f"{root}{os.sep}") or "<" in name:  # <lambda>, <listcomp>
        return ""
    return "::".join([Path(code.co_filename).relative_to(root).as_posix(), *name.split(".")])


def pytest_sessionfinish() -> None:
    """Write what was seen."""
    _file(SEEN).write_text(json.dumps(_seen))
