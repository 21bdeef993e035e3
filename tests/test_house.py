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
    {"game", "files", "show"},
    {"shut_the_box", "threes", "objectives", "matches"},
    {"tables"},
    {"policy", "render", "standings"},
    {"solve"},
    {"evaluate", "strategies", "transitions"},
    {"lineups"},
    {"rounds"},
    {"wrappers", "env"},
    {"vector_env"},
    {"simulate"},
    {"__init__"},
    {"answers"},
    {"cli"},
]


def imported(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{name.name}" for name in node.names)
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


def test_imports_inside_the_package_go_one_way():
    floor = {module: number for number, modules in enumerate(ORDER) for module in modules}
    files = {path.stem: path for path in (ROOT / "stb_gym").glob("*.py")}
    assert floor.keys() == files.keys()
    for module, path in files.items():
        for name in imported(path):
            head, _, inner = name.partition(".")
            below = inner.split(".")[0]
            if head == "stb_gym" and below in floor:
                assert floor[below] < floor[module], f"{module} imports {below}"
            assert head not in ("agents", "training", "tests", "benchmarks")


def test_agents_know_nothing_of_training_and_the_reference_nothing_of_the_package():
    for path in (ROOT / "agents").glob("*.py"):
        assert not any(name.split(".")[0] in ("training", "tests") for name in imported(path)), path
    outside = {name.split(".")[0] for name in imported(ROOT / "tests" / "reference.py")}
    assert outside <= {"collections", "dataclasses", "fractions", "functools", "itertools", "math", "typing"}


@pytest.mark.parametrize("package", ["stb_gym", "agents", "training", "benchmarks"])
def test_the_docstring_of_a_package_names_its_modules(package):
    page = ast.get_docstring(ast.parse((ROOT / package / "__init__.py").read_text()))
    for path in (ROOT / package).glob("*.py"):
        assert path.stem.startswith("__") or re.search(rf"`\.?{path.stem}`|training\.{path.stem}`", page), path


def test_importing_the_package_loads_nothing_heavy():
    code = "import sys, stb_gym; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "numpy" in loaded
    assert not {"torch", "matplotlib", "scipy", "stable_baselines3", "argparse", "stb_gym.render"} & set(loaded)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        (source / name).write_bytes((ROOT / name).read_bytes())
    for package in ("stb_gym", "agents", "training", "tests"):
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
    assert modules == {f"stb_gym/{path.name}" for path in (ROOT / "stb_gym").iterdir() if path.is_file()}


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
from stb_gym.cli import main
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
