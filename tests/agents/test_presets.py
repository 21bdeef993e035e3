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

    assert found(other) == (30_000, 32, 8, True)
    assert found(five) == (2000, 40, 8, True)
    assert found(five, "no-masks") == (3000, 40, 8, False)
    assert found(five, steps=4000, changes={"n_epochs": 4}) == (4000, 40, 4, True)
    assert presets.config("ppo", five, seed=3).seed == 3


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
