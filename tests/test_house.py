"""The order of the house: imports go one way, the core stays light, and the wheel holds the library alone."""

import ast
import re
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ORDER = [
    {"game", "files", "show", "matching"},
    {"hand", "variants", "objectives", "matches"},
    {"shut_the_box", "threes", "turn_arrays"},
    {"tables"},
    {"policy", "render", "standings", "turns"},
    {"solve"},
    {"evaluate", "strategies", "transitions", "board_values", "certify"},
    {"lineups", "streaming", "tournaments"},
    {"rounds"},
    {"board_tables"},
    {"coach"},
    {"dialogue"},
    {"play"},
    {"wrappers", "env"},
    {"vector_env"},
    {"simulate"},
    {"book"},
    {"__init__"},
    {"box_answers"},
    {"answers"},
    {"round_answers"},
    {"cli"},
]

BOOK_ORDER = [
    {"table"},
    {"words", "scorings"},
    {"positions", "boxes", "totals", "frontier", "players", "contests", "keeps"},
    {"pictures"},
    {"contents"},
    {"write"},
    {"__init__"},
]


def imported(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{name.name}" for name in node.names)
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


def floors(order):
    return {module: number for number, modules in enumerate(order) for module in modules}


@pytest.mark.parametrize(("package", "order"), [("stb_gym", ORDER), ("stb_gym.book", BOOK_ORDER)])
def test_imports_inside_a_package_go_one_way(package, order):
    floor = floors(order)
    files = {path.stem: path for path in ROOT.joinpath(*package.split(".")).glob("*.py")}
    assert floor.keys() - {"book"} == files.keys()
    for module, path in files.items():
        for name in imported(path):
            below = name.removeprefix(f"{package}.").split(".")[0]
            if name.startswith(f"{package}.") and below in floor:
                assert floor[below] < floor[module], f"{module} imports {below}"
            assert name.split(".")[0] not in ("agents", "training", "tests", "benchmarks")


def test_the_book_imports_what_is_below_it():
    floor = floors(ORDER)
    for path in (ROOT / "stb_gym" / "book").glob("*.py"):
        for name in imported(path):
            below = name.removeprefix("stb_gym.").split(".")[0]
            if name.startswith("stb_gym.") and below != "book":
                assert floor[below] < floor["book"], f"{path.stem} imports {below}"


def test_agents_know_nothing_of_training_and_the_reference_nothing_of_the_package():
    for path in (ROOT / "agents").glob("*.py"):
        assert not any(name.split(".")[0] in ("training", "tests") for name in imported(path)), path
    outside = {name.split(".")[0] for name in imported(ROOT / "tests" / "reference.py")}
    assert outside <= {"collections", "dataclasses", "fractions", "functools", "itertools", "math", "typing"}


@pytest.mark.parametrize("package", ["stb_gym", "stb_gym/book", "agents", "training", "benchmarks"])
def test_the_docstring_of_a_package_names_its_modules(package):
    page = ast.get_docstring(ast.parse((ROOT / package / "__init__.py").read_text()))
    for path in (ROOT / package).glob("*.py"):
        assert path.stem.startswith("__") or re.search(rf"`\.?{path.stem}`|training\.{path.stem}`", page), path


@pytest.mark.parametrize("package", ["stb_gym", "stb_gym.book"])
def test_importing_a_package_loads_nothing_heavy(package):
    code = f"import sys, {package}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "numpy" in loaded
    heavy = {"torch", "matplotlib", "jinja2", "scipy", "stable_baselines3", "argparse", "stb_gym.render"}
    assert not heavy & set(loaded)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        (source / name).write_bytes((ROOT / name).read_bytes())
    for package in ("stb_gym", "stb_gym/book", "agents", "training", "tests"):
        (source / package).mkdir()
        for path in (ROOT / package).iterdir():
            if path.is_file():
                (source / package / path.name).write_bytes(path.read_bytes())
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", folder]
    subprocess.run([sys.executable, "-m", "pip", "wheel", *options, source], check=True, cwd=folder)
    [built] = folder.glob("*.whl")
    return built


def test_the_wheel_holds_the_library_alone(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"stb_gym"}
    modules = {name for name in names if name.startswith("stb_gym/")}
    files = [path for package in ("stb_gym", "stb_gym/book") for path in (ROOT / package).iterdir() if path.is_file()]
    assert modules == {path.relative_to(ROOT).as_posix() for path in files}


def test_the_wheel_works_from_an_empty_folder_with_gymnasium_and_numpy_alone(wheel, tmp_path):
    """The environment sees the packages that the wheel depends on, linked from here, and no others."""
    venv.create(tmp_path / "env", with_pip=False)
    [packages] = (tmp_path / "env").glob("lib/python*/site-packages")
    here = Path(sys.modules["numpy"].__file__).parent.parent
    for name in ("numpy", "numpy.libs", "gymnasium", "cloudpickle", "farama_notifications", "typing_extensions.py"):
        if (here / name).exists():
            (packages / name).symlink_to(here / name)
    zipfile.ZipFile(wheel).extractall(packages)
    code = """
import gymnasium as gym, stb_gym, pathlib
game = stb_gym.ShutTheBox()
player = stb_gym.Player(game, stb_gym.solve(game).policy)
env = gym.make("stb_gym/ShutTheBox-v0", render_mode="rgb_array")
observation, info = env.reset(seed=1)
over = False
while not over:
    observation, reward, over, _, info = env.step(player(observation))
print(env.render().shape, info["final_score"])
from stb_gym.command import main
main(["simulate", "threes", "--strategy", "random", "--games", "1000", "--json"])
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
    assert done.stdout.startswith("(310, 584, 3) ")
    assert done.stdout.endswith("no torch\n")
