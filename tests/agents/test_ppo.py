"""Masked PPO: its objective sample by sample, episodes in every mode, determinism, resuming, and learning."""

import json
from dataclasses import replace
from types import SimpleNamespace

import gymnasium as gym
import numpy as np
import pytest
import torch

from agents.batches import advantages
from agents.networks import Perceptron, weights_of
from agents.playing import Playing
from agents.ppo import PPO, PPOSettings
from stb_gym import RegretMeter, ShutTheBox, Threes

BOX, THREES = "stb_gym/ShutTheBox-v0", "stb_gym/Threes-v0"
SETTINGS = PPOSettings(
    masks=True,
    num_envs=64,
    n_steps=8,
    n_epochs=4,
    minibatches=4,
    learning_rate=3e-3,
    entropy=0.05,
    gae_lambda=0.6,
    averaging=0.8,
    clip_range=0.2,
    value_weight=0.5,
    max_gradient=0.5,
    width=32,
)


QUICK = {"n_steps": 16, "minibatches": 2, "learning_rate": 5e-3}


def make(mode="SameStep", num_envs=64, env=BOX, kind="vector_entry_point", tiles=6, **options):
    rules = {"tiles": tiles} if env == BOX else {}
    vector = {"autoreset_mode": gym.vector.AutoresetMode(mode)}
    if kind == "sync":
        return gym.make_vec(env, num_envs, kind, vector_kwargs=vector, **rules, **options)
    return gym.make_vec(env, num_envs, kind, **vector, **rules, **options)


def ppo(envs=None, seed=0, **changes):
    return PPO(envs or make(), replace(SETTINGS, **changes), seed)


def regret(learner, game):
    return RegretMeter(game)(
        lambda observations, masks: learner.probabilities(observations, masks).argmax(axis=1)
    ).regret


def test_advantages_are_the_weighted_sums_of_surprises_to_the_end_of_the_episode():
    random = np.random.default_rng(2)
    reward, value = random.normal(size=(6, 5)), random.normal(size=(7, 5))
    over = random.random((6, 5)) < 0.3
    found = advantages(reward, over, value, 0.7)
    for env in range(5):
        for step in range(6):
            total, weight = 0.0, 1.0
            for at in range(step, 6):
                after = 0 if over[at, env] else value[at + 1, env]
                total += weight * (reward[at, env] + after - value[at, env])
                weight *= 0.7
                if over[at, env]:
                    break
            assert found[step, env] == pytest.approx(total)


@pytest.mark.parametrize("mode", ["SameStep", "NextStep"])
def test_the_loss_is_that_of_all_samples_one_by_one(mode):
    learner = ppo(make(mode))
    learner.learn_until(1024)
    played = learner._play()
    batch = learner._batch(played)
    seen, mask, decision, action, log_probability, reward, over = played
    old = learner.probabilities(seen[:-1].reshape(-1, seen.shape[-1]), mask[:-1].reshape(-1, mask.shape[-1]))
    scale = learner._playing.scale
    value = learner.values(seen.reshape(-1, seen.shape[-1]), mask).reshape(9, 64) / scale
    advantage = advantages(reward / scale, over, value, 0.6)
    target = (advantage + value[:-1])[decision]
    advantage = advantage[decision]
    advantage = (advantage - advantage.mean()) / advantage.std()
    with torch.no_grad():
        for weights in learner._networks.parameters():
            weights += 0.05 * torch.randn_like(weights)
    learner.load_weights(learner.weights())  # the critic learns from its average on
    new = learner.probabilities(seen[:-1].reshape(-1, seen.shape[-1]), mask[:-1].reshape(-1, mask.shape[-1]))
    value = learner.values(seen[:-1].reshape(-1, seen.shape[-1]), mask).reshape(8, 64)[decision] / scale
    chosen = decision.ravel(), action[decision]
    assert log_probability[decision] == pytest.approx(np.log(old[chosen[0], chosen[1]]), abs=1e-5)
    ratio = new[chosen[0], chosen[1]] / old[chosen[0], chosen[1]]
    assert (np.abs(ratio - 1) > 0.2).mean() > 0.1
    objective = np.minimum(ratio * advantage, ratio.clip(0.8, 1.2) * advantage).mean()
    entropy = -(new * np.log(new.clip(1e-30))).sum(axis=1)[decision.ravel()].mean()
    loss, figures = learner._loss(batch, 0.1)
    assert figures["objective"].item() == pytest.approx(objective, abs=1e-5)
    assert figures["entropy"].item() == pytest.approx(entropy, abs=1e-5)
    assert figures["clipped"].item() == pytest.approx((np.abs(ratio - 1) > 0.2).mean(), abs=1e-5)
    # The squared error differs by the variance of the targets of equal rows, which no critic changes.
    rows = np.unique(np.concatenate([seen, mask], axis=2)[:-1][decision], axis=0, return_inverse=True)[1]
    mean = (np.bincount(rows, target) / np.bincount(rows))[rows]
    assert figures["value_error"].item() == pytest.approx(((value - mean) ** 2).mean(), abs=1e-5)
    assert loss.item() == pytest.approx(0.5 * ((value - mean) ** 2).mean() - objective - 0.1 * entropy, abs=1e-4)
    parts = torch.arange(len(batch.weight)).chunk(3)
    assert sum(learner._loss(batch.of_rows(rows), 0.1)[0] for rows in parts).item() == pytest.approx(loss.item())


def test_actions_are_drawn_with_the_probabilities_of_the_actor():
    learner = ppo(make(num_envs=4))
    observation, mask = (
        array[:1].repeat(40_000, axis=0) for array in (learner._playing.observation, learner._playing.mask)
    )
    with torch.no_grad():
        learner._actor.layers[-1].weight *= 200
    drawn = np.bincount(learner._choose(observation, mask)[0], minlength=mask.shape[1]) / 40_000
    expected = learner.probabilities(observation[:1], mask[:1])[0]
    assert 0.05 < expected.max() < 0.95
    assert drawn == pytest.approx(expected, abs=0.01)
    assert drawn[~mask[0]].sum() == 0


@pytest.mark.parametrize("number", [0.0, 1 - 2**-24])
def test_the_least_and_the_greatest_random_number_choose_legal_actions_too(number):
    learner = ppo(make(num_envs=256))
    learner._random = SimpleNamespace(random=lambda size, dtype: np.full(size, number, dtype))
    mask = learner._playing.mask
    actions, _ = learner._choose(learner._playing.observation, mask)
    assert mask[np.arange(256), actions].all()


@pytest.mark.parametrize("kind", ["vector_entry_point", "sync"])
def test_the_last_observations_of_truncated_episodes_are_those_they_led_to(kind):
    """Whichever way episodes begin anew: in NEXT_STEP mode it is what the step returns."""
    options = {"max_episode_steps": 2, "num_envs": 32, "env": THREES, "kind": kind}
    playing = {mode: Playing(make(mode, **options), True, 5) for mode in ("SameStep", "NextStep")}
    ends = {}
    for mode, episodes in playing.items():
        episodes.step(episodes.mask.argmax(axis=1))
        _, _, truncated, *ends[mode] = episodes.step(episodes.mask.argmax(axis=1))
        assert truncated.all()
        assert episodes.decision.all() == (mode == "SameStep")
    for same, following in zip(ends["SameStep"], ends["NextStep"], strict=True):
        assert len(same) == 32
        assert (same == following).all()
    _, _, truncated, last, _ = playing["NextStep"].step(np.zeros(32, int))
    assert not truncated.any()
    assert len(last) == 0
    assert playing["NextStep"].decision.all()


def test_what_is_expected_of_the_rest_of_a_truncated_episode_is_rewarded():
    learner = ppo(make(env=THREES, max_episode_steps=2))
    *_, reward, over = learner._play()
    whole = np.abs(reward - np.rint(reward)) < 1e-3  # as the rewards of the game are
    assert whole[~over].all()
    assert 0.1 < whole[over].mean() < 0.9


@pytest.mark.parametrize(
    ("mode", "kind"), [("SameStep", "vector_entry_point"), ("NextStep", "vector_entry_point"), ("NextStep", "sync")]
)
def test_it_learns_in_every_mode_and_also_environments_of_gymnasium(mode, kind):
    learner = ppo(make(mode, kind=kind, tiles=5), **QUICK)
    before = regret(learner, ShutTheBox(tiles=5))
    learner.learn_until(12_000)
    assert before > 0.5
    assert regret(learner, ShutTheBox(tiles=5)) < 0.35


def test_it_learns_threes_and_expects_what_it_gets():
    learner, game = ppo(make(env=THREES, dice=3), **QUICK), Threes(dice=3)
    assert regret(learner, game) > 1
    learner.learn_until(20_000)
    evaluation = RegretMeter(game)(lambda o, m: learner.probabilities(o, m).argmax(axis=1))
    assert evaluation.regret < 0.5
    playing = Playing(make(env=THREES, num_envs=4000, dice=3), True, 1)
    assert learner.values(playing.observation, playing.mask).mean() == pytest.approx(evaluation.value * -1, abs=0.5)


def poles():
    """An environment without masks, which rewards every step with 1."""
    return gym.make_vec("CartPole-v1", 16, "vector_entry_point")


def test_environments_without_masks_are_learned_too():
    learner = ppo(poles(), n_steps=32, minibatches=2, learning_rate=6e-3, entropy=0.02, gae_lambda=0.95)
    learner.learn_until(8000)
    playing, fallen = Playing(poles(), True, 1), 0
    for _ in range(150):
        step = playing.step(learner.probabilities(playing.observation, playing.mask).argmax(axis=1))
        fallen += step.terminated.sum()
    assert fallen <= 4  # without learning a pole falls after some 20 steps


def test_rewards_are_divided_by_the_greatest_sum_of_an_episode():
    playing, sums, greatest = Playing(poles(), True, 3), np.zeros(16), 0.0
    random = np.random.default_rng(4)
    for _ in range(100):
        step = playing.step(random.integers(2, size=16))
        sums += step.reward
        greatest = max(greatest, sums.max())
        sums[step.terminated] = 0
        assert playing.scale == greatest
    assert 20 < greatest < 100


def test_weights_tell_values_in_points_to_another_learner_too():
    one, other = ppo(), ppo(seed=1)
    one.learn_until(512)
    other.load_weights(one.weights())
    seen = one._playing.observation, one._playing.mask
    assert (one.values(*seen) == other.values(*seen)).all()
    assert (one.probabilities(*seen) == other.probabilities(*seen)).all()


def test_without_masks_illegal_actions_are_chosen():
    learner = ppo(masks=False)
    assert learner._playing.mask.all()
    assert (learner.probabilities(learner._playing.observation, learner._playing.mask) > 0).all()


def test_one_that_is_restored_goes_on_bit_by_bit():
    one, other = ppo(), ppo(seed=9)
    one.learn_until(512)
    kept = {name: np.array(entry) if isinstance(entry, np.ndarray) else entry for name, entry in one.snapshot().items()}
    json.dumps({name: entry for name, entry in kept.items() if not isinstance(entry, np.ndarray)})
    other.restore(kept)
    for learner in (one, other):
        learner.learn_until(1024)
    assert one.num_timesteps == other.num_timesteps == 1024
    for name, weights in one.weights().items():
        assert (weights == other.weights()[name]).all(), name
    assert one.figures == other.figures
    assert (one._playing.observation == other._playing.observation).all()


def test_one_whose_environment_cannot_tell_how_it_stands_goes_on_with_new_episodes():
    one, other = ppo(make(kind="sync")), ppo(make(kind="sync"), seed=1)
    one.learn_until(512)
    other.restore(one.snapshot())
    assert all((weights == other.weights()[name]).all() for name, weights in one.weights().items())
    other.learn_until(1024)
    assert other.num_timesteps == 1024


def test_what_is_wrong_is_told():
    with pytest.raises(ValueError, match="the autoreset mode must be NEXT_STEP or SAME_STEP, not DISABLED"):
        ppo(make("Disabled"))
    space = gym.spaces.Discrete(3)
    with pytest.raises(ValueError, match="observations must be arrays of numbers, a Box, not a Discrete"):
        Perceptron(space, 4, 1, 1.0, torch.Generator())
    with pytest.raises(ValueError, match="actions must be numbered from 0, a Discrete, not Box"):
        Playing(SimpleNamespace(single_action_space=gym.spaces.Box(0, 1)), True, 0)
    for change, told in [
        ({"clip_range": 1.0}, "clip_range must lie between 0 and 1, not be 1.0"),
        ({"gae_lambda": 1.5}, "gae_lambda must be from 0 to 1, not 1.5"),
        ({"learning_rate": 0.0}, "learning_rate must be a number above 0, not 0.0"),
        ({"averaging": 0.0}, "averaging must be a number above 0, not 0.0"),
        ({"entropy": -1.0}, "entropy must be a number, 0 or more, not -1.0"),
        ({"width": 0}, "width must be"),
    ]:
        with pytest.raises(ValueError, match=told):
            ppo(**change)


@pytest.mark.parametrize(("before", "share"), [(0, 10 / 11), (39, 0.25)])
def test_values_are_of_averaged_weights_of_the_critic(before, share):
    learner = ppo(make(num_envs=32), averaging=0.25, n_steps=2, n_epochs=1, minibatches=1, learning_rate=0.03)
    learner.learn_until(64 * before)
    averaged = {name: weights.copy() for name, weights in learner.weights().items()}
    learner.learn_until(64 * (before + 1))
    learned, moved, farthest = weights_of(learner._critic), learner.weights(), []
    for name, weights in learned.items():
        begin = averaged[f"critic.{name}"]
        assert moved[f"critic.{name}"] == pytest.approx(begin + share * (weights - begin), abs=1e-6)
        farthest.append(np.abs(weights - begin).max())
    assert max(farthest) > 1e-3


def test_rewards_of_the_environment_are_left_as_they_are():
    given = np.zeros(64, np.float32)
    playing = Playing(gym.wrappers.vector.TransformReward(make(), lambda _: given), masks=True, seed=0)
    playing.step(playing.mask.argmax(axis=1)).reward[:] = 1
    assert not given.any()


def test_a_rollout_without_a_decision_teaches_nothing():
    """In NextStep mode the step after the end of an episode only begins another."""
    learner = ppo(make("NextStep", num_envs=1, tiles=2, dice=1, faces=2), num_envs=1, n_steps=1)
    learner.learn_until(20)
    assert all(np.isfinite(array).all() for array in learner.weights().values())


def test_a_mask_that_some_infos_hold_is_of_these_environments():
    playing = Playing(make(num_envs=3), masks=True, seed=0)
    masks = np.zeros((3, playing.actions), np.int8)
    masks[0, 4] = 1
    legal = playing._legal({"action_mask": masks, "_action_mask": np.array([True, True, False])})
    assert legal.sum(axis=1).tolist() == [1, 0, playing.actions]
