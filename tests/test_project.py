"""What files about the project say of versions, commands and other files is so."""

import re
import subprocess
import tomllib

import pytest

from stb_gym import __version__
from tests import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
WORKFLOW = (ROOT / ".github/workflows/tests.yml").read_text()
PAGES = ("CONTRIBUTING.md", "CHANGELOG.md")


def pinned(path):
    """The versions of a file of constraints, by package."""
    return dict(re.findall(r"^([\w-]+)==(\S+)$", (ROOT / path).read_text(), re.MULTILINE))


def test_the_lowest_versions_are_those_that_the_package_asks_for():
    extras = PROJECT["project"]["optional-dependencies"]
    asked = [*PROJECT["project"]["dependencies"], *extras["render"]]
    lowest = dict(re.match(r"([\w-]+)>=([\d.]+)", each).groups() for each in asked)
    assert pinned("tests/lowest.txt") == lowest
    assert lowest.keys() <= pinned("constraints.txt").keys()


def test_one_version_is_said_everywhere():
    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert re.search(rf"^## {re.escape(__version__)}\b", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert f"rev: v{pinned('constraints.txt')['ruff']}\n" in (ROOT / ".pre-commit-config.yaml").read_text()


def test_the_workflow_runs_the_versions_that_the_package_is_for():
    named = set(re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["project"]["classifiers"])))
    assert set(re.findall(r'"(3\.\d+)"', WORKFLOW)) == named


@pytest.mark.parametrize(
    "words", re.findall(r"\bmake( [\w =]+)", WORKFLOW + (ROOT / "CONTRIBUTING.md").read_text().replace("`", "\n"))
)
def test_make_knows_what_it_is_asked_for(words):
    done = subprocess.run(["make", "--dry-run", *words.split()], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    text = (ROOT / page).read_text()
    targets = re.findall(r"\]\(([^)]+)\)", text)
    assert all(target.startswith("https://") or (ROOT / target).exists() for target in targets)
    for path in re.findall(r"`((?:stb_gym|agents|tests|docs|benchmarks|training)/[\w/.]+)`", text):
        assert (ROOT / path).exists(), path
