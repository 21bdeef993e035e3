"""Exact evaluation: the published numbers, the reference, and the two ways to compute a regret."""

from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stb_gym import (
    RegretMeter,
    ShutTheBox,
    Threes,
    compile_game,
    evaluate,
    evaluate_boards,
    solve,
    solve_boards,
    strategies,
    strategy,
)
from stb_gym.solver import board_strategy
from tests import golden, reference
from tests.twins import SMALL, STANDARD, choice, ours, position, roll_at, twin

SCRIPTED = [(game, name) for game in map(ours, golden.SCRIPTED) for name in strategies(game)]
NINE = ShutTheBox()


def random_policy(game, seed, masked=True):
    """A policy [N, A] with random probabilities, some of them 0."""

    def agent(observations, masks):
        weights = np.random.default_rng(seed).exponential(size=masks.shape) * (masks if masked else 1)
        weights[weights < 0.3 * weights.max(axis=1, keepdims=True)] = 0
        return weights / weights.sum(axis=1, keepdims=True)

    return RegretMeter(game).policy(agent)


@pytest.mark.parametrize(
    ("name", "value", "shut"),
    [
        ("random", 20.418812228, 0.0203934956),
        ("biggest-first", 11.373255046, 0.0695829302),
        ("fewest-then-biggest", 11.323146870, 0.0699922778),
    ],
)
def test_nine_tiles_strategies(name, value, shut):
    evaluation = evaluate(NINE, strategy(NINE, name))
    assert evaluation.value == pytest.approx(value, abs=1e-9)
    assert evaluation.shut_probability == pytest.approx(shut, abs=1e-10)
    assert evaluation.regret == pytest.approx(value - 11.15750844420262, abs=1e-9)


def test_nine_tiles_optimum():
    evaluation = evaluate(NINE, solve(NINE).policy)
    assert evaluation.shut_probability == pytest.approx(0.0708885323, abs=1e-10)
    assert (evaluation.regret, evaluation.normalised_score, evaluation.agreement) == (0, 1, 1)
    assert evaluation.agreement_by_visits == 1
    assert evaluation.mistakes() == []


def test_number_of_tiles_shut_by_fewest_then_biggest():
    count = ShutTheBox(score="count")
    evaluation = evaluate(count, strategy(count, "fewest-then-biggest"))
    assert 9 - evaluation.value == pytest.approx(6.658750985, abs=1e-9)


@pytest.mark.parametrize(("name", "nodes"), [("biggest-first", 210), ("fewest-then-biggest", 181)])
def test_nine_tiles_nodes_where_a_strategy_departs(name, nodes):
    evaluation = evaluate(NINE, strategy(NINE, name))
    assert np.count_nonzero(evaluation.loss > 1e-9) == nodes
    assert round((1 - evaluation.agreement) * 4040) == nodes


def test_nine_tiles_largest_loss_of_biggest_first():
    evaluation = evaluate(NINE, strategy(NINE, "biggest-first"))
    node = int(evaluation.loss.argmax())
    assert evaluation.loss[node] == pytest.approx(4.467593, abs=1e-6)
    assert evaluation.tables.describe_node(node) == "open 1,2,4,5,8,9, roll 12"


@pytest.mark.parametrize(("name", "value"), [("threes-only", 6.804024892), ("random", 11.679629630)])
def test_threes_strategies(name, value):
    assert evaluate(Threes(), strategy(Threes(), name)).value == pytest.approx(value, abs=1e-9)


def most_ways_of_threes(game):
    """Keep the dice that leave the most ways to no points at all: every throw and every move counts as one."""

    @cache
    def ways(position):
        if game.is_over(position):
            return int(game.final_score(position) == 0)
        rolls = (tuple(sorted(faces)) for faces in product(range(1, game.faces + 1), repeat=position[1]))
        return sum(ways(after) for roll in rolls for _, after in game.moves(position, roll))

    return lambda position, roll: {
        reference.first_best({move: ways(after) for move, after in game.moves(position, roll)}): 1
    }


def scores_by_the_reference(game, name):
    """The chance of every final score; golden figures of Threes know perfect play by another name, and lack two."""
    other, found = twin(game), golden.golden()["scores"]
    if isinstance(game, Threes) and name in ("optimal-shut", "most-ways"):
        policy = most_ways_of_threes(other) if name == "most-ways" else reference.perfect(other, reference.shut)
        return reference.score_distribution(other, policy)
    if isinstance(game, Threes) and name == "optimal-score":
        return found[golden.key(other, "record-setter")]
    return found[golden.key(other, name)]


@pytest.mark.parametrize(("game", "name"), SCRIPTED, ids=str)
def test_strategies_are_those_of_the_reference(game, name):
    evaluation = evaluate(game, strategy(game, name))
    scores = scores_by_the_reference(game, name)
    value = sum(int(score) * chance for score, chance in scores.items())
    assert evaluation.value == pytest.approx(float(value), abs=1e-12)
    assert evaluation.score_distribution == pytest.approx({int(s): float(p) for s, p in scores.items()}, abs=1e-12)
    assert sum(evaluation.score_distribution.values()) == pytest.approx(1, abs=1e-12)


def in_words_of_the_reference(game, policy):
    """A policy [N, A] as the reference wants it."""
    tables, answers = compile_game(game), {}
    for node in tables.decisions:
        state = tables.node_state[node]
        where = position(game, int(tables.held[state]), int(tables.dice[state]))
        answers[where, roll_at(tables, node)] = choice(tables, node, policy)
    return lambda where, roll: answers[where, roll]


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(
    game=st.sampled_from(SMALL),
    seed=st.integers(0, 2**32),
    objective=st.sampled_from(["score", "shut", "at-most:4"]),
    masked=st.booleans(),
)
def test_any_policy_is_worth_what_the_reference_says(game, seed, objective, masked):
    policy = random_policy(game, seed, masked)
    plays = in_words_of_the_reference(game, policy)
    utility = {"score": reference.fewest, "shut": reference.shut, "at-most:4": reference.at_most(4)}[objective]
    expected = float(reference.policy_value(twin(game), plays, utility))
    evaluation = evaluate(game, policy, objective, "raise" if masked else "end")
    assert evaluation.optimum.objective.sign * evaluation.value == pytest.approx(expected, abs=1e-6)
    sign = evaluation.optimum.objective.sign
    assert evaluation.regret == pytest.approx(sign * (evaluation.optimum.value - evaluation.value), abs=1e-11)
    scores = {score: float(chance) for score, chance in reference.score_distribution(twin(game), plays).items()}
    assert evaluation.score_distribution == pytest.approx({s: p for s, p in scores.items() if p}, abs=1e-6)


def test_illegal_actions_are_refused_or_end_the_turn():
    game = ShutTheBox(tiles=6)
    best, tables = solve(game).policy, compile_game(game)
    node = int(tables.decisions[evaluate(game, best).visits[tables.decisions].argmax()])
    wrong = best.copy()
    wrong[node] = (~tables.legal(np.array([node]))[0]).argmax()
    with pytest.raises(ValueError, match=f"the policy takes the illegal action {wrong[node]} at open"):
        evaluate(game, wrong)
    evaluation = evaluate(game, wrong, illegal="end")
    visits = evaluate(game, best).visits[node]
    assert evaluation.illegal_mass == pytest.approx(visits)
    [mistake] = evaluation.mistakes()
    assert (mistake.node, mistake.plays, mistake.best) == (node, None, best[node])
    assert evaluation.regret == pytest.approx(visits * (21 - solve(game).node_value[node]))
    assert evaluation.score_distribution[21] >= visits
    assert evaluation.agreement == pytest.approx(1 - 1 / len(tables.decisions))
    assert evaluation.summary()["illegal_mass"] == evaluation.illegal_mass
    assert evaluate(game, best, illegal="end").summary() == {**evaluate(game, best).summary(), "illegal_mass": 0}
    with pytest.raises(ValueError, match="unknown treatment of illegal actions 'ignore': allowed are end, raise"):
        evaluate(game, best, illegal="ignore")


def test_probabilities_that_sum_to_nearly_one_are_scaled_to_one():
    game = ShutTheBox(tiles=6)
    policy = strategy(game, "random")
    nearly = evaluate(game, policy * (1 + 5e-6))
    assert nearly.value == pytest.approx(evaluate(game, policy).value, abs=1e-12)
    assert sum(nearly.score_distribution.values()) == pytest.approx(1, abs=1e-12)


def test_a_move_as_probable_as_an_illegal_action_is_named_as_what_is_played():
    game = ShutTheBox(tiles=6)
    best, tables = solve(game).policy, compile_game(game)
    policy = np.zeros((tables.nodes, tables.actions))
    policy[tables.decisions, best[tables.decisions]] = 1
    node = int(tables.decisions[evaluate(game, best).visits[tables.decisions].argmax()])
    illegal = int((~tables.legal(np.array([node]))[0]).argmax())
    policy[node, [best[node], illegal]] = 0.5
    [mistake] = evaluate(game, policy, illegal="end").mistakes()
    assert (mistake.node, mistake.plays) == (node, best[node])


@settings(max_examples=30, deadline=None)
@given(
    game=st.sampled_from([*SMALL, *STANDARD]), seed=st.integers(0, 2**32), objective=st.sampled_from(["score", "shut"])
)
def test_regret_is_the_difference_of_values_and_the_sum_of_losses(game, seed, objective):
    for policy in (random_policy(game, seed), random_policy(game, seed).argmax(axis=1)):
        evaluation = evaluate(game, policy, objective)
        sign = evaluation.optimum.objective.sign
        difference = sign * (evaluation.optimum.value - evaluation.value)
        assert evaluation.regret == pytest.approx(difference, abs=1e-11)
        assert evaluation.regret >= 0
        assert sum(mistake.cost for mistake in evaluation.mistakes()) == pytest.approx(difference, abs=1e-11)


@pytest.mark.parametrize("game", STANDARD, ids=str)
def test_random_play_closes_nothing_of_the_gap_and_perfect_play_all(game):
    assert evaluate(game, strategy(game, "random")).normalised_score == pytest.approx(0, abs=1e-12)
    assert evaluate(game, solve(game).policy).normalised_score == 1
    worst = evaluate(game, solve(game, worst=True).policy)
    assert worst.value == pytest.approx(solve(game, worst=True).value, abs=1e-12)
    assert worst.normalised_score < 0


def test_where_nothing_can_be_chosen_every_policy_is_perfect():
    game = ShutTheBox(tiles=1, dice=1)
    assert evaluate(game, strategy(game, "random")).normalised_score == 1


def test_visits_and_throws_of_a_turn_that_can_be_counted_by_hand():
    game = Threes(dice=2)
    evaluation = evaluate(game, strategy(game, "take-all"))
    assert evaluation.mean_throws == pytest.approx(1)
    keep_one = evaluate(game, np.zeros(compile_game(game).nodes, int))
    assert keep_one.mean_throws == pytest.approx(2)
    assert keep_one.visits.sum() == pytest.approx(3)  # two throws, and the end without dice


def test_mistakes_are_listed_dearest_first_with_what_is_played_and_what_is_best():
    evaluation = evaluate(NINE, strategy(NINE, "biggest-first"))
    mistakes = evaluation.mistakes(5)
    assert len(mistakes) == 5
    assert [m.cost for m in mistakes] == sorted((m.cost for m in evaluation.mistakes()), reverse=True)[:5]
    first = mistakes[0]
    assert NINE.moves[first.plays] == (1, 5)
    assert NINE.moves[first.best] == (2, 4)
    assert evaluation.tables.describe_node(first.node) == "open 1,2,3,4,5,7,9, roll 6"


@pytest.mark.parametrize("objective", ["score", "shut"])
def test_what_is_as_good_as_the_best_is_no_mistake(objective):
    game = ShutTheBox(one_die="low-sum")
    found = evaluate(game, strategy(game, f"optimal-{objective}"), objective)
    assert (found.regret, found.mistakes()) == (0, [])
    boards = evaluate_boards(solve_boards(game, objective), board_strategy(game, f"optimal-{objective}"))
    assert (boards.regret, boards.mistakes()) == (0, [])
