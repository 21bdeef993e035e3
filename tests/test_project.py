"""Test that files about the project agree on versions, commands and paths."""

import re
import subprocess
import tomllib

import pytest
import yaml

from stb_gym import __version__
from tests import ROOT
from tests.docs.pages import PAGES, commands_of

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
WORKFLOWS = {path.name: path.read_text() for path in sorted((ROOT / ".github/workflows").iterdir())}
CONTRIBUTING, CHANGELOG = ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"
MAKE = re.findall(r"\bmake((?: +[\w=]+)+)", "".join(WORKFLOWS.values()) + CONTRIBUTING.read_text().replace("`", "\n"))
MAKE += [line.removeprefix("make").partition("#")[0] for line in commands_of("make ")]


def pinned(path):
    """Return the versions of a file of constraints, by package."""
    return dict(re.findall(r"^([\w-]+)==(\S+)$", (ROOT / path).read_text(), re.MULTILINE))


def test_the_lowest_versions_are_those_that_the_package_asks_for():
    extras = PROJECT["project"]["optional-dependencies"]
    asked = [*PROJECT["project"]["dependencies"], *extras["render"]]
    lowest = dict(re.match(r"([\w-]+)>=([\d.]+)", each).groups() for each in asked)
    assert pinned("tests/lowest.txt") == lowest
    assert lowest.keys() <= pinned("constraints.txt").keys()


def test_every_group_is_pinned():
    groups = {**PROJECT["dependency-groups"], **PROJECT["project"]["optional-dependencies"]}
    groups["needed"] = PROJECT["project"]["dependencies"]
    for group, requirements in groups.items():
        names = {re.match(r"[\w-]+", each)[0] for each in requirements if isinstance(each, str)}
        file = "tests/libraries/constraints.txt" if group == "libraries" else "constraints.txt"
        assert names - {"stb-gym"} <= pinned(file).keys()


def test_versions_agree():
    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert re.search(rf"^## {re.escape(__version__)}\b", CHANGELOG.read_text(), re.MULTILINE)
    assert f"rev: v{pinned('constraints.txt')['ruff']}\n" in (ROOT / ".pre-commit-config.yaml").read_text()
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["project"]["classifiers"]))
    assert set(re.findall(r'"(3\.\d+)"', WORKFLOWS["tests.yml"])) == set(named)


def test_no_tracked_file_has_a_placeholder_for_the_owner():
    command = ["git", "grep", "--files-with-matches", "--word-regexp", "OWN" + "ER"]
    assert subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout == ""


def test_workflows_pin_each_action_by_one_commit():
    used = {*re.findall(r"\buses: (.*)", "".join(WORKFLOWS.values()))}
    assert used
    assert all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v[\d.]+", action) for action in used)
    assert len({action.partition("@")[0] for action in used}) == len(used)


def test_workflows_run_all_parts_of_make_nightly():
    [parts] = re.findall(r"^nightly: (.*)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    hosted = yaml.safe_load(WORKFLOWS["tests.yml"])["jobs"]["nightly"]["strategy"]["matrix"]["part"]
    others = {words.strip() for words in re.findall(r"run: make( .*)", "".join(WORKFLOWS.values()))}
    assert {*parts.split()} <= {*hosted} | others


def test_make_knows_its_targets():
    words = {word for line in MAKE for word in line.split()}
    done = subprocess.run(
        ["make", "--dry-run", "PYTHON=python3", *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", [CONTRIBUTING, CHANGELOG, *PAGES], ids=lambda page: page.stem)
def test_links_and_pictures_exist(page):
    text = page.read_text()
    targets = [target.partition("#")[0] for target in re.findall(r'(?:\]\(|src(?:set)?=")([^)"\s]+)', text)]
    named = re.findall(r"`((?:stb_gym|agents|tests|docs|benchmarks|training)/[\w/.]+)`", text)
    assert all(target.startswith(("http://", "https://")) or (page.parent / target).exists() for target in targets)
    assert all((ROOT / path).exists() for path in named)


def test_reasons_why_planted_mistakes_survive_are_about_mistakes_that_do():
    lines = (ROOT / "tests/mutants/results.tsv").read_text().splitlines()
    survivors = {name for name, result in (line.split("\t") for line in lines) if result.startswith("survived")}
    assert tomllib.loads((ROOT / "tests/mutants/explained.toml").read_text()).keys() <= survivors
