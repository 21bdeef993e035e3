"""Environments of rules objects and of objectives of one's own."""

import copy
import pickle

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

from stb_gym import Objective, ShutTheBox, Threes, solve, strategy
from stb_gym.envs import TurnEnv, TurnVectorEnv, transitions
from stb_gym.solver import Player, compile_game
from tests.twins import MostThrees

BOX, THREES = "stb_gym/ShutTheBox-v0", "stb_gym/Threes-v0"


def squares(points):
    """Few points, and above all never many."""
    return -(points.astype(np.int64) ** 2)


def twenty(points):
    """As near to twenty as can be."""
    return -abs(points.astype(np.int64) - 20) + 3


def thirds(points):
    return points / 3


OWN = [squares, twenty, thirds, Objective("cost", squares, "coins", -1)]


def utility_of(objective):
    return objective.utility if isinstance(objective, Objective) else objective


def play(env, player, seed):
    """The rewards of a turn, and how it ended."""
    observation, _ = env.reset(seed=seed)
    rewards, over = [], False
    while not over:
        observation, reward, over, _, info = env.step(player(observation))
        rewards.append(reward)
    return rewards, info


# Objectives


@pytest.mark.parametrize("objective", OWN, ids=["squares", "twenty", "thirds", "object"])
@pytest.mark.parametrize("name", [BOX, THREES])
def test_a_turn_is_rewarded_with_its_utility(name, objective):
    env = gym.make(name, objective=objective)
    assert env.unwrapped.objective.utility is utility_of(objective)
    player = Player(env.unwrapped.game, strategy(env.unwrapped.game, "random"), seed=1)
    seen = set()
    for seed in range(100):
        rewards, info = play(env, player, seed)
        assert rewards[:-1] == [0] * (len(rewards) - 1)
        assert rewards[-1] == utility_of(objective)(np.array([info["final_score"]]))[0]
        seen.add(rewards[-1])
    assert len(seen) > 5


@pytest.mark.parametrize("mode", AutoresetMode)
def test_many_turns_are_rewarded_alike(mode):
    env = gym.make_vec(BOX, 50, objective=twenty, autoreset_mode=mode)
    player = Player(env.game, strategy(env.game, "random"), seed=1)
    observation, _ = env.reset(seed=3)
    ended = 0
    for _ in range(12):
        observation, reward, over, _, info = env.step(player(observation))
        told = info if mode != AutoresetMode.SAME_STEP else info.get("final_info", {"final_score": np.zeros(50, int)})
        assert (reward[over] == twenty(told["final_score"][over])).all()
        assert not reward[~over].any()
        ended += over.sum()
        if mode == AutoresetMode.DISABLED and over.any():
            observation, _ = env.reset(options={"reset_mask": over})
    assert ended > 50


@pytest.mark.parametrize(("objective", "worst"), [(squares, -2025), (twenty, -22), (thirds, 0), (OWN[3], -2025)])
def test_an_illegal_action_is_rewarded_with_the_least_there_is(objective, worst):
    """Even where the worst score, which ends the turn, is none of the worst for this objective."""
    env, many = gym.make(BOX, objective=objective), gym.make_vec(BOX, 3, objective=objective)
    _, info = env.reset(seed=0)
    _, reward, over, _, info = env.step(int(info["action_mask"].argmin()))
    assert (reward, over, info["final_score"], info["illegal_action"]) == (worst, True, 45, True)
    _, info = many.reset(seed=0)
    _, reward, over, _, info = many.step(info["action_mask"].argmin(axis=1))
    assert reward.tolist() == [worst] * 3
    assert over.all()
    assert info["final_score"].tolist() == [45] * 3


def test_the_mean_reward_of_perfect_play_is_its_value():
    best = solve(ShutTheBox(), squares)
    env = gym.make_vec(BOX, 4000, objective=squares, autoreset_mode="NextStep")
    player = Player(env.game, best.policy)
    observation, _ = env.reset(seed=5)
    returns, playing = np.zeros(4000), np.ones(4000, bool)
    while playing.any():
        observation, reward, over, _, _ = env.step(player(observation))
        returns += reward * playing
        playing &= ~over
    assert abs(returns.mean() - best.value) < 4 * returns.std() / 4000**0.5


def test_functions_of_the_same_name_are_told_apart():
    first, second = (gym.make(BOX, objective=lambda points, by=by: points * by) for by in (1, 2))
    assert first.unwrapped.objective.name == second.unwrapped.objective.name == "<lambda>"
    for env, by in ((first, 1), (second, 2)):
        env.reset(seed=0)
        player = Player(ShutTheBox(), strategy(ShutTheBox(), "biggest-first"))
        rewards, info = play(env, player, 0)
        assert rewards[-1] == by * info["final_score"]


def test_objectives_share_their_tables():
    assert (
        transitions(ShutTheBox(), TurnEnv("shut-the-box", objective=squares).objective)
        is TurnEnv("shut-the-box", objective=squares).transitions
    )
    assert (
        TurnEnv("shut-the-box", objective="score").transitions is TurnVectorEnv("shut-the-box", num_envs=2).transitions
    )
    assert (
        TurnEnv("shut-the-box", objective="at-most:03").transitions
        is TurnEnv("shut-the-box", objective="at-most:3").transitions
    )
    assert TurnEnv("shut-the-box", objective="shut").transitions is not TurnEnv("shut-the-box").transitions


@pytest.mark.parametrize("how", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))], ids=["copy", "pickle"])
@pytest.mark.parametrize("objective", [squares, OWN[3], "at-most:3"], ids=["function", "object", "name"])
def test_copies_have_the_same_objective(how, objective):
    for env in (gym.make(BOX, objective=objective).unwrapped, gym.make_vec(BOX, 3, objective=objective)):
        env.reset(seed=4)
        other = how(env)
        assert other.objective == env.objective
        assert other.transitions is env.transitions
        masks = np.atleast_2d(env.action_masks())
        actions = masks.argmax(axis=1) if isinstance(env, TurnVectorEnv) else int(masks[0].argmax())
        for one, two in zip(env.step(actions)[:3], other.step(actions)[:3], strict=True):
            assert np.array_equal(one, two)


@pytest.mark.parametrize("utility", [lambda points: points * np.nan, lambda points: 1.0, lambda points: points[:1]])
def test_a_utility_that_is_no_number_for_each_score_is_refused(utility):
    for make in (gym.make, gym.make_vec):
        with pytest.raises(
            ValueError, match=r"^the objective <lambda> must give a finite number for each of \d+ scores$"
        ):
            make(BOX, objective=utility)


# Rules objects


@pytest.mark.parametrize("game", [ShutTheBox(tiles=5, match="one-tile"), Threes(dice=3, moon=True), MostThrees(dice=2)])
def test_rules_objects_make_environments_registered_or_not(game):
    env = TurnEnv(game, render_mode="ansi")
    assert env.game is game
    check_env(env, skip_render_check=True)
    observation, info = env.reset(seed=1)
    node = int(env.node(observation))
    assert (compile_game(game).legal(np.array([node]))[0] == info["action_mask"]).all()
    many = TurnVectorEnv(game, 5, objective="shut", autoreset_mode="SameStep")
    observation, info = many.reset(seed=1)
    for _ in range(20):
        observation, _, _, _, info = many.step(many.legal_sample())
        assert (compile_game(game).legal(many.node(observation)) == info["action_mask"]).all()
    assert many.game is game


def test_names_and_fields_make_the_same_environments_as_rules_objects():
    for env in (TurnEnv("threes", dice=3), TurnEnv(Threes(dice=3)), gym.make(THREES, dice=3).unwrapped):
        assert env.game == Threes(dice=3)
        assert env.transitions is TurnEnv(Threes(dice=3)).transitions
        assert env.reset(seed=3)[0].tolist() == TurnEnv("threes", dice=3).reset(seed=3)[0].tolist()
    assert TurnVectorEnv("threes", 4, dice=3).game == TurnVectorEnv(Threes(dice=3), 4).game == Threes(dice=3)
    with pytest.raises(TypeError, match="game"):
        TurnEnv()  # no game is more usual than another


def test_more_points_are_better_rewarded_where_they_are_better():
    game = MostThrees(dice=2)
    env = TurnEnv(game)
    assert play(env, Player(game, strategy(game, "random"), 0), 1)[0][-1] >= 0
    rewards, info = play(env, Player(game, solve(game).policy), 2)
    assert rewards[-1] == info["final_score"] > 0
    _, info = env.reset(seed=0, options={"held": 3, "dice": 1})
    _, reward, _, _, info = env.step(int(info["action_mask"].argmin()))
    assert (reward, info["final_score"], info["illegal_action"]) == (0, 0, True)  # the worst there is


@pytest.mark.parametrize("make", [TurnEnv, TurnVectorEnv])
@pytest.mark.parametrize(
    ("game", "rules", "message"),
    [
        ("go", {}, "unknown game 'go': allowed are shut-the-box, threes"),
        (Threes(), {"dice": 3}, r"Threes\(\) has its rules already: dice cannot be given beside it"),
        (Threes, {}, "a game is a rules object or one of the names"),
        (7, {}, "a game is a rules object or one of the names"),
        ("threes", {"objective": "at-least:3"}, "unknown objective 'at-least:3'"),
    ],
)
def test_games_that_are_none_are_refused(make, game, rules, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        make(game, **rules)
