"""The compiled arrays against the rules as the reference states them; operations on them against plain loops."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stb_gym import ShutTheBox, Threes
from stb_gym.solver import compile_game, optimise
from tests.twins import (
    STANDARD,
    MostThrees,
    games,
    moves_at,
    our_score,
    position,
    throwing_nodes,
    throwing_states,
    twin,
)

FEW = [ShutTheBox(tiles=5, one_die="any-time"), ShutTheBox(tiles=3), Threes(dice=3, moon=True), MostThrees(dice=2)]
COLUMNS = [(), (3,), (2, 2)]


def check_against_the_reference(game):
    tables, other = compile_game(game), twin(game)
    where = [position(game, *state) for state in zip(tables.held.tolist(), tables.dice.tolist(), strict=True)]
    assert tables.final_score.tolist() == [our_score(game, other.final_score(each)) for each in where]
    thrown = [each for _, each in throwing_states(tables)]
    assert sorted(map(str, thrown)) == sorted(str(each) for each in other.positions() if not other.is_over(each))
    assert where[tables.start] == other.start()
    chances = {}
    for node, at, roll in throwing_nodes(tables):
        chances[at, roll] = tables.node_probability[node]
        assert {move: where[state] for move, state in moves_at(tables, node).items()} == dict(other.moves(at, roll))
    expected = {(at, roll): float(chance) for at in thrown for roll, chance in other.outcomes(at)}
    assert chances == pytest.approx(expected, abs=1e-15)


def check_structure(tables):
    level_of = np.empty(tables.states, int)
    for number, level in enumerate(tables.levels):
        level_of[level.states] = number
        assert (tables.dice[level.states] == tables.dice[level.states.start]).all()
    assert (level_of[tables.edge_next] < level_of[tables.node_state[tables.edge_node]]).all()
    for part, size in (("states", tables.states), ("nodes", tables.nodes), ("edges", len(tables.edge_next))):
        bounds = [(getattr(level, part).start, getattr(level, part).stop) for level in tables.levels]
        assert [0, *(stop for _, stop in bounds)] == [*(start for start, _ in bounds), size]
    for node in range(tables.nodes):
        assert list(tables.edges_of(node)) == np.flatnonzero(tables.edge_node == node).tolist()
        assert tables.edge_action[tables.edges_of(node)].tolist() == np.flatnonzero(tables.legal()[node]).tolist()
        state = tables.node_state[node]
        assert node in tables.nodes_of(state)
        assert tables.find_node(state, tables.node_roll(node)) == node
    assert (tables.find_states(tables.held, tables.dice) == np.arange(tables.states)).all()
    assert (tables.find_nodes(tables.observation) == np.arange(tables.nodes)).all()
    assert (tables.observation <= tables.game.observation_high).all()
    assert tables.decisions.tolist() == np.flatnonzero(tables.choices).tolist()
    assert tables.sum_at_nodes(tables.uniform) == pytest.approx(np.sign(tables.choices))


@given(games())
def test_random_rules(game):
    check_against_the_reference(game)
    check_structure(compile_game(game))


@pytest.mark.parametrize("game", STANDARD, ids=str)
def test_standard_rules(game):
    check_against_the_reference(game)


def test_tables_are_compiled_once_and_cannot_be_changed():
    tables = compile_game(ShutTheBox())
    assert compile_game(ShutTheBox(tiles=9)) is tables
    with pytest.raises(ValueError, match="read-only"):
        tables.edge_next[0] = 0


def numbers(rows, columns=()):
    """Return distinct integers [rows, *columns] in random order."""
    return np.random.default_rng(rows).permutation(rows * int(np.prod(columns))).reshape(rows, *columns)


@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("game", FEW, ids=str)
def test_values_are_carried_to_edges_and_back(game, columns):
    tables = compile_game(game)
    edges = len(tables.edge_next)
    at_nodes, at_states, at_edges = (numbers(rows, columns) for rows in (tables.nodes, tables.states, edges))
    assert (tables.at_edges(at_nodes) == [at_nodes[node] for node in tables.edge_node]).all()
    assert (tables.after_edges(at_states) == [at_states[state] for state in tables.edge_next]).all()
    for operation in (np.maximum, np.minimum, np.add):
        expected = [operation.reduce(at_edges[tables.edges_of(node)], axis=0) for node in tables.decisions]
        assert (tables.reduce(operation, at_edges) == expected).all()
    marked = at_edges % 3 == 0
    marked[[tables.edges_of(node)[-1] for node in tables.decisions]] = True  # every node needs a marked edge
    lowest = [tables.edges_of(node)[0] + marked[tables.edges_of(node)].argmax(axis=0) for node in tables.decisions]
    assert (tables.lowest(marked) == lowest).all()


@pytest.mark.parametrize("game", FEW, ids=str)
def test_sums_and_greedy_actions_at_nodes(game):
    tables = compile_game(game)
    values = numbers(len(tables.edge_next)) // 2  # with equal ones
    of_nodes = [values[tables.edges_of(node)].tolist() for node in range(tables.nodes)]
    assert tables.sum_at_nodes(values).tolist() == list(map(sum, of_nodes))
    for best, plain in ((np.maximum, max), (np.minimum, min)):
        policy = tables.greedy(values, best)
        for node, known in enumerate(of_nodes):
            edge = tables.edges_of(node)[known.index(plain(known))] if known else None
            assert policy[node] == (-1 if edge is None else tables.edge_action[edge])


def test_answers_at_decisions_become_a_policy():
    tables = compile_game(ShutTheBox(tiles=3))
    for answers, elsewhere in ((numbers(len(tables.decisions)), -1), (tables.legal(tables.decisions) / 2, 0)):
        policy = tables.policy(answers)
        assert policy.dtype == answers.dtype
        assert (policy[tables.decisions] == answers).all()
        assert (np.delete(policy, tables.decisions, axis=0) == elsewhere).all()


@pytest.mark.parametrize("game", [*FEW, ShutTheBox(tiles=4, score="digits")], ids=str)
def test_scores_are_sorted_best_first(game):
    tables = compile_game(game)
    assert tables.scores.tolist() == sorted(set(tables.final_score.tolist()), reverse=game.more_is_better)
    assert (tables.scores[tables.score_index] == tables.final_score).all()
    beyond = np.array([tables.scores[0] + game.sign, *tables.scores, tables.scores[-1] - game.sign])
    assert tables.place_of(beyond).tolist() == [0, *range(len(tables.scores) + 1)]


@given(games(), st.sampled_from(COLUMNS[1:]))
def test_utilities_side_by_side_give_the_values_of_each_alone(game, columns):
    tables = compile_game(game)
    utility = numbers(tables.states, columns).astype(float)
    together = optimise(tables, utility)
    for column in itertools.product(*map(range, columns)):
        for values, alone in zip(together, optimise(tables, utility[:, *column]), strict=True):
            assert values[:, *column] == pytest.approx(alone)


def test_states_that_do_not_exist_are_not_found():
    threes = compile_game(Threes())
    assert threes.find_state(3, 8) == -1  # its code is that of 4 points and 2 dice
    found = compile_game(ShutTheBox()).find_states(np.array([1 << 9, 1, 0]), np.array([2, 3, 0]))
    assert found.tolist() == [-1, -1, 0]


def test_other_observations_are_refused():
    tables = compile_game(ShutTheBox(tiles=6))
    two_rolls = tables.observation[tables.decisions[0]].copy()
    two_rolls[-2:] = 1
    for wrong in (np.zeros(3), two_rolls, np.stack((tables.observation[5], two_rolls)), tables.observation[5] * 256.0):
        with pytest.raises(ValueError, match="observation"):
            tables.find_nodes(wrong)
    assert tables.lookup(np.stack((tables.observation[5], two_rolls))).tolist() == [5, -1]


@pytest.mark.parametrize(
    ("game", "key_word"), [(ShutTheBox.preset("the-300"), "positions"), (ShutTheBox(dice=7, faces=20), "throws")]
)
def test_games_too_large_for_tables_are_refused(game, key_word):
    with pytest.raises(ValueError, match=key_word):
        compile_game(game)
