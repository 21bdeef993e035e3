"""What plants mistakes in the library (`python -m tests.mutants`), and what it has found."""

import ast
import re
import shutil
import subprocess
import tomllib

import pytest

from tests import ROOT
from tests.mutants import __main__ as command
from tests.mutants import knowledge
from tests.mutants import workshop as workshops
from tests.mutants.knowledge import choose, watch
from tests.mutants.mistakes import KINDS
from tests.mutants.planting import mutants_of, sample

MISTAKES = {
    "operators": [("a + b", {"a - b"}), ("a // b * c", {"a * b * c", "a // b + c"}), ("a |= b", {"a &= b"})],
    "bounds": [("a < b <= c", {"a <= b <= c", "a < b < c"}), ("a is b", {"a is not b"}), ("a in b", {"a not in b"})],
    "signs": [("-a", {"a"}), ("b[-1]", {"b[1]"})],
    "axes": [
        ("a.sum(axis=0)", {"a.sum(axis=1)"}),
        ("a.sum(axis=-1)", {"a.sum(axis=0)"}),
        ("a.sum(dim=2)", {"a.sum(dim=0)"}),
        ("a[:, None]", {"a[None, :]"}),
        ("a.T", {"a"}),
    ],
    "masks": [
        ("~a", {"a"}),
        ("np.where(a, b, c)", {"np.where(a, c, b)"}),
        ("a.any()", {"a.all()"}),
        ("max(a)", {"min(a)"}),
        ("np.minimum.reduceat(a, b)", {"np.maximum.reduceat(a, b)"}),
        ("cases.all", set()),
    ],
    "seeds": [
        ("f(1, seed)", {"f(1, 0)", "f(1, None)"}),
        ("f(seed=a)", {"f(seed=0)", "f(seed=None)"}),
        ("default_rng([a, 1])", {"default_rng(0)", "default_rng(None)"}),
        ("f(1)", set()),
    ],
    "constants": [
        ("zip(a, b, strict=True)", set()),
        ("1", {"2"}),
        ("True", {"False"}),
        ("0.5", {"1.5"}),
        ("'text'", set()),
        ("None", set()),
    ],
    "arguments": [("f(a, b, c)", {"f(b, a, c)", "f(a, c, b)"}), ("f(a, *b)", set()), ("f(a, a)", set())],
    "conditions": [
        ("b if a else c", {"b if True else c", "b if False else c"}),
        ("a and b or c", {"b or c", "a or c", "a and b", "c"}),
        ("not a", {"a"}),
        ("[a for a in b if c]", {"[a for a in b if True]"}),
        ("while a:\n    b", {"while False:\n    b"}),
        ("if a:\n    b", {"if True:\n    b", "if False:\n    b"}),
    ],
    "statements": [
        ("f()", {"pass"}),
        ("a.b = c", {"pass"}),
        ("a += 1", {"pass"}),
        ("raise a", {"pass"}),
        ("a = b", set()),
    ],
}


@pytest.mark.parametrize(
    ("kind", "source", "expected"), [(kind, *each) for kind, cases in MISTAKES.items() for each in cases]
)
def test_mistakes_of_every_kind(kind, source, expected):
    module = source.encode()
    found = [mutant.planted_in(module).decode() for mutant in mutants_of("a.py", module) if mutant.kind == kind]
    assert {ast.unparse(ast.parse(each)) for each in found} == expected
    assert len(found) == len(expected)
    assert KINDS.keys() == MISTAKES.keys()


MODULE = '''"""Says 1 + 1."""
LEAST: int | None = 1

class Some:
    @cache(1)
    def f(self, a: int | str, b=2) -> int | None:
        """Says 2 + 2."""
        say(f"{a + 1} ö", a -
            b)
        return 1, 1
'''.encode()


def test_mistakes_are_known_by_where_they_are_and_planted_there_alone():
    found = list(mutants_of("a.py", MODULE))
    assert [each.name for each in found] == [
        "a.py constants: 1 → 2",
        "a.py::Some::f constants: 2 → 3",
        """a.py::Some::f statements: say(f'{a + 1} ö', a - b) → pass""",
        """a.py::Some::f arguments: say(f'{a + 1} ö', a - b) → say(a - b, f'{a + 1} ö')""",
        "a.py::Some::f operators: a - b → a + b",
        "a.py::Some::f constants: 1 → 2",
        "a.py::Some::f constants: 1 → 2 (2)",
    ]
    assert [each.line for each in found] == [2, 6, 8, 8, 8, 10, 10]
    changed = [each.planted_in(MODULE) for each in found]
    assert changed[4] == MODULE.replace(b"a -\n            b", b"(a + b)")
    assert changed[6] == MODULE.replace(b"1, 1", b"1, (2)")
    assert len({ast.unparse(ast.parse(each)) for each in changed}) == len(found)


def test_a_sample_is_drawn_of_all_kinds_and_stays_when_other_modules_change():
    mutants = [each for n in range(20) for each in mutants_of(f"{n}.py", b"f(a, a + 1)\ng(b, c + 2)\nh(a < b)")]
    drawn = sample(mutants, 60, seed=1)
    assert drawn == sample(reversed(mutants), 60, seed=1)
    assert drawn != sample(mutants, 60, seed=2)
    assert [sum(each.kind == kind for each in drawn) for kind in ("bounds", "operators", "statements")] == [12] * 3
    assert set(sample(mutants, 30, seed=1)) < set(drawn)
    assert set(sample(mutants[40:], 60, seed=1)) >= {each for each in drawn if each in mutants[40:]}
    few = [each for each in mutants if each.kind != "bounds"] + [each for each in mutants if each.kind == "bounds"][:3]
    assert sum(each.kind == "bounds" for each in sample(few, 60, seed=1)) == 3
    assert len(sample(few, 60, seed=1)) == 60


def test_tests_that_run_through_a_function_are_tried_first_and_slow_ones_later():
    one = {
        "t/x.py::slow": (1, ["m.py::f"]),
        "t/x.py::near": (0.02, ["m.py::f", "n.py::g"]),
        "t/x.py::other": (0.01, []),
    }
    two = {"t/y.py::near": (0.01, ["m.py::f"]), "t/y.py::inside": (0.01, ["m.py::F::f"])}
    far = {"t/a.py::far": (0.01, ["n.py::f"])}
    own = {"m/z.py::own": (0.01, ["m/m.py::f"])}
    tests, cost = choose([one, far, two], "m.py::f", seconds=5)
    assert [each[2:] for each in tests] == [
        "y.py::near",
        "x.py::near",
        "x.py::slow",
        "y.py::inside",
        "x.py::other",
        "a.py::far",
    ]
    assert cost == pytest.approx(1.06)
    assert choose([one, far, two], "m.py::f", seconds=0.035)[0] == ["t/y.py::near", "t/x.py::near"]
    assert choose([one, far, two], "m.py", seconds=0.04)[0] == ["t/x.py::near", "t/y.py::inside", "t/y.py::near"]
    assert choose([one, far, own], "m/n.py", seconds=0.02)[0] == ["m/z.py::own", "t/a.py::far"]


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A checkout of a library of two functions, of which one is tested."""
    files = {
        "lib.py": "def f(a):\n    while a < 3:\n        a += 1\n    return a\n\n\ndef g(a):\n    return a + 1\n",
        "tests/__init__.py": "",
        "tests/test_lib.py": "import lib\n\n\ndef test_f():\n    assert lib.f(1) == 3\n",
        "pyproject.toml": "",
    }
    root = tmp_path / "checkout"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "tests" / "mutants", root / "tests" / "mutants", ignore=ignored)
    for name, text in files.items():
        (root / name).write_text(text)
    subprocess.run(["git", "init", "--quiet"], cwd=root, check=True)
    for module in (workshops, knowledge, command):
        monkeypatch.setattr(module, "ROOT", root)
    monkeypatch.setattr(workshops, "PREPARED", [])
    return root


@pytest.mark.slow
def test_a_mistake_is_planted_in_a_copy_and_caught_or_survives(checkout, monkeypatch):
    monkeypatch.setattr(command, "START", 4)
    before = (checkout / "lib.py").read_bytes()
    with workshops.workshop() as here:
        [seen] = watch(here, ["tests/test_lib.py"], checkout / "build")
        assert [places for _, places in seen.values()] == [["lib.py::f"]]
        found = {
            each.change: command.try_one(here, each, [seen], 5)
            for each in mutants_of("lib.py", before)
            if each.kind in ("bounds", "operators")
        }
        assert (here.tree / "lib.py").read_bytes() == (checkout / "lib.py").read_bytes() == before
    assert found == {
        "a < 3 → a <= 3": "tests/test_lib.py::test_f",
        "a += 1 → a -= 1": "out of time: tests/test_lib.py::test_f",
        "a + 1 → a - 1": "survived",
    }


def test_results_are_counted_by_kind():
    mutants = list(mutants_of("a.py", b"a < 1\nb < 2\nc < 3\n"))
    bounds = [each.name for each in mutants if each.kind == "bounds"]
    found = {bounds[0]: "a::test", bounds[1]: command.SURVIVED, bounds[2]: command.SURVIVED}
    rows = command.table(mutants, found, {bounds[2]}).to_text().splitlines()
    assert rows[2].split() == ["bounds", "3", "1", "1", "1"]
    assert rows[7].split() == ["constants", "0", "0", "0", "0"]
    assert rows[-1].split() == ["all", "3", "1", "1", "1"]


# What was found


def test_every_survivor_is_explained_and_the_page_tells_the_figures():
    found, explained = command.results(), tomllib.loads(command.REASONS.read_text())
    survivors = {name for name, result in found.items() if result == command.SURVIVED}
    assert survivors == explained.keys()
    page = " ".join((ROOT / "docs" / "method.md").read_text().split())
    [told] = re.findall(r"Of (\d+) mistakes (\d+) are caught, and (\d+) survive", page)
    assert [int(figure) for figure in told] == [len(found), len(found) - len(survivors), len(survivors)]
    assert len(survivors) <= 0.03 * len(found)
