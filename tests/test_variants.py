"""Every variant of the rules against the reference: small boxes under all combinations, the named ones in full size."""

import itertools

import numpy as np
import pytest

from stb_gym import ShutTheBox, Threes, compile_game, solve
from stb_gym.variants import OPEN
from tests import reference
from tests.twins import moves_at, nodes_of, position, roll_at, throwing_states, twin

ONE_DIE = [("never", False), *itertools.product(("low-sum", "high-shut", "any-time"), (False, True))]
SCORES = itertools.cycle(("sum", "count", "digits"))
OBJECTIVES = itertools.cycle(("score", "shut", "at-most:4"))
UTILITIES = {"score": reference.fewest, "shut": reference.shut, "at-most:4": reference.at_most(4)}


def combinations(tiles, dice, faces, ending_roll):
    """Every way to combine the fields, with scores and objectives in turn."""
    for opened, (one_die, forced), match, first_move, ending in itertools.product(
        OPEN, ONE_DIE, ("sum", "one-tile", "two-at-most", "faces-or-sum"), (None, 2, 3), (None, ending_roll)
    ):
        if first_move is None or first_move in ShutTheBox(tiles=tiles, open=opened).start_tiles:
            yield ShutTheBox(tiles, dice, faces, next(SCORES), opened, one_die, forced, match, first_move, ending)


BOXES = [*combinations(4, 2, 3, 4), *combinations(6, 2, 4, 5), *combinations(5, 3, 2, 4)]
THREES = [Threes(*rules) for rules in itertools.product((1, 3), (2, 4), (0, 1, 3, 4), (False, True))]


def check(game, objective):
    """States, rolls, moves, final scores, and the value of every state and node in fractions."""
    tables, other = compile_game(game), twin(game)
    solution, utility = solve(game, objective, exact=True), UTILITIES[objective]
    positions = dict(throwing_states(tables))
    assert sorted(map(str, positions.values())) == sorted(str(p) for p in other.positions() if not other.is_over(p))
    for state, where in positions.items():
        assert solution.state_utility[state] == reference.value(other, where, utility)
        assert tables.final_score[state] == other.final_score(where)
        outcomes = dict(other.outcomes(where))
        assert {roll_at(tables, node) for node in nodes_of(tables, state)} == outcomes.keys()
        for node in nodes_of(tables, state):
            roll = roll_at(tables, node)
            assert tables.node_probability[node] == pytest.approx(float(outcomes[roll]), rel=1e-14)
            found = {
                move: position(game, int(tables.held[after]), int(tables.dice[after]))
                for move, after in moves_at(tables, node).items()
            }
            assert found == dict(other.moves(where, roll)), tables.describe_node(node)


@pytest.mark.parametrize("part", range(24))
def test_small_boxes_agree_with_the_reference_under_every_combination_of_rules(part):
    for game in BOXES[part::24]:
        check(game, next(OBJECTIVES))


def test_threes_agrees_with_the_reference_under_every_combination_of_rules():
    for game in THREES:
        check(game, next(OBJECTIVES))


@pytest.mark.parametrize("game", [*BOXES[::7], *THREES], ids=str)
def test_no_more_edges_are_made_than_was_said(game):
    tables = compile_game(game)
    assert len(tables.edge_next) <= game.most_edges()
    assert len(np.unique(tables.observation, axis=0)) == tables.nodes
    assert (tables.observation <= game.observation_high).all()
