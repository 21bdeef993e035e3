"""Test that the `repr` of a result is one line of text without arrays."""

import pytest

import stb_gym
from stb_gym import RegretMeter, ShutTheBox, Threes, evaluate, solve, strategy
from stb_gym.large import large_strategy, solve_large
from stb_gym.measure import load_policy, pocket_card, simulate
from stb_gym.rounds import Round, tournament
from stb_gym.solver import compile_game

NINE, ROUND = ShutTheBox(), Round(ShutTheBox(), players=3)


def test_the_lines_of_results(snapshot):
    best, biggest = solve(NINE), strategy(NINE, "biggest-first")
    results = [
        best,
        solve(Threes(dice=3), "shut", exact=True),
        solve_large(NINE, "shut"),
        compile_game(NINE),
        RegretMeter(NINE),
        evaluate(NINE, biggest),
        solve_large(NINE).evaluate(large_strategy(NINE, "biggest-first")),
        pocket_card(best, biggest, 20),
        ROUND.solve(),
        ROUND.evaluate(["optimal", "random", "optimal"]),
        Round(NINE, ties="all-win").evaluate(["optimal", "random"]),
    ]
    assert list(map(repr, results)) == list(map(str, results)) == snapshot


@pytest.mark.parametrize(
    "ask",
    [
        stb_gym.certify,
        lambda what: tournament(what, ["random"] * 2),
        lambda what: simulate(what, solve(NINE).policy, 10),
        Round,
        lambda what: load_policy("ppo-nine-tiles", what),
    ],
)
def test_the_error_on_what_is_not_a_game_names_one(ask):
    for what in ("shut-the-box", ShutTheBox):
        with pytest.raises(TypeError, match=r"stb_gym.\w+\(\)"):
            ask(what)
