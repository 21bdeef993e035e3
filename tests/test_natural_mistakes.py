"""Test that natural mistakes are refused in one line, and never measured or stored as something else."""

from types import SimpleNamespace

import gymnasium as gym
import pytest

import stb_gym
from stb_gym import Objective, RegretMeter, ShutTheBox, compare, evaluate, load_policy, solve, strategy
from stb_gym.envs import TurnEnv
from stb_gym.games import rolls
from stb_gym.measure import pocket_card
from stb_gym.rounds import Round, RoundMeter, pars, series, tournament
from stb_gym.solver import AfterstateScorePolicy, UniformRandom

NINE, ROUND, BOX = ShutTheBox(), "stb_gym/ThreesRound-v0", "stb_gym/ShutTheBox-v0"


@pytest.mark.parametrize("stepper", ["tables", "boards"])
def test_rewards_follow_a_utility_that_changes(stepper):
    """In a notebook, a variable that the utility reads may change."""
    power = [0.0]
    goal = Objective("risk", lambda points: -(points.astype(float) ** power[0]))
    rewards = []
    for power[0] in (1.0, 2.0, 1.0):
        env = gym.make(BOX, objective=goal, stepper=stepper)
        env.reset(seed=0)
        rewards.append(env.step(0)[1])
    assert rewards == [-45, -2025, -45]


def test_changing_the_policy_array_does_not_change_the_solution():
    best = solve(NINE)
    mine, state = best.policy, 5616
    mine[state] = 12
    [mistake] = best.evaluate(mine).mistakes(1)
    assert (mistake.plays, mistake.best) == (12, best.policy[state])


@pytest.mark.parametrize("policy", [UniformRandom(), AfterstateScorePolicy(lambda boards, dice: -boards)])
def test_rule_policies_are_stored_as_the_actions_they_play(policy, tmp_path):
    stb_gym.save_policy(tmp_path / "mine.npz", NINE, policy)
    assert stb_gym.measure.read_policy(tmp_path / "mine.npz").evaluate().regret == evaluate(NINE, policy).regret


def test_a_meter_refuses_vectors_of_different_rounds():
    for other in ({"seat": 1}, {"opponents": "random"}):
        makers = [lambda: gym.make(ROUND), lambda other=other: gym.make(ROUND, **other)]
        with pytest.raises(ValueError, match="different seats, opponents or rounds"):
            RoundMeter(gym.vector.SyncVectorEnv(makers))


MISTAKES = [
    lambda: compare({}, {}),
    lambda: compare(evaluate(NINE, UniformRandom()), {1: 1.0}),
    lambda: pocket_card(NINE, solve(NINE).policy, 3),
    lambda: pocket_card(solve(NINE), strategy(NINE, "random"), 3),
    lambda: pocket_card(solve(NINE), solve(NINE).policy, -3),
    lambda: Round(NINE).evaluate("optimal"),
    lambda: series(Round(NINE), "optimal", 2),
    lambda: evaluate(NINE, solve(NINE).policy + 100, illegal="end"),
    lambda: gym.make(ROUND, render_mode="ansi").unwrapped.render(),
    # Types that look alike, some of which are cached
    lambda: rolls(NINE, 2) and rolls(NINE, 2.0),
    lambda: rolls(NINE, 1) and rolls(NINE, True),
    lambda: solve(NINE, worst="no"),
    lambda: solve(NINE, exact=1),
    lambda: gym.make(BOX, one_die_forced="no"),
    lambda: RegretMeter(NINE)(len, deterministic="no"),
    lambda: RegretMeter(NINE)(len, masked=0),
    # Objects of other classes, and texts that are long or control a terminal
    lambda: series(["optimal", "random"], ["optimal", "random"], 2),
    lambda: Round(NINE).solve().at(5),
    lambda: gym.make(ROUND).unwrapped.find_states(5),
    lambda: load_policy({}, NINE),
    lambda: load_policy("\x1b[31m\n" + "x" * 100_000, NINE),
    lambda: load_policy("ppo-threes", ShutTheBox(tiles=8, one_die="any-time", match="faces-or-sum", open=(1, 2, 3, 8))),
    lambda: strategy(NINE, "x" * 100_000),
    lambda: solve(NINE, "\x1b[31m\n" * 99),
    lambda: TurnEnv(NINE, **{"\x1b[31m": 1}),
    lambda: gym.make("stb_gym/Threes-v0", dice=7, faces=20, free_face=0, observation_dtype="int8"),
    lambda: RegretMeter(NINE)(SimpleNamespace(predict=len, action_space=gym.spaces.Box(0, 1, (30,)))),
    lambda: solve(NINE).evaluate(strategy(NINE, "random")).mistakes(-1),
    lambda: tournament(NINE, None),
    lambda: pars(Round(NINE)),
]


def test_other_mistakes_are_refused_in_one_line(snapshot):
    messages = []
    for mistake in MISTAKES:
        with pytest.raises((ValueError, TypeError, RuntimeError)) as error:
            mistake()
        messages.append(f"{type(error.value).__name__}: {error.value}")
    assert [line for line in messages if len(line) > 220 or not line.isprintable()] == []
    assert messages == snapshot
