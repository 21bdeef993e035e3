"""Test that presets and files become configurations, and that errors name the wrong entry in one line."""

import json
import tomllib
from itertools import product
from math import prod

import pytest

from agents import presets
from agents.presets import TASKS, Config, configure, make_settings, read_preset, task_name
from agents.registry import LEARNERS
from tests import every
from training import tune
from training.tune import SPACES

ENV = "stb_gym/ShutTheBox-v0"
TABLES = """
[variants]
1m = 1000
[q-learning]
steps = 5000
num_envs = 8
exploration = 0.1
[q-learning.quick]
steps = 500
exploration = 0.2
[q-learning.threes]
exploration = 0.3
[q-learning.threes.quick]
num_envs = 2
[monte-carlo.odd]
"""


@pytest.fixture
def tables(tmp_path, monkeypatch):
    path = tmp_path / "presets.toml"
    path.write_text(TABLES)
    monkeypatch.setattr(presets, "FILE", path)
    return path


def test_later_tables_override_earlier_ones(tables):
    assert read_preset("q-learning", None) == {"steps": 5000, "num_envs": 8, "exploration": 0.1}
    assert read_preset("q-learning", "nine-tiles", "quick") == {"steps": 500, "num_envs": 8, "exploration": 0.2}
    assert read_preset("q-learning", "threes") == {"steps": 5000, "num_envs": 8, "exploration": 0.3}
    assert read_preset("q-learning", "threes", "quick") == {"steps": 500, "num_envs": 2, "exploration": 0.2}
    assert read_preset("q-learning", "threes", "1m") == {"steps": 1000, "num_envs": 8, "exploration": 0.3}
    assert read_preset("monte-carlo", None, "1m") == {"steps": 1000}


def test_a_configuration_follows_the_preset_of_its_task(tables):
    config = configure("q-learning", "stb_gym/Threes-v0", {}, "quick", seed=3)
    assert (config.steps, config.settings.num_envs, config.settings.exploration) == (500, 2, 0.2)
    assert (config.settings.horizon, config.seed, config.variant) == (10.0, 3, "quick")
    changed = configure("q-learning", "stb_gym/Threes-v0", {}, "quick", steps=7, settings={"horizon": 2})
    assert (changed.steps, changed.settings.horizon, changed.settings.num_envs) == (7, 2, 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("q-lerning", ENV, {}),
            r"unknown algorithm 'q-lerning': allowed are MODULE:NAME, ppo, .*; did you mean q-learning\?",
        ),
        (
            ("q-learning", "os:path", {}),
            r"unknown environment \(one of your own needs --import\) 'os:path': allowed are stb_gym/S",
        ),
        (("q-learning", ENV, {"tiles": 99}), "tiles must be an integer from 1 to 28, not 99"),
        (("q-learning", ENV, {"render_mode": "x"}), "unknown rule 'render_mode': allowed are tiles"),
        (("q-learning", ENV, {"objective": "x"}), "unknown objective 'x': allowed are score, shut"),
        (
            ("q-learning", ENV, {}, "slow"),
            "unknown variant of q-learning on nine-tiles 'slow': allowed are standard, 1",
        ),
        (("q-learning", ENV, {"tiles": 3}, "slow"), "unknown variant of q-learning on other tasks 'slow'"),
        (("monte-carlo", ENV, {}), "steps should be a valid integer, not None"),
    ],
)
def test_errors_name_the_wrong_argument(tables, arguments, message):
    with pytest.raises(ValueError, match=message) as raised:
        configure(*arguments)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"num_envs": 0}, "num_envs should be greater than 0, not 0"),
        ({"exploration": "0.1"}, "exploration should be a valid number, not '0.1'"),
        ({"exploration": float("nan")}, "exploration should be"),
        ({"exploratoin": 0.1}, r"unknown setting 'exploratoin': .*; did you mean exploration\?"),
        ([], "settings should be an object"),
    ],
)
def test_settings_are_checked_strictly(entries, message):
    with pytest.raises(ValueError, match=message) as raised:
        make_settings("q-learning", entries)
    assert "\n" not in str(raised.value)


def test_a_configuration_survives_json():
    config = configure("ppo", ENV, {"tiles": 4, "objective": "shut"}, steps=9, seed=2**32 - 1, settings={"width": 8})
    assert Config.from_json(json.loads(json.dumps(config.to_json()))) == config
    assert (config.game().tiles, config.objective) == (4, "shut")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"steps": "3"}, "steps should be a valid integer, not '3'"),
        ({"steps": 0}, "steps should be greater than or equal to 1, not 0"),
        ({"seed": 2**32}, "seed should be less than"),
        ({"arguments": []}, "arguments should be a valid dictionary"),
        ({"algorithm": ["ppo"]}, r"unknown algorithm \['ppo'\]"),
        ({"env": "os:path"}, r"unknown environment \(one of your own needs --import\) 'os:path'"),
        ({"more": 1}, "unknown entry 'more'"),
        ({"opponents": "naive"}, "a round needs both opponents and players"),
        (
            {"algorithm": "q-learning", "settings": {}, "opponents": "naive", "players": 2},
            "unknown algorithm for rounds 'q-learning': allowed are ppo, dqn",
        ),
        ({"opponents": "naive", "players": 1}, "players should be greater than or equal to 2"),
        (
            {"opponents": "naive", "players": 2, "arguments": {"objective": "shut"}},
            "unknown objective in rounds 'shut'",
        ),
    ],
)
def test_entries_are_checked_strictly(change, message):
    entries = configure("ppo", ENV, {}, steps=9).to_json()
    with pytest.raises(ValueError, match=message) as raised:
        Config.from_json(entries | change)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("algorithm", [name for name, learner in LEARNERS.items() if learner.plays_rounds])
def test_learners_of_rounds_have_a_variant_for_them(algorithm):
    config = configure(algorithm, *TASKS["nine-tiles"], "round", opponents="naive", players=2)
    assert config.variant == "round"
    assert config.steps > 1_000_000


def test_a_task_has_one_name_however_it_is_written():
    assert all(task_name(*task) == name for name, task in TASKS.items())
    assert task_name("stb_gym/ShutTheBoxShut-v0", {}) == "nine-tiles-shut"
    assert task_name("stb_gym/ShutTheBoxShut-v0", {"objective": "score"}) == "nine-tiles"
    assert task_name("stb_gym/ShutTheBox10-v0", {"tiles": 12}) == "twelve-tiles"
    assert task_name(ENV, {"tiles": 11}) is None


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[ppo]\nsteps = ", "Invalid value"),
        ("[q-lerning]", "unknown table 'q-lerning'"),
        ("ppo = 3", "ppo must be a table, not 3"),
        ("variants = 3", "variants must be a table, not 3"),
        ("[[ppo]]\nsteps = 3", "ppo must be a table, not \\[{'steps': 3}]"),
        ("[variants.quick]\nsteps = 3", "variants must not have the table 'quick'"),
        ("[ppo]\nnine-tiles = 3", "ppo has no setting 'nine-tiles'"),
        ("[ppo]\nquick = 3", "ppo has no setting 'quick'"),
        ("[ppo]\nlerning_rate = 3", "'lerning_rate'; did you mean learning_rate\\?"),
        ("[ppo.learning_rate]\nhigh = 3", "ppo must not have the table 'learning_rate'"),
        ("[ppo.threes]\nquick = 3", "ppo.threes has no setting 'quick'"),
        ("[ppo.quick.threes]\nwidth = 3", "ppo.quick must not have the table 'threes'"),
        ("[ppo.threes.quick.deep]\nwidth = 3", "ppo.threes.quick must not have the table 'deep'"),
    ],
)
def test_presets_of_another_form_are_refused_in_one_line(tables, text, fault):
    tables.write_text(text)
    presets._read_tables.cache_clear()
    with pytest.raises(ValueError, match=f"^cannot read {tables}: .*{fault}") as refused:
        read_preset("ppo", "threes", "quick" if "variants" in text else "standard")
    assert str(refused.value).isprintable()


BUDGETS = (1, 15, 100, 1000, 50_000, 3_000_000)


@pytest.mark.parametrize("algorithm", every(3, LEARNERS))
def test_a_budget_is_kept_on_every_task(algorithm):
    for task, budget in product(TASKS.values(), BUDGETS):
        config = configure(algorithm, *task, steps=budget)
        rollouts, each = config.rollouts
        made = rollouts * each
        assert (config.budget or config.steps) == budget
        if LEARNERS[algorithm].of_library and budget < 2048:  # their rollouts have a fixed length
            assert made == config.steps < budget + each
        elif budget == configure(algorithm, *task).steps:
            assert config.steps <= made < 1.016 * budget
        else:
            assert (0.97 if budget >= 1000 else 0.9) * budget < made == config.steps <= budget
            assert LEARNERS[algorithm].of_library or rollouts >= min(budget // 16, 24)


@pytest.mark.parametrize("algorithm", every(3, LEARNERS))
def test_the_budget_of_a_preset_makes_the_published_run(algorithm):
    for task, variant in product(TASKS.values(), ("standard", "quick", "200k", "1m", "10m")):
        preset, config = read_preset(algorithm, task_name(*task), variant), configure(algorithm, *task, variant)
        assert config.steps == preset.pop("steps")
        assert config.settings == make_settings(algorithm, preset)
        assert config.budget is None
        assert config.steps <= prod(config.rollouts) < 1.016 * config.steps
        assert configure(algorithm, *task, variant, steps=config.steps) == config
        assert variant != "quick" or config.steps < configure(algorithm, *task).steps


def test_settings_follow_the_budget(tables):
    def at(steps, variant="standard", **changes):
        config = configure("ppo", ENV, {}, variant, steps=steps, settings=changes)
        settings = config.settings
        sizes = settings.num_envs, settings.num_steps, settings.minibatches
        return settings.epochs, *sizes, settings.learning_rate, config.steps

    tables.write_text(
        "[variants]\nquick = 1000\nsmall = 1000\n[ppo]\nsteps = 10000\nnum_envs = 8\nnum_steps = 4\nminibatches = 4\n"
        "learning_rate = 0.25\nepochs = 3\n[ppo.quick]\nepochs = 1\n[ppo.small]\nepochs = 2\n"
    )
    presets._read_tables.cache_clear()
    assert at(9999) == (2, 8, 4, 4, 0.25, 9984)
    assert at(10_000)[0] == 3
    assert at(250) == (2, 2, 4, 2, 0.125, 248)  # a quarter of everything, and a half of what follows the square root
    assert at(250, "quick") == (1, 2, 4, 2, 0.125, 248)
    assert at(250, num_envs=64, learning_rate=1.0) == (2, 64, 3, 2, 1.0, 192)
    assert at(250, num_envs=64, num_steps=4) == (2, 64, 4, 2, 0.125, 256)
    assert at(3) == (2, 1, 3, 1, 0.25 * 0.003**0.5, 3)
    assert at(1000, "small", num_envs=200) == (2, 200, 4, 4, 0.25, 800)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("ppo = ", "Invalid value"),
        ("ppo = 3", "ppo must be a table, not 3"),
        ("[ppo]\nwith = [8, 64]", "unknown setting 'with'"),
        ("[ppo]\nwidth = 3", "ppo.width must be two numbers above 0"),
        ("[ppo]\nwidth = [8]", "ppo.width must be two numbers above 0"),
        ("[ppo]\nwidth = [64, 8]", "lowest first, not \\[64, 8]"),
        ("[ppo]\nwidth = [0, 8]", "lowest first, not \\[0, 8]"),
    ],
)
def test_search_ranges_of_another_form_are_refused_in_one_line(tmp_path, monkeypatch, text, fault):
    (tmp_path / "search.toml").write_text(text)
    monkeypatch.setattr(tune, "SPACES", tmp_path / "search.toml")
    with pytest.raises(ValueError, match=f"^cannot read {tmp_path}/search.toml: .*{fault}"):
        tune.read_ranges("ppo")


@pytest.mark.parametrize("algorithm", tomllib.loads(SPACES.read_text()))
def test_search_ranges_are_allowed_settings(algorithm):
    space = tomllib.loads(SPACES.read_text())[algorithm]
    assert space.keys() <= set(LEARNERS[algorithm].setting_names())
    for ends in zip(*space.values(), strict=True):
        make_settings(algorithm, dict(zip(space, ends, strict=True)))
    assert all(low < high for low, high in space.values())
