"""What every game answers: the legal moves of a position, and what its rules say of themselves."""

from dataclasses import dataclass

import pytest

from stb_gym import ShutTheBox, Threes, compile_game
from stb_gym.games import legal_moves
from tests.twins import SMALL, STANDARD, MostThrees, nodes_of

VARIED = [
    ShutTheBox(tiles=5, one_die="any-time"),
    ShutTheBox(tiles=5, match="one-tile", open="odd"),
    ShutTheBox(tiles=6, first_move=4, ending_roll=7),
    MostThrees(dice=2, faces=3),
]


@pytest.mark.parametrize("game", [*SMALL, *VARIED], ids=str)
def test_legal_moves_of_every_node_are_those_of_the_tables(game):
    tables = compile_game(game)
    for state in range(tables.states):
        held, dice = int(tables.held[state]), int(tables.dice[state])
        for node in nodes_of(tables, state):
            edges = range(tables.edge_start[node], tables.edge_start[node + 1])
            expected = [
                (tables.edge_action[edge], tables.held[tables.edge_next[edge]], tables.dice[tables.edge_next[edge]])
                for edge in edges
            ]
            assert legal_moves(game, held, dice, tables.node_roll(node)) == expected
    first = legal_moves(game, *game.start(), tables.node_roll(nodes_of(tables, tables.start)[0]))[0]
    assert all(type(number) is int for number in first)


@pytest.mark.parametrize("game", [*STANDARD, MostThrees()], ids=str)
def test_which_way_points_count(game):
    assert game.sign == (1 if game.more_is_better else -1)
    assert game.perfect_score == (30 if game.more_is_better else 0)


def test_games_name_smaller_ones_largest_first():
    assert [game.dice for game in Threes(dice=4, moon=True).smaller()] == [3, 2, 1]
    assert all(game.moon for game in Threes(dice=4, moon=True).smaller())
    assert [game.tiles for game in ShutTheBox(tiles=6, open="4-up").smaller()] == [5, 4]


def test_numbers_of_dice_may_be_truth_values():
    """As `held >= 0` gives them where there is one die or none."""

    @dataclass(frozen=True, repr=False)
    class OneDie(Threes):
        def states(self):
            held, dice = super().states()
            return held, dice == 1

    assert OneDie(dice=1).nodes() == Threes(dice=1).nodes()
    assert compile_game(OneDie(dice=1)).nodes == compile_game(Threes(dice=1)).nodes
