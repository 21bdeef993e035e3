"""The network of afterstates: its targets, its choices, episodes in every mode, and resuming."""

from dataclasses import replace

import gymnasium as gym
import numpy as np
import pytest

from agents.afterstate_network import AfterstateNetwork, AfterstateSettings
from agents.checkpoints import load_snapshot, save_snapshot
from agents.luck import Luck
from agents.policy_array import preference
from stb_gym import RegretMeter, ShutTheBox, evaluate, solve
from stb_gym.solver import compile_game

BOX, THREES = "stb_gym/ShutTheBox-v0", "stb_gym/Threes-v0"
SETTINGS = AfterstateSettings(num_envs=64, minibatches=2, learning_rate=1e-2, exploration=0.15, width=32)


def make(env=BOX, mode="SameStep", num_envs=64, **rules):
    rules = rules if env == THREES else {"tiles": 5, **rules}
    return gym.make_vec(env, num_envs, autoreset_mode=gym.vector.AutoresetMode(mode), **rules)


def learner(envs=None, seed=0, **changes):
    return AfterstateNetwork(envs or make(), replace(SETTINGS, **changes), seed)


def regret(learner, game):
    return RegretMeter(game)(lambda seen, masks: learner.probabilities(seen, masks).argmax(axis=1)).regret


@pytest.mark.parametrize("mode", ["SameStep", "NextStep"])
@pytest.mark.parametrize("limit", [None, 2])
def test_it_learns_however_episodes_end_and_begin(mode, limit):
    agent, game = learner(make(mode=mode, max_episode_steps=limit)), ShutTheBox(tiles=5)
    before = regret(agent, game)
    agent.learn_until(3000)
    tables, optimum = compile_game(game), solve(game)
    expected = agent.values(tables.observation[tables.decisions], tables.legal[tables.decisions])
    assert regret(agent, game) < 0.25 < before
    assert np.abs(expected - optimum.node_utility[tables.decisions]).mean() < 0.8  # untrained it is 3


@pytest.mark.parametrize(("env", "rules"), [(THREES, {"dice": 3}), (BOX, {"tiles": 4, "one_die": "any-time"})])
def test_afterstates_of_different_numbers_of_dice_are_told_apart(env, rules):
    envs = make(env, **rules)
    agent = learner(envs)
    before = regret(agent, envs.game)
    agent.learn_until(5000)
    assert regret(agent, envs.game) < 0.2 < before


@pytest.mark.parametrize("mode", ["SameStep", "NextStep"])
@pytest.mark.parametrize("limit", [None, 2])
def test_a_target_is_the_reward_or_the_best_that_may_follow(mode, limit):
    agent = learner(make(mode=mode, max_episode_steps=limit))
    agent.learn_until(2000)
    points = np.arange(1, 6)
    for _ in range(20):
        seen, last = agent._playing.observation, agent._last
        afterstates, shown, targets = agent._play()
        assert (afterstates == last.afterstate[last.made]).all()
        assert (shown == last.shown[last.made]).all()
        on, reward = last.goes_on[last.made], last.reward[last.made]
        if limit is None:
            assert (reward[~on] == -(afterstates[~on][:, :5] @ points)).all()
            assert targets[~on] == pytest.approx(reward[~on] / agent._playing.scale)
        assert not reward[on].any()
        following = agent._look(seen[last.made & last.goes_on]).value
        assert targets[on] == pytest.approx(following, abs=1e-6)
        assert (seen[last.made & last.goes_on][:, :5] == afterstates[on][:, :5]).all()


@pytest.mark.parametrize("mode", ["SameStep", "NextStep"])
def test_the_rest_of_an_episode_that_is_truncated_is_expected(mode, monkeypatch):
    agent, given = learner(make(mode=mode, max_episode_steps=2)), []
    agent.learn_until(1000)
    play = agent._playing.step

    def step(action):
        led_to = play(action)
        given.append((led_to, led_to.reward.copy()))
        return led_to

    monkeypatch.setattr(agent._playing, "step", step)
    rests = []
    for _ in range(20):
        agent._play()
        led_to, reward = given.pop()
        if led_to.truncated.any():
            rests.append(agent.values(led_to.last, led_to.last_mask))
            reward[led_to.truncated] += rests[-1]
        assert agent._last.reward == pytest.approx(reward, rel=1e-5)
    assert np.abs(np.concatenate(rests)).max() > 0.1


@pytest.mark.parametrize("mode", ["SameStep", "NextStep"])
def test_what_chance_shows_are_rolls_also_those_that_end_a_turn(mode):
    agent = learner(make(mode=mode))
    rolls, ended = np.zeros(11), 0
    for _ in range(300):
        agent._play()
        last = agent._last
        shown = last.shown[last.made]
        assert not shown[:, :5].any()
        assert (shown[:, 5:].sum(axis=1) == (last.afterstate[last.made, -1] > 0)).all()  # none when the box is shut
        rolls += shown[:, 5:].sum(axis=0)
        ended += (~last.goes_on[last.made]).sum()
    assert ended > 1000
    assert rolls / rolls.sum() == pytest.approx((6 - abs(np.arange(11) - 5)) / 36, abs=0.01)


def test_luck_has_a_mean_of_0_for_each_number_of_dice():
    random, luck = np.random.default_rng(0), Luck(2, 3)
    dice = random.integers(3, size=5000).astype(np.uint8)
    shown = random.integers(5, size=(5000, 3), dtype=np.uint8) * dice[:, None]
    parts = [luck.of(dice[part], shown[part]) for part in np.split(np.arange(5000), [10, 100, 3000])]
    for number in range(3):
        of_dice = dice == number
        expected = shown[of_dice] - shown[of_dice].mean(axis=0)
        assert parts[-1][of_dice[3000:]] == pytest.approx(expected[(dice[:3000] == number).sum() :], abs=1e-4)
    again = Luck(2, 3)
    again.restore(luck.snapshot())
    assert (again.of(dice, shown) == luck.of(dice, shown)).all()
    assert (again.of(dice[:9], shown[:9]) == luck.of(dice[:9], shown[:9])).all()


def test_subtracting_luck_leaves_values_as_they_are():
    game, agent = ShutTheBox(tiles=5), learner(exploration=0.3)
    agent.learn_until(10_000)
    assert agent.figures["luck"] > 1.5 * agent.figures["loss"]  # which would hold it, if it were not subtracted
    tables, optimum = compile_game(game), solve(game)
    states = np.flatnonzero(tables.dice > 0)
    seen = np.zeros((len(states), 17), np.uint8)
    seen[:, :5], seen[:, 16] = tables.held[states][:, None] >> np.arange(5) & 1, 2
    told = agent._estimates(seen) * agent._playing.scale
    off = told - optimum.utilities_at(tables.held[states], tables.dice[states])
    assert np.abs(off[tables.held[states] != 31]).mean() < 0.5  # nothing leads to the first board


def test_the_best_move_has_the_greatest_value_and_random_ones_are_legal():
    agent, envs = learner(exploration=0.5), make(num_envs=512)
    agent.learn_until(1000)
    seen, infos = envs.reset(seed=3)
    masks = infos["action_mask"] == 1
    outlook = agent._look(seen)
    worth = agent._estimates(outlook.afterstate)
    for row in range(512):
        moves = slice(outlook.first[row], outlook.first[row] + outlook.choices[row])
        assert outlook.action[moves].tolist() == np.flatnonzero(masks[row]).tolist()
        assert outlook.value[row] == worth[moves].max() == worth[outlook.best[row]]
        assert outlook.best[row] == moves.start + worth[moves].argmax()


@pytest.mark.parametrize("rules", [{}, {"one_die": "any-time"}, {"stepper": "boards"}])
def test_its_policy_is_a_preference_for_what_moves_lead_to(rules):
    envs = make(**rules)
    agent = learner(envs)
    agent.learn_until(1500)
    exact = evaluate(envs.game, preference(envs.game, agent)).regret
    assert exact == pytest.approx(regret(agent, envs.game), abs=1e-12)
    assert exact > 0


def test_positions_without_a_move_are_worth_nothing():
    agent, tables = learner(), compile_game(ShutTheBox(tiles=5))
    agent.learn_until(1000)
    over = np.flatnonzero(tables.choices == 0)
    outlook = agent._look(tables.observation)
    assert not outlook.value[over].any()
    assert not agent._look(tables.observation[over]).value.any()
    assert outlook.value[tables.decisions].all()


@pytest.mark.parametrize(
    ("env", "rules"), [(BOX, {}), (BOX, {"max_episode_steps": 2}), (BOX, {"stepper": "boards"}), (THREES, {})]
)
def test_it_goes_on_from_a_file_bit_by_bit(env, rules, tmp_path):
    one = learner(make(env, **rules))
    one.learn_until(600)
    save_snapshot(tmp_path / "snapshot", one.snapshot())
    one.learn_until(1000)
    other = learner(make(env, **rules), seed=1)
    other.restore(load_snapshot(tmp_path / "snapshot"))
    other.learn_until(1000)
    for name, array in one.weights().items():
        assert (array == other.weights()[name]).all()
    assert one.figures == other.figures


def test_where_the_environment_has_no_snapshot_it_goes_on_with_new_episodes(monkeypatch):
    monkeypatch.delattr("stb_gym.envs.TurnVectorEnv.snapshot")
    monkeypatch.delattr("stb_gym.envs.StepperEnv.snapshot")
    one, other = learner(), learner(seed=1)
    one.learn_until(600)
    other.restore(one.snapshot())
    assert not other._last.made.any()
    other.learn_until(1000)
    assert np.isfinite(other.figures["loss"])


def test_environments_that_do_not_tell_what_moves_lead_to_are_refused():
    with pytest.raises(ValueError, match="needs an environment that has `afterstates`"):
        learner(gym.make_vec("CartPole-v1", 8))


def test_settings_without_a_meaning_are_refused():
    with pytest.raises(ValueError, match="exploration must be below 1"):
        replace(SETTINGS, exploration=1.0).check()
    assert SETTINGS.first_update == 2 * SETTINGS.num_envs
