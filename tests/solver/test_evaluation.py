"""Exact evaluation: the reference, and the two ways to compute a regret."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stb_gym import ShutTheBox, Threes, evaluate, solve, strategy
from stb_gym.solver import compile_game, expected, expected_visits, objective_of, score_chances
from tests import golden, reference
from tests.solver import as_lines
from tests.twins import GOALS, STANDARD, games, in_their_words, our_score, ours, their_utility, twin

NINE, SIX = ShutTheBox(), ShutTheBox(tiles=6)
TABLES = compile_game(SIX)
SEEDS = st.integers(0, 2**32)


def random_policy(game, seed, illegal=False):
    """Return random probabilities [N, A], some of them 0, of legal or of all actions."""
    tables = compile_game(game)
    weights = np.random.default_rng(seed).exponential(size=(tables.nodes, tables.actions))
    weights *= illegal | tables.legal()
    weights[weights < 0.3 * weights.max(axis=1, keepdims=True)] = 0
    return weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)


def check_against_the_reference(game, policy, goal, illegal="raise"):
    found, other = evaluate(game, policy, goal, illegal), twin(game)
    plays = in_their_words(found.tables, policy)
    scores = {our_score(game, s): float(p) for s, p in reference.score_distribution(other, plays).items() if p}
    assert found.score_distribution == pytest.approx(scores)
    assert list(found.score_distribution) == sorted(scores, reverse=game.more_is_better)
    value = float(reference.policy_value(other, plays, their_utility(game, goal)))
    assert found.optimum.objective.sign * found.value == pytest.approx(value, abs=1e-9)


@given(games(), SEEDS, st.sampled_from(GOALS))
def test_a_policy_has_the_value_and_scores_of_the_reference(game, seed, goal):
    check_against_the_reference(game, random_policy(game, seed), goal)


@given(games(), SEEDS, st.sampled_from(["score", "shut"]))
def test_a_policy_with_illegal_actions_has_the_value_and_scores_of_the_reference(game, seed, goal):
    check_against_the_reference(game, random_policy(game, seed, illegal=True), goal, "end")


@given(st.one_of(games(), st.sampled_from(STANDARD)), SEEDS, st.sampled_from(GOALS), st.booleans())
def test_regret_is_the_difference_of_values_and_the_sum_of_losses(game, seed, goal, illegal):
    policy = random_policy(game, seed, illegal)
    for each in (policy, policy.argmax(axis=1)):
        found = evaluate(game, each, goal, "end")
        difference = found.optimum.objective.sign * (found.optimum.value - found.value)
        places = 1e-12 * (1 + abs(found.optimum.state_utility).max())
        assert found.regret >= 0
        assert found.regret == pytest.approx(difference, abs=places)
        assert sum(mistake.cost for mistake in found.mistakes()) == pytest.approx(difference, abs=places)
        assert sum(found.decisions()["cost"]) == pytest.approx(difference, abs=places)
        assert sum(found.departures()["cost"]) == pytest.approx(difference, abs=places)


@pytest.mark.parametrize(
    ("game", "name"), [(game, name) for game in golden.SCRIPTED for name in golden.POLICIES[type(game)]]
)
def test_strategies_are_those_of_the_reference(game, name):
    scores = golden.golden()["scores"][golden.key(game, name)]
    # The reference calls perfect play of Threes by the name that an account gives it.
    found = evaluate(ours(game), strategy(ours(game), {"record-setter": "optimal-score"}.get(name, name)))
    assert found.score_distribution == pytest.approx({int(s): float(p) for s, p in scores.items()}, abs=1e-12)
    assert found.value == pytest.approx(float(sum(int(s) * p for s, p in scores.items())))
    perfect = scores.get("0", 0) + scores.get("-1", 0)
    assert found.shut_probability == pytest.approx(float(perfect), abs=1e-12)


@pytest.mark.parametrize("game", STANDARD, ids=str)
def test_random_play_scores_0_and_perfect_play_1(solved, game):
    best, worst = solved(game), solve(game, worst=True)
    assert best.evaluate(strategy(game, "random")).normalised_score == pytest.approx(0, abs=1e-12)
    perfect = best.evaluate(best.policy)
    assert (perfect.regret, perfect.normalised_score, perfect.mistakes(), perfect.costliest_mistake) == (0, 1, [], "")
    assert (perfect.agreement, perfect.agreement_by_visits) == (1, 1)
    assert best.evaluate(worst.policy).value == pytest.approx(worst.value, abs=1e-12)
    assert best.evaluate(worst.policy).normalised_score < 0
    assert worst.evaluate(worst.policy).regret == 0
    assert worst.evaluate(best.policy).regret == pytest.approx(abs(worst.value - best.value))


def test_without_a_choice_every_policy_is_perfect():
    game = ShutTheBox(tiles=1, dice=1)
    assert evaluate(game, strategy(game, "random")).normalised_score == 1


@pytest.mark.parametrize("objective", ["score", "shut"])
def test_moves_as_good_as_the_best_are_no_mistakes(solved, objective):
    game = ShutTheBox(one_die="low-sum")
    best = solved(game, objective)
    tables = best.tables
    highest = tables.policy(tables.reduce(np.maximum, np.where(best.optimal, tables.edge_action, -1)))
    found = best.evaluate(highest)
    assert (highest != best.policy).any()
    assert (found.regret, found.mistakes(), found.agreement) == (0, [], 1)


def test_visits_and_throws_counted_by_hand():
    game = Threes(dice=2)
    assert evaluate(game, strategy(game, "take-all")).mean_throws == pytest.approx(1)
    keep_one = evaluate(game, np.zeros(compile_game(game).nodes, int))
    assert keep_one.mean_throws == pytest.approx(2)
    assert keep_one.visits.sum() == pytest.approx(3)  # two throws, and the end without dice


def with_illegal(share):
    """Return perfect play with an illegal action at the node most visited, and that node."""
    best = solve(SIX).policy
    node = int(TABLES.decisions[evaluate(SIX, best).visits[TABLES.decisions].argmax()])
    illegal = (~TABLES.legal(np.array([node]))[0]).argmax()
    policy = np.eye(TABLES.actions)[best]
    policy[node, [best[node], illegal]] = 1 - share, share
    return policy, node


def test_an_illegal_action_ends_the_turn_with_the_worst_score(solved):
    policy, node = with_illegal(1.0)
    best = solved(SIX)
    visits = best.evaluate(best.policy).visits[node]
    for found in (best.evaluate(policy, "end"), best.evaluate(policy.argmax(axis=1), "end")):
        [mistake] = found.mistakes()
        assert (mistake.node, mistake.plays, mistake.best) == (node, None, best.policy[node])
        assert found.illegal_mass == pytest.approx(visits) == found.summary()["illegal_mass"]
        assert found.regret == mistake.cost == pytest.approx(visits * (21 - best.node_value[node]))
        assert found.score_distribution[21] >= visits
        assert found.agreement == pytest.approx(1 - 1 / len(TABLES.decisions))
        assert found.agreement_by_visits == pytest.approx(1 - visits / found.visits[TABLES.decisions].sum())


def test_a_mistake_names_the_move_played_most_often():
    for share, is_legal in ((0.5, True), (0.6, False)):
        policy, node = with_illegal(share)
        [mistake] = evaluate(SIX, policy, illegal="end").mistakes()
        assert (mistake.node, mistake.plays) == (node, mistake.best if is_legal else None)


def test_the_costliest_mistakes_come_first():
    found = evaluate(NINE, strategy(NINE, "biggest-first"))
    costs = [mistake.cost for mistake in found.mistakes()]
    assert costs == sorted(costs, reverse=True)
    assert found.mistakes(5) == found.mistakes()[:5]
    first = found.mistakes(1)[0]
    assert (NINE.actions[first.plays], NINE.actions[first.best]) == ((1, 5), (2, 4))
    assert found.describe_node(first.node) == "open 1,2,3,4,5,7,9, roll 6"


def test_a_solution_evaluates_policies_without_solving_again(monkeypatch):
    sweeps, sweep = [], type(TABLES).sweep
    monkeypatch.setattr(type(TABLES), "sweep", lambda *given: sweeps.append(given) or sweep(*given))
    best = solve(SIX)
    found = best.evaluate(np.full(TABLES.nodes, 0), "end")
    assert len(sweeps) == 2  # one to solve, one to evaluate
    assert found.optimum is best
    found.regret, found.agreement, found.mistakes(), found.score_distribution, found.decisions()
    assert len(sweeps) == 2
    assert found.normalised_score < 1
    assert len(sweeps) == 3  # of random play
    assert found.normalised_score < 1
    assert len(sweeps) == 3


@given(games(), SEEDS)
def test_utilities_and_weights_side_by_side_give_what_each_gives_alone(game, seed):
    tables = compile_game(game)
    random = np.random.default_rng(seed)
    weights = random.random((len(tables.edge_next), 3))
    weights /= tables.at_edges(np.stack([tables.sum_at_nodes(each) for each in weights.T], axis=1))
    utility = random.random((tables.states, 2))
    visits = expected_visits(tables, weights)
    for place, each in enumerate(weights.T):
        alone = expected_visits(tables, each)
        assert visits[:, place] == pytest.approx(alone)
        assert score_chances(tables, visits)[:, place] == pytest.approx(score_chances(tables, alone))
        together, _ = expected(tables, each, utility)
        assert together[:, 1] == pytest.approx(expected(tables, each, utility[:, 1])[0])
        of_scores = objective_of(game, "score").utilities(tables.scores)
        value = expected(tables, each, objective_of(game, "score").utilities(tables.final_score).astype(float))[0]
        assert score_chances(tables, alone) @ of_scores == pytest.approx(value[tables.start])


def test_evaluations_are_shown(solved, snapshot):
    best = solved(ShutTheBox(tiles=3, faces=3, one_die="any-time"))
    found = best.evaluate(np.full((best.tables.nodes, best.tables.actions), 1 / best.tables.actions), "end")
    summary = {name: [number] for name, number in found.summary().items()}
    shown = [repr(found), found.costliest_mistake, as_lines(summary), as_lines(found.decisions()), found._repr_html_()]
    policy = strategy(NINE, "biggest-first")
    shown += [solved(NINE, goal).evaluate(policy).costliest_mistake for goal in ("score", "shut")]
    assert "\n\n".join(shown) == snapshot
