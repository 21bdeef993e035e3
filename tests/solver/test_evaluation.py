"""Exact evaluation: the reference, and the two ways to compute a regret."""

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from stb_gym import ShutTheBox, Threes, evaluate, solve, strategy
from stb_gym.solver import UniformRandom, compile_game
from tests import cases, reference
from tests.solver import as_lines
from tests.twins import GOALS, STANDARD, games, in_their_words, our_score, their_utility, twin

NINE, SIX = ShutTheBox(), ShutTheBox(tiles=6)
SEEDS = st.integers(0, 2**32)


def random_policy(game, seed, illegal=False):
    """Return random probabilities [S, A], some of them 0, of legal or of all actions."""
    tables = compile_game(game)
    weights = np.random.default_rng(seed).exponential(size=(tables.num_states, tables.num_actions))
    weights *= illegal | tables.legal
    weights[weights < 0.3 * weights.max(axis=1, keepdims=True)] = 0
    return weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)


@settings(max_examples=25)
@given(games(), SEEDS, st.sampled_from(GOALS), st.booleans())
def test_a_policy_has_the_value_and_scores_of_the_reference(game, seed, goal, illegal):
    assume(not illegal or isinstance(goal, str))  # the reference ends such turns with the most points
    policy = random_policy(game, seed, illegal)
    found, other = evaluate(game, policy, goal, "end" if illegal else "raise"), twin(game)
    plays = in_their_words(found.tables, policy)
    scores = {our_score(game, s): float(p) for s, p in reference.score_distribution(other, plays).items() if p}
    assert found.score_distribution == pytest.approx(scores)
    assert list(found.score_distribution) == sorted(scores, reverse=game.more_is_better)
    value = float(reference.policy_value(other, plays, their_utility(game, goal)))
    assert found.optimum.objective.sign * found.value == pytest.approx(value, rel=1e-12, abs=1e-9)


@pytest.mark.slow
@example(SIX, 0, "score", True)
@given(games(), SEEDS, st.sampled_from(GOALS), st.booleans())
def test_regret_is_the_difference_of_values_and_the_sum_of_costs(game, seed, goal, illegal):
    policy = random_policy(game, seed, illegal)
    for each in (policy, policy.argmax(axis=1)):
        found = evaluate(game, each, goal, "end")
        difference = found.optimum.objective.sign * (found.optimum.value - found.value)
        costs = [mistake.cost for mistake in found.mistakes()]
        sums = [found.regret, sum(costs), sum(found.decisions()["cost"]), sum(found.departures()["cost"])]
        rounding = 1e-12 * (1 + abs(found.optimum.afterstate_utilities).max())
        assert sums == pytest.approx([difference] * 4, rel=1e-12, abs=rounding)
        assert found.regret >= 0
        assert costs == sorted(costs, reverse=True)
        assert found.mistakes(2) == found.mistakes()[:2]


@given(games().filter(lambda game: not game.more_is_better), st.data())
def test_strategies_have_the_scores_of_the_reference(game, data):
    other = twin(game)
    policies = cases.POLICIES[type(other)]
    name = data.draw(st.sampled_from(sorted(policies)))
    chances = reference.score_distribution(other, policies[name](other))
    scores = {score: float(chance) for score, chance in chances.items() if chance}
    # The reference calls perfect play of Threes by the name that an account gives it.
    found = evaluate(game, strategy(game, {"record-setter": "optimal-score"}.get(name, name)))
    assert found.score_distribution == pytest.approx(scores, abs=1e-12)
    assert found.shut_probability == pytest.approx(sum(p for s, p in scores.items() if s <= 0), abs=1e-12)


@pytest.mark.parametrize("game", [*STANDARD, ShutTheBox(one_die="low-sum"), ShutTheBox(tiles=1, dice=1)], ids=str)
def test_perfect_play_scores_1_and_random_play_0(solved, game):
    best, worst = solved(game), solve(game, worst=True)
    tables = best.tables
    highest = tables.policy(tables.reduce(np.maximum, np.where(best.optimal, tables.pair_action, -1)))
    for policy in (best.policy, highest):
        found = best.evaluate(policy)
        assert (found.regret, found.normalised_score, found.mistakes(), found.costliest_mistake) == (0, 1, [], "")
        assert (found.agreement, found.agreement_by_visits) == (1, 1)
    random = best.evaluate(UniformRandom()).normalised_score
    assert random == pytest.approx(int(game.dice == 1), abs=1e-12)  # one die leaves no choice
    assert worst.evaluate(best.policy).regret == pytest.approx(abs(worst.value - best.value))


@pytest.mark.parametrize("share", [0.5, 1])
def test_an_illegal_action_ends_the_turn_with_the_worst_score(solved, share):
    best, tables = solved(SIX), solved(SIX).tables
    state, mass = tables.find_state(*SIX.start(), (7,)), share / 6
    policy = np.eye(tables.num_actions)[best.policy]
    policy[state, [best.policy[state], tables.legal[state].argmin()]] = 1 - share, share
    found = best.evaluate(policy, "end")
    [mistake] = found.mistakes()
    assert (mistake.state, mistake.plays) == (state, None)
    assert [found.illegal_mass, found.regret] == pytest.approx([mass, mass * (21 - best.state_values[state])])
    at = tables.decisions
    departures = 1 - found.agreement, 1 - found.agreement_by_visits
    assert departures == pytest.approx((share / len(at), mass / found.visits[at].sum()))


def test_evaluations_are_shown(solved, snapshot):
    best = solved(ShutTheBox(tiles=3, faces=3, one_die="any-time"))
    found = best.evaluate(
        np.full((best.tables.num_states, best.tables.num_actions), 1 / best.tables.num_actions), "end"
    )
    of_strategy = solved(NINE, "shut").evaluate(strategy(NINE, "biggest-first"))
    shown = [repr(found), as_lines(found.decisions()), of_strategy.costliest_mistake]
    assert "\n\n".join(shown) == snapshot


def test_a_score_better_than_the_perfect_one_is_a_success():
    best = solve(Threes(dice=2, moon=True), "shut")
    evaluation = best.evaluate(best.policy)
    assert evaluation.score_distribution[-1] > 0
    assert evaluation.shut_probability == pytest.approx(best.value)
