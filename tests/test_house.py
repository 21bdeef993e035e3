"""The order of the house: imports go one way, nothing asks which game it is, the wheel is whole."""

import ast
import re
import subprocess
import sys
import venv
import zipfile
from importlib.util import find_spec
from pathlib import Path
from shutil import copytree, ignore_patterns

import pytest

from tests import ROOT
from tests.house import House, asks_which_game, circle, imported

LIBRARY, LABORATORY = "stb_gym", ("agents", "training", "benchmarks")
GAMES = "stb_gym.games"
HEAVY = {"torch", "matplotlib", "PIL", "pygame", "scipy", "stable_baselines3", "pettingzoo", "argparse"}
HOUSE = House(ROOT, (LIBRARY, *LABORATORY), LIBRARY)


@pytest.mark.slow
def test_packages_and_modules_import_each_other_in_no_circle():
    assert circle(HOUSE.rooms) == []
    assert circle(HOUSE.imports) == []


def test_the_library_knows_nothing_of_the_laboratory_nor_learners_of_trainings():
    forbidden = {LIBRARY: {*LABORATORY, "tests"}, "agents": {"training", "benchmarks", "tests"}, "training": {"tests"}}
    for module, tree in HOUSE.trees.items():
        roots = {name.split(".")[0] for name, _ in imported(tree)}
        assert not roots & forbidden.get(module.split(".")[0], {"tests"}), module


def test_the_reference_knows_nothing_of_the_package():
    for module in ("reference", "reference_rounds", "golden"):
        names = {name for name, _ in imported(ast.parse((ROOT / "tests" / f"{module}.py").read_text()))}
        allowed = {"tests", "tests.reference"} if module != "reference" else set()
        assert {name for name in names if name.split(".")[0] not in sys.stdlib_module_names} <= allowed, module


@pytest.mark.slow
def test_only_tests_of_learners_trainings_and_other_libraries_start_torch():
    for path in (ROOT / "tests").rglob("*.py"):
        if path.relative_to(ROOT / "tests").parts[0] not in (*LABORATORY, "libraries"):
            roots = {name.split(".")[0] for name, _ in imported(ast.parse(path.read_text()))}
            assert not roots & {"torch", "stable_baselines3", *LABORATORY}, path


def test_nothing_outside_the_games_asks_which_game_it_is():
    assert HOUSE.questions(apart_from=GAMES) == []


def test_commands_print_through_one_function_which_lets_nothing_steer_a_terminal():
    assert HOUSE.callers("print") == {"stb_gym.output.console", "stb_gym.sb3"}  # of which the other prints numbers


def test_the_docstring_of_a_package_names_its_modules():
    assert HOUSE.unnamed() == []


@pytest.mark.slow
def test_importing_the_library_loads_nothing_heavy():
    code = f"import sys, {LIBRARY}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "numpy" in loaded
    assert not HEAVY & set(loaded)


# That the checks can fail


@pytest.fixture
def made_up(tmp_path):
    """A house in which nothing is as it should be."""
    files = {
        "lib/__init__.py": '"""Names `low` alone."""\nfrom lib.high import top\n',
        "lib/low/__init__.py": '"""Names `a` and `b`."""\n',
        "lib/low/a.py": "import lib.low.b\nimport other.deep\n",
        "lib/low/b.py": "def f():\n    from . import a\n",
        "lib/high/__init__.py": '"""Names nothing."""\nfrom ..low import a, b\nfrom lib.low import x, y\n',
        "lib/high/top.py": "def long():\n    pass\n",
        "other/__init__.py": "",
        "other/deep.py": "from lib.high.top import long\nimport numpy\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return House(tmp_path, ("lib", "other"), "lib")


def test_imports_are_found_wherever_they_stand(made_up):
    assert made_up.imports == {
        "lib": {"lib.high.top"},
        "lib.low": set(),
        "lib.low.a": {"lib.low.b", "other.deep"},
        "lib.low.b": {"lib.low.a"},
        "lib.high": {"lib.low.a", "lib.low.b", "lib.low"},
        "lib.high.top": set(),
        "other": set(),
        "other.deep": {"lib.high.top"},
    }


def test_circles_are_found(made_up):
    assert circle(made_up.imports) == ["lib.low.a", "lib.low.b"]
    assert made_up.rooms == {
        "lib.__init__": {"lib.high"},
        "lib.low": {"other"},
        "lib.high": {"lib.low"},
        "other": {"lib.high"},
    }
    assert sorted(circle(made_up.rooms)) == ["lib.high", "lib.low", "other"]


def test_unnamed_files_are_found(made_up):
    assert made_up.unnamed() == ["lib.high", "lib.high.top", "other.deep"]


@pytest.mark.parametrize(
    "code",
    [
        "isinstance(game, ShutTheBox)",
        "isinstance(game, games.Threes | Other)",
        "type(game) is Threes",
        "game.name == 'threes'",
        "tables.game.name in known",
        "name == 'threes'",
        "name != ShutTheBox.name",
        "{Threes.name: 1}",
        "{'shut-the-box': 1}",
        "{ShutTheBox: 1}",
        "hasattr(self.game, 'tiles')",
        "getattr(game, 'moon', False)",
        "'keep' in move",
        "match game:\n    case Threes(): pass",
        "match name:\n    case 'threes': pass",
    ],
)
def test_questions_are_found(code, tmp_path):
    assert any(map(asks_which_game, ast.walk(ast.parse(code))))
    for package in ("lib/games", "lib/other"):
        (tmp_path / package).mkdir(parents=True)
        (tmp_path / package / "it.py").write_text(f"\n{code}\n")
    [found] = House(tmp_path, ("lib",), "lib").questions(apart_from="lib.games")
    assert found.startswith("lib.other.it:")


@pytest.mark.parametrize(
    "code",
    [
        "ShutTheBox()",
        "isinstance(move, dict)",
        "game.score == 3",
        "known[game.name]",
        "3 in moves",
        "getattr(game, field)",
    ],
)
def test_what_is_no_question_is_not_found(code):
    assert not any(map(asks_which_game, ast.walk(ast.parse(code))))


# The wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        (source / name).write_bytes((ROOT / name).read_bytes())
    for package in (LIBRARY, *LABORATORY, "tests"):
        copytree(ROOT / package, source / package, ignore=ignore_patterns("__pycache__"))
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", folder]
    subprocess.run([sys.executable, "-m", "pip", "wheel", *options, source], check=True, cwd=folder)
    [built] = folder.glob("*.whl")
    return built


@pytest.mark.slow
def test_the_wheel_holds_the_library_alone(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {LIBRARY}
    files = [path for path in (ROOT / LIBRARY).rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert {path.suffix for path in files} >= {".py", ".typed", ".npz", ".toml"}
    assert {name for name in names if name.startswith(f"{LIBRARY}/")} == {p.relative_to(ROOT).as_posix() for p in files}


@pytest.mark.slow
def test_the_wheel_works_from_an_empty_folder_with_gymnasium_and_numpy_alone(wheel, tmp_path):
    """The environment sees the packages that the wheel depends on, linked from here, and no others."""
    venv.create(tmp_path / "env", with_pip=False)
    [packages] = (tmp_path / "env").glob("lib/python*/site-packages")
    here = Path(find_spec("numpy").origin).parent.parent
    for name in ("numpy", "numpy.libs", "gymnasium", "cloudpickle", "farama_notifications", "typing_extensions.py"):
        if (here / name).exists():
            (packages / name).symlink_to(here / name)
    zipfile.ZipFile(wheel).extractall(packages)
    code = """
from importlib.metadata import entry_points
import gymnasium as gym, stb_gym
game = stb_gym.ShutTheBox()
player = stb_gym.solver.Player(game, stb_gym.solve(game).policy)
env = gym.make("stb_gym/ShutTheBox-v0", render_mode="ansi")
observation, info = env.reset(seed=1)
over = False
while not over:
    observation, reward, over, _, info = env.step(player(observation))
print(env.render().splitlines()[-1], info["final_score"])
[command] = entry_points(group="console_scripts", name="stb-gym")
command.load()(["simulate", "threes", "--policy", "random", "--turns", "1000", "--json"])
print(stb_gym.evaluate(game, stb_gym.load_policy("ppo-nine-tiles", game)).regret < 0.001)
command.load()(["judge", "dqn-threes"])
try:
    gym.make("stb_gym/Threes-v0", render_mode="human").reset()
except ImportError as error:
    print(error)
try:
    import torch
except ModuleNotFoundError:
    print("no torch")
"""
    empty = tmp_path / "empty"
    empty.mkdir()
    done = subprocess.run(
        [tmp_path / "env" / "bin" / "python", "-W", "error", "-c", code],
        cwd=empty,
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": ""},
    )
    assert done.stderr == ""
    assert re.match(r"points (\d+) \1\n", done.stdout)
    assert "}\nTrue\npolicy " in done.stdout
    assert "\ndqn-threes  threes: dice 5, faces 6 " in done.stdout
    need = "pictures need Pillow, which is not installed: pip install 'stb-gym[render]'"
    assert done.stdout.endswith(f"\n{need}\nno torch\n")
