"""Objectives: names, functions and objects; and the task of an environment."""

import pickle
from types import SimpleNamespace

import numpy as np
import pytest

from stb_gym import Objective, ShutTheBox, evaluate, simulate, solve, strategy
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
    assert objective_of(NINE, "at-most:003") == objective_of(NINE, "at-most:3")


@pytest.mark.parametrize("goal", ["points", "at-most", "at-most:", "at-most:1.5", "at-least:5", "", 3, None])
def test_unknown_objectives_are_refused(goal):
    with pytest.raises(ValueError, match="objective"):
        objective_of(NINE, goal)


def test_functions_and_objects_are_not_defined_by_their_name():
    cost = Objective("cost", squares, unit="coins", sign=-1)
    assert objective_of(NINE, cost) is cost
    assert solve(NINE, cost).value == -solve(NINE, squares).value > 0
    assert objective_of(NINE, squares).name == "squares"
    for goal in (squares, cost):
        assert not is_named(NINE, objective_of(NINE, goal))


@pytest.mark.parametrize("name", ["score", "shut", "at-most:05"])
def test_an_objective_of_your_own_cannot_have_the_name_of_another(name):
    def named_so(points):
        return squares(points)

    named_so.__name__ = name
    for goal in (Objective(name, squares), named_so):
        with pytest.raises(ValueError, match="is another objective of ShutTheBox"):
            solve(NINE, goal)


def test_an_objective_of_a_game_is_refused_where_its_name_means_another():
    with pytest.raises(ValueError, match="give yours another name"):
        solve(NINE, objective_of(MOST, "score"))
    assert objective_of(NINE, Objective("at-least:5", squares)).utility is squares  # it names nothing here


@pytest.mark.parametrize(
    "utility",
    [
        lambda points: np.where(points == 0, np.nan, 1.0),
        lambda points: np.where(points == 45, -np.inf, 1.0),
        lambda points: 1.0,
        lambda points: points[:-1],
        lambda points: points * 1j,
        lambda points: points.astype(str),
    ],
)
def test_a_utility_must_be_a_finite_number_for_each_score(utility):
    with pytest.raises(ValueError, match="finite number"):
        solve(NINE, utility)


def test_a_utility_cannot_change_the_scores():
    def negated(points):
        points *= -1
        return points

    with pytest.raises(ValueError, match="read-only"):
        solve(FOUR, negated)


def test_utilities_of_few_bits_do_not_overflow():
    least = Objective("least", lambda points: np.full(points.shape, -128, np.int8), sign=-1)
    assert solve(FOUR, least, worst=True).value == solve(FOUR, least).value == 128
    simulation = simulate(FOUR, strategy(FOUR, "random"), 2, seed=0, objective=least)
    assert simulation.mean == simulation.exact == 128


@pytest.mark.parametrize("kind", [bool, np.uint64, float, object])
def test_the_opposite_of_any_kind_of_numbers(kind):
    opposite = Objective("own", lambda points: (points > 3).astype(kind), sign=-1).opposite
    assert opposite.utilities(np.array([1, 7])).tolist() == [0, -1]
    assert (opposite.name, opposite.sign) == ("worst own", 1)


@pytest.mark.parametrize("goal", ["score", "shut", "at-most:7", Objective("mine", is_even, "coins", -1)])
def test_objectives_are_pickled_and_compared(goal):
    for objective in (objective_of(NINE, goal), objective_of(NINE, goal).opposite):
        again = pickle.loads(pickle.dumps(objective))
        assert (again, hash(again)) == (objective, hash(objective))


@pytest.mark.parametrize("goal", [around_four, "score"])
@pytest.mark.parametrize("worst", [False, True])
def test_an_illegal_action_has_the_least_utility_for_the_worst_play_too(goal, worst):
    found = solve(FOUR, goal, worst=worst).evaluate(np.zeros(compile_game(FOUR).num_states, int), illegal="end")
    objective = objective_of(FOUR, goal)
    utilities = objective.utilities(np.arange(11))
    of_scores = sum(chance * utilities[score] for score, chance in found.score_distribution.items())
    expected = of_scores + found.illegal_mass * (utilities.min() - utilities[10])
    assert found.value == pytest.approx(objective.sign * expected)


# Tasks; environments themselves are tested with `stb_gym.envs`


def env(game=SIX, objective="shut", illegal="end"):
    return SimpleNamespace(game=game, objective=objective_of(game, objective), illegal=illegal)


def many(*envs, in_processes=False):
    """Return several environments as Gymnasium and stable-baselines3 run them."""

    def get_attr(name):
        if name == "objective_name":
            return [each.objective.name if is_named(each.game, each.objective) else None for each in envs]
        return [getattr(each, name) for each in envs]

    return SimpleNamespace(get_attr=get_attr, **({} if in_processes else {"envs": envs}))


@pytest.mark.parametrize("what", [env(), SimpleNamespace(unwrapped=many(env(), env())), many(env(), in_processes=True)])
def test_an_environment_sets_a_task(what):
    assert task_of(what) == (SIX, objective_of(SIX, "shut"), "end")
    assert task_of(what, "score", "raise") == task_of(SIX) == (SIX, objective_of(SIX, "score"), "raise")
    illegal = np.zeros(compile_game(SIX).num_states, int)
    assert evaluate(what, illegal).summary() == evaluate(SIX, illegal, "shut", illegal="end").summary()
    with pytest.raises(ValueError, match="illegal"):
        task_of(what, illegal="stop")


@pytest.mark.parametrize(
    "other", [{"game": NINE}, {"objective": "score"}, {"illegal": "raise"}, {"objective": squares}]
)
@pytest.mark.parametrize("in_processes", [False, True])
def test_different_tasks_and_functions_in_other_processes_are_refused(other, in_processes):
    with pytest.raises(ValueError, match=r"task|function"):
        task_of(many(env(), env(**other), in_processes=in_processes))


@pytest.mark.parametrize(
    "what", ["ShutTheBox-v0", ShutTheBox, None, many(), SimpleNamespace(game="chess", objective=1, illegal="")]
)
def test_other_objects_are_refused(what):
    with pytest.raises(TypeError, match="neither a game nor an environment"):
        task_of(what)
