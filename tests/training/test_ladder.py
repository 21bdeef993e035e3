"""The ladder: the same settings on every rung, its table, and its picture."""

from dataclasses import replace
from shutil import copy

import pytest
from matplotlib.image import imread
from training.ledger import CurvePoint, Ledger, Row

from agents.presets import read_presets
from stb_gym import ShutTheBox
from tests import ROOT, SMALL_PRESETS
from training import ladder
from training.ladder import agent_on_ladder, agents_of, ladder_table, positions, rungs
from training.study import STUDIES, plan

ROW = Row(
    run="",
    algorithm="ppo",
    task="five-tiles",
    variant="ladder",
    seed=0,
    config="",
    steps=1000,
    seconds=1.0,
    regret=0.2,
    normalised_score=0.9,
    agreement=0.9,
    agreement_by_visits=0.9,
    value=4.2,
    optimum=4.0,
    shut_probability=0.1,
    illegal_mass=0.0,
    value_error=0.1,
    policy="",
)
POINT = CurvePoint(
    run="",
    steps=0,
    seconds=0.0,
    regret=0.3,
    exploring_regret=0.3,
    agreement=0.5,
    agreement_by_visits=0.5,
    value=5.0,
    shut_probability=0.1,
    illegal_mass=0.0,
    value_error=0.5,
)
PRESETS = read_presets(SMALL_PRESETS)
RUNS = [
    replace(ROW, run=f"{algorithm}-{task}-{seed}", algorithm=algorithm, task=task, seed=seed, normalised_score=score)
    for algorithm, task, scores in (
        ("ppo", "five-tiles", (0.5, 0.75, 1.0)),
        ("ppo", "three-tiles", (0.75, 0.875)),
        ("dqn", "five-tiles", (-0.5,)),
    )
    for seed, score in enumerate(scores)
]


def test_the_study_trains_the_same_settings_for_as_many_steps_on_every_rung():
    planned = plan("ladder", STUDIES, read_presets())
    assert len({run.config.steps for run in planned}) == 1
    same = [run for run in planned if run.variant != "ladder-own"]
    for algorithm in ("ppo", "dqn", "afterstate-network"):
        for variant in {run.variant for run in same if run.config.algorithm == algorithm}:
            runs = [run for run in same if (run.config.algorithm, run.variant) == (algorithm, variant)]
            assert len({run.config.settings for run in runs}) == 1
            actions = [len(run.config.task.game().actions) for run in runs if run.config.seed == 0]
            assert actions == [62, 68, 247, 746, 757]
    masks = {run.variant: run.config.settings.masks for run in same if run.config.algorithm == "ppo"}
    assert masks == {"ladder": True, "ladder-no-masks": False}
    own = [run for run in planned if run.variant == "ladder-own"]
    assert {run.config.settings for run in own}.isdisjoint(run.config.settings for run in same)


def test_rungs_are_in_the_order_of_their_size():
    three, five = rungs(RUNS, PRESETS)
    assert (three.task, three.positions, three.actions) == ("three-tiles", 2**3 * 3, 4)
    assert (five.task, five.positions, five.actions) == ("five-tiles", 2**5 * 11, len(ShutTheBox(tiles=5).actions))
    assert positions(ShutTheBox(tiles=9)) == 5632
    assert five.shares == {"masked PPO": [0.5, 0.25, 0.0], "masked DQN": [1.5]}
    assert agents_of([three, five]) == ["masked DQN", "masked PPO"]


@pytest.mark.parametrize(
    ("variant", "name"),
    [("ladder", "masked PPO"), ("ladder-no-masks", "PPO without masks"), ("ladder-own", "masked PPO, own settings")],
)
def test_an_agent_is_named_by_what_is_different_about_it(variant, name):
    assert agent_on_ladder(replace(RUNS[0], variant=variant)) == name


def test_the_table_has_regrets_as_shares_of_that_of_random_play():
    table = ladder_table(rungs(RUNS, PRESETS))
    assert {heading: column.values for heading, column in table.columns.items()} == {
        "": ["positions", "actions", "perfect play", "masked DQN", "masked PPO"],
        "three-tiles": ["24", "4", "4.000", None, "18.750%"],
        "five-tiles": ["352", f"{len(ShutTheBox(tiles=5).actions)}", "4.000", "150.000%", "25.000%"],
    }


def test_the_command_prints_the_table_and_draws_the_picture(tmp_path, capsys):
    entered = Ledger(tmp_path)
    entered.rows = {row.run: row for row in RUNS}
    entered.curves = {row.run: [replace(POINT, run=row.run)] for row in RUNS}
    entered.write()
    assert ladder.main([str(tmp_path), "--presets", str(SMALL_PRESETS)]) == 0
    assert "masked PPO | " in capsys.readouterr().out
    picture = imread(tmp_path / "ladder.png")[..., :3]
    assert picture.std() > 0.05
    plain = read_presets().tasks
    assert "five-tiles" not in plain
    assert ladder.main([str(tmp_path)]) == 2
    assert "there is no task 'five-tiles'" in capsys.readouterr().err
    assert ladder.main([str(tmp_path / "none")]) == 2
    assert "there are no runs" in capsys.readouterr().err


def test_other_games_are_refused():
    with pytest.raises(ValueError, match="threes has no boards"):
        rungs([replace(ROW, task="two-dice")], PRESETS)


def test_the_page_has_the_table_of_the_ladder(tmp_path, capsys):
    """If this fails, `python -m training.ladder docs/results/ladder` prints the table."""
    for name in ("runs.csv", "curves.csv"):
        copy(ROOT / "docs" / "results" / "ladder" / name, tmp_path)
    assert ladder.main([str(tmp_path)]) == 0
    assert capsys.readouterr().out in (ROOT / "docs" / "agents.md").read_text()
