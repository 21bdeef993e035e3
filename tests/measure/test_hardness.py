"""Compare shares of k-step look-ahead with the reference, and all other numbers with their definitions."""

from collections import Counter
from fractions import Fraction
from functools import cache
from math import log
from operator import mul
from statistics import mean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stb_gym import ShutTheBox, Threes, hardness
from stb_gym.measure.hardness import hardness_of_large
from stb_gym.solver import objective_of
from tests import reference
from tests.twins import games, their_utility, twin


def shares_of_the_reference(game, goal):
    other, utility = twin(game), their_utility(game, goal)
    best = reference.value(other, other.start(), utility)
    regret_of_random = best - reference.policy_value(other, reference.uniform(other), utility)
    steps = 0
    while True:
        steps += 1
        regret = best - reference.policy_value(other, reference.greedy(other, steps, utility), utility)
        yield float(regret / regret_of_random) if regret_of_random else 0.0
        if regret == 0:
            return


@given(games(), st.sampled_from(["score", "shut"]))
def test_shares_agree_with_the_reference(game, goal):
    found = hardness(game, goal)
    assert found.shares == pytest.approx([*shares_of_the_reference(game, goal)], abs=1e-9)
    assert found.look_ahead == len(found.shares)


SMALL = [ShutTheBox(tiles=5), ShutTheBox(tiles=4, faces=4, one_die="any-time"), Threes(dice=3, faces=4)]
RARE = ShutTheBox(tiles=6, faces=3, first_move=1)  # no turn meets the positions with the most moves


def met(game, policy):
    """Return the probability that a turn of the policy meets each position and roll with a legal move."""
    chances = Counter()

    def play(position, chance):
        if game.is_over(position):
            return
        for roll, of_roll in game.outcomes(position):
            if after := dict(game.moves(position, roll)):
                chances[position, roll] += chance * of_roll
                for move, share in policy(position, roll).items():
                    play(after[move], chance * of_roll * share)

    play(game.start(), Fraction(1))
    return chances


@cache
def variance_by_dice(game, position, utility):
    """Return the variance of random play's return after a position, as far as the dice cause it."""
    if game.is_over(position):
        return 0

    def value(position):
        return reference.value_of_last_moves_at_random(game, position, 0, utility)

    total = 0
    for roll, chance in game.outcomes(position):
        after = [following for _, following in game.moves(position, roll)]
        at_state = mean(map(value, after)) if after else Fraction(utility(game.final_score(position)))
        later = mean(variance_by_dice(game, following, utility) for following in after) if after else 0
        total += chance * ((at_state - value(position)) ** 2 + later)
    return total


@pytest.mark.parametrize("goal", ["score", "shut"])
@pytest.mark.parametrize("game", SMALL, ids=str)
def test_the_other_numbers_agree_with_the_reference(game, goal):
    other, utility, found = twin(game), their_utility(game, goal), hardness(game, goal)
    random, best = reference.uniform(other), reference.perfect(other, utility)
    at_random, at_best = met(other, random), met(other, best)
    assert found.decisions == len(at_random)
    assert found.coverage == pytest.approx(mean(1 - (1 - float(chance)) ** 100_000 for chance in at_random.values()))

    scores = reference.score_distribution(other, random).items()
    value = reference.policy_value(other, random, utility)
    variance = sum(chance * (utility(score) - value) ** 2 for score, chance in scores)
    assert found.dice_share == pytest.approx(float(variance_by_dice(other, other.start(), utility) / variance))

    regret = reference.value(other, other.start(), utility) - value
    assert found.random_regret == pytest.approx(float(regret))
    gaps, visits, reciprocals = [], [], 0
    for position, roll in at_random:
        values = reference.move_values(other, position, roll, utility).values()
        losses = [(max(values) - value) / regret for value in values if value < max(values)]
        if losses:
            gaps.append(min(losses))
            visits.append(at_best[position, roll])
            reciprocals += visits[-1] * sum(1 / loss for loss in losses)
    assert found.least_gap == pytest.approx(float(min(gaps)))
    assert found.mean_gap == pytest.approx(float(sum(map(mul, gaps, visits)) / sum(visits)))
    assert found.reciprocal_gaps == pytest.approx(float(reciprocals))


@pytest.mark.parametrize("goal", ["score", "shut"])
@pytest.mark.parametrize("game", [*SMALL, RARE], ids=str)
def test_the_effective_horizon_agrees_with_its_definition(game, goal):
    other, utility = twin(game), their_utility(game, goal)
    choices = [
        (dict(other.moves(*state)), reference.move_values(other, *state, utility))
        for state in met(other, reference.uniform(other))
    ]
    scores = [*map(utility, reference.score_distribution(other, reference.uniform(other)))]
    horizons = []
    for k in range(1, 8):
        gaps = []
        for after, exact in choices:
            values = {
                move: reference.value_of_last_moves_at_random(other, following, k - 1, utility)
                for move, following in after.items()
            }
            greedy = {move for move in values if values[move] == max(values.values())}
            if any(exact[move] < max(exact.values()) for move in greedy):
                break
            gaps += [max(values.values()) - value for move, value in values.items() if move not in greedy]
        else:
            episodes = ((max(scores) - min(scores)) / min(gaps)) ** 2
            horizons.append(k + log(episodes) / log(max(len(after) for after, _ in choices)))
    assert hardness(game, goal).effective_horizon == pytest.approx(min(horizons))


def test_a_game_whose_choices_do_not_matter_has_no_gaps():
    found = hardness(ShutTheBox(tiles=2))
    assert (found.shares, found.look_ahead, found.effective_horizon, found.mean_gap) == ((0.0,), 1, None, None)
    assert "mean_gap" not in found.summary()


def test_the_dice_cause_nothing_where_the_return_does_not_vary():
    assert hardness(Threes(dice=3), lambda points: np.full(points.shape, 0.1)).dice_share == 0


def test_a_box_too_large_for_tables_has_the_first_share():
    game = ShutTheBox(tiles=7)
    tables, boards = hardness(game), hardness_of_large(game, objective_of(game, "score"))
    assert boards.shares == pytest.approx(tables.shares[:1])
    assert boards.random_regret == pytest.approx(tables.random_regret)
    assert boards.effective_horizon is None
