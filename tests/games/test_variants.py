"""Every variant of the rules against the reference: small boxes under all combinations, the named ones in full size."""

import itertools
import math

import numpy as np
import pytest
from stb_gym.games.shut_the_box.matching import sets_to_shut
from stb_gym.games.shut_the_box.variants import OPEN

from stb_gym import Round, ShutTheBox, Threes, compile_game, evaluate, solve
from stb_gym.games import VARIANTS, words_of
from tests import golden, reference
from tests.twins import moves_at, nodes_of, position, roll_at, throwing_states, twin

ONE_DIE = [("never", False), *itertools.product(("low-sum", "high-shut", "any-time"), (False, True))]
SCORES = itertools.cycle(("sum", "count", "digits"))
OBJECTIVES = itertools.cycle(("score", "shut", "at-most:4"))
UTILITIES = golden.UTILITIES


def combinations(tiles, dice, faces, ending_roll):
    """Every way to combine the fields, with scores and objectives in turn."""
    for opened, (one_die, forced), match, first_move, ending in itertools.product(
        OPEN, ONE_DIE, ("sum", "one-tile", "two-at-most", "faces-or-sum"), (None, 2, 3), (None, ending_roll)
    ):
        if first_move is None or first_move in ShutTheBox(tiles=tiles, open=opened).start_tiles:
            yield ShutTheBox(tiles, dice, faces, next(SCORES), opened, one_die, forced, match, first_move, ending)


BOXES = [*combinations(4, 2, 3, 4), *combinations(5, 2, 4, 5), *combinations(5, 3, 2, 4), *combinations(5, 1, 4, 3)]
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
            assert math.isclose(tables.node_probability[node], outcomes[roll], rel_tol=1e-14)
            found = {
                move: position(game, int(tables.held[after]), int(tables.dice[after]))
                for move, after in moves_at(tables, node).items()
            }
            assert found == dict(other.moves(where, roll)), tables.describe_node(node)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(5))
def test_small_boxes_agree_with_the_reference_under_every_combination_of_rules(part):
    for game in BOXES[part::5]:  # 5 divides none of the numbers of choices: every part has all pairs of rules
        check(game, next(OBJECTIVES))


def test_threes_agrees_with_the_reference_under_every_combination_of_rules():
    for game in THREES:
        check(game, next(OBJECTIVES))


@pytest.mark.parametrize("game", [*BOXES[::7], *THREES], ids=str)
def test_arrays_are_as_large_as_was_said_and_nobody_is_without_a_first_move(game):
    tables = compile_game(game)
    assert all(tables.edges_of(node) for node in nodes_of(tables, tables.start))
    assert len(tables.edge_next) <= game.most_edges()
    assert len(np.unique(tables.observation, axis=0)) == tables.nodes
    assert (tables.observation <= game.observation_high).all()


@pytest.mark.parametrize("name", [name for name in VARIANTS if name != "the-300"])
@pytest.mark.parametrize("objective", ["score", "shut"])
def test_named_variants_are_worth_what_the_reference_says(name, objective):
    game = ShutTheBox.preset(name)
    assert solve(game, objective, exact=True).value == golden.golden()["values"][golden.key(twin(game), objective)]


def test_presets_are_rules_that_can_be_changed():
    assert ShutTheBox.preset("full-house") == ShutTheBox(tiles=12)
    assert ShutTheBox.preset("the-300") == ShutTheBox(tiles=24, dice=4)
    assert ShutTheBox.preset("3-down-extreme", tiles=12).start_tiles == tuple(range(4, 13))
    assert ShutTheBox.preset("lucky-seven").start_tiles == (7,)
    assert ShutTheBox.preset("thai-style", score="count", dice=3) == ShutTheBox(dice=3, score="count", match="one-tile")
    with pytest.raises(ValueError, match="unknown variant 'golfing': allowed are classic, low-sum"):
        ShutTheBox.preset("golfing")
    assert all(ShutTheBox.preset(name) for name in VARIANTS)


def test_open_tiles_may_be_listed_in_any_order():
    assert ShutTheBox(open=[7, 3, 3]) == ShutTheBox(open=(3, 7))
    assert ShutTheBox(open="3,7") == ShutTheBox(open=(3, 7))
    assert ShutTheBox(open=(1, 3, 5, 7, 9)) == ShutTheBox(open="odd")
    assert repr(ShutTheBox(open=[7, 3], one_die="any-time")) == "ShutTheBox(open=(3, 7), one_die='any-time')"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ShutTheBox(open="some"), "unknown open 'some': allowed are all, odd, even, 4-up, a list of tiles"),
        (lambda: ShutTheBox(open=[10]), "each of open must be an integer from 1 to 9, not 10"),
        (lambda: ShutTheBox(open=[]), r"open \(\) leaves none of 9 tiles open"),
        (lambda: ShutTheBox(tiles=3, open="4-up"), "open 4-up leaves none of 3 tiles open"),
        (
            lambda: ShutTheBox(one_die="often"),
            "unknown one_die 'often': allowed are never, low-sum, high-shut, any-time",
        ),
        (lambda: ShutTheBox(one_die="any-time", one_die_forced=1), "one_die_forced must be True or False, not 1"),
        (lambda: ShutTheBox(first_move=True), "first_move must be an integer from 1 to 9, not True"),
        (lambda: ShutTheBox.preset("classic", tile=5), "unknown rule 'tile': allowed are tiles, dice"),
        (lambda: ShutTheBox(one_die_forced=True), "one_die_forced says that one die must be thrown when it may"),
        (lambda: ShutTheBox(match="pairs"), "unknown match 'pairs': allowed are sum, one-tile, two-at-most, faces-or"),
        (lambda: ShutTheBox(open="odd", first_move=2), "unknown tile of the first move 2: allowed are 1, 3, 5, 7, 9"),
        (lambda: ShutTheBox(ending_roll=13), "ending_roll must be an integer from 2 to 12, not 13"),
        (lambda: ShutTheBox(tiles=15, score="digits"), "score digits is for at most 14 tiles, not 15"),
        (
            lambda: compile_game(ShutTheBox(tiles=24, dice=5, faces=20)),
            "more than 65,536 sets of 24 tiles add up to at",
        ),
        (lambda: Threes(free_face=21), "free_face must be an integer from 0 to 20, not 21"),
        (lambda: Threes(moon=1.5), "moon must be True or False, not 1.5"),
    ],
)
def test_rules_that_are_none_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def node(game, **where):
    held, dice, roll = words_of(game).locate(where)
    tables = compile_game(game)
    return tables.describe_node(tables.find_node(tables.find_state(held, dice), roll))


def test_positions_are_named_with_their_dice_where_those_matter():
    one_die = ShutTheBox(one_die="low-sum")
    assert node(one_die, open=[1, 2], roll=5) == "open 1,2, 2 dice, roll 5"
    assert node(one_die, open=[1, 2], roll=1) == "open 1,2, 1 die, roll 1"
    assert node(one_die, open=[1, 2], roll=5, dice=1) == "open 1,2, 1 die, roll 5"
    assert node(ShutTheBox(one_die="low-sum", one_die_forced=True), open=[1, 2], roll=5) == "open 1,2, 1 die, roll 5"
    assert node(ShutTheBox(match="one-tile"), open=[1, 2], roll=[5, 1]) == "open 1,2, roll 1,5"
    assert node(ShutTheBox(), roll=[5, 1]) == "open 1,2,3,4,5,6,7,8,9, roll 6"
    for game, where, message in (
        (one_die, {"open": [5, 9], "dice": 1}, "unknown number of dice there 1: allowed are 2"),
        (one_die, {"open": [5, 9], "roll": 1}, "roll must be an integer from 2 to 12, not 1"),
        (one_die, {"dice": 1}, "unknown number of dice there 1: allowed are 2"),
        (ShutTheBox(match="one-tile"), {"roll": 5}, "single dice matter here: roll must be the faces of 2 dice, not 5"),
        (ShutTheBox(match="one-tile"), {"roll": [5, 7]}, "each of roll must be an integer from 1 to 6, not 7"),
        (ShutTheBox(open="odd"), {"open": [1, 2]}, "unknown open tile 2: allowed are 1, 3, 5, 7, 9"),
    ):
        with pytest.raises(ValueError, match=message):
            words_of(game).locate(where)


def test_moves_are_described_with_the_dice_that_they_choose():
    game = ShutTheBox(one_die="any-time")
    actions = [action for action, tiles in enumerate(game.moves) if tiles == (1, 2)]
    assert [words_of(game).move(action) for action in actions] == [
        {"tiles": [1, 2], "dice": 1},
        {"tiles": [1, 2], "dice": 2},
    ]
    forced = ShutTheBox(one_die="any-time", one_die_forced=True)
    assert words_of(forced).move(forced.moves.index((1, 2))) == {"tiles": [1, 2]}


def test_tiles_of_two_digits_are_read_in_full():
    game = ShutTheBox(tiles=14, score="digits")
    boards = [words_of(game).locate({"open": tiles})[0] for tiles in ([1, 2, 5], [1, 10], [9, 10, 14], range(1, 15))]
    assert game.final_score(np.array([0, *boards])).tolist() == [0, 125, 110, 91014, 1234567891011121314]


def test_a_moon_is_a_score_of_at_most_zero_and_wins_at_once():
    game = Threes(dice=2, moon=True)
    best = evaluate(game, solve(game, "shut").policy, "shut")
    assert (
        best.value == best.shut_probability == pytest.approx(best.score_distribution[-1] + best.score_distribution[0])
    )
    assert best.score_distribution[-1] == pytest.approx(1 / 36)
    assert evaluate(game, solve(game).policy).value == solve(game).value
    played = Round(game, 3, "all-win").solve()
    assert played.throws[1] < played.throws[0]  # who comes after a moon need not throw


def test_objectives_may_ask_for_scores_of_many_digits():
    game = ShutTheBox(tiles=10, score="digits")
    assert solve(game, "at-most:12345678910").value == 1
    assert 0 < solve(game, "at-most:1234567890").value < 1


def test_sets_of_all_rolls_together_are_counted_against_the_limit():
    tiles = tuple(range(1, 25))
    with pytest.raises(ValueError, match="more than 65,536 sets of 24 tiles add up to at most 66"):
        sets_to_shut("sum", [(66,)], tiles)
    assert len(sets_to_shut("sum", [(40,)], tiles)[0]) < 2**16
