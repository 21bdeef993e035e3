"""Test the check of collectors: right ones of several styles pass, and each planted fault is found and named."""

from collections import defaultdict

import numpy as np
import pytest

from stb_gym.check import rollout

MODES = ["NextStep", "SameStep", "Disabled"]
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


def play(env, fault=""):
    """Collect rows in one environment; faults are planted by name."""
    random = np.random.default_rng(0)
    rows = defaultdict(list)
    observation, info = env.reset(seed=3)
    was_done = True
    for _ in range(150):
        if fault == "reset-each-step":
            observation, info = env.reset()
        mask = info["action_mask"] != 0
        action, log_prob = act(random, observation, np.ones_like(mask) if fault == "mask-not-in-play" else mask)
        next_observation, reward, terminated, truncated, info = env.step(int(action))
        done = terminated or truncated
        row = {
            "observation": observation, "action": action, "reward": reward, "next_observation": next_observation,
            "terminated": terminated, "truncated": truncated, "done": done, "episode_start": was_done,
            "action_mask": mask, "next_action_mask": info["action_mask"], "log_prob": log_prob,
        }  # fmt: skip
        for name, value in row.items():
            rows[name].append(value)
        observation = next_observation
        was_done = done
        if done and fault != "no-reset":
            fresh, info = env.reset(seed=3 if fault == "seed-each-game" else None)
            if fault == "final-obs-lost":
                rows["next_observation"][-1] = fresh
            if fault != "stale-first-obs":
                observation = fresh
    return rows if fault == "obs-alias" else {name: np.array(values) for name, values in rows.items()}


def play_many(env, mode, fault=""):
    """Collect rows [T, B] in a vector environment; faults are planted by name."""
    random = np.random.default_rng(0)
    rows = defaultdict(list)
    observation, info = env.reset(seed=[5] * env.num_envs if fault == "all-same-seed" else 5)
    was_done = np.zeros(env.num_envs, bool)
    for _ in range(40):
        mask = info["action_mask"] != 0
        action, log_prob = act(random, observation, mask)
        next_observation, reward, terminated, truncated, info = env.step(action)
        done = terminated | truncated
        final = next_observation.copy()
        next_mask = info["action_mask"] != 0
        if mode == "SameStep":
            for index in np.flatnonzero(done):
                if fault != "final-obs-lost":
                    final[index] = info["final_obs"][index]
                if fault != "final-mask-lost":
                    next_mask[index] = info["final_info"]["action_mask"][index]
        row = {
            "observation": observation, "action": action, "reward": reward.copy(), "next_observation": final,
            "terminated": terminated.copy(), "truncated": truncated.copy(), "done": done, "episode_start": was_done,
            "action_mask": mask, "next_action_mask": next_mask, "log_prob": log_prob,
        }  # fmt: skip
        if mode == "NextStep" and fault != "autoreset-rows":
            row["valid"] = ~was_done
        for name, value in row.items():
            rows[name].append(value)
        observation = next_observation
        was_done = done
        if mode == "Disabled" and done.any():
            observation, info = env.reset(options={"reset_mask": done.copy()})
            info["action_mask"] = np.where(done[:, None], info["action_mask"], next_mask)
    return {name: np.array(values) for name, values in rows.items()}


def sample(rows):
    """Return samples of a replay buffer that holds the last 64 rows."""
    drawn = np.random.default_rng(0).integers(64, size=100)
    return {name: array[-64:][drawn] for name, array in rows.items()}


def check(mode, fault="", change=dict):
    """Check a loop, with a fault in it or a change of its rows.

    Modes are those of vector environments, "single" for one environment, or "samples" for samples of its rows.
    """

    def collect(env):
        rows = change(play_many(env, mode, fault) if mode in MODES else play(env, fault))
        return sample(rows) if mode == "samples" else rows

    options = {"num_envs": 3, "autoreset": mode} if mode in MODES else {"shuffled": mode == "samples"}
    return rollout(collect, policy=policy, **options)


@pytest.mark.parametrize("mode", ["single", "samples", *MODES])
def test_right_loops_pass(mode):
    result = check(mode)
    assert result, result
    assert {case.name for case in result.cases if case.skipped} <= {"episode_start"}


@pytest.mark.parametrize(
    ("mode", "fault", "words"),
    [
        ("single", "final-obs-lost", "the last observation of an episode is lost"),
        ("samples", "final-obs-lost", "the last observation of an episode is lost"),
        ("SameStep", "final-obs-lost", "the last observation of an episode is lost"),
        ("SameStep", "final-mask-lost", "the last mask of an episode is lost"),
        ("NextStep", "autoreset-rows", "rows of the autoreset step"),
        ("single", "stale-first-obs", "stale first observation"),
        ("single", "no-reset", "no reset"),
        ("single", "reset-each-step", "the environment is reset after each step"),
        ("single", "seed-each-game", "each reset sets the same seed"),
        ("single", "mask-not-in-play", "actions are chosen without the mask"),
        *((mode, "all-same-seed", "all environments have the same seed") for mode in MODES),
    ],
)
def test_faults_of_a_loop_are_named(mode, fault, words):
    result = check(mode, fault)
    assert not result
    assert words in result.likely[0], result


def shifted(array):
    """Return what the row before holds."""
    return np.roll(array, 1, axis=0)


def unmasked(rows):
    """Return the log-probabilities of the actions under the policy without the mask."""
    chances = policy(rows["observation"], np.ones_like(rows["action_mask"]))
    return np.log(np.take_along_axis(chances, rows["action"][..., None], -1)[..., 0])


@pytest.mark.parametrize("mode", ["single", "samples", *MODES])
@pytest.mark.parametrize(
    ("field", "fault", "words"),
    [
        ("reward", lambda rows: shifted(rows["reward"]), "reward is shifted: each row holds that of the step before"),
        ("reward", lambda rows: np.sign(rows["reward"]), "rewards were scaled, clipped or normalized"),
        ("terminated", lambda rows: rows["done"], "truncation is stored as termination"),
        ("terminated", lambda rows: rows["truncated"], "terminated and truncated are swapped"),
        ("terminated", lambda rows: np.zeros_like(rows["done"]), "termination is never stored"),
        ("truncated", lambda rows: rows["done"], "termination is stored as truncation"),
        ("truncated", lambda rows: np.zeros_like(rows["done"]), "truncation is never stored"),
        ("done", lambda rows: shifted(rows["done"]), "done is shifted: each row holds that of the step before"),
        ("episode_start", lambda rows: rows["done"], "the end flag of the step itself is stored where that of the"),
        ("action_mask", lambda rows: shifted(rows["action_mask"]), "action mask is shifted"),
        ("action_mask", lambda rows: rows["next_action_mask"], "the mask is that of the next observation"),
        ("action_mask", lambda rows: np.ones_like(rows["action_mask"]), "all actions are stored as legal"),
        ("next_action_mask", lambda rows: rows["action_mask"], "that of the observation before the step"),
        ("log_prob", lambda rows: shifted(rows["log_prob"]), "log prob is shifted"),
        ("log_prob", unmasked, "the policy without the mask"),
        ("observation", lambda rows: rows["observation"].astype(np.uint8), "observations were scaled, cast"),
        ("observation", lambda rows: np.full_like(rows["observation"], rows["observation"][-1]), "the same array"),
        ("observation", lambda rows: rows["next_observation"], "each observation is the one after its step"),
        ("next_observation", lambda rows: rows["observation"], "the next observation is the one before the step"),
    ],
)
def test_faults_of_a_field_are_named(field, fault, words, mode):
    result = check(mode, change=lambda rows: rows | {field: fault(rows)})
    assert not result
    assert words in result.likely[0], result


def viewed(array):
    """Lay out an array [T, B, ...] environment by environment, and read it as [T, B, ...] without a transpose."""
    return array.swapaxes(0, 1).reshape(array.shape)


@pytest.mark.parametrize("mode", MODES)
def test_views_without_a_transpose_are_named(mode):
    result = check(mode, change=lambda rows: rows | {"reward": viewed(rows["reward"])})
    assert "reward mixes environments" in result.likely[0], result
    result = check(mode, change=lambda rows: {name: viewed(array) for name, array in rows.items()})
    assert "the batch mixes environments" in result.likely[0], result


@pytest.mark.parametrize("mode", MODES)
def test_ends_where_the_collector_stops_are_named(mode):
    def change(rows):
        rows["terminated"][-1] = True
        return rows

    result = check(mode, change=change)
    assert "an unfinished episode is stored as terminated" in result.likely[0], result


@pytest.mark.parametrize(
    ("index", "words"),
    [
        ([*range(35, 40)] * 8, "steps are stored twice"),
        ([*range(20), *range(25, 40)], "steps are left out"),
    ],
)
@pytest.mark.parametrize("mode", ["single", *MODES])
def test_steps_left_out_or_stored_twice_are_named(index, words, mode):
    result = check(mode, change=lambda rows: {name: array[index] for name, array in rows.items()})
    assert words in result.likely[0], result


def test_references_to_a_reused_buffer_are_found():
    result = rollout(lambda env: play(env, "obs-alias"), reuse_buffer=True)
    assert "all rows hold the same array" in result.likely[0], result
    result = rollout(lambda env: play_many(env, "SameStep"), num_envs=3, autoreset="SameStep", reuse_buffer=True)
    assert "all rows hold the same array" in result.likely[0], result


@pytest.mark.parametrize("mode", MODES)
def test_rows_without_a_time_axis_pass(mode):
    def flatten(rows):
        valid = rows.pop("valid", np.ones_like(rows["done"]))
        del rows["episode_start"]
        return {name: array[valid].astype(float) for name, array in rows.items()}

    result = check(mode, change=flatten)
    assert result, result


def test_harmless_differences_pass():
    def change(rows):
        rows["next_observation"][rows["terminated"]] = 0
        rows["next_action_mask"][rows["terminated"]] = 0
        rows["truncated"] &= ~rows["terminated"]
        rows["truncated"][-1] = ~rows["terminated"][-1]  # where the collector stops
        rows["done"] = rows["terminated"] | rows["truncated"]
        rows["action"] = rows["action"][..., None]
        return rows

    result = check("SameStep", change=change)
    assert result, result


def test_what_was_not_seen_is_reported_as_skipped():
    fields = ("observation", "done", "log_prob")
    result = rollout(lambda env: {name: play(env)[name] for name in fields}, limit=50)
    assert result, result
    skipped = {case.name: case.skipped for case in result.cases if case.skipped}
    assert skipped["reward"] == skipped["terminated"] == "not given"
    assert skipped["log_prob"] == "needs policy="
    assert skipped["truncation"] == "no stored episode reached the limit"


def test_the_report_says_where_and_what():
    text = repr(check("single", change=lambda rows: rows | {"terminated": rows["done"]}))
    assert "rollout FAILED in 1 of" in text
    assert "holds True, but False happened" in " ".join(text.split())
    assert "likely: truncation is stored as termination" in text


@pytest.mark.parametrize(
    ("collect", "message"),
    [
        (lambda env: {}, "collect must play in the environment that it is given"),
        (lambda env: play(env)["observation"], "collect must return a dictionary with the entry observation"),
        (lambda env: {**play(env), "rewards": [0]}, "unknown entry of the rows 'rewards'.*did you mean reward"),
        (lambda env: {**play(env), "reward": [0.0]}, r"reward must have the shape \(150,\), not \(1,\)"),
        (lambda env: {**play(env), "reward": None}, "reward must be an array of numbers"),
        (lambda env: {**play(env), "reward": ["a"] * 150}, "reward must be an array of numbers"),
        (lambda env: {**play(env), "action_mask": [1] * 150}, r"action_mask must have the shape \(150, 6\)"),
        (lambda env: {"observation": [[[[0.0]]]]} | {"done": play(env)["done"]}, "observation must have the shape"),
        (lambda env: {name: rows[:1] for name, rows in play(env).items()}, "no episode ended in those"),
    ],
)
def test_wrong_answers_are_refused(collect, message):
    with pytest.raises(ValueError, match=message):
        rollout(collect)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"autoreset": "Never"}, "unknown autoreset 'Never'"),
        ({"num_envs": 0}, "num_envs must be an integer from 1"),
        ({"limit": 1}, "limit must be an integer from 2"),
        ({"policy": lambda observation, mask: observation}, "must return probabilities"),
    ],
)
def test_wrong_arguments_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        rollout(play, **arguments)


@pytest.mark.slow
def test_the_episodes_of_the_agents_pass():
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

    result = rollout(collect, num_envs=4, autoreset="SameStep")
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
