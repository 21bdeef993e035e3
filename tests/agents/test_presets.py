"""Presets: every table of the file makes a training, the task is found by its rules, and mistakes are named."""

import re

import pytest

from agents.config import ALGORITHMS, Task
from agents.presets import FILE, STANDARD, read_presets
from tests import SMALL_PRESETS

BOX = "stb_gym/ShutTheBox-v0"
SMALL = SMALL_PRESETS


@pytest.mark.parametrize("file", [FILE, SMALL])
def test_every_preset_makes_a_training(file):
    presets = read_presets(file)
    assert list(presets.entries) == list(ALGORITHMS)
    made = 0
    for algorithm, entries in presets.entries.items():
        for name, variant in entries:
            task = presets.tasks[name] if name else Task(BOX, {"tiles": 8})
            config = presets.config(algorithm, task, variant)
            assert config.steps == entries[name, variant]["steps"]
            made += 1
    assert made >= len(ALGORITHMS) * (len(presets.tasks) + 1)


def test_a_task_says_what_differs_and_a_variant_says_what_differs_from_that(tmp_path):
    file = tmp_path / "presets.toml"
    file.write_text(
        SMALL.read_text().replace(
            "[ppo.five-tiles.no-masks]",
            "[ppo.five-tiles]\nwidth = 40\nsteps = 2000\n\n[ppo.five-tiles.no-masks]\nsteps = 3000",
        )
    )
    presets = read_presets(file)
    five, other = Task(BOX, {"tiles": 5}), Task(BOX, {"tiles": 8})

    def found(*arguments, **options):
        config = presets.config("ppo", *arguments, **options)
        return config.steps, config.settings.width, config.settings.n_epochs, config.settings.masks

    assert found(other) == (30_000, 32, 4, True)
    assert found(five) == (2000, 40, 4, True)
    assert found(five, "no-masks") == (3000, 40, 4, False)
    assert found(five, steps=4000, changes={"n_epochs": 2}) == (4000, 40, 2, True)
    assert presets.config("ppo", five, seed=3).seed == 3


def test_a_variant_of_any_task_is_the_same_for_all(tmp_path):
    file = tmp_path / "presets.toml"
    tables = "[ppo.five-tiles]\nwidth = 40\n\n[ppo.any-task.short]\nsteps = 2000\n\n[ppo.two-dice.short]\nwidth = 8\n"
    file.write_text(SMALL.read_text().replace("[ppo.five-tiles.no-masks]", f"{tables}\n[ppo.five-tiles.no-masks]"))
    presets = read_presets(file)

    def found(task, variant):
        config = presets.config("ppo", task, variant)
        return config.steps, config.settings.width

    five, other, dice = Task(BOX, {"tiles": 5}), Task(BOX, {"tiles": 8}), presets.tasks["two-dice"]
    assert found(five, "short") == found(other, "short") == (2000, 32)
    assert (found(five, "standard"), found(dice, "short")) == ((30_000, 40), (2000, 8))
    with pytest.raises(
        ValueError, match="variant of ppo on five-tiles 'long': allowed are standard, no-masks, round, short"
    ):
        presets.config("ppo", five, "long")


BUDGETS = """
[[ppo.budget]]
steps = 1000
num_envs = 4
learning_rate = 4e-3
entropy = 0.3

[[ppo.budget]]
steps = 100_000
num_envs = 64
learning_rate = 1e-3
entropy = 0.1

[[ppo.budget]]
steps = 1_000_000
num_envs = 129
learning_rate = 1e-3
entropy = 0

[ppo.five-tiles.short]
steps = 2000
entropy = 0.7

[ppo.five-tiles.no-masks]"""
FOLLOWING = ("num_envs = 64", "learning_rate = 4e-3", "entropy = 0.1")  # what [ppo] has of them


def with_budgets(file, old="", new=""):
    """The small presets, some of whose settings follow the budget; one thing in them may be another."""
    head, ppo, rest = re.split(r"(?=\[ppo\]|\[ppo\.five)", SMALL.read_text(), maxsplit=2)
    for line in FOLLOWING:
        ppo = ppo.replace(f"{line}\n", "", 1)
    text = head + ppo + rest.replace("[ppo.five-tiles.no-masks]", BUDGETS, 1)
    assert old in text
    file.write_text(text.replace(old, new, 1))
    return file


def test_settings_follow_the_budget(tmp_path):
    presets = read_presets(with_budgets(tmp_path / "presets.toml"))
    five = presets.tasks["five-tiles"]

    def found(steps, **options):
        settings = presets.config("ppo", five, steps=steps, **options).settings
        return settings.num_envs, settings.learning_rate, settings.entropy

    assert found(100) == found(1000) == (4, 0.004, 0.3)  # below the first anchor, and at it
    assert found(10_000) == (16, 0.002, pytest.approx(0.2))  # half-way in orders of magnitude
    assert found(100_000) == (64, 0.001, 0.1)
    assert found(10**6) == found(10**11) == (129, 0.001, 0.0)
    assert found(316_228) == (round((64 * 129) ** 0.5), 0.001, pytest.approx(0.05))
    assert found(None) == found(30_000)  # the steps of the preset are a budget, too
    assert found(None, variant="short") == (
        *found(2000)[:2],
        0.7,
    )  # what a variant says
    assert found(100_000, variant="short", changes={"num_envs": 3}) == (3, 0.001, 0.7)
    assert presets.config("ppo", five, steps=100_000).settings.n_epochs == 4


@pytest.mark.parametrize("algorithm", ["ppo", "dqn", "afterstate-network"])
def test_any_number_of_steps_makes_a_sensible_training(algorithm):
    presets = read_presets()
    for power in range(30, 91):
        steps = round(10 ** (power / 10))
        settings = presets.config(algorithm, presets.tasks["nine-tiles"], steps=steps).settings
        assert 9 * settings.first_update <= steps
        assert 10 * settings.num_envs * getattr(settings, "n_steps", 5) <= steps  # ten updates, or fifty


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("steps = 1000\nnum", "num", r"\[ppo.budget\]: steps of a budget must be an integer from 1 to .*, not None"),
        ("steps = 100_000", "steps = 1000", "steps of a budget must be an integer from 1001 to .*, not 1000"),
        ("num_envs = 64\n", "", "budgets have the same settings: num_envs differ"),
        ("num_envs = 64\n", "num_envs = true\n", "num_envs of a budget must be a number, 0 or more, not True"),
        ("entropy = 0.3", "entropy = inf", "entropy of a budget must be a number, 0 or more, not inf"),
        ("steps = 30_000\n", "steps = 30_000\nentropy = 0.1\n", r"\[ppo.budget\]: entropy stands in \[ppo\] too"),
        ("learning_rate = 4e-3", "learning_rate = 0", r"\[ppo.budget\] of 1,000 steps: learning_rate must be"),
        ("num_envs = 129", "num_envs = 1.5", r"\[ppo.budget\] of 1,000,000 steps: num_envs must be an integer"),
        ("entropy = 0.7", "entrpy = 0.7", r"\[ppo.five-tiles.short\]: unknown setting 'entrpy'"),
        ("[ppo.five-tiles.short]", "[[ppo.five-tiles.budget]]", r"\[ppo.five-tiles\]: unknown setting 'budget'"),
    ],
)
def test_mistakes_in_budgets_are_named(old, new, message, tmp_path):
    file = with_budgets(tmp_path / "presets.toml", old, new)
    with pytest.raises(ValueError, match=f"^{re.escape(str(file))}: .*{message}"):
        read_presets(file)


def test_steps_that_are_none_are_refused():
    presets = read_presets()
    for steps in (0, -1, 2.5, True):
        with pytest.raises(ValueError, match=r"^steps must be an integer from 1 "):
            presets.config("ppo", presets.tasks["nine-tiles"], steps=steps)


def test_a_task_is_known_by_its_rules_whatever_they_are_called():
    presets = read_presets()
    assert presets.name(Task(BOX)) == presets.name(Task(BOX, {"tiles": 9, "dice": 2})) == "nine-tiles"
    assert presets.name(Task(BOX, {"tiles": 12})) == "twelve-tiles"
    assert presets.name(Task(BOX, objective="shut")) == "nine-tiles-shut"
    assert presets.name(Task("stb_gym/Threes-v0")) == "threes"
    assert presets.name(Task(BOX, {"tiles": 8})) is None


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[ppo]", "[pqo]", "unknown table 'pqo': allowed are tasks, ppo"),
        ("[ppo.five-tiles.no-masks]", "[ppo.five.no-masks]", "unknown task 'five': allowed are three-tiles"),
        ("gae_lambda = 0.6", "gae_lamda = 0.6", r"\[ppo\]: unknown setting 'gae_lamda': allowed are steps, masks"),
        ("gae_lambda = 0.6", "", r"\[ppo\]: the setting 'gae_lambda' is missing"),
        ("steps = 30_000\n", "", r"\[ppo\]: the setting 'steps' is missing"),
        ("no-masks]\nmasks = false", "no-masks]\nmaks = false", r"\[ppo.five-tiles.no-masks\]: unknown setting 'maks'"),
        ("no-masks]\nmasks = false", "no-masks]\nwidth = 0", r"\[ppo.five-tiles.no-masks\]: width must be an integer"),
        ("no-masks]\nmasks = false", "no-masks]\nsteps = 0", r"\[ppo.five-tiles.no-masks\]: steps must be an integer"),
        ("rules = { tiles = 5 }", "rules = { tile = 5 }", "unknown rule 'tile'"),
        ("rules = { tiles = 5 }", "rule = { tiles = 5 }", "unknown entry 'rule'"),
        ('env = "stb_gym/Threes-v0"', "", "the entry 'env' is missing"),
        ("[tasks.five-tiles]", "[tasks.standard]\n[tasks.five-tiles]", "the entry 'env' is missing"),
        ("[ppo]", "[ppo", "Expected"),
        ("[tasks.three-tiles]", "[tasks.Three]", "letters, digits and hyphens only, unlike 'Three'"),
        ("[ppo.five-tiles.no-masks]", '[ppo.five-tiles."../x"]', r"letters, digits and hyphens only, unlike '\.\./x'"),
        ("no-masks]\nmasks = false", "no-masks]\nmasks = 1", "masks must be true or false, not 1"),
        ("[ppo]", "[ppo]\nbudget = 3", r"\[ppo.budget\]: a budget is a table with two pairs of brackets"),
        ("[ppo.five-tiles.no-masks]", "[ppo.any-task]", r"\[ppo.any-task\]: only variants stand here"),
        ("[q-learning]", "[ppo.two-dice.q]", r"\[q-learning\] is missing"),
    ],
)
def test_mistakes_in_a_file_are_named(old, new, message, tmp_path):
    file = tmp_path / "presets.toml"
    whole = SMALL.read_text()
    assert old in whole
    file.write_text(whole.replace(old, new, 1))
    with pytest.raises(ValueError, match=f"^{re.escape(str(file))}: .*{message}"):
        read_presets(file)


def test_what_has_no_preset_is_refused():
    presets = read_presets(SMALL)
    with pytest.raises(ValueError, match="variant of ppo on five-tiles 'quick': allowed are standard, no-masks"):
        presets.config("ppo", presets.tasks["five-tiles"], "quick")
    with pytest.raises(ValueError, match="variant of ppo on tasks without a name 'quick': allowed are standard"):
        presets.config("ppo", Task(BOX, {"tiles": 8}), "quick")
    with pytest.raises(ValueError, match="unknown algorithm 'a2c': allowed are ppo"):
        presets.config("a2c", Task(BOX))
    with pytest.raises(ValueError, match="unknown setting 'widht': allowed are masks"):
        presets.config("ppo", Task(BOX), changes={"widht": 3})
    assert STANDARD == "standard"


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"none\.toml"):
        read_presets(tmp_path / "none.toml")


@pytest.mark.parametrize("name", ["tasks", "ppo"])
@pytest.mark.parametrize("entry", ["3", "[]", '"ppo"'])
def test_a_table_that_is_none_is_named(name, entry, tmp_path):
    file = tmp_path / "presets.toml"
    kept = [f"[{part}" for part in SMALL.read_text().split("\n[")[1:] if not part.startswith(name)]
    file.write_text("\n".join([f"{name} = {entry}", *kept]))
    with pytest.raises(ValueError, match=rf"\[{name}\] is missing, or no table"):
        read_presets(file)
