"""Test comparisons of distributions, pocket cards, and sampled turns beside exact numbers."""

from itertools import product

import pytest

from stb_gym import Objective, ShutTheBox, Threes, compare, evaluate, simulate, strategy
from stb_gym.measure import mistakes_in_json, pocket_card
from stb_gym.solver import AfterstateScorePolicy, UniformRandom, compile_game
from tests import every
from tests.twins import MostThrees

NINE = ShutTheBox()


def test_a_comparison_agrees_with_one_by_hand():
    one, other = {0: 0.5, 2: 0.5}, {1: 0.25, 2: 0.25, 3: 0.5}
    assert compare(one, other) == (0.5, 0, [0.5, 0.0], [1, 2.25])  # at 2 they differ as much
    assert compare(one, one).distance == 0
    # The lowest of equal differences is named, whatever their rounding.
    assert 0.3 - 0.1 < (0.3 + 0.1) - (0.1 + 0.1)
    assert compare({0: 0.3, 1: 0.1, 5: 0.6}, {0: 0.1, 1: 0.1, 5: 0.8}).at == 0
    with pytest.raises(TypeError, match="Mapping"):
        compare(one, [0.5, 0.5])
    with pytest.raises(ValueError, match="sum"):
        compare(one, {0: 0.4})


# Mistakes


def test_each_exception_is_the_costliest_mistake_that_is_left(solved):
    best, policy = solved(NINE, "shut"), strategy(NINE, "biggest-first")
    card = pocket_card(best, policy, 4)
    for regret, mistake in zip(card.regrets, card.exceptions, strict=False):
        assert (regret, mistake) == (best.evaluate(policy).regret, best.evaluate(policy).mistakes(1)[0])
        assert policy[mistake.state] == mistake.plays
        policy[mistake.state] = mistake.best
    assert (card.policy == policy).all()


def test_mistakes_as_rows(snapshot):
    game = ShutTheBox(tiles=6)
    legal = compile_game(game).legal
    evaluations = evaluate(NINE, strategy(NINE, "biggest-first")), evaluate(game, legal.argmin(axis=1), illegal="end")
    for evaluation in evaluations:
        [row] = mistakes_in_json(evaluation, 1)
        assert row.pop("cost") == pytest.approx(row.pop("visits") * row.pop("loss"))
        assert row == snapshot


# Sampled turns


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "policy", "objective"),
    every(
        5,
        product(
            [ShutTheBox(tiles=7), Threes(dice=4), MostThrees(dice=3)],
            [
                "random",
                "optimal",
                UniformRandom(),
                AfterstateScorePolicy(lambda progress, dice: (progress ^ 5) % 7 - dice),
            ],
            ["score", "shut", Objective("far from five", lambda points: abs(points - 5), "coins", -1)],
        ),
    ),
    ids=lambda value: getattr(value, "name", type(value).__name__),
)
def test_the_mean_of_simulated_turns_is_near_the_exact_value(game, policy, objective, solved):
    if isinstance(policy, str):
        policy = strategy(game, "random") if policy == "random" else solved(game, objective).policy
    evaluation = evaluate(game, policy, objective)
    simulation = simulate(game, policy, 10_000, seed=2, objective=objective)
    goal = evaluation.optimum.objective
    values = goal.sign * goal.utilities(simulation.final_scores)
    assert simulation.exact == evaluation.value
    assert simulation.mean == pytest.approx(values.mean())
    assert simulation.standard_error == pytest.approx(values.std(ddof=1) / 10_000**0.5)
    assert abs(simulation.z) < 4
    assert {*simulation.final_scores.tolist()} <= evaluation.score_distribution.keys()


def test_the_seed_determines_the_turns():
    game = Threes()
    policy = strategy(game, "random")
    first, again, other = (simulate(game, policy, 5000, seed=seed).final_scores for seed in (5, 5, 6))
    assert (first == again).all()
    assert (first != other).any()
    with pytest.raises(ValueError, match="seed must be"):
        simulate(game, policy, 5000, seed=-1)


def test_turns_with_equal_scores_have_no_standard_error():
    game = ShutTheBox(tiles=1, dice=1, faces=2)
    simulation = simulate(game, strategy(game, "random"), 100, seed=0, objective="at-most:1")
    assert (simulation.mean, simulation.standard_error, simulation.z) == (1, 0, 0)
