"""Policies measured by boards: the same as by stored edges under all rules, and as in the plain reference."""

from functools import partial

import numpy as np
import pytest

from stb_gym import (
    AnyMove,
    BoardEvaluation,
    Preference,
    ShutTheBox,
    evaluate,
    evaluate_boards,
    solve,
    solve_boards,
    strategies,
    strategy,
)  # fmt: skip
from stb_gym.games import entry_of
from stb_gym.large import evaluation as board_evaluation
from stb_gym.large import rows as board_rows
from stb_gym.solver import board_strategy, compiling, policy_of_preference
from tests import reference

NINE = ShutTheBox()
NOISE = np.random.default_rng(1).integers(0, 20, (8, 2**13))
POLICIES = {
    "any move": AnyMove(),
    "greatest board": Preference(lambda held, dice: held),
    "often the same": Preference(lambda held, dice: NOISE[dice, held]),
    "floats": Preference(lambda held, dice: np.sin(held * 1.7 + dice)),
    "all the same": Preference(lambda held, dice: held > 0),
}
GAMES = [
    (NINE, 4),
    (ShutTheBox(tiles=3, dice=1), 2),
    (ShutTheBox(tiles=10, dice=3, open="4-up"), 5),
    (ShutTheBox(tiles=10, match="two-at-most", ending_roll=7), 1),
    (ShutTheBox(tiles=9, match="one-tile", one_die="high-shut"), 3),
    (ShutTheBox(tiles=7, dice=3, faces=4, match="faces-or-sum"), 5),
    (ShutTheBox(tiles=8, score="digits"), 12),
    (ShutTheBox(tiles=9, dice=3, faces=4, score="count", first_move=8), 3),
    (ShutTheBox(one_die="any-time"), 4),
    (ShutTheBox(one_die="low-sum", first_move=2), 9),
    (ShutTheBox(tiles=8, dice=3, faces=4, one_die="high-shut", one_die_forced=True), 2),
]


def by_boards(monkeypatch, game, column_tiles, objective="score"):
    monkeypatch.setattr(board_rows, "COLUMN_TILES", column_tiles)
    return solve_boards(game, objective)


def assert_same(found, expected, places=1e-9):
    summary = expected.summary()
    for name, number in found.summary().items():
        assert number == pytest.approx(summary[name], rel=places, abs=1e-12), name
    assert list(found.score_distribution) == list(expected.score_distribution)
    chances = list(expected.score_distribution.values())
    np.testing.assert_allclose(list(found.score_distribution.values()), chances, rtol=places, atol=1e-15)


OWN = [lambda score: -((score - 4.5) ** 2), lambda score: score % 3 - 1]


@pytest.mark.parametrize(
    "objective", ["score", "shut", *(pytest.param(each, marks=pytest.mark.slow) for each in ("at-most:3", *OWN))]
)
@pytest.mark.parametrize(
    ("game", "column_tiles"), [*GAMES[:2], *(pytest.param(*each, marks=pytest.mark.slow) for each in GAMES[2:])]
)
def test_policies_are_measured_as_by_stored_edges(monkeypatch, game, column_tiles, objective):
    values, solution = by_boards(monkeypatch, game, column_tiles, objective), solve(game, objective)
    assert values.value == pytest.approx(solution.value, rel=1e-12)
    for name in POLICIES if objective == "score" else ("any move", "often the same"):
        policy = POLICIES[name]
        found, expected = evaluate_boards(values, policy), solution.evaluate(policy)
        assert_same(found, expected)
        assert (found.agreement_by_visits is None) == (name == "any move")
        assert found.regret == pytest.approx(
            abs(found.value - values.value), abs=1e-9 * abs(solution.state_value).max()
        )


@pytest.mark.slow
@pytest.mark.parametrize(("game", "column_tiles"), GAMES)
def test_mistakes_are_those_of_stored_edges(monkeypatch, game, column_tiles):
    monkeypatch.setattr(board_evaluation, "MISTAKES_KEPT", 8)
    values, solution = by_boards(monkeypatch, game, column_tiles), solve(game)
    for policy in POLICIES.values():
        found, expected = evaluate_boards(values, policy), solution.evaluate(policy)
        mistakes = found.mistakes()
        assert len(mistakes) == min(8, len(expected.mistakes()))
        assert len(found.mistakes(3)) == min(3, len(mistakes))
        by_node = {expected.describe_node(each.node): each for each in expected.mistakes()}
        for mistake, dear in zip(mistakes, expected.mistakes(), strict=False):
            same = by_node[found.describe_node(mistake.node)]
            assert (mistake.plays, mistake.best) == (same.plays, same.best)
            assert mistake.cost == pytest.approx(dear.cost, rel=1e-9)
            assert (mistake.visits, mistake.loss) == pytest.approx((same.visits, same.loss), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("game", "column_tiles"), GAMES[::2])
def test_strategies_by_name_are_measured_as_by_stored_edges(monkeypatch, game, column_tiles):
    values, solution = by_boards(monkeypatch, game, column_tiles), solve(game)
    for name in strategies(game):
        if name == "approximation":
            with pytest.raises(ValueError, match=r"^strategy approximation is for games that fit into arrays; without"):
                board_strategy(game, name)
        else:
            assert_same(evaluate_boards(values, board_strategy(game, name)), solution.evaluate(strategy(game, name)))


REFERENCE = {
    "random": reference.uniform,
    "biggest-first": reference.biggest_first,
    "fewest-then-biggest": reference.fewest_tiles,
    "most-first": reference.most_tiles,
    "nine-eight-seven": reference.high_three_then_lowest,
    "lowest-first": reference.lowest_first,
    "one-to-four-first": reference.one_to_four_first,
    "most-ways": reference.most_ways,
    "optimal-score": lambda rules: reference.perfect(rules, reference.fewest),
    "optimal-shut": lambda rules: reference.perfect(rules, reference.shut),
}


@pytest.mark.slow
@pytest.mark.parametrize("fields", [{}, {"one_die": "any-time"}, {"dice": 3, "faces": 3, "first_move": 2}])
def test_the_reference_finds_the_same_scores(monkeypatch, fields):
    """It states the rules and the strategies anew, and its numbers are fractions."""
    fields = {"tiles": 7, **fields}
    rules, game = reference.ShutTheBox(**fields), ShutTheBox(**fields)
    values = by_boards(monkeypatch, game, 3)
    for name, plays in REFERENCE.items():
        expected = reference.score_distribution(rules, plays(rules))
        found = evaluate_boards(values, board_strategy(game, name))
        assert found.score_distribution == pytest.approx(dict(expected), rel=1e-12), name
        assert found.shut_probability == pytest.approx(float(expected.get(0, 0)), rel=1e-12)
        lost = sum(score * chance for score, chance in expected.items()) + reference.value(
            rules, rules.start(), reference.fewest
        )
        assert found.regret == pytest.approx(float(lost), abs=1e-12)


def test_perfect_play_loses_nothing_and_is_known_by_its_values():
    values = solve_boards(NINE)
    found = evaluate_boards(values, Preference(values.worths))
    assert (found.regret, found.agreement_by_visits, found.mistakes()) == (0, 1, [])
    assert found.value == pytest.approx(11.15750844420262, abs=1e-12)
    assert found.normalised_score == 1
    assert found.random_value == pytest.approx(20.418812228, abs=1e-9)


def test_moves_worth_nothing_are_equally_good_where_utilities_of_both_signs_cancel():
    """On a 3, to shut 3 or 1 and 2 is worth 0, but for rounding, a share of which would be no tolerance."""
    worth = np.array([-0.9, 0.4, 1.0, 0.3, -1, -1, -1])
    values = solve_boards(ShutTheBox(tiles=3, dice=1, faces=4), lambda score: worth[score])
    worths = values.worths(np.array([0b100, 0b011]), 1)
    assert 0 < abs(worths).max() < 1e-15
    for sign in (-1, 1):
        assert evaluate_boards(values, Preference(lambda held, dice, sign=sign: sign * held)).agreement_by_visits == 1


def test_a_preference_stands_for_a_policy_of_arrays_too():
    biggest = Preference(lambda boards, dice: -boards)
    assert (policy_of_preference(solve(NINE).tables, biggest) == strategy(NINE, "biggest-first")).all()
    assert evaluate(NINE, biggest).regret == pytest.approx(0.215747, abs=1e-6)
    assert evaluate(NINE, AnyMove()).value == pytest.approx(20.418812228, abs=1e-9)


def test_large_boxes_are_measured_by_boards(monkeypatch):
    monkeypatch.setattr(compiling, "LARGEST_TABLE", 1000)
    small = evaluate(NINE, strategy(NINE, "fewest-then-biggest"), "shut")
    assert isinstance(small, BoardEvaluation)
    assert small.value == small.shut_probability == pytest.approx(0.0699922778, abs=1e-10)
    assert isinstance(strategy(NINE, "random"), AnyMove)


@pytest.mark.parametrize(
    "wanted",
    [lambda held, dice: 1, lambda held, dice: held * np.nan, lambda held, dice: held[1:], lambda held, dice: held * 1j],
    ids=["one", "no number", "too few", "complex"],
)
def test_what_is_no_preference_is_refused(wanted):
    for call in (partial(evaluate_boards, solve_boards(NINE)), partial(evaluate, NINE)):
        with pytest.raises(ValueError, match=r"^a preference must give a finite number for each of \d+ states, not "):
            call(Preference(wanted))


def test_a_rule_of_thumb_that_looks_at_the_roll_needs_arrays(monkeypatch):
    monkeypatch.setitem(entry_of(NINE).rules_of_thumb, "by-roll", lambda game, moves: moves.roll[:, 0])
    with pytest.raises(ValueError, match=r"^a rule of thumb that looks at more than what moves lead to needs arrays"):
        evaluate_boards(solve_boards(NINE), board_strategy(NINE, "by-roll"))


def test_progress_is_told(monkeypatch):
    calls = []
    evaluate_boards(by_boards(monkeypatch, NINE, 1), AnyMove(), lambda done, rows: calls.append((done, rows)))
    assert calls == [(done, 256) for done in range(4, 257, 4)]
