"""Test how families of tasks are chosen, and what is computed from regrets on them."""

import json

import numpy as np
import pandas as pd
import pytest

from training.experiments import families
from training.results import TrainingTask
from training.suite.tasks import BOX, DICE


def pool():
    """Return random measures of tasks that do not exist; two of them are correlated."""
    draws = np.random.default_rng(1).normal(size=(200, len(families.VARIED)))
    draws[:, 1] += draws[:, 0]
    return pd.DataFrame(draws, columns=[*families.VARIED]).rename("task {}".format)


@pytest.fixture
def known(monkeypatch):
    """Let the study use families of random tasks; return them."""
    measures = pool().assign(**{"effective horizon": 1.0})
    drawn = [
        measures.sample(families.TASKS, random_state=seed).assign(family=family)
        for seed, family in enumerate(families.VARIED)
    ]
    table = pd.concat(drawn).rename_axis("task").reset_index()
    monkeypatch.setattr(families, "families", lambda: table)
    return table


def regrets(of_task):
    """Return results of a learner whose regret as a share of random play's is a function of the row of a task."""
    tasks = families.families().drop_duplicates("task")
    scores = [of_task(row) for _, row in tasks.iterrows()]
    return pd.DataFrame({"agent": "learner", "task": tasks["task"], "score": scores})


@pytest.mark.nightly
def test_one_measure_varies_and_the_others_vary_less_and_not_with_it():
    measures = pool()
    ranks = measures.rank(pct=True)
    for varied, tasks in families.chosen(measures).items():
        assert len(set(tasks)) == families.TASKS
        spread = ranks.loc[tasks].std()
        assert spread[varied] > 0.25
        assert spread.drop(varied).max() < 0.2
        assert ranks.loc[tasks, varied].is_monotonic_increasing
        assert ranks.loc[tasks].corr("spearman")[varied].drop(varied).abs().max() < 0.2


def test_measures_are_those_of_the_game():
    task = TrainingTask(DICE, {"dice": 4, "faces": 5, "free_face": 3, "objective": "at-most:4"})
    found = families.measures(task)
    assert found is not None
    assert found["scarcity"] > 0
    assert found["horizon"] <= 4  # of four dice each move keeps one or more
    assert families.measures(TrainingTask(BOX, {"tiles": 12, "dice": 1})) is None  # another size


def test_a_learner_that_one_measure_hurts_shows_in_its_family(known):
    found = families.correlations(regrets(lambda row: np.exp(row["horizon"]))).set_index("family")
    assert found.loc["horizon", "correlation"] == pytest.approx(1)
    assert 0.8 < found.loc["horizon", "low"] < found.loc["horizon", "high"] <= 1
    assert found["correlation"].drop("horizon").abs().max() < 0.9


def test_prediction_from_the_other_half_is_right_where_there_is_a_rule(known):
    noise = iter(np.random.default_rng(2).normal(size=1000))
    ruled = families.predictions(regrets(lambda row: np.exp(row["dice"] - row["gap"]))).loc["learner"]
    random = families.predictions(regrets(lambda row: np.exp(next(noise)))).loc["learner"]
    assert ruled["median"] > 0.8
    assert abs(random["median"]) < 0.4
    assert ruled["low"] <= ruled["median"] <= ruled["high"]


@pytest.mark.nightly
def test_intervals_of_correlations_cover_that_of_the_population(known):
    """Draw ten tasks from a population with a correlation of 0.5: at least 93% of the intervals must contain it."""
    draws = np.random.default_rng(3)
    many = pd.Series(draws.normal(size=100_000))
    wanted = many.corr(many + np.sqrt(3) * draws.normal(size=100_000), "spearman")
    hits = 0
    for _ in range(400):
        inside = draws.normal(size=families.TASKS)
        score = pd.Series(inside + np.sqrt(3) * draws.normal(size=families.TASKS))
        low, high = families.interval(float(pd.Series(inside).corr(score, "spearman")), families.TASKS)
        hits += low <= wanted <= high
    assert hits >= 0.93 * 400


def test_tasks_are_named_so_that_they_can_be_made_again():
    found = families.families()
    assert set(found["family"]) == {*families.VARIED}
    assert (found.groupby("family").size() == families.TASKS).all()
    for family, tasks in found.groupby("family"):
        assert tasks[[*families.VARIED]].corr("spearman")[family].drop(family).abs().max() < 0.2
    row = found.iloc[0]
    again = families.measures(TrainingTask(*json.loads(row["task"])))
    assert again is not None
    assert again["gap"] == pytest.approx(row["gap"], rel=1e-5)
