"""Test the check of collectors: right ones of several styles pass, and each planted fault is found and named."""

from collections import defaultdict

import numpy as np
import pytest

from stb_gym.check import rollout

MODES = ["NextStep", "SameStep", "Disabled"]
VECTORS = [(mode, vector) for mode in MODES for vector in ("sync", "turns")]
WEIGHTS = np.random.default_rng(0).normal(size=(4, 6))


def policy(observation, action_mask):
    """Return the probabilities of a linear softmax policy."""
    logits = np.where(action_mask, np.asarray(observation) @ WEIGHTS / 3, -np.inf)
    chances = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return chances / chances.sum(axis=-1, keepdims=True)


def act(random, observation, mask):
    """Return actions drawn from the policy, and their log-probabilities."""
    chances = policy(observation, mask)
    action = (chances.cumsum(axis=-1) > random.random((*chances.shape[:-1], 1))).argmax(axis=-1)
    return action, np.log(np.take_along_axis(chances, action[..., None], -1)[..., 0])


class Single:
    """A textbook loop over one environment; faults are planted by name."""

    def __init__(self, fault="", steps=150):
        self.fault = fault
        self.steps = steps

    def __call__(self, env):
        fault, random, rows = self.fault, np.random.default_rng(0), defaultdict(list)
        observation, info = env.reset(seed=3)
        was_done, last_reward = True, 0.0
        for step in range(self.steps):
            mask = info["action_mask"] != 0
            if fault == "reset-each-step":
                observation, info = env.reset()
                mask = info["action_mask"] != 0
            action, log_prob = act(random, observation, mask)
            if fault == "mask-play-only":
                log_prob = np.log(policy(observation, np.ones_like(mask))[action])
            if fault == "mask-not-in-play":
                action = random.integers(6)
            next_observation, reward, terminated, truncated, info = env.step(int(action))
            done = terminated or truncated
            row = {
                "observation": observation, "action": action, "reward": reward, "next_observation": next_observation,
                "terminated": terminated, "truncated": truncated, "done": done, "episode_start": was_done,
                "action_mask": mask, "next_action_mask": info["action_mask"], "log_prob": log_prob,
            }  # fmt: skip
            if fault == "rewards-shifted":
                row["reward"], last_reward = last_reward, reward
            elif fault == "cleanrl-408":
                row["terminated"] = done
            elif fault == "truncation-for-termination":
                row["truncated"] = done
            elif fault == "termination-as-truncation":
                row["terminated"], row["truncated"] = False, done
            elif fault == "swapped":
                row["terminated"], row["truncated"] = truncated, terminated
            elif fault == "dones-current":
                row["episode_start"] = done
            elif fault == "done-double-write":
                row["done"] = was_done
            elif fault == "next-mask-as-mask":
                row["action_mask"] = info["action_mask"]
            elif fault == "mask-as-next-mask":
                row["next_action_mask"] = mask
            elif fault == "rewards-clipped":
                row["reward"] = np.sign(reward)
            elif fault == "observations-cast":
                row["observation"] = observation.astype(np.uint8)
            elif fault == "forced-reset-as-end" and step % 25 == 24:
                row["terminated"] = True
                done = True
            for name, value in row.items():
                rows[name].append(value)
            was_done, observation = done, next_observation
            if done and fault != "no-reset":
                fresh, info = env.reset(seed=3 if fault == "seed-each-game" else None)
                if fault == "final-obs-lost":
                    rows["next_observation"][-1] = fresh
                if fault != "stale-first-obs":
                    observation = fresh
        if fault == "log-prob-of-other-action":
            rows["log_prob"] = np.roll(rows["log_prob"], 1)
        if fault == "list-reused":
            return {name: values[-5:] * 30 for name, values in rows.items()}
        if fault == "steps-left-out":
            return {name: values[:50] + values[60:] for name, values in rows.items()}
        return rows


class Vector:
    """A textbook loop over a vector environment; faults are planted by name."""

    def __init__(self, mode, fault="", steps=40):
        self.mode = mode
        self.fault = fault
        self.steps = steps

    def __call__(self, env):
        fault, random, rows = self.fault, np.random.default_rng(0), defaultdict(list)
        count = env.num_envs
        observation, info = env.reset(seed=[5] * count if fault == "all-same-seed" else 5)
        was_done = np.zeros(count, bool)
        last = {"reward": np.zeros(count), "done": np.ones(count, bool), "action_mask": np.zeros((count, 6), bool)}
        for _ in range(self.steps):
            mask = info["action_mask"] != 0
            action, log_prob = act(random, observation, mask)
            next_observation, reward, terminated, truncated, info = env.step(action)
            done = terminated | truncated
            final, next_mask = next_observation.copy(), info["action_mask"] != 0
            if self.mode == "SameStep" and done.any():
                for index in np.flatnonzero(done):
                    if fault != "final-obs-lost":
                        final[index] = info["final_obs"][index]
                    if fault != "final-mask-lost":
                        next_mask[index] = info["final_info"]["action_mask"][index]
            row = {
                "observation": observation, "action": action, "reward": reward.copy(), "next_observation": final,
                "terminated": terminated.copy(), "truncated": truncated.copy(), "action_mask": mask,
                "next_action_mask": next_mask, "log_prob": log_prob, "valid": ~was_done,
            }  # fmt: skip
            if self.mode != "NextStep":
                del row["valid"]
            current = row | {"done": done.copy()}
            if fault == "rewards-shifted":
                row["reward"] = last["reward"]
            elif fault == "done-shifted":
                row["done"] = last["done"]
            elif fault == "masks-shifted":
                row["action_mask"] = last["action_mask"]
            elif fault == "autoreset-rows":
                del row["valid"]
            last = current
            for name, value in row.items():
                rows[name].append(value)
            observation = next_observation
            was_done = done.copy()
            if self.mode == "Disabled" and done.any():
                observation, info = env.reset(options={"reset_mask": done.copy()})
                info["action_mask"] = np.where(done[:, None], info["action_mask"], next_mask)
        if fault == "same-array":
            rows["observation"] = [observation] * self.steps
        arrays = {name: np.stack(values) for name, values in rows.items()}
        if fault == "forced-reset-as-end":
            arrays["terminated"][-1] = True
        if fault == "view-not-transpose":
            return {name: view(array) for name, array in arrays.items()}
        if fault == "reward-view":
            arrays["reward"] = view(arrays["reward"])
        return arrays


def view(array):
    """Lay out an array [T, B, ...] environment by environment, and read it as [T, B, ...] without a transpose."""
    return array.swapaxes(0, 1).reshape(array.shape)


def likely(result):
    """Return the likely faults of a failed result as one text."""
    assert not result, result
    return "; ".join(result.likely)


def test_right_loops_pass():
    result = rollout(Single(), policy=policy)
    assert result, result
    assert {case.name: case.skipped for case in result.cases if case.skipped} == {}


@pytest.mark.parametrize(("mode", "vector"), VECTORS)
def test_right_vector_loops_pass(mode, vector):
    result = rollout(Vector(mode), num_envs=3, autoreset=mode, vector=vector, policy=policy)
    assert result, result


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("rewards-shifted", "reward is shifted: each row holds that of the step before"),
        ("cleanrl-408", "truncation is stored as termination"),
        ("truncation-for-termination", "termination is stored as truncation"),
        ("termination-as-truncation", "termination is never stored"),
        ("swapped", "terminated and truncated are swapped"),
        ("dones-current", "the end flag of the step itself is stored where that of the step before belongs"),
        ("done-double-write", "done is shifted: each row holds that of the step before"),
        ("next-mask-as-mask", "the mask is that of the next observation"),
        ("mask-as-next-mask", "the next mask is that of the observation before the step"),
        ("rewards-clipped", "rewards were scaled, clipped or normalized"),
        ("observations-cast", "observations were scaled, cast to another type"),
        ("forced-reset-as-end", "an unfinished episode is stored as terminated"),
        ("final-obs-lost", "the last observation of an episode is lost"),
        ("stale-first-obs", "stale first observation"),
        ("no-reset", "no reset"),
        ("reset-each-step", "the environment is reset after each step"),
        ("seed-each-game", "each reset sets the same seed"),
        ("list-reused", "steps are stored twice"),
        ("steps-left-out", "steps are left out"),
        ("log-prob-of-other-action", "log prob is shifted"),
        ("mask-play-only", "the policy without the mask"),
        ("mask-not-in-play", "actions are chosen without the mask"),
    ],
)
def test_faults_of_a_loop_are_named(fault, words):
    result = rollout(Single(fault), policy=policy)
    assert words in likely(result), result
    assert words in result.likely[0] or fault in ("mask-not-in-play", "reset-each-step"), result


@pytest.mark.parametrize(("mode", "vector"), VECTORS)
@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("rewards-shifted", "reward is shifted: each row holds that of the step before"),
        ("done-shifted", "done is shifted: each row holds that of the step before"),
        ("masks-shifted", "action mask is shifted: each row holds that of the step before"),
        ("same-array", "all rows hold the same array"),
        ("forced-reset-as-end", "an unfinished episode is stored as terminated"),
        ("view-not-transpose", "the batch mixes environments"),
        ("reward-view", "reward mixes environments"),
    ],
)
def test_faults_of_a_vector_loop_are_named(fault, words, mode, vector):
    result = rollout(Vector(mode, fault), num_envs=3, autoreset=mode, vector=vector)
    assert words in likely(result), result
    assert words in result.likely[0], result


@pytest.mark.parametrize("vector", ["sync", "turns"])
@pytest.mark.parametrize(
    ("mode", "fault", "words"),
    [
        ("NextStep", "autoreset-rows", "rows of the autoreset step"),
        ("SameStep", "final-obs-lost", "the last observation of an episode is lost"),
        ("SameStep", "final-mask-lost", "the last mask of an episode is lost"),
    ],
)
def test_faults_of_a_mode_are_named(mode, fault, words, vector):
    result = rollout(Vector(mode, fault), num_envs=3, autoreset=mode, vector=vector)
    assert words in result.likely[0], result


@pytest.mark.parametrize("mode", MODES)
def test_equal_seeds_are_found(mode):
    assert "the same seed" in likely(rollout(Vector(mode, "all-same-seed"), num_envs=3, autoreset=mode))
