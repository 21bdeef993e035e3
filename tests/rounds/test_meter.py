"""Test the exact results of agents in a round against evaluated rounds."""

from itertools import product

import gymnasium as gym
import numpy as np
import pytest

import stb_gym
from stb_gym import RegretMeter, ShutTheBox, Threes, VectorRecordRegret
from stb_gym.rounds import TIES, Round, RoundEnv, RoundMeter, RoundVectorEnv, SelfPlayVectorEnv
from tests import every
from tests.measure.test_meter import first_legal, uniform
from tests.measure.test_recording import first, play_many
from tests.own_wrappers import FewerLegal, Impatient, Opposite, Own, Reversed, SameDice
from tests.rounds.agents import arbitrary_strategy, as_agent

THREES = "stb_gym/ThreesRound-v0"
DICE, BOX = Threes(dice=2, faces=4), ShutTheBox(tiles=3)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "ties", "shut_wins"),
    every(5, product([BOX, Threes(dice=2, faces=4, free_face=1, moon=True)], TIES, [False, True])),
    ids=str,
)
def test_wins_and_regrets_are_those_of_the_evaluated_rounds_of_all_seats(game, ties, shut_wins):
    rules, others, plays = Round(game, 3, ties, shut_wins), ["approximation", "random"], arbitrary_strategy(game, 1)
    env = RoundEnv(game, 3, "drawn", others, ties, shut_wins, observation_dtype="float32")
    found = RoundMeter(env)(as_agent(game, plays))
    for seat in range(3):
        evaluation = rules.evaluate([*others[:seat], plays, *others[seat:]])
        assert found.seats[seat] == pytest.approx(evaluation.seats[seat], abs=1e-12)
        assert found.gains[seat] == pytest.approx(evaluation.best_response(seat).gain, abs=1e-12)
    assert found.value == pytest.approx(found.seats.mean())
    assert found.regret == pytest.approx(found.gains.mean())
    assert found.best == pytest.approx(found.value + found.regret)
    assert env.opponents.reward_threshold == pytest.approx(found.best / env.opponents.chance.sum())


@pytest.mark.parametrize(("game", "players"), [(DICE, 3), (BOX, 2)], ids=str)
def test_an_agent_as_a_strategy_plays_every_seat_as_it_does(game, players):
    solution = Round(game, players).solve()
    equilibrium = as_agent(game, lambda tables, at: np.eye(tables.num_actions)[solution.policy(at)])
    meter = RoundMeter(RoundVectorEnv(game, 1, players))
    found = solution, Round(game, players).evaluate(["random"] * players)
    for agent, wanted in zip((equilibrium, uniform), found, strict=True):
        everyone = meter.opponents.rules.evaluate([meter.strategy(agent)] * players)
        assert everyone.seats == pytest.approx(wanted.seats)
        assert everyone.exploitability == pytest.approx(wanted.exploitability, abs=1e-12)


def test_an_agent_as_a_strategy_is_refused_in_another_game():
    plays = RoundMeter(gym.make(THREES, dice=2)).strategy(first_legal)
    with pytest.raises(ValueError, match="is one for Threes"):
        Round(Threes(dice=2, free_face=6), 2).evaluate([plays, "optimal"])


@pytest.mark.slow
def test_the_mean_recorded_loss_is_the_regret():
    envs = VectorRecordRegret(gym.make_vec(THREES, 200, players=3, opponents="random"))
    envs.reset(seed=0)
    envs.unwrapped.set_opponents("take-all")  # whose best response is another one
    play_many(envs, 25, first)
    assert envs.regret == pytest.approx(RoundMeter(envs)(first_legal).regret, abs=5 * envs.standard_error)
    assert envs.standard_error < 0.006


def test_wrappers_masks_and_several_environments_make_no_difference():
    small = {"dice": 3, "faces": 4}
    plain = RoundMeter(gym.make(THREES, **small))(uniform).value
    masked = RoundMeter(gym.make(THREES.replace("-v0", "Masked-v0"), mask_names="rllib", **small))
    assert masked(lambda seen, masks: uniform(seen["observations"], seen["action_mask"])).value == plain
    assert RoundMeter(gym.make_vec(THREES, num_envs=3, **small))(uniform).value == plain


@pytest.mark.parametrize("wrapper", every(5, [Reversed, Impatient, FewerLegal, SameDice, Opposite]))
def test_wrappers_that_change_the_round_are_refused(wrapper):
    with pytest.raises(ValueError, match=f"{wrapper.__name__} changes "):
        RoundMeter(wrapper(gym.make("stb_gym/ShutTheBoxRound-v0", tiles=5)))


def test_a_wrapper_that_changes_nothing_is_measured():
    env = gym.make("stb_gym/ShutTheBoxRound-v0", tiles=4)
    assert RoundMeter(Own(env))(first_legal).regret == RoundMeter(env)(first_legal).regret


def test_a_function_that_draws_its_actions_is_named(recwarn):
    numbers = np.random.default_rng(0)

    def draws(observations, masks):
        return np.where(masks, numbers.random(masks.shape), 0).argmax(axis=1)

    meter = RoundMeter(gym.make("stb_gym/ThreesRound-v0", dice=2))
    with pytest.warns(UserWarning, match="draws its actions"):
        meter(draws)
    with pytest.warns(UserWarning, match="draws its actions"):
        meter.strategy(draws)
    meter(draws, deterministic=False)
    assert not recwarn


def test_illegal_actions_lose_the_round_or_are_refused():
    env = gym.make(THREES, players=2, seat=0)
    two = RoundMeter(env)(lambda seen, masks: np.full(len(masks), 1))  # of one die two cannot be kept
    assert two.value < RoundMeter(env)(lambda seen, masks: np.where(masks[:, 1], 1, 0)).value
    with pytest.raises(ValueError, match="illegal action"):
        RoundMeter(gym.make(THREES, illegal="raise"))(lambda seen, masks: np.full(len(masks), 1))
    meter = RoundMeter(gym.make(THREES))
    with pytest.raises(ValueError, match="illegal"):
        meter.opponents.rules.evaluate([meter.strategy(lambda seen, masks: np.full(len(masks), 1)), "random"])


def test_other_environments_and_functions_are_refused():
    for env in (gym.make("stb_gym/Threes-v0"), SelfPlayVectorEnv("threes"), "threes"):
        with pytest.raises(TypeError):
            RoundMeter(env)
    for env in (gym.make(THREES), gym.make_vec(THREES, num_envs=2), SelfPlayVectorEnv("threes")):
        for question in (RegretMeter, stb_gym.solve, lambda env: stb_gym.evaluate(env, None)):
            with pytest.raises(TypeError, match="RoundMeter"):
                question(env)
    meter = RoundMeter(gym.make(THREES, players=3, seat=1))
    with pytest.raises(ValueError, match="another seat"):
        meter.opponents.rules.evaluate([meter.strategy(first_legal)] * 3)
