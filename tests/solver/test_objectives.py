"""Objectives: names, functions and objects; and the task of an environment."""

import pickle
from types import SimpleNamespace

import numpy as np
import pytest

from stb_gym import Objective, ShutTheBox, Threes, certify, evaluate, solve
from stb_gym.solver import compile_game, is_named, objective_of, task_of
from tests.twins import MostThrees, around_four, is_even, squares

NINE, SIX, FOUR = ShutTheBox(), ShutTheBox(tiles=6), ShutTheBox(tiles=4)
MOST = MostThrees(dice=2)


@pytest.mark.parametrize(
    ("game", "goal", "utilities", "unit", "sign", "target"),
    [
        (NINE, "score", [0, -3, -5, -45], "points", -1, None),
        (NINE, "shut", [1, 0, 0, 0], "probability", 1, 0),
        (NINE, "at-most:3", [1, 1, 0, 0], "probability", 1, 3),
        (MOST, "score", [0, 3, 5, 45], "points", 1, None),
        (MOST, "shut", [0, 0, 0, 1], "probability", 1, 12),
        (MOST, "at-least:5", [0, 0, 1, 1], "probability", 1, 5),
    ],
)
def test_objectives_by_name(game, goal, utilities, unit, sign, target):
    objective = objective_of(game, goal)
    assert objective.utilities(np.array([0, 3, 5, 45])).tolist() == utilities
    assert (objective.name, objective.unit, objective.sign, objective.target) == (goal, unit, sign, target)
    assert is_named(game, objective)


def test_one_objective_has_one_name():
    assert objective_of(NINE, "at-most:003") == objective_of(NINE, "at-most:3") != objective_of(NINE, "at-most:8")
    assert objective_of(NINE, "score") != objective_of(MOST, "score")


@pytest.mark.parametrize("goal", ["points", "at-most", "at-most:", "at-most:1.5", "at-least:5", "", 3, None])
def test_unknown_objectives_are_refused(goal):
    with pytest.raises(ValueError, match="objective"):
        objective_of(NINE, goal)
    with pytest.raises(ValueError, match="objective"):
        objective_of(MOST, "at-most:5")


def test_objects_are_taken_as_they_are():
    own = Objective("cost", squares, unit="coins", sign=-1)
    assert objective_of(NINE, own) is own
    assert not is_named(NINE, own)
    assert not is_named(NINE, Objective("score", squares))
    assert solve(NINE, own).value == -solve(NINE, squares).value > 0


@pytest.mark.parametrize(
    ("goal", "name"), [(squares, "squares"), (lambda points: points, "<lambda>"), (np.negative, "negative")]
)
def test_functions_are_called_by_their_names(goal, name):
    objective = objective_of(NINE, goal)
    assert (objective.name, objective.unit, objective.sign) == (name, "utility", 1)
    assert not is_named(NINE, objective)


@pytest.mark.parametrize(
    "utility",
    [
        lambda points: np.where(points == 0, np.nan, 1.0),
        lambda points: np.where(points == 45, -np.inf, 1.0),
        lambda points: 1.0,
        lambda points: None,
        lambda points: points[:-1],
        lambda points: np.stack([points, points]),
        lambda points: points * 1j,
        lambda points: np.full(points.shape, "1"),
    ],
)
def test_a_utility_must_be_a_finite_number_for_each_score(utility):
    for call in (
        lambda: solve(NINE, utility),
        lambda: solve(NINE, utility, exact=True),
        lambda: certify(NINE, utility),
    ):
        with pytest.raises(ValueError, match="finite number"):
            call()


def test_a_utility_cannot_change_the_scores():
    def negated(points):
        points *= -1
        return points

    with pytest.raises(ValueError, match="read-only"):
        solve(FOUR, negated)


@pytest.mark.parametrize("kind", [bool, np.uint64, np.uint8, float, object])
def test_the_opposite_of_any_kind_of_numbers(kind):
    goal = Objective("own", lambda points: (points > 3).astype(kind), sign=-1)
    assert goal.opposite.utilities(np.array([1, 7])).tolist() == [0, -1]
    assert goal.opposite.sign == 1
    assert solve(FOUR, goal, worst=True).value == solve(FOUR, lambda points: -(points > 3).astype(float)).value


@pytest.mark.parametrize("goal", ["score", "shut", "at-most:7", squares, Objective("mine", is_even, "coins", -1)])
def test_objectives_are_pickled_and_compared(goal):
    for objective in (objective_of(NINE, goal), objective_of(NINE, goal).opposite):
        again = pickle.loads(pickle.dumps(objective))
        assert (again, hash(again)) == (objective, hash(objective))
        assert (again.utilities(np.arange(46)) == objective.utilities(np.arange(46))).all()


@pytest.mark.parametrize("goal", [lambda points: points, around_four, "score"])
@pytest.mark.parametrize("worst", [False, True])
def test_an_illegal_action_has_the_least_utility_also_under_the_opposite(goal, worst):
    optimum = solve(SIX, goal, worst=worst)
    found = optimum.evaluate(np.zeros(compile_game(SIX).nodes, int), illegal="end")
    utilities = objective_of(SIX, goal).utilities(np.arange(22))
    of_legal_ends = sum(chance * utilities[score] for score, chance in found.score_distribution.items())
    of_legal_ends -= found.illegal_mass * utilities[21]
    assert 0.9 < found.illegal_mass < 1
    value = objective_of(SIX, goal).sign * (of_legal_ends + found.illegal_mass * utilities.min())
    assert found.value == pytest.approx(value)


# Tasks; environments themselves are tested with `stb_gym.envs`


def env(game=SIX, objective="shut", illegal="end"):
    return SimpleNamespace(game=game, objective=objective_of(game, objective), illegal=illegal)


def wrapped(inner):
    return SimpleNamespace(unwrapped=inner)


def many(*envs, in_processes=False):
    """Return several environments as Gymnasium and stable-baselines3 run them."""

    def get_attr(name):
        if name == "objective_name":
            return [each.objective.name if is_named(each.game, each.objective) else None for each in envs]
        return [getattr(each, name) for each in envs]

    return SimpleNamespace(get_attr=get_attr, **({} if in_processes else {"envs": envs}))


@pytest.mark.parametrize(
    "make",
    [env, lambda: wrapped(env()), lambda: wrapped(many(env(), env())), lambda: many(env(), in_processes=True)],
    ids=["env", "wrapped", "many", "in processes"],
)
def test_an_environment_sets_a_task(make):
    assert task_of(make()) == (SIX, objective_of(SIX, "shut"), "end")
    assert task_of(make(), "score", "raise") == (SIX, objective_of(SIX, "score"), "raise")
    assert solve(make()).value == solve(SIX, "shut").value
    illegal = np.zeros(compile_game(SIX).nodes, int)
    assert evaluate(make(), illegal).summary() == evaluate(SIX, illegal, "shut", illegal="end").summary()


def test_the_task_of_a_game():
    assert task_of(Threes()) == (Threes(), objective_of(Threes(), "score"), "raise")
    with pytest.raises(ValueError, match="illegal"):
        task_of(Threes(), illegal="stop")


@pytest.mark.parametrize("other", [{"game": NINE}, {"objective": "score"}, {"illegal": "raise"}], ids=str)
@pytest.mark.parametrize("in_processes", [False, True])
def test_environments_of_different_tasks_are_refused(other, in_processes):
    with pytest.raises(ValueError, match="different tasks"):
        task_of(many(env(), env(), env(**other), in_processes=in_processes))


def test_a_function_in_another_process_is_refused():
    with pytest.raises(ValueError, match="function"):
        task_of(many(env(objective=squares), in_processes=True))


NOT_OURS = SimpleNamespace(game="chess", objective="mate", illegal="end")


@pytest.mark.parametrize("what", ["ShutTheBox-v0", ShutTheBox, None, compile_game(SIX), many(), NOT_OURS])
def test_other_things_have_no_task(what):
    with pytest.raises(TypeError, match="neither a game nor an environment"):
        task_of(what)
