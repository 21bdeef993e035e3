"""Test that every code block of the README and of the pages runs and prints the figures in its comments."""

import doctest
import io
import re
import shlex
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
from PIL import Image

import stb_gym
from docs.written import written
from stb_gym.cli import main
from stb_gym.games import GAMES
from tests import ROOT, mostly_nightly
from tests.docs.pages import (
    BLOCKS,
    DOCS,
    PAGES,
    PYTHON,
    README,
    blocks_of,
    commands_of,
    figures,
    is_printed,
    promised_below,
)

OURS = [*commands_of("stb-gym "), *commands_of("python pig.py ")]
THE_300, TWENTY = "shut-the-box --variant the-300", "shut-the-box --tiles 20"
LONGEST = tuple(
    f"stb-gym {words}"
    for words in ("list shut-the-box --variants", "advise threes --lead", f"advise {THE_300}", f"evaluate {TWENTY}")
)


def test_every_command_is_tested_or_known():
    assert {block.language for block in BLOCKS} == {"pycon", "python", "sh", "text"}
    known = [*OURS, *(line for name in ("make ", "pip install ", "python -m training.") for line in commands_of(name))]
    assert sorted(commands_of("")) == sorted(known)


@pytest.mark.slow
@pytest.mark.parametrize(
    "block",
    mostly_nightly(PYTHON, lambda block: block.page.stem not in ("a_big_box", "a_variant")),
    ids=lambda block: block.page.stem,
)
@pytest.mark.usefixtures("own_games")
def test_python_runs(block, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(DOCS)
    exec(compile(block.code, block.page.name, "exec"), {"__name__": "__main__"})
    promised, printed = figures(block.code), capsys.readouterr().out
    assert promised or "assert " in block.code or block.page.parent.name == "tutorials"
    assert all(is_printed(number, printed) for number in promised)


@pytest.mark.parametrize(
    "block", [block for block in BLOCKS if block.language == "pycon"], ids=lambda block: block.code
)
def test_code_raises_the_error_below_it(block):
    if "torch" in block.code:
        pytest.importorskip("torch")
    names = {"gym": gym, "stb_gym": stb_gym}
    example = doctest.DocTestParser().get_doctest(block.code, names, block.page.name, None, None)
    assert example.examples[-1].exc_msg
    assert doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example).failed == 0


@pytest.mark.nightly
@pytest.mark.parametrize("command", mostly_nightly(OURS, lambda line: not line.startswith(LONGEST)))
@pytest.mark.usefixtures("own_games")
def test_commands_print_the_figures_below_them(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(DOCS)
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    command_line = command.replace("python pig.py", "stb-gym --import pig")
    assert main(shlex.split(command_line, comments=True)[1:]) == 0
    printed = capsys.readouterr().out
    assert printed
    assert all(is_printed(number, printed) for number in promised_below(command))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "identity", "options", "seed"),
    [
        ("shut-the-box", "stb_gym/ShutTheBox-v0", {"open": [1, 4, 5, 8], "roll": 9}, 1),
        ("threes", "stb_gym/Threes-v0", {"roll": [3, 1, 3, 2, 4]}, 4),  # the seed determines the order of the dice
    ],
)
def test_the_pictures_of_the_rules(name, identity, options, seed):
    env = gym.make(identity, render_mode="rgb_array")
    env.reset(options=options, seed=seed)
    saved = np.array(Image.open(DOCS / "boards" / f"{name}.png").convert("RGB"), float)
    assert abs(env.render() - saved).mean() < 1  # of 255: other versions draw the edges of letters differently


def test_figures_in_answers_match_the_comments_of_their_commands():
    answers = re.split("^## ", (DOCS / "questions.md").read_text(), flags=re.MULTILINE)[1:]
    for answer in answers:
        sentences, _, commands = re.sub("<a[^>]*>", "", answer).partition("<details>")
        found = figures(f"# {' '.join(sentences.split())}")
        assert found, answer
        assert [figure for figure in found if not is_printed(figure, commands)] == [], answer


def test_pictures_exist_for_light_and_dark_pages():
    pair = re.compile(r'srcset="(.*)">\n<img src="(.*)" alt')
    pictures_of = [(page, *names) for page in PAGES for names in pair.findall(page.read_text())]
    assert {Path(light).name for *_, light in pictures_of} == {
        *("curves.png", "exact8.png", "explorer.png", "parts.png", "planning.png"),
        *("text-rewards-nine-tiles.png", "text-rewards-threes.png"),
    }
    assert README in {page for page, *_ in pictures_of}
    for page, dark, light in pictures_of:
        assert dark == light.replace(".png", "-dark.png")
        pictures = [Image.open(page.parent / name) for name in (light, dark)]
        assert pictures[0].size == pictures[1].size
        brightness = [np.median(np.asarray(picture.convert("L"))) for picture in pictures]
        assert brightness[1] < 128 < brightness[0]
        assert all((page.parent / name).stat().st_size < 50_000 for name in (light, dark))


def test_published_figures_are_ours_rounded():
    lines = re.findall(r"^# (\S+), \S+ ([\d./%]+)$", (DOCS / "published.md").read_text(), re.MULTILINE)
    assert len(lines) == 11
    assert all(is_printed(theirs, ours) for ours, theirs in lines)


# The README


def test_perfect_play_of_the_environments():
    rows = re.findall(r"^\| `(stb_gym/\S+)` \| .* \| ([\d.]+)(%| points) \|$", README.read_text(), re.MULTILINE)
    assert len(rows) == 7
    for identity, value, unit in rows:
        threshold = abs(gym.spec(identity).reward_threshold)
        assert value == f"{100 * threshold if unit == '%' else threshold:.6f}"


def test_the_game_with_a_coach_is_printed_as_on_the_page(monkeypatch, capsys):
    page = DOCS / "play.md"
    [command] = re.findall(r"`stb-gym (play .*? --seed \d+)`", page.read_text())
    *_, account = [block.code for block in blocks_of(page) if block.language == "text"]
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(re.findall(r"shut ([\d,]+)", account))))
    assert main(command.split()) == 0
    assert account in capsys.readouterr().out


# Parts of pages that the code writes


@pytest.mark.parametrize("image", ['alt="Two curves" src="docs/a.png"', 'src="docs/a.png" alt="Two curves"'])
def test_pictures_follow_the_scheme_of_the_theme(image):
    dark = '<source media="(prefers-color-scheme: dark)" srcset="docs/b.png">'
    page = f"Above.\n\n<picture>\n  {dark}\n  <img {image}>\n</picture>\n\nBelow."
    pictures = "![Two curves](docs/a.png){.only-light}\n![Two curves](docs/b.png){.only-dark}"
    assert written(page) == f"Above.\n\n{pictures}\n\nBelow."


def test_the_api_page_lists_every_public_name_once():
    page = (DOCS / "api.md").read_text()
    listed = " ".join(re.findall(r"^```\{names\}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)).split()
    assert len(set(listed)) == len(listed)
    packages = {name for name in stb_gym.__all__ if f"{name}." in page or name in ("envs", "pettingzoo")}
    assert {*stb_gym.__all__} - packages - {"ENVIRONMENTS"} <= {*listed}


@pytest.mark.slow
@pytest.mark.parametrize("name", mostly_nightly(["round", *GAMES], lambda name: name != "shut-the-box"))
def test_every_environment_is_on_the_page_of_its_game_once(name):
    page = written((DOCS / "environments" / f"{name}.md").read_text())
    ids = [identity for identity, known in stb_gym.ENVIRONMENTS.items() if known.rules is GAMES.get(name)]
    for identity in ids or [f"stb_gym/{rules.__name__}Round-v0" for rules in GAMES.values()]:
        assert page.count(f"| `{identity}` |") == 1
    assert page.count("\n## Observation Space\n") == 1
