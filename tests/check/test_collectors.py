"""Test the check of collectors: right ones of several styles pass, and each planted fault is found and named."""

from collections import defaultdict

import numpy as np
import pytest

import stb_gym
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


class Replay:
    """A ring buffer of transitions of one environment; faults are planted by name."""

    SIZE = 64

    def __init__(self, fault=""):
        self.fault = fault

    def __call__(self, env):
        fault, random, rows = self.fault, np.random.default_rng(0), {}
        observation, info = env.reset(seed=0)
        for step in range(150):
            action = random.choice(np.flatnonzero(info["action_mask"]))
            next_observation, reward, terminated, truncated, info = env.step(action)
            row = {
                "observation": observation, "action": action, "reward": reward, "next_observation": next_observation,
                "terminated": terminated, "truncated": truncated,
            }  # fmt: skip
            if fault == "joined":
                row = {**row, "terminated": terminated or truncated}
            if fault == "final-obs-lost" and (terminated or truncated):
                row["next_observation"], info = env.reset()
            for name, value in row.items():
                slot = (step + (fault == "slots" and name == "reward")) % self.SIZE
                rows.setdefault(name, [value] * self.SIZE)[slot] = value
            observation = row["next_observation"]
            if fault != "final-obs-lost" and (terminated or truncated):
                observation, info = env.reset()
        drawn = random.integers(self.SIZE, size=100)
        return {name: np.array(values)[drawn] for name, values in rows.items()}


def test_samples_of_a_replay_buffer_pass_in_any_order():
    result = rollout(Replay(), shuffled=True)
    assert result, result
    assert not rollout(Replay()), "rows of one environment must be in order"


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("joined", "truncation is stored as termination"),
        ("final-obs-lost", "the last observation of an episode is lost"),
        ("slots", "reward is shifted: each row holds that of the step before"),
    ],
)
def test_faults_of_a_replay_buffer_are_named(fault, words):
    assert words in rollout(Replay(fault), shuffled=True).likely[0]


def test_references_to_a_reused_buffer_are_found():
    assert "all rows hold the same array" in likely(rollout(Single(), reuse_buffer=True))
    result = rollout(Vector("SameStep"), num_envs=3, autoreset="SameStep", reuse_buffer=True)
    assert "all rows hold the same array" in likely(result)


def test_copies_of_a_reused_buffer_that_come_too_late_are_found():
    def collect(env):
        observation, _ = env.reset()
        rows = defaultdict(list)
        for _ in range(100):
            observation, reward, terminated, truncated, _ = env.step(0)
            rows["observation"].append(observation.copy())
            rows["reward"].append(reward)
            rows["done"].append(terminated or truncated)
            if rows["done"][-1]:
                observation, _ = env.reset()
        return rows

    assert "each observation is the one after its step" in rollout(collect).likely[0]


@pytest.mark.parametrize(
    "lay_out",
    [
        lambda array: array.swapaxes(0, 1),
        lambda array: array.reshape(-1, *array.shape[2:]),
        lambda array: array.astype(float) if array.dtype == np.float32 else array[..., None][..., 0],
    ],
)
@pytest.mark.parametrize("mode", MODES)
def test_other_layouts_pass(mode, lay_out):
    def collect(env):
        return {name: lay_out(array) for name, array in Vector(mode)(env).items()}

    result = rollout(collect, num_envs=3, autoreset=mode, policy=policy)
    assert result, result


def test_rows_without_those_of_autoresets_pass():
    def collect(env):
        rows = Vector("NextStep")(env)
        valid = rows.pop("valid")
        return {name: array[valid] for name, array in rows.items()}

    result = rollout(collect, num_envs=3)
    assert result, result


def test_flags_of_the_step_before_pass_with_autoreset_rows():
    def collect(env):
        rows = Vector("NextStep")(env)
        done = rows["terminated"] | rows["truncated"]
        start = np.concatenate([np.zeros((1, 3), bool), done[:-1]])
        return {"observation": rows["observation"], "reward": rows["reward"], "episode_start": start, "valid": ~start}

    result = rollout(collect, num_envs=3)
    assert result, result


def test_harmless_differences_pass():
    def collect(env):
        rows = Vector("SameStep")(env)
        rows["next_observation"][rows["terminated"]] = 0
        rows["next_action_mask"][rows["terminated"]] = 0
        rows["truncated"] &= ~rows["terminated"]
        rows["truncated"][-1] = ~rows["terminated"][-1]  # where the collector stops
        rows["done"] = rows["terminated"] | rows["truncated"]
        return rows

    result = rollout(collect, num_envs=3, autoreset="SameStep")
    assert result, result


def test_a_joined_flag_is_enough():
    def collect(env):
        return {name: rows for name, rows in Single()(env).items() if name in ("observation", "done")}

    result = rollout(collect)
    assert result, result
    skipped = {case.name: case.skipped for case in result.cases if case.skipped}
    assert skipped["terminated"] == skipped["reward"] == "not given"


def test_what_was_not_seen_is_reported_as_skipped():
    result = rollout(Single(), limit=50)
    assert result, result
    skipped = {case.name: case.skipped for case in result.cases if case.skipped}
    assert skipped == {"log_prob": "needs policy=", "truncation": "no stored episode reached the limit"}


def test_another_game_may_be_played():
    game = stb_gym.ShutTheBox(tiles=6, dice=1)
    assert "reward is shifted" in likely(rollout(Replay("slots"), game=game, limit=2, shuffled=True))


def test_the_report_says_where_and_what():
    text = repr(rollout(Single("cleanrl-408")))
    assert "rollout FAILED in 1 of" in text
    assert "holds True, but False happened" in " ".join(text.split())
    assert "likely: truncation is stored as termination" in text


@pytest.mark.parametrize(
    ("collect", "message"),
    [
        (lambda env: {}, "collect must play in the environment that it is given"),
        (lambda env: played(env)["observation"], "collect must return a dictionary with the entry observation"),
        (lambda env: {**played(env), "rewards": [0]}, "unknown entry of the rows 'rewards'.*did you mean reward"),
        (lambda env: {**played(env), "reward": [0.0]}, r"reward must have the shape \(150,\), not \(1,\)"),
        (lambda env: {**played(env), "reward": None}, "reward must be an array of numbers"),
        (lambda env: {**played(env), "reward": ["a"] * 150}, "reward must be an array of numbers"),
        (lambda env: {**played(env), "action_mask": [1] * 150}, r"action_mask must have the shape \(150, 6\)"),
        (lambda env: {"observation": [[[[0.0]]]]} | {"done": played(env)["done"]}, "observation must have the shape"),
        (lambda env: {name: rows[:1] for name, rows in played(env).items()}, "no episode ended in those"),
    ],
)
def test_wrong_answers_are_refused(collect, message):
    with pytest.raises(ValueError, match=message):
        rollout(collect)


def played(env):
    """Return right rows."""
    return dict(Single()(env))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"autoreset": "Never"}, "unknown autoreset 'Never'"),
        ({"vector": "async"}, "unknown vector 'async'"),
        ({"vector": "turns"}, "needs num_envs and an autoreset mode"),
        ({"num_envs": 2, "vector": "turns", "reuse_buffer": True}, "reuses no buffer"),
        ({"num_envs": 0}, "num_envs must be an integer from 1"),
        ({"limit": 1}, "limit must be an integer from 2"),
        ({"policy": lambda observation, mask: observation}, "must return probabilities"),
    ],
)
def test_wrong_arguments_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        rollout(Single(), **arguments)


@pytest.mark.slow
@pytest.mark.parametrize("vector", ["sync", "turns"])
def test_the_episodes_of_the_agents_pass(vector):
    common = pytest.importorskip("agents.common")

    def collect(envs):
        episodes, random, rows = common.Episodes(envs, 0), np.random.default_rng(0), defaultdict(list)
        for _ in range(50):
            rows["observation"].append(episodes.observation)
            rows["action_mask"].append(episodes.mask)
            rows["action"].append((random.random(episodes.mask.shape) * episodes.mask).argmax(axis=1))
            step = episodes.step(rows["action"][-1])
            for name in ("reward", "terminated", "truncated", "next_observation"):
                rows[name].append(getattr(step, name))
            rows["next_action_mask"].append(step.next_mask)
        return rows

    result = rollout(collect, num_envs=4, autoreset="SameStep", vector=vector)
    assert result, result


def on_policy(algorithm, **options):
    """Return a collector that runs `collect_rollouts` of stable-baselines3 or sb3-contrib, and its policy."""
    torch = pytest.importorskip("torch")
    from stable_baselines3.common.vec_env import DummyVecEnv

    models = []

    def collect(envs):
        vec_env = DummyVecEnv([lambda env=env: env for env in envs])
        model = algorithm("MlpPolicy", vec_env, n_steps=64, gamma=0.0, seed=0)  # without bootstrapping in rewards
        models.append(model)
        _, callback = model._setup_learn(1)
        for _ in range(2):
            model.collect_rollouts(model.env, callback, model.rollout_buffer, model.n_steps, **options)
        buffer = model.rollout_buffer
        rows = {
            "observation": buffer.observations, "action": buffer.actions, "reward": buffer.rewards,
            "episode_start": buffer.episode_starts, "log_prob": buffer.log_probs,
        }  # fmt: skip
        if options:
            rows["action_mask"] = buffer.action_masks.reshape(64, len(envs), -1)
        return rows

    def probabilities(observation, mask):
        masks = {"action_masks": mask} if options else {}
        with torch.no_grad():
            return models[-1].policy.get_distribution(torch.as_tensor(observation), **masks).distribution.probs

    return collect, probabilities


@pytest.mark.slow
@pytest.mark.parametrize("name", ["PPO", "A2C", "MaskablePPO"])
def test_collectors_of_stable_baselines3_pass(name):
    stable_baselines3 = pytest.importorskip("stable_baselines3")
    sb3_contrib = pytest.importorskip("sb3_contrib")
    algorithm = getattr(stable_baselines3, name, None) or getattr(sb3_contrib, name)
    collect, probabilities = on_policy(algorithm, **({"use_masking": True} if name == "MaskablePPO" else {}))
    result = rollout(collect, num_envs=4, autoreset=None, policy=probabilities)
    assert result, result


def replay_of_dqn(is_sampled, **options):
    """Return a collector that lets DQN of stable-baselines3 fill its replay buffer."""

    def collect(envs):
        from stable_baselines3 import DQN
        from stable_baselines3.common.vec_env import DummyVecEnv

        vec_env = DummyVecEnv([lambda env=env: env for env in envs])
        model = DQN("MlpPolicy", vec_env, learning_starts=1000, buffer_size=2000, seed=0, **options)
        model.learn(400)
        buffer = model.replay_buffer
        if is_sampled:
            rows = buffer.sample(256)
            return {
                "observation": rows.observations, "action": rows.actions, "next_observation": rows.next_observations,
                "reward": rows.rewards, "terminated": rows.dones,
            }  # fmt: skip
        stored = slice(buffer.pos)
        return {
            "observation": buffer.observations[stored], "action": buffer.actions[stored],
            "next_observation": buffer.next_observations[stored], "reward": buffer.rewards[stored],
            "done": buffer.dones[stored], "truncated": buffer.timeouts[stored],
        }  # fmt: skip

    return collect


@pytest.mark.slow
def test_the_replay_buffer_of_stable_baselines3_passes_with_its_handling_of_limits():
    pytest.importorskip("stable_baselines3")
    for is_sampled in (False, True):
        result = rollout(replay_of_dqn(is_sampled), num_envs=4, autoreset=None, shuffled=is_sampled)
        assert result, result
    options = {"replay_buffer_kwargs": {"handle_timeout_termination": False}}
    result = rollout(replay_of_dqn(True, **options), num_envs=4, autoreset=None, shuffled=True)
    assert result.likely[0] == "truncation is stored as termination"
