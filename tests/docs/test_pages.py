"""Every code block of the README and of the pages runs, and the figures that it promises are those that are printed."""

import contextlib
import io
import re
import shlex
import subprocess
import sys
from contextlib import ExitStack
from functools import cache
from unittest.mock import patch

import gymnasium as gym
import numpy as np
import pytest
from PIL import Image

import stb_gym
from docs.written import WRITERS, written
from stb_gym.cli import main, turn
from stb_gym.games import registry
from stb_gym.large import solve_boards
from stb_gym.measure import meter
from stb_gym.solver import objective_of
from tests import PATIENCE, ROOT
from tests.docs.pages import (
    BLOCKS,
    COMMANDS,
    DOCS,
    PAGES,
    PYTHON,
    blocks_of,
    commands_of,
    figures,
    links_of,
    promised_below,
)

OURS, MAKE, INSTALL = commands_of("stb-gym "), commands_of("make "), commands_of("pip install ")
THE_300, TWENTY = "shut-the-box --variant the-300", "shut-the-box --tiles 20"
AT_LENGTH = "list", "par", "certify", "advise threes --lead", f"advise {THE_300}", f"evaluate {TWENTY}"
LONG = tuple(f"stb-gym {words}" for words in AT_LENGTH)
LONG_PAGES = ("a_big_box", "a_round")
PUBLISHED = DOCS / "published.md"


def marked(cases, slow):
    """Cases for `parametrize`, of which some are slow."""
    return [pytest.param(case, marks=[pytest.mark.slow] if slow(case) else []) for case in cases]


def name_of_page(block):
    return block.page.stem


@pytest.fixture
def games_are_forgotten():
    """What a test registers is known to that test only."""
    with ExitStack() as undone_at_the_end:
        for known in (stb_gym.games.GAMES, registry._ENTRIES, stb_gym.ENVIRONMENTS, gym.registry):
            undone_at_the_end.enter_context(patch.dict(known))
        yield
    sys.modules.pop("docs.pig", None)


@pytest.fixture(scope="module", autouse=True)
def _large_boxes_are_solved_once():
    solved = cache(solve_boards)

    def once(game, objective, progress=None, *, worst=False):
        return solved(game, objective_of(game, objective), worst=worst)

    with ExitStack() as undone_at_the_end:
        for module in (turn, meter):
            undone_at_the_end.enter_context(patch.object(module, "solve_boards", once))
        yield


def test_there_is_something_of_everything():
    assert {block.language for block in BLOCKS} == {"python", "sh", "text"}
    known = [*MAKE, *INSTALL, *OURS, *commands_of("python -m training.")]
    assert min(len(PYTHON), len(MAKE), len(INSTALL), len(OURS)) > 0
    assert sorted(COMMANDS) == sorted(known)


@pytest.mark.parametrize("block", marked(PYTHON, lambda block: block.page.stem in LONG_PAGES), ids=name_of_page)
@pytest.mark.usefixtures("games_are_forgotten")
def test_python_runs(block, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(block.code, block.page.name, "exec"), {"__name__": "__main__"})
    promised = figures(block.code)
    assert promised or block.page.parent.name == "tutorials"
    assert all(number in printed.getvalue() for number in promised)
    for picture in tmp_path.glob("*.png"):
        drawn, kept = (
            np.asarray(Image.open(path).convert("RGB"), float) for path in (picture, DOCS / "boards" / picture.name)
        )
        assert abs(drawn - kept).mean() < 2  # of 255: another version may round the edges of letters otherwise


@pytest.mark.parametrize("command", marked(OURS, lambda line: line.startswith(LONG)))
def test_commands_print_the_figures_that_stand_below_them(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    assert main(shlex.split(command, comments=True)[1:]) == 0
    printed = capsys.readouterr().out
    assert printed
    assert all(number in printed for number in promised_below(command))


@pytest.mark.slow
def test_the_300_is_worth_what_its_environment_says():
    best = solve_boards(stb_gym.ShutTheBox.preset("the-300"), "score")
    assert gym.spec("stb_gym/ShutTheBox300-v0").reward_threshold == pytest.approx(-best.value, rel=1e-13)


def test_where_we_agree_with_others_we_do():
    rows = re.findall(r"^\| .*? \| ([\d./%]+) \| ([\d./%]+) \|$", PUBLISHED.read_text(), re.MULTILINE)
    block = next(block for block in blocks_of(PUBLISHED) if block.language == "sh")
    assert [ours for _, ours in rows] == figures(block.code)
    for theirs, ours in rows:
        decimals = len(theirs.rstrip("%").partition(".")[2])
        assert theirs == ours or theirs == f"{float(ours.rstrip('%')):.{decimals}f}" + "%" * ours.endswith("%")


@pytest.mark.parametrize("command", MAKE)
def test_make_knows_its_targets(command):
    words = [*shlex.split(command, comments=True), "--dry-run"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    assert "$(" not in done.stdout


def test_links_and_pictures_exist():
    for page in PAGES:
        for target in links_of(page):
            assert (page.parent / target).exists(), f"{page}: {target}"


# What the code writes of the pages


def test_every_public_name_is_on_the_page_of_names_once():
    page = (DOCS / "api.md").read_text()
    listed = " ".join(re.findall(r"^```\{names\}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)).split()
    assert len(set(listed)) == len(listed)
    packages = {name for name in stb_gym.__all__ if f"{name}." in page or name in ("envs", "pettingzoo")}
    assert {*stb_gym.__all__} - packages - {"ENVIRONMENTS"} <= {*listed}


def test_every_environment_has_its_place_on_the_page_of_its_game():
    pages = "".join(written(path.read_text()) for path in (DOCS / "environments").glob("*.md"))
    rounds = [f"stb_gym/{rules.__name__}Round-v0" for rules in stb_gym.games.GAMES.values()]
    assert all(pages.count(f"| `{identity}` |") == 1 for identity in [*stb_gym.ENVIRONMENTS, *rounds])
    assert pages.count("\n## Observation Space\n") == len(stb_gym.games.GAMES) + 1


@pytest.mark.parametrize("words", ["solve shut-the-box", "round threes", "explore threes"])
def test_every_flag_is_in_the_reference(words, capsys):
    main([*words.split(), "--help"])
    flags = set(re.findall(r"--[a-z][a-z-]+", capsys.readouterr().out))
    assert len(flags) > 5
    reference = WRITERS["commands"]("")
    assert all(flag in reference for flag in flags)
