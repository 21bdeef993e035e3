"""What is shown of a result at a prompt: a line that tells what it is, and never its arrays."""

import gymnasium as gym
import pytest

import stb_gym
from stb_gym import AnyMove, Preference, Round, RoundMeter, ShutTheBox, Threes, solve, solve_boards, strategy

NINE = ShutTheBox()
ROUND = Round(NINE, players=3)


@pytest.mark.parametrize(
    ("made", "line"),
    [
        (lambda: solve(NINE), "<ShutTheBox(): score 11.1575 points>"),
        (lambda: solve(NINE, exact=True), "<ShutTheBox(): score 11.1575 points>"),
        (lambda: solve(Threes(), "shut"), "<Threes(): shut 0.0210745 probability>"),
        (lambda: solve_boards(NINE, "shut"), "<ShutTheBox(): shut 0.0714316 probability>"),
        (lambda: stb_gym.compile_game(NINE), "<ShutTheBox(): 512 states, 5,622 nodes, 7,104 edges>"),
        (
            lambda: stb_gym.evaluate(NINE, strategy(NINE, "random")),
            "<ShutTheBox(): score 20.4188, regret 9.261 points>",
        ),
        (
            lambda: stb_gym.evaluate_boards(solve_boards(NINE), AnyMove()),
            "<ShutTheBox(): score 20.4188, regret 9.261 points>",
        ),
        (
            lambda: stb_gym.pocket_card(solve(NINE), strategy(NINE, "fewest-then-biggest"), 20),
            "<20 exceptions: regret 0.1656, with them 0.07091>",
        ),
        (
            ROUND.solve,
            "<equilibrium of 3 players of ShutTheBox(), ties split: seats win [0.3316 0.3332 0.3353]>",
        ),
        (
            lambda: ROUND.evaluate(["optimal", "random", "optimal"]),
            "<3 players of ShutTheBox(), ties split: seats win [0.447  0.1025 0.4505]>",
        ),
    ],
)
def test_a_line_says_it(made, line):
    assert repr(made()) == str(made()) == line


@pytest.mark.parametrize(
    "made",
    [
        lambda: Preference(solve_boards(NINE).worths),
        lambda: ROUND.solve().replies[0],
        lambda: ROUND.standings,
        lambda: ROUND.solve().evaluation.best_response(0),
        lambda: stb_gym.tournament(Threes(), ["optimal", "take-all"]),
        lambda: stb_gym.simulate(NINE, strategy(NINE, "random"), 10_000, seed=0),
        lambda: stb_gym.read_policy("ppo-nine-tiles").evaluate(),
        lambda: RoundMeter(gym.make("stb_gym/ThreesRound-v0")).opponents,
        lambda: Round(Threes(), players=101).evaluate(["take-all"] * 101),
    ],
)
def test_arrays_are_not_shown(made):
    assert len(repr(made())) < 300


@pytest.mark.parametrize(
    "what", ["shut-the-box", ShutTheBox, gym.make("stb_gym/ShutTheBox-v0")], ids=["name", "class", "env"]
)
@pytest.mark.parametrize(
    "asked",
    [
        lambda what: strategy(what, "random"),
        stb_gym.strategies,
        stb_gym.compile_game,
        stb_gym.certify,
        solve_boards,
        lambda what: stb_gym.tournament(what, ["random"]),
        lambda what: stb_gym.simulate(what, solve(NINE).policy, 10),
        Round,
        lambda what: stb_gym.rolls(what, 2),
        lambda what: stb_gym.load_policy("ppo-nine-tiles", what),
        lambda what: stb_gym.Player(what, solve(NINE).policy),
    ],
)
def test_what_is_no_game_is_told_what_one_is(asked, what):
    with pytest.raises(TypeError, match=r"make one, such as stb_gym.\w+\(\)"):
        asked(what)
